"""Numbers of units of each kind instead of units: the same distributions, exact if possible."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from heldout.infer import resample_sums
from heldout.infer.corpus_level import corpus_bootstrap, corpus_randomization_test
from heldout.infer.randomization import mcnemar_test
from heldout.infer.resample_sums import bootstrap_sums, bootstrap_weights, randomize_sums


def mean(sums):
    return sums[:, 0] / sums[:, 1]


def f1(sums):
    """Of statistics: hits, true, predicted."""
    return 2 * sums[:, 0] / (sums[:, 1] + sums[:, 2])


def tables(seed, units, systems=2):
    source = np.random.default_rng(seed)
    truth = source.random(units) < 0.5
    found = []
    for share in np.linspace(0.6, 0.8, systems):
        guess = np.where(source.random(units) < share, truth, ~truth)
        found.append(np.column_stack([truth & guess, truth, guess]).astype(float))
    return found


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_exact_by_kinds_is_exact_by_swaps(tail):
    first, second = tables(1, 14)
    total = (first + second).sum(axis=0)
    observed = f1(first.sum(axis=0)[None])[0] - f1(second.sum(axis=0)[None])[0]
    out = 0
    for signs in product([1, -1], repeat=14):
        one = (total + (np.array(signs)[:, None] * (first - second)).sum(axis=0)) / 2
        gap = f1(one[None])[0] - f1((total - one)[None])[0]
        if tail == "two-sided":
            out += abs(gap) >= abs(observed) - 1e-12
        else:
            out += gap >= observed - 1e-12 if tail == "greater" else gap <= observed + 1e-12
    found = randomize_sums(first, second, f1, alternative=tail)
    assert found.method == "exact"
    assert found.p == pytest.approx(out / 2**14, rel=1e-12)


def test_the_mean_of_zeros_and_ones_is_mcnemars_test_whatever_the_size():
    source = np.random.default_rng(5)
    first, second = (source.random((2, 900)) < [[0.8], [0.75]]).astype(float)
    ones = np.ones(900)
    found = randomize_sums(np.column_stack([first, ones]), np.column_stack([second, ones]), mean)
    assert found.method == "exact"
    assert found.p == pytest.approx(mcnemar_test(first, second).p, rel=1e-9)


def test_many_units_of_one_kind_are_exact_too():
    ones = np.ones(3000)
    right, wrong = np.repeat([1.0, 0.0], [1580, 1420]), np.repeat([0.0, 1.0], [1580, 1420])
    found = randomize_sums(np.column_stack([right, ones]), np.column_stack([wrong, ones]), mean)
    assert found.method == "exact"
    assert found.p == pytest.approx(binomtest(1580, 3000).pvalue, rel=1e-9)


def test_drawn_numbers_agree_with_drawn_swaps(monkeypatch):
    first, second = tables(2, 300)
    exact = randomize_sums(first, second, f1)
    assert exact.method == "exact"
    monkeypatch.setattr(resample_sums, "OUTCOMES", 10)
    drawn = randomize_sums(first, second, f1)
    swaps = corpus_randomization_test(first, second, f1)
    assert drawn.method == swaps.method == "monte carlo"
    assert drawn.p == pytest.approx(exact.p, abs=5 * drawn.error)
    assert swaps.p == pytest.approx(exact.p, abs=5 * swaps.error)
    assert randomize_sums(first, second, f1) == drawn


def test_a_system_against_its_copy():
    first, _ = tables(3, 50)
    found = randomize_sums(first, first.copy(), f1)
    assert (found.p, found.detail) == (1.0, "nothing differs")


def test_many_kinds_go_by_units():
    source = np.random.default_rng(0)
    first, second = (np.column_stack([source.random(500), np.ones(500)]) for _ in range(2))
    assert randomize_sums(first, second, mean, replicates=500) == corpus_randomization_test(
        first, second, mean, replicates=500
    )
    ours, theirs = (
        one([first, second], mean, replicates=500, seed=4)
        for one in (bootstrap_sums, corpus_bootstrap)
    )
    assert (ours.scores == theirs.scores).all()


def test_the_bootstrap_by_kinds_is_the_bootstrap_by_units():
    systems = tables(7, 200)
    kinds, units = (one(systems, f1, seed=1) for one in (bootstrap_sums, corpus_bootstrap))
    assert kinds.observed == pytest.approx(units.observed)
    assert kinds.scores.mean(axis=0) == pytest.approx(units.scores.mean(axis=0), abs=0.002)
    assert kinds.scores.std(axis=0) == pytest.approx(units.scores.std(axis=0), rel=0.05)
    # Paired: the two systems are drawn together.
    correlation = [np.corrcoef(one.scores.T)[0, 1] for one in (kinds, units)]
    assert correlation[0] == pytest.approx(correlation[1], abs=0.05)


def test_weights_draw_whole_clusters():
    """Two clusters of one value each: a draw has 0, 1 or 2 copies of the first."""
    clusters = np.array([0, 0, 0, 1])
    values = np.array([1.0, 1.0, 1.0, 0.0])

    def share(weights):
        return weights @ values / weights.sum(axis=1)

    found = bootstrap_weights([share], clusters, replicates=4000)
    assert set(np.unique(found.scores)) == {0.0, 0.75, 1.0}
    assert np.mean(found.scores == 0.75) == pytest.approx(0.5, abs=0.03)
    assert found.segments == 2
    assert found.observed == pytest.approx([0.75])
