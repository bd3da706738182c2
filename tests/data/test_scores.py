# ruff: noqa: PD011 - values of Scores are an array
"""Scores: what the object checks, and the files, frames and mappings that it is read from."""

import gzip
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import Scores, evaluate, read_scores
from refusals import refusal

A = [0.1, 0.3, 0.8]
B = [0.2, 0.5, 0.7]
BOTH = np.array([A, B]).T.tolist()
WIDE = "unit,A,B\nq1,0.1,0.2\nq2,0.3,0.5\n"
LONG = "system,unit,value\nA,q1,0.1\nB,q1,0.2\nB,q2,0.5\nA,q2,0.3\n"
EXPECTED = [[0.1, 0.2], [0.3, 0.5]]


MISFITS = [
    ({"values": [[0.1, 0.2]]}, "expected 2 rows (units) and 2 columns (systems), got shape (1, 2)"),
    ({"values": [[0.1, np.nan], [0.3, 0.1]]}, "unit q1, system B: nan is not a finite"),
    ({"values": [[0.1, 0.1], [0.3, -np.inf]]}, "unit q2, system B: -inf is not a finite"),
    ({"values": [[0.1, 0.1], [3e100, 0.1]]}, "unit q2, system A: 3e+100 is too large"),
    ({"units": ("q1", "q1")}, "two units have the same name: q1"),
    ({"units": "q1"}, "units='q1': expected a list"),
    ({"systems": ("A", "A")}, "two systems have the same name: A"),
    ({"systems": "AB"}, "systems='AB': expected a list"),
    ({"judged": (0.5,)}, "judged: 1 shares for 2 systems"),
    ({"notes": ["a text"]}, "notes: expected notes"),
]


def test_what_does_not_fit_is_refused_and_what_does_is_paired_by_text():
    good = {"systems": ("A", "B"), "units": ("q1", "q2"), "values": EXPECTED}
    for change, message in MISFITS:
        assert message in refusal(Scores, "AP", **good | change), change
    mine = np.array(EXPECTED)
    scores = Scores("AP", [1, "B"], range(2), mine)
    assert (scores.systems, scores.units) == (("1", "B"), ("0", "1"))
    mine[0, 0] = 9.0  # may be written to, and changes nothing
    assert scores.values.tolist() == EXPECTED
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0] = 1.0
    scores = Scores.of({"A": {1: 0.1, 2: 0.3}, "B": {"2": 0.5, "1": 0.2, "3": 0.0}})
    assert (scores.values.tolist(), scores.dropped) == (EXPECTED, ("3",))


TEXTS = {
    "wide": WIDE,
    "tabs": WIDE.replace(",", "\t"),
    "long with semicolons": LONG.replace(",", ";"),
    "windows": "\ufeff# mine, at last\n\n# two\n" + WIDE.replace("\n", "\r\n"),
    "old macintosh": WIDE.replace("\n", "\r").rstrip(),
    "blank lines": WIDE.replace("\n", "\n\n"),
    "empty lines of a spreadsheet": WIDE + ",,\n,,\n",
    "blanks around": WIDE.replace(",", " , "),
    "quotes": 'unit,"A","B"\n"q1","0.1",0.2\nq2,0.3,0.5\n',
    "a comma behind each line": WIDE.replace("\n", ",\n"),
    "a comma behind the header": WIDE.replace("A,B", "A,B,"),
    "a comma behind a row": WIDE.replace("0.2\n", "0.2,\n"),
    "packed": gzip.compress(WIDE.encode()),
    "other words": LONG.replace("system", "Run").replace("unit", "QID").replace("value", "Score"),
    "scientific": WIDE.replace("0.1", "1e-1").replace("0.2", ".2").replace("0.5", "+0.50"),
    "means": WIDE + "all,0.2,0.35\n",
}


def test_tables_are_read(write):
    for name, content in TEXTS.items():
        scores = read_scores(write("t.csv", content))
        assert scores.values.tolist() == EXPECTED, name
        assert (scores.systems, scores.units, scores.dropped) == (("A", "B"), ("q1", "q2"), ())
    assert scores.higher_is_better
    assert not read_scores(write("t.csv", WIDE), "ms", higher_is_better=False).higher_is_better


