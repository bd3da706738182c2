"""A collection whose index is at hand is not read again; a changed one is still refused."""

from __future__ import annotations

import json
import os
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heldout.cli import main
from heldout.data.collection_files import read_collection, read_documents
from heldout.data.documents import documents_of
from heldout.data.io import jsonl
from heldout.data.origin import Origin
from heldout.errors import InputError
from heldout.experiment.experiment import Experiment
from heldout.retrieve.index import Index
from heldout.retrieve.known import IndexedDocuments, known_to

if TYPE_CHECKING:
    from pathlib import Path


TEXTS = {"d2": "red apples", "d10": "green apples", "d1": "Red  apples", "é": "pears", "d3": ""}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "qrels").mkdir(parents=True)
    lines = (json.dumps({"_id": name, "text": text}) for name, text in TEXTS.items())
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    asked = [{"_id": f"q{number}", "text": "red green apples pears"} for number in range(4)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    rows = [f"q{number}\t{name}\t1" for number in range(4) for name in TEXTS]
    (folder / "qrels/test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows, ""]))
    return folder


@pytest.fixture
def index(corpus: Path, tmp_path: Path) -> Index:
    return Index.build(read_documents(corpus), path=tmp_path / "x.index")


@pytest.fixture
def unreadable(monkeypatch: pytest.MonkeyPatch, index: Index, corpus: Path) -> None:
    """Nobody reads documents from now on."""
    assert index.n_documents == len(TEXTS) == len(read_documents(corpus))

    def refuse(*_: object) -> None:
        raise AssertionError("the corpus was read")

    monkeypatch.setattr(jsonl.JsonLines, "records", refuse)


def run_command(arguments: list[str]) -> int:
    """Return the exit code."""
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def change(corpus: Path, *, same_stamp: bool = False) -> None:
    """Change one text, but not the size of the file."""
    path = corpus / "corpus.jsonl"
    before = path.stat()
    path.write_text(path.read_text().replace("pears", "plums"))
    time = before.st_mtime_ns if same_stamp else before.st_mtime_ns + 1
    os.utime(path, ns=(time, time))


def test_an_index_is_built_in_one_pass_over_the_files(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    records = jsonl.JsonLines.records

    def counted(self: jsonl.JsonLines, path: str, begin: int) -> Any:
        read.append(path)
        return records(self, path, begin)

    monkeypatch.setattr(jsonl.JsonLines, "records", counted)
    documents = read_documents(corpus)
    seen: list[tuple[int, int]] = []
    index = Index.build(documents, path=tmp_path / "x.index", progress=lambda *at: seen.append(at))
    # Once for all documents, and once for the place of the empty one.
    assert len(read) == 2
    assert seen == [(len(TEXTS), 0)]
    assert [note.code for note in documents.notes] == ["empty-documents"]
    assert index.documents_digest == documents.digest()
    assert index.origin == documents.origin()


def test_an_id_that_appears_twice_is_named_with_its_places(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (corpus / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d10", "text": "again"}\n')
    target = tmp_path / "x.index"
    assert run_command(["index", str(corpus), "-o", str(target)]) == 2
    assert "corpus.jsonl:6: the document id 'd10' appears twice (first at" in (
        capsys.readouterr().err
    )
    assert not target.exists()


@pytest.mark.usefixtures("unreadable")
def test_ids_hashes_and_digest_come_from_the_index(index: Index, corpus: Path) -> None:
    found = read_collection(corpus, known=known_to(index)).documents
    plain = documents_of(TEXTS)
    assert isinstance(found, IndexedDocuments)
    assert list(found.ids) == list(TEXTS)
    assert found.ids.find([*TEXTS, "d", "d4", "zz", ""]).tolist() == [0, 1, 2, 3, 4, *[-1] * 4]
    assert found.ids.take(np.array([3, 0])) == plain.ids.take(np.array([3, 0])) == ["é", "d2"]
    assert found.ids.hashes().tolist() == plain.ids.hashes().tolist()
    assert found.digest() == plain.digest()
    assert np.array_equal(found.text_hashes(), plain.text_hashes())
    assert [note.code for note in found.notes] == ["empty-documents"]


def test_collections_are_equal(index: Index, corpus: Path) -> None:
    known, plain = read_collection(corpus, known=known_to(index)), read_collection(corpus)
    assert known.fingerprint() == plain.fingerprint()
    assert known.notes == plain.notes
    assert known.documents.text(1) == "green apples"
    again = pickle.loads(pickle.dumps(known.documents))  # noqa: S301 - our own
    assert list(again.ids) == list(TEXTS)
    assert again.text(3) == "pears"


@pytest.mark.usefixtures("unreadable")
def test_search_and_run_do_not_read(
    index: Index, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(index.path)
    assert run_command(["search", str(corpus), "--index", path, "--quiet"]) == 0
    assert "d10" in capsys.readouterr().out
    results = Experiment(
        collection=str(corpus), systems="bm25", plan={"folds": 2}, by="document", index=path
    ).run()
    assert results.estimate("bm25")["value"] > 0


@pytest.mark.parametrize("moved", [False, True])
def test_a_changed_corpus_is_refused(
    index: Index, corpus: Path, moved: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    change(corpus)
    if moved:
        corpus = corpus.rename(corpus.with_name("elsewhere"))
    assert run_command(["search", str(corpus), "--index", index.path]) == 2
    assert "text or ids differ" in capsys.readouterr().err
    path, plan = index.path, {"folds": 2}
    experiment = Experiment(collection=str(corpus), systems="bm25", plan=plan, index=path)
    with pytest.raises(InputError, match="not an index of these documents"):
        experiment.run()


def test_verify_index_always_compares(index: Index, corpus: Path) -> None:
    given: Any = {"collection": str(corpus), "systems": "bm25", "plan": {"folds": 2}}
    given["index"] = index.path
    Experiment(**given, verify_index=True).run()
    change(corpus, same_stamp=True)
    Experiment(**given).run()  # nothing tells that it has changed
    with pytest.raises(InputError, match="not an index of these documents"):
        Experiment(**given, verify_index=True).run()
    known = read_collection(corpus, known=known_to(index))
    with pytest.raises(InputError, match="have changed since they were indexed"):
        known.documents.text(0)


def test_a_moved_or_otherwise_read_corpus_is_read(index: Index, corpus: Path) -> None:
    known = known_to(index)
    fields = read_collection(corpus, fields=["text"], known=known)
    assert not isinstance(fields.documents, IndexedDocuments)
    elsewhere = corpus.rename(corpus.with_name("elsewhere"))
    moved = read_collection(elsewhere, known=known)
    assert not isinstance(moved.documents, IndexedDocuments)
    assert index.made_of(moved.documents)


def test_an_origin_is_read_back_or_ignored(index: Index) -> None:
    assert index.origin is not None
    assert Origin.from_json(json.loads(json.dumps(index.origin.as_json()))) == index.origin
    for wrong in (None, [], {}, {"kind": "x"}, {**index.origin.as_json(), "files": [[1]]}):
        assert Origin.from_json(wrong) is None
