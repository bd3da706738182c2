"""Collections found by what a folder or a file looks like."""

import sys

import pytest

from heldout import InputError, read_collection
from heldout.data import collection_files
from heldout.errors import MissingExtraError

CORPUS = '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": "d2", "title": "", "text": "two"}\n'
QUERIES = (
    '{"_id": "q1", "text": "first"}\n{"_id": "q2", "text": "second"}\n{"_id": "q3", "text": "x"}\n'
)


@pytest.fixture
def beir(tmp_path):
    def write(**splits):
        folder = tmp_path / "small"
        (folder / "qrels").mkdir(parents=True)
        (folder / "corpus.jsonl").write_text(CORPUS)
        (folder / "queries.jsonl").write_text(QUERIES)
        for split, rows in splits.items():
            (folder / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
        return folder

    return write


def notes(collection):
    return {note.code: note.text for note in collection.notes}


def test_beir_takes_the_test_split_and_its_queries(beir):
    folder = beir(train="q1\td1\t1\n", test="q2\td2\t1\n", dev="q3\td2\t1\n")
    found = read_collection(folder)
    assert (found.name, found.queries.to_dict()) == ("small", {"q2": "second"})
    assert notes(found) == {
        "split": "using the split test (also available: dev, train)",
        "other-splits": "queries without judgements in this split, ignored: 2",
    }
    assert read_collection(folder, split="train").qrels.to_dict() == {"q1": {"d1": 1}}
    with pytest.raises(InputError, match=r"no split 'x'; it has dev, test, train: .*split=…"):
        read_collection(folder, split="x")


def test_beir_with_one_split_keeps_all_queries(beir):
    found = read_collection(beir(dev="q1\td1\t1\nq1\td9\t1\n"))
    assert found.queries.ids == ("q1", "q2", "q3")
    assert set(notes(found)) == {"absent-documents", "unjudged-queries"}
    assert found.documents.text(0) == "T\none"


def test_beir_without_test_split_must_be_told_which(beir):
    folder = beir(train="q1\td1\t1\n", dev="q2\td1\t1\n")
    with pytest.raises(InputError, match=r"several splits, and none is called test: .*qrels=…"):
        read_collection(folder)
    found = read_collection(folder, qrels=folder / "qrels" / "dev.tsv")
    assert (found.queries.ids, set(notes(found))) == (("q2",), {"other-splits"})
    assert read_collection(folder, split="dev").qrels.to_dict() == found.qrels.to_dict()


def test_beir_without_judgements(beir):
    found = read_collection(beir())
    assert (len(found.queries), len(found.qrels)) == (3, 0)


def test_a_folder_of_trec_files_with_topics_and_qrels(tmp_path):
    docs = tmp_path / "trec" / "docs"
    docs.mkdir(parents=True)
    (docs / "b").write_text("<DOC><DOCNO>B1</DOCNO>two</DOC>")
    (docs / "a").write_text("<DOC><DOCNO>A1</DOCNO>one</DOC>")
    (docs / ".hidden").write_text("no")
    (tmp_path / "trec" / "topics.51-52").write_text("<top><num>Number: 051<title>x</top>")
    (tmp_path / "trec" / "qrels.51-52").write_text("51 0 A1 1\n51 0 A1 1\n")
    found = read_collection(tmp_path / "trec")
    assert list(found.documents.ids) == ["A1", "B1"]
    # Early TRECs number topics 051 in one file and 51 in the other.
    assert found.qrels.to_dict() == {"51": {"A1": 1}}
    assert set(notes(found)) == {"zeros", "repeated-judgements"}


def test_several_qrels_are_joined(beir, tmp_path):
    parts = [tmp_path / "a", tmp_path / "b"]
    parts[0].write_text("q1 0 d1 1\n")
    parts[1].write_text("q2 0 d2 2\n")
    found = read_collection(beir(test="q1\td1\t1\n"), qrels=parts, name="named")
    assert found.qrels.to_dict() == {"q1": {"d1": 1}, "q2": {"d2": 2}}
    assert found.name == "named"


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("x.bin", b"\x00\x01\x02", "unrecognized format; expected a BEIR folder"),
        ("x.txt", b"plain text\n", "unrecognized format"),
        ("x.jsonl", b"", "is empty"),
        ("x.jsonl", CORPUS.encode(), r"has no queries: give a file of queries \(queries=…\)"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, content, complaint):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read_collection(path)


def test_folders_that_hold_nothing_or_anything_are_refused(tmp_path):
    with pytest.raises(InputError, match="no documents found"):
        read_collection(tmp_path)
    (tmp_path / "a.jsonl").write_text(CORPUS)
    (tmp_path / "b.trec").write_text("<DOC><DOCNO>1</DOCNO></DOC>")
    with pytest.raises(InputError, match="different formats"):
        read_collection(tmp_path)


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such file or folder; expected a BEIR folder"):
        read_collection(tmp_path / "gone")


def test_irds_without_the_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtraError, match="pip install ir_datasets"):
        read_collection("irds:vaswani")


