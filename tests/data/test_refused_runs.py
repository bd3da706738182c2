"""Runs and judgements that are refused: what, where (file and line), what was expected."""

import re

import pandas as pd
import polars as pl

from heldout import Qrels, Run, read_qrels, read_run
from refusals import refusal

LINE = "q1 Q0 a 1 2.5 tag\n"
CSV = "query_id,doc_id,score\n"
TSV = "query-id\tcorpus-id\tscore\n" + "".join(f"q{n}\td{n}\t1\n" for n in range(3))
SIX = "expected 6: query Q0 document rank score tag"


RUNS = {
    # TREC lines
    "too few fields": (LINE + "\nq1 Q0 b\n", rf":3: 3 fields, {SIX}$"),
    "several": ("bad\n" * 3 + LINE + "q Q0 d 1 x t\n" * 12, r":1: 1 fields.*\(and 14 more bad"),
    "nothing": ("# only\n\n \t \n", rf" has no rows: expected lines of {SIX[9:]}"),
    "latin 1": (LINE.encode() + b"q1 Q0 \xe9 2 1 t\n", ":2: byte 0xe9 is not UTF-8"),
    "a control character": (LINE + "q1 Q0 \x1bb 2 1 t\n", r":2: not a text file \(byte 0x1b\)"),
    "old line ends": (LINE + "q Q0 c 1 1 t\rq Q0 d 2 0 t\r", ":2: a carriage return alone ends"),
    "twice": (f"# note\n{LINE}q2 Q0 a 1 1 t\nq1 Q0 a 9 0 t\n", ":4: document a .*first in .*:2"),
    "judgements": ("q1 0 a 1\nq1 0 b 0\n", ":1: 4 fields, expected 6.* arguments swapped"),
    # tables
    "no score": ("query_id,doc_id\nq,d\n", r": no column of scores \(found query_id, doc_id\)"),
    "no header": ("q1,d1,0.5\nq1,d2,0.4\n", ":1: 1 fields, .* A table needs a header"),
    "no number": (CSV + "q,a,1\nq,b,high\n", ":3: 'high' is not a number"),
    "below comments": (f"# one\n# two\n{CSV}q,a,1\nq,b,x\n", ":5: 'x' is not a number"),
    "empty id": (CSV + "q,a,1\nq,,1\n", ":3: the document id is missing"),
    "short row": (CSV + "q,a\n", ":2: 2 cells, but the header has 3"),
    "open quote": (CSV + 'q,"a,1\nq,b,2\n', ":2: a quotation mark .* never closed"),
    "text behind a quote": (f'# mine\n{CSV}q,"a"b,1\n', ':3: .* write "" for a quotation mark'),
    "nan": (CSV + "q,a,nan\n", ":2: 'nan' is not a finite number"),
    "header only": (CSV, " has no rows"),
    "row twice": (CSV + "q,a,1\nq,a,2\n", ":3: document a appears twice for query q .*:2"),
    "column twice": ("query_id,doc_id,score,Score\nq,a,1,2\n", ": two columns .* 3 and 4"),
    "zero byte": (CSV + "q,a\0,1\n", ":2: not a text file"),
    # JSON
    "bad json": ('{"q": {"a": 1},\n "r"}', ":2: not JSON"),
    "json of other things": ('{"q": 3}', r": no column of query ids \(found q\)"),
    "json with a list": ('{"q": {"a": 1},\n\n"r": [1]}', ": query 'r' has list, expected an"),
    "json with a truth": ('{"q": {"a": true}}', ": .*True is not a number"),
    "json with null": ('{"q": {"a": null}}', ": .* document 'a': the number is missing"),
    "json with nan": ('{"q": {"b": 1}, "r": {"b": NaN}}', ": query 'r', document 'b': nan is not"),
    "json with many digits": ('{"q": {"a": 1' + "0" * 400 + "}}", ": .*not a finite number"),
    "json too deep": ('{"a":' * 100_000, ".*nested too deep"),
    "a query twice": ('{"q": {"a": 1}, "q": {"b": 2}}', ": the name 'q' appears twice"),
    "half a character": ('{"q": {"\\ud800": 1}}', ".*not valid Unicode"),
    "json in latin 1": ('{"q":\n {"é": 1}}'.encode("latin1"), ":2: byte 0xe9 is not UTF-8"),
    # Parquet
    "parquet cut short": (b"PAR1" + bytes(50), ": the Parquet file cannot be read"),
}


def test_a_run_is_refused(write):
    for name, (content, message) in RUNS.items():
        said = refusal(read_run, write("mine.txt", content))
        assert re.search(rf"mine\.txt{message}", said), (name, said)


