"""Collections and views of Python objects: joined, weighted, fingerprinted, written to folders."""

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import Collection, InputError, Qrels, View, export_collection, read_collection
from heldout.data import export as export_module
from heldout.data.documents import PartDocuments, documents_of
from heldout.report.listings import collection_record
from refusals import refusal

DOCS = {"d1": "red apples", "d2": "", "d3": "green pears\nand plums"}
QUERIES = {"q1": "apple", "q2": "pear"}
QRELS = {"q1": {"d1": 2, "d3": 0}, "q2": {"d3": 1}}


def test_documents_come_as_mapping_pairs_or_texts():
    both = [documents_of(DOCS), documents_of(list(DOCS.items()))]
    assert [list(one.pairs()) for one in both] == [list(DOCS.items())] * 2
    assert both[0].digest == both[1].digest
    assert list(documents_of(["x", "y"]).pairs()) == [("0", "x"), ("1", "y")]
    for bad, message in (
        ({}, "no documents"),
        ([("a", "x"), ("a", "y")], "'a' appears twice (documents 1 and 2)"),
        ([("", "x")], "empty id"),
        ({"a": "\ud800"}, "surrogate"),
        ({"a": None}, "NoneType"),
        ([("a", "b", "c")], "pairs of id and text"),
        ([1, 2], "pairs of id and text"),
    ):
        assert message in refusal(documents_of, bad), bad
    assert (both[0].text(2), both[0].text(-1)) == (DOCS["d3"], DOCS["d3"])


def test_judgements_of_strangers_are_left_out_counted_and_named():
    qrels = {"q1": {"d1": 1, "dX": 1, "dY": 0}, "qX": {"d1": 1}}
    found = Collection(DOCS, QUERIES, qrels)
    assert found.qrels.to_dict() == {"q1": {"d1": 1}}
    assert {note.code: note.count for note in found.notes} == {
        "empty-documents": 1,
        "unknown-queries": 1,
        "absent-documents": 2,
        "unjudged-queries": 1,
    }
    told = " ".join(map(str, found.notes))
    assert "query qX document d1" in told
    assert "query q1 document dX" in told
    assert "have no documents in common" in refusal(Collection, DOCS, QUERIES, {"q1": {"x": 1}})
    assert "have no queries in common" in refusal(Collection, DOCS, QUERIES, {"x": {"d1": 1}})


def test_judgements_are_there_by_number():
    qrels = Qrels.of(QRELS)
    found = Collection(DOCS, QUERIES, qrels)
    assert found.qrels is qrels
    rows = found.judgements
    triples = zip(rows.queries.tolist(), rows.documents.tolist(), rows.grades.tolist(), strict=True)
    assert sorted(triples) == [(0, 0, 2), (0, 2, 0), (1, 2, 1)]
    record = collection_record(found)
    words = {"least": 0, "lower": 1.0, "median": 2.0, "upper": 3.0, "most": 4, "total": 6}
    assert record["document_words"] == words
    assert record["grades"] == {"0": 1, "1": 1, "2": 1}
    assert (record["judged_per_query"]["median"], record["judged_queries"]) == (1.5, 2)
    without = Collection(DOCS, QUERIES)
    assert len(without.qrels) == len(View(without).qrels) == 0
    assert "no-judgements" in {note.code for note in without.notes}


def test_fingerprint_changes_with_each_part_and_with_nothing_else():
    base = Collection(DOCS, QUERIES, QRELS).fingerprint()
    assert Collection(DOCS, QUERIES, QRELS, name="other").fingerprint() == base
    turned = {"q2": QRELS["q2"], "q1": {"d3": 0, "d1": 2}}
    assert Collection(DOCS, QUERIES, turned).fingerprint() == base
    others = [
        Collection({**DOCS, "d1": "red apple"}, QUERIES, QRELS),
        Collection({"d1": "red applesg", "d2": "", "d3": DOCS["d3"][1:]}, QUERIES, QRELS),
        Collection(dict(reversed(DOCS.items())), QUERIES, QRELS),
        Collection(DOCS, {"q1": "applep", "q2": "ear"}, QRELS),
        Collection(DOCS, {**QUERIES, "q3": ""}, QRELS),
        Collection(DOCS, QUERIES, {**QRELS, "q2": {"d1": 1}}),
    ]
    assert len({base, *(one.fingerprint() for one in others)}) == 1 + len(others)
    # Stored results name collections by it: it must not change from version to version.
    found = Collection({"a": "b"}, {"q": "x"}, {"q": {"a": 1}}).fingerprint()
    assert found == "69819c03a19441a0a02c81038640af8a81012c8a9bfa95689c04c2b1d5a01686"


