"""The index on disk: as it was, or refused by name; never half there; the documents of others."""

import errno
import json
import re
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from commands import printed, refused
from heldout import Analyzer, Collection, Experiment, Index, InputError, Results, export_collection
from heldout.data import files
from heldout.data.collection_files import read_documents
from heldout.data.documents import documents_of
from heldout.retrieve import analyze
from heldout.retrieve import index_files as index_file
from heldout.retrieve.index import IndexedDocuments
from refusals import refusal

ARRAYS = ("offsets", "documents", "counts", "lengths", "distinct", "id_order")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "small.index"
    Index.build({"d1": "red apples", "d2": "green apples, green pears"}, path=path)
    return path


def files_of(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_a_saved_index_is_the_same(tmp_path):
    texts = {f"id {n}": f"word{n % 7} word{n % 11} été" for n in range(50)}
    built = Index.build(texts, Analyzer(stop=("été",), stemmer="french"))
    built.save(tmp_path / "a.index")
    opened = Index.open(tmp_path / "a.index")
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(opened, name), getattr(built, name))
        assert getattr(opened, name).dtype == getattr(built, name).dtype
        for index in (opened, built):
            assert not getattr(index, name).flags.writeable
    assert list(opened.terms) == list(built.terms)
    assert list(opened.document_ids) == list(texts)
    assert opened.analyzer == built.analyzer
    assert opened.fingerprint == built.fingerprint
    opened.verify()
    built.verify()
    opened.save(tmp_path / "b.index")
    assert files_of(tmp_path / "a.index") == files_of(tmp_path / "b.index")
    for longest in (8, 64, 65):
        ids = ["x" * longest, "é", "d10", "d9"]
        index = Index.build(dict.fromkeys(ids, "text"), path=tmp_path / "index")
        assert ("ids.npy" in files_of(tmp_path / "index")) == (longest <= 64)
        assert list(index.document_ids) == ids
        assert index.document_ids.find(["d9", "d", *ids[:2]]).tolist() == [3, -1, 0, 1]
        assert index.document_ids.take(np.array([2, 1])).tolist() == ["d10", "é"]


# Damage


def test_verify_finds_a_changed_byte_in_every_file(path):
    Index.open(path).verify()
    arrays = sorted(path.glob("*.npy"))
    assert len(arrays) == 17
    for file in arrays:
        if not np.load(file).size:  # two documents have no frequent terms
            continue
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(InputError, match=f"damaged in its {file.stem}: build the index again"):
            Index.open(path).verify()
        file.write_bytes(content)


def change(path, name, place, number):
    """Change a number in an array of an index; return what the file was."""
    file = path / f"{name}.npy"
    content, array = file.read_bytes(), np.load(file)
    array[place] = number
    np.save(file, array)
    return file, content


def test_damaged_numbers_are_refused_before_a_loop_writes_where_they_say(path):
    for name in ("offsets", "term_offsets"):
        for place, number in ((1, 99), (1, -4), (0, 1), (-1, 6)):
            file, content = change(path, name, place, number)
            assert f"damaged in its {name}: build the index again" in refusal(Index.open, path)
            file.write_bytes(content)
    for number in (2, -1, 2**31 - 1, 1):  # documents 0 and 1 are there, ascending
        file, content = change(path, "documents", 0, number)
        index = Index.open(path)
        assert len(index.encode(["green pears"])) == 2  # its terms are sound
        said = refusal(index.encode, ["green", "apples"])
        assert "damaged in its postings: build the index again" in said
        file.write_bytes(content)


def test_files_that_were_cut_off_or_changed_are_refused_wherever_that_was(path):
    for name, content in files_of(path).items():
        header = len(content) if name == "index.json" else 128
        for length in [*range(0, len(content), 97), len(content) - 1]:
            (path / name).write_bytes(content[:length])
            said = refusal(Index.open, path)
            assert re.search(f"{re.escape(str(path))}.*build the index again", said), (name, length)
        for place in range(0, header, 31):
            damaged = bytearray(content)
            damaged[place] ^= 4
            (path / name).write_bytes(damaged)
            try:  # white space may change
                np.testing.assert_equal(Index.open(path).arrays, Index.open(path).arrays)
            except InputError as error:
                assert str(path) in str(error)  # noqa: PT017
        (path / name).write_bytes(content + b"x")
        assert re.search("damaged|truncated or changed", refusal(Index.open, path))
        (path / name).unlink()
        assert re.search("No such file|not an index", refusal(Index.open, path))
        (path / name).write_bytes(content)
    Index.open(path).verify()
    np.save(path / "documents.npy", np.load(path / "documents.npy").astype(np.uint32))
    assert "truncated or changed" in refusal(Index.open, path)
    about = json.loads((path / "index.json").read_text())
    for name, value in about.items():
        other = 3 if name == "format" else f"{value}x"
        (path / "index.json").write_text(json.dumps({**about, name: other}))
        said = refusal(Index.open, path)
        if name == "format":
            assert re.search("has format 3, .* reads format 4: build the index again", said)
        else:
            assert "index.json of the index is damaged" in said
    (path / "index.json").write_text("[]")
    assert "index.json of the index is damaged" in refusal(Index.open, path)


