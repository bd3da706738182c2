"""Functions of a user's as measures of every task."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from heldout import (
    ClassPredictions,
    NumberPredictions,
    Undefined,
    compare,
    define_measure,
    evaluate,
    parse_measure,
    parse_measures,
)
from heldout.errors import MeasureError
from heldout.infer.scored_inputs import system_interval
from heldout.measure.base import DEFINITIONS, TASKS, definitions
from heldout.measure.prediction.evaluate import evaluate_predictions

RNG = np.random.default_rng(1)
TRUTH = RNG.integers(0, 2, 40)
GUESS = {
    name: np.where(RNG.random(40) < share, TRUTH, 1 - TRUTH)
    for name, share in (("A", 0.6), ("B", 0.9))
}
TWO = [
    ClassPredictions(name, tuple(map(str, range(40))), ("no", "yes"), TRUTH, guess)
    for name, guess in GUESS.items()
]
NUMBERS = NumberPredictions("A", tuple("abcde"), np.arange(5.0), np.array([0, 1, 2, 3, 7.0]))


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


def largest_error(truth, predicted, *, power=1.0):
    return float((np.abs(truth - predicted) ** power).max())


def same_length(references, texts):
    return float(
        np.mean([len(one) == len(two) for one, two in zip(references, texts, strict=True)])
    )


def test_function_measures_classes():
    found = evaluate(None, TWO, [share_right, "accuracy"])
    for name in ("A", "B"):
        assert found.value(name, "accuracy") == found.value(name, found.measures[0])
    measure = found.measures[0]
    assert (str(measure), measure.task, measure.aggregate) == (
        "share_right",
        "classification",
        "order",
    )
    assert measure.definition.own is share_right


def test_function_sees_names_of_classes():
    seen = []

    def look(truth, predicted):
        seen.append((truth.tolist(), predicted.tolist()))
        return 1.0

    evaluate(["x", "y"], ["y", "y"], look, task="classification")
    assert seen[0] == (["x", "y"], ["y", "y"])
    assert seen[1:] == [(["x", "y"], ["x", "x"])]  # the majority class, a baseline


def test_function_measures_numbers_and_texts():
    assert evaluate(None, NUMBERS, largest_error).value() == 3.0
    assert evaluate(["ab", "c"], ["xy", "cc"], same_length, task="text").value() == 0.5
    several = []
    evaluate([["a", "b"], ["c"]], ["a", "c"], lambda_named(several), task="text").value()
    assert several == [([("a", "b"), ("c",)], ["a", "c"])]


def lambda_named(seen):
    def look(references, texts):
        seen.append((references, texts))
        return 1.0

    return look


def test_function_measures_rankings():
    def first(ranked):
        return float(ranked.grades[0] > 0)

    assert evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, first).value() == 1.0


def test_weights_call_the_function_for_repeated_units():
    measure = parse_measure(share_right, "classification")
    kept = measure.units(TWO[0])
    accuracy = parse_measure("accuracy").units(TWO[0])
    weights = RNG.integers(0, 3, (5, 40)).astype(float)
    assert kept.weighted(weights) == pytest.approx(accuracy.weighted(weights))
    assert np.isnan(kept.weighted(np.zeros((1, 40)))[0])


def test_function_has_an_interval_and_can_be_compared():
    found = evaluate_predictions(TWO, [share_right])
    interval = system_interval(found, "A", found.measures[0])
    assert interval.low < found.value("A", 0) < interval.high
    assert "bootstrap" in interval.method
    claim = compare(TWO, share_right, baseline="A").claims[0]
    assert claim.difference.estimate == pytest.approx(
        share_right(TRUTH, GUESS["B"]) - share_right(TRUTH, GUESS["A"])
    )


def test_defined_function_has_a_name_parameters_and_a_direction():
    define_measure(task="regression", bounds=(0.0, 99.0), higher_is_better=False)(largest_error)
    measure = parse_measure("largest_error(power=2)")
    assert (measure.task, measure.higher_is_better, measure.range) == ("regression", False, (0, 99))
    assert str(measure) == "largest_error(power=2)"
    assert parse_measure(str(measure)) == measure != parse_measure("largest_error")
    assert evaluate(None, NUMBERS, "largest_error(power=2)").value() == 9.0
    assert measure.parameters == {"power": 2.0}
    with pytest.raises(MeasureError, match="no parameter 'size'; it has power"):
        parse_measure("largest_error(size=2)", "regression")
    with pytest.raises(MeasureError, match="expected a number"):
        parse_measure("largest_error(power='x')", "regression")


def test_names_of_the_library_are_not_given_away():
    for name, task in (
        ("accuracy", "classification"),
        ("r2_score", "regression"),
        ("BLEU", "text"),
    ):
        with pytest.raises(MeasureError, match=r"already a measure .*: choose another name"):
            define_measure(name=name, task=task)(share_right)
    with pytest.raises(MeasureError, match="task='speech': expected one of"):
        define_measure(task="speech")(share_right)


def test_function_without_a_task_or_a_name_is_refused():
    with pytest.raises(MeasureError, match="give its task with task="):
        parse_measures(share_right)
    with pytest.raises(MeasureError, match="cannot name a measure"):
        parse_measures([lambda _, __: 1.0], "classification")


def test_what_a_function_cannot_do():
    heavy = NumberPredictions(
        "A", NUMBERS.units, NUMBERS.truth, NUMBERS.predicted, weights=np.ones(5)
    )
    assert isinstance(evaluate(None, heavy, largest_error).value(), Undefined)
    found = evaluate(["ab", "c"], ["xy", "cc"], same_length, task="text")
    with pytest.raises(MeasureError):
        found.per_unit()
    with pytest.raises(MeasureError, match="not a mean over segments"):
        found.scores()
    assert found.to_frame().rows() == [("system", None, "same_length", 0.5)]
    assert isinstance(evaluate(None, NUMBERS, nothing).value(), Undefined)


def nothing(truth, predicted):
    del truth, predicted
    return float("nan")


SCORES = np.clip(0.5 + 0.3 * (2 * TRUTH - 1) + RNG.normal(0, 0.3, 40), 0, 1)
SCORED = ClassPredictions(
    "A", TWO[0].units, ("no", "yes"), TRUTH, None, np.column_stack([1 - SCORES, SCORES])
)


@pytest.mark.parametrize(
    ("name", "given", "theirs"),
    [
        ("d2_pinball_score", NUMBERS, {}),
        ("d2_pinball_score(alpha=0.1)", NUMBERS, {"alpha": 0.1}),
        ("mean_tweedie_deviance(power=0)", NUMBERS, {"power": 0}),
        ("jaccard_score(average=macro)", TWO[0], {"average": "macro"}),
        ("f1_score(pos_label=no)", TWO[0], {"pos_label": "no"}),
        ("f1_score", TWO[0], {"pos_label": "yes"}),
        ("roc_auc_score", SCORED, {}),
    ],
)
def test_any_function_of_scikit_learn_by_name(name, given, theirs):
    metrics = pytest.importorskip("sklearn.metrics")
    task = "regression" if given is NUMBERS else "classification"
    measure = parse_measure(f"sklearn:{name}", task)
    assert measure.higher_is_better == (not name.startswith("mean_"))
    assert measure.range == (-np.inf, np.inf)
    assert parse_measure(str(measure), task) == measure == copy.copy(measure)
    truth, predicted = given.truth, given.predicted
    if given is SCORED:
        predicted = SCORES
    elif given is not NUMBERS:
        truth, predicted = (np.array(given.classes)[each] for each in (truth, predicted))
    function = getattr(metrics, name.partition("(")[0])
    assert evaluate(None, given, measure).value() == function(truth, predicted, **theirs)
    weights = RNG.integers(0, 4, (3, len(truth))).astype(float)
    units = measure.units(given)
    for row, score in zip(weights, units.weighted(weights), strict=True):
        drawn = np.repeat(np.arange(len(row)), row.astype(int))
        assert score == pytest.approx(function(truth[drawn], predicted[drawn], **theirs))
    heavy = replace(given, weights=weights[0] + 0.5)
    wanted = function(truth, predicted, **theirs, sample_weight=weights[0] + 0.5)
    assert measure.compute(heavy) == pytest.approx(wanted)


def test_functions_of_scikit_learn_that_do_not_fit_are_refused():
    metrics = pytest.importorskip("sklearn.metrics")
    with pytest.raises(MeasureError, match="no such function of truth and predictions"):
        parse_measure("sklearn:silhouette_score", "classification")
    with pytest.raises(MeasureError, match="of classification and of regression: choose one"):
        parse_measure("sklearn:max_error")
    with pytest.raises(MeasureError, match="the measure sklearn:confusion_matrix failed"):
        evaluate(None, TWO[0], "sklearn:confusion_matrix").value()
    assert isinstance(evaluate(None, TWO[0], "sklearn:roc_auc_score").value(), Undefined)
    assert str(parse_measure(metrics.max_error, "regression")) == "sklearn:max_error"


def test_a_function_goes_with_its_measure_into_another_process():
    cloudpickle = pytest.importorskip("cloudpickle")
    define_measure(name="Here", task="regression", bounds=(0.0, 9.0), higher_is_better=False)(
        lambda truth, predicted, *, power=1.0: float((abs(truth - predicted) ** power).max())
    )
    sent = cloudpickle.dumps(parse_measure("Here(power=2)"))
    del DEFINITIONS["regression", "Here"]
    measure = cloudpickle.loads(sent)
    assert (str(measure), measure.range, measure.higher_is_better) == (
        "Here(power=2)",
        (0, 9),
        False,
    )
    assert measure.compute(NUMBERS) == 9.0
