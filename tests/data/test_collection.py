"""Collections and views made of Python objects: joining, counting, weighing, fingerprints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import Collection, InputError, Qrels, View
from heldout.data.documents import documents_of
from heldout.data.queries import Queries
from heldout.report.listings import collection_record

DOCS = {"d1": "red apples", "d2": "", "d3": "green pears\nand plums"}
QUERIES = {"q1": "apple", "q2": "pear"}
QRELS = {"q1": {"d1": 2, "d3": 0}, "q2": {"d3": 1}}


def kinds(collection):
    return {note.code: note.count for note in collection.notes}


def test_documents_come_as_mapping_pairs_lists_or_texts():
    made = [documents_of(DOCS), documents_of(list(DOCS.items()))]
    assert [list(one.pairs()) for one in made] == [list(DOCS.items())] * 2
    assert len({one.digest for one in made}) == 1
    assert list(documents_of(["x", "y"]).pairs()) == [("0", "x"), ("1", "y")]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "no documents"),
        ([("a", "x"), ("a", "y")], r"'a' appears twice \(documents 1 and 2\)"),
        ([("", "x")], "empty id"),
        ({"a": "\ud800"}, "surrogate"),
        ({"a": None}, "NoneType"),
        ("text", "pairs of id and text"),
        ([("a", "b", "c")], "pairs of id and text"),
    ],
)
def test_bad_documents_are_refused(given, complaint):
    with pytest.raises(InputError, match=complaint):
        documents_of(given)


def test_judgements_of_strangers_are_left_out_counted_and_named():
    qrels = {"q1": {"d1": 1, "dX": 1, "dY": 0}, "qX": {"d1": 1}}
    found = Collection(DOCS, QUERIES, qrels)
    assert found.qrels.to_dict() == {"q1": {"d1": 1}}
    assert kinds(found) == {
        "empty-documents": 1,
        "unknown-queries": 1,
        "absent-documents": 2,
        "unjudged-queries": 1,
    }
    told = " ".join(map(str, found.notes))
    for name in (
        "query qX document d1",
        "query q1 document dX",
        "judgement: 1 (q2)",
        "empty documents: 1 (d2)",
    ):
        assert name in told


@pytest.mark.parametrize("qrels", [{"q1": {"x": 1}}, {"other": {"d1": 1}}])
def test_judgements_that_speak_of_something_else_are_refused(qrels):
    with pytest.raises(InputError, match=r"have no (documents|queries) in common"):
        Collection(DOCS, QUERIES, qrels)


def test_judgements_are_there_by_number():
    found = Collection(DOCS, QUERIES, QRELS)
    rows = found.judgements
    triples = zip(rows.queries.tolist(), rows.documents.tolist(), rows.grades.tolist(), strict=True)
    assert sorted(triples) == [(0, 0, 2), (0, 2, 0), (1, 2, 1)]


def test_a_collection_without_judgements_says_so():
    found = Collection(DOCS, QUERIES)
    assert len(found.qrels) == 0
    assert kinds(found)["no-judgements"] == 0
    assert len(View(found).qrels) == 0


def test_fingerprint_changes_with_each_part_and_with_nothing_else():
    base = Collection(DOCS, QUERIES, QRELS).fingerprint()
    assert Collection(DOCS, QUERIES, QRELS, name="other").fingerprint() == base
    turned = {"q2": QRELS["q2"], "q1": {"d3": 0, "d1": 2}}
    assert Collection(DOCS, QUERIES, turned).fingerprint() == base
    others = [
        Collection({**DOCS, "d1": "red apple"}, QUERIES, QRELS),
        Collection({"d1": "red applesg", "d2": "", "d3": DOCS["d3"][1:]}, QUERIES, QRELS),
        Collection({"d1": DOCS["d1"], "d4": "", "d3": DOCS["d3"]}, QUERIES, QRELS),
        Collection(dict(reversed(DOCS.items())), QUERIES, QRELS),
        Collection(DOCS, {"q1": "apples", "q2": "pear"}, QRELS),
        Collection(DOCS, {"q1": "applep", "q2": "ear"}, QRELS),
        Collection(DOCS, {**QUERIES, "q3": ""}, QRELS),
        Collection(DOCS, QUERIES, {**QRELS, "q2": {"d3": 2}}),
        Collection(DOCS, QUERIES, {**QRELS, "q2": {"d1": 1}}),
    ]
    assert len({base, *(one.fingerprint() for one in others)}) == 1 + len(others)


def test_fingerprint_is_this_one():
    # Stored results name collections by it: it must not change from version to version.
    found = Collection({"a": "b"}, {"q": "x"}, {"q": {"a": 1}}).fingerprint()
    assert found == "69819c03a19441a0a02c81038640af8a81012c8a9bfa95689c04c2b1d5a01686"


@given(st.lists(st.text(), min_size=1, max_size=20), st.integers(1, 50))
def test_batches_of_any_size_hold_the_same_documents(texts, size):
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    documents = documents_of(texts)
    batches = list(documents.batches(size))
    assert [text for batch in batches for _, text in batch.pairs()] == texts
    assert [batch.first for batch in batches] == list(
        np.cumsum([0, *(len(batch) for batch in batches)])[:-1]
    )
    assert all(len(batch) == 1 or len(batch.text) <= size for batch in batches)
    assert [documents.text(number) for number in range(len(texts))] == texts


@given(st.lists(st.text(alphabet="ab \n\té", max_size=12), min_size=1, max_size=8))
def test_words_are_counted_as_split_does(texts):
    assert documents_of(texts).word_counts().tolist() == [len(text.split()) for text in texts]


def test_view_weighs_documents_and_queries():
    whole = Collection(DOCS, QUERIES, QRELS)
    assert (View(whole).n_documents, View(whole).n_queries) == (3, 2)
    assert View(whole).qrels is whole.qrels
    drawn = View(whole, [0, 1, 2])
    assert (drawn.n_documents, drawn.documents.ids[:]) == (3, ["d2", "d3"])
    assert drawn.qrels.to_dict() == {"q1": {"d3": 0}, "q2": {"d3": 1}}
    both = View(whole, [0, 1, 2], np.array([False, True]))
    assert both.queries.ids == ("q2",)
    assert both.qrels.to_dict() == {"q2": {"d3": 1}}
    assert View(whole, [1, 0, 0], [False, True]).qrels.to_dict() == {}


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.bool_])
def test_view_keeps_weights_of_its_own(kind):
    weights = np.ones(3, kind)
    view = View(Collection(DOCS, QUERIES, QRELS), weights)
    weights[:] = 0
    assert view.n_documents == 3
    with pytest.raises(ValueError, match="read-only"):
        view.document_weights[0] = 5


@pytest.mark.parametrize("weights", [[1, 1], [[1, 1, 1]], [1, -1, 1], [0.5, 1, 1], [2**40, 0, 0]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(InputError, match="document weights"):
        View(Collection(DOCS, QUERIES, QRELS), weights)


@given(st.data())
def test_view_has_the_judgements_that_brute_force_finds(data):
    judged = data.draw(
        st.dictionaries(
            st.sampled_from("abcd"),
            st.dictionaries(st.sampled_from("01234"), st.integers(-1, 3), min_size=1),
            min_size=1,
        )
    )
    whole = Collection(["x"] * 5, dict.fromkeys("abcd", "y"), judged)
    docs = data.draw(st.lists(st.integers(0, 2), min_size=5, max_size=5))
    queries = data.draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
    expected = {
        query: {doc: grade for doc, grade in inner.items() if docs[int(doc)]}
        for query, inner in judged.items()
        if queries["abcd".index(query)]
    }
    found = View(whole, docs, queries).qrels
    assert found.to_dict() == {query: inner for query, inner in sorted(expected.items()) if inner}


def test_topics_have_fields():
    topics = Queries(("1",), ("t",), {"title": ("t",), "narrative": ("n",)})
    assert topics.by_field("narrative + title").texts == ("n t",)
    with pytest.raises(InputError, match="no field 'description'; they have title, narrative"):
        topics.by_field("description")
    for ids, complaint in (
        (("1", " 1"), "'1' appears twice"),
        (("1", " "), "query 2 has an empty"),
    ):
        with pytest.raises(InputError, match=complaint):
            Queries(ids, ("a", "b"))


def test_description_sums_up():
    found = collection_record(Collection(DOCS, QUERIES, QRELS))
    words = {"least": 0, "lower": 1.0, "median": 2.0, "upper": 3.0, "most": 4, "total": 6}
    assert found["document_words"] == words
    assert found["grades"] == {"0": 1, "1": 1, "2": 1}
    assert (found["judged_per_query"]["median"], found["judged_queries"]) == (1.5, 2)


def test_qrels_object_is_taken_as_it_is():
    qrels = Qrels.of(QRELS)
    assert Collection(DOCS, QUERIES, qrels).qrels is qrels


def test_the_documents_and_queries_of_a_view():
    whole = Collection(
        {"a": "first", "b": "second", "c": "third"}, {"q": "one", "r": "two"}, {"q": {"a": 1}}
    )
    part = View(whole, [0, 2, 1], [False, True])
    assert part.documents.ids[:] == ["b", "c"]
    assert list(part.documents.pairs()) == [("b", "second"), ("c", "third")]
    assert list(part.queries.pairs()) == [("r", "two")]
    assert View(whole).documents is whole.documents
    assert View(whole).queries is whole.queries


def test_a_number_beyond_the_last_document_is_an_error():
    held = documents_of({"a": "first", "b": "second"})
    assert (held.text(1), held.text(-1)) == ("second", "second")
    with pytest.raises(IndexError):
        held.text(2)
