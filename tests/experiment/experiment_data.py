"""A small collection with something to tune, systems for it, and bytes of results."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from heldout import Collection

WORDS = [f"w{n}" for n in range(40)]


def small_collection(documents=60, queries=24, seed=3):
    """Documents of random words and lengths; relevant are those that share words with a query."""
    random = np.random.default_rng(seed)
    texts, bags, zipf = {}, np.zeros((documents, len(WORDS)), np.int64), _zipf()
    for number in range(documents):
        length = int(random.integers(5, 60))
        bag = random.choice(len(WORDS), length, p=zipf)
        bags[number] = np.bincount(bag, minlength=len(WORDS))
        texts[f"d{number:03}"] = " ".join(WORDS[word] for word in bag)
    asked, judged = {}, {}
    for number in range(queries):
        words = random.choice(len(WORDS), 3, replace=False)
        shares = bags[:, words].sum(axis=1) / bags.sum(axis=1)
        noisy = shares + random.normal(0, 0.03, documents)
        best = np.argsort(-noisy)[:6].tolist()
        asked[f"q{number:02}"] = " ".join(WORDS[word] for word in words)
        judged[f"q{number:02}"] = {
            **{f"d{at:03}": 1 + (place < 2) for place, at in enumerate(best)},
            f"d{(best[0] + 1) % documents:03}": 0,
        }
    return Collection(texts, asked, judged, name="small")


def _zipf():
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return weights / weights.sum()


def overlap(train, test, power=1.0, bonus=0.0):
    """A system: counts of shared words over a power of the length; `bonus` for seen judgements."""
    del train
    found = {}
    documents = [(one, text.split()) for one, text in test.documents.pairs()]
    for query, text in test.queries.to_dict().items():
        words = set(text.split())
        scores = {
            one: sum(word in words for word in bag) / len(bag) ** power + bonus
            for one, bag in documents
        }
        found[query] = {one: score for one, score in scores.items() if score > bonus}
    return found


def liked(train, test, weight=0.0):
    """A system that learns: words count more that relevant training documents have."""
    texts = dict(train.documents.pairs())
    judged = train.qrels.to_dict().values()
    relevant = {doc for docs in judged for doc, grade in docs.items() if grade > 0}
    often = Counter(word for doc in relevant for word in texts[doc].split())
    bags = {doc: text.split() for doc, text in test.documents.pairs()}
    more = {doc: sum(often[word] for word in bag) / len(bag) for doc, bag in bags.items()}
    return {
        query: {doc: score + weight * more[doc] / often.total() for doc, score in docs.items()}
        for query, docs in overlap(train, test).items()
    }


def longer(train, test, candidates, weight=0.0):
    """A reranker: it adds the length of a document to its first score."""
    del train
    texts = dict(test.documents.pairs())
    return {
        query: {doc: score + weight * len(texts[doc].split()) for doc, score in docs.items()}
        for query, docs in candidates.to_dict().items()
    }


def _called():
    """Say who calls; interrupted after the calls that a file says, if any."""
    trap, callers = Path("trap"), Path("callers")
    with callers.open("a") as file:
        file.write(f"{os.getpid()} ")
    if trap.exists():
        left = int(trap.read_text())
        if left == 0:
            raise KeyboardInterrupt
        trap.write_text(str(left - 1))


def interrupted(train, test, power=1.0):
    _called()
    return overlap(train, test, power)


class Interrupted(ClassifierMixin, BaseEstimator):
    """Predicts always the same class."""

    def __init__(self, level=0):
        self.level = level

    def fit(self, rows, labels):
        del rows
        _called()
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows):
        return np.full(len(rows), self.classes_[self.level])


def check_bytes(experiment, calls):
    """The results are the same with two processes, and after an interruption that kept some."""
    experiment.run("one")
    assert set(Path("callers").read_text().split()) == {str(os.getpid())}
    experiment.run("two", workers=2)
    assert len(set(Path("callers").read_text().split())) > 1
    trap = Path("trap")
    trap.write_text(str(calls))
    with pytest.raises(KeyboardInterrupt):
        experiment.run("three")
    assert list(Path("three").glob("*/*.npz"))
    trap.unlink()
    experiment.run("three", resume=True)
    assert table_bytes(Path("one")) == table_bytes(Path("two")) == table_bytes(Path("three"))


def table_bytes(folder):
    """The bytes of what is compared: all but the timings, and the fields with their folder."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name not in {"timings.json", "experiment.toml"}
    }
