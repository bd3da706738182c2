"""One evaluation for runs, classes, numbers and texts: the same questions, the same answers."""

from __future__ import annotations

import numpy as np
import pytest

from heldout import (
    ClassPredictions,
    Evaluation,
    InputError,
    NumberPredictions,
    Segments,
    Undefined,
    evaluate,
)
from heldout.errors import MeasureError

pd = pytest.importorskip("pandas")

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


@pytest.fixture(params=TASKS)
def case(request):
    return (request.param, *TASKS[request.param])


def test_every_task_is_told_by_data_and_measure(case):
    task, truth, given, measure, value, values = case
    found = evaluate(truth, given, measure)
    assert isinstance(found, Evaluation)
    assert found.task == task
    assert found.value(measure) == found.value(0, measure) == found.value()
    assert found.value(measure) == pytest.approx(value, abs=1e-4)
    assert found.per_unit(measure) == pytest.approx(values)
    found.per_unit(measure)[:] = 9  # a copy: the evaluation stays as it is
    assert found.per_unit(measure) == pytest.approx(values)
    assert len(found.units()) == len(values)
    assert found.summary() == {found.names[0]: {str(found.measures[0]): found.value()}}


def test_scores_of_every_task_can_be_compared(case):
    _, truth, given, measure, value, values = case
    found = evaluate(truth, {"A": given, "B": given}, measure)
    assert found.names == ("A", "B")
    scores = found.scores(measure)
    assert scores.values[:, 0] == pytest.approx(values)
    assert scores.higher_is_better == found.measures[0].higher_is_better
    assert found.value("B", measure) == pytest.approx(value, abs=1e-4)
    with pytest.raises(InputError, match=r"which system\? Choose one of A, B"):
        found.value(measure)
    with pytest.raises(InputError, match="'C'; there are A, B"):
        found.value("C", measure)


def test_frames_of_polars_and_pandas(case):
    _, truth, given, measure, _, values = case
    found = evaluate(truth, {"A": given}, measure)
    table = found.to_frame()
    assert table["value"].to_list() == pytest.approx(values)
    other = found.to_frame("pandas")
    assert isinstance(other, pd.DataFrame)
    assert list(other.columns) == table.columns
    assert other["value"].tolist() == table["value"].to_list()
    with pytest.raises(InputError, match="expected polars or pandas"):
        found.to_frame("numpy")


def test_measures_that_are_no_means_have_one_row_in_a_frame():
    found = evaluate(LABELS, GUESSES, ["F1(macro)", "accuracy"])
    rows = found.to_frame().rows()
    assert [(row[1], row[2]) for row in rows] == [
        (None, "F1(macro)"),
        *((str(unit), "accuracy") for unit in range(1, 5)),
    ]
    with pytest.raises(MeasureError, match="not a mean over units"):
        found.per_unit("F1(macro)")
    with pytest.raises(MeasureError, match="was not computed; there are F1"):
        found.value("MCC")
    with pytest.raises(MeasureError, match=r"which measure\? Choose one of"):
        found.value()


def test_baselines_have_values():
    found = evaluate(LABELS, GUESSES, "accuracy")
    assert found.baselines == ("(majority class)", "(random by shares)")
    assert found.value("(majority class)", "accuracy") == 0.5
    assert found.units("(majority class)") == found.units(0)
    assert found.per_unit("(majority class)", "accuracy").tolist() == [1, 0, 0, 1]
    assert found.units("(random by shares)")[:2] == ("no → no", "no → yes")
    assert found.per_unit("(random by shares)", "accuracy").tolist() == [1, 0, 0, 1]
    with pytest.raises(InputError, match=r"no system 'x'; there are .*, \(majority class\), "):
        found.value("x", "accuracy")
    assert evaluate(NUMBERS, NEAR, "R2").value("(mean)", "R2") == 0.0


def test_what_does_not_exist_is_undefined_with_its_reason():
    value = evaluate(["a", "b"], ["a", "a"], "precision(class=b)").value()
    assert isinstance(value, Undefined)
    assert evaluate(["a", "b"], ["a", "a"], "precision(class=b)", undefined=0).value() == 0
    nothing = evaluate(None, [Segments("A", ("1",), (("x",),), log_probs=((),))], "Perplexity")
    assert isinstance(nothing.value(), Undefined)


