"""A run's order, its checks, and its ways in and out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import InputError, Run, read_run
from heldout.data.atomic import write_atomically
from heldout.data.run import BLOCK
from heldout.errors import FormatError

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


def plain_order(rows, ties="docid-desc"):
    """The same order by plain sorting: stable, the last key first."""
    ranked: dict[str, list[tuple[str, float]]] = {}
    for query, doc, score in rows:
        ranked.setdefault(query, []).append((doc, score))
    for docs in ranked.values():
        if ties != "input":
            docs.sort(key=lambda one: one[0].encode(), reverse=ties == "docid-desc")
        docs.sort(key=lambda one: -one[1])
    return ranked


def made(rows, **options):
    queries, docs, scores = zip(*rows, strict=True)
    return Run.of({"query": queries, "doc": docs, "score": scores}, **options)


def ranked_lists(run):
    return {query: list(docs.items()) for query, docs in run.to_dict().items()}


@pytest.mark.parametrize("long", [False, True], ids=["short ids", "long ids"])
@pytest.mark.parametrize("ties", ["docid-desc", "docid-asc", "input"])
@given(rows=ROWS)
def test_order_is_that_of_a_plain_sort(ties, long, rows):
    rows = [*rows, ("q9", LONG, 1.0)] if long else rows
    run = made(rows, ties=ties)
    expected = plain_order(rows, ties)
    assert ranked_lists(run) == expected
    # Queries stand in the order of their first appearance, documents in that of the arrays.
    assert list(run.queries) == list(expected)
    assert run.docs.tolist() == [doc for docs in expected.values() for doc, _ in docs]


def test_ties_are_broken_by_bytes_not_by_letters_or_numbers():
    run = made([("q", doc, 1.0) for doc in ["d10", "d9", "D9", "é", "z"]])
    assert run.docs.tolist() == ["é", "z", "d9", "d10", "D9"]


def test_an_order_that_is_right_already_is_left_alone():
    rows = [("q1", "b", 2.0), ("q1", "a", 2.0), ("q1", "c", 1.0), ("q2", "a", 9.0)]
    assert made(rows).docs.tolist() == ["b", "a", "c", "a"]


def test_the_same_score_in_two_queries_is_no_tie():
    rows = [("q1", "a", 1.0), ("q2", "b", 1.0)]
    assert ranked_lists(made(rows)) == {"q1": [("a", 1.0)], "q2": [("b", 1.0)]}


def test_single_precision_makes_scores_closer_than_it_a_tie():
    rows = [("q", "a", 1.00000001), ("q", "b", 1.0)]
    assert made(rows).docs.tolist() == ["a", "b"]
    single = made(rows, single_precision=True)
    assert single.docs.tolist() == ["b", "a"]
    assert single.scores.tolist() == [1.0, 1.0]


def test_single_precision_keeps_scores_apart_that_32_bits_can_tell():
    rows = [("q", "a", 1.000001), ("q", "b", 1.0)]
    assert made(rows, single_precision=True).docs.tolist() == ["a", "b"]


def test_an_unknown_tie_policy_is_refused():
    with pytest.raises(InputError, match="ties='random': expected one of docid-desc"):
        made([("q", "a", 1.0)], ties="random")


@pytest.mark.parametrize("doc", ["a", LONG])
def test_a_run_cannot_be_changed(doc):
    run = made([("q", doc, 2.0), ("q", "b", 1.0)])
    for array in (run.scores, run.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        run.docs.move(np.array([0]), np.array([1]))
    with pytest.raises(AttributeError):
        run.name = "other"


def test_columns_that_were_given_are_not_changed():
    scores = np.array([1.0, 2.0, 3.0])
    run = Run.of({"query": ["q"] * 3, "doc": ["a", "b", "c"], "score": scores})
    assert run.scores.tolist() == [3.0, 2.0, 1.0]
    assert scores.tolist() == [1.0, 2.0, 3.0]
    scores[0] = 7.0
    assert run.scores.tolist() == [3.0, 2.0, 1.0]


@pytest.mark.parametrize("apart", [1, 5, 3 * BLOCK])
@pytest.mark.parametrize("doc", ["twin", LONG])
def test_a_document_twice_is_refused_by_query_and_document(apart, doc):
    docs = [doc, *(f"d{number}" for number in range(apart)), doc]
    queries = ["before"] * 3 + ["q7"] * len(docs) + ["after"] * 3
    all_docs = ["x", "y", doc, *docs, "x", "y", doc]
    scores = np.arange(len(all_docs), 0, -1)
    with pytest.raises(FormatError, match=f"document {doc} appears twice for query q7"):
        Run.of({"query": queries, "doc": all_docs, "score": scores})


def test_a_document_twice_is_found_when_its_query_comes_twice():
    rows = [("q1", "a", 1.0), ("q2", "a", 1.0), ("q1", "a", 2.0)]
    with pytest.raises(FormatError, match="document a appears twice for query q1"):
        made(rows)


def test_one_document_in_many_queries_is_no_duplicate():
    count = 3 * BLOCK
    queries = [f"q{row // 2}" for row in range(count)]
    docs = ["a", "b"] * (count // 2)
    run = Run.of({"query": queries, "doc": docs, "score": [1.0] * count})
    assert len(run.queries) == count // 2


RANKED = {"q2": {"b": 2.5, "a": 1.0}, "q1": {"c": -1.0}}
NAMES = {
    "PyTerrier": ("qid", "docno", "score"),
    "ir_measures": ("query_id", "doc_id", "score"),
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_frames_are_taken_with_the_column_names_of_the_field(frame, names):
    columns = (["q2", "q1", "q2"], ["a", "c", "b"], [1.0, -1.0, 2.5])
    # PyTerrier puts the text of the query into a column called "query": not its id.
    table = {"query": ["what", "why", "what"], **dict(zip(names, columns, strict=True))}
    run = Run.of(frame(table), "mine")
    assert run.to_dict() == RANKED
    assert run.name == "mine"


def test_number_ids_in_a_frame_become_text():
    frame = pd.DataFrame({"qid": [301, 301], "docno": [7, 8], "score": [1, 2]})
    assert Run.of(frame).to_dict() == {"301": {"8": 2.0, "7": 1.0}}


def test_a_frame_comes_back_with_ranks():
    frame = Run.of(RANKED).to_frame()
    assert frame.columns == ["query_id", "doc_id", "rank", "score"]
    assert frame.rows() == [("q2", "b", 1, 2.5), ("q2", "a", 2, 1.0), ("q1", "c", 1, -1.0)]
    assert Run.of(frame).to_dict() == RANKED


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
    back = read_run(path)
    assert back.name == "mine"
    assert list(back.queries) == list(run.queries)
    assert back.docs.tolist() == run.docs.tolist()
    assert back.scores.tobytes() == run.scores.tobytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_writing_leaves_nothing_but_the_file(tmp_path, ending):
    path = tmp_path / f"mine{ending}"
    Run.of(RANKED).write(path)
    Run.of(RANKED).write(path)
    assert list(tmp_path.iterdir()) == [path]


def interrupted_write(path):
    with write_atomically(path) as aside:
        aside.write_text("half of the new")
        raise KeyboardInterrupt


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "mine.run"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        interrupted_write(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "old"


def test_a_written_run_is_a_trec_run(tmp_path):
    Run.of(RANKED, "mine").write(tmp_path / "mine.run")
    assert (tmp_path / "mine.run").read_bytes() == (
        b"q2 Q0 b 1 2.5 mine\nq2 Q0 a 2 1.0 mine\nq1 Q0 c 1 -1.0 mine\n"
    )


def test_reading_gives_a_name_by_option_by_tag_or_by_file(tmp_path):
    Run.of(RANKED, "tag").write(tmp_path / "file.run")
    Run.of(RANKED, "tag").write(tmp_path / "file.csv")
    assert Run.of(tmp_path / "file.run").name == "tag"
    assert Run.of(tmp_path / "file.csv").name == "file"
    assert Run.of(tmp_path / "file.run", name="mine").name == "mine"
    assert Run.of(tmp_path / "file.csv", name="mine").name == "mine"


def test_a_run_says_what_it_holds():
    run = Run.of(RANKED, "mine")
    assert repr(run) == "Run('mine', 2 queries, 3 rows)"
    assert len(run) == 3
