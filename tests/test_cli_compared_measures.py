"""What is compared is what is shown; classes that were never predicted can count 0."""

import json

import numpy as np
import pytest
from sklearn import metrics
from sklearn.dummy import DummyClassifier

from heldout import (
    Experiment,
    Undefined,
    compare,
    read_class_predictions,
)
from heldout.cli import main
from heldout.errors import MeasureError
from heldout.measure.names import parse_measures
from heldout.measure.prediction.evaluate import evaluate_predictions

HINT = "F1(macro, undefined=0) counts such a class as 0, like scikit-learn"


def run(capsys, *arguments):
    main(list(map(str, arguments)))
    return capsys.readouterr()


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    assert ended.value.code == 2
    return capsys.readouterr().err


def table(path, rows):
    path.write_text("unit,truth,prediction\n" + "".join(f"u{n},{a},{b}\n" for n, a, b in rows))
    return path


@pytest.fixture
def numbers(tmp_path):
    random = np.random.default_rng(0)
    truth = random.normal(size=40)
    return [
        table(tmp_path / f"{name}.csv", zip(range(40), truth, truth + noise, strict=True))
        for name, noise in (("old", random.normal(size=40)), ("new", random.normal(size=40) / 2))
    ]


@pytest.fixture
def classes(tmp_path):
    """The first system never predicts c."""
    random = np.random.default_rng(1)
    truth = np.array(list("abc") * 20)
    files = []
    for name, known in (("two", "ab"), ("three", "abc")):
        right = (random.random(60) < 0.7) & np.isin(truth, list(known))
        guess = np.where(right, truth, random.choice(list(known), 60))
        files.append(table(tmp_path / f"{name}.csv", zip(range(60), truth, guess, strict=True)))
    return files


def test_numbers_are_compared_by_the_measure_that_is_shown_first(numbers, capsys):
    found = json.loads(run(capsys, "eval", "--task", "regression", *numbers, "--json").out)
    [compared] = json.loads(run(capsys, "compare", "--task", "regression", *numbers, "--json").out)
    assert compared["measure"] == found["measures"][0] == "RMSE"
    for shown, used in zip(found["systems"], compared["systems"], strict=False):
        assert used["estimate"] == pytest.approx(shown["measures"]["RMSE"]["value"], rel=1e-12)
    claim = compared["claims"][0]
    values = [one["estimate"] for one in compared["systems"]]
    assert claim["difference"] == pytest.approx(values[1] - values[0], rel=1e-12)
    assert claim["low"] < claim["difference"] < claim["high"]


@pytest.mark.parametrize("command", [["compare", "--task", "classification"], ["compare"]])
def test_a_class_that_was_never_predicted_is_refused_with_the_way_out(classes, capsys, command):
    said = refused(capsys, *command, *classes, "-m", "F1(macro)")
    assert "F1(macro) of two is undefined (class c: it was never predicted)" in said
    assert HINT in said
    out = run(capsys, *command, *classes, "-m", "F1(macro, undefined=0)").out
    assert "F1(macro, undefined=0)" in out


def test_scores_say_it_too_but_not_of_the_baseline(classes, capsys):
    said = run(capsys, "eval", "--task", "classification", *classes, "-m", "F1(macro)").err
    assert said.count(HINT) == 1
    assert "F1(macro) of (majority class) does not exist: class b: it was never predicted\n" in said


def test_what_cannot_be_mended_has_no_hint(tmp_path, capsys):
    path = tmp_path / "s.csv"
    path.write_text("unit,truth,score\n1,a,3\n2,b,9\n3,a,5\n")
    said = run(capsys, "eval", "--task", "classification", path, "-m", "F1(macro)").err
    assert "F1(macro) of s does not exist: there are scores but no predictions\n" in said
    assert "undefined=0" not in said


@pytest.mark.parametrize("average", ["macro", "weighted"])
@pytest.mark.parametrize("name", ["precision", "recall", "F1"])
def test_counted_as_0_it_is_what_scikit_learn_has(classes, name, average):
    theirs = {
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "F1": metrics.f1_score,
    }[name]
    several = [read_class_predictions(path)[0] for path in classes]
    scores = evaluate_predictions(several, [f"{name}({average})"], undefined=0)
    for one in several:
        names = np.array(one.classes)
        expected = theirs(names[one.truth], names[one.predicted], average=average, zero_division=0)
        assert scores.value(one.name, f"{name}({average})") == pytest.approx(expected, rel=1e-12)


def test_the_name_says_it_and_can_be_read_back():
    [measure] = parse_measures(["F(beta=2, weighted)"], "classification", undefined=0)
    assert str(measure) == "F(beta=2, weighted, undefined=0)"
    assert parse_measures([str(measure)], "classification") == [measure]
    plain = parse_measures(["MCC", "accuracy"], "classification", undefined=0)
    assert list(map(str, plain)) == ["MCC(undefined=0)", "accuracy"]


def test_python_takes_it_for_scores_and_comparisons(classes):
    several = [read_class_predictions(path)[0] for path in classes]
    assert isinstance(evaluate_predictions(several, ["F1"]).value("two", "F1"), Undefined)
    value = evaluate_predictions(several, ["F1"], undefined=0).value("two", "F1")
    found = compare(several, "F1", undefined=0)
    assert found.systems[0].mean.estimate == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("value", [1, 0.5])
def test_nothing_but_0_is_taken(value):
    with pytest.raises(MeasureError, match="expected 0"):
        parse_measures(["F1"], "classification", undefined=value)
    with pytest.raises(MeasureError, match=r"undefined=.*: expected 0"):
        parse_measures([f"F1(undefined={value})"], "classification")
    with pytest.raises(MeasureError, match="accuracy has no parameter"):
        parse_measures(["accuracy(undefined=0)"], "classification")


def test_experiments_take_the_measure():
    rows, labels = np.zeros((30, 1)), np.array(list("abc") * 10)
    systems = {"first": DummyClassifier(strategy="constant", constant="a")}
    fields = {"task": "classification", "data": (rows, labels), "systems": systems}
    bare = Experiment(**fields, measures=["F1(macro)"]).run()
    said = bare.estimate("first")["reason"]
    assert said.endswith("; F1(macro, undefined=0) counts such a class as 0, like scikit-learn")
    counted = Experiment(**fields, measures=["F1(macro, undefined=0)"]).run()
    assert 0 < counted.estimate("first")["value"] < 0.3