def test_objects_tell_the_task_without_measures():
    one = ClassPredictions("A", ("a", "b"), ("x", "y"), np.array([0, 1]), np.array([0, 1]))
    two = NumberPredictions("A", ("a", "b"), np.array([0.0, 1]), np.array([0.0, 1]))
    assert evaluate(None, one).task == evaluate(None, [one]).task == "classification"
    assert evaluate(None, two).value("RMSE") == 0.0
    texts = Segments.of(["a b"], "A")
    assert evaluate(["a b"], texts, "BLEU(order=1)").value() == pytest.approx(100)
    assert evaluate(["a b"], [texts]).task == "text"


def test_arrays_series_and_dictionaries():
    wanted = evaluate(LABELS, GUESSES, "F1").value()
    assert evaluate(np.array(LABELS), np.array(GUESSES), "F1").value() == wanted
    assert evaluate(pd.Series(LABELS), pd.Series(GUESSES), "F1").value() == wanted
    truth = dict(zip("abcd", LABELS, strict=True))
    mixed = {unit: dict(zip("abcd", GUESSES, strict=True))[unit] for unit in "dbca"}
    found = evaluate(truth, mixed, "F1")
    assert found.value() == wanted
    assert found.units() == ("a", "b", "c", "d")
    with pytest.raises(InputError, match="system: no prediction for unit d"):
        evaluate(truth, {"system": {"a": "no", "b": "no", "c": "no"}}, "F1")
    with pytest.raises(InputError, match="A: 2 predictions, but 4 true values"):
        evaluate(LABELS, {"A": ["no", "no"]}, "accuracy")


def test_scores_of_classes():
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]])
    found = evaluate(LABELS, shares, ["accuracy", "AUC", "log-loss"])
    assert found.value("accuracy") == 0.75
    assert found.value("AUC") == 1.0
    assert found.value("log-loss") == pytest.approx(-np.log([0.9, 0.8, 0.4, 0.7]).mean())
    with pytest.raises(InputError, match="3 columns of scores, but there are 2 classes"):
        evaluate(LABELS, np.ones((4, 3)), "AUC")


def test_positive_class():
    found = evaluate(LABELS, GUESSES, "FP-rate", positive="no").value()
    assert found == evaluate(LABELS, GUESSES, "FP-rate(class=no)").value() == 0.5


def test_paths(tmp_path):
    table = "unit,truth,prediction\na,1.5,2\nb,2.5,2\n"
    (tmp_path / "one.csv").write_text(table)
    found = evaluate(None, tmp_path / "one.csv", "MAE")
    assert (found.task, found.value()) == ("regression", 0.5)
    assert evaluate(None, [str(tmp_path / "one.csv")]).value("MAE") == 0.5
    (tmp_path / "r.txt").write_text("a b\n")
    (tmp_path / "A.txt").write_text("a\n")
    found = evaluate(tmp_path / "r.txt", {"A": tmp_path / "A.txt"}, "ROUGE-1")
    assert found.value("A", "ROUGE-1") == pytest.approx(2 / 3)
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 1.0 t\n")
    assert evaluate(str(tmp_path / "qrels"), str(tmp_path / "run"), "recall.5").task == "ranking"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((LABELS, GUESSES), "pass task= with one of"),
        ((LABELS, GUESSES, ["accuracy", "MAE"]), "pass task= with one of"),
        ((None, np.array(GUESSES), "accuracy"), "the truth is missing"),
        ((LABELS[:3], NEAR, "MAE"), "row 1: truth: 'no' is not a number"),
    ],
)
def test_what_cannot_be_told_is_asked(arguments, said):
    with pytest.raises(InputError, match=said):
        evaluate(*arguments)


def test_settings_of_other_tasks_are_refused():
    with pytest.raises(InputError, match="task='speech'"):
        evaluate(LABELS, GUESSES, task="speech")
    with pytest.raises(InputError, match="depth is for rankings; the task is classification"):
        evaluate(LABELS, GUESSES, "accuracy", depth=10)
    with pytest.raises(MeasureError, match="no measures given"):
        evaluate(LABELS, GUESSES, [])


def test_the_repr_is_short():
    evaluation = evaluate(
        {"q": {"a": 1}}, {"one": {"q": {"a": 1.0}}, "two": {"q": {"b": 1.0}}}, ["AP", "P@5"]
    )
    assert repr(evaluation) == "<Evaluation of one, two in AP, P@5>"
