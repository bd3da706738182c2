"""Fisher's randomization test and its transforms: published numbers, counting, SciPy."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout.errors import InputError
from heldout.infer import randomization
from heldout.infer.randomization import (
    mcnemar_test,
    randomization_test,
    sign_test,
    wilcoxon_test,
)

A = np.array([0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9])
B = np.array([0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8])
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
X = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
Y = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10

SIDES = ("two-sided", "greater", "less")

numbers = st.lists(
    st.one_of(
        st.floats(-5, 5, allow_subnormal=False).map(lambda x: round(x, 6)),
        st.integers(-3, 3).map(float),
    ),
    min_size=2,
    max_size=9,
)


def by_counting(values, tail):
    values = np.array(values)
    signs = np.array(list(product((-1.0, 1.0), repeat=len(values))))
    sums, observed, tie = signs @ values, values.sum(), 1e-12 * np.abs(values).sum()
    return {
        "two-sided": np.mean(np.abs(sums) >= abs(observed) - tie),
        "greater": np.mean(sums >= observed - tie),
        "less": np.mean(sums <= observed + tie),
    }[tail]


def smooth(n, seed=0, shift=0.05):
    return np.random.default_rng(seed).normal(shift, 0.2, n)


def test_ten_folds():
    """Enumerated by hand: 208 of the 1,024 assignments, ties counted."""
    assert randomization_test(B - A, alternative="greater").p == 208 / 1024
    assert randomization_test(A - B, alternative="less").p == 208 / 1024
    outcome = randomization_test(B - A)
    assert outcome.p == 416 / 1024
    assert outcome.statistic == pytest.approx(0.07)
    assert (outcome.method, outcome.error, outcome.n) == ("exact", 0.0, 10)
    assert outcome.detail == "all 1,024 sign assignments"


def test_maize():
    """Fisher (1935), The Design of Experiments, section 21."""
    assert randomization_test(MAIZE, alternative="greater").p == 863 / 32768
    assert randomization_test(MAIZE).p == 1726 / 32768


def test_sakai():
    """Sakai (2018), Laboratory Experiments in Information Retrieval, Table 5.1."""
    assert randomization_test(X - Y).p == 135 / 2048


@pytest.mark.parametrize("tail", SIDES)
@given(numbers)
def test_enumeration_equals_counting(tail, values):
    assert randomization_test(values, alternative=tail).p == by_counting(values, tail)


@pytest.mark.parametrize("seed", range(3))
def test_convolution_equals_enumeration(seed):
    values = np.random.default_rng(seed).integers(-20, 25, 24) / 100
    noise = 1e-15 * np.arange(24)  # below the tie tolerance, and gone in the lattice
    sums = np.zeros(1)
    for value in values + noise:
        sums = np.concatenate([sums - value, sums + value])
    observed, tie = values.sum(), 1e-12 * np.abs(values).sum()
    extreme = {
        "two-sided": np.abs(sums) >= abs(observed) - tie,
        "greater": sums >= observed - tie,
        "less": sums <= observed + tie,
    }
    for tail, counted in extreme.items():
        lattice = randomization_test(values, alternative=tail)
        assert "lattice of step 0.01" in lattice.detail
        assert lattice.p == pytest.approx(counted.sum() / 2**24, rel=1e-12)


@pytest.mark.parametrize("tail", SIDES)
@pytest.mark.parametrize("seed", range(6))
def test_grid_bounds_contain_the_exact_p(tail, seed, monkeypatch):
    values = smooth(26, seed)
    exact = randomization_test(values, alternative=tail)
    monkeypatch.setattr(randomization, "MANY", 0)
    grid = randomization_test(values, alternative=tail)
    assert (exact.method, grid.method) == ("exact", "grid")
    assert 0 < grid.error <= max(0.02 * grid.p, 1e-4)
    assert abs(grid.p - exact.p) <= grid.error * (1 + 1e-9)


@pytest.mark.parametrize("tail", SIDES)
@pytest.mark.parametrize("n", [30, 33, 300, 1000])
def test_random_signs_are_near_the_exact_p(tail, n, monkeypatch):
    values = np.random.default_rng(n).integers(-3, 5, n) / 4  # tables of several sizes
    exact = randomization_test(values, alternative=tail)
    for limit in ("MANY", "MOST_WORK", "GRID_WORK"):
        monkeypatch.setattr(randomization, limit, 0)
    drawn = randomization_test(values, alternative=tail, seed=n)
    assert (exact.method, drawn.method) == ("exact", "monte carlo")
    assert abs(drawn.p - exact.p) <= 4 * max(drawn.error, 1e-5)
    assert drawn.detail == f"100,000 replicates, seed {n}"


def test_auto_takes_the_first_feasible():
    def method(values):
        return randomization_test(values, replicates=1000).method

    assert method(smooth(12)) == "exact"
    assert method(smooth(32)) == "exact"
    assert method(smooth(50)) == "grid"
    assert method(smooth(400)) == "monte carlo"
    assert method(np.round(smooth(7000), 1)) == "exact"


def test_a_system_against_its_own_copy():
    for tail in SIDES:
        assert randomization_test(np.zeros(60), alternative=tail).p == 1.0


def test_mean_of_zero_gives_one():
    values = smooth(40)
    assert randomization_test(np.concatenate([values, -values])).p == 1.0


def test_constant_differences():
    assert randomization_test([0.25] * 8).p == 2 / 2**8
    assert randomization_test([0.25] * 1000).p == pytest.approx(2.0**-999, rel=1e-9)


@pytest.mark.parametrize("n", [15, 50, 600])
def test_symmetric_under_sign_flip_and_scale(n):
    values = smooth(n, 5, 0.02)
    greater = randomization_test(values, alternative="greater", replicates=20_000)
    less = randomization_test(-values, alternative="less", replicates=20_000)
    assert greater.p == less.p
    two = randomization_test(values, replicates=20_000).p
    assert two == randomization_test(-values, replicates=20_000).p
    assert two == randomization_test(values * 1024, replicates=20_000).p
    assert two == pytest.approx(randomization_test(values * 1e-7, replicates=20_000).p, abs=1e-9)


def test_threads_do_not_matter(monkeypatch):
    values = smooth(3000, 2, 0.005)
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        found.append(randomization_test(values, replicates=140_000))
    assert found[0] == found[1] == found[2]


def test_seeds_matter():
    values = smooth(300, 2, 0.01)
    one = randomization_test(values, replicates=5000, seed=1)
    assert one.p == randomization_test(values, replicates=5000, seed=1).p
    assert one.p != randomization_test(values, replicates=5000, seed=2).p


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: randomization_test([0.1]), "at least 2"),
        (lambda: randomization_test([0.1, math.nan, 0.2]), "unit number 2 is nan"),
        (lambda: randomization_test([0.1, 0.2], alternative="both"), "alternative='both'"),
        (lambda: randomization_test([0.1, 0.2], replicates=0), "replicates=0"),
        (lambda: randomization_test([0.1, 0.2], seed=-1), "seed=-1"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_a_large_count_is_written_as_a_power():
    values = np.zeros(300)
    values[:5] = [0.1, 0.2, -0.05, 0.3, 0.15]
    assert randomization_test(values).detail == "all 2^300 sign assignments"


@pytest.mark.parametrize(
    ("units", "shift", "tail", "p", "error"),
    [
        (45, 0.2, "two-sided", 0.886574961545989, 0.0008372506049454387),
        (60, 0.5, "greater", 8.090068012976855e-06, 4.3153002669479856e-08),
        (80, 0.02, "less", 0.815774652770541, 0.0002738728477631458),
        (100, 0.3, "two-sided", 0.0007999893563926368, 3.3148798679653e-06),
        (50, 0.0, "greater", 0.8950977209068309, 0.00016732150143017321),
        (70, 1.5, "two-sided", 3.049318610115481e-20, 1.6940658945086007e-21),
    ],
)
def test_grid_p_values_are_those_of_the_whole_distribution(units, shift, tail, p, error):
    values = np.random.default_rng(units).normal(shift, 1, units)
    outcome = randomization_test(values, alternative=tail)
    assert outcome.method == "grid"
    assert abs(outcome.p - p) <= outcome.error + error  # both bounds hold the exact p


def test_millions_of_units_that_are_right_or_wrong_are_tested_exactly():
    first, second = np.random.default_rng(1).random((2, 5_000_000)) < 0.5
    outcome = mcnemar_test(first, second)
    won, lost = int((first & ~second).sum()), int((second & ~first).sum())
    assert outcome.method == "exact"
    assert outcome.p == pytest.approx(stats.binomtest(won, won + lost).pvalue, rel=1e-9)


# The transforms


def test_wilcoxon_of_the_depression_scale():
    """Hollander & Wolfe (1973), 29 f., the example of R's wilcox.test: V = 40, p = .01953."""
    before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    outcome = wilcoxon_test(before - after, alternative="greater")
    assert (outcome.statistic, outcome.method) == (40.0, "exact")
    assert outcome.p == pytest.approx(0.01953125, abs=1e-15)
    assert outcome.detail == "9 differences ranked, 0 zeros dropped"