def test_what_is_no_index_is_neither_opened_nor_replaced(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("heldout")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "none", tmp_path, tmp_path / "file", tmp_path / "folder"):
        said = refusal(Index.open, path)
        assert "not an index of heldout (a folder with index.json" in said
        if path.name != "none":
            assert "exists and is not an index" in refusal(Index.build, ["a"], path=path)
    assert (tmp_path / "file").read_text() == "heldout"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.index").write_bytes(b"\x00\xfe\x80garbage")
    (tmp_path / "empty").touch()
    (tmp_path / "docs.jsonl").write_text('{"_id": "a", "text": "one"}\n')
    for name, message in (
        ("x.index", "unrecognized format"),
        ("empty", "is empty"),
        ("gone", "no such file or folder"),
    ):
        assert re.match(f"heldout: {name}:? {message}", refused(capsys, "index", name, "-o", "y"))
    for name in ("docs.jsonl", "pydocs", "."):
        said = refused(capsys, "index", name)
        assert said.startswith(f"heldout: {name} is not an index: to build one")


# Analyzers


def split_at_bars(text):
    return text.split("|")


def other_function(text):
    return [text]


def test_an_index_of_a_function_wants_it_back(tmp_path, path):
    built = Index.build(
        ["a b|c", "c|c"], Analyzer(function=split_at_bars), path=tmp_path / "f.index"
    )
    assert built.encode(["c|a b|c"]).counts.tolist() == [1.0, 2.0]
    without = Index.open(tmp_path / "f.index")
    assert without.fingerprint == built.fingerprint
    assert list(without.terms) == ["a b", "c"]
    said = refusal(without.encode, ["c"])
    assert "with the function test_index_file.split_at_bars" in said
    again = Index.open(tmp_path / "f.index", function=split_at_bars)
    assert again.encode(["c"]).numbers.tolist() == [1]
    said = refusal(Index.open, tmp_path / "f.index", function=other_function)
    assert "not with test_index_file.other_function" in said
    without.save(tmp_path / "copy.index")
    assert files_of(tmp_path / "copy.index") == files_of(tmp_path / "f.index")
    assert "with no function" in refusal(Index.open, path, function=split_at_bars)


def test_stems_of_another_snowball_are_refused(tmp_path, monkeypatch):
    Index.build(["cats"], Analyzer(stemmer="english"), path=tmp_path / "x")
    monkeypatch.setattr(analyze, "_stems_version", lambda _: "99.0")
    assert "99.0 is installed" in refusal(Index.open, tmp_path / "x")


# Writing


@contextmanager
def largest_file(size):
    """Let no file of this process grow beyond `size`, as if the disk were full then."""
    resource = pytest.importorskip("resource")  # not on Windows
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python would cut the compiled form of a module that is imported here for the first time.
    bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = bytecode


def test_a_full_disk_leaves_no_half_index(path):
    words = np.random.default_rng(2).integers(0, 20_000, (1_500, 200))
    texts = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    before = files_of(path)
    # With little memory it is the temporary file that finds the disk full, else the index.
    for memory in (1 << 30, 1 << 20):
        with largest_file(300_000):
            said = refusal(Index.build, texts, path=path, memory=memory)
        assert "cannot be written" in said
        assert str(path) in said
        assert [one.name for one in path.parent.iterdir()] == [path.name]
        assert files_of(path) == before
    index = Index.build(texts)
    with largest_file(300_000):
        assert "cannot be written" in refusal(index.save, path)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def broken(path, target, rename=Path.rename):
    if path.suffix == ".tmp":
        raise OSError(errno.EIO, "Input/output error")
    return rename(path, target)


