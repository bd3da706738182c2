"""What is not in the sample must not reach an estimate, whatever the folds have chosen."""

from __future__ import annotations

import numpy as np
import pytest

from heldout.data.collection import Collection
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.cross_validate import cross_validate_documents
from heldout.experiment.documents.pooling import pool
from heldout.measure.names import parse_measure
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model

SEEN, UNSEEN = 40, 40
WORDS = [f"w{n}" for n in range(30)]
MODELS = [Model.make("bm25", k1=k1, b=b) for k1 in (0.5, 2.0, 8.0) for b in (0.0, 1.0)]


def collection(unseen_seed: int) -> Collection:
    """Forty documents that are always the same, and forty that depend on a seed."""
    chance, other = np.random.default_rng(1), np.random.default_rng(unseen_seed)
    texts = {f"d{n:03}": " ".join(chance.choice(WORDS, 20)) for n in range(SEEN)}
    for n in range(SEEN, SEEN + UNSEEN):
        texts[f"d{n:03}"] = " ".join(other.choice(WORDS, other.integers(1, 60)))
    queries = {f"q{n}": " ".join(chance.choice(WORDS, 4)) for n in range(12)}
    judged = {one: {f"d{at:03}": 1 for at in chance.integers(0, SEEN, 4)} for one in queries}
    return Collection(texts, queries, judged)


def folds() -> np.ndarray:
    found = np.full(SEEN + UNSEEN, -1, np.int32)
    found[:SEEN] = np.arange(SEEN) % 4
    return found


@pytest.mark.parametrize("chosen", [(0, 0, 0, 0), (0, 3, 5, 3)], ids=["one value", "several"])
def test_a_pooled_ranking_does_not_depend_on_documents_outside_the_sample(
    chosen: tuple[int, ...],
) -> None:
    found = []
    for seed in (1, 2):
        whole = collection(seed)
        candidates = Candidates.make(Index.build(whole), whole, MODELS)
        found.append(pool(candidates, folds(), chosen, 3, 50))
    one, other = found
    np.testing.assert_array_equal(one.documents, other.documents)
    np.testing.assert_array_equal(one.scores, other.scores)


def test_an_estimate_does_not_depend_on_documents_outside_the_sample() -> None:
    measure = parse_measure("nDCG@10")
    found = []
    for seed in (1, 2):
        whole = collection(seed)
        found.append(
            cross_validate_documents(
                Index.build(whole), whole, MODELS, folds(), tune_for=measure, measures=[measure]
            )
        )
    one, other = found
    assert len(set(one.chosen)) > 1  # otherwise nothing had to be aligned
    assert one.estimates == other.estimates
