"""The join of a run with the qrels, against a join of dictionaries."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import in_order

from heldout import Qrels, Run
from heldout.measure.ranking.judged import BLOCK, join

# Ids of up to 64 bytes are held as words, longer ones as strings; both sides may differ in that.
SHORT = st.text("abé€𝄞Ω-_./:", min_size=1, max_size=12)
LONG = st.text("xyñ🙂", min_size=1, max_size=4).map(lambda tail: "http://example.org/" * 4 + tail)
EDGE = st.integers(60, 68).map(lambda length: "e" * length)
IDS = st.one_of(SHORT, LONG, EDGE)


@st.composite
def cases(draw, ids=IDS):
    docs = draw(st.lists(ids, min_size=1, max_size=8, unique=True))
    grades = st.dictionaries(st.sampled_from(docs), st.integers(-1, 3), min_size=1)
    scores = st.dictionaries(st.sampled_from(docs), st.integers(0, 3).map(float), min_size=1)
    queries = st.sampled_from(["1", "10", "2", "β", "q" * 70])
    qrels = draw(st.dictionaries(queries, grades, min_size=1, max_size=4))
    run = draw(st.dictionaries(queries, scores, min_size=1, max_size=4))
    return qrels, run


def naive_join(qrels, run, depth=None):
    """(query, rank, grade) of all retrieved documents that are in the qrels."""
    rows = []
    for query in sorted(qrels, key=str.encode):
        order = in_order(run.get(query, {}))[:depth]
        for rank, doc in enumerate(order, 1):
            if doc in qrels[query]:
                rows.append((query, rank, qrels[query][doc]))
    return rows


def rows_of(judged):
    names = [judged.queries[number] for number in judged.query.tolist()]
    return list(zip(names, judged.rank.tolist(), judged.grade.tolist(), strict=True))


@settings(max_examples=50)
@given(case=cases(), depth=st.none() | st.integers(1, 6))
def test_join_equals_a_join_of_dictionaries(case, depth):
    qrels, run = case
    judged = join(Qrels.of(qrels), Run.of(run), depth)
    assert rows_of(judged) == naive_join(qrels, run, depth)
    assert list(judged.queries) == sorted(qrels, key=str.encode)
    assert judged.present.tolist() == [query in run for query in judged.queries]
    lengths = [len(in_order(run.get(query, {}))[:depth]) for query in judged.queries]
    assert judged.retrieved.tolist() == lengths


def test_join_finds_documents_when_only_one_side_has_long_ids():
    far = "h" * 80
    for judged_long, run_long in product((False, True), repeat=2):
        qrels = {"q": {"a": 1, "bb": 2} | ({far + "1": 0} if judged_long else {})}
        run = {"q": {"bb": 2.0, "a": 1.0} | ({far + "2": 3.0} if run_long else {})}
        judged = join(Qrels.of(qrels), Run.of(run))
        assert rows_of(judged) == naive_join(qrels, run)


@given(case=cases(ids=st.sampled_from("abcdefgh")))
def test_only_judged_closes_up_ranks(case):
    qrels, run = case
    narrow = join(Qrels.of(qrels), Run.of(run)).only_judged()
    kept = {
        query: {doc: score for doc, score in run[query].items() if qrels[query].get(doc, -1) >= 0}
        for query in qrels.keys() & run.keys()
    }
    assert rows_of(narrow) == naive_join(qrels, kept)


def test_same_document_in_other_queries_is_not_mixed_up():
    qrels = {"q1": {"d": 1}, "q2": {"d": 0}, "q3": {"e": 2}}
    run = {"q3": {"d": 1.0}, "q2": {"d": 1.0}, "q1": {"e": 2.0, "d": 1.0}, "q9": {"d": 5.0}}
    judged = join(Qrels.of(qrels), Run.of(run))
    assert rows_of(judged) == [("q1", 2, 1), ("q2", 1, 0)]


def test_join_holds_over_many_blocks_of_rows():
    # Rows are looked up block by block; queries begin and end anywhere in them.
    chance = random.Random(7)  # noqa: S311 - reproducible test data
    sizes = [1, 900, BLOCK // 3, BLOCK + 5, 40, 700]
    run = {
        f"q{number}": {f"doc{n}": float(-n) for n in range(size)}
        for number, size in enumerate(sizes)
    }
    qrels = {
        query: {f"doc{n}": n % 3 for n in chance.sample(range(2 * len(docs) + 5), 5)}
        for query, docs in run.items()
    }
    judged = join(Qrels.of(qrels), Run.of(run))
    expected = sorted(
        (query, int(doc.removeprefix("doc")) + 1, grade)
        for query, docs in qrels.items()
        for doc, grade in docs.items()
        if doc in run[query]
    )
    assert rows_of(judged) == expected


def test_queries_come_in_bytewise_order_whatever_the_input_order():
    qrels = {"b": {"d": 1}, "B": {"d": 1}, "é": {"d": 1}, "10": {"d": 1}, "9": {"d": 1}}
    run = {query: {"d": 1.0} for query in reversed(qrels)}
    judged = join(Qrels.of(qrels), Run.of(run))
    assert judged.queries == ("10", "9", "B", "b", "é")
    assert judged.present.all()


def test_results_of_a_join_do_not_change_the_run_or_the_qrels():
    qrels, run = Qrels.of({"q": {"a": 1}}), Run.of({"q": {"a": 1.0, "b": 2.0}})
    join(qrels, run, 1).only_judged()
    assert qrels.to_dict() == {"q": {"a": 1}}
    assert list(run.to_dict()["q"]) == ["b", "a"]
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = np.float64(3)
