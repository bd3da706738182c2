"""Collections found by what a folder or a file looks like: BEIR, TREC, MeTA, ir_datasets."""

import re
import sys
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import read_collection
from heldout.data import collection_files
from heldout.data.document_files import line_records
from heldout.data.documents import FileDocuments, documents_of
from heldout.data.files import Reading
from refusals import refusal

CORPUS = '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": "d2", "title": "", "text": "two"}\n'
QUERIES = "".join(f'{{"_id": "q{n}", "text": "{n}"}}\n' for n in (1, 2, 3))


@pytest.fixture
def beir(write):
    def to(name, **splits):
        folder = write(f"{name}/corpus.jsonl", CORPUS).parent
        write(f"{name}/queries.jsonl", QUERIES)
        for split, rows in splits.items():
            write(f"{name}/qrels/{split}.tsv", f"query-id\tcorpus-id\tscore\n{rows}")
        return folder

    return to


def notes(collection):
    return {note.code: note.text for note in collection.notes}


def test_a_beir_folder_and_its_splits(beir):
    folder = beir("small", train="q1\td1\t1\n", test="q2\td2\t1\n", dev="q3\td2\t1\n")
    found = read_collection(folder)
    assert (found.name, found.queries.to_dict()) == ("small", {"q2": "2"})
    assert notes(found) == {
        "split": "using the split test (also available: dev, train)",
        "other-splits": "queries without judgements in this split, ignored: 2",
    }
    assert read_collection(folder, split="train").qrels.to_dict() == {"q1": {"d1": 1}}
    said = refusal(read_collection, folder, split="x")
    assert re.search(r"no split 'x'; it has dev, test, train: .*split=…", said)
    one = read_collection(beir("one", dev="q1\td1\t1\nq1\td9\t1\n"))
    assert one.queries.ids == ("q1", "q2", "q3")  # all of them
    assert set(notes(one)) == {"absent-documents", "unjudged-queries"}
    assert one.documents.text(0) == "T\none"
    several = beir("several", train="q1\td1\t1\n", dev="q2\td1\t1\n")
    said = refusal(read_collection, several)
    assert re.search("several splits, and none is called test: .*qrels=…", said)
    found = read_collection(several, qrels=several / "qrels" / "dev.tsv")
    assert (found.queries.ids, set(notes(found))) == (("q2",), {"other-splits"})
    assert read_collection(several, split="dev").qrels.to_dict() == found.qrels.to_dict()
    without = read_collection(beir("without"))
    assert (len(without.queries), len(without.qrels)) == (3, 0)


def test_files_that_are_given_replace_those_that_are_found(beir, write):
    parts = [write("a", "q1 0 d1 1\n"), write("b", "q2 0 d2 2\n")]
    folder = beir("small", test="q1\td1\t1\n")
    found = read_collection(folder, qrels=parts, name="named")
    assert found.qrels.to_dict() == {"q1": {"d1": 1}, "q2": {"d2": 2}}
    assert found.name == "named"
    found = read_collection(folder, queries=write("q.tsv", "q1\tother\n"))
    assert found.queries.to_dict() == {"q1": "other"}
    read = read_collection(found.documents, queries=folder / "queries.jsonl", qrels=parts)
    assert (read.documents, read.name) == (found.documents, "documents")


def test_a_folder_of_trec_files_with_topics_and_qrels(write):
    write("trec/docs/b", "<DOC><DOCNO>B1</DOCNO>two</DOC>")
    write("trec/docs/a", "<DOC><DOCNO>A1</DOCNO>one</DOC>")
    write("trec/docs/.hidden", "no")
    write("trec/topics.51-52", "<top><num>Number: 051<title>x</top>")
    folder = write("trec/qrels.51-52", "51 0 A1 1\n51 0 A1 1\n").parent
    found = read_collection(folder)
    assert list(found.documents.ids) == ["A1", "B1"]
    # Early TRECs number topics 051 in one file and 51 in the other.
    assert found.qrels.to_dict() == {"51": {"A1": 1}}
    assert set(notes(found)) == {"zeros", "repeated-judgements"}
    write("trec/topics.2", "<top><num>52<title>y</top>")
    said = refusal(read_collection, folder)
    assert re.search(r"several files of queries \(topics.2, topics.51-52\): .*queries=…", said)