def test_another_separator_in_a_name_misleads_nobody(write):
    for mark in (",", ";", "\t"):
        others = "".join({",", ";", "\t"} - {mark})
        header = mark.join(["unit", f'"A{others}"', "B"])
        path = write("t.csv", f"{header}\n{mark.join(['q1', '0.1', '0.2'])}\n")
        assert read_scores(path).systems == (f"A{others}".strip(), "B")
        # Not quoted either, and more often in the header: it does not cut all lines alike.
        for other in others:
            name = other.join("Axyz")
            path = write("t.csv", f"unit{mark}{name}{mark}B\nq1{mark}0.1{mark}0.2\n")
            assert read_scores(path).systems == (name, "B")


REFUSED_FILES = {
    "column twice": ("unit,A,B,A\nq,1,2,3\n", r"t\.csv:1: .* named 'A' \(columns 2 and 4\)"),
    "nameless column": (",A,B\nq,1,2\n", r"t\.csv:1: column 1 has no name.*index=False"),
    "short line": ("unit,A,B\nq,1\n", r"t\.csv:2: 2 cells, but the header has 3$"),
    "decimal comma": ("unit;A;B\nq;0,5;0,6\n", r"t\.csv:2: system A: '0,5' has a comma: use a"),
    "unquoted decimal comma": ("unit,A,B\nq,0,5,0,6\n", r"t\.csv:2: 5 cells.*decimal comma\?"),
    "NaN": ("unit,A\n\nq,NaN\n", r"t\.csv:3: system A: 'NaN' is not a finite number"),
    "no system": ("system,unit,value\n ,q,1\n", r"t\.csv:2: the system is missing"),
    "unit twice": ("unit,A\nq,1\nq,1\n", "t.csv:3: unit q appears twice for system A .*t.csv:2"),
    "pair twice": ("system,unit,value\nA,q,1\nA,q,\n", "t.csv:3: unit q appears twice.*t.csv:2"),
    "two measures": ("system,unit,measure,value\nA,q,AP,1\nA,q,RR,1\n", "2 measures .AP, RR.: ch"),
    "no unit column": ("a,b,c,d,e,f\n1,2,3,4,5,6\n", r"found a, b, c, d, e, f\): name it unit"),
    "no measure": ("system,unit,measure,value\nA,q,,1\n", r"t\.csv:2: the measure is missing"),
    "only means": ("run,query,AP\nA,all,1\n", "only means"),
    "two columns of ids": ("unit,fold,A\nq,1,0.5\n", "column fold looks like ids"),
    "only units": ("unit\nq\n", "no columns of scores"),
    "only a header": ("unit,A\n", "no rows of scores"),
    "empty column": ("unit,A,B\nq,1,\n", "system B has no scores"),
}


def test_wrong_tables_are_refused_in_words(write):
    for name, (content, message) in REFUSED_FILES.items():
        said = refusal(read_scores, write("t.csv", content))
        assert re.search(message, said), (name, said)


def test_an_empty_value_means_the_same_in_both_forms(write):
    wide = read_scores(write("t.csv", "unit,A,B\nq1,0.1,0.2\nq2,,0.5\nq3,,\nq4,1,1\n"))
    rows = ["A,q1,0.1", "B,q1,0.2", "A,q2,", "B,q2,0.5", "A,q3,", "B,q3,", "A,q4,1", "B,q4,1"]
    long = read_scores(write("t.csv", "\n".join(["system,unit,value", *rows])))
    for scores in (wide, long):
        assert scores.units == ("q1", "q4")
        assert scores.dropped == ("q2", "q3")
    assert wide.data == long.data


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"unit": [1, 2, 3], "A": [0.1, 0.3, None], "B": [0.2, 0.5, 1.0]})
    frame.write_parquet(path)
    scores = read_scores(path)
    assert scores.values.tolist() == EXPECTED
    assert (scores.units, scores.dropped) == (("1", "2"), ("3",))
    for values, message in (
        ([0.1, float("nan")], "row 2: system A: nan is not a finite number"),
        ([True, False], "row 1: system A: True is not a number"),
        ([[1.0], [2.0]], "no columns of scores, only unit"),
    ):
        pl.DataFrame({"unit": ["a", "b"], "A": values}).write_parquet(path)
        assert message in refusal(read_scores, path)


SCORES = st.floats(-1e99, 1e99).filter(lambda score: score == 0 or abs(score) > 1e-80)


