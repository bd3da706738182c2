"""A collection whose relevant documents are told by words, and slow readable rankings of it."""

from __future__ import annotations

import numpy as np

from heldout.data.collection import Collection
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index

TOPICS = 24
COMMON = [f"c{number}" for number in range(60)]


def topical_collection(documents=240, seed=1, relevant=0.75):
    """Documents about one of 24 topics; the queries name topics, one of them none that is there.

    Most documents about a topic are relevant to its query, with grade 1 or 2; a few of other
    topics are judged 0. Lengths vary, so that k1 and b matter, and short documents tie.
    """
    random = np.random.default_rng(seed)
    about = random.integers(0, TOPICS, documents)
    chance = 1 / np.arange(1, len(COMMON) + 1)
    texts, judged = {}, {f"q{topic:02}": {} for topic in range(TOPICS)}
    for number, topic in enumerate(about.tolist()):
        name = f"d{number:03}"
        words = list(random.choice(COMMON, random.integers(2, 40), p=chance / chance.sum()))
        words += [f"t{topic}"] * int(random.integers(0, 4))
        words += [f"t{random.integers(TOPICS)}"] * int(random.integers(0, 3))
        texts[name] = " ".join(str(word) for word in words)
        if random.random() < relevant:
            judged[f"q{topic:02}"][name] = int(random.integers(1, 3))
        judged[f"q{(topic + 1) % TOPICS:02}"].setdefault(name, 0)
    judged["q23"] = {"d000": 0}
    queries = {f"q{topic:02}": f"t{topic} c0 c{topic + 5}" for topic in range(TOPICS)}
    return Collection(texts, queries, {q: rows for q, rows in judged.items() if rows})


def indexed(collection):
    return Index.build(collection.documents, Analyzer())
