"""What is not in the sample must not reach an estimate, whatever the folds have chosen."""

import numpy as np
import pytest

from heldout import Collection, Experiment, GivenFolds, Index, Model
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.pooling import pool

SEEN, UNSEEN = 40, 40
WORDS = [f"w{n}" for n in range(30)]
MODELS = [Model.make("bm25", k1=k1, b=b) for k1 in (0.5, 2.0, 8.0) for b in (0.0, 1.0)]


def collection(unseen_seed):
    """Forty documents that are always the same, and forty that depend on a seed."""
    chance, other = np.random.default_rng(1), np.random.default_rng(unseen_seed)
    texts = {f"d{n:03}": " ".join(chance.choice(WORDS, 20)) for n in range(SEEN)}
    for n in range(SEEN, SEEN + UNSEEN):
        texts[f"d{n:03}"] = " ".join(other.choice(WORDS, other.integers(1, 60)))
    queries = {f"q{n}": " ".join(chance.choice(WORDS, 4)) for n in range(12)}
    judged = {query: {f"d{n:03}": 1 for n in chance.integers(0, SEEN, 4)} for query in queries}
    return Collection(texts, queries, judged)


@pytest.mark.parametrize("chosen", [(0, 0, 0, 0), (0, 3, 5, 3)], ids=["one value", "several"])
def test_a_pooled_ranking_does_not_depend_on_documents_outside_the_sample(chosen):
    folds = np.where(np.arange(SEEN + UNSEEN) < SEEN, np.arange(SEEN + UNSEEN) % 4, -1)
    pooled = [
        pool(
            Candidates.make(Index.build(whole), whole, MODELS),
            folds.astype(np.int32),
            chosen,
            3,
            50,
        )
        for whole in map(collection, (1, 2))
    ]
    np.testing.assert_array_equal(pooled[0].documents, pooled[1].documents)
    np.testing.assert_array_equal(pooled[0].scores, pooled[1].scores)


def test_an_estimate_does_not_depend_on_documents_outside_the_sample():
    results = [
        Experiment(
            collection=collection(seed),
            systems="bm25(k1=0.5,2,8, b=0,1)",
            by="document",
            plan=GivenFolds({f"d{n:03}": n % 4 for n in range(SEEN)}, strict=False),
            measures=["nDCG@10"],
        ).run()
        for seed in (1, 2)
    ]
    assert len(set(results[0].folds["parameters"])) > 1  # otherwise nothing had to be aligned
    assert results[0].summary == results[1].summary
    assert results[0].values.equals(results[1].values)
