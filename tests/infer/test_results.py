"""Estimates: t tests against published numbers and SciPy, no variance, levels of confidence."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout import InputError, compare
from heldout.infer.results import (
    Estimate,
    alpha_of,
    check_level,
    drop_noise,
    level_of,
    mean_estimate,
)

# The ten folds of a worked example.
A = np.array([0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9])
B = np.array([0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8])
# Darwin's maize, as tested by Fisher (The Design of Experiments, 1935).
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48.0])
SIDES = ("two-sided", "greater", "less")
TABLE = {"A": [0.1, 0.4, 0.3, 0.9], "B": [0.3, 0.5, 0.3, 0.8]}

numbers = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=60)


def test_published_t_tests():
    (outcome,) = mean_estimate(drop_noise(B, A)).outcomes("t", "two-sided", 10)
    assert outcome.statistic == pytest.approx(1.10526, abs=5e-6)
    assert outcome.p == pytest.approx(0.29771506, abs=5e-9)
    assert (outcome.method, outcome.detail) == ("t", "9 degrees of freedom")
    assert mean_estimate(MAIZE).p() == pytest.approx(0.04970294, abs=5e-9)


def test_corrected_t_of_the_grid_search_example():
    """scikit-learn, "Statistical comparison of models using grid search", its two best models."""
    reason = "reruns scikit-learn's example"
    datasets = pytest.importorskip("sklearn.datasets", reason=reason)
    selection = pytest.importorskip("sklearn.model_selection", reason=reason)
    svc = pytest.importorskip("sklearn.svm", reason=reason).SVC
    inputs, labels = datasets.make_moons(noise=0.352, random_state=1, n_samples=100)
    folds = selection.RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    best, second = (
        selection.cross_val_score(svc(kernel=kernel), inputs, labels, cv=folds, scoring="roc_auc")
        for kernel in ("rbf", "linear")
    )
    corrected = mean_estimate(best - second, 1 / 100 + 10 / 90)
    assert corrected.t == pytest.approx(0.7503126954, abs=5e-10)
    assert corrected.p("greater") == pytest.approx(0.2274229710, abs=5e-10)
    assert mean_estimate(best - second).t == pytest.approx(2.6111648393, abs=5e-10)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("n", [2, 3, 10, 200])
def test_t_agrees_with_scipy(side, n):
    first, second = np.random.default_rng(n).normal(0.1, 1, (2, n))
    theirs = stats.ttest_rel(first, second, alternative=side)
    ours = mean_estimate(first - second)
    assert (ours.t, ours.p(side)) == pytest.approx(tuple(theirs), rel=1e-10)
    if side == "two-sided":
        (interval,) = ours.interval(0.9)
        assert interval[1:3] == pytest.approx(tuple(theirs.confidence_interval(0.9)), rel=1e-10)


@given(numbers, st.floats(0.01, 1))
def test_sides_and_the_correction(values, share):
    estimate = mean_estimate(np.array(values))
    two, greater, less = (float(estimate.p(side)) for side in SIDES)
    assert greater + less >= 1 - 1e-9
    assert two == pytest.approx(min(1, 2 * min(greater, less)), abs=1e-9)
    assert mean_estimate(-np.array(values)).p("greater") == pytest.approx(less, abs=1e-12)
    assert mean_estimate(np.array(values), 1 / len(values) + share).p() >= two - 1e-12


@pytest.mark.parametrize("side", SIDES)
def test_many_columns_answer_as_one_by_one(side):
    gaps = np.column_stack(
        [np.arange(5.0), np.zeros(5), np.ones(5), -np.ones(5), [1, -1, 2, -2, 0]]
    )
    outcomes = mean_estimate(gaps).outcomes("t", side, 5)
    assert outcomes == [mean_estimate(column).outcomes("t", side, 5)[0] for column in gaps.T]
    assert [outcome.method for outcome in outcomes] == ["t", *["no variance"] * 3, "t"]


@pytest.mark.parametrize("constant", [0.25, -0.25])
def test_differences_without_variance_have_the_p_of_their_signs(constant):
    side, other = ("greater", "less") if constant > 0 else ("less", "greater")
    estimate = mean_estimate(np.full(5, constant))
    assert [estimate.p(way) for way in ("two-sided", side, other)] == [2**-4, 2**-5, 1]
    assert estimate.t == math.copysign(math.inf, constant)
    assert mean_estimate(np.full(5, constant), 0.2 + 0.1).p() == 2**-4
    # The normal distribution has no number of units: it is given apart.
    normal = Estimate(np.array([constant, 0.0]), np.zeros(2), math.inf, "z", units=5)
    assert normal.p().tolist() == [2**-4, 1.0]
    assert [outcome.p for outcome in normal.outcomes("z", "two-sided", 5)] == [2**-4, 1.0]


def test_differences_that_are_constant_but_for_rounding():
    assert mean_estimate(np.array([0.9 - 0.8, 0.3 - 0.2, 0.1, 0.7 - 0.6])).error == 0
    assert [float(mean_estimate(np.zeros(20)).p(side)) for side in SIDES] == [1, 1, 1]


def test_one_unit_is_refused():
    with pytest.raises(InputError, match="expected at least 2"):
        compare({"A": [0.1], "B": [0.2]}, tests=["t"])


@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 1e-9, 1e-12])
def test_one_minus_the_level_is_what_was_meant(alpha):
    assert alpha_of(1 - alpha) == alpha
    assert alpha_of(level_of(alpha)) == alpha


@pytest.mark.parametrize("level", [0.05, 0.01, 0.1, 0.4999])
def test_a_significance_level_is_asked_about(level):
    with pytest.raises(InputError, match=f"did you mean {1 - level:g}"):
        compare(TABLE, level=level)


@pytest.mark.parametrize("level", [0, 1, 95, -0.05, float("nan"), True, "0.95"])
def test_no_level_is_refused(level):
    with pytest.raises(InputError, match=r"between 0\.5 and 1, such as 0\.95"):
        check_level(level)


def test_a_comparison_knows_both():
    result = compare(TABLE, level=0.9, alternative="greater")
    assert (result.level, result.alpha, result.alternative) == (0.9, 0.1, "greater")
