"""Bytes of a file, packed or not, cut into pieces that lose no line; any number of threads."""

import gzip
import io
import os
import random
import sys

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from heldout import evaluate, read_qrels, read_run
from heldout.data import files
from heldout.data.files import Source, blocks, open_source
from heldout.data.parallel import threads
from heldout.data.words import PADDING
from heldout.errors import InputError
from refusals import refusal

BOM = b"\xef\xbb\xbf"
TEXT = b"first line\nsecond line\n\nlast line"
LINE = st.binary(max_size=12).map(lambda line: line.replace(b"\n", b".")) | st.just(b"x" * 50)
LINES = st.lists(LINE, min_size=1)


def from_memory(content):
    return Source("text", len(content), None, content)


def cut(source, piece=1 << 20):
    """All pieces as (offset, text), cut at line ends after `piece` bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "PIECE", piece)
        return [(span[0], source.piece(span)[:-PADDING].tobytes()) for span in source.spans()]


@given(LINES, st.booleans(), st.integers(1, 20))
def test_pieces_are_whole_lines_and_lose_nothing(tmp_path_factory, lines, newline, piece):
    text = b"x" + b"\n".join(lines) + b"\n" * newline
    ended = text if text.endswith(b"\n") else text + b"\n"
    pieces = cut(from_memory(text), piece)
    assert b"".join(part for _, part in pieces) == ended
    for offset, part in pieces:
        assert part.endswith(b"\n")
        assert ended[offset : offset + len(part)] == part
    path = tmp_path_factory.mktemp("cut") / "text"
    path.write_bytes(text)
    source = open_source(path)
    assert source.path is not None
    assert cut(source, piece) == pieces
    streamed = list(blocks(str(path), size=piece))
    assert b"".join(block.raw for block in streamed) == text
    assert all(block.raw.endswith(b"\n") for block in streamed[:-1])
    for block in streamed:
        assert block.line == 1 + text[: block.offset].count(b"\n")
        assert source.place(block.offset) == f"{path}:{block.line}"


class Standard:
    """What is left of sys.stdin for a program that reads bytes."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_packed_files_are_told_by_content_not_by_name(write, packers, monkeypatch):
    for pack in (bytes, *packers.values()):
        for mark in (b"", BOM):
            source = open_source(write("no-ending", pack(mark + TEXT)))
            assert source.head() == TEXT
            assert cut(source) == [(0, TEXT + b"\n")]
        # Joined files are one.
        assert open_source(write("joined", pack(b"one\n") + pack(b"two\n"))).head() == b"one\ntwo\n"
        monkeypatch.setattr(sys, "stdin", Standard(pack(TEXT)))
        source = open_source("-")
        assert cut(source) == [(0, TEXT + b"\n")]
        assert source.place(0) == "<stdin>:1"
    packer = zstandard.ZstdCompressor().compressobj()  # as a stream, without its size
    streamed = packer.compress(TEXT) + packer.flush()
    assert open_source(write("streamed", streamed)).head() == TEXT
    assert open_source(write("x", TEXT)).place(len(TEXT) - 1).endswith("x:4")
    padded = gzip.compress(TEXT) + bytes(40)  # as tapes and some tools leave it
    assert open_source(write("padded", padded)).head() == TEXT


def test_files_that_cannot_be_read_are_refused(write, tmp_path, monkeypatch):
    for content in (b"", gzip.compress(b"")):
        assert "nothing is empty" in refusal(open_source, write("nothing", content))
    monkeypatch.setattr(sys, "stdin", Standard(b""))
    assert "<stdin> is empty" in refusal(open_source, "-")
    assert "is a directory: give the path of a file" in refusal(open_source, tmp_path)
    assert "none: no such file" in refusal(open_source, tmp_path / "none")
    assert "cannot be read" in refusal(open_source, "a\0b")
    path = write("shrinking", TEXT)
    source = open_source(path)
    path.write_bytes(TEXT[:5])
    assert "became shorter" in refusal(source.piece, source.spans()[0])


QUERIES, DEPTH = 40, 50


def small_pieces(patch, count):
    patch.setenv("HELDOUT_THREADS", str(count))
    patch.setattr(files, "PIECE", 700)


def test_any_number_of_threads_gives_the_same(write, monkeypatch):
    """Of many pieces, with ties, interleaved queries and one long id."""
    generator = random.Random(3)  # noqa: S311 - the same numbers every time
    rows = [
        f"q{query} Q0 d{generator.randrange(10**6)}-{doc} 0 {generator.randrange(20) / 8} t"
        for query in range(QUERIES)
        for doc in range(DEPTH)
    ]
    generator.shuffle(rows)
    rows[len(rows) // 2] = "q7 Q0 http://example.org/" + "x" * 70 + " 0 1.25 t"
    path = write("a.run", "\n".join(rows) + "\n")
    judged = [row.split()[:3] for row in rows[::7]]
    grades = (f"{query} 0 {doc} {n % 3}\n" for n, (query, _, doc) in enumerate(judged))
    judgements = write("qrels", "".join(grades))
    found = []
    for count in (1, 2, 5):
        small_pieces(monkeypatch, count)
        run, qrels = read_run(path), read_qrels(judgements)
        result = evaluate(qrels, [run, path], ["nDCG@10", "AP", "RR"])
        values = [result.per_unit(0, at).tolist() for at in range(3)]
        found.append((list(run.to_dict().items()), run.docs.tolist(), qrels.to_dict(), values))
    assert len(found[0][1]) == QUERIES * DEPTH
    assert found[1] == found[2] == found[0]


def test_bad_lines_are_told_in_the_order_of_the_file(write, monkeypatch):
    lines = [f"q Q0 d{row} 1 {row} t" for row in range(400)]
    twice = write("twice.run", "\n".join([*lines[:300], "q Q0 d20 1 300 t", *lines[301:]]))
    for row in (17, 180, 333):
        lines[row] = "broken"
    broken = write("broken.run", "\n".join(lines))
    for count in (1, 2):
        small_pieces(monkeypatch, count)
        with pytest.raises(InputError, match=r"broken\.run:18: .*and 2 more bad lines\)"):
            read_run(broken)
        with pytest.raises(InputError, match=r"e\.run:301: .*document d20 .*first in .*e\.run:21"):
            read_run(twice)


def test_without_a_number_there_are_as_many_threads_as_allowed_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 4, 5}, raising=False)
    for wanted in ("", "0", "many", "-2"):
        monkeypatch.setenv("HELDOUT_THREADS", wanted)
        assert threads() == 3
