"""Measures of predicted numbers: scikit-learn, by hand, what is undefined or refused."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import numbered, value
from sklearn import metrics

from heldout import evaluate
from heldout.measure.base import Undefined

NUMBERS = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(1, 4)), min_size=2, max_size=40)


@given(ROWS, st.booleans())
def test_scikit_learn_agrees(rows, weighted):
    truth, guess = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    weights = np.array([row[2] for row in rows]) if weighted else None
    mine, common = numbered(truth, guess, weights), {"sample_weight": weights}
    names = ["mean_squared_error", "root_mean_squared_error", "mean_absolute_error"]
    names += ["median_absolute_error", "r2_score", "explained_variance_score"]
    names += ["mean_absolute_percentage_error"] if (truth != 0).all() else []
    for name in names:
        found = value(name, mine)
        if not isinstance(found, Undefined):
            theirs = getattr(metrics, name)(truth, guess, **common)
            assert found == pytest.approx(theirs, rel=1e-6, abs=1e-6), name


def test_by_hand():
    mine = numbered([1, 2, 4], [2, 2, 2])
    for name, expected in {
        "MSE": 5 / 3,
        "RMSE": math.sqrt(5 / 3),
        "MAE": 1.0,
        "median-AE": 1.0,
        "MAPE": (1 + 0 + 0.5) / 3,
        "sMAPE": (2 / 3 + 0 + 4 / 6) / 3,
    }.items():
        assert value(name, mine) == pytest.approx(expected), name
    assert value("pinball(alpha=0.9)", numbered([1, 1], [0, 2])) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "truth", "guess", "message"),
    [
        ("MAPE", [1, 0, 2, 0], [1, 1, 1, 1], r"truth is 0 for 2 units \(b, d\)"),
        ("sMAPE", [1, 0, 0], [1, 0, 1], r"truth and prediction are 0 for 1 unit \(b\)"),
        ("MSLE", [1, 2], [1, -1], r"-1 or less for 1 unit \(b\): the logarithm"),
    ],
)
def test_units_without_a_value_are_named(name, truth, guess, message):
    assert re.search(message, value(name, numbered(truth, guess)).reason)


def test_the_mean_explains_nothing():
    truth = [1.0, 5.0, 9.0]
    found = evaluate(truth, [1.0, 2.0, 3.0], ["R2", "RMSE"], task="regression")
    assert found.value("(mean)", "R2") == 0.0
    assert found.value("(mean)", "RMSE") == pytest.approx(np.std(truth))
    # What scikit-learn calls 1 or 0 does not exist.
    flat = numbered([0.1, 0.1, 0.1], [0.1, 0.1, 0.1])
    assert value("R2", flat) == Undefined("the truth is the same for every unit")
    assert value("Pearson", flat) == Undefined("the truth is the same for every unit")


@given(st.integers(0, 10_000), st.integers(2, 12))
def test_the_median_of_units_with_weights(seed, units):
    source = np.random.default_rng(seed)
    errors = source.integers(0, 5, units).astype(float)
    drawn = source.integers(0, units, source.integers(1, 2 * units))
    counts = np.bincount(drawn, minlength=units)
    assert value("median-AE", numbered(np.zeros(units), errors, counts)) == np.median(errors[drawn])
