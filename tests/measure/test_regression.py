"""Measures of predicted numbers: scikit-learn, by hand, what is undefined or refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from heldout.errors import InputError
from heldout.measure.prediction import regression as own
from heldout.measure.undefined import Undefined

NUMBERS = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(1, 4)), min_size=2, max_size=40)


@given(ROWS, st.booleans())
def test_scikit_learn_agrees(rows, weighted):
    truth, guess = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    weights = np.array([row[2] for row in rows]) if weighted else None
    common = {"sample_weight": weights}
    assert own.mse(truth, guess, weights) == pytest.approx(
        metrics.mean_squared_error(truth, guess, **common)
    )
    assert own.rmse(truth, guess, weights) == pytest.approx(
        metrics.root_mean_squared_error(truth, guess, **common)
    )
    assert own.mae(truth, guess, weights) == pytest.approx(
        metrics.mean_absolute_error(truth, guess, **common)
    )
    assert own.median_ae(truth, guess) == pytest.approx(metrics.median_absolute_error(truth, guess))
    found = own.r_squared(truth, guess, weights)
    if not isinstance(found, Undefined):
        theirs = metrics.r2_score(truth, guess, **common)
        assert found == pytest.approx(theirs, rel=1e-6, abs=1e-6)
    if (truth != 0).all():
        theirs = metrics.mean_absolute_percentage_error(truth, guess, **common)
        assert own.mape(truth, guess, weights) == pytest.approx(theirs)


def test_by_hand():
    truth, guess = [1, 2, 4], [2, 2, 2]
    assert own.mse(truth, guess) == pytest.approx(5 / 3)
    assert own.rmse(truth, guess) == pytest.approx(math.sqrt(5 / 3))
    assert own.mae(truth, guess) == 1.0
    assert own.median_ae(truth, guess) == 1.0
    assert own.mape(truth, guess) == pytest.approx((1 + 0 + 0.5) / 3)
    assert own.smape(truth, guess) == pytest.approx((2 / 3 + 0 + 4 / 6) / 3)


def test_a_truth_of_zero_is_named():
    with pytest.raises(InputError, match=r"truth is 0 for 2 units \(b, d\)"):
        own.mape([1, 0, 2, 0], [1, 1, 1, 1], names="abcd")
    with pytest.raises(InputError, match=r"truth and prediction are 0 for 1 unit \(number 2\)"):
        own.smape([1, 0, 0], [1, 0, 1])


def test_the_mean_explains_nothing():
    truth = [1.0, 5.0, 9.0]
    base = own.mean_baseline(truth)
    assert base.tolist() == [5.0, 5.0, 5.0]
    assert own.r_squared(truth, base) == 0.0
    assert own.rmse(truth, base) == pytest.approx(np.std(truth))
    # What scikit-learn calls 1 or 0 does not exist.
    assert isinstance(own.r_squared([0.1, 0.1, 0.1], [0.1, 0.1, 0.1]), Undefined)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="unit number 2 is nan"):
        own.mae([1, 2], [1, math.nan])
    with pytest.raises(InputError, match="true values for"):
        own.mae([1, 2], [1])
