"""Measures as functions of sums and of weights: the same values as the measures themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import ClassPredictions, NumberPredictions
from heldout.measure.parse import parse_measures
from heldout.measure.prediction.sums import unit_sums
from heldout.measure.prediction.weights import weighing
from heldout.measure.undefined import Undefined

COUNTED = [
    *("accuracy", "error", "balanced-accuracy", "MCC", "kappa", "F(beta=2, macro)"),
    *(f"{name}({how})" for name in ("precision", "recall", "F1") for how in ("macro", "micro")),
    *("precision(weighted)", "recall(weighted)", "F1(weighted)", "F1(class=b)", "recall(class=a)"),
    *("specificity(class=b)", "FP-rate(class=a)"),
]
PROBABLE = ["log-loss", "Brier", "ECE(bins=5)"]
NUMBERS = ["RMSE", "MSE", "MAE", "MAPE", "sMAPE", "R2"]


def classed(seed, size, units=30, weights=False):
    source = np.random.default_rng(seed)
    truth = source.integers(0, size, units)
    shares = source.dirichlet(np.ones(size), units)
    return ClassPredictions(
        "A",
        tuple(map(str, range(units))),
        tuple("abcd"[:size]),
        truth,
        np.where(source.random(units) < 0.5, truth, source.integers(0, size, units)),
        np.round(shares, 1) / np.round(shares, 1).sum(axis=1, keepdims=True),
        probabilities=True,
        weights=source.integers(0, 3, units).astype(float) if weights else None,
    )


def same(value, found):
    if isinstance(value, Undefined):
        return not np.isfinite(found)
    return found == pytest.approx(value, abs=1e-12)


@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans(), st.integers(4, 30))
def test_sums_give_the_value_of_the_measure(seed, size, weights, units):
    one = classed(seed, size, units, weights)
    for name in [*COUNTED, *([] if weights else PROBABLE)]:
        [measure] = parse_measures([name], "classification")
        found = unit_sums(one, measure, "b")
        with np.errstate(invalid="ignore"):
            [value] = found.score(found.table.sum(axis=0, keepdims=True))
        assert same(measure.compute(one, "b"), value), name


@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.0, 2.0, 3.0])])
def test_sums_of_numbers(weights):
    truth, guess = np.array([1e6 + 1, 1e6 + 2, 1e6 + 4, 1e6 + 9]), np.array([1.0, 2.5, 3, 10])
    one = NumberPredictions("A", tuple("abcd"), truth, guess + 1e6, weights)
    for measure in parse_measures(NUMBERS, "regression"):
        found = unit_sums(one, measure)
        [value] = found.score(found.table.sum(axis=0, keepdims=True))
        assert value == pytest.approx(measure.compute(one), rel=1e-9), str(measure)


def test_sums_of_no_use():
    """What is no function of sums has none; what does not exist is not a number."""
    one = classed(0, 3)
    for name in ("AUC", "average-precision(class=a)"):
        assert unit_sums(one, parse_measures([name], "classification")[0]) is None
    [spread] = parse_measures(["R2"], "regression")
    flat = NumberPredictions("A", ("a", "b"), np.array([2.0, 2.0]), np.array([1.0, 3.0]))
    found = unit_sums(flat, spread)
    assert np.isnan(found.score(found.table.sum(axis=0, keepdims=True))).all()


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(4, 30))
def test_weights_give_the_value_of_the_units_drawn(seed, size, units):
    """Ties among scores come from rounding; a unit of weight 2 is a unit that stands twice."""
    one = classed(seed, size, units)
    drawn = np.random.default_rng(seed).integers(0, units, units)
    counts = np.bincount(drawn, minlength=units)[None].astype(float)
    twice = one.select(np.flatnonzero(counts[0]))
    rows = np.repeat(np.arange(len(twice.units)), counts[0][counts[0] > 0].astype(int))
    many = ClassPredictions(
        "A",
        tuple(map(str, range(units))),
        twice.classes,
        twice.truth[rows],
        None,
        twice.scores[rows],
        probabilities=True,
    )
    names = ["AUC", "AUC(weighted)", "average-precision(class=a)"]
    for measure in parse_measures(names, "classification"):
        [value] = weighing(one, measure, "b")(counts)
        assert same(measure.compute(many, "b"), value), str(measure)


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_the_median_of_the_units_drawn(seed, units):
    source = np.random.default_rng(seed)
    errors = source.integers(0, 5, units).astype(float)
    one = NumberPredictions("A", tuple(map(str, range(units))), np.zeros(units), errors)
    drawn = source.integers(0, units, source.integers(1, 2 * units))
    counts = np.bincount(drawn, minlength=units)[None].astype(float)
    [measure] = parse_measures(["median-AE"], "regression")
    assert weighing(one, measure)(counts)[0] == np.median(errors[drawn])


def test_weights_of_units_multiply():
    one = classed(3, 2, weights=True)
    [measure] = parse_measures(["AUC"], "classification")
    assert weighing(one, measure, "b")(np.ones((1, 30)))[0] == pytest.approx(
        measure.compute(one, "b")
    )
