"""Units of many classes: sums by sparse products are the sums of all columns."""

import numpy as np
import pytest

from heldout.data.predictions import ClassPredictions
from heldout.infer import resample_sums
from heldout.infer.corpus_level import corpus_bootstrap, corpus_randomization_test
from heldout.infer.resample_sums import (
    bootstrap_sparse,
    bootstrap_sums,
    is_sparse,
    randomize_sparse,
    randomize_sums,
)
from heldout.measure.names import parse_measures


def of_many_classes(units=400, classes=30):
    """Two classifiers of many classes, one a little better, as tables of sums."""
    source = np.random.default_rng(3)
    truth = source.integers(0, classes, units)
    names = tuple(map(str, range(classes)))
    measure = parse_measures(["F1(weighted)"], "classification")[0]
    found = []
    for share in (0.6, 0.68):
        guess = np.where(source.random(units) < share, truth, source.integers(0, classes, units))
        ids = tuple(map(str, range(units)))
        found.append(measure.units(ClassPredictions("A", ids, names, truth, guess)))
    return found[0].rows(), found[1].rows(), found[0].score


def test_wide_tables_of_few_numbers_are_sparse_and_others_are_not():
    first, second, _ = of_many_classes()
    assert is_sparse([first, second])
    assert not is_sparse([first[:, :12], second[:, :12]])
    assert not is_sparse([first + 1, second])


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_swaps_by_sparse_products_are_those_of_columns(tail):
    first, second, score = of_many_classes()
    settings = {"alternative": tail, "replicates": 20_000, "seed": 1}
    found = randomize_sparse(second, first, score, **settings)
    dense = corpus_randomization_test(second, first, score, **settings)
    assert found.statistic == dense.statistic
    assert found.p == pytest.approx(dense.p, abs=5 * (found.error + dense.error))
    assert randomize_sums(second, first, score, **settings) == found


def test_draws_by_sparse_products_are_those_of_columns():
    first, second, score = of_many_classes()
    found = bootstrap_sparse([first, second], score, replicates=5000, seed=1)
    dense = corpus_bootstrap([first, second], score, replicates=5000, seed=1)
    assert found.observed == pytest.approx(dense.observed)
    pairs = [(found.interval(1), dense.interval(1))]
    pairs.append((found.difference(1, 0), dense.difference(1, 0)))
    for one, other in pairs:
        assert one.low == pytest.approx(other.low, abs=0.004)
        assert one.high == pytest.approx(other.high, abs=0.004)
    chosen = bootstrap_sums([first, second], score, replicates=5000, seed=1)
    np.testing.assert_array_equal(chosen.scores, found.scores)


def test_copies_give_one_and_blocks_do_not_matter(monkeypatch):
    first, second, score = of_many_classes(units=300, classes=20)
    settings = {"alternative": "two-sided", "replicates": 500, "seed": 0}
    assert randomize_sums(first, first.copy(), score, replicates=500).p == 1.0
    monkeypatch.setattr(resample_sums, "SPARSE_BLOCK", 2**12)
    assert bootstrap_sparse([first, second], score, replicates=50, seed=0).scores.shape == (50, 2)
    assert 0 < randomize_sparse(first, second, score, **settings).p <= 1


def test_many_classes_never_go_column_by_column(monkeypatch):
    first, second, score = of_many_classes()
    for name in ("corpus_bootstrap", "corpus_randomization_test"):
        monkeypatch.setattr(resample_sums, name, None)
    assert bootstrap_sums([first, second], score, replicates=20).segments == 400
    assert randomize_sums(first, second, score, replicates=20).n == 400
