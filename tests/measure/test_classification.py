"""Measures of a confusion matrix: published numbers, scikit-learn, what is undefined."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from heldout.errors import InputError, MeasureError
from heldout.measure.prediction.classification import (
    Confusion,
    balanced_accuracy,
    class_rows,
    f_measure,
    kappa,
    majority_baseline,
    matthews,
    precision,
    random_baseline,
    recall,
)
from heldout.measure.undefined import Undefined


def confusion(truth, predicted, classes=(), weights=None):
    names = tuple(classes) or tuple(sorted({*truth, *predicted}))
    counts = metrics.confusion_matrix(truth, predicted, labels=names, sample_weight=weights)
    return Confusion(names, counts)


LECTURE = Confusion(("yes", "no"), [[80, 20], [5, 195]])


def test_the_worked_confusion_matrix():
    """TP 80, FN 20, FP 5, TN 195: by hand."""
    yes = class_rows(LECTURE)[0]
    assert round(LECTURE.accuracy, 3) == 0.917
    assert round(LECTURE.error, 3) == 0.083
    assert round(yes.precision, 3) == 0.941
    assert yes.recall == 0.8
    assert yes.fp_rate == 0.025
    assert yes.specificity == 0.975
    assert round(yes.f, 3) == 0.865
    assert balanced_accuracy(LECTURE) == pytest.approx(0.8875, abs=1e-15)
    # Micro averages of single-label classes are the accuracy.
    assert precision(LECTURE, "micro") == recall(LECTURE, "micro") == LECTURE.accuracy


def test_the_majority_baseline_of_the_worked_matrix():
    base = majority_baseline(LECTURE)
    yes = class_rows(base)[0]
    assert round(base.accuracy, 3) == 0.667
    assert isinstance(yes.precision, Undefined)
    assert isinstance(yes.f, Undefined)
    assert yes.recall == 0.0
    assert isinstance(f_measure(base), Undefined)
    assert isinstance(matthews(base), Undefined)
    assert str(yes.f) == "—"
    assert "yes" in f_measure(base).reason


def test_f_weighs_recall_by_beta_squared():
    p, r = 80 / 85, 0.8
    for beta in (0.5, 1.0, 2.0):
        by_formula = (1 + beta**2) * p * r / (beta**2 * p + r)
        assert class_rows(LECTURE, beta)[0].f == pytest.approx(by_formula, rel=1e-14)
    for beta in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(MeasureError, match="beta"):
            class_rows(LECTURE, beta)


def test_the_random_baseline_is_the_mean_of_random_draws():
    base = random_baseline(LECTURE)
    assert base.accuracy == pytest.approx((1 / 3) ** 2 + (2 / 3) ** 2)
    random = np.random.default_rng(1)
    truth = np.repeat([0, 1], [100, 200])
    hits = [(random.choice(2, 300, p=[1 / 3, 2 / 3]) == truth).mean() for _ in range(2000)]
    assert np.mean(hits) == pytest.approx(base.accuracy, abs=4 * np.std(hits) / math.sqrt(2000))
    assert matthews(base) == pytest.approx(0, abs=1e-12)
    assert kappa(base) == pytest.approx(0, abs=1e-12)


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
    mine = confusion(truth, guess, weights=weights)
    names = list(mine.classes)
    common = {"labels": names, "sample_weight": weights, "zero_division": np.nan}
    assert mine.accuracy == pytest.approx(
        metrics.accuracy_score(truth, guess, sample_weight=weights)
    )
    p, r, _, units = metrics.precision_recall_fscore_support(truth, guess, beta=beta, **common)
    for at, row in enumerate(class_rows(mine, beta)):
        assert same(row.precision, p[at])
        assert same(row.recall, r[at])
        assert row.units == units[at]
        if not isinstance(row.f, Undefined):  # scikit-learn has 0 where P or R does not exist
            theirs = metrics.fbeta_score(truth, guess, beta=beta, average=None, **common)[at]
            assert row.f == pytest.approx(theirs, abs=1e-12)
    for average in ("macro", "weighted", "micro"):
        for function, score in (
            (precision, metrics.precision_score),
            (recall, metrics.recall_score),
        ):
            value = function(mine, average)
            if not isinstance(value, Undefined):
                theirs = score(truth, guess, average=average, **common)
                assert value == pytest.approx(theirs, abs=1e-12)
        value = f_measure(mine, average, beta)
        if not isinstance(value, Undefined):
            theirs = metrics.fbeta_score(truth, guess, beta=beta, average=average, **common)
            assert value == pytest.approx(theirs, abs=1e-12)


@pytest.mark.filterwarnings("ignore:A single label", "ignore:y_pred contains classes")
@given(LABELS)
def test_correlation_and_agreement_are_those_of_scikit_learn(rows):
    truth, guess = [row[0] for row in rows], [row[1] for row in rows]
    mine = confusion(truth, guess)
    value = matthews(mine)
    if isinstance(value, Undefined):  # scikit-learn says 0
        assert len(set(truth)) == 1 or len(set(guess)) == 1
    else:
        assert value == pytest.approx(metrics.matthews_corrcoef(truth, guess), abs=1e-9)
    value = kappa(mine)
    if isinstance(value, Undefined):
        assert len({*truth, *guess}) == 1
    else:
        assert value == pytest.approx(metrics.cohen_kappa_score(truth, guess), abs=1e-12)
    if set(guess) <= set(truth):
        assert balanced_accuracy(mine) == pytest.approx(
            metrics.balanced_accuracy_score(truth, guess)
        )


def test_macro_is_undefined_where_a_class_is():
    table = confusion(["a", "a", "b"], ["a", "a", "a"])
    assert isinstance(precision(table), Undefined)
    assert recall(table) == 0.5
    # By units a class without any does not count.
    table = confusion(["a", "a"], ["a", "b"], classes=["a", "b"])
    assert isinstance(recall(table, "macro"), Undefined)
    assert recall(table, "weighted") == 0.5
    assert balanced_accuracy(table) == 0.5


def test_no_hit_is_zero_and_not_undefined():
    table = confusion(["a", "b"], ["b", "a"])
    assert f_measure(table) == 0.0


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="at least one unit"):
        Confusion(("a", "b"), np.zeros((2, 2)))
    with pytest.raises(MeasureError, match="average='mean'"):
        precision(LECTURE, "mean")