@given(st.lists(st.text(), min_size=1, max_size=20), st.integers(1, 50), st.data())
def test_batches_of_any_size_hold_the_same_documents(texts, size, data):
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    documents = documents_of(texts)
    weights = data.draw(st.lists(st.integers(0, 2), min_size=len(texts), max_size=len(texts)))
    part = PartDocuments(documents, np.array(weights, np.int32))
    copied = [text for text, times in zip(texts, weights, strict=True) for _ in range(times)]
    for given_documents, expected in ((documents, texts), (part, copied)):
        batches = list(given_documents.batches(size))
        assert [text for batch in batches for _, text in batch.pairs()] == expected
        firsts = np.cumsum([0, *map(len, batches)])[:-1]
        assert [batch.first for batch in batches] == firsts.tolist()
        assert [given_documents.text(number) for number in range(len(expected))] == expected
        counts = [len(text.encode().split()) for text in expected]
        assert given_documents.word_counts().tolist() == counts
    assert all(len(batch) == 1 or len(batch.text) <= size for batch in documents.batches(size))
    assert len(set(part.ids)) == len(copied)  # copies have names of their own


def test_a_copy_does_not_take_the_name_of_another_document():
    documents = documents_of({"a": "red", "a~2": "green"})
    part = PartDocuments(documents, np.array([2, 1], np.int32))
    assert [*part.ids] == ["a", "a~~2", "a~2"]


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
    view = View(whole, docs, queries)
    expected = {query: inner for query, inner in sorted(expected.items()) if inner}
    assert view.qrels.to_dict() == expected
    assert (view.n_documents, view.n_queries) == (sum(docs), sum(queries))
    assert list(view.documents.ids) == [str(at) for at, times in enumerate(docs) if times]
    assert list(view.queries.ids) == ["abcd"[at] for at, times in enumerate(queries) if times]


def test_view_shares_what_is_whole_and_keeps_weights_of_its_own():
    whole = Collection(DOCS, QUERIES, QRELS)
    view = View(whole)
    assert (view.n_documents, view.n_queries) == (3, 2)
    for name in ("qrels", "documents", "queries"):
        assert getattr(view, name) is getattr(whole, name)
    part = View(whole, [0, 2, 1], [False, True])
    assert list(part.documents.pairs()) == list(DOCS.items())[1:]
    assert list(part.queries.pairs()) == [("q2", "pear")]
    for kind in (np.int32, np.bool_):
        weights = np.ones(3, kind)
        view = View(whole, weights)
        weights[:] = 0
        assert view.n_documents == 3
        with pytest.raises(ValueError, match="read-only"):
            view.document_weights[0] = 5
    for wrong in ([1, 1], [[1, 1, 1]], [1, -1, 1], [0.5, 1, 1], [2**40, 0, 0]):
        assert "document weights" in refusal(View, whole, wrong)
    assert "query weights" in refusal(View, whole, None, [1])


# Folders

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]))
IDS = st.text(alphabet="aZ0.-_/<&é\\'", min_size=1, max_size=6)


def small(name="small"):
    documents = {"d1": "one <b> & two\nlines", "d2": "", "../up": "third"}
    queries = {"q1": "a & b", "q2": "<c>"}
    return Collection(documents, queries, {"q1": {"d1": 2, "../up": 0}}, name=name)


@given(
    st.dictionaries(IDS, st.lists(WORDS, max_size=3).map("\n".join), min_size=1, max_size=5),
    st.dictionaries(IDS, WORDS, min_size=1, max_size=3),
    st.integers(-1, 3),
)
@pytest.mark.parametrize("to", ["beir", "trec"])
def test_what_is_written_reads_back_the_same(tmp_path_factory, to, documents, queries, grade):
    documents = {one: text.strip("\n") for one, text in documents.items()}
    if to == "trec":  # where # begins a comment
        queries = {f"q{one}": text for one, text in queries.items()}
    qrels = {next(iter(queries)): {next(iter(documents)): grade}}
    original = Collection(documents, queries, qrels)
    folder = tmp_path_factory.mktemp("export") / "out"
    export_collection(original, folder, to)
    again = read_collection(folder)
    assert list(again.documents.pairs()) == list(documents.items())
    assert again.fingerprint() == original.fingerprint()