REFUSED = {
    "x.bin": (b"\x00\x01\x02", "unrecognized format; expected a BEIR folder"),
    "x.jsonl": (b"", "is empty"),
    "y.jsonl": (CORPUS.encode(), "has no queries: give a file of queries (queries=…)"),
    "a.toml": (b"dataset = ", ": not valid TOML: Invalid value"),
    "b.toml": (b"prefix = '.'", "the config has no dataset"),
    "c.toml": (b"dataset = 'x'\n[query-runner]\nquery-id-start = 'a'", "the documents 'x.dat' do"),
}


def test_what_cannot_be_read_is_refused(write, tmp_path):
    assert "no documents found" in refusal(read_collection, tmp_path)
    for name, (content, message) in REFUSED.items():
        assert message in refusal(read_collection, write(name, content)), name
    gone = refusal(read_collection, tmp_path / "gone")
    assert "no such file or folder; expected a BEIR folder" in gone
    write("two/a.jsonl", CORPUS)
    folder = write("two/b.trec", "<DOC><DOCNO>1</DOCNO></DOC>").parent
    assert "different formats" in refusal(read_collection, folder)


# MeTA: every line a document


@given(
    st.lists(st.text(alphabet="aé \rx", max_size=6), min_size=1, max_size=12),
    st.tuples(st.sampled_from(["\n", "\r\n"]), st.booleans()),
    st.sampled_from(["plain", "gz", "xz", "bz2", "zst"]),
    st.integers(1, 12),
)
def test_lines_are_documents(tmp_path_factory, packers, lines, ends, packing, size):
    end, last = ends
    lines = [line.rstrip("\r") for line in lines]
    content = end.join(lines) + (end if last or not lines[-1] else "")
    path = tmp_path_factory.mktemp("lines") / "c.dat"
    path.write_bytes(({"plain": bytes} | packers)[packing](content.encode()))
    found = FileDocuments([str(path)], Reading(), line_records)
    assert [text for batch in found.batches(size) for _, text in batch.pairs()] == lines
    assert list(found.ids) == [str(number) for number in range(len(lines))]
    assert [found.text(number) for number in range(len(lines))] == lines
    assert found.digest == documents_of(lines).digest


def test_encodings_and_empty_lines(write):
    def corpus(content, **reading):
        found = FileDocuments([str(write("c.dat", content))], Reading(**reading), line_records)
        return [text for _, text in found.pairs()], found

    texts, marked = corpus("\ufeffone\ntwo".encode())
    assert (texts, marked.text(0)) == (["one", "two"], "one")
    content = "ein\nschöner\ntag".encode("latin-1")
    assert re.search(r"c\.dat:2: byte 0xf6 .*encoding='latin-1'", refusal(corpus, content))
    texts, found = corpus(content, encoding="latin-1")
    assert (texts[1], found.text(1)) == ("schöner", "schöner")
    assert "this is UTF-16" in refusal(corpus, "one\ntwo\n".encode("utf-16"))
    for encoding, message in (("utf-16", "iconv"), ("klingon", "unknown"), ("", "unknown")):
        assert message in refusal(Reading, encoding)
    texts, found = corpus(b"a\n\n   \nb\n\n")
    (note,) = found.notes
    assert (note.code, note.count) == ("empty-documents", 3)
    assert (len(texts), note.text) == (5, "empty documents: 3 (1, 2, 4)")
    assert "no documents found" in refusal(corpus, b"")


META = """
prefix = "."
dataset = "tiny"
corpus = "line.toml"
query-judgements = "tiny/tiny-qrels.txt"
[query-runner]
query-path = "{queries}"
query-id-start = {start}
"""


@pytest.fixture
def meta(write):
    def to(queries="tiny/tiny-queries.txt", start="7"):
        write("data/tiny/tiny.dat", "first doc\n\nthird doc")
        write("data/tiny/tiny-queries.txt", "first query\nsecond query\n")
        write("data/tiny/tiny-qrels.txt", "7 0 1\n8 2 3\n8 9 1\n")
        write("data/tiny/line.toml", 'type = "line-corpus"\n')
        return write("data/config.toml", META.format(queries=queries, start=start))

    return to


