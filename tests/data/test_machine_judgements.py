"""Judgement files of machines: qrels, tables, JSON lines, and probabilities of grades."""

import json

import numpy as np
import pytest

import heldout
from heldout.data.machine_judgements import DRAWS, as_machine, read_machine
from heldout.errors import InputError

GRADES = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
ROWS = [("q1", "a", 2), ("q1", "b", 0), ("q2", "c", 1)]


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_qrels_csv_and_json_lines_are_read_alike(tmp_path):
    files = [
        write(tmp_path, "a.qrels", "".join(f"{q} 0 {d} {g}\n" for q, d, g in ROWS)),
        write(
            tmp_path,
            "a.csv",
            "query,document,grade\n" + "".join(f"{q},{d},{g}\n" for q, d, g in ROWS),
        ),
        write(
            tmp_path,
            "a.jsonl",
            "".join(json.dumps({"query": q, "document": d, "grade": g}) + "\n" for q, d, g in ROWS),
        ),
        write(tmp_path, "a.json", json.dumps(GRADES)),
    ]
    for path in files:
        judgements = read_machine(path)
        assert (judgements.qrels.to_dict(), judgements.draws) == (GRADES, ())
    assert as_machine(GRADES).graded[0].to_dict() == GRADES


def shares_csv(folder):
    return write(
        folder,
        "p.csv",
        "query,document,prob_0,prob_1,prob_2\nq2,c,0,1,0\nq1,a,0.1,0.2,0.7\nq1,b,0.75,0.25,0\n",
    )


def test_each_grade_is_drawn_as_often_as_its_probability_says(tmp_path):
    judgements = read_machine(shares_csv(tmp_path))
    assert judgements.qrels.to_dict() == GRADES  # the most probable grades
    assert len(judgements.draws) == DRAWS
    drawn = [one.to_dict() for one in judgements.draws]
    assert np.bincount([one["q1"]["a"] for one in drawn]).tolist() == [2, 4, 14]
    assert np.bincount([one["q1"]["b"] for one in drawn]).tolist() == [15, 5]
    assert {one["q2"]["c"] for one in drawn} == {1}


def test_probabilities_in_json_lines_are_those_of_columns(tmp_path):
    lines = [
        {"query": "q1", "document": "a", "probabilities": {"0": 0.1, "1": 0.2, "2": 0.7}},
        {"query": "q1", "document": "b", "probabilities": {"0": 0.75, "1": 0.25, "2": 0}},
        {"query": "q2", "document": "c", "grade": 1, "probabilities": {"0": 0, "1": 1, "2": 0}},
    ]
    path = write(tmp_path, "p.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert read_machine(path).qrels.to_dict() == GRADES


def test_linear_measures_have_the_value_at_the_expected_gain(tmp_path):
    path = write(
        tmp_path,
        "p.csv",
        "query,document,prob_0,prob_1\n"
        + "".join(f"q{n},d{m},{1 - m / 10},{m / 10}\n" for n in range(5) for m in range(5)),
    )
    human = {f"q{n}": {"d0": 0, "d1": 1} for n in range(3)}
    run = {f"q{n}": {f"d{m}": float(m + n) for m in range(5)} for n in range(5)}
    evaluation = heldout.evaluate(human, run, ["P@5", "DCG@5"], machine=path)
    scores = evaluation.scores("P@5").machine
    np.testing.assert_allclose(scores.extra, (0 + 1 + 2 + 3 + 4) / 10 / 5)
    discounts = 1 / np.log2(np.arange(2, 7))
    expected = (np.array([0.4, 0.3, 0.2, 0.1, 0.0]) * discounts).sum()
    np.testing.assert_allclose(evaluation.scores("DCG@5").machine.known, expected)


def test_deeply_nested_json_is_refused(tmp_path):
    path = write(tmp_path, "p.jsonl", '{"query": ' + "[" * 100_000)
    with pytest.raises(InputError):
        read_machine(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("q1,a,0.5,0.1\n", r"p.csv:2: probabilities 0.5, 0.1: expected"),
        ("q1,a,1.5,-0.5\n", "sum of 1"),
        ("q1,,1,0\n", r"p.csv:2: no doc"),
        ("q1,a,x,0\n", "prob_0 is not a number"),
        ("q1,a,1,0\nq1,a,1,0\n", "judged twice"),
    ],
)
def test_bad_probabilities_are_refused_with_their_line(tmp_path, rows, words):
    path = write(tmp_path, "p.csv", "query,document,prob_0,prob_1\n" + rows)
    with pytest.raises(InputError, match=words):
        read_machine(path)