def test_a_line_corpus_reads_back_the_same_or_has_maps_to_the_original(tmp_path):
    original = Collection(
        ["first é", "", "third"], {"7": "x", "8": "y z"}, {"7": {"0": 1, "2": 3}, "8": {"1": 0}}
    )
    export_collection(original, tmp_path / "same", "lines")
    assert read_collection(tmp_path / "same").fingerprint() == original.fingerprint()
    assert not (tmp_path / "same" / "query_map.tsv").exists()
    export_collection(small(), tmp_path / "out", "lines")
    found = read_collection(tmp_path / "out" / "config.toml")
    assert [text for _, text in found.documents.pairs()] == ["one <b> & two lines", "", "third"]
    assert found.name == "small"
    assert found.qrels.to_dict() == {"1": {"0": 2, "2": 0}}
    maps = [(tmp_path / "out" / f"{one}_map.tsv").read_text() for one in ("doc", "query")]
    documents = "new\toriginal\n0\td1\n1\td2\n2\t../up\n"
    assert maps == [documents, "new\toriginal\n1\tq1\n2\tq2\n"]


def test_topics_have_and_keep_their_fields(write, tmp_path):
    topics = "<top><num>1<title>t</title><desc>Description: d\n<narr>Narrative: n</top>"
    documents = write("docs.jsonl", '{"_id": "a", "text": "x"}\n')
    original = read_collection(documents, queries=write("topics", topics))
    assert original.queries.by_field("narrative + title").texts == ("n t",)
    said = refusal(original.queries.by_field, "x")
    assert "no field 'x'; they have title, description, narrative" in said
    for to in ("beir", "trec"):
        export_collection(original, tmp_path / to, to)
        again = read_collection(tmp_path / to, query_field="description+narrative")
        assert again.queries.texts == ("d n",)
        assert read_collection(tmp_path / to).fingerprint() == original.fingerprint()


def test_a_folder_is_replaced_only_when_asked_and_only_if_it_is_an_export(tmp_path):
    out = tmp_path / "out"
    said = refusal(export_collection, Collection({"a b": "x"}, {"q": "x"}), out, "trec")
    assert "document id 'a b' has white space, which TREC files do not allow" in said
    assert not list(tmp_path.iterdir())
    export_collection(small(), out, "beir")
    said = refusal(export_collection, small(), out, "trec")
    assert "already exists: choose another folder, or overwrite it" in said
    export_collection(small(), out, "trec", force=True)
    assert {one.name for one in out.iterdir()} == {"documents.trec", "topics.txt", "qrels.txt"}
    (out / "thesis.tex").write_text("years of work")
    said = refusal(export_collection, small(), out, "trec", force=True)
    assert "were not written by an export (thesis.tex)" in said
    assert (out / "thesis.tex").exists()
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
    assert "is a file" in refusal(export_collection, small(), out / "thesis.tex")
    said = refusal(export_collection, small(), tmp_path / "other", "xml")
    assert "expected one of beir, trec, lines" in said


def stubborn(path, target, rename=Path.rename):
    if path.suffix == ".tmp":
        raise OSError(13, "Permission denied")
    return rename(path, target)


def interrupted(path, target, rename=Path.rename):
    if path.suffix == ".tmp":
        raise KeyboardInterrupt
    return rename(path, target)


def test_a_failure_leaves_nothing_and_harms_nothing(tmp_path, monkeypatch):
    out = tmp_path / "out"
    export_collection(small(), out, "beir")
    full = Mock(side_effect=OSError(28, "No space left on device"))
    for place, name, broken, message in (
        (export_module, "_write", full, "cannot be written (No space left"),
        (Path, "rename", stubborn, "Permission denied"),
        (Path, "rename", interrupted, ""),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, broken)
            with pytest.raises(InputError if message else KeyboardInterrupt) as caught:
                export_collection(small(), out, "trec", force=True)
        assert message in str(caught.value)
        assert [one.name for one in tmp_path.iterdir()] == ["out"]
        assert read_collection(out).fingerprint() == small().fingerprint()
