"""A run's order, its checks, and its ways in and out."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import InputError, Qrels, Run, read_run
from heldout.data.atomic import write_atomically
from heldout.data.ids import Ids
from heldout.data.run import BLOCK
from heldout.data.words import query_keys
from heldout.errors import FormatError
from refusals import refusal

QUERIES = ["q10", "q9", "q1"]
DOCS = [*"abcdef", "a" * 9, "a" * 9 + "b", "é", "z€"]
LONG = "http://example.org/" + "x" * 80

# Few scores, so that ties are the rule; one row for a pair of query and document.
ROWS = st.lists(
    st.tuples(
        st.sampled_from(QUERIES),
        st.sampled_from(DOCS),
        st.sampled_from([0.0, -0.0, 1.0, 1.5, -3.25, 1e-300]),
    ),
    min_size=1,
    max_size=30,
    unique_by=lambda row: row[:2],
)


def plain_order(rows, ties):
    """The same order by plain sorting: stable, the last key first."""
    ranked: dict[str, list[tuple[str, float]]] = {}
    for query, doc, score in rows:
        ranked.setdefault(query, []).append((doc, score))
    for docs in ranked.values():
        if ties != "input":
            docs.sort(key=lambda one: one[0].encode(), reverse=ties == "docid-desc")
        docs.sort(key=lambda one: -one[1])
    return ranked


def run_of(rows, **options):
    queries, docs, scores = zip(*rows, strict=True)
    return Run.of({"query": queries, "doc": docs, "score": scores}, **options)


@pytest.mark.parametrize("long", [False, True], ids=["short ids", "long ids"])
@pytest.mark.parametrize("ties", ["docid-desc", "docid-asc", "input"])
@given(rows=ROWS)
def test_order_is_that_of_a_plain_sort(ties, long, rows):
    rows = [*rows, ("q9", LONG, 1.0)] if long else rows
    run = run_of(rows, ties=ties)
    expected = plain_order(rows, ties)
    assert {query: list(docs.items()) for query, docs in run.to_dict().items()} == expected
    # Queries stand in the order of their first appearance, documents in that of the arrays.
    assert list(run.queries) == list(expected)
    assert run.docs.tolist() == [doc for docs in expected.values() for doc, _ in docs]


def test_ties_are_broken_by_bytes_not_by_letters_or_numbers():
    run = run_of([("q", doc, 1.0) for doc in ["d10", "d9", "D9", "é", "z"]])
    assert run.docs.tolist() == ["é", "z", "d9", "d10", "D9"]
    with pytest.raises(InputError, match="ties='random': expected one of docid-desc"):
        run_of([("q", "a", 1.0)], ties="random")


def test_single_precision_makes_scores_closer_than_it_a_tie():
    rows = [("q", "a", 1.00000001), ("q", "b", 1.0)]
    assert run_of(rows).docs.tolist() == ["a", "b"]
    single = run_of(rows, single_precision=True)
    assert single.docs.tolist() == ["b", "a"]
    assert single.scores.tolist() == [1.0, 1.0]
    apart = [("q", "a", 1.000001), ("q", "b", 1.0)]
    assert run_of(apart, single_precision=True).docs.tolist() == ["a", "b"]


def test_a_run_cannot_be_changed_and_changes_nothing_it_was_given():
    for docs in (["a", "b", "c"], ["a", LONG, "c"]):
        scores = np.array([1.0, 2.0, 3.0])
        run = Run.of({"query": ["q"] * 3, "doc": docs, "score": scores})
        assert scores.tolist() == [1.0, 2.0, 3.0]
        scores[0] = 7.0
        assert run.scores.tolist() == [3.0, 2.0, 1.0]
        qrels = Qrels.of({"query": ["q"] * 3, "doc": docs, "grade": [1, 2, 0]})
        for array in (run.scores, run.offsets, qrels.grades, qrels.offsets, qrels.keys):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        for ids in (run.docs, qrels.docs):
            with pytest.raises(ValueError, match="read-only"):
                ids.move(np.array([0]), np.array([1]))
        with pytest.raises(AttributeError):
            run.name = "other"


def test_a_document_twice_is_refused_by_query_and_document():
    for apart in (1, 5, 3 * BLOCK):
        for doc in ("twin", LONG):
            docs = [doc, *(f"d{number}" for number in range(apart)), doc]
            queries = ["before"] * 3 + ["q7"] * len(docs) + ["after"] * 3
            all_docs = ["x", "y", doc, *docs, "x", "y", doc]
            scores = np.arange(len(all_docs), 0, -1)
            with pytest.raises(FormatError, match=f"document {doc} appears twice for query q7"):
                Run.of({"query": queries, "doc": all_docs, "score": scores})


def test_other_rows_are_no_duplicates():
    count = 3 * BLOCK
    queries, docs = [f"q{row // 2}" for row in range(count)], ["a", "b"] * (count // 2)
    run = Run.of({"query": queries, "doc": docs, "score": [1.0] * count})
    assert len(run.queries) == count // 2
    a, b = ":wmYyfdm", "eKwxn;z?"  # with one key: 40 bits of their hashes are the same
    assert len(set(query_keys(Ids.of([a, b]).hashes(0, 2), np.zeros(2, np.int64)).tolist())) == 1
    assert run_of([("q", a, 2), ("q", b, 1)]).to_dict() == {"q": {a: 2.0, b: 1.0}}
    with pytest.raises(InputError, match="appears twice"):
        run_of([("q", a, 3), ("q", b, 2), ("q", a, 1)])


RANKED = {"q2": {"b": 2.5, "a": 1.0}, "q1": {"c": -1.0}}


ENDINGS = [".run", ".csv", ".tsv", ".json", ".parquet"]
FINITE = st.floats(allow_nan=False, allow_infinity=False)
ID = st.text(st.characters(codec="utf-8", categories=["L", "N", "S", "P"]), min_size=1, max_size=30)


@pytest.mark.parametrize("ending", ENDINGS)
@given(ranked=st.dictionaries(ID.filter(lambda name: name[0] not in "#{" ),
                              st.dictionaries(ID, FINITE, min_size=1, max_size=5),
                              min_size=1, max_size=4))  # fmt: skip
def test_what_is_written_is_read_back_to_the_last_bit(tmp_path_factory, ending, ranked):
    run = Run.of(ranked, "mine")
    path = tmp_path_factory.mktemp("written") / f"mine{ending}"
    run.write(path)
    run.write(path)  # again
    assert list(path.parent.iterdir()) == [path]
    back = read_run(path)
    assert back.name == "mine"
    assert list(back.queries) == list(run.queries)
    assert back.docs.tolist() == run.docs.tolist()
    assert back.scores.tobytes() == run.scores.tobytes()


def test_ids_with_marks_of_the_format_come_back_packed_or_not(tmp_path, packers):
    odd = {"a,b": {'quo"ted': 2.0, "two words": 1.0}, "tab\there": {"line": 1.0}}
    strange = {"#q": {"a": 1.0}, "{q": {"b": 1.0}}
    for ending in ENDINGS[1:]:
        for ranked in (odd, strange):
            Run.of(ranked).write(tmp_path / f"x{ending}")
            assert read_run(tmp_path / f"x{ending}").to_dict() == ranked, ending
    Run.of({"{q": {"a": 1.0}}).write(tmp_path / "x.run")
    assert read_run(tmp_path / "x.run").queries == ("{q",)
    for kind in ENDINGS[:4]:
        for ending in packers:
            path = tmp_path / f"x{kind}.{ending}"
            Run.of(RANKED).write(path)
            assert not path.read_bytes().startswith((b"q", b"{"))
            assert read_run(path).to_dict() == RANKED


def interrupted_write(path):
    with write_atomically(path) as aside:
        aside.write_text("half of the new")
        raise KeyboardInterrupt


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(write, tmp_path):
    path = write("mine.run", "old")
    with pytest.raises(KeyboardInterrupt):
        interrupted_write(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"
    # A killed process of the same number may have left its file.
    left = write(f".mine.run.{os.getpid()}.tmp", "half")
    Run.of(RANKED).write(path)
    assert (len(read_run(path)), left.read_text()) == (3, "half")
    for wrong in (tmp_path, ""):
        assert "is a directory, or empty" in refusal(Run.of(RANKED).write, wrong)
    assert "cannot be written (No such file" in refusal(Run.of(RANKED).write, tmp_path / "no/x")


def test_a_written_run_is_a_trec_run_with_its_name(tmp_path, write):
    path = tmp_path / "mine.run"
    Run.of(RANKED, "my run").write(path)
    lines = b"q2 Q0 b 1 2.5 my_run\nq2 Q0 a 2 1.0 my_run\nq1 Q0 c 1 -1.0 my_run\n"
    assert path.read_bytes() == lines
    assert (Run.of(path).name, Run.of(path, name="mine").name) == ("my_run", "mine")
    Run.of(RANKED, "").write(path)
    assert read_run(path).name == "run"
    for name in ("file.csv", "file.run.csv", "file.csv.gz", "file.TSV", "file"):
        path = write(name, "query_id,doc_id,score\nq1,a,1.0\nq1,b,2.5\n")
        assert (Run.of(path).name, Run.of(path, name="mine").name) == ("file", "mine")
    assert repr(Run.of(RANKED, "mine")) == "Run('mine', 2 queries, 3 rows)"
