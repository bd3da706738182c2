"""Measures of predicted numbers: by hand, scikit-learn and SciPy, what is undefined."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import numbered, value
from scipy import stats
from sklearn import metrics

from heldout import NumberPredictions, Undefined, evaluate, parse_measure
from heldout.errors import MeasureError

BY_HAND = [
    ([1, 2, 4], [2, 2, 2], "MSE", 5 / 3),
    ([1, 2, 4], [2, 2, 2], "sMAPE", (2 / 3 + 0 + 4 / 6) / 3),
    ([1, 1], [0, 2], "pinball(alpha=0.9)", 0.5),
    ([0, 0], [1, 3], "median-AE", 2),  # of an even number the mean of the middle two
]
UNDEFINED = [
    ([1, 0, 2, 0], [1, 1, 1, 1], "MAPE", "the truth is 0 for 2 units (b, d)"),
    ([1, 0, 0], [1, 0, 1], "sMAPE", "truth and prediction are 0 for 1 unit (b)"),
    ([1, 2], [1, -1], "MSLE", "truth or prediction is -1 or less for 1 unit (b): the logarithm"),
    # What scikit-learn calls 1 or 0 does not exist.
    ([0.1] * 3, [0.1] * 3, "R2", "the truth is the same for every unit"),
    ([0.1] * 3, [1, 2, 3], "explained-variance", "the truth is the same for every unit"),
    ([0.1] * 3, [0.1] * 3, "Pearson", "the truth is the same for every unit"),
    ([1, 2, 3], [0.1] * 3, "Spearman", "the prediction is the same for every unit"),
    ([1, 2, 3], [0.1] * 3, "Kendall", "the prediction is the same for every unit"),
]


def test_by_hand():
    for truth, guess, name, expected in BY_HAND:
        assert value(name, numbered(truth, guess)) == pytest.approx(expected, rel=1e-14), name
    for truth, guess, name, reason in UNDEFINED:
        found = value(name, numbered(truth, guess))
        assert isinstance(found, Undefined), name
        assert found.reason.startswith(reason), name
    with pytest.raises(MeasureError, match="alpha=2: expected a number from 0 to 1"):
        parse_measure("pinball(alpha=2)")


def test_the_mean_explains_nothing():
    truth = [1.0, 5.0, 9.0]
    found = evaluate(truth, [1.0, 2.0, 3.0], task="regression")
    names = [str(one) for one in found.measures]
    assert names == ["RMSE", "MAE", "median-AE", "MAPE", "sMAPE", "R2"]
    assert found.value("(mean)", "R2") == 0.0
    assert found.value("(mean)", "RMSE") == pytest.approx(np.std(truth))
    # With weights it is the weighted mean.
    heavy = evaluate(None, numbered(truth, truth, [3, 1, 0]), ["MAE", "R2"])
    assert heavy.value("(mean)", "MAE") == pytest.approx((3 * 1 + 3) / 4)
    assert heavy.value("(mean)", "R2") == pytest.approx(0)


@st.composite
def predictions(draw):
    """Truth and prediction, both above -1."""
    kind = draw(st.sampled_from(["plain", "ties", "constant", "weights", "negative"]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count = int(rng.integers(2, 30))
    truth, guess = rng.gamma(2, 2, count), rng.gamma(2, 2, count)
    if kind == "ties":
        truth, guess = np.floor(truth), np.floor(guess)
    if kind == "constant":
        guess[:] = 3.0
    if kind == "negative":
        truth, guess = (rng.normal(0, 500, count).round(3) for _ in range(2))
    weights = rng.random(count) + 0.1 if kind == "weights" else None
    units = tuple(map(str, range(count)))
    return NumberPredictions("A", units, truth, guess, weights=weights)


def of_peers(one):
    """Values of scikit-learn, and of SciPy, which knows no weights."""
    both, how = (one.truth, one.predicted), {"sample_weight": one.weights}
    names = ["mean_squared_error", "root_mean_squared_error", "mean_absolute_error"]
    names += ["median_absolute_error"] if one.weights is None else []  # weighted, it has no middle
    if min(map(min, both)) > -1:
        names.append("mean_squared_log_error")
    if (one.truth != 0).all():
        names.append("mean_absolute_percentage_error")
    if len(set(one.truth.tolist())) > 1:
        names += ["r2_score", "explained_variance_score"]
    for name in names:
        yield name, getattr(metrics, name)(*both, **how)
    for alpha in (0.0, 0.3, 0.9):
        yield f"pinball(alpha={alpha})", metrics.mean_pinball_loss(*both, alpha=alpha, **how)
    if one.weights is None:
        yield "Pearson", stats.pearsonr(*both)[0]
        yield "Spearman", stats.spearmanr(*both)[0]
        yield "Kendall", stats.kendalltau(*both)[0]


@settings(max_examples=50)
@given(one=predictions())
def test_values_are_those_of_scikit_learn_and_scipy(one):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = dict(of_peers(one))
    for name, theirs in expected.items():
        mine = value(name, one)
        if math.isnan(theirs):
            assert isinstance(mine, Undefined), (name, mine)
        else:
            assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12), name
