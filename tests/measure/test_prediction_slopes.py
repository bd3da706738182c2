"""Slopes of measures of order are what a little more of each unit changes."""

import numpy as np
import pytest

from heldout import ClassPredictions, NumberPredictions
from heldout.measure.parse import parse_measures
from heldout.measure.prediction.slopes import order_slopes
from heldout.measure.prediction.weights import weighing

UNITS = tuple(map(str, range(120)))


def some(classes, weighted, tied):
    source = np.random.default_rng([classes, weighted, tied])
    truth = source.integers(0, classes, len(UNITS))
    scores = source.normal(size=(len(UNITS), classes)).round(1 if tied else 9)
    scores[np.arange(len(UNITS)), truth] += 1
    weights = source.random(len(UNITS)) + 0.1 if weighted else None
    names = tuple("abcd"[:classes])
    return ClassPredictions("A", UNITS, names, truth, None, scores, weights=weights)


def of_class(name):
    return parse_measures([name], "classification")[0]


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize(
    "name",
    ["AUC", "AUC(weighted)", "average-precision(class=b)"],
)
def test_slopes_are_numerical_derivatives(name, classes, weighted, tied):
    given, measure = some(classes, weighted, tied), of_class(name)
    function, found = weighing(given, measure), order_slopes(given, measure)
    whole, step = np.ones((len(UNITS), len(UNITS))), 1e-5 * np.eye(len(UNITS))
    numerical = (function(whole + step) - function(whole - step)) / 2e-5
    assert found.score == pytest.approx(function(whole[:1])[0], rel=1e-12)
    assert found.slopes == pytest.approx(numerical, abs=1e-9)
    assert found.slopes.sum() == pytest.approx(0, abs=1e-14)


def test_the_median_varies_as_its_density_says():
    # Of exponential errors the density at the median is 1/2, so the variance is 1 / n.
    errors = np.random.default_rng(3).exponential(size=200_000)
    given = NumberPredictions("A", tuple(map(str, range(len(errors)))), errors, 0 * errors)
    [measure] = parse_measures(["median-AE"], "regression")
    found = order_slopes(given, measure)
    assert found.score == np.median(errors)
    assert (found.slopes**2).sum() * len(errors) == pytest.approx(1, rel=0.05)
    assert found.slopes.sum() == pytest.approx(0, abs=1e-12)


def test_other_measures_have_none():
    given = some(3, False, False)
    assert order_slopes(given, of_class("log-loss")) is None
    numbers = NumberPredictions("A", UNITS, np.arange(120.0), np.ones(120))
    assert order_slopes(numbers, parse_measures(["RMSE"], "regression")[0]) is None
