"""What is refused, by each reader: what, where (file and line), what was expected."""

import re

import pandas as pd
import polars as pl
import pytest

from heldout import Qrels, Run, read_class_predictions, read_qrels, read_run, read_scores
from heldout.data import tables
from heldout.data.document_files import json_records, table_records, trec_records
from heldout.data.documents import FileDocuments
from heldout.data.files import Reading
from heldout.data.queries import read_queries
from heldout.data.segments import read_hypotheses, read_references
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
    # tables
    "no score": ("query_id,doc_id\nq,d\n", r": no column of scores \(found query_id, doc_id\)"),
    "no header": ("q1,d1,0.5\nq1,d2,0.4\n", ":1: 1 fields, .* A table needs a header"),
    "no number": (CSV + "q,a,1\nq,b,high\n", ":3: 'high' is not a number"),
    "empty id": (CSV + "q,a,1\nq,,1\n", ":3: the document id is missing"),
    "open quote": (CSV + 'q,"a,1\nq,b,2\n', ":2: a quotation mark .* never closed"),
    "text behind a quote": (f'# mine\n{CSV}q,"a"b,1\n', ':3: .* write "" for a quotation mark'),
    "nan": (CSV + "q,a,nan\n", ":2: 'nan' is not a finite number"),
    "header only": (CSV, " has no rows"),
    "row twice": (CSV + "q,a,1\nq,a,2\n", ":3: document a appears twice for query q .*:2"),
    "column twice": ("query_id,doc_id,score,Score\nq,a,1,2\n", ": two columns .* 3 and 4"),
    # JSON
    "json of other things": ('{"q": 3}', r": no column of query ids \(found q\)"),
    "json with a truth": ('{"q": {"a": true}}', ": .*True is not a number"),
    "json with many digits": ('{"q": {"a": 1' + "0" * 400 + "}}", ": .*not a finite number"),
    "json too deep": ('{"a":' * 100_000, ".*nested too deep"),
    "a query twice": ('{"q": {"a": 1}, "q": {"b": 2}}', ": the name 'q' appears twice"),
    # Parquet
    "parquet cut short": (b"PAR1" + bytes(50), ": the Parquet file cannot be read"),
}


QRELS = {
    "five fields": ("q1 0 b 1\nq1 0 a 1 more\n", ":2: 5 fields, expected 4: query iteration"),
    "a fraction": ("q 0 a 1\nq 0 b 1.5\n", r":2: grade '1\.5' is not an integer"),
    "too large": ("q 0 a 1\nq 0 b 99999999999\n", ":2: grade '99999999999' is too large"),
    "a fraction in a table": (TSV + "q\tb\t1.5\n", r":5: grade 1\.5 is not an integer"),
    "two grades": ("# x\nq 0 a 1\nq 0 a 2\n", ":3: document a .* grades 1 and 2 .*:2"),
    "no column": ("qid,document,points\nq,d,1\n", r": no column of grades \(found qid, document"),
    "a run": (LINE * 2, ":1: 6 fields, expected 4.* arguments swapped"),
    "a run in a table": (CSV + "q,a,1.5\nq,b,0.25\n", ":2: grade 1.5 is not an integer: .*swapped"),
}


