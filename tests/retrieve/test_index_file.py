"""The index on disk: comes back as it was, or is refused by name; never half there."""

import errno
import json
import re
import resource
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.retrieve import analyze
from heldout.retrieve import index_files as index_file
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index

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
    assert list(opened.terms) == list(built.terms)
    assert list(opened.document_ids) == list(texts)
    assert opened.analyzer == built.analyzer
    assert opened.fingerprint == built.fingerprint
    opened.verify()
    built.verify()
    opened.save(tmp_path / "b.index")
    assert files_of(tmp_path / "a.index") == files_of(tmp_path / "b.index")


def test_arrays_can_only_be_read(path):
    for index in (Index.open(path), Index.build(["a b"])):
        for name in ARRAYS:
            assert not getattr(index, name).flags.writeable


@pytest.mark.parametrize("longest", [8, 64, 65])
def test_ids_come_back_as_they_were(tmp_path, longest):
    ids = ["x" * longest, "é", "d10", "d9"]
    index = Index.build(dict.fromkeys(ids, "text"), path=tmp_path / "index")
    assert ("ids.npy" in files_of(tmp_path / "index")) == (longest <= 64)
    assert list(index.document_ids) == ids
    assert index.document_ids.find(["d9", "d", *ids[:2]]).tolist() == [3, -1, 0, 1]
    assert index.document_ids.take(np.array([2, 1])).tolist() == ["d10", "é"]


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
    array = np.load(path / f"{name}.npy")
    array[place] = number
    np.save(path / f"{name}.npy", array)


@pytest.mark.parametrize(("place", "number"), [(1, 99), (1, -4), (0, 1), (-1, 6)])
@pytest.mark.parametrize("name", ["offsets", "term_offsets"])
def test_damaged_offsets_are_refused_at_opening(path, name, place, number):
    change(path, name, place, number)
    with pytest.raises(InputError, match=f"damaged in its {name}: build the index again"):
        Index.open(path)


@pytest.mark.parametrize("number", [2, -1, 2**31 - 1, 1])  # documents 0 and 1 are there, ascending
def test_damaged_postings_are_refused_before_a_loop_writes_where_they_say(path, number):
    change(path, "documents", 0, number)
    index = Index.open(path)
    assert len(index.encode(["green pears"])) == 2  # its terms are sound
    with pytest.raises(InputError, match="damaged in its postings: build the index again"):
        index.encode(["green", "apples"])


def test_files_that_were_cut_off_or_changed_are_refused_wherever_that_was(path):
    for name, content in files_of(path).items():
        header = len(content) if name == "index.json" else 128
        for length in range(0, len(content), 1 if len(content) < 500 else 37):
            (path / name).write_bytes(content[:length])
            with pytest.raises(InputError, match=f"{re.escape(str(path))}.*build the index again"):
                Index.open(path)
        for place in range(0, header, 11):
            damaged = bytearray(content)
            damaged[place] ^= 4
            (path / name).write_bytes(damaged)
            try:
                np.testing.assert_equal(Index.open(path)._arrays, Index.open(path)._arrays)
            except InputError as error:
                assert str(path) in str(error)  # noqa: PT017 - white space may change
        (path / name).write_bytes(content + b"x")
        with pytest.raises(InputError, match=r"damaged|truncated or changed"):
            Index.open(path)
        (path / name).unlink()
        with pytest.raises(InputError, match=r"No such file|not an index"):
            Index.open(path)
        (path / name).write_bytes(content)
    Index.open(path).verify()


def test_an_array_of_another_kind_is_refused(path):
    np.save(path / "documents.npy", np.load(path / "documents.npy").astype(np.uint32))
    with pytest.raises(InputError, match="truncated or changed"):
        Index.open(path)


def test_a_changed_description_is_refused(path):
    about = json.loads((path / "index.json").read_text())
    for name, value in about.items():
        if name != "format":
            changed = {**about, name: f"{value}x"}
            (path / "index.json").write_text(json.dumps(changed))
            with pytest.raises(InputError, match=r"index\.json of the index is damaged"):
                Index.open(path)


