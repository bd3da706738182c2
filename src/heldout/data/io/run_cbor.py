"""Runs and judgements as CBOR objects ``{query: {document: number}}``, which ranx writes (.lz4).

Only what such files contain is read (RFC 8949: maps, texts, integers, floats), so that no package
is needed and nothing else can be hidden in them.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.data.io.run_json import Columns

__all__ = ["is_cbor", "parse_cbor"]

_MAP: Final = 5
_TEXT: Final = 3
_SIZES: Final = {24: 1, 25: 2, 26: 4, 27: 8}
_FLOATS: Final = {2: ">e", 4: ">f", 8: ">d"}


def is_cbor(head: bytes) -> bool:
    """Return whether a file begins with a CBOR map; no text in UTF-8 begins with such a byte."""
    return head[:1] != b"" and head[0] >> 5 == _MAP


class _Reader:
    """Reads one item after the other."""

    def __init__(self, content: bytes, source: str) -> None:
        self._content, self._source = content, source
        self.place = 0

    def wrong(self, expected: str) -> InputError:
        return InputError(
            f"{self._source}: not a file of ranx: expected {expected} at byte {self.place}"
        )

    def _take(self, size: int) -> bytes:
        end = self.place + size
        if end > len(self._content):
            raise self.wrong("more bytes (the file is truncated)")
        piece = self._content[self.place : end]
        self.place = end
        return piece

    def _head(self) -> tuple[int, int, bytes]:
        """Return the kind of the next item, and its number: as an integer, and as bytes."""
        first = self._take(1)[0]
        kind, low = first >> 5, first & 31
        if low < 24:
            return kind, low, b""
        if low not in _SIZES:
            raise self.wrong("an item of known length")
        raw = self._take(_SIZES[low])
        return kind, int.from_bytes(raw), raw

    def length(self) -> int:
        """Read the beginning of a map, and return its length."""
        kind, length, _ = self._head()
        if kind != _MAP:
            raise self.wrong("a map")
        return length

    def text(self) -> str:
        """Read a text."""
        kind, length, _ = self._head()
        if kind != _TEXT:
            raise self.wrong("an id as text")
        try:
            return self._take(length).decode()
        except UnicodeDecodeError:
            raise self.wrong("UTF-8") from None

    def number(self) -> float:
        """Read an integer or a float."""
        kind, number, raw = self._head()
        if kind == 0:
            return number
        if kind == 1:
            return -1 - number
        if kind == 7 and len(raw) in _FLOATS:
            value: float = struct.unpack(_FLOATS[len(raw)], raw)[0]
            return value
        raise self.wrong("a number")


def parse_cbor(content: bytes, source: str) -> Columns:
    """Return queries, documents and numbers, one entry per document.

    Parameters
    ----------
    content
        The bytes of the file, decompressed.
    source
        Its name in messages.
    """
    reader = _Reader(content, source)
    queries, docs, numbers = [], [], []
    for _ in range(reader.length()):
        query = reader.text()
        for _ in range(reader.length()):
            queries.append(query)
            docs.append(reader.text())
            numbers.append(reader.number())
    if reader.place < len(content):
        raise reader.wrong("the end of the file")
    return queries, docs, numbers
