"""Estimates: t tests against published numbers and SciPy, no variance, effect sizes, levels."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_data import MAIZE, SIDES, A, B
from scipy import stats

from heldout import InputError, compare
from heldout.infer.results import Estimate, alpha_of, drop_noise, level_of, mean_estimate


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
    claim = compare({"linear": second, "rbf": best}, test_share=10 / 90).claims[0]
    assert claim.outcomes[0].test == "corrected-t"
    assert claim.outcomes[0].statistic == pytest.approx(0.7503126954, abs=5e-10)


@pytest.mark.parametrize("side", SIDES)
def test_t_agrees_with_scipy(side):
    for n in (2, 3, 10, 200):
        first, second = np.random.default_rng(n).normal(0.1, 1, (2, n))
        theirs = stats.ttest_rel(first, second, alternative=side)
        ours = mean_estimate(first - second)
        assert (ours.t, ours.p(side)) == pytest.approx(tuple(theirs), rel=1e-10), n
        (interval,) = ours.interval(0.9, side)
        bounds = tuple(theirs.confidence_interval(0.9))
        assert interval[1:3] == pytest.approx(bounds, rel=1e-10), n


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


# Effect sizes


def effects_of(first, second):
    return compare({"second": list(second), "first": list(first)}, tests=["t"]).claims[0].effects


def test_effects_of_the_ten_folds_by_their_definitions():
    effects = effects_of(A, B)
    assert effects.mean_difference == pytest.approx(-0.07)
    assert effects.standardised == pytest.approx(-1.10526 / math.sqrt(10), abs=1e-5)
    assert (effects.wins, effects.ties, effects.losses, effects.n) == (2, 4, 4, 10)
    assert effects.superiority == pytest.approx(0.4)
    rounded = effects_of([0.1 + 0.2, 0.5], [0.3, 0.4])
    assert (rounded.wins, rounded.ties) == (1, 1)
    assert effects_of([1.0, 2], [1, 2])[1:3] == (0, 0.5)
    assert effects_of([2, 3], [1, 2])[1:3] == (math.inf, 1)


@given(st.lists(st.tuples(*[st.integers(0, 10)] * 2), min_size=2, max_size=30))
def test_effects_of_swapped_systems(pairs):
    first, second = np.array(pairs, float).T
    one, other = effects_of(first, second), effects_of(second, first)
    assert one.mean_difference == pytest.approx(-other.mean_difference)
    assert one.standardised == pytest.approx(-other.standardised)
    assert one.superiority == pytest.approx(1 - other.superiority)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    expected = mean_estimate(first - second).t / math.sqrt(len(pairs))
    assert one.standardised == pytest.approx(float(expected))


# Levels


def test_levels():
    for alpha in (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 1e-9, 1e-12):
        assert alpha_of(1 - alpha) == alpha
        assert alpha_of(level_of(alpha)) == alpha
    table = {"A": [0.1, 0.4, 0.3, 0.9], "B": [0.3, 0.5, 0.3, 0.8]}
    result = compare(table, level=0.9, alternative="greater")
    assert (result.level, result.alpha, result.alternative) == (0.9, 0.1, "greater")
    refused = [(0.05, "mean 0.95"), (0.1, "did you mean 0.9"), (0.4999, "did you mean 0.5001")]
    nonsense = (0, 1, 95, -0.05, math.nan, True, "0.95")
    refused += [(level, r"between 0\.5 and 1, such as 0\.95") for level in nonsense]
    for level, words in refused:
        with pytest.raises(InputError, match=words):
            compare(table, level=level)
    with pytest.raises(InputError, match=r"above 0\.5"):
        compare(table, alternative="greater", level=0.5)
