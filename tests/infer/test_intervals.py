"""Intervals of one system, and of bounded measures: published numbers, SciPy, coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_data import codes, excludes_zero
from scipy import stats

from heldout import Scores, compare
from heldout.infer.intervals import (
    corrected_t,
    difference_inside,
    hall_interval,
    inside,
    mean_interval,
    plain_z,
    skewness,
    t_interval,
    wilson,
)
from heldout.infer.results import Interval, mean_estimate, t_quantile

values = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=40)
folds = st.lists(st.floats(0, 1).map(lambda x: round(x, 6)), min_size=2, max_size=30)


# Proportions


def test_published_proportions():
    # Newcombe (1998), table I, method 3.
    newcombe = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for case, bounds in newcombe.items():
        interval = wilson(*case)
        assert (round(interval.low, 4), round(interval.high, 4)) == bounds, case
    # An accuracy of four fifths, by hand from the closed form.
    by_hand = {20: (0.58, 0.92), 50: (0.67, 0.89), 100: (0.71, 0.87), 500: (0.76, 0.83)}
    by_hand |= {1000: (0.77, 0.82), 5000: (0.79, 0.81)}
    for n, bounds in by_hand.items():
        interval = wilson(n * 4 // 5, n)
        assert (round(interval.low, 2), round(interval.high, 2)) == bounds, n


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_wilson_agrees_with_scipy(level):
    for successes, n in ((0, 7), (7, 7), (3, 11), (80, 100), (999, 1000)):
        expected = stats.binomtest(successes, n).proportion_ci(level, "wilson")
        interval = wilson(successes, n, level)
        assert interval[1:3] == pytest.approx(tuple(expected), abs=1e-10), (successes, n)


# Means


@given(values, st.floats(0.01, 0.99))
def test_t_interval_and_t_test_agree(differences, level):
    interval = t_interval(differences, level)
    assert interval.low <= interval.estimate <= interval.high
    if np.ptp(differences) > 1e-3:
        for bound in interval[1:3]:
            shifted = mean_estimate(np.array(differences) - bound)
            assert shifted.p() == pytest.approx(1 - level, rel=1e-6)


def test_halls_bounds_solve_the_transformed_equation():
    """g(T) = T + aT^2 / 3 + a^2 T^3 / 27 + a / 6, a = skewness / root(n), is t at the bounds."""
    sample = np.random.default_rng(4).exponential(1, 15)
    found, n = hall_interval(sample), len(sample)
    assert skewness(sample[:, None]) == pytest.approx(stats.skew(sample))
    lean = stats.skew(sample) / math.sqrt(n)
    error = sample.std(ddof=1) / math.sqrt(n)
    quantile = t_quantile(14, 0.025)
    for bound, expected in ((found.low, quantile), (found.high, -quantile)):
        t = (sample.mean() - bound) / error
        transformed = t + lean * t**2 / 3 + lean**2 * t**3 / 27 + lean / 6
        assert transformed == pytest.approx(expected)


def test_which_interval_a_mean_has():
    skewed = np.array([0.0] * 7 + [0.1, 0.9])
    assert mean_interval(skewed).method == "t"
    assert mean_interval(np.append(skewed, 0.0)).method == "Hall"
    below = np.array([0.1, 0.0, 1.0, 0.0, 0.04, 0.03, 0.01, 0.08, 0.06, 0.01])
    for sample, end in ((below, 1), (1 - below, 2)):  # Hall's bound ends where the range does
        assert not 0 <= hall_interval(sample)[end] <= 1
        assert mean_interval(sample, 0.95, (0.0, 1.0))[end] == end - 1
    assert mean_interval(np.linspace(0, 0.5, 20)).method == "t"
    assert mean_interval(np.array([0.0, 1.0] * 5)) == wilson(5, 10)
    assert mean_interval(np.ones(1)) is None
    assert skewness(np.full((5, 1), 0.3)) == 0
    none_right = Scores.of({"A": [0.0] * 12, "B": [0.1, 0.4] * 6}, "AP", range=(0.0, 1.0))
    assert compare(none_right).systems[0].mean == wilson(0, 12)
    # Of a table, whose range is not known, other values say that it is not 0 to 1.
    row = compare({"A": [1.0] * 10, "B": [0.4, 2.0] * 5}).systems[0].mean
    assert row.method == "t"
    for units, said in ((9, False), (20, True), (50, False)):
        few = [0.0] * (units - 2) + [0.3, 0.9]
        found = compare(Scores.of({"A": few, "B": np.linspace(0.2, 0.7, units).tolist()}, "AP"))
        assert ("skewed-scores" in codes(found.warnings)) == said, units


# Folds


def test_plain_z_by_hand():
    half = 1.959963984540054 * math.sqrt(0.05 / 4) / 2
    assert plain_z([0.5, 0.7, 0.6, 0.8])[:3] == pytest.approx((0.65, 0.65 - half, 0.65 + half))


@given(folds)
def test_intervals_over_folds(scores):
    plain, corrected = plain_z(scores), corrected_t(scores, 1 / 9)
    assert corrected.low <= plain.low + 1e-12
    assert plain.low <= plain.estimate <= plain.high <= corrected.high + 1e-12
    if np.ptp(scores) > 1e-3:
        moved = {"A": np.zeros(len(scores)).tolist(), "B": np.array(scores) - corrected.high}
        claim = compare(Scores.of(moved, "AP"), test_share=1 / 9).claims[0]
        assert claim.outcomes[0].test == "corrected-t"
        assert claim.outcomes[0].p == pytest.approx(0.05)


# Inside the range of a measure

RANGES = [(0.0, 1.0), (-1.0, 1.0), (0.0, 100.0), (0.0, math.inf), (-math.inf, 1.0)]


def made(estimate: float, half: float) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, 0.95, "t")


@given(st.sampled_from(RANGES), st.floats(0, 1), st.floats(0, 1e6))
def test_inside_the_range_around_the_estimate(ends, share, half):
    low, high = max(ends[0], -50.0), min(ends[1], 50.0)
    plain = made(low + share * (high - low), half)
    found = inside(plain, ends)
    assert ends[0] <= found.low <= found.estimate <= found.high <= ends[1]
    if ends[0] <= plain.low and plain.high <= ends[1]:
        assert found is plain
    else:
        assert found.method == "t, bounded"


@given(difference=st.floats(-1, 1), half=st.floats(0, 10))
def test_zero_is_inside_the_interval_of_a_difference_exactly_if_it_was(difference, half):
    plain = made(difference, half)
    found = difference_inside(plain, (0.0, 1.0))
    assert -1 <= found.low <= difference <= found.high <= 1
    assert excludes_zero(found) == excludes_zero(plain)
    for bound, before in ((found.low, plain.low), (found.high, plain.high)):
        assert bound == before or abs(before) > 1


@pytest.mark.parametrize("ends", RANGES)
def test_bounds_solve_the_equation(ends):
    estimate = 0.9 if ends[1] == 1.0 else 0.1
    half = 0.3 if ends != (-1.0, 1.0) else 2.5
    for bound in inside(made(estimate, half), ends)[1:3]:
        scale = 1.0
        if math.isfinite(ends[0]):
            scale *= (bound - ends[0]) / (estimate - ends[0])
        if math.isfinite(ends[1]):
            scale *= (ends[1] - bound) / (ends[1] - estimate)
        assert (bound - estimate) ** 2 == pytest.approx(half**2 * scale, rel=1e-9)


def test_infinite_bounds_and_estimates_at_an_end():
    assert inside(made(0.5, math.inf), (0.0, 1.0)) == made(0.5, math.inf)
    open_above = Interval(0.9, 0.2, math.inf, 0.95, "t")
    assert difference_inside(open_above, (0.0, 1.0)) == open_above
    far_below = Interval(-0.9, -1.3, math.inf, 0.95, "t")
    assert -1 < difference_inside(far_below, (0.0, 1.0)).low < -0.9
    assert inside(made(1.0, 0.1), (0.0, 1.0))[1:3] == (0.9, 1.0)
    assert inside(made(0.0, 0.1), (0.0, 1.0))[1:3] == (0.0, 0.1)


def test_a_comparison_knows_the_range_of_its_measure():
    folds = {"A": [1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 0.975], "B": [0.5, 0.6, 0.7, 0.5, 0.6, 0.7, 0.5]}
    row = compare(Scores.of(folds, "accuracy", range=(0.0, 1.0)), test_share=1 / 6).systems[0]
    assert row.mean.method == "corrected t over folds, bounded"
    assert row.mean == inside(corrected_t(folds["A"], 1 / 6), (0.0, 1.0))
    qrels = {f"q{n}": {f"d{n}": 1} for n in range(4)}
    new = {f"q{n}": {f"d{n}": 2.0, "x": 1.0} for n in range(4)}
    old = {f"q{n}": {f"d{n}": 1.0, "x": 2.0, "y": 3.0} for n in range(4)}
    old["q3"] = {"x": 9.0}
    found = compare(qrels, {"old": old, "new": new}, "RR", correction="")
    bare = compare(Scores("RR", ("old", "new"), found.scores.units, found.scores.values))
    assert bare.claims[0].difference.high > 1
    assert found.claims[0].difference.high < 1
    assert found.claims[0].difference.low == bare.claims[0].difference.low
    assert found.claims[0].adjusted == bare.claims[0].adjusted
