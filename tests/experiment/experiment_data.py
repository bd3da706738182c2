"""A small collection with something to tune, made anew in each test."""

import numpy as np

from heldout.data.collection import Collection

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
        for doc in list(judged[f"q{number:02}"]):
            judged[f"q{number:02}"][doc] = int(judged[f"q{number:02}"][doc])
    return Collection(texts, asked, judged, name="small")


def _zipf():
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return weights / weights.sum()


def overlap(train, test, power=1.0, bonus=0.0):
    """A system: counts of shared words over a power of the length; `bonus` for seen judgements."""
    del train
    found = {}
    documents = [(one, text.split()) for one, text in test.collection.documents.pairs()]
    queries = test.collection.queries
    for query, text in zip(queries.ids, queries.texts, strict=True):
        words = set(text.split())
        scores = {
            one: sum(word in words for word in bag) / len(bag) ** power + bonus
            for one, bag in documents
        }
        found[query] = {one: score for one, score in scores.items() if score > bonus}
    return found


def table_bytes(folder):
    """The bytes of what is compared: all but the timings, and the fields with their folder."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name not in {"timings.json", "experiment.toml"}
    }