def test_another_version_is_refused_with_what_to_do(path):
    about = json.loads((path / "index.json").read_text())
    (path / "index.json").write_text(json.dumps({**about, "format": 3}))
    with pytest.raises(InputError, match=r"has format 3, .* reads format 4: build the index again"):
        Index.open(path)


def test_what_is_no_index_is_neither_opened_nor_replaced(tmp_path):
    (tmp_path / "file").write_text("heldout")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "none", tmp_path, tmp_path / "file", tmp_path / "folder"):
        with pytest.raises(InputError, match=r"not an index of heldout \(a folder with index.json"):
            Index.open(path)
        if path.name != "none":
            with pytest.raises(InputError, match="exists and is not an index"):
                Index.build(["a"], path=path)
    assert (tmp_path / "file").read_text() == "heldout"


def test_stems_of_another_snowball_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "stemmed.index"
    Index.build(["cats"], Analyzer(stemmer="english"), path=path)
    monkeypatch.setattr(analyze, "_stems_version", lambda _: "99.0")
    with pytest.raises(InputError, match=r"99\.0 is installed"):
        Index.open(path)


def split_at_bars(text):
    return text.split("|")


def other_function(text):
    return [text]


def test_an_index_of_a_function_wants_it_back(tmp_path):
    path = tmp_path / "f.index"
    built = Index.build(["a b|c", "c|c"], Analyzer(function=split_at_bars), path=path)
    assert built.encode(["c|a b|c"]).counts.tolist() == [1.0, 2.0]
    without = Index.open(path)
    assert without.fingerprint == built.fingerprint
    assert list(without.terms) == ["a b", "c"]
    with pytest.raises(InputError, match=r"with the function test_index_file\.split_at_bars"):
        without.encode(["c"])
    again = Index.open(path, function=split_at_bars)
    assert again.encode(["c"]).numbers.tolist() == [1]
    with pytest.raises(InputError, match=r"not with test_index_file\.other_function"):
        Index.open(path, function=other_function)
    without.save(tmp_path / "copy.index")
    assert files_of(tmp_path / "copy.index") == files_of(path)


def test_a_function_for_an_index_without_one_is_refused(path):
    with pytest.raises(InputError, match="with no function"):
        Index.open(path, function=split_at_bars)


@contextmanager
def largest_file(size):
    """Let no file of this process grow beyond `size`, as if the disk were full then."""
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


@pytest.mark.parametrize("memory", [1 << 30, 1 << 20])
def test_a_full_disk_leaves_no_half_index(path, memory):
    # With little memory it is the temporary file that finds the disk full, else the index.
    rng = np.random.default_rng(2)
    words = rng.integers(0, 20_000, (1_500, 200))
    texts = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    before = files_of(path)
    with largest_file(300_000), pytest.raises(InputError, match="cannot be written") as caught:
        Index.build(texts, path=path, memory=memory)
    assert str(path) in str(caught.value)
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert files_of(path) == before
    with largest_file(300_000), pytest.raises(InputError, match="cannot be written"):
        Index.build(texts).save(path)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_no_space_left_is_said(path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(index_file.IndexWriter, "append", full)
    with pytest.raises(InputError, match=r"small\.index.*No space left on device"):
        Index.build(["a"], path=path)


def test_an_index_replaces_the_one_before_only_when_it_stands(path):
    opened = Index.open(path)
    Index.build(["something else"], path=path)
    assert list(opened.document_ids) == ["d1", "d2"]
    opened.verify()
    assert list(Index.open(path).terms) == ["else", "something"]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_failed_replacement_leaves_the_index_before(path, monkeypatch):
    before, rename = files_of(path), Path.rename

    def broken(self, target):
        if self.suffix == ".tmp":
            raise OSError(errno.EIO, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", broken)
    with pytest.raises(InputError, match="Input/output error"):
        Index.build(["something else"], path=path)
    assert files_of(path) == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_posting_takes_six_bytes_and_a_bit(tmp_path):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 3_000, (2_000, 100)).tolist()
    path = tmp_path / "index"
    index = Index.build([" ".join(map(str, row)) for row in words], path=path)
    assert index_file.index_size(path) < 8 * index.n_postings