@given(st.lists(st.lists(SCORES, min_size=2, max_size=2), min_size=1, max_size=9))
def test_every_bit_comes_back(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "bits.csv"
    lines = [f"u{at};{a!r};{b!r}" for at, (a, b) in enumerate(rows)]
    path.write_text("\n".join(["unit;A;B", *lines]))
    assert read_scores(path).values.tolist() == rows


STACKED = {
    "long": "run,query_id,measure,value\nA,q1,AP,0.1\nA,q1,RR,1\nA,q2,AP,0.3\nA,q2,RR,0\n"
    "B,q1,AP,0.2\nB,q1,RR,0.5\nB,q2,AP,0.5\nB,q2,RR,0.25\n",
    "PyTerrier": "name,qid,measure,value\nA,q1,AP,0.1\nB,q1,AP,0.2\nA,q2,AP,0.3\nB,q2,AP,0.5\n"
    "A,q1,RR,1\nB,q1,RR,0.5\nA,q2,RR,0\nB,q2,RR,0.25\n",
    "a column per measure": "run\tquery\tAP\tRR\nA\tq1\t0.1\t1\nA\tq2\t0.3\t0\nA\tall\t0.2\t0.5\n"
    "B\tq1\t0.2\t0.5\nB\tq2\t0.5\t0.25\nB\tall\t0.35\tundefined\n",
}


def test_one_of_several_measures_is_read(write):
    for name, content in STACKED.items():
        path = write("t.csv", content)
        scores = read_scores(path, "ap")
        columns = ("AP", ("A", "B"), ("q1", "q2"))
        assert (scores.measure, scores.systems, scores.units) == columns, name
        assert scores.values.tolist() == EXPECTED
        assert read_scores(path, "RR").values.tolist() == [[1.0, 0.5], [0.0, 0.25]]
        assert "has scores in 2 measures (AP, RR): choose one" in refusal(read_scores, path)
        assert "no scores in nDCG; it has AP, RR" in refusal(read_scores, path, "nDCG")
    # Names of runs may be numbers.
    table = "run,query,AP\n1,q1,0.1\n1,q2,0.3\n2,q1,0.2\n2,q2,0.5\n"
    scores = read_scores(write("t.csv", table))
    assert (scores.systems, scores.measure) == (("1", "2"), "AP")
    assert scores.values.tolist() == EXPECTED


def test_systems_and_units_can_be_named(write):
    for content in (
        "number,other,A,B\n7,1,0.1,0.2\n8,2,0.3,0.5\n9,3,1,1\n",
        "system,number,value\nA,7,0.1\nB,7,0.2\nC,7,0.2\nA,8,0.3\nB,8,0.5\nA,9,1\nB,9,1\n",
    ):
        path = write("t.csv", content)
        scores = read_scores(path, systems=["B", "A"], units="number")
        assert (scores.systems, scores.units) == (("B", "A"), ("7", "8", "9"))
        assert scores.values[:2, ::-1].tolist() == EXPECTED
        said = refusal(read_scores, path, systems=["A", "D"], units="number")
        assert "no system 'D'; found" in said
        assert "no column 'nowhere'; found" in refusal(read_scores, path, units="nowhere")


# Frames and mappings


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_columns_of_a_table_are_ids_or_systems(frame):
    for name in ("qid", "query_id", "topic", "unit", "query", "q_id", "topic_id", "fold", "QID"):
        scores = Scores.of(frame({"A": A, name: [7, 8, 9], "B": B}), "AP")
        assert (scores.systems, scores.units) == (("A", "B"), ("7", "8", "9")), name
        assert (scores.measure, scores.values.tolist()) == ("AP", BOTH)
    assert Scores.of(frame({"A": A, "B": B})).units == ("0", "1", "2")
    assert Scores.of(frame({"A": [1, 0, 1], "B": [2, 2, 0]})).systems == ("A", "B")
    successes = Scores.of(frame({"A": [True, False, True], "B": [False, False, True]}))
    assert successes.values.tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    gap = Scores.of(frame({"qid": ["x", "y", "z"], "A": [0.1, None, 0.8], "B": B}))
    assert (gap.units, gap.dropped) == (("x", "z"), ("y",))
    table = frame({"number": [3, 1, 2], "A": A, "B": B})
    if frame is dict:  # who writes a dictionary has named the systems
        assert Scores.of(table).systems == ("number", "A", "B")
        return
    # Integers that all differ are taken for ids.
    said = refusal(Scores.of, table)
    assert re.search("column number looks like ids .*different integer in every row", said)
    assert Scores.of(table, systems=["A", "B"]).systems == ("A", "B")
    assert Scores.of(table, units="number").units == ("3", "1", "2")
    counts = frame({"qid": ["a", "b", "c"], "A": [120, 80, 95], "B": [90, 70, 99]})
    assert Scores.of(counts, systems=["B", "A"]).values.tolist() == [[90, 120], [70, 80], [99, 95]]
    texts = frame({"qid": [7, 8, 9], "query": ["who", "what", "why"], "A": A, "B": B})
    assert (Scores.of(texts).units, Scores.of(texts).systems) == (("7", "8", "9"), ("A", "B"))


def test_columns_have_ids_in_pandas_and_are_lists_of_any_kind():
    frame = pd.DataFrame({"A": A, "B": B}, index=["x", "y", "z"])
    assert Scores.of(frame).units == ("x", "y", "z")
    named = pd.DataFrame({"qid": [7, 8, 9], "A": A, "B": B}).set_index("qid")
    assert (Scores.of(named).units, Scores.of(named).systems) == (("7", "8", "9"), ("A", "B"))
    series = [pd.Series(values, ["x", "y", "z"]) for values in ([0.1, np.nan, 0.8], B)]
    assert Scores.of(dict(zip("AB", series, strict=True))).units == ("x", "z")
    for several in (tuple, np.array, pl.Series):
        scores = Scores.of({"unit": ["x", "y", "z"], "A": several(A), "B": several(B)})
        assert (scores.units, scores.values.tolist()) == (("x", "y", "z"), BOTH)
    several = {"A": {1: 0.1}, "B": {1: 0.2}, "C": {1: 0.3}}
    assert Scores.of(several, systems=["C", "A"]).systems == ("C", "A")


def test_the_frame_of_an_evaluation_comes_back():
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    runs = {"x": {"q1": {"b": 2.0, "a": 1.0}}, "y": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}}
    result = evaluate(qrels, runs, ["RR", "P@1"])
    scores = Scores.of(result.to_frame(), "RR")
    assert (scores.measure, scores.systems) == ("RR", ("x", "y"))
    assert scores.values.tolist() == result.scores("RR").values.tolist() == [[0.5, 1], [0, 1]]
    said = refusal(Scores.of, result.to_frame())
    assert "scores in 2 measures (RR, P@1): choose one (measure=" in said


