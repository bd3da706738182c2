"""Bytes of a file, packed or not, cut into pieces that lose no line and double none."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from heldout.data import files as source_module
from heldout.data.files import Source, open_source
from heldout.data.words import PADDING
from heldout.errors import InputError

BOM = b"\xef\xbb\xbf"
TEXT = b"first line\nsecond line\n\nlast line"
LINES = st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b".")), min_size=1)


def from_memory(content):
    return Source("text", len(content), None, content)


def cut(source, piece=1 << 20):
    """All pieces as (offset, text), cut at line ends after `piece` bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_module, "PIECE", piece)
        return [(span[0], source.piece(span)[:-PADDING].tobytes()) for span in source.spans()]


def ended(text):
    return text if text.endswith(b"\n") or not text else text + b"\n"


@given(LINES, st.booleans(), st.integers(1, 20))
def test_pieces_put_together_are_the_text_with_a_newline_at_its_end(lines, newline, piece):
    text = b"\n".join(lines) + b"\n" * newline
    pieces = [text for _, text in cut(from_memory(text), piece)]
    assert b"".join(pieces) == ended(text)
    assert all(one.endswith(b"\n") for one in pieces if one)


@given(LINES, st.integers(1, 20))
def test_a_piece_knows_where_it_stands(lines, piece):
    text = ended(b"\n".join(lines))
    for offset, part in cut(from_memory(text), piece):
        assert not part or text[offset : offset + len(part)] == part


@given(LINES, st.integers(1, 20))
def test_a_file_is_cut_as_the_same_text_in_memory(tmp_path_factory, lines, piece):
    text = b"x" + b"\n".join(lines)
    path = tmp_path_factory.mktemp("cut") / "text"
    path.write_bytes(text)
    source = open_source(path)
    assert source.path is not None
    assert cut(source, piece) == cut(from_memory(text), piece)


@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_a_line_longer_than_several_pieces_belongs_to_the_one_it_begins_in(newline):
    text = b"ab\n" + b"x" * 50 + b"\ncd" + newline
    pieces = [text for _, text in cut(from_memory(text), 8)]
    assert pieces[0] == b"ab\n" + b"x" * 50 + b"\n"
    assert [one for one in pieces[1:] if one] == [b"cd\n"]


def test_a_byte_order_mark_in_a_file_is_left_out(tmp_path):
    path = tmp_path / "marked"
    path.write_bytes(BOM + TEXT)
    assert cut(open_source(path)) == [(0, TEXT + b"\n")]
    assert open_source(path).head() == TEXT


@given(LINES, st.data())
def test_a_line_number_is_one_more_than_the_line_ends_before(lines, data):
    text = b"\n".join(lines) + b"\n"
    offset = data.draw(st.integers(0, len(text) - 1))
    assert from_memory(text).place(offset) == f"text:{1 + text[:offset].count(10)}"


def test_a_place_names_the_file_as_it_was_given_and_the_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("some.run").write_bytes(TEXT)
    assert open_source("some.run").place(TEXT.index(b"last")) == "some.run:4"


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
@pytest.mark.parametrize("mark", [b"", BOM], ids=["plain", "bom"])
def test_packed_files_are_told_by_content_not_by_name(tmp_path, packer, mark):
    path = tmp_path / "no-ending"
    path.write_bytes(packer(mark + TEXT))
    source = open_source(path)
    assert source.head() == TEXT
    assert cut(source) == [(0, TEXT + b"\n")]


def test_zstd_written_as_a_stream_without_its_size_is_unpacked(tmp_path):
    packer = zstandard.ZstdCompressor().compressobj()
    path = tmp_path / "streamed"
    path.write_bytes(packer.compress(TEXT) + packer.flush())
    assert open_source(path).head() == TEXT


@pytest.mark.parametrize("name", ["gz", "xz", "bz2"])
def test_packed_parts_behind_each_other_are_all_read(tmp_path, name):
    pack = PACKERS[name]
    path = tmp_path / "parts"
    path.write_bytes(pack(b"one\n") + pack(b"two\n"))
    assert open_source(path).head() == b"one\ntwo\n"


class Standard:
    """What is left of sys.stdin for a program that reads bytes."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("packer", [bytes, *PACKERS.values()], ids=["plain", *PACKERS])
def test_standard_input_is_read_packed_or_not(monkeypatch, packer):
    monkeypatch.setattr(sys, "stdin", Standard(packer(TEXT)))
    source = open_source("-")
    assert cut(source) == [(0, TEXT + b"\n")]
    assert source.place(0) == "<stdin>:1"


def test_empty_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Standard(b""))
    with pytest.raises(InputError, match="<stdin> is empty"):
        open_source("-")


@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["plain", "packed"])
def test_an_empty_file_is_refused(tmp_path, content):
    path = tmp_path / "nothing"
    path.write_bytes(content)
    with pytest.raises(InputError, match="nothing is empty"):
        open_source(path)


def test_a_file_that_shrinks_while_it_is_read_is_noticed(tmp_path):
    path = tmp_path / "shrinking"
    path.write_bytes(TEXT)
    source = open_source(path)
    path.write_bytes(TEXT[:5])
    with pytest.raises(InputError, match="became shorter"):
        source.piece(source.spans()[0])
