"""Files of predictions: every format, what is told from their columns, and what is refused."""

import gzip
import json
import re

import numpy as np
import polars as pl
import pytest

from heldout import ClassPredictions, InputError, read_class_predictions, read_number_predictions
from heldout.data import tables
from heldout.data.predictions import class_order, one_set_of_classes
from refusals import refusal


@pytest.fixture(autouse=True, params=[tables.LARGE, 0], ids=["by lines", "by columns"])
def both_ways(request, monkeypatch):
    """Small tables are read by lines, large ones by columns: here all are read both ways."""
    monkeypatch.setattr(tables, "LARGE", request.param)


ROWS = [("a", "cat", "dog"), ("b", "dog", "dog"), ("c", "cat", "cat")]


def delimited(mark):
    rows = [("unit", "truth", "prediction"), *ROWS]
    return "".join(mark.join(row) + "\n" for row in rows)


def test_every_format_gives_the_same(write, tmp_path):
    lines = [dict(zip(("id", "label", "predicted"), row, strict=True)) for row in ROWS]
    pl.DataFrame(ROWS, schema=["qid", "y_true", "y_pred"], orient="row").write_parquet(
        tmp_path / "mine.parquet"
    )
    for path in (
        write("mine.jsonl", "\n".join(map(json.dumps, lines))),
        tmp_path / "mine.parquet",
        write("mine.csv.gz", gzip.compress(delimited(",").encode())),
        write("mine.csv", delimited(",")),
        write("mine.tsv", delimited("\t")),
        write("mine.txt", delimited(";")),
    ):
        [found] = read_class_predictions(path)
        assert found.name == "mine", path
        assert found.units == ("a", "b", "c")
        assert found.classes == ("cat", "dog")
        assert found.truth.tolist() == [0, 1, 0]
        assert found.predicted.tolist() == [1, 1, 0]
        assert found.scores is None


def test_probabilities_and_scores_of_each_class(write, tmp_path):
    rows = "1,x,.5,.3,.2\n2,z,.1,.1,.8\n3,y,.4,.4,.2\n"
    [found] = read_class_predictions(write("p.csv", "unit,truth,prob_x,prob_y,prob_z\n" + rows))
    assert found.probabilities
    assert found.scores.tolist() == [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]]
    assert found.predicted.tolist() == [0, 2, 0]  # of equal ones the earliest
    record = {"unit": 1, "truth": "x", "scores": {"x": 2.5, "y": -1.0}}
    pl.DataFrame([record]).write_parquet(tmp_path / "s.parquet")
    for path in (write("s.jsonl", json.dumps(record)), tmp_path / "s.parquet"):
        [found] = read_class_predictions(path)
        assert not found.probabilities
        assert found.scores.tolist() == [[2.5, -1.0]]
    # A class unseen in training has probability zero.
    path = write("p.csv", "unit,truth,prob_x,prob_y\n1,x,.5,.5\n2,new,.5,.5\n")
    [found] = read_class_predictions(path)
    assert found.classes == ("new", "x", "y")
    assert found.scores[:, 0].tolist() == [0.0, 0.0]
    assert [note.code for note in found.notes] == ["no-column"]
    assert "p: 1 unit is of a class without" in found.notes[0].text


def test_one_column_of_the_positive_class(write):
    path = write("p.csv", "unit,truth,probability\n1,ham,.2\n2,spam,.5\n")
    [found] = read_class_predictions(path)
    assert found.scores.tolist() == [[0.8, 0.2], [0.5, 0.5]]
    assert found.predicted.tolist() == [0, 1]  # half is positive
    [turned] = read_class_predictions(path, positive="ham")
    assert turned.scores.tolist() == [[0.2, 0.8], [0.5, 0.5]]
    [strict] = read_class_predictions(path, threshold=0.6)
    assert strict.predicted.tolist() == [0, 0]
    assert "threshold=nan" in refusal(read_class_predictions, path, threshold=float("nan"))
    path = write("s.csv", "unit,truth,score\n1,0,-3\n2,1,7\n")
    [found] = read_class_predictions(path)
    assert found.predicted is None
    assert [note.code for note in found.notes] == ["no-predictions"]
    assert found.scores.tolist() == [[3.0, -3.0], [-7.0, 7.0]]


