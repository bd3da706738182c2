"""Measures of predicted classes: published numbers, scikit-learn, what is undefined."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import classed, value
from sklearn import metrics

from heldout import evaluate
from heldout.errors import MeasureError
from heldout.measure.base import Undefined

# TP 80, FN 20, FP 5, TN 195.
TRUE = ["yes"] * 100 + ["no"] * 200
GUESS = ["yes"] * 80 + ["no"] * 20 + ["yes"] * 5 + ["no"] * 195
LECTURE = classed(TRUE, GUESS, ("yes", "no"))


def test_the_worked_confusion_matrix():
    """By hand."""
    for name, expected in {
        "accuracy": 275 / 300,
        "error": 25 / 300,
        "precision(class=yes)": 80 / 85,
        "recall(class=yes)": 0.8,
        "FP-rate(class=yes)": 0.025,
        "specificity(class=yes)": 0.975,
        "F1(class=yes)": 160 / 185,
        "balanced-accuracy": 0.8875,
        # Micro averages of single-label classes are the accuracy.
        "precision(micro)": 275 / 300,
        "recall(micro)": 275 / 300,
    }.items():
        assert value(name, LECTURE) == pytest.approx(expected, abs=1e-15), name


def test_the_majority_baseline_of_the_worked_matrix():
    base = classed(TRUE, ["no"] * 300, ("yes", "no"))
    assert value("accuracy", base) == pytest.approx(2 / 3)
    assert value("recall(class=yes)", base) == 0.0
    assert value("F1(class=yes)", base) == Undefined("it was never predicted")
    assert value("F1", base) == Undefined("class yes: it was never predicted")
    assert value("MCC", base) == Undefined("one class was predicted for all units")
    assert str(value("F1", base)) == "—"
    assert value("F1(undefined=0)", base) == pytest.approx(0.4)


def test_f_weighs_recall_by_beta_squared():
    p, r = 80 / 85, 0.8
    for beta in (0.5, 1.0, 2.0):
        by_formula = (1 + beta**2) * p * r / (beta**2 * p + r)
        assert value(f"F(beta={beta}, class=yes)", LECTURE) == pytest.approx(by_formula, rel=1e-14)
    for beta in ("0", "-1", "inf", "nan"):
        with pytest.raises(MeasureError, match="beta"):
            value(f"F(beta={beta})", LECTURE)


def test_the_random_baseline_is_the_mean_of_random_draws():
    found = evaluate(None, LECTURE, ["accuracy", "MCC", "kappa", "log-loss"])
    accuracy = found.value("(random by shares)", "accuracy")
    assert accuracy == pytest.approx((1 / 3) ** 2 + (2 / 3) ** 2)
    random = np.random.default_rng(1)
    truth = np.repeat([0, 1], [100, 200])
    hits = [(random.choice(2, 300, p=[1 / 3, 2 / 3]) == truth).mean() for _ in range(2000)]
    assert np.mean(hits) == pytest.approx(accuracy, abs=4 * np.std(hits) / math.sqrt(2000))
    assert found.value("(random by shares)", "MCC") == pytest.approx(0, abs=1e-12)
    assert found.value("(random by shares)", "kappa") == pytest.approx(0, abs=1e-12)
    entropy = -(1 / 3 * math.log(1 / 3) + 2 / 3 * math.log(2 / 3))
    assert found.value("(random by shares)", "log-loss") == pytest.approx(entropy)


LABELS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.integers(1, 5)),
    min_size=1,
    max_size=60,
)


def same(mine, theirs):
    """Equal, or undefined on both sides."""
    if isinstance(mine, Undefined):
        return np.isnan(theirs)
    return mine == pytest.approx(theirs, abs=1e-12)


@pytest.mark.filterwarnings("ignore:A single label", "ignore:y_pred contains classes")
@given(LABELS, st.sampled_from([0.5, 1.0, 2.0]), st.booleans())
def test_scikit_learn_agrees(rows, beta, weighted):
    truth, guess = [row[0] for row in rows], [row[1] for row in rows]
    weights = np.array([row[2] for row in rows], float) if weighted else None
    mine = classed(truth, guess, weights=weights)
    names = list(mine.classes)
    common = {"labels": names, "sample_weight": weights, "zero_division": np.nan}
    theirs = metrics.accuracy_score(truth, guess, sample_weight=weights)
    assert value("accuracy", mine) == pytest.approx(theirs)
    p, r, f, _ = metrics.precision_recall_fscore_support(truth, guess, beta=beta, **common)
    for at, name in enumerate(names):
        assert same(value(f"precision(class={name})", mine), p[at])
        assert same(value(f"recall(class={name})", mine), r[at])
        found = value(f"F(beta={beta}, class={name})", mine)
        if not isinstance(found, Undefined):  # scikit-learn has 0 where P or R does not exist
            assert found == pytest.approx(f[at], abs=1e-12)
    for average in ("macro", "weighted", "micro"):
        more = {**common, "average": average}
        for name, theirs in {
            f"precision({average})": metrics.precision_score(truth, guess, **more),
            f"recall({average})": metrics.recall_score(truth, guess, **more),
            f"F(beta={beta}, {average})": metrics.fbeta_score(truth, guess, beta=beta, **more),
        }.items():
            found = value(name, mine)
            if not isinstance(found, Undefined):
                assert found == pytest.approx(theirs, abs=1e-12), name


@pytest.mark.filterwarnings("ignore:A single label", "ignore:y_pred contains classes")
@given(LABELS)
def test_correlation_and_agreement_are_those_of_scikit_learn(rows):
    truth, guess = [row[0] for row in rows], [row[1] for row in rows]
    mine = classed(truth, guess)
    found = value("MCC", mine)
    if isinstance(found, Undefined):  # scikit-learn says 0
        assert len(set(truth)) == 1 or len(set(guess)) == 1
    else:
        assert found == pytest.approx(metrics.matthews_corrcoef(truth, guess), abs=1e-9)
    for weights in ("", "linear", "quadratic"):
        found = value(f"kappa({weights})" if weights else "kappa", mine)
        if isinstance(found, Undefined):
            assert len({*truth, *guess}) == 1
        else:
            theirs = metrics.cohen_kappa_score(truth, guess, weights=weights or None)
            assert found == pytest.approx(theirs, abs=1e-12)
    if set(guess) <= set(truth):
        theirs = metrics.balanced_accuracy_score(truth, guess)
        assert value("balanced-accuracy", mine) == pytest.approx(theirs)


def test_macro_is_undefined_where_a_class_is():
    table = classed(["a", "a", "b"], ["a", "a", "a"])
    assert isinstance(value("precision", table), Undefined)
    assert value("recall", table) == 0.5
    # By units a class without any does not count.
    table = classed(["a", "a"], ["a", "b"], ("a", "b"))
    assert isinstance(value("recall(macro)", table), Undefined)
    assert value("recall(weighted)", table) == 0.5
    assert value("balanced-accuracy", table) == 0.5


def test_no_hit_is_zero_and_not_undefined():
    assert value("F1", classed(["a", "b"], ["b", "a"])) == 0.0


def test_pooled_counts():
    """Specificity by hand: of nine units of other classes, one was predicted wrongly."""
    three = classed(list("aabbc"), list("aaabc"))
    assert value("specificity(micro)", three) == pytest.approx(0.9)
    assert value("FP-rate(micro)", three) == pytest.approx(0.1)
    assert value("specificity", three).reason.startswith("with several classes, name one")