def test_mcnemar_exact_and_mid_p():
    """Fagerland, Lydersen & Laake (2013), table 1: 1 and 7 discordant, p .0703, mid-p .0391."""
    first = [1] * 1 + [0] * 7 + [1] * 1 + [0] * 12
    second = [0] * 1 + [1] * 7 + [1] * 1 + [0] * 12
    outcome = mcnemar_test(first, second)
    assert outcome.p == pytest.approx(0.0703125, abs=1e-15)
    assert outcome.detail == "1 of 8 discordant units won; mid-p 0.0390625"
    assert mcnemar_test(first, second, alternative="less").detail.endswith("mid-p 0.0195312")
    same = mcnemar_test(first, first)
    assert (same.p, same.detail) == (1, "0 of 0 discordant units won; mid-p 1")


@pytest.mark.parametrize("tail", SIDES)
@pytest.mark.parametrize("n", [2, 9, 30, 50, 51, 200])
def test_wilcoxon_agrees_with_scipy(tail, n):
    values = np.random.default_rng(n).normal(0.2, 1, n)
    theirs = stats.wilcoxon(values, alternative=tail, method="exact")
    ours = wilcoxon_test(values, alternative=tail)
    assert ours.method == "exact"
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-11)


def test_wilcoxon_of_many_units_with_ties_equals_a_slow_exact_count():
    values = np.random.default_rng(3).normal(0.1, 1, 120).round(1)
    ranks = (2 * stats.rankdata(np.abs(values[values != 0]))).astype(int).tolist()
    ways = [1]  # integers of any size, for each sum of doubled ranks
    for rank in ranks:
        ways = [a + b for a, b in zip(ways + [0] * rank, [0] * rank + ways, strict=True)]
    outcome = wilcoxon_test(values, alternative="greater")
    exact = Fraction(sum(ways[int(2 * outcome.statistic) :]), 2 ** len(ranks))
    assert outcome.p == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize("tail", SIDES)
