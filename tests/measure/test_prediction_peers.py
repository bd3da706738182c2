"""Measures of predictions against scikit-learn and SciPy, on random and degenerate inputs."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from heldout import (
    ClassPredictions,
    NumberPredictions,
    Undefined,
    compare,
    parse_measure,
)
from heldout.data.predictions import MAJORITY, RANDOM
from heldout.errors import MeasureError
from heldout.measure.prediction.evaluate import evaluate_predictions

CASES = st.tuples(st.integers(0, 10**6), st.sampled_from(["plain", "ties", "constant", "weights"]))


def numbers(case):
    """Truth and prediction, both above -1."""
    seed, kind = case
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 30))
    truth, guess = rng.gamma(2, 2, count), rng.gamma(2, 2, count)
    if kind == "ties":
        truth, guess = np.floor(truth), np.floor(guess)
    if kind == "constant":
        guess[:] = 3.0
    weights = rng.random(count) + 0.1 if kind == "weights" else None
    units = tuple(map(str, range(count)))
    return NumberPredictions("A", units, truth, guess, weights=weights)


def classes(case, size=None):
    """Classes and probabilities; constant: one true class, another that is never predicted."""
    seed, kind = case
    rng = np.random.default_rng(seed)
    size = size or int(rng.integers(2, 5))
    count = int(rng.integers(2, 40))
    truth, guess = rng.integers(0, size, count), rng.integers(0, size, count)
    scores = rng.dirichlet(np.ones(size), count)
    if kind == "ties":
        scores = np.floor(scores * 4) + 1
        scores /= scores.sum(axis=1, keepdims=True)
    if kind == "constant":
        truth[:] = 0
        guess[guess == 1] = 0
    weights = rng.random(count) + 0.1 if kind == "weights" else None
    return ClassPredictions(
        "A",
        tuple(map(str, range(count))),
        tuple("abcd"[:size]),
        truth,
        guess,
        scores,
        probabilities=True,
        weights=weights,
    )


def check(name, predictions, theirs, **how):
    """Equal values; what others call NaN is undefined."""
    mine = parse_measure(name).compute(predictions, **how)
    if math.isnan(theirs):
        assert isinstance(mine, Undefined), (name, mine)
    else:
        assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-12), name


def quietly(function, *values, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*values, **how))


@settings(max_examples=25)
@given(case=CASES)
def test_numbers(case):
    one = numbers(case)
    truth, guess, weights = one.truth, one.predicted, one.weights
    check("MSLE", one, metrics.mean_squared_log_error(truth, guess, sample_weight=weights))
    for alpha in (0.0, 0.3, 0.9):
        loss = metrics.mean_pinball_loss(truth, guess, sample_weight=weights, alpha=alpha)
        check(f"pinball(alpha={alpha})", one, loss)
    if len(set(truth.tolist())) > 1:
        explained = metrics.explained_variance_score(truth, guess, sample_weight=weights)
        check("explained-variance", one, explained)
    if weights is None:
        check("Pearson", one, quietly(lambda *two: stats.pearsonr(*two)[0], truth, guess))
        check("Spearman", one, quietly(lambda *two: stats.spearmanr(*two)[0], truth, guess))
        check("Kendall", one, quietly(lambda *two: stats.kendalltau(*two)[0], truth, guess))


@settings(max_examples=12)
@given(case=CASES)
def test_classes(case):
    one = classes(case)
    truth, guess, weights = one.truth, one.predicted, one.weights
    labels = list(range(len(one.classes)))
    for kind in ("linear", "quadratic"):
        how = {"labels": labels, "weights": kind, "sample_weight": weights}
        check(f"kappa({kind})", one, quietly(metrics.cohen_kappa_score, truth, guess, **how))
        how["replace_undefined_by"] = 0.0
        name = f"kappa({kind}, undefined=0)"
        check(name, one, quietly(metrics.cohen_kappa_score, truth, guess, **how))
    matthews = quietly(metrics.matthews_corrcoef, truth, guess, sample_weight=weights)
    check("MCC(undefined=0)", one, matthews)
    for k in (1, 2, 3):
        if len(labels) > 2:
            how = {"k": k, "labels": labels, "sample_weight": weights}
            top = quietly(metrics.top_k_accuracy_score, truth, one.scores, **how)
            check(f"top-k-accuracy(k={k})", one, top)
    for name in ("precision", "recall", "f1"):
        for average in ("macro", "micro", "weighted"):
            how = {"labels": labels, "average": average, "zero_division": 0}
            theirs = getattr(metrics, f"{name}_score")(truth, guess, sample_weight=weights, **how)
            check(f"{name}({average}, undefined=0)", one, theirs)


@settings(max_examples=25)
@given(case=CASES)
def test_two_classes(case):
    one = classes(case, size=2)
    how = {"sample_weight": one.weights}
    top = quietly(
        metrics.top_k_accuracy_score, one.truth, one.scores[:, 1], k=1, labels=[0, 1], **how
    )
    check("top-k-accuracy(k=1)", one, top)
    theirs = math.nan
    if len(set(one.truth.tolist())) == 2:
        theirs = metrics.roc_auc_score(one.truth, one.scores[:, 1], **how)
    check("AUC", one, theirs)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
def test_specificity_and_false_positive_rate_over_classes(average):
    for seed in range(20):
        one = classes((seed, "plain"), size=3)
        cells = metrics.multilabel_confusion_matrix(one.truth, one.predicted, labels=[0, 1, 2])
        true, false = cells[:, 0, 0], cells[:, 0, 1]
        if (true + false == 0).any():
            continue
        shares = {"macro": np.ones(3), "weighted": cells[:, 1].sum(axis=1), "micro": true + false}
        theirs = float(np.average(false / (true + false), weights=shares[average]))
        check(f"FP-rate({average})", one, theirs)
        check(f"specificity({average})", one, 1 - theirs)
    constant = classes((1, "constant"), size=3)
    assert isinstance(parse_measure("specificity(macro)").compute(constant), Undefined)
    assert parse_measure("specificity(macro, undefined=0)").compute(constant) >= 0
    several = evaluate_predictions([classes((2, "plain"), size=3)], ["specificity"]).value("A", 0)
    assert "an average (macro)" in several.reason


def test_classes_that_are_numbers_are_ordered_by_number():
    names = ("1", "10", "2")  # sorted as text
    one = ClassPredictions(
        "A", tuple("uvwx"), names, np.array([0, 1, 2, 1]), np.array([2, 1, 2, 2])
    )
    codes = {"1": 0, "2": 1, "10": 2}
    truth, guess = ([codes[names[n]] for n in column] for column in (one.truth, one.predicted))
    theirs = metrics.cohen_kappa_score(truth, guess, weights="linear")
    assert parse_measure("kappa(linear)").compute(one) == pytest.approx(theirs)
    assert parse_measure("kappa(linear)").units(one).value() == pytest.approx(theirs)


@pytest.mark.parametrize("name", ["Pearson", "Spearman", "Kendall", "explained-variance", "MSLE"])
def test_systems_are_compared_with_intervals(name):
    rng = np.random.default_rng(7)
    truth = rng.gamma(5, 1, 60)
    units = tuple(map(str, range(60)))
    near, far = truth + rng.normal(0, 0.3, 60), np.maximum(truth + rng.normal(0, 2, 60), 0)
    systems = [
        NumberPredictions("near", units, truth, near),
        NumberPredictions("far", units, truth, far),
    ]
    found = compare(systems, name, replicates=500)
    assert found.claims[0].adjusted < 0.05
    for system in found.systems:
        assert system.mean.low < system.mean.estimate < system.mean.high


def test_weighted_kappa_and_areas_are_compared():
    first, second = classes((3, "plain"), size=2), classes((4, "plain"), size=2)
    units = min(len(first.units), len(second.units))
    first, second = first.select(range(units)), second.select(range(units))
    both = [
        first,
        ClassPredictions(
            "B",
            first.units,
            first.classes,
            first.truth,
            second.predicted,
            second.scores,
            probabilities=True,
        ),
    ]
    for name in ("kappa(quadratic)", "AUC", "top-k-accuracy(k=1)"):
        found = compare(both, name, replicates=200)
        assert 0 <= found.claims[0].adjusted <= 1
        assert found.scores.measure == str(parse_measure(name))


def test_baselines_of_probabilities_are_the_shares_of_classes():
    one = classes((11, "plain"), size=3)
    shares = np.bincount(one.truth, minlength=3) / len(one.truth)
    constant = np.tile(shares, (len(one.truth), 1))
    result = evaluate_predictions([one], ["log-loss", "Brier", "AUC"])
    theirs = metrics.log_loss(one.truth, constant, labels=[0, 1, 2])
    assert result.value(RANDOM, "log-loss") == pytest.approx(theirs)
    brier = float(((constant - np.eye(3)[one.truth]) ** 2).sum(axis=1).mean())
    assert result.value(RANDOM, "Brier") == pytest.approx(brier)
    assert isinstance(result.value(MAJORITY, "log-loss"), Undefined)
    assert "AUC: one class against the rest (ovr), macro average" in result.about


def test_baselines_of_two_classes():
    one = classes((1, "plain"), 2)
    result = evaluate_predictions([one], ["AUC", "Brier"])
    theirs = metrics.brier_score_loss(one.truth, np.full(len(one.truth), one.truth.mean()))
    assert result.value(RANDOM, "Brier") == pytest.approx(theirs)
    assert not any("ovr" in clause for clause in result.about)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pinball(alpha=2)", "alpha=2: expected a number from 0 to 1"),
        ("top-k-accuracy(k=0)", "k=0: expected an integer of at least 1"),
        ("kappa(cubic)", "'cubic' is not one of"),
        ("kappa(undefined=1)", "undefined=1: expected 0"),
        ("kappa(weights=cubic)", "weights='cubic': expected one of linear, quadratic"),
    ],
)
def test_wrong_parameters(name, says):
    with pytest.raises(MeasureError, match=says):
        parse_measure(name)


def test_logarithms_of_negative_numbers_are_undefined():
    one = NumberPredictions("A", ("x", "y"), np.array([1.0, -2.0]), np.array([1.0, 1.0]))
    assert "-1 or less for 1 unit (y)" in evaluate_predictions([one], ["MSLE"]).value().reason
