"""Measures of classes and their probabilities: by hand, scikit-learn, what is undefined."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import classed, value
from sklearn import metrics

from heldout import ClassPredictions, Undefined, evaluate, parse_measure
from heldout.errors import MeasureError
from heldout.measure.prediction.probabilities import calibration_bins
from heldout.notes import Note

# TP 80, FN 20, FP 5, TN 195.
TRUE = ["yes"] * 100 + ["no"] * 200
GUESS = ["yes"] * 80 + ["no"] * 20 + ["yes"] * 5 + ["no"] * 195
WORKED = classed(TRUE, GUESS, ("yes", "no"))
ALL_NO = classed(TRUE, ["no"] * 300, ("yes", "no"))
# Of nine units of other classes, one was predicted wrongly.
THREE = classed(list("aabbc"), list("aaabc"))
SURE = {"classes": "abc", "probabilities": True}
P, R = 80 / 85, 0.8
BY_HAND = [
    (WORKED, "error", 25 / 300),
    (WORKED, "precision(class=yes)", P),
    (WORKED, "recall(class=yes)", R),
    (WORKED, "FP-rate(class=yes)", 0.025),
    (WORKED, "specificity(class=yes)", 0.975),
    (WORKED, "F1(class=yes)", 160 / 185),
    (WORKED, "F(beta=2, class=yes)", 5 * P * R / (4 * P + R)),
    (WORKED, "balanced-accuracy", 0.8875),
    (ALL_NO, "F1(undefined=0)", 0.4),
    (classed("ab", "ba"), "F1", 0),  # no hit is 0, not undefined
    (THREE, "specificity(micro)", 0.9),
    (THREE, "FP-rate(micro)", 0.1),
    # By units a class without any does not count.
    (classed("aa", "ab", "ab"), "recall(weighted)", 0.5),
    (classed("aa", "ab", "ab"), "balanced-accuracy", 0.5),
    # Brier's own form (1950) for several classes: from 0 to 2; certain and wrong is 2.
    (classed("a", scores=[[0.5, 0.3, 0.2]], **SURE), "Brier", 0.25 + 0.09 + 0.04),
    # Of equal scores the later class is the higher, as in scikit-learn.
    (classed("ac", scores=[[1, 1, 0], [0, 1, 1]], classes="abc"), "top-k-accuracy(k=1)", 0.5),
]
CERTAIN = classed("abb", scores=[[1, 0], [1, 0], [0, 1]], probabilities=True)
NOT_PREDICTED = "it was never predicted"
UNDEFINED = [
    (ALL_NO, "F1(class=yes)", NOT_PREDICTED),
    (ALL_NO, "F1", f"class yes: {NOT_PREDICTED}"),
    (ALL_NO, "MCC", "one class was predicted for all units"),
    (classed("aa", "ab"), "MCC", "all units are of one class"),
    (classed("aa", "aa"), "kappa", "all units are of one class, and it was predicted for all"),
    (classed("aab", "aaa"), "precision", f"class b: {NOT_PREDICTED}"),
    (classed("aa", "ab", "ab"), "recall(macro)", "class b: it has no units"),
    (THREE, "specificity", "with several classes, name one (class=NAME) or an average (macro)"),
    (THREE, "log-loss", "there are no probabilities"),
    (THREE, "AUC", "there are predictions but no scores"),
    (classed("ab", scores=np.eye(2)), "F1", "there are scores but no predictions"),
    (CERTAIN, "log-loss", "infinite: 1 unit has probability 0 for the true class"),
    (classed("abc", scores=np.eye(3)), "average-precision", "with several classes, name one: aver"),
]


def test_by_hand():
    for predictions, name, expected in BY_HAND:
        assert value(name, predictions) == pytest.approx(expected, rel=1e-14), name


def test_what_is_undefined_has_a_reason_and_wrong_parameters_are_refused():
    for predictions, name, reason in UNDEFINED:
        found = value(name, predictions)
        assert isinstance(found, Undefined), name
        assert found.reason.startswith(reason), name
        assert str(found) == "—"
    for name, says in {
        "F(beta=nan)": "beta='nan'",
        "top-k-accuracy(k=0)": "k=0: expected an integer of at least 1",
        "ECE(bins=0)": "bins=0: expected an integer of at least 1",
        "kappa(weights=cubic)": "weights='cubic': expected one of linear, quadratic",
        "kappa(undefined=1)": "undefined=1: expected 0",
    }.items():
        with pytest.raises(MeasureError) as refused:
            parse_measure(name, "classification")
        assert says in str(refused.value), name


# Scikit-learn, on random and degenerate inputs


@st.composite
def predictions(draw):
    """Classes and probabilities; constant: one true class, another that is never predicted."""
    kind = draw(st.sampled_from(["plain", "ties", "constant", "weights"]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    size, count = int(rng.integers(2, 5)), int(rng.integers(2, 40))
    truth, guess = rng.integers(0, size, count), rng.integers(0, size, count)
    scores = rng.dirichlet(np.ones(size), count)
    if kind == "ties":
        scores = np.floor(scores * 4) + 1
        scores /= scores.sum(axis=1, keepdims=True)
    if kind == "constant":
        truth[:] = 0
        guess[guess == 1] = 0
    weights = rng.random(count) + 0.1 if kind == "weights" else None
    units, names = tuple(map(str, range(count))), tuple("abcd"[:size])
    more = {"probabilities": True, "weights": weights}
    return ClassPredictions("A", units, names, truth, guess, scores, **more)


def of_predictions(one):
    """Values of scikit-learn for predicted classes; NaN where it has none."""
    labels = list(range(len(one.classes)))
    how, both = {"sample_weight": one.weights}, (one.truth, one.predicted)
    many = {"labels": labels, **how}
    yield "accuracy", metrics.accuracy_score(*both, **how)
    yield "MCC(undefined=0)", metrics.matthews_corrcoef(*both, **how)
    if set(one.predicted.tolist()) <= set(one.truth.tolist()):
        yield "balanced-accuracy", metrics.balanced_accuracy_score(*both, **how)
    for kind in (None, "linear", "quadratic"):
        kappa, name = metrics.cohen_kappa_score(*both, weights=kind, **many), kind or ""
        yield f"kappa({name})", kappa
        yield f"kappa({name}{', ' * bool(name)}undefined=0)", np.nan_to_num(kappa)
    for average in ("macro", "micro", "weighted"):
        every = {"average": average, "zero_division": 0, **many}
        yield f"precision({average}, undefined=0)", metrics.precision_score(*both, **every)
        yield f"recall({average}, undefined=0)", metrics.recall_score(*both, **every)
        for beta in (0.5, 1, 2):
            theirs = metrics.fbeta_score(*both, beta=beta, **every)
            yield f"F(beta={beta}, {average}, undefined=0)", theirs
    every = {"average": None, "zero_division": np.nan, **many}
    for name in ("precision", "recall"):
        theirs = getattr(metrics, f"{name}_score")(*both, **every)
        yield from ((f"{name}(class={'abcd'[at]})", theirs[at]) for at in labels)
    cells = metrics.multilabel_confusion_matrix(*both, **many)
    true, false = cells[:, 0, 0], cells[:, 0, 1]
    weighted = cells[:, 1].sum(axis=1)
    shares = {"macro": np.ones(len(labels)), "weighted": weighted, "micro": true + false}
    for average, share in shares.items() if (true + false > 0).all() else ():
        theirs = float(np.average(false / (true + false), weights=share))
        yield f"FP-rate({average})", theirs
        yield f"specificity({average})", 1 - theirs


def of_scores(one):
    """Values of scikit-learn for probabilities of the classes."""
    size, how = len(one.classes), {"sample_weight": one.weights}
    many, own = {"labels": list(range(size)), **how}, one.scores
    own = own[:, 1] if size == 2 else own
    present = len(set(one.truth.tolist())) == size
    yield "log-loss", metrics.log_loss(one.truth, one.scores, **many)
    for k in range(1, size):
        top = metrics.top_k_accuracy_score(one.truth, own, k=k, **many)
        yield f"top-k-accuracy(k={k})", top
    if size == 2:
        yield "Brier", metrics.brier_score_loss(one.truth == 1, own, **how)
        yield "AUC", metrics.roc_auc_score(one.truth, own, **how) if present else math.nan
    if size == 2 and 1 in one.truth:
        yield "average-precision", metrics.average_precision_score(one.truth == 1, own, **how)
    for average in ("macro", "weighted") if size > 2 and present else ():
        every = {"average": average, "multi_class": "ovr", **how}
        yield f"AUC({average})", metrics.roc_auc_score(one.truth, own, **every)


@settings(max_examples=40)
@given(one=predictions())
def test_values_are_those_of_scikit_learn(one):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = dict([*of_predictions(one), *of_scores(one)])
    for name, theirs in expected.items():
        mine = value(name, one)
        if math.isnan(theirs):
            assert isinstance(mine, Undefined), (name, mine)
        else:
            assert mine == pytest.approx(theirs, rel=1e-9, abs=1e-9), name


def test_classes_that_are_numbers_are_ordered_by_number():
    by_text = classed(["1", "10", "2", "10"], ["2", "10", "2", "2"], ("1", "10", "2"))
    theirs = metrics.cohen_kappa_score([1, 3, 2, 3], [2, 3, 2, 2], weights="linear")
    assert value("kappa(linear)", by_text) == pytest.approx(theirs)


# Calibration


def test_calibration():
    """Bins hold their upper edge; the error is the distance of confidence and accuracy."""
    right = np.array([False, False, True, True, True])
    low, high = calibration_bins(np.array([0.1, 0.2, 0.2, 0.9, 1.0]), right, 5)
    assert low == pytest.approx((0.0, 0.2, 3, 0.5 / 3, 1 / 3))
    assert high == pytest.approx((0.8, 1.0, 2, 0.95, 1.0))
    scores = [[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.35, 0.65]]
    four = classed("abba", scores=scores, probabilities=True)
    # Bin (.8, .9]: two units, one right: |.9 - .5|. Bin (.5, .6]: right; bin (.6, .7]: wrong.
    assert value("ECE", four) == pytest.approx((2 * 0.4 + 1 * 0.4 + 1 * 0.65) / 4)


# Baselines, notes and comparisons


def test_baselines_know_the_shares_of_the_classes():
    found = evaluate(None, WORKED, ["accuracy", "MCC", "kappa", "log-loss", "AUC", "Brier"])
    assert found.baselines == ("(majority class)", "(random by shares)")
    expected = {
        # The mean of random draws: (1/3)² + (2/3)².
        ("(random by shares)", "accuracy"): 5 / 9,
        ("(random by shares)", "MCC"): 0,
        ("(random by shares)", "kappa"): 0,
        ("(random by shares)", "log-loss"): -(math.log(1 / 3) + 2 * math.log(2 / 3)) / 3,
        ("(random by shares)", "Brier"): 1 / 3 * (2 / 3) ** 2 + 2 / 3 * (1 / 3) ** 2,
        ("(random by shares)", "AUC"): 0.5,
        ("(majority class)", "accuracy"): 2 / 3,
    }
    for cell, number in expected.items():
        assert found.value(*cell) == pytest.approx(number, abs=1e-12), cell
    assert isinstance(found.value("(majority class)", "log-loss"), Undefined)
    assert not any("ovr" in clause for clause in found.about)
    three = classed("aabc", "abca", scores=np.eye(4, 3) + 0.1)
    about = evaluate(None, three, ["AUC", "accuracy"]).about
    assert "AUC: one class against the rest (ovr), macro average" in about
    # Measures by default are those that the predictions allow.
    names = [str(one) for one in evaluate(None, THREE).measures]
    assert names == ["accuracy", "balanced-accuracy", "F1(macro)", "MCC", "kappa"]
    scored = classed("ab", scores=[[0.9, 0.1], [0.3, 0.7]], probabilities=True)
    names = [str(one) for one in evaluate(None, scored).measures]
    assert names == ["AUC", "log-loss", "Brier", "ECE(bins=10)"]


def test_notes_about_predictions():
    """Scores for the other class, other units, groups in several folds."""
    wrong = classed("aabb", "aabb", scores=[[0.1, 0.9], [0.2, 0.8], [0.7, 0.3], [0.9, 0.1]])
    right = classed("aabb", "aabb", scores=[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
    grouped = classed("aabb", "aabb", groups=tuple("xyxy"), folds=tuple("1122"))
    apart = classed("aabb", "aabb", groups=tuple("xxyy"), folds=tuple("1122"))
    part = classed("aab", "aab", classes=("a", "b"))
    told = replace(right, notes=(Note("told", "by its file"),))
    for one, codes in (
        (wrong, ["reversed-scores"]),
        (right, []),
        (grouped, ["crossing-groups"]),
        (apart, []),
        (told, ["told"]),
    ):
        assert [note.code for note in evaluate(None, [one], "accuracy").notes] == codes
    words = "units have groups: intervals resample whole groups"
    assert words in evaluate(None, [replace(apart, folds=())], "accuracy").about
    words = "units have weights: intervals resample units with their weights"
    assert words in evaluate(None, [replace(right, weights=np.ones(4))], "accuracy").about
    (note,) = evaluate(None, [right, replace(part, name="B")], "accuracy").notes
    assert note.code == "other-units"
    assert "B and A have different units (3 and 4, 3 in common)" in note.text
