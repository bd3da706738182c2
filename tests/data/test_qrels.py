"""Judgements: the forms they come in, repeated and clashing ones, and picking queries."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import InputError, Qrels, evaluate, read_qrels

JUDGED = {"q1": {"b": 2, "a": 0}, "q2": {"c": -1}}
LONG = "http://example.org/" + "x" * 80

TEXTS = {
    "four columns": "q2 0 c -1\nq1 0 b 2\nq1 0 a 0\n",
    "interleaved": "# from the pool\r\nq1\t0\tb\t2\r\n\r\nq2 0 c -1\r\nq1 0 a 0\r\n",
    "whole numbers with a dot": "q2 0 c -1.0\nq1 0 b 2.\nq1 0 a 0.0\n",
    "BEIR": "query-id\tcorpus-id\tscore\nq2\tc\t-1\nq1\tb\t2\nq1\ta\t0\n",
    "csv": "query_id,doc_id,relevance\nq2,c,-1\nq1,b,2\nq1,a,0\n",
    "csv with more columns": "iteration,qid,docno,label\n0,q2,c,-1\n0,q1,b,2.0\n0,q1,a,0\n",
    "json": json.dumps(JUDGED),
}


def test_the_same_judgements_in_any_form(write, tmp_path):
    for form, text in TEXTS.items():
        assert read_qrels(write("qrels", text)).to_dict() == JUDGED, form
        assert read_qrels(write("qrels", gzip.compress(text.encode()))).to_dict() == JUDGED, form
    for ending in ("txt", "csv", "tsv", "json", "parquet"):
        path = tmp_path / f"qrels.{ending}"
        Qrels.of(JUDGED).write(path)
        assert Qrels.of(path).to_dict() == JUDGED, ending
    # Queries stand in bytewise order.
    qrels = Qrels.of({name: {"a": 1} for name in ["q9", "q10", "Q1", "é", "z"]})
    assert qrels.queries == ("Q1", "q10", "q9", "z", "é")


def test_files_are_joined(write):
    one = write("one", "q2 0 c -1\nq1 0 b 2\nq1 0 b 2\n")
    two = write("two", '{"q1": {"a": 0, "b": 2}}')
    qrels = read_qrels(one, two)
    assert qrels.to_dict() == JUDGED
    assert (qrels.repeated, Qrels.of(JUDGED).repeated) == (2, 0)
    with pytest.raises(InputError, match=r"one:2: .*b appears twice for query q1 .*grades 1 and"):
        read_qrels(write("two", "q1 0 b 1\n"), one)


def test_select_keeps_the_judgements_of_some_queries():
    qrels = Qrels.of({"q3": {"a": 1}, "q1": {"b": 2, "c": 0}, "q2": {"d": 1}})
    kept = {"q1": {"b": 2, "c": 0}, "q3": {"a": 1}}
    assert qrels.select(["q3", "q1", "unknown", "q3"]).to_dict() == kept
    with pytest.raises(InputError, match=r"none of the given .* judged queries are q1, q2, q3"):
        qrels.select(["q7"])


def test_grades_of_subtopics(write):
    path = write("qrels", "q 1 a 1\nq 2 a 2\nr x d 0\nq 2 b 1\nq 2 b 1\n")
    qrels = read_qrels(path, subtopics=True)
    assert qrels.to_dict() == {"q": {"b": 1, "a": 2}, "r": {"d": 0}}
    assert qrels.repeated == 1
    rows = [("q", "b", 1, "2"), ("q", "a", 2, "2"), ("q", "a", 1, "1"), ("r", "d", 0, "x")]
    assert qrels.to_frame().rows() == rows
    assert qrels.select(["r"]).to_frame().rows() == rows[3:]
    assert Qrels.of(qrels.to_frame(), subtopics=True).fingerprint() == qrels.fingerprint()
    with pytest.raises(InputError, match=r"qrels:2: .*a appears twice .*grades 1 and 2"):
        read_qrels(path)
    with pytest.raises(InputError, match=r"qrels:2: .*and subtopic 1 with grades 1 and 2"):
        read_qrels(write("qrels", "q 1 a 1\nq 1 a 2\n"), subtopics=True)
    with pytest.raises(InputError, match="JSON has no subtopics"):
        read_qrels(write("qrels", TEXTS["json"]), subtopics=True)
    with pytest.raises(InputError, match="subtopics: some judgements have none"):
        Qrels.of({"q": {"a": 1}}, qrels.to_frame(), subtopics=True)


def test_documents_that_share_a_key_are_kept_apart():
    one, two = ":wmYyfdm", "eKwxn;z?"  # 40 bits of the hash, all that a key has, are the same
    qrels = Qrels.of({"q": {one: 1, two: 0, "other": 2}})
    assert len(set(qrels.keys.tolist())) == 2
    assert qrels.to_dict() == {"q": {one: 1, two: 0, "other": 2}}
    for top, value in ((one, 1.0), (two, 0.0)):
        assert evaluate(qrels, {"q": {top: 1.0}}, "P@1").value(0, 0) == value
    columns = {"query": ["q"] * 3, "doc": [one, two, one]}
    again = Qrels.of({**columns, "grade": [1, 0, 1]})
    assert (again.to_dict(), again.repeated) == ({"q": {one: 1, two: 0}}, 1)
    with pytest.raises(InputError, match="with grades 1 and 2"):
        Qrels.of({**columns, "grade": [1, 0, 2]})


ROWS = st.lists(
    st.tuples(st.sampled_from(["q2", "q1", "q10"]), st.sampled_from([*"abcde", LONG])), min_size=1
)


@given(ROWS)
def test_repeated_judgements_are_merged_wherever_they_stand(rows):
    # The grade follows from query and document, so that a repeated pair never clashes.
    expected: dict[str, dict[str, int]] = {}
    for query, doc in rows:
        expected.setdefault(query, {})[doc] = len(query) + ord(doc[-1])
    queries, docs = zip(*rows, strict=True)
    grades = [expected[query][doc] for query, doc in rows]
    qrels = Qrels.of({"query": queries, "doc": docs, "grade": grades})
    assert qrels.to_dict() == expected
    assert list(qrels.queries) == sorted(expected)
    assert len(qrels) == qrels.offsets[-1] == len(set(rows))
    assert qrels.repeated == len(rows) - len(set(rows))