class _Row(tuple):
    """A stand-in for the named tuples of ir_datasets."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def default_text(self):
        return " ".join(self[1:])


def _row(*names):
    places = {name: property(lambda self, at=at: self[at]) for at, name in enumerate(names)}
    return type("Row", (_Row,), {"_fields": names, **places})


class FakeDataset:
    """The part of a dataset of ir_datasets that is used."""

    document = _row("doc_id", "title", "body")
    query = _row("query_id", "title", "description")
    qrel = _row("query_id", "doc_id", "relevance")

    def has_docs(self):
        return True

    has_queries = has_qrels = has_docs

    def docs_iter(self):
        yield self.document(("d1", "T", "one"))
        yield self.document(("d2", "U", "two"))

    def docs_store(self):
        return {doc.doc_id: doc for doc in self.docs_iter()}

    def queries_iter(self):
        yield self.query(("q1", "short", "longer"))

    def qrels_iter(self):
        yield self.qrel(("q1", "d2", 1))


def test_irds_by_a_stand_in(monkeypatch):
    monkeypatch.setattr(collection_files, "load_irds", lambda _: FakeDataset())
    found = read_collection("irds:fake")
    assert (found.name, list(found.documents.pairs())) == (
        "fake",
        [("d1", "T one"), ("d2", "U two")],
    )
    assert found.documents.text(1) == "U two"
    assert found.queries.texts == ("short",)
    chosen = read_collection("irds:fake", fields=["body", "title"], query_field="description")
    assert (chosen.documents.text(0), chosen.queries.texts) == ("one\nT", ("longer",))
    with pytest.raises(InputError, match="no field 'x'; documents have doc_id, title, body"):
        read_collection("irds:fake", fields=["x"])


def test_irds_failures_are_told_in_one_sentence(monkeypatch):
    class Broken(FakeDataset):
        def docs_iter(self):
            raise ConnectionError("no network")

    monkeypatch.setattr(collection_files, "load_irds", lambda _: Broken())
    with pytest.raises(InputError, match=r"irds:x cannot be read \(ConnectionError: no network\)"):
        read_collection("irds:x")


def test_irds_by_the_real_package(tmp_path):
    ir_datasets = pytest.importorskip("ir_datasets")
    (tmp_path / "docs.tsv").write_text("d1\tone\nd2\ttwo\n")
    (tmp_path / "queries.tsv").write_text("q1\tfirst\n")
    (tmp_path / "qrels").write_text("q1 0 d2 1\n")
    dataset = ir_datasets.create_dataset(
        docs_tsv=str(tmp_path / "docs.tsv"),
        queries_tsv=str(tmp_path / "queries.tsv"),
        qrels_trec=str(tmp_path / "qrels"),
    )
    ir_datasets.registry.register("heldout-local", dataset)
    found = read_collection("irds:heldout-local")
    assert list(found.documents.pairs()) == [("d1", "one"), ("d2", "two")]
    assert found.qrels.to_dict() == {"q1": {"d2": 1}}
    with pytest.raises(InputError, match="no dataset 'heldout-unknown'"):
        read_collection("irds:heldout-unknown")