def test_an_index_replaces_the_one_before_only_when_it_stands(path, monkeypatch):
    before = files_of(path)
    for place, name, failing, message in (
        (index_file.IndexWriter, "append", full, r"small\.index.*No space left on device"),
        (Path, "rename", broken, "Input/output error"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, failing)
            assert re.search(message, refusal(Index.build, ["something else"], path=path))
        assert files_of(path) == before
        assert [file.name for file in path.parent.iterdir()] == [path.name]
    opened = Index.open(path)
    Index.build(["something else"], path=path)
    assert list(opened.document_ids) == ["d1", "d2"]
    opened.verify()
    assert list(Index.open(path).terms) == ["else", "something"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


# An index as the documents of an experiment

TEXTS = {"d2": "red apples", "d10": "green apples", "d1": "Red  apples", "é": "pears", "d3": ""}


@pytest.fixture
def corpus(tmp_path):
    queries = {f"q{number}": "red green apples pears" for number in range(4)}
    qrels = {query: dict.fromkeys(TEXTS, 1) for query in queries}
    export_collection(Collection(TEXTS, queries, qrels), tmp_path / "corpus")
    return tmp_path / "corpus"


@pytest.fixture
def index(corpus, tmp_path):
    return Index.build(read_documents(corpus), path=tmp_path / "x.index")


def test_an_index_is_built_in_one_pass_over_the_files(corpus, tmp_path, monkeypatch, capsys):
    read, seen = [], []
    blocks = files.blocks

    def counted(path, begin=0):
        read.append(path)
        return blocks(path, begin)

    monkeypatch.setattr(files, "blocks", counted)
    documents = read_documents(corpus)
    index = Index.build(documents, path=tmp_path / "x.index", progress=lambda *at: seen.append(at))
    assert len(read) == 1
    assert seen == [(len(TEXTS), 0)]
    assert [note.code for note in documents.notes] == ["empty-documents"]
    assert index.documents_digest == documents.digest
    with (corpus / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d10", "text": "again"}\n')
    said = refused(capsys, "index", corpus, "-o", tmp_path / "y.index")
    assert "corpus.jsonl:6: the document id 'd10' appears twice (first at" in said
    assert not (tmp_path / "y.index").exists()


def test_ids_hashes_and_digest_come_from_the_index(index):
    indexed, plain = IndexedDocuments(index), documents_of(TEXTS)
    assert list(indexed.ids) == list(TEXTS)
    assert indexed.ids.find([*TEXTS, "d", "d4", "zz", ""]).tolist() == [0, 1, 2, 3, 4, *[-1] * 4]
    assert indexed.ids.take(np.array([3, 0])) == plain.ids.take(np.array([3, 0])) == ["é", "d2"]
    assert indexed.ids.hashes().tolist() == plain.ids.hashes().tolist()
    assert indexed.digest == plain.digest
    assert np.array_equal(indexed.text_hashes, plain.text_hashes)
    assert (plain.text_hashes[0] == plain.text_hashes[2]).all()  # case and blanks do not count
    assert len(np.unique(plain.text_hashes, axis=0)) == len(TEXTS) - 1
    assert "an index has no texts" in refusal(indexed.text, 0)


def test_an_index_named_as_the_documents_gives_the_same_numbers(index, corpus, capsys):
    more = ["--queries", corpus / "queries.jsonl", "--qrels", corpus / "qrels/test.tsv"]
    plan = ["--system", "bm25(k1=0.5:2:3)", "--by", "document", "--folds", 2, "--seed", 1]
    values = []
    for name, own in (("files", [corpus, "--index", index.path]), ("index", [index.path, *more])):
        target = corpus.with_name(name)
        printed(capsys, "run", *own, *plan, "-o", target, "--quiet")
        values.append(Results.read(target).estimate("bm25"))
        printed(capsys, "report", target, "-o", target / "page.html")
    assert values[0] == values[1]
    said = refused(capsys, "run", index.path, *more, *plan, "--index", index.path, "-o", "x")
    assert "leave index and analyzer out" in said


def test_a_changed_corpus_is_refused(index, corpus, capsys):
    file = corpus / "corpus.jsonl"
    file.write_text(file.read_text().replace("pears", "plums"))  # of the same size
    for folder in (corpus, corpus.with_name("elsewhere")):
        if folder != corpus:
            corpus.rename(folder)
        assert "text or ids differ" in refused(capsys, "search", folder, "--index", index.path)
        experiment = Experiment(
            collection=str(folder), systems="bm25", plan={"folds": 2}, index=index.path
        )
        assert "not an index of these documents" in refusal(experiment.run)
