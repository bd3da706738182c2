"""The index on disk: comes back as it was, or is refused by name; never half there."""

import errno
import hashlib
import json
import re
import resource
import struct
from contextlib import contextmanager

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index
from heldout.retrieve.indexing import file as index_file
from heldout.retrieve.indexing import settings

ARRAYS = ("offsets", "documents", "counts", "lengths", "distinct", "id_order")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "small.index"
    Index.build({"d1": "red apples", "d2": "green apples, green pears"}, path=path)
    return path


def header_of(content):
    _, _, _, begin, length, _ = struct.unpack("<8sIIQQ32s", content[:64])
    return json.loads(content[begin : begin + length])


def rewrite(path, change, version=index_file.FORMAT):
    """Change the header of a file, with its checksum."""
    content = path.read_bytes()
    header = header_of(content)
    change(header)
    begin = struct.unpack("<8sIIQQ32s", content[:64])[3]
    text = json.dumps(header).encode()
    head = struct.pack(
        "<8sIIQQ32s", b"heldoutX", version, 0, begin, len(text), hashlib.sha256(text).digest()
    )
    path.write_bytes(head + content[64:begin] + text)


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
    assert (tmp_path / "a.index").read_bytes() == (tmp_path / "b.index").read_bytes()


def test_arrays_can_only_be_read(path):
    for index in (Index.open(path), Index.build(["a b"])):
        for name in ARRAYS:
            assert not getattr(index, name).flags.writeable


def test_sections_are_aligned(path):
    for section in header_of(path.read_bytes())["sections"]:
        assert section["offset"] % 64 == 0


def test_verify_finds_a_changed_byte_in_every_section(path):
    content = path.read_bytes()
    Index.open(path).verify()
    sections = header_of(content)["sections"]
    assert len(sections) == 18
    for section in sections:
        if not section["count"]:  # two documents have no frequent terms
            continue
        damaged = bytearray(content)
        damaged[section["offset"]] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=f"damaged in its ({section['name']}|postings)"):
            Index.open(path).verify()


@pytest.mark.parametrize(
    ("section", "posting", "number"),
    [
        ("documents", 0, 2),  # there are documents 0 and 1
        ("documents", 0, -1),
        ("documents", 0, 2**31 - 1),
        ("offsets", 1, 99),
        ("offsets", 1, -4),
    ],
)
def test_damaged_postings_are_refused_before_a_loop_writes_where_they_say(
    path, section, posting, number
):
    content = bytearray(path.read_bytes())
    found = next(one for one in header_of(content)["sections"] if one["name"] == section)
    kind = np.dtype({"documents": "<i4", "offsets": "<i8"}[section])
    begin = found["offset"] + posting * kind.itemsize
    content[begin : begin + kind.itemsize] = np.array(number, kind).tobytes()
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged in its postings: build the index again"):
        Index.open(path)


def test_a_file_that_was_cut_off_is_refused_wherever_that_was(path):
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match=re.escape(str(path))):
            Index.open(path)
    path.write_bytes(content + b"\n")
    with pytest.raises(InputError, match="truncated or extended"):
        Index.open(path)


def test_a_changed_byte_in_head_or_header_is_refused(path):
    content = path.read_bytes()
    begin = struct.unpack("<8sIIQQ32s", content[:64])[3]
    for place in (*range(12), *range(16, 64), *range(begin, len(content))):
        damaged = bytearray(content)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=re.escape(str(path))):
            Index.open(path)


@pytest.mark.parametrize("content", [b"", b"heldou", b"PK\x03\x04 something else" * 20])
def test_a_foreign_file_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(InputError, match="not an index of heldout"):
        Index.open(path)


def test_another_version_is_refused_with_what_to_do(path):
    rewrite(path, lambda _: None, version=3)
    with pytest.raises(InputError, match=r"has format 3, .* reads format 2: build the index again"):
        Index.open(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            Index.open(path)
    with pytest.raises(InputError, match="is a directory"):
        Index.build(["a"], path=tmp_path)


def test_stems_of_another_snowball_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "stemmed.index"
    Index.build(["cats"], Analyzer(stemmer="english"), path=path)
    monkeypatch.setattr(settings, "_stems_version", lambda _: "99.0")
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
    assert again.encode(["c"]).terms.tolist() == [1]
    with pytest.raises(InputError, match=r"not with test_index_file\.other_function"):
        Index.open(path, function=other_function)
    without.save(tmp_path / "copy.index")
    assert (tmp_path / "copy.index").read_bytes() == path.read_bytes()


def test_a_function_for_an_index_without_one_is_refused(path):
    with pytest.raises(InputError, match="with no function"):
        Index.open(path, function=split_at_bars)


@contextmanager
def largest_file(size):
    """Let no file of this process grow beyond `size`, as if the disk were full then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("memory", [1 << 30, 1 << 20])
def test_a_full_disk_leaves_no_half_index(path, memory):
    # With little memory it is the temporary file that finds the disk full, else the index.
    rng = np.random.default_rng(2)
    words = rng.integers(0, 20_000, (1_500, 200))
    texts = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    before = path.read_bytes()
    with largest_file(300_000), pytest.raises(InputError, match="cannot be written") as caught:
        Index.build(texts, path=path, memory=memory)
    assert str(path) in str(caught.value)
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before
    with largest_file(300_000), pytest.raises(InputError, match="cannot be written"):
        Index.build(texts).save(path)
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_no_space_left_is_said(path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(index_file.IndexWriter, "write", full)
    with pytest.raises(InputError, match=r"small\.index.*No space left on device"):
        Index.build(["a"], path=path)


def test_an_index_replaces_the_one_before_only_when_it_stands(path):
    opened = Index.open(path)
    Index.build(["something else"], path=path)
    assert list(opened.document_ids) == ["d1", "d2"]
    opened.verify()
    assert list(Index.open(path).terms) == ["else", "something"]


def test_a_posting_takes_six_bytes_and_a_bit(tmp_path):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 3_000, (2_000, 100)).tolist()
    path = tmp_path / "index"
    index = Index.build([" ".join(map(str, row)) for row in words], path=path)
    assert path.stat().st_size < 8 * index.n_postings