def test_a_config_names_the_files(meta, write):
    for source in (meta(), meta().parent):
        found = read_collection(source)
        assert found.name == "tiny"
        assert found.queries.to_dict() == {"7": "first query", "8": "second query"}
        assert found.qrels.to_dict() == {"7": {"0": 1}, "8": {"2": 3}}
        assert "query 8 document 9" in notes(found)["absent-documents"]
    said = refusal(read_collection, meta(queries="gone.txt"))
    assert re.search(r"the queries 'gone\.txt' do not exist; tried .*gone", said)
    assert "query-id-start is 'a', expected" in refusal(read_collection, meta(start="'a'"))
    other = write("other.txt", "first\nsecond\n")
    numbered = meta(start="0")
    write("data/tiny/tiny-qrels.txt", "0 0 1\n")
    assert read_collection(numbered, queries=other).queries.ids == ("0", "1")


def test_without_a_config_the_names_of_the_files_tell(meta, write):
    folder = meta().parent / "tiny"
    write("data/tiny/tiny-qrels.txt", "1 0 1\n")
    found = read_collection(folder)
    assert found.queries.ids == ("1", "2")
    assert read_collection(folder / "tiny.dat").fingerprint() == found.fingerprint()
    write("data/tiny/other.dat", "x")
    assert "several .dat files (other.dat, tiny.dat)" in refusal(read_collection, folder)


# ir_datasets


class Document(NamedTuple):
    doc_id: str
    title: str
    body: str

    def default_text(self):
        return f"{self.title} {self.body}"


class Query(NamedTuple):
    query_id: str
    title: str
    description: str

    def default_text(self):
        return self.title


def test_irds_by_a_stand_in(monkeypatch):
    documents = [Document("d1", "T", "one"), Document("d2", "U", "two")]
    dataset = SimpleNamespace(
        **dict.fromkeys(("has_docs", "has_queries", "has_qrels"), lambda: True),
        docs_iter=lambda: iter(documents),
        docs_store=lambda: {doc.doc_id: doc for doc in documents},
        queries_iter=lambda: iter([Query("q1", "short", "longer")]),
        qrels_iter=lambda: iter([SimpleNamespace(query_id="q1", doc_id="d2", relevance=1)]),
    )
    monkeypatch.setattr(collection_files, "load_irds", lambda _: dataset)
    found = read_collection("irds:fake")
    assert (found.name, found.qrels.to_dict()) == ("fake", {"q1": {"d2": 1}})
    assert list(found.documents.pairs()) == [("d1", "T one"), ("d2", "U two")]
    assert found.documents.text(1) == "U two"
    assert found.queries.texts == ("short",)
    chosen = read_collection("irds:fake", fields=["body", "title"], query_field="description")
    assert (chosen.documents.text(0), chosen.queries.texts) == ("one\nT", ("longer",))
    said = refusal(read_collection, "irds:fake", fields=["x"])
    assert "no field 'x'; documents have doc_id, title, body" in said
    dataset.docs_iter = Mock(side_effect=ConnectionError("no network"))
    said = refusal(read_collection, "irds:x")
    assert "irds:x cannot be read (ConnectionError: no network)" in said
    dataset.has_docs = lambda: False
    assert "irds:x has no documents" in refusal(read_collection, "irds:x")
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert "pip install ir_datasets" in refusal(read_collection, "irds:vaswani")


def test_irds_by_the_real_package(write):
    ir_datasets = pytest.importorskip("ir_datasets")
    files = {"docs_tsv": "d1\tone\nd2\ttwo\n", "queries_tsv": "q1\tfirst\n"}
    files["qrels_trec"] = "q1 0 d2 1\n"
    paths = {kind: str(write(kind, content)) for kind, content in files.items()}
    ir_datasets.registry.register("heldout-local", ir_datasets.create_dataset(**paths))
    found = read_collection("irds:heldout-local")
    assert list(found.documents.pairs()) == [("d1", "one"), ("d2", "two")]
    assert found.qrels.to_dict() == {"q1": {"d2": 1}}
    said = refusal(read_collection, "irds:heldout-unknown")
    assert "no dataset 'heldout-unknown'" in said
