"""Bytes of a file, packed or not, cut into pieces that lose no line; any number of threads."""

import gzip
import io
import os
import random
import sys
from types import SimpleNamespace

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from heldout import evaluate, read_qrels, read_run
from heldout.data import files, trec
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
    content = content.encode() if isinstance(content, str) else content
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


def test_packed_files_are_told_by_content_not_by_name(write, packers, monkeypatch):
    for pack in (bytes, *packers.values()):
        for mark in (b"", BOM):
            source = open_source(write("no-ending", pack(mark + TEXT)))
            assert source.head() == TEXT
            assert cut(source) == [(0, TEXT + b"\n")]
        # Joined files are one.
        assert open_source(write("joined", pack(b"one\n") + pack(b"two\n"))).head() == b"one\ntwo\n"
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(pack(TEXT))))
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
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO()))
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


# TREC lines in bulk, held against a parser that goes line by line

URL = "http://example.org/" + "path/" * 20


def all_rows(rows):
    """(query, document, number) of each row."""
    queries = [rows.queries[code] for code in rows.codes]
    return list(zip(queries, rows.docs.tolist(), rows.values.tolist(), strict=True))


def naive_rows(text, doc, number):
    """The same, one line after the other."""
    lines = (line.split() for line in text.encode().split(b"\n"))
    return [
        (line[0].decode(), line[doc].decode(), float(line[number]))
        for line in lines
        if line and not line[0].startswith(b"#")
    ]


def in_pieces(read, text, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "PIECE", piece)
        return read(from_memory(text))


# Anything that is no ASCII white space may be in a field; "#" would make a first one a comment.
FIELD = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=12
).filter(lambda text: text[0] != "#")
DOC = FIELD | st.sampled_from(["d1", "d2", "12345678", "123456789", URL])
NUMBERS = """+5 .5 5. -.25 1e3 1E-3 1e+2 007 -0.0 2.50000000000000001 12345678901234567890123
0.1000000000000000055511151231257827 1e-400 5e-324 1.7976931348623157e308"""
SCORE = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=4).map(str),
    st.sampled_from(NUMBERS.split()),
)
QUERY = st.sampled_from(["q1", "q2", "301", "an-id-of-more-than-eight-bytes"]) | FIELD
RUN_ROWS = st.lists(st.tuples(QUERY, FIELD, DOC, FIELD, SCORE, FIELD), min_size=1, max_size=12)
GAP = st.sampled_from([" ", " ", "\t", "  ", " \t ", "\x0b", "\f"])
NOISE = st.sampled_from(["\n", "  \n", "# a comment\n", " \t# one more\r\n", "\r\n", "#\n"])


@st.composite
def ragged(draw, rows, extra=True):
    """Write rows with any white space, comments and blank lines between them."""
    text = ""
    for row in rows:
        text += draw(st.just("") | NOISE)
        more = draw(st.just([]) | st.lists(FIELD, max_size=2)) if extra else []
        text += draw(st.sampled_from(["", "", " ", "\t "]))
        text += "".join(field + draw(GAP) for field in [*row, *more]).rstrip(" \t\x0b\f")
        text += draw(st.sampled_from(["\n", "\n", "\r\n", " \n"]))
    return text[:-1] if draw(st.booleans()) else text


@given(st.data(), RUN_ROWS, st.integers(1, 120))
def test_ragged_and_regular_lines_are_read_as_a_plain_parser_reads_them(data, rows, piece):
    grades = data.draw(st.lists(st.integers(-3, 9).map(str), min_size=12, max_size=12))
    judged = [(q, i, doc, grade) for (q, i, doc, *_), grade in zip(rows, grades, strict=False)]
    three = [(q, doc, grade) for q, _, doc, grade in judged]
    for read, lines, doc, number in (
        (trec.read_run, rows, 2, 4),
        (trec.read_qrels, judged, 2, 3),
        (trec.read_qrels, three, 1, 2),
    ):
        regular = "".join(" ".join(row) + "\n" for row in lines)
        expected = naive_rows(regular, doc, number)
        assert len(expected) == len(rows)
        for text in (regular, data.draw(ragged(lines, extra=len(lines[0]) == 6))):
            assert all_rows(read(from_memory(text))) == expected
            assert all_rows(in_pieces(read, text, piece)) == expected


def test_long_and_foreign_ids_are_read(write):
    for doc in ("x" * 64, "x" * 65, URL, "é" * 40, "文書😀"):
        text = f"q1 Q0 short 1 2 t\nü Q0 {doc} 1 3 t\nq1 Q0 {doc} 2 1 t\n"
        run = read_run(write("my.run", text))
        assert run.to_dict() == {"q1": {"short": 2.0, doc: 1.0}, "ü": {doc: 3.0}}


def test_the_tag_is_that_of_the_last_line(write):
    for text, tag in (
        ("q Q0 a 1 2 first\nq Q0 b 2 1 last\n", "last"),
        ("q Q0 a 1 2 first\nq Q0 b 2 1 last more columns\n", "last"),
        ("q Q0 a 1 2 first\n# a comment of quite enough words\n\n", "first"),
        ("q Q0 a 1 2 ünï", "ünï"),
        ("\ufeff# run by me 2.5 times\nq Q0 a first 2 tag\n  # a b c d e f\n", "tag"),
        ("q Q0 a 1 2 first\r\nq Q0 b 2 1 last\r\n", "last"),
        ("".join(f"q Q0 d{row} 1 1 t{row}\n" for row in range(10_000)), "t9999"),
    ):
        path = write("x", text)
        assert read_run(path).name == tag
        assert read_run(path).to_dict()["q"]
