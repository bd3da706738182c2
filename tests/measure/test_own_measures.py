"""Functions of users, and of scikit-learn, as measures of every task."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from samples import classed, numbered
from sklearn import metrics

from heldout import (
    ClassPredictions,
    Undefined,
    compare,
    define_measure,
    evaluate,
    parse_measure,
    parse_measures,
)
from heldout.errors import MeasureError
from heldout.measure.base import DEFINITIONS, TASKS, definitions
from heldout.measure.custom import RankedList

RNG = np.random.default_rng(1)
TRUTH = RNG.integers(0, 2, 40)
UNITS = tuple(map(str, range(40)))
TWO = [
    ClassPredictions(
        name, UNITS, ("no", "yes"), TRUTH, np.where(RNG.random(40) < share, TRUTH, 1 - TRUTH)
    )
    for name, share in (("A", 0.6), ("B", 0.9))
]
SCORES = np.clip(0.5 + 0.3 * (2 * TRUTH - 1) + RNG.normal(0, 0.3, 40), 0, 1)
SCORED = replace(TWO[0], predicted=None, scores=np.column_stack([1 - SCORES, SCORES]))
NUMBERS = numbered(range(5), [0, 1, 2, 3, 7])
QRELS = {"q1": {"a": 2, "b": 0, "n": -1, "z": 1}, "q2": {"c": 1}}
RUN = {"q1": {"u": 5.0, "a": 4.0, "n": 3.0, "b": 2.0}, "q2": {"x": 1.0}}


@pytest.fixture(autouse=True)
def _forget():
    """Forget the measures that a test defines."""
    for task in TASKS:
        definitions(task)  # they register themselves
    before = dict(DEFINITIONS)
    yield
    DEFINITIONS.clear()
    DEFINITIONS.update(before)


def share_right(truth, predicted):
    return float(np.mean(truth == predicted))


def share_listed(references, texts):
    return float(np.mean([one in own for own, one in zip(references, texts, strict=True)]))


def largest_error(truth, predicted, *, power=1.0):
    """Return the largest error."""
    return float((np.abs(truth - predicted) ** power).max())


def retrieved(ranked):
    return float(len(ranked.grades))


# Rankings


def test_a_function_sees_grades_in_rank_order_and_all_judgements():
    seen = {}
    define_measure(name="Seen")(lambda ranked: float(bool(seen.update({ranked.query: ranked}))))
    # -1: not in the qrels, -2: negative there.
    for name, settings, run, grades in (
        ("Seen", {}, RUN, [-1, 2, -2, 0]),
        ("Seen@2", {}, RUN, [-1, 2]),
        ("Seen", {"depth": 3}, RUN, [-1, 2, -2]),
        ("Seen(judged_only=True)", {}, RUN, [2, 0]),
        ("Seen", {}, {"q1": {"z": 1.0}}, [1]),
    ):
        evaluate(QRELS, run, name, **settings)
        assert isinstance(seen["q1"], RankedList)
        assert seen["q1"].grades.tolist() == grades, name
        assert seen["q1"].judged.tolist() == [2, 1, 0, -1]
    # A query that the run lacks is an empty list.
    assert seen["q2"].grades.tolist() == []
    assert seen["q2"].judged.tolist() == [1]


def test_keyword_arguments_become_parameters():
    @define_measure
    def Scaled(ranked, *, scale=1.0, offset=0, kind="plain"):  # noqa: N802
        return scale * len(ranked.grades) + offset + (kind == "odd")

    result = evaluate(QRELS, RUN, ["Scaled", "Scaled(scale=2, offset=1, kind='odd')@3"])
    assert result.per_unit(0, 0).tolist() == [4.0, 1.0]
    assert result.per_unit(0, 1).tolist() == [8.0, 4.0]
    assert str(parse_measure("scaled(scale=2.0)")) == "Scaled(scale=2)"
    define_measure(task="regression", bounds=(0.0, 99.0), higher_is_better=False)(largest_error)
    measure = parse_measure("largest_error(power=2)")
    assert (measure.task, measure.higher_is_better, measure.range) == ("regression", False, (0, 99))
    assert measure.definition.summary == "Return the largest error."
    assert parse_measure(str(measure)) == measure != parse_measure("largest_error")
    assert evaluate(None, NUMBERS, measure).value() == 9.0
    for name, says in (
        ("Scaled(size=1)", "no parameter 'size'; it has scale, offset, kind"),
        ("Scaled(scale='x')", "expected a number"),
    ):
        with pytest.raises(MeasureError, match=says):
            parse_measure(name)

    # A definition may be replaced, as in a notebook; the function stays what it was.
    define_measure(name="Again")(lambda _: 1.0)
    named = define_measure(name="Again")(lambda _: 2.0)
    assert evaluate(QRELS, RUN, "Again").value() == named(None) == 2.0


# Classes, numbers, texts


def test_a_function_is_a_measure():
    found = evaluate(None, TWO, [share_right, "accuracy"])
    measure = found.measures[0]
    for name in ("A", "B"):
        assert found.value(name, "accuracy") == found.value(name, measure)
    assert (str(measure), measure.task) == ("share_right", "classification")
    # A weight calls it with repeated units; it has an interval and can be compared.
    kept, accuracy = (measure.units(TWO[0]) for measure in found.measures)
    weights = RNG.integers(0, 3, (5, 40)).astype(float)
    assert kept.weighted(weights) == pytest.approx(accuracy.weighted(weights))
    assert np.isnan(kept.weighted(np.zeros((1, 40)))[0])
    interval = found.interval("A", 0)
    assert interval.low < found.value("A", 0) < interval.high
    assert "bootstrap" in interval.method
    claim = compare(TWO, share_right, baseline="A").claims[0]
    expected = found.value("B", 0) - found.value("A", 0)
    assert claim.difference.estimate == pytest.approx(expected)
    assert evaluate(None, NUMBERS, largest_error).value() == 3.0
    assert evaluate(QRELS, RUN, retrieved).value() == 2.5
    assert parse_measure(retrieved, "ranking").range == (-math.inf, math.inf)


def test_a_function_sees_names_of_classes_and_all_references():
    seen = []

    def look(truth, predicted):
        seen.append((list(truth), list(predicted)))
        return 1.0

    evaluate(["x", "y"], ["y", "y"], look, task="classification")
    assert seen == [(["x", "y"], ["y", "y"]), (["x", "y"], ["x", "x"])]  # the majority: a baseline
    evaluate([["a", "b"], ["c"]], ["a", "c"], look, task="text").value()
    assert seen[2:] == [([("a", "b"), ("c",)], ["a", "c"])]


def test_what_a_function_cannot_do():
    heavy = replace(NUMBERS, weights=np.ones(5))
    assert "do not support weighted units" in evaluate(None, heavy, largest_error).value().reason
    found = evaluate(["ab", "c"], ["xy", "c"], share_listed, task="text")
    with pytest.raises(MeasureError):
        found.per_unit()
    with pytest.raises(MeasureError, match="not a mean over segments"):
        found.scores()
    assert found.to_frame().rows() == [("system", None, "share_listed", 0.5)]
    nothing = define_measure(name="Nothing", task="regression")(lambda *_: math.nan)
    assert isinstance(evaluate(None, NUMBERS, nothing).value(), Undefined)


def broken(ranked):
    raise ZeroDivisionError(ranked.query)


def needs_scale(ranked, *, scale):
    return scale * ranked


def takes_judged_only(ranked, *, judged_only=False):
    return judged_only * ranked


def test_what_cannot_be_a_measure_is_refused():
    for name in ("9lives", "a b", "a@b", "<lambda>", "x-y"):
        with pytest.raises(MeasureError, match="cannot name a measure"):
            define_measure(name=name)(share_right)
    for name, task in (("P", "ranking"), ("r2_score", "regression"), ("BLEU", "text")):
        with pytest.raises(MeasureError, match=r"already a measure .*: choose another name"):
            define_measure(name=name, task=task)(share_right)
    for wrong, says in (
        (lambda: define_measure(needs_scale), "needs a default"),
        (lambda: define_measure(takes_judged_only), "judged_only is reserved"),
        (lambda: define_measure(name="X", task="speech")(broken), "task='speech': expected one of"),
        (lambda: parse_measures(share_right), "give its task with task="),
        (lambda: parse_measures([lambda _, __: 1.0], "text"), "cannot name a measure"),
        (lambda: evaluate(QRELS, RUN, broken), "measure broken failed: ZeroDivisionError: q1"),
        (lambda: parse_measure("sklearn:silhouette_score", "regression"), "no such function"),
        (lambda: parse_measure("sklearn:max_error"), "of classification and of regression: choose"),
        (lambda: evaluate(None, TWO[0], "sklearn:confusion_matrix"), "confusion_matrix failed"),
    ):
        with pytest.raises(MeasureError, match=says):
            wrong()


# scikit-learn

BY_NAME = [
    ("d2_pinball_score(alpha=0.1)", NUMBERS, {"alpha": 0.1}),
    ("mean_tweedie_deviance(power=0)", NUMBERS, {"power": 0}),
    ("jaccard_score(average=macro)", TWO[0], {"average": "macro"}),
    ("f1_score", TWO[0], {"pos_label": "yes"}),
    ("roc_auc_score", SCORED, {}),
]


def test_any_function_of_scikit_learn_by_name():
    for name, one, theirs in BY_NAME:
        task = "regression" if one is NUMBERS else "classification"
        measure = parse_measure(f"sklearn:{name}", task)
        assert measure.higher_is_better == (not name.startswith("mean_"))
        assert measure.range == (-np.inf, np.inf)
        assert parse_measure(str(measure), task) == measure
        truth, predicted = one.truth, one.predicted
        if one is SCORED:
            predicted = SCORES
        elif one is not NUMBERS:
            truth, predicted = (np.array(one.classes)[each] for each in (truth, predicted))
        function = getattr(metrics, name.partition("(")[0])
        assert evaluate(None, one, measure).value() == function(truth, predicted, **theirs)
        weights = RNG.integers(0, 4, (3, len(truth))).astype(float)
        for row, score in zip(weights, measure.units(one).weighted(weights), strict=True):
            drawn = np.repeat(np.arange(len(row)), row.astype(int))
            assert score == pytest.approx(function(truth[drawn], predicted[drawn], **theirs)), name
        heavy = replace(one, weights=weights[0] + 0.5)
        wanted = function(truth, predicted, **theirs, sample_weight=weights[0] + 0.5)
        assert measure.compute(heavy) == pytest.approx(wanted), name
    assert isinstance(evaluate(None, TWO[0], "sklearn:roc_auc_score").value(), Undefined)
    assert isinstance(evaluate(None, SCORED, "sklearn:f1_score").value(), Undefined)
    assert str(parse_measure(metrics.max_error, "regression")) == "sklearn:max_error"
    three = classed("abc", scores=np.eye(3), probabilities=True)
    assert evaluate(None, three, "sklearn:roc_auc_score(multi_class=ovr)").value() == 1.0


def test_a_function_goes_with_its_measure_into_another_process():
    cloudpickle = pytest.importorskip("cloudpickle")
    define_measure(name="Here", task="regression", bounds=(0.0, 9.0), higher_is_better=False)(
        lambda truth, predicted, *, power=1.0: float((abs(truth - predicted) ** power).max())
    )
    sent = cloudpickle.dumps(parse_measure("Here(power=2)"))
    del DEFINITIONS["regression", "Here"]
    measure = cloudpickle.loads(sent)
    about = (str(measure), measure.range, measure.higher_is_better)
    assert about == ("Here(power=2)", (0, 9), False)
    assert measure.compute(NUMBERS) == 9.0