QRELS = {
    "five fields": ("q1 0 b 1\nq1 0 a 1 more\n", ":2: 5 fields, expected 4: query iteration"),
    "a fraction": ("q 0 a 1\nq 0 b 1.5\n", r":2: grade '1\.5' is not an integer"),
    "too large": ("q 0 a 1\nq 0 b 99999999999\n", ":2: grade '99999999999' is too large"),
    "a fraction in a table": (TSV + "q\tb\t1.5\n", r":5: grade 1\.5 is not an integer"),
    "too large in json": ('{"q": {"a": 1, "b": 1e12}}', ": .*'b': .*is too large"),
    "two grades": ("# x\nq 0 a 1\nq 0 a 2\n", ":3: document a .* grades 1 and 2 .*:2"),
    "two grades in a table": (TSV + "q1\td1\t2\n", ":5: document d1 appears twice for query q1"),
    "no column": ("qid,document,points\nq,d,1\n", r": no column of grades \(found qid, document"),
    "a run": (LINE * 2, ":1: 6 fields, expected 4.* arguments swapped"),
    "a run in a table": (CSV + "q,a,1.5\nq,b,0.25\n", ":2: grade 1.5 is not an integer: .*swapped"),
}


def test_judgements_are_refused(write):
    for name, (content, message) in QRELS.items():
        said = refusal(read_qrels, write("mine.txt", content))
        assert re.search(rf"mine\.txt{message}", said), (name, said)


NOT_NUMBERS = ["abc", "1,5", "1_000", "+-5", "0x", "1e", "e5", ".", "-", "٣", "1.2.3", "True"]
NOT_FINITE = ["nan", "-nan", "inf", "+infinity", "-1e999"]


def test_a_score_that_is_no_number_is_named_with_its_line(write):
    for score in [*NOT_NUMBERS, *NOT_FINITE]:
        path = write("mine.txt", f"{LINE}# note\nq1 Q0 b 2 {score} tag\n")
        kind = "finite number" if score in NOT_FINITE else "number"
        assert refusal(read_run, path) == f"{path}:3: score {score!r} is not a {kind}"


def frame_with_gap(library, **columns):
    return library({"qid": ["q", "q"], "docno": ["a", "b"], "score": [1.0, 2.0]} | columns)


VALUES = {
    "no column": (pl.DataFrame({"qid": ["q"], "text": ["a"], "score": [1]}), "no column of doc"),
    "no document": (frame_with_gap(pl.DataFrame, docno=["a", None]), "row 2: the document id is"),
    "pandas.NA": (frame_with_gap(pd.DataFrame, qid=["q", pd.NA]), "row 2: the query id is missing"),
    "blank query": (frame_with_gap(pl.DataFrame, qid=[" ", "q"]), "row 1: the query id is missing"),
    "empty query": ({"": {"a": 1.0}}, "query '', document 'a': the query id is missing"),
    "blank document": ({"q": {"a": 2.0, " ": 1.0}}, "query 'q', document ' ': the document id"),
    "lengths": ({"query": ["q"], "doc": ["a", "b"], "score": [1, 2]}, "of different lengths"),
    "nothing": ({}, "has no rows"),
    "text": ({"q": {"a": "high"}}, "'high' is not a number"),
    "nan": ({"q": {"a": 1.0, "b": float("nan")}}, "document 'b': nan is not a finite number"),
    "none": ({"q": {"a": None}}, "document 'a': the number is missing"),
    "a number": (5, r"expected .*Q?.*, \{query: \{document: .*got an object of type int"),
    "a zero byte": ({"q": {"a\0b": 1.0}}, "zero byte"),
}


def test_python_values_are_refused(tmp_path):
    for kind, maker in (("run", Run), ("qrels", Qrels)):
        for name, (given, message) in VALUES.items():  # a column of scores is also one of grades
            said = refusal(maker.of, given)
            assert re.search(rf"^{kind}.*{message}", said), (name, said)
    frame_with_gap(pl.DataFrame, docno=["a", None]).write_parquet(tmp_path / "mine.txt")
    said = refusal(read_run, tmp_path / "mine.txt")
    assert "mine.txt, row 2: the document id is missing" in said


def test_grades_and_scores_that_do_not_fit_are_refused():
    assert "too large" in refusal(Qrels.of, {"q": {"a": 10**300}})
    single = refusal(Run.of, {"q": {"a": 1e300}}, single_precision=True)
    assert "too large for a 32-bit float" in single
    assert "grade 1.5 is not an integer" in refusal(Qrels.of, {"q": {"a": 1.5}})


def test_ids_that_a_trec_file_cannot_hold_are_not_written(tmp_path):
    for ranked in ({"q": {"a b": 1.0}}, {"#q": {"a": 1.0}}):
        for maker in (Run, Qrels):
            what = maker.of(ranked)
            said = refusal(what.write, tmp_path / "x.txt")
            assert re.search(r"is not allowed in a TREC file.*\.json", said)
    assert not list(tmp_path.iterdir())