@pytest.mark.parametrize("digits", [1, 8])
def test_wilcoxon_of_very_many_units_is_normal(tail, digits):
    values = np.random.default_rng(3).normal(0.03, 1, 1500).round(digits)
    theirs = stats.wilcoxon(values, alternative=tail, method="asymptotic", correction=True)
    ours = wilcoxon_test(values, alternative=tail)
    assert ours.method == "normal"
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)


@pytest.mark.parametrize("tail", SIDES)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9))
def test_wilcoxon_with_ties_is_the_enumeration(tail, values):
    kept = np.array([value for value in values if value], float)
    ranks = stats.rankdata(np.abs(kept)) * np.sign(kept)
    expected = by_counting(ranks, tail) if len(kept) else 1
    assert wilcoxon_test(values, alternative=tail).p == expected
    tenths = [value * 0.1 + 0.7 - 0.7 if value else 0.0 for value in values]
    assert wilcoxon_test(tenths, alternative=tail).p == expected  # rounding does not undo ties


@pytest.mark.parametrize("tail", SIDES)
@pytest.mark.parametrize("losses", [0, 3, 40])
@pytest.mark.parametrize("wins", [0, 1, 7, 60])
def test_sign_and_mcnemar_are_binomial(tail, wins, losses):
    values = np.repeat([1.0, -0.5, 0.0], [wins, losses, 2])
    outcome = sign_test(values, alternative=tail)
    expected = stats.binomtest(wins, wins + losses, 0.5, tail).pvalue if wins + losses else 1
    assert outcome.p == pytest.approx(expected, rel=1e-12)
    assert outcome.detail.endswith(", 2 ties")
    assert mcnemar_test(values > 0, values < 0, alternative=tail).p == outcome.p


@pytest.mark.parametrize("test", [wilcoxon_test, sign_test])
@given(values=st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=60))
def test_sides(test, values):
    two, greater, less = (test(values, alternative=tail).p for tail in SIDES)
    assert all(0 <= p <= 1 for p in (two, greater, less))
    assert greater + less >= 1 - 1e-9  # a discrete statistic counts its own point twice
    assert two == pytest.approx(min(1, 2 * min(greater, less)), abs=1e-9)
    negated = [-value for value in values]
    assert test(negated, alternative="greater").p == pytest.approx(less, abs=1e-12)
    assert test(negated).p == pytest.approx(two, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: wilcoxon_test([0.1, math.nan]), "unit number 2 is nan"),
        (lambda: sign_test([0.1, 0.2], alternative="both"), "alternative='both'"),
        (lambda: mcnemar_test([0, 1], [0, 0.5]), "mcnemar needs scores of 0 and 1"),
        (lambda: mcnemar_test([0, 1], [0, 1, 1]), "first has 2 units, second 3"),
    ],
)
def test_bad_input_of_the_transforms(call, words):
    with pytest.raises(InputError, match=words):
        call()
