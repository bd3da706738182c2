"""Intervals of bounded measures stay inside the range, and change only where they left it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import heldout
from heldout.infer.intervals import (
    corrected_t,
    difference_inside,
    inside,
    mean_interval,
    t_interval,
    wilson,
)
from heldout.infer.results import Interval, t_quantile
from heldout.infer.scored_inputs import system_interval
from heldout.measure.prediction.evaluate import evaluate_predictions

RANGES = [(0.0, 1.0), (-1.0, 1.0), (0.0, 100.0), (0.0, math.inf), (-math.inf, 1.0)]


def made(estimate: float, half: float) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, 0.95, "t")


@pytest.mark.parametrize("ends", RANGES)
@given(share=st.floats(0, 1), half=st.floats(0, 1e6))
def test_inside_the_range_around_the_estimate(ends, share, half):
    low, high = max(ends[0], -50.0), min(ends[1], 50.0)
    estimate = low + share * (high - low)
    plain = made(estimate, half)
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
    assert (found.low <= 0 <= found.high) == (plain.low <= 0 <= plain.high)
    for bound, before in ((found.low, plain.low), (found.high, plain.high)):
        assert bound == before or abs(before) > 1


@pytest.mark.parametrize(("right", "n"), [(1, 29), (19, 20), (1, 2), (99, 100)])
def test_wilson_is_the_case_of_successes_and_failures(right, n):
    """With the variance of a proportion and z both are the same formula."""
    share = right / n
    half = t_quantile(math.inf, 0.025) * math.sqrt(share * (1 - share) / n)
    expected = wilson(right, n)
    found = inside(made(share, half), (0.0, 1.0))[1:3]
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("ends", RANGES)
def test_bounds_solve_the_equation(ends):
    estimate = 0.9 if ends[1] == 1.0 else 0.1
    half = 0.3 if ends != (-1.0, 1.0) else 2.5
    low, high = inside(made(estimate, half), ends)[1:3]
    for bound in (low, high):
        scale = 1.0
        if math.isfinite(ends[0]):
            scale *= (bound - ends[0]) / (estimate - ends[0])
        if math.isfinite(ends[1]):
            scale *= (ends[1] - bound) / (ends[1] - estimate)
        assert (bound - estimate) ** 2 == pytest.approx(half**2 * scale, rel=1e-9)


def test_a_bound_at_infinity_is_none_and_stays():
    assert inside(made(0.5, math.inf), (0.0, 1.0)) == made(0.5, math.inf)
    open_above = Interval(0.9, 0.2, math.inf, 0.95, "t")
    assert difference_inside(open_above, (0.0, 1.0)) == open_above
    far_below = Interval(-0.9, -1.3, math.inf, 0.95, "t")
    assert -1 < difference_inside(far_below, (0.0, 1.0)).low < -0.9


def test_an_estimate_at_an_end_keeps_its_place():
    assert inside(made(1.0, 0.1), (0.0, 1.0))[1:3] == (0.9, 1.0)
    assert inside(made(0.0, 0.1), (0.0, 1.0))[1:3] == (0.0, 0.1)


def test_a_run_that_lacks_most_queries():
    """Two of fifty queries have a value: the t interval starts below 0."""
    values = np.zeros(50)
    values[[3, 30]] = 0.4, 0.3
    plain = t_interval(values)
    assert plain.low < 0
    found = inside(plain, (0.0, 1.0))
    assert 0 < found.low < plain.estimate < plain.high < found.high
    skewed = mean_interval(values, 0.95, (0.0, 1.0))
    assert skewed.method == "Hall"
    assert 0 < skewed.low < plain.estimate < found.high < skewed.high < 1
    assert mean_interval(values) == skewed  # it did not reach an end


def test_accuracy_near_one_over_folds():
    scores = [1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 0.975, 1.0, 1.0, 1.0]
    plain = corrected_t(scores, 1 / 9)
    assert plain.high > 1
    found = inside(plain, (0.0, 1.0))
    assert found.low < plain.low < plain.estimate < found.high < 1
    assert found.method == "corrected t over folds, bounded"


def test_folds_that_are_all_perfect_have_the_interval_of_their_units():
    folds = tuple(str(n % 5) for n in range(40))
    units = tuple(map(str, range(40)))
    truth = np.arange(40) // 5 % 2
    one = heldout.ClassPredictions("A", units, ("a", "b"), truth, truth, folds=folds)
    found = evaluate_predictions([one], ["accuracy", "error"])
    assert system_interval(found, "A", found.measures[0]) == wilson(40, 40)
    assert system_interval(found, "A", found.measures[1]) == wilson(0, 40)


def test_a_comparison_knows_the_range_of_its_measure():
    qrels = {f"q{n}": {f"d{n}": 1} for n in range(4)}
    new = {f"q{n}": {f"d{n}": 2.0, "x": 1.0} for n in range(4)}
    old = {f"q{n}": {f"d{n}": 1.0, "x": 2.0, "y": 3.0} for n in range(4)}
    old["q3"] = {"x": 9.0}
    found = heldout.compare(qrels, {"old": old, "new": new}, "RR", correction="")
    bare = heldout.compare(
        heldout.Scores("RR", ("old", "new"), found.scores.units, found.scores.values)
    )
    assert bare.claims[0].difference.high > 1
    assert found.claims[0].difference.high < 1
    assert found.claims[0].difference.low == bare.claims[0].difference.low
    assert found.claims[0].adjusted == bare.claims[0].adjusted