SCORES = {
    "column twice": ("unit,A,B,A\nq,1,2,3\n", r":1: .* named 'A' \(columns 2 and 4\)"),
    "nameless column": (",A,B\nq,1,2\n", r":1: column 1 has no name.*index=False"),
    "decimal comma": ("unit;A;B\nq;0,5;0,6\n", ":2: system A: '0,5' has a comma: use a"),
    "unquoted decimal comma": ("unit,A,B\nq,0,5,0,6\n", r":2: 5 cells.*decimal comma\?"),
    "NaN": ("unit,A\n\nq,NaN\n", ":3: system A: 'NaN' is not a finite number"),
    "no system": ("system,unit,value\n ,q,1\n", ":2: the system is missing"),
    "unit twice": ("unit,A\nq,1\nq,1\n", ":3: unit q appears twice for system A .*:2"),
    "pair twice": ("system,unit,value\nA,q,1\nA,q,\n", ":3: unit q appears twice.*:2"),
    "no unit column": ("a,b,c,d,e,f\n1,2,3,4,5,6\n", r".*found a, b, c, d, e, f\): name it unit"),
    "no measure": ("system,unit,measure,value\nA,q,,1\n", ":2: the measure is missing"),
    "only means": ("run,query,AP\nA,all,1\n", ".*only means"),
    "two columns of ids": ("unit,fold,A\nq,1,0.5\n", ".*column fold looks like ids"),
    "only a header": ("unit,A\n", ".*no rows of scores"),
    "empty column": ("unit,A,B\nq,1,\n", ".*system B has no scores"),
}
HEAD = "unit,truth,prediction"
PREDICTIONS = {
    "unit twice": (f"{HEAD}\n1,x,x\n1,x,x\n", r":3: mine has unit 1 twice \(first in .*:2\)"),
    "no prediction": (f"{HEAD}\n1,x,\n", ":2: the prediction is missing"),
    "no column of units": ("truth,prediction\nx,x\n", ".*no column of unit ids"),
    "no truth": ("unit,prediction\n1,x\n", ".*no column of the truth"),
    "no column": ("unit,truth\n1,x\n", ".*no column of predictions, or scores"),
    "only a header": (HEAD, ".*no predictions below the header"),
    "negative": ("unit,truth,prob_x,prob_y\n1,x,1.2,-.2\n", r":2: 1\.2, -0\.2 are no probabi"),
    "sum": ("unit,truth,prob_x,prob_y\n1,x,.5,.4\n", r":2: 0\.5, 0\.4 .* add up to 0\.9, not 1"),
    "nan": ("unit,truth,prob_x,prob_y\n1,x,nan,.4\n", ":2: prob_x: 'nan' is not a finite num"),
    "a mix": ("unit,truth,prob_x,score_y\n1,x,.5,.5\n", ".*mix scores and probabilities"),
    "no score": ("unit,truth,score_x,score_y\n1,x,5,4\n2,z,3,1\n", ".*x, y, but .* are x, z"),
    "three classes": ("unit,truth,score\n1,x,.5\n2,y,.5\n3,z,.1\n", r".*two classes, found 3 \(x"),
    "one class": ("unit,truth,score\n1,x,.5\n", r".*found 1 \(x\).* name the positive class"),
    "negative weight": (f"{HEAD},weight\n1,x,x,-1\n", ":2: a weight is negative"),
    "no weight": (f"{HEAD},weight\n1,x,x,0\n", ".*all weights are 0"),
    "a list": ('{"unit": 1, "truth": "x", "prediction": ["x"]}\n', ":1: 'prediction' is a list"),
}
HYPOTHESES = {
    "id twice": ('{"id": 1, "text": "x"}\n{"id": 1, "text": "y"}\n', ":2: segment 1 .*line 1"),
    "some ids": ('{"id": 1, "text": "y"}\n\n{"text": "x"}\n', ":3: some segments have an id, oth"),
    "no text": ('{"id": 1}\n', ":1: no hypothesis: expected one of hypothesis, .* found id"),
    "no json": ('{"text": "x"}\n{"text": \n', ":2: not JSON"),
    "a number": ('{"text": 3}\n', ":1: 'text' is 3, expected text"),
    "no token": ('{"logprobs": [-1, null]}\n', ":1: 'logprobs': token 2 has None"),
    "above 0": ('{"logprobs": [0.5]}\n', ":1: 'logprobs': token 1 has 0.5"),
    "no tokens": ('{"logprobs": []}\n', ":1: 'logprobs': .* expected a list"),
    "some": ('{"logprobs": [-1]}\n{"text": "x"}\n', ":2: some segments have log-probabilities, o"),
}
REFERENCES = {
    "none": ('{"id": 1, "references": []}\n', r":1: 'references' is \[\], expected text"),
    "no column": ('{"id": 1, "text": "a"}\n', ":1: no references: expected one of references"),
}
FINE = '{"_id": "a", "text": ""}\n'
DOCUMENTS = {
    "no id": (FINE + '{"text": "x"}', ":2: no id: expected one of _id, id"),
    "no text": (FINE + '{"_id": "x", "txt": "y"}', ":2: no text: expected .*found _id, txt"),
    "a truth": (FINE + '{"_id": true, "text": ""}', ":2: the id True is bool"),
    "nan": (FINE + '{"_id": NaN, "text": ""}', ":2: the id nan is float"),
    "blank": (FINE + '{"_id": " ", "text": "y"}', ":2: the document has an empty id"),
    "twice": (FINE * 2, r":2: the document id 'a' appears twice \(first at .*:1"),
    "half a character": (FINE + '{"_id": "\\ud800", "text": ""}', ":2: .*not valid Unicode"),
    "zero byte": (FINE + '{"_id": "a\\u0000", "text": ""}', ":2: the id has a zero byte"),
    "latin 1": (FINE.encode() + b'{"_id": "\xe9"}', ":2: byte 0xe9 .*encoding='latin-1'"),
}
TABLES = {
    "long row": ("docno,text\na,b,c\n", r":2: 3 cells, expected 2 \(docno, text\)"),
    "open quote": ('docno,text\na,b\nc,"d\n', ":3: a quotation mark .* never closed"),
    "no text": ("docno,words\na,b\n", ":2: no text: expected one of text.*found docno, words"),
    "only a header": ("docno,text\n", ".*no documents found"),
    # A cell may hold lines, and be long.
    "twice": (f'docno,text\na,"1\n2"\nb,{"x" * 300_000}\nb,again\n', ":5: .*first at .*:4"),
}
MARKUP = {
    "open": ("\n<DOC>\n<DOCNO>1</DOCNO>\n", ":2: the document that begins here has no </DOC>"),
    "two": ("<DOC><DOCNO>1</DOCNO>\n<DOC>\n</DOC>", ":1: </DOC> is missing: another <DOC> begins"),
    "no id": ("<DOC>\ntext</DOC>", ":1: the document has no <DOCNO>"),
    "empty id": ("<DOC><DOCNO> </DOCNO></DOC>", ":1: the document has an empty id"),
    "latin 1": (b"<DOC><DOCNO>1</DOCNO>a\nb\n\xe9</DOC>", ":3: byte 0xe9 is not UTF-8"),
}
QUERIES = {
    "open": ("<top>\n<num> 1\n<title> a\n", ":1: the topic that begins here is not closed"),
    "two": ("<top><num>1<title>a\n<top><num>2<title>b</top>", ":1: the topic .* is not closed"),
    "no number": ("<top>\n<title> a\n</top>", ":1: the topic has no number"),
    "twice": ("<top><num>1<title>a</top>\n" * 2, ":2: the query id '1' appears twice"),
    "no text": ('{"_id": "1", "words": "a"}', ":1: no text"),
    "empty id": ("qid,text\n1,a\n,b\n", ":3: the query has an empty id"),
    "no ids": ("a query\n", ".*the queries have no ids"),
}


def documents(records):
    return lambda path: len(FileDocuments([str(path)], Reading(), records))


@pytest.mark.parametrize(
    ("read", "table"),
    [
        (read_run, RUNS),
        (read_qrels, QRELS),
        (read_scores, SCORES),
        (read_class_predictions, PREDICTIONS),
        (read_hypotheses, HYPOTHESES),
        (read_references, REFERENCES),
        (documents(json_records), DOCUMENTS),
        (documents(table_records), TABLES),
        (documents(trec_records), MARKUP),
        (lambda path: read_queries(path, Reading()), QUERIES),
    ],
)
def test_each_fault_is_named_with_its_place(write, read, table, monkeypatch):
    for large in (tables.LARGE, 0):  # tables are read by lines, and by columns
        monkeypatch.setattr(tables, "LARGE", large)
        for name, (content, message) in table.items():
            said = refusal(read, write("mine.txt", content))
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
