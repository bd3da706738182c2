"""Input files as bytes, decompressed, in pieces of whole lines.

Pieces of a megabyte begin and end with a line, so that several threads can work on a text and
memory does not grow with the file.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from heldout.data.io.compression import (
    BOM,
    compression_of,
    decompress,
    readable,
    refuse_directory,
)
from heldout.data.words import PADDING, Bytes
from heldout.errors import InputError

__all__ = ["STDIN", "Piece", "Source", "open_source"]

STDIN: Final = "-"
PIECE: Final = 1 << 20
_SLACK: Final = 1 << 12
_NEWLINE: Final = 10
_MAGIC: Final = 6

_local = threading.local()


class Piece(NamedTuple):
    """Some whole lines of a text.

    Parameters
    ----------
    data
        The lines, each with its newline, followed by `PADDING` bytes.
    size
        Length without the padding.
    offset
        Where they begin in the text.
    """

    data: Bytes
    size: int
    offset: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source:
    """One input: a plain file, read when needed, or decompressed content.

    Parameters
    ----------
    name
        Its name in messages: the path as the user gave it, or ``<stdin>``.
    size
        Length of the text in bytes.
    path
        The plain file; None if the text is in `content`.
    content
        Text from a pipe or from a compressed file.
    begin
        Where the text begins: after a byte order mark, if there is one.
    """

    name: str
    size: int
    path: str | None = None
    content: bytes = b""
    begin: int = 0

    def read(self, begin: int, end: int) -> bytes:
        """Return the bytes from `begin` to `end`."""
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
        """Return the first bytes of the text."""
        return self.read(self.begin, min(self.size, length))

    def pieces(self) -> list[tuple[int, int]]:
        """Return the spans of the pieces; a piece has the lines that begin inside its span."""
        _keep_freed_memory()
        cuts = [*range(self.begin, self.size, PIECE), self.size]
        return list(pairwise(cuts))

    def piece(self, span: tuple[int, int]) -> Piece:
        """Read the lines that begin inside `span`.

        The memory belongs to the calling thread and is reused for its next piece.
        """
        begin, end = span
        back = int(begin > self.begin)  # the byte before tells whether a line begins here
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
        view = data.data
        filled = 0
        with open(self.path, "rb", buffering=0) as file:  # noqa: PTH123 - no second buffer
            file.seek(begin)
            while filled < size and (count := file.readinto(view[filled:size])):
                filled += count
        if filled < size:
            raise InputError(f"{self.name} became shorter while it was read: read it again")

    def _long_line(self, data: Bytes, used: int, begin: int) -> tuple[Bytes, int]:
        """Read the rest of a line that is longer than the slack."""
        rest = []
        while begin < self.size:
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

    def whole(self) -> bytes:
        """Return the whole text."""
        return self.read(self.begin, self.size)

    def line_at(self, offset: int) -> int:
        """Return the number (from 1) of the line with byte `offset`."""
        steps = range(0, offset, PIECE)
        return 1 + sum(self.read(at, min(at + PIECE, offset)).count(b"\n") for at in steps)

    def place(self, offset: int) -> str:
        """Return ``file:line`` of byte `offset`."""
        return f"{self.name}:{self.line_at(offset)}"


def _buffer(size: int) -> Bytes:
    """Return memory of this thread, reused so that it stays in the processor cache."""
    held: Bytes | None = getattr(_local, "buffer", None)
    if held is None or len(held) < size:
        held = np.empty(max(size, PIECE + _SLACK + PADDING + 1), np.uint8)
        _local.buffer = held
    return held


def _keep_freed_memory() -> None:
    """Keep the allocator from returning the memory of a piece before the next one needs it.

    The C library of Linux returns freed memory to the system above a threshold, which it raises to
    the largest block that was freed (up to 32 MB). Freeing one such block, never touched, is
    enough; without it, new memory pages for each piece are half of the time to read a run.
    """
    np.empty(31 << 20, np.uint8)


def _newline(data: Bytes, begin: int, end: int) -> int:
    """Return the position of the first line end between two positions, or -1."""
    for at in range(begin, end, _SLACK):
        found = np.flatnonzero(data[at : min(at + _SLACK, end)] == _NEWLINE)
        if len(found):
            return at + int(found[0])
    return -1


def open_source(path: str | os.PathLike[str]) -> Source:
    """Open a file, or standard input for ``-``; compressed files are decompressed.

    The compression is found by the first bytes, not by the name, so that pipes work, too.
    """
    name = os.fspath(path)
    if name == STDIN:
        return _decompressed("<stdin>", sys.stdin.buffer.read())
    with readable(name):
        refuse_directory(name)
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - no second buffer
            size = os.fstat(file.fileno()).st_size
            magic = file.read(_MAGIC)
            if not compression_of(magic) and size >= len(magic) > 0:
                return Source(name, size, name, begin=len(BOM) if magic.startswith(BOM) else 0)
            # Compressed, or not a plain file (a pipe has no size): read all of it.
            return _decompressed(name, magic + file.read())


def _decompressed(name: str, content: bytes) -> Source:
    compression = compression_of(content[:_MAGIC])
    if compression:
        with readable(name):
            content = decompress(content, compression)
    if not content:
        raise InputError(f"{name} is empty")
    begin = len(BOM) if content.startswith(BOM) else 0
    return Source(name, len(content), None, content, begin)
