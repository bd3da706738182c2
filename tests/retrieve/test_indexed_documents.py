"""An index can be the documents of an experiment; one of other documents is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heldout import Experiment, Results
from heldout.cli import main
from heldout.data import files
from heldout.data.collection_files import read_documents
from heldout.data.documents import documents_of
from heldout.errors import InputError
from heldout.retrieve.index import Index, IndexedDocuments

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
    (folder / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in asked))
    rows = [f"q{number}\t{name}\t1" for number in range(4) for name in TEXTS]
    (folder / "qrels/test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows, ""]))
    return folder


@pytest.fixture
def index(corpus: Path, tmp_path: Path) -> Index:
    return Index.build(read_documents(corpus), path=tmp_path / "x.index")


def run_command(arguments: list[str]) -> int:
    """Return the exit code."""
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def change(corpus: Path) -> None:
    """Change one text, but not the size of the file."""
    path = corpus / "corpus.jsonl"
    path.write_text(path.read_text().replace("pears", "plums"))


def test_an_index_is_built_in_one_pass_over_the_files(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    blocks = files.blocks

    def counted(path: str, begin: int = 0) -> Any:
        read.append(path)
        return blocks(path, begin)

    monkeypatch.setattr(files, "blocks", counted)
    documents = read_documents(corpus)
    seen: list[tuple[int, int]] = []
    index = Index.build(documents, path=tmp_path / "x.index", progress=lambda *at: seen.append(at))
    assert len(read) == 1
    assert seen == [(len(TEXTS), 0)]
    assert [note.code for note in documents.notes] == ["empty-documents"]
    assert index.documents_digest == documents.digest


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


def test_ids_hashes_and_digest_come_from_the_index(index: Index) -> None:
    indexed, plain = IndexedDocuments(index), documents_of(TEXTS)
    assert list(indexed.ids) == list(TEXTS)
    assert indexed.ids.find([*TEXTS, "d", "d4", "zz", ""]).tolist() == [0, 1, 2, 3, 4, *[-1] * 4]
    assert indexed.ids.take(np.array([3, 0])) == plain.ids.take(np.array([3, 0])) == ["é", "d2"]
    assert indexed.ids.hashes().tolist() == plain.ids.hashes().tolist()
    assert indexed.digest == plain.digest
    assert np.array_equal(indexed.text_hashes, plain.text_hashes)
    with pytest.raises(InputError, match="an index has no texts"):
        indexed.text(0)


def test_an_index_named_as_the_documents_gives_the_same_numbers(
    index: Index, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = {"queries": corpus / "queries.jsonl", "qrels": corpus / "qrels/test.tsv"}
    more = [text for name, path in parts.items() for text in (f"--{name}", str(path))]
    plan = ["--system", "bm25(k1=0.5:2:3)", "--by", "document", "--folds", "2", "--seed", "1"]
    given = {
        "files": [str(corpus), "--index", index.path],
        "index": [index.path, *more],
        "workers": [index.path, *more, "--jobs", "2"],
    }
    values = {}
    for name, own in given.items():
        target = corpus.with_name(name)
        assert run_command(["run", *own, *plan, "-o", str(target), "--quiet"]) == 0
        values[name] = Results.read(target).estimate("bm25")
        assert run_command(["report", str(target), "-o", str(target / "page.html")]) == 0
    assert values["files"] == values["index"] == values["workers"]
    capsys.readouterr()
    assert run_command(["run", index.path, *more, *plan, "--index", index.path, "-o", "x"]) == 2
    assert "leave index and analyzer out" in capsys.readouterr().err


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
