"""Fisher's randomization test: published numbers, counting, and agreement of the methods."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.infer import randomization
from heldout.infer.paired import mcnemar_test
from heldout.infer.randomization import randomization_test

A = np.array([0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9])
B = np.array([0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8])
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
X = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
Y = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10

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


def by_method(method, values, tail="two-sided", *more):
    """One of the methods of the test, where another would be taken."""
    return method(randomization._Case.of(values, tail), *more)


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


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
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


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("seed", range(6))
def test_grid_bounds_contain_the_exact_p(tail, seed):
    values = smooth(26, seed)
    exact = randomization_test(values, alternative=tail)
    grid = by_method(randomization._grid, values, tail)
    assert (exact.method, grid.method) == ("exact", "grid")
    assert 0 < grid.error <= max(0.02 * grid.p, 1e-4)
    assert abs(grid.p - exact.p) <= grid.error * (1 + 1e-9)


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("seed", range(4))
def test_monte_carlo_is_near_the_exact_p(tail, seed):
    values = smooth(30, seed)
    exact = randomization_test(values, alternative=tail)
    drawn = by_method(randomization._monte_carlo, values, tail, 100_000, seed)
    assert (exact.method, drawn.method) == ("exact", "monte carlo")
    assert abs(drawn.p - exact.p) <= 4 * drawn.error
    assert drawn.detail == f"100,000 replicates, seed {seed}"


@pytest.mark.parametrize("n", [17, 33, 300, 1000])
def test_monte_carlo_sums_have_the_right_moments(n):
    """Tables of all sizes: mean 0, variance sum d^2, and p of a lattice with ties."""
    values = np.random.default_rng(n).integers(-3, 5, n) / 4
    exact = randomization_test(values)
    drawn = by_method(randomization._monte_carlo, values, "two-sided", 100_000, 0)
    assert exact.method == "exact"
    assert abs(drawn.p - exact.p) <= 4 * max(drawn.error, 1e-5)


def test_auto_takes_the_first_feasible():
    def method(values):
        return randomization_test(values, replicates=1000).method

    assert method(smooth(12)) == "exact"
    assert method(smooth(32)) == "exact"
    assert method(smooth(50)) == "grid"
    assert method(smooth(400)) == "monte carlo"
    assert method(np.round(smooth(7000), 1)) == "exact"


def test_a_system_against_its_own_copy():
    for tail in ("two-sided", "greater", "less"):
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


@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_differences_of_one_size_are_coins(monkeypatch, tail):
    values = np.repeat([0.25, -0.25, 0.0], [140, 110, 50])
    convolved = randomization_test(values, alternative=tail)
    assert "convolution" in convolved.detail
    monkeypatch.setattr(randomization, "WAIT", 0)
    thrown = randomization_test(values, alternative=tail)
    assert (thrown.method, thrown.error) == ("exact", 0.0)
    assert "binomial" in thrown.detail
    assert thrown.p == pytest.approx(convolved.p, rel=1e-12)


def test_millions_of_units_that_are_right_or_wrong_are_tested_exactly():
    first, second = np.random.default_rng(1).random((2, 5_000_000)) < 0.5
    outcome = randomization_test(first.astype(float) - second)
    assert outcome.method == "exact"
    assert outcome.p == pytest.approx(mcnemar_test(first, second).p, rel=1e-9)
