"""Functions of a user's as measures of every task."""

from __future__ import annotations

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
from heldout.infer.intervals.evaluations import score_predictions
from heldout.measure.base import DEFINITIONS, TASKS, definitions

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
    row = score_predictions(TWO, [share_right]).rows[0]
    assert row.intervals[0].low < row.values[0] < row.intervals[0].high
    assert "bootstrap" in row.intervals[0].method
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
