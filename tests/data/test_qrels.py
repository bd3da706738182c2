"""Judgements: the forms they come in, repeated and clashing ones, and picking queries."""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import InputError, Qrels, evaluate, read_qrels
from heldout.errors import FormatError

JUDGED = {"q1": {"b": 2, "a": 0}, "q2": {"c": -1}}
LONG = "http://example.org/" + "x" * 80

TEXTS = {
    "four columns": "q2 0 c -1\nq1 0 b 2\nq1 0 a 0\n",
    "three columns": "q2 c -1\nq1 b 2\nq1 a 0\n",
    "tabs": "q2\t0\tc\t-1\nq1\t0\tb\t2\nq1\t0\ta\t0\n",
    "comments": "# from the pool\nq2 0 c -1\n\nq1 0 b 2\nq1 0 a 0\n",
    "interleaved": "q1 0 b 2\nq2 0 c -1\nq1 0 a 0\n",
    "crlf": "q2 0 c -1\r\nq1 0 b 2\r\nq1 0 a 0\r\n",
    "whole numbers with a dot": "q2 0 c -1.0\nq1 0 b 2.\nq1 0 a 0.0\n",
    "BEIR": "query-id\tcorpus-id\tscore\nq2\tc\t-1\nq1\tb\t2\nq1\ta\t0\n",
    "csv": "query_id,doc_id,relevance\nq2,c,-1\nq1,b,2\nq1,a,0\n",
    "csv with more columns": "iteration,qid,docno,label\n0,q2,c,-1\n0,q1,b,2.0\n0,q1,a,0\n",
    "json": json.dumps(JUDGED),
}


def saved(folder, text, name="qrels"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_the_same_judgements_in_any_form(tmp_path, text):
    assert read_qrels(saved(tmp_path, text)).to_dict() == JUDGED
    assert read_qrels(saved(tmp_path, gzip.compress(text.encode()))).to_dict() == JUDGED


@pytest.mark.parametrize("ending", [".txt", ".csv", ".tsv", ".json", ".parquet"])
def test_what_is_written_is_read_back(tmp_path, ending):
    path = tmp_path / f"qrels{ending}"
    Qrels.of(JUDGED).write(path)
    assert Qrels.of(path).to_dict() == JUDGED


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    "names", [("qid", "docno", "label"), ("query_id", "doc_id", "relevance")]
)  # PyTerrier, ir_measures
def test_frames_are_taken_with_the_column_names_of_the_field(frame, names):
    columns = (["q2", "q1", "q1"], ["c", "b", "a"], [-1, 2, 0])
    qrels = Qrels.of(frame(dict(zip(names, columns, strict=True))))
    assert qrels.to_dict() == JUDGED
    assert qrels.to_frame().rows() == [("q1", "b", 2), ("q1", "a", 0), ("q2", "c", -1)]


def test_queries_stand_in_bytewise_order():
    qrels = Qrels.of({name: {"a": 1} for name in ["q9", "q10", "Q1", "é", "z"]})
    assert qrels.queries == ("Q1", "q10", "q9", "z", "é")


def test_negative_grades_are_kept():
    qrels = Qrels.of({"q": {"a": -2, "b": -1, "c": 0}})
    assert qrels.grades.tolist() == [-2, -1, 0]


@pytest.mark.parametrize("doc", ["a", LONG])
def test_an_equal_judgement_again_counts_once(tmp_path, doc):
    text = f"q 0 {doc} 1\nq 0 b 0\nr 0 {doc} 1\nq 0 {doc} 1\nq 0 {doc} 1\n"
    qrels = read_qrels(saved(tmp_path, text))
    assert qrels.to_dict() == {"q": {doc: 1, "b": 0}, "r": {doc: 1}}
    assert len(qrels) == 3
    assert qrels.offsets.tolist() == [0, 2, 3]
    assert qrels.repeated == 2


def test_judgements_that_all_differ_are_not_called_repeated():
    assert Qrels.of(JUDGED).repeated == 0


def test_files_are_joined(tmp_path):
    one = saved(tmp_path, "q2 0 c -1\nq1 0 b 2\n", "one")
    two = saved(tmp_path, '{"q1": {"a": 0, "b": 2}}', "two")
    qrels = read_qrels(one, two)
    assert qrels.to_dict() == JUDGED
    assert qrels.repeated == 1


def test_grades_that_clash_between_joined_files_are_refused(tmp_path):
    one, two = saved(tmp_path, "q 0 a 1\n", "one"), saved(tmp_path, "q 0 a 0\n", "two")
    with pytest.raises(FormatError, match="document a appears twice for query q"):
        read_qrels(one, two)


def test_select_keeps_the_judgements_of_some_queries():
    qrels = Qrels.of({"q3": {"a": 1}, "q1": {"b": 2, "c": 0}, "q2": {"d": 1}})
    assert qrels.select(["q3", "q1", "unknown", "q3"]).to_dict() == {
        "q1": {"b": 2, "c": 0},
        "q3": {"a": 1},
    }


def test_select_of_nothing_that_is_judged_is_refused_with_some_queries():
    with pytest.raises(
        InputError, match="none of the given queries has judgements; judged queries are q1, q2"
    ):
        Qrels.of(JUDGED).select(["q7"])


def test_qrels_cannot_be_changed():
    qrels = Qrels.of(JUDGED)
    for array in (qrels.grades, qrels.offsets, qrels.keys, qrels.rows_by_key):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        qrels.docs.move(np.array([0]), np.array([1]))


# Two documents of which 40 bits of the hash, all that a key has, are the same.
TWINS = (":wmYyfdm", "eKwxn;z?")


def test_documents_that_share_a_key_are_kept_apart():
    one, two = TWINS
    qrels = Qrels.of({"q": {one: 1, two: 0, "other": 2}})
    assert len(set(qrels.keys.tolist())) == 2
    assert qrels.to_dict() == {"q": {one: 1, two: 0, "other": 2}}
    for top, value in ((one, 1.0), (two, 0.0)):
        assert evaluate(qrels, {"q": {top: 1.0}}, "P@1").value(0, 0) == value


ROWS = st.lists(
    st.tuples(st.sampled_from(["q2", "q1", "q10"]), st.sampled_from("abcde")), min_size=1
)


@given(ROWS)
def test_repeated_judgements_are_merged_wherever_they_stand(rows):
    # The grade follows from query and document, so that a repeated pair never clashes.
    grades = [len(query) + ord(doc) for query, doc in rows]
    queries, docs = zip(*rows, strict=True)
    qrels = Qrels.of({"query": queries, "doc": docs, "grade": grades})
    expected: dict[str, dict[str, int]] = {}
    for (query, doc), grade in zip(rows, grades, strict=True):
        expected.setdefault(query, {})[doc] = grade
    assert qrels.to_dict() == expected
    assert list(qrels.queries) == sorted(expected)
    assert qrels.repeated == len(rows) - len(set(rows))
