# ruff: noqa: PD011 - values of Scores are an array
"""Scores of frames and mappings: which column is what, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from heldout import InputError, Scores, evaluate

A = [0.1, 0.3, 0.8]
B = [0.2, 0.5, 0.7]
BOTH = np.array([A, B]).T.tolist()
FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


@FRAMES
@pytest.mark.parametrize(
    "name", ["qid", "query_id", "topic", "unit", "query", "q_id", "topic_id", "fold", "id", "QID"]
)
def test_ids_are_no_system(frame, name):
    scores = Scores.of(frame({"A": A, name: [7, 8, 9], "B": B}))
    assert (scores.systems, scores.units) == (("A", "B"), ("7", "8", "9"))
    assert scores.values.tolist() == BOTH


@FRAMES
def test_integers_that_all_differ_are_taken_for_ids(frame):
    table = frame({"number": [3, 1, 2], "A": A, "B": B})
    with pytest.raises(
        InputError, match=r"column number looks like ids .*different integer in every row"
    ):
        Scores.of(table)
    assert Scores.of(table, systems=["A", "B"]).systems == ("A", "B")
    assert Scores.of(table, units="number").units == ("3", "1", "2")
    counts = frame({"qid": ["a", "b", "c"], "A": [120, 80, 95], "B": [90, 70, 99]})
    assert Scores.of(counts, systems=["B", "A"]).values.tolist() == [[90, 120], [70, 80], [99, 95]]


@FRAMES
def test_integers_that_repeat_are_scores(frame):
    assert Scores.of(frame({"A": [1, 0, 1], "B": [2, 2, 0]})).systems == ("A", "B")


@FRAMES
def test_without_ids_the_rows_are_numbered(frame):
    assert Scores.of(frame({"A": A, "B": B})).units == ("0", "1", "2")


def test_the_index_of_pandas_has_the_ids():
    frame = pd.DataFrame({"A": A, "B": B}, index=["x", "y", "z"])
    assert Scores.of(frame).units == ("x", "y", "z")
    named = pd.DataFrame({"qid": [7, 8, 9], "A": A, "B": B}).set_index("qid")
    assert (Scores.of(named).units, Scores.of(named).systems) == (("7", "8", "9"), ("A", "B"))


def test_the_words_of_queries_are_passed_over():
    frame = pd.DataFrame({"qid": [7, 8, 9], "query": ["who", "what", "why"], "A": A, "B": B})
    assert (Scores.of(frame).units, Scores.of(frame).systems) == (("7", "8", "9"), ("A", "B"))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"qid": ["x", "y", "z"], "A": [0.1, None, 0.8], "B": B}),
        pl.DataFrame({"qid": ["x", "y", "z"], "A": [0.1, None, 0.8], "B": B}),
        {"qid": ["x", "y", "z"], "A": [0.1, None, 0.8], "B": B},
        {"A": pd.Series([0.1, np.nan, 0.8], ["x", "y", "z"]), "B": pd.Series(B, ["x", "y", "z"])},
    ],
    ids=["pandas", "polars", "lists", "series"],
)
def test_a_gap_leaves_its_unit_out(table):
    scores = Scores.of(table)
    assert (scores.units, scores.dropped) == (("x", "z"), ("y",))


@FRAMES
def test_successes_are_ones(frame):
    scores = Scores.of(frame({"A": [True, False, True], "B": [False, False, True]}))
    assert scores.values.tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize("several", [list, tuple, np.array, pl.Series])
def test_lists_of_values(several):
    scores = Scores.of({"A": several(A), "B": several(B)}, "AP")
    assert (scores.measure, scores.systems, scores.units) == ("AP", ("A", "B"), ("0", "1", "2"))
    assert scores.values.tolist() == BOTH
    with_ids = Scores.of({"unit": ["x", "y", "z"], "A": several(A), "B": several(B)})
    assert with_ids.units == ("x", "y", "z")


def test_who_writes_a_dictionary_has_named_the_systems():
    assert Scores.of({"A": [1, 2, 3], "B": [3, 1, 2]}).systems == ("A", "B")
    scores = Scores.of({"qid": [1, 2, 3], "A": [1, 2, 3], "B": [3, 1, 2]})
    assert (scores.systems, scores.units) == (("A", "B"), ("1", "2", "3"))
    assert Scores.of({"A": {1: 0.1}, "B": {1: 0.2}, "C": {1: 0.3}}, systems=["C", "A"]).systems == (
        "C",
        "A",
    )


def test_the_frame_of_an_evaluation_comes_back():
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    runs = {"x": {"q1": {"b": 2.0, "a": 1.0}}, "y": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}}
    result = evaluate(qrels, runs, ["RR", "P@1"])
    scores = Scores.of(result.to_frame(), "RR")
    assert scores.measure == "RR"
    assert scores.systems == ("x", "y")
    assert scores.values.tolist() == result.scores("RR").values.tolist() == [[0.5, 1], [0, 1]]
    with pytest.raises(
        InputError, match=r"scores in 2 measures \(RR, P@1\): choose one \(measure="
    ):
        Scores.of(result.to_frame())


FRAME = pd.DataFrame({"qid": [7, 8, 9], "A": A, "B": B})
WRONG = {
    "a frame as a dictionary": (
        FRAME.to_dict(),
        "qid looks like unit ids, not like a system: give the frame",
    ),
    "a dictionary of series": (
        dict(FRAME),
        "qid looks like unit ids, not like a system: give the frame",
    ),
    "ids by another name": (
        pd.DataFrame({"question": ["x", "y", "z"], "A": A}),
        r"no column of unit ids \(found question, A\): name it unit",
    ),
    "two columns of ids": (
        FRAME.assign(topic=[1, 1, 2]),
        "column topic looks like ids .*, but qid has the unit ids",
    ),
    "text among scores": (FRAME.assign(A=["x", "y", "z"]), "row 1: system A: 'x' is not a number"),
    "no rows": (pd.DataFrame({"A": [], "B": []}), "has no rows of scores"),
    "nothing": ({}, "has no rows of scores"),
    "only ids": ({"qid": [1, 2]}, "no columns of scores, only qid"),
    "lengths": ({"A": A, "B": B[:2]}, "B has 2 values, others have 3"),
    "two kinds": (
        {"A": A, "B": {1: 0.5}},
        "B has an object of type dict, not a list of scores: expected",
    ),
    "one number": (
        {"A": 0.5, "B": 0.6},
        "A has an object of type float, not a list of scores: expected {system",
    ),
    "a table in a table": (
        {"A": np.zeros((2, 2)), "B": B},
        "A has an object of type ndarray, not a list of scores",
    ),
    "not finite": ({"A": [0.1, np.nan], "B": [1, 2]}, "nan is not a finite number"),
    "a lazy frame": (pl.LazyFrame({"A": A}), "type LazyFrame is not a table of scores: expected"),
    "a list": ([A, B], "type list is not a table of scores: expected {system"),
    "an array": (np.zeros((3, 2)), "type ndarray is not a table of scores"),
    "a path": ("scores.csv", "scores.csv: no such file"),
    "none": (None, "None is not a table of scores"),
}


@pytest.mark.parametrize(("table", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_table_is_refused_in_words(table, message):
    with pytest.raises(InputError, match=message):
        Scores.of(table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": "A"}, "systems='A': expected a list"),
        ({"systems": ["A", "C"]}, "no system 'C'; found qid, A, B"),
        ({"units": "topic"}, "no column 'topic'; found qid, A, B"),
    ],
)
def test_names_that_are_not_there_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Scores.of(FRAME, **options)
