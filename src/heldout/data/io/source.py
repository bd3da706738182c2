"""Get the bytes of a file, whatever it is packed in, or say plainly why not.

A text is read in pieces of a megabyte that begin and end with a line, so that several
threads can work on it and memory does not grow with the file.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from heldout.data.io.compression import BOM, packing_of, readable, unpack
from heldout.data.words import PADDING, Bytes
from heldout.errors import FormatError, InputError

__all__ = ["LONGEST", "STDIN", "Piece", "Source", "open_source"]

STDIN: Final = "-"
PIECE: Final = 1 << 20
LONGEST: Final = 1 << 24
"""Bytes that a line may have: of a row or a cell, no sense can be made of more."""
_SLACK: Final = 1 << 12
_NEWLINE: Final = 10
_MAGIC: Final = 6

_local = threading.local()


class Piece(NamedTuple):
    """Some whole lines of a text.

    Parameters
    ----------
    data
        The lines, each ended by a newline, and `PADDING` bytes behind them.
    size
        Length without the padding.
    offset
        Where they stand in the text.
    """

    data: Bytes
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class Source:
    """One input: a plain file, read where and when it is needed, or unpacked content.

    Parameters
    ----------
    name
        What to call it in messages: the path as the user gave it, or ``<stdin>``.
    size
        Length of the text in bytes.
    path
        The plain file; None when the text is in `content`.
    content
        Text that came out of a pipe or of a compressed file.
    begin
        Where the text begins: behind a byte order mark, if there is one.
    """

    name: str
    size: int
    path: str | None = None
    content: bytes = b""
    begin: int = 0

    def read(self, begin: int, end: int) -> bytes:
        """The bytes from `begin` to `end`."""
        if self.path is None:
            return self.content[begin:end]
        with open(self.path, "rb", buffering=0) as file:  # noqa: PTH123 - no second buffer
            file.seek(begin)
            parts = []
            while begin < end and (part := file.read(end - begin)):
                parts.append(part)
                begin += len(part)
            return b"".join(parts)

    def head(self, length: int = 1 << 16) -> bytes:
        """The first bytes of the text."""
        return self.read(self.begin, min(self.size, length))

    def pieces(self) -> list[tuple[int, int]]:
        """Places to cut the text at; a piece owns the lines that begin between two of them."""
        _keep_freed_memory()
        cuts = [*range(self.begin, self.size, PIECE), self.size]
        return list(pairwise(cuts))

    def piece(self, span: tuple[int, int]) -> Piece:
        """Read the lines that begin inside `span`.

        The memory belongs to the calling thread and is used again for its next piece.
        """
        begin, end = span
        back = int(begin > self.begin)  # one byte more tells whether a line begins here
        stop = min(end + _SLACK, self.size)
        data = _buffer(back + stop - begin + PADDING)
        self._read_into(data, begin - back, stop)
        first, size = 0, back + end - begin
        if back:
            first = _newline(data, 0, size)
            if first in {-1, size - 1}:  # no line begins in this piece
                return Piece(data, 0, begin)
            first += 1
        if data[size - 1] != _NEWLINE:
            last = _newline(data, size, back + stop - begin)
            if last >= 0:
                size = last + 1
            else:
                data, size = self._long_line(data, back + stop - begin, stop)
        data[size : size + PADDING] = _NEWLINE
        return Piece(data[first : size + PADDING], size - first, begin - back + first)

    def _read_into(self, data: Bytes, begin: int, end: int) -> None:
        size = end - begin
        if self.path is None:
            data[:size] = np.frombuffer(self.content, np.uint8, size, begin)
            return
        view = memoryview(data)  # type: ignore[arg-type] # arrays are buffers
        filled = 0
        with open(self.path, "rb", buffering=0) as file:  # noqa: PTH123 - no second buffer
            file.seek(begin)
            while filled < size and (count := file.readinto(view[filled:size])):
                filled += count
        if filled < size:
            raise InputError(f"{self.name} became shorter while it was read")

    def _long_line(self, data: Bytes, used: int, begin: int) -> tuple[Bytes, int]:
        """Bring the end of a line that goes on beyond the slack."""
        rest = []
        first = begin
        while begin < self.size:
            if begin - first > LONGEST:
                raise _too_long(self.place(first))
            part = self.read(begin, min(begin + PIECE, self.size))
            stop = part.find(b"\n")
            rest.append(part[: stop + 1] if stop >= 0 else part)
            if stop >= 0:
                break
            begin += len(part)
        tail = b"".join(rest)
        tail = tail if tail.endswith(b"\n") else tail + b"\n"
        larger = np.empty(used + len(tail) + PADDING, np.uint8)
        larger[:used] = data[:used]
        larger[used : used + len(tail)] = np.frombuffer(tail, np.uint8)
        return larger, used + len(tail)

    def whole(self, mark: bytes = b"\n") -> bytes:
        """All of the text; one in which `mark` does not come for too long is refused unread.

        Readers of small tables hold a file several times over. A stretch of that length without a
        line end (or, in JSON, a quotation mark) is no table, and would be held all the same.
        """
        last = self.begin
        for begin, end in self.pieces() if self.size > LONGEST else []:
            part = self.read(begin, end)
            first = part.find(mark)
            if (begin + first if first >= 0 else end) - last > LONGEST:
                raise (
                    _too_long(self.place(last))
                    if mark == b"\n"
                    else InputError(
                        f"{self.name}: more than {LONGEST:,} bytes without a {mark.decode()}"
                    )
                )
            if first >= 0:
                last = begin + part.rfind(mark)
        return self.read(self.begin, self.size)

    def line_at(self, offset: int) -> int:
        """The number, from 1, of the line that holds byte `offset`."""
        return 1 + self.lines_between(0, offset)

    def lines_between(self, begin: int, end: int) -> int:
        """How many lines end between two places."""
        steps = range(begin, end, PIECE)
        return sum(self.read(at, min(at + PIECE, end)).count(b"\n") for at in steps)

    def place(self, offset: int) -> str:
        """``file:line`` of byte `offset`."""
        return f"{self.name}:{self.line_at(offset)}"


def _too_long(place: str) -> FormatError:
    return FormatError(place, f"a line of more than {LONGEST:,} bytes: no such file has one")


def _buffer(size: int) -> Bytes:
    """Memory of this thread, used again and again so that it stays in the cache."""
    held: Bytes | None = getattr(_local, "buffer", None)
    if held is None or len(held) < size:
        held = np.empty(max(size, PIECE + _SLACK + PADDING + 1), np.uint8)
        _local.buffer = held
    return held


def _keep_freed_memory() -> None:
    """Stop the allocator from giving the memory of one piece back before the next needs it.

    The C library of Linux returns freed memory to the system beyond a threshold that it raises to
    the largest block it has seen freed (up to 32 MB). One such block, never touched, is enough:
    without it each piece pays again for its pages, which is half of the time to read a run.
    """
    np.empty(31 << 20, np.uint8)


def _newline(data: Bytes, begin: int, end: int) -> int:
    """The first line end between two places, or -1."""
    for at in range(begin, end, _SLACK):
        found = np.flatnonzero(data[at : min(at + _SLACK, end)] == _NEWLINE)
        if len(found):
            return at + int(found[0])
    return -1


def open_source(path: str | os.PathLike[str]) -> Source:
    """Open a file, or standard input for ``-``; gzip, xz, bzip2 and zstd are unpacked.

    The packing is told by the first bytes, not by the name, so that a pipe works too.
    """
    name = os.fspath(path)
    if name == STDIN:
        return _unpack("<stdin>", sys.stdin.buffer.read())
    with readable(name):
        if Path(name).is_dir():
            raise InputError(f"{name} is a directory: give the path of a file in it")
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - no second buffer
            size = os.fstat(file.fileno()).st_size
            magic = file.read(_MAGIC)
            if not packing_of(magic) and size >= len(magic) > 0:
                return Source(name, size, name, begin=len(BOM) if magic.startswith(BOM) else 0)
            # Packed, or no plain file (a pipe has no size): take it all.
            return _unpack(name, magic + file.read())


def _unpack(name: str, content: bytes) -> Source:
    packing = packing_of(content[:_MAGIC])
    if packing:
        with readable(name):
            content = unpack(content, packing, name)
    if not content:
        raise InputError(f"{name} is empty")
    begin = len(BOM) if content.startswith(BOM) else 0
    return Source(name, len(content), None, content, begin)
