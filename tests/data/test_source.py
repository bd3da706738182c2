"""Bytes of a file, packed or not, cut into pieces that lose no line; any number of threads."""

import gzip
import io
import os
import random
import subprocess
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


def test_a_place_names_the_file_as_it_was_given_and_the_line(write, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write("some.run", TEXT)
    source = open_source("some.run")
    for offset in range(len(TEXT)):
        assert source.place(offset) == f"some.run:{1 + TEXT[:offset].count(10)}"


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


def outcome(folder, count):
    with pytest.MonkeyPatch.context() as patch:
        small_pieces(patch, count)
        run = read_run(folder / "a.run")
        qrels = read_qrels(folder / "qrels")
        result = evaluate(qrels, [run, folder / "a.run"], ["nDCG@10", "AP", "RR"])
        values = [result.per_unit(0, at).tolist() for at in range(3)]
        return run.queries, run.docs.tolist(), run.scores.tolist(), qrels.to_dict(), values


def small_pieces(patch, count):
    patch.setenv("HELDOUT_THREADS", str(count))
    patch.setattr(files, "PIECE", 700)


def test_any_number_of_threads_gives_the_same(write, tmp_path):
    """Of many pieces, with ties, interleaved queries and one long id."""
    generator = random.Random(3)  # noqa: S311 - the same numbers every time
    rows = [
        f"q{query} Q0 d{generator.randrange(10**6)}-{doc} 0 {generator.randrange(20) / 8} t"
        for query in range(QUERIES)
        for doc in range(DEPTH)
    ]
    generator.shuffle(rows)
    rows[len(rows) // 2] = "q7 Q0 http://example.org/" + "x" * 70 + " 0 1.25 t"
    write("a.run", "\n".join(rows) + "\n")
    judged = [row.split()[:3] for row in rows[::7]]
    grades = (f"{query} 0 {doc} {n % 3}\n" for n, (query, _, doc) in enumerate(judged))
    write("qrels", "".join(grades))
    alone = outcome(tmp_path, 1)
    assert len(alone[1]) == QUERIES * DEPTH
    assert outcome(tmp_path, 2) == alone
    assert outcome(tmp_path, 5) == alone


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
    allowed = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
    for wanted in ("", "0", "many", "-2"):
        monkeypatch.setenv("HELDOUT_THREADS", wanted)
        assert threads() == len(allowed(0))
    if hasattr(os, "sched_setaffinity"):
        code = (
            "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]);"
            "from heldout.data.parallel import threads; print(threads())"
        )
        done = subprocess.run(  # noqa: S603 - this Python
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout == "1\n"