FRAME = pd.DataFrame({"qid": [7, 8, 9], "A": A, "B": B})
REFUSED_VALUES = {
    "a dictionary of series": (dict(FRAME), "qid looks like unit ids, not like a system: give the"),
    "other ids": (FRAME.rename(columns={"qid": "no"}).astype(str), "no column of unit ids"),
    "two columns of ids": (FRAME.assign(topic=[1, 1, 2]), "topic looks like ids .*, but qid has"),
    "text among scores": (FRAME.assign(A=["x", "y", "z"]), "row 1: system A: 'x' is not a number"),
    "no rows": (pd.DataFrame({"A": [], "B": []}), "has no rows of scores"),
    "nothing": ({}, "has no rows of scores"),
    "lengths": ({"A": A, "B": B[:2]}, "B has 2 values, others have 3"),
    "two kinds": ({"A": A, "B": {1: 0.5}}, "B has an object of type dict, not a list of scores"),
    "a lazy frame": (pl.LazyFrame({"A": A}), "type LazyFrame is not a table of scores: expected"),
    "a path": ("scores.csv", "scores.csv: no such file"),
    "none": (None, "None is not a table of scores"),
    "a unit twice": ({"A": {1: 0.1, "1": 0.2}}, "unit 1 appears twice for system A"),
    "an empty system": ({"A": {1: 0.1}, "B": {}}, "system B has no scores"),
    "no unit in common": ({"A": {1: 0.1}, "B": {2: 0.2}}, "no unit in common"),
    "text": ({"A": {1: "x"}}, "not a number"),
}
OPTIONS = {
    "systems='A': expected a list": {"systems": "A"},
    "no system 'C'; found qid, A, B": {"systems": ["A", "C"]},
    "no column 'topic'; found qid, A, B": {"units": "topic"},
}


def test_what_is_no_table_is_refused_in_words():
    for name, (table, message) in REFUSED_VALUES.items():
        said = refusal(Scores.of, table)
        assert re.search(message, said), (name, said)
    for message, options in OPTIONS.items():
        assert message in refusal(Scores.of, FRAME, **options)
