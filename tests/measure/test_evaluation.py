"""One evaluation for runs, classes, numbers and texts: the same questions, the same answers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from samples import classed

from heldout import ClassPredictions, InputError, NumberPredictions, Segments, Undefined, evaluate
from heldout.errors import MeasureError

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
LABELS, GUESSES = ["no", "yes", "yes", "no"], ["no", "yes", "no", "no"]
NUMBERS, NEAR = [1.0, 2.0, 4.0], [1.5, 2.0, 3.0]
TEXTS, WRITTEN = ["the cat sat", "two dogs"], ["the cat", "two dogs"]
TASKS = {
    "ranking": (QRELS, RUN, "RR", 0.75, [0.5, 1.0]),
    "classification": (LABELS, GUESSES, "accuracy", 0.75, [1, 1, 0, 1]),
    "regression": (NUMBERS, NEAR, "MAE", 0.5, [0.5, 0.0, 1.0]),
    "text": (TEXTS, WRITTEN, "TokenF1", 0.8333, [2 / 3, 1]),  # the is an article
}


def test_every_task_is_told_by_data_and_measure():
    for task, (truth, given, measure, value, values) in TASKS.items():
        found = evaluate(truth, given, measure)
        assert found.task == task
        assert found.value(measure) == found.value() == pytest.approx(value, abs=1e-4)
        found.per_unit(measure)[:] = 9  # a copy: the evaluation stays as it is
        assert found.per_unit(measure) == pytest.approx(values)
        assert found.summary() == {found.names[0]: {str(found.measures[0]): found.value()}}
        assert repr(found) == f"<Evaluation of {found.names[0]} in {measure}>"
        assert json.loads(json.dumps(found.to_dict()))


def test_scores_and_frames_of_every_task():
    for truth, given, measure, value, values in TASKS.values():
        found = evaluate(truth, {"A": given, "B": given}, measure)
        assert found.names == ("A", "B")
        scores = found.scores(measure)
        assert scores.column("A") == pytest.approx(values)
        assert scores.higher_is_better == found.measures[0].higher_is_better
        assert found.value("B", measure) == pytest.approx(value, abs=1e-4)
        with pytest.raises(InputError, match=r"which system\? Choose one of A, B"):
            found.value(measure)
        table, other = found.to_frame(), found.to_frame("pandas")
        assert table["value"].to_list() == pytest.approx([*values, *values])
        assert list(other.columns) == table.columns
        assert other["value"].tolist() == table["value"].to_list()
        with pytest.raises(InputError, match="expected polars or pandas"):
            found.to_frame("numpy")


def test_measures_that_are_no_means_have_one_row_in_a_frame():
    found = evaluate(LABELS, GUESSES, ["F1(macro)", "accuracy"])
    expected = [(None, "F1(macro)"), *((unit, "accuracy") for unit in "1234")]
    assert [row[1:3] for row in found.to_frame().rows()] == expected
    with pytest.raises(MeasureError, match="not a mean over units"):
        found.per_unit("F1(macro)")
    with pytest.raises(MeasureError, match="was not computed; there are F1"):
        found.value("MCC")
    with pytest.raises(MeasureError, match=r"which measure\? Choose one of"):
        found.value()


def test_baselines_have_values_and_units():
    found = evaluate(LABELS, GUESSES, "accuracy")
    assert found.value("(majority class)", "accuracy") == 0.5
    assert found.units("(majority class)") == found.units(0)
    assert found.per_unit("(majority class)", "accuracy").tolist() == [1, 0, 0, 1]
    assert found.units("(random by shares)")[:2] == ("no → no", "no → yes")
    assert found.per_unit("(random by shares)", "accuracy").tolist() == [1, 0, 0, 1]


def test_what_does_not_exist_is_undefined_with_its_reason():
    missing = ["a", "b"], ["a", "a"], "precision(class=b)"
    assert evaluate(*missing).value() == Undefined("it was never predicted")
    assert evaluate(*missing, undefined=0).value() == 0
    assert evaluate(*missing).to_frame()["value"].to_list() == [None]
    nothing = evaluate(None, [Segments("A", ("1",), (("x",),), log_probs=((),))], "Perplexity")
    assert isinstance(nothing.value(), Undefined)


def test_objects_arrays_series_and_dictionaries():
    one = ClassPredictions("A", ("a", "b"), ("x", "y"), np.array([0, 1]), np.array([0, 1]))
    two = NumberPredictions("A", ("a", "b"), np.array([0.0, 1]), np.array([0.0, 1]))
    assert evaluate(None, one).task == evaluate(None, [one]).task == "classification"
    assert evaluate(None, two).task == "regression"
    assert evaluate(["a b"], [Segments.of(["a b"], "A")]).task == "text"
    wanted = evaluate(LABELS, GUESSES, "F1").value()
    assert evaluate(np.array(LABELS), np.array(GUESSES), "F1").value() == wanted
    assert evaluate(pd.Series(LABELS), pd.Series(GUESSES), "F1").value() == wanted
    truth, mixed = (dict(zip("abcd", one, strict=True)) for one in (LABELS, GUESSES))
    found = evaluate(truth, {unit: mixed[unit] for unit in "dbca"}, "F1")
    assert found.value() == wanted
    assert found.units() == ("a", "b", "c", "d")
    both = evaluate(truth, {"A": mixed, "B": truth}, "accuracy").summary()
    assert both == {"A": {"accuracy": 0.75}, "B": {"accuracy": 1.0}}


def test_scores_of_classes_and_the_positive_class():
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]])
    found = evaluate(LABELS, shares, ["accuracy", "AUC", "log-loss"])
    assert found.value("accuracy") == 0.75
    assert found.value("AUC") == 1.0
    assert found.value("log-loss") == pytest.approx(-np.log([0.9, 0.8, 0.4, 0.7]).mean())
    assert evaluate(LABELS, shares, "accuracy", threshold=0.4).value() == 1.0
    negative = evaluate(LABELS, GUESSES, "FP-rate", positive="no").value()
    assert negative == evaluate(LABELS, GUESSES, "FP-rate(class=no)").value() == 0.5
    for truth, guesses, positive in (
        ([True, False, False], [False, True, False], False),
        ([1, 0, 0], [0, 1, 0], 0.0),
    ):
        assert evaluate(truth, guesses, "FP-rate", positive=positive).value() == 1.0, positive


def test_paths(tmp_path):
    (tmp_path / "one.csv").write_text("unit,truth,prediction\na,1.5,2\nb,2.5,2\n")
    assert evaluate(None, tmp_path / "one.csv", "MAE").value() == 0.5
    assert evaluate(None, [str(tmp_path / "one.csv")]).value("MAE") == 0.5
    (tmp_path / "r.txt").write_text("a b\n")
    (tmp_path / "A.txt").write_text("a\n")
    found = evaluate(tmp_path / "r.txt", {"A": tmp_path / "A.txt"}, "ROUGE-1")
    assert found.value("A", "ROUGE-1") == pytest.approx(2 / 3)
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 1.0 t\n")
    assert evaluate(str(tmp_path / "qrels"), str(tmp_path / "run"), "recall.5").task == "ranking"


def test_a_record_has_every_number():
    """What JSON has, of classes, numbers, rankings and texts."""
    two = classed(["a"] * 8 + ["b"] * 12, [*"aaaaabbbbbbbbbbbbbaa"])
    found = evaluate(None, two, ["accuracy", "F1(macro)", "log-loss"])
    record = json.loads(json.dumps(found.to_dict()))
    own, majority, _ = record["systems"]
    assert (record["task"], record["classes"], record["positive"]) == (found.task, ["a", "b"], "b")
    assert (own["units"], own["baseline"], majority["baseline"]) == (20, False, True)
    accuracy = own["measures"]["accuracy"]
    assert accuracy["value"] == 0.75
    assert accuracy["interval"]["low"] < 0.75 < accuracy["interval"]["high"]
    assert "interval" not in majority["measures"]["accuracy"]
    undefined = {"value": None, "undefined": "there are no probabilities"}
    assert own["measures"]["log-loss"] == undefined
    (confusion,) = record["confusion"]
    assert confusion["confusion"] == [[5, 3], [2, 10]]
    of_a = confusion["per_class"][0]
    assert (of_a["class"], of_a["units"]) == ("a", 8)
    values = {name: of_a[name]["value"] for name in ("precision", "recall", "specificity", "f")}
    expected = {"precision": 5 / 7, "recall": 5 / 8, "specificity": 10 / 12, "f": 10 / 15}
    assert values == pytest.approx(expected)
    ranked = evaluate(QRELS, RUN, ["RR", "P@1"])
    (run,) = ranked.to_dict(per_unit=True)["runs"]
    assert run["means"] == {"RR": 0.75, "P@1": 0.5}
    assert run["queries"] == {"q1": {"RR": 0.5, "P@1": 0.0}, "q2": {"RR": 1.0, "P@1": 1.0}}
    assert "means" not in ranked.to_dict(summary=False)["runs"][0]
    (measure,) = evaluate(TEXTS, {"A": WRITTEN}, "TER").to_dict()["measures"]
    assert not measure["higher_is_better"]
    assert measure["systems"][0]["estimate"] == pytest.approx(100 / 5)


def test_what_cannot_be_told_or_does_not_fit_is_refused():
    for arguments, settings, says in (
        ((LABELS, GUESSES), {}, "pass task= with one of"),
        ((LABELS, GUESSES, ["accuracy", "MAE"]), {}, "pass task= with one of"),
        ((None, np.array(GUESSES), "accuracy"), {}, "the truth is missing"),
        ((LABELS[:3], NEAR, "MAE"), {}, "row 1: truth: 'no' is not a number"),
        ((LABELS, {"A": ["no", "no"]}, "accuracy"), {}, "A: 2 predictions, but 4 true values"),
        (({"a": 1}, {"s": {"b": 1}}, "accuracy"), {}, "no prediction for unit a"),
        (({"a": 1, "b": 0}, {"b": 1}, "accuracy"), {}, "no prediction for unit a"),
        (({"a": 1}, {"a": 1, "b": 1}, "accuracy"), {}, "no true value for unit b"),
        ((["no", np.nan, "yes"], ["no"] * 3, "accuracy"), {}, "row 2: the truth is missing"),
        ((LABELS, [*GUESSES[:3], np.nan], "accuracy"), {}, "row 4: the prediction is missing"),
        (([], [], "accuracy"), {}, "truth: no values given"),
        ((["a"], [None], "BLEU"), {}, "expected a list of texts"),
        ((["a"], [[None]], "BLEU"), {}, "a list of texts, for each segment"),
        ((LABELS, np.ones((4, 3)), "AUC"), {}, "3 columns of scores, but there are 2 classes"),
        ((LABELS, GUESSES, "accuracy"), {"depth": 10}, "depth is for rankings; the task is class"),
        ((LABELS, GUESSES, "F1(class=x)"), {}, "no such class; there are no, yes"),
        ((TEXTS, WRITTEN, "BLEU"), {"machine": QRELS}, "machine is for rankings"),
        ((LABELS, {}, "accuracy"), {}, "no predictions given"),
    ):
        with pytest.raises((InputError, MeasureError), match=says):
            evaluate(*arguments, **settings)
