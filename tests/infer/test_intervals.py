"""Intervals of one system, against published numbers, SciPy, and by their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout import compare
from heldout.data.scores import Scores
from heldout.errors import InputError
from heldout.infer.intervals import (
    corrected_t,
    hall_interval,
    mean_interval,
    plain_z,
    skewness,
    t_interval,
    wilson,
)
from heldout.infer.results import mean_estimate, t_quantile

counts = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
values = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=40)


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [
        (20, 0.58, 0.92),
        (50, 0.67, 0.89),
        (100, 0.71, 0.87),
        (500, 0.76, 0.83),
        (1000, 0.77, 0.82),
        (5000, 0.79, 0.81),
    ],
)
def test_accuracy_of_four_fifths(n, low, high):
    # By hand, from the closed forms.
    interval = wilson(n * 4 // 5, n)
    assert (round(interval.low, 2), round(interval.high, 2)) == (low, high)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_newcombe(successes, n, low, high):
    # Newcombe (1998), table I, method 3.
    interval = wilson(successes, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("successes", "n"), [(0, 7), (7, 7), (3, 11), (80, 100), (999, 1000)])
def test_against_scipy(level, successes, n):
    expected = stats.binomtest(successes, n).proportion_ci(level, "wilson")
    interval = wilson(successes, n, level)
    assert (interval.low, interval.high) == pytest.approx(tuple(expected), abs=1e-10)


@given(case=counts, level=st.floats(0.5, 0.999))
def test_contains_its_estimate(case, level):
    interval = wilson(*case, level)
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1


@given(case=counts)
def test_successes_and_failures_mirror(case):
    successes, n = case
    one, other = wilson(successes, n), wilson(n - successes, n)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


def test_coverage_of_proportions():
    # Exact, not simulated: over all outcomes of 50 units, averaged over the true proportion.
    n, truths = 50, np.linspace(0.05, 0.95, 91)
    intervals = [wilson(k, n) for k in range(n + 1)]
    low, high = (np.array([i[at] for i in intervals])[:, None] for at in (1, 2))
    chances = stats.binom.pmf(np.arange(n + 1)[:, None], n, truths)
    coverage = (chances * ((low <= truths) & (truths <= high))).sum(axis=0)
    assert coverage.mean() >= 0.945
    assert coverage.min() >= 0.90


def test_coverage_of_t():
    rng = np.random.default_rng(7)
    draws = rng.normal(0.3, 0.2, (2000, 25))
    hits = sum(i.low <= 0.3 <= i.high for i in map(t_interval, draws))
    assert 0.935 <= hits / 2000 <= 0.965


@given(values, st.floats(0.01, 0.99))
def test_t_interval_and_t_test_agree(differences, level):
    interval = t_interval(differences, level)
    assert interval.low <= interval.estimate <= interval.high
    p = float(mean_estimate(np.array(differences)).p())
    varies = np.ptp(differences) > 0  # if all are equal, the test counts signs
    if varies and not math.isclose(p, 1 - level, rel_tol=1e-6) and p not in {0, 1}:
        assert (interval.low <= 0 <= interval.high) == (p > 1 - level)


@given(values)
def test_t_bound_has_its_p(differences):
    low = t_interval(differences).low
    if np.ptp(differences) > 1e-3:
        shifted = mean_estimate(np.array(differences) - low)
        assert shifted.p() == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, math.nan])
def test_level(level):
    with pytest.raises(InputError, match="level="):
        wilson(3, 4, level)
    with pytest.raises(InputError, match="level="):
        t_interval([1, 2], level)


def test_hall_is_t_without_skewness_and_turns_with_it():
    even = np.array([1.0, 2.0, 4.0, 6.0, 7.0])
    assert hall_interval(even) == t_interval(even)
    skewed = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.5, 2.0])
    found, plain, turned = hall_interval(skewed), t_interval(skewed), hall_interval(1 - skewed)
    assert plain.low < found.low < found.estimate < plain.high < found.high
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((found.low, found.high))
    scaled = hall_interval(100 * skewed)
    assert (scaled.low, scaled.high) == pytest.approx((100 * found.low, 100 * found.high))


def test_halls_bounds_solve_the_transformed_equation():
    """g(T) = T + aT^2 / 3 + a^2 T^3 / 27 + a / 6, a = skewness / root(n), is t at the bounds."""
    values = np.random.default_rng(4).exponential(1, 15)
    found, n = hall_interval(values), len(values)
    centred = values - values.mean()
    lean = (centred**3).mean() / (centred**2).mean() ** 1.5 / math.sqrt(n)
    error = values.std(ddof=1) / math.sqrt(n)
    quantile = t_quantile(14, 0.025)
    for bound, expected in ((found.low, quantile), (found.high, -quantile)):
        t = (values.mean() - bound) / error
        transformed = t + lean * t**2 / 3 + lean**2 * t**3 / 27 + lean / 6
        assert transformed == pytest.approx(expected)


def test_skewed_means_are_covered_more_often_than_by_t():
    generator = np.random.default_rng(0)
    covered = {"t": 0, "chosen": 0}
    for values in generator.exponential(1, (800, 12)) ** 2:
        plain, chosen = t_interval(values), mean_interval(values, 0.95, (0.0, math.inf))
        covered["t"] += plain.low <= 2 <= plain.high
        covered["chosen"] += chosen.low <= 2 <= chosen.high
        assert chosen.low >= 0
    assert covered["t"] < 0.80 * 800
    assert covered["chosen"] > covered["t"] + 0.05 * 800


def test_few_or_hardly_skewed_values_have_t():
    skewed = np.array([0.0] * 7 + [0.1, 0.9])
    assert mean_interval(skewed).method == "t"
    assert mean_interval(np.append(skewed, 0.0)).method == "Hall"
    assert mean_interval(np.linspace(0, 0.5, 20)).method == "t"
    assert skewness(np.full((5, 1), 0.3)) == 0


def test_a_system_without_any_success_has_a_width():
    scores = Scores.of({"A": [0.0] * 12, "B": [0.1, 0.4] * 6}, "AP", range=(0.0, 1.0))
    row = compare(scores).systems[0].mean
    assert (row.low, row.method) == (0.0, "Wilson")
    assert row.high == pytest.approx(wilson(0, 12).high)


@pytest.mark.parametrize(("units", "said"), [(9, False), (20, True), (50, False)])
def test_a_warning_where_skewed_scores_are_few(units, said):
    skewed = [0.0] * (units - 2) + [0.3, 0.9]
    found = compare(Scores.of({"A": skewed, "B": np.linspace(0.2, 0.7, units).tolist()}, "AP"))
    assert any(note.code == "skewed-scores" for note in found.warnings) == said


# Folds

folds = st.lists(st.floats(0, 1).map(lambda x: round(x, 6)), min_size=2, max_size=30)


def test_plain_z_by_hand():
    half = 1.959963984540054 * math.sqrt(0.05 / 4) / 2
    assert plain_z([0.5, 0.7, 0.6, 0.8])[:3] == pytest.approx((0.65, 0.65 - half, 0.65 + half))


@given(folds)
def test_plain_z_is_narrower_than_corrected_t(scores):
    plain, corrected = plain_z(scores), corrected_t(scores, 1 / 9)
    assert corrected.low <= plain.low + 1e-12
    assert plain.low <= plain.estimate <= plain.high <= corrected.high + 1e-12


@given(folds)
def test_corrected_interval_and_test_agree(scores):
    interval = corrected_t(scores, 0.25)
    if np.ptp(scores) > 1e-3:
        moved = {"A": np.zeros(len(scores)).tolist(), "B": np.array(scores) - interval.high}
        claim = compare(Scores.of(moved, "AP"), test_share=0.25).claims[0]
        assert claim.outcomes[0].test == "corrected-t"
        assert claim.outcomes[0].p == pytest.approx(0.05)


def ridge_errors(inputs, targets, train, test):
    """Squared errors of a heavily fitted linear model."""
    x, y = inputs[train], targets[train]
    weights = np.linalg.solve(x.T @ x + 0.1 * np.eye(x.shape[1]), x.T @ y)
    return (targets[test] - inputs[test] @ weights) ** 2


def test_coverage_over_folds():
    # 40 units, 12 weights, 5 folds: plain z falls short of 95 %, corrected t comes closer.
    rng = np.random.default_rng(11)
    hits = np.zeros(2)
    for _ in range(200):
        inputs = rng.normal(size=(40, 12))
        targets = rng.normal(size=40)
        weights = np.linalg.solve(inputs.T @ inputs + 0.1 * np.eye(12), inputs.T @ targets)
        truth = 1 + float(weights @ weights)  # expected squared error of the whole model
        errors = [
            ridge_errors(inputs, targets, np.setdiff1d(np.arange(40), part), part).mean()
            for part in np.array_split(rng.permutation(40), 5)
        ]
        for at, interval in enumerate((plain_z(errors), corrected_t(errors, 1 / 4))):
            hits[at] += interval.low <= truth <= interval.high
    plain, corrected = hits / 200
    assert plain < 0.85
    assert corrected > plain


@pytest.mark.parametrize("share", [0, -0.1, math.nan])
def test_bad_share(share):
    with pytest.raises(InputError, match="n_test / n_train"):
        corrected_t([0.1, 0.2], share)