def test_other_columns(write):
    path = write(
        "m.csv",
        "system,unit,truth,prediction,fold,group,weight\n"
        "A,1,x,x,0,g,1\nB,1,x,y,0,g,2\nA,2,y,y,1,h,3\nB,2,y,y,1,h,0\n",
    )
    first, second = read_class_predictions(path)
    assert (first.name, second.name) == ("A", "B")
    assert first.folds == ("0", "1")
    assert first.groups == ("g", "h")
    assert first.weights.tolist() == [1.0, 3.0]
    assert second.weights.tolist() == [2.0, 0.0]
    rows = "A,1,x,x,0,a,h A,1,x,y,0,b,h A,1,x,x,1,a,h A,1,x,y,1,b,h".replace(" ", "\n")
    [found] = read_class_predictions(
        write("r.csv", f"system,unit,truth,prediction,repeat,run,group\n{rows}\n")
    )
    assert found.repeats == ("0/a", "0/b", "1/a", "1/b")
    path = write("r.csv", "unit,truth,prediction,repeat\n1,x,x,7\n2,y,x,7\n")
    assert read_class_predictions(path)[0].repeats == ()  # all in one


def test_numbers(write):
    path = write("n.tsv", "id\tactual\tpred\n1\t2.5\t3\n2\t-1e2\t0\n")
    [found] = read_number_predictions(path)
    assert (found.truth.tolist(), found.predicted.tolist()) == ([2.5, -100.0], [3.0, 0.0])
    assert found.select([1]).units == ("2",)
    path = write("n.csv", "unit,truth,prediction\n1,2,3\n2,1_000,3\n")
    assert "n.csv:3: truth: '1_000' is not a number" in refusal(read_number_predictions, path)
    pl.DataFrame({"unit": [1], "truth": [1.0], "prediction": [None]}).write_parquet(path)
    said = refusal(read_number_predictions, path)
    assert "row 1: prediction: the number is missing" in said


def test_labels_of_other_types_are_texts(write):
    text = '{"unit": 1, "truth": true, "prediction": false}\n'
    [found] = read_class_predictions(write("b.jsonl", text))
    assert found.classes == ("false", "true")
    assert [note.code for note in found.notes] == ["wrong-classes"]


def test_systems_get_one_set_of_classes():
    def made(classes, scores=None, probabilities=False):
        codes = np.array([0, 1])
        return ClassPredictions("s", ("1", "2"), classes, codes, codes, scores, probabilities)

    first, second = one_set_of_classes([made(("a", "c")), made(("b", "c"), np.eye(2), True)])
    assert first.classes == second.classes == ("a", "b", "c")
    assert first.truth.tolist() == [0, 2]
    assert second.scores.tolist() == [[0, 1, 0], [0, 0, 1]]
    with pytest.raises(InputError, match="no scores for class a"):
        one_set_of_classes([made(("a", "c")), made(("b", "c"), np.eye(2))])
    assert class_order(["10", "9", "1e1"]) == ("9", "10", "1e1")


TYPED = [
    ([True, False, True], ("True", "False"), ("false", "true")),
    ([1.0, 0.0, 1.0], ("1.0", "0.0"), ("0", "1")),
    ([1, 0, 1], ("1", "0"), ("0", "1")),
    (["True", "False", "True"], ("True", "False"), ("False", "True")),
]


def test_columns_of_classes_are_those_of_typed_truths(write, tmp_path):
    """As ``f"prob_{name}"`` writes them for the classes of an estimator."""
    for truth, names, classes in TYPED:
        columns = {"unit": [1, 2, 3], "truth": truth}
        columns |= {f"prob_{names[0]}": [0.9, 0.2, 0.6], f"prob_{names[1]}": [0.1, 0.8, 0.4]}
        path = tmp_path / "typed.parquet"
        pl.DataFrame(columns).write_parquet(path)
        [one] = read_class_predictions(path)
        assert (one.classes, one.notes) == (classes, ())
        assert one.predicted.tolist() == one.truth.tolist() == [1, 0, 1]
    path = write("other.csv", "unit,truth,prob_1,prob_0\na,1.0,.9,.1\nb,0.0,.2,.8\n")
    said = refusal(read_class_predictions, path)
    assert re.search("but the true classes are .*use the same names", said)
