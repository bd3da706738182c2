"""Look at the headers of a Parquet file before it is decoded.

A page whose header promises fewer than no values, or more than memory has room for, makes the
decoder ask for that room, and a process that does not get it is ended: nothing can be caught then.
Headers are Thrift structs in the compact protocol; only the numbers in them matter here.
"""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.data.io.compression import RATIO
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    Struct = dict[int, Any]

__all__ = ["check_pages", "check_pages_of_file"]

_MAGIC: Final = b"PAR1"
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_WHOLE: Final = (4, 5, 6)
_DEEPEST: Final = 16
_ROW_GROUPS, _COLUMNS, _META = 4, 1, 3
_VALUES, _PACKED_SIZE, _DATA_AT, _DICTIONARY_AT = 5, 7, 9, 11
_PAGE_SIZE, _PAGE_PACKED = 2, 3
_FIRST, _DICTIONARY, _SECOND = 5, 7, 8
_PAGE_HEADERS: Final = (_FIRST, _DICTIONARY, _SECOND)
"""Of data pages, of dictionaries, of data pages of the second version."""
_LEVELS: Final = (5, 6)
"""Bytes of levels, in data pages of the second version."""

_LEAST_ROOM: Final = 1 << 26
"""Bytes or values that a page of any file may have: some programs write one page a column."""


def check_pages(content: bytes | mmap, name: str) -> None:
    """Refuse a file whose pages promise what they cannot hold.

    Parameters
    ----------
    content
        The whole file.
    name
        What to call it in messages.
    """
    try:
        for chunk in _chunks(content):
            _check_chunk(content, chunk)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        reason = str(error) if type(error) is ValueError else "it is damaged"
        raise InputError(
            f"{name}: not a Parquet table that can be read ({reason}): write it again"
        ) from None


def check_pages_of_file(path: str) -> None:
    """Refuse such a file, of any size: only the headers are read."""
    with Path(path).open("rb") as file:
        if file.read(4) != _MAGIC:
            raise InputError(f"{path}: not a Parquet table that can be read (it is damaged)")
        with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            check_pages(content, path)


def _chunks(content: bytes | mmap) -> Iterator[Struct]:
    """What the footer says of each column of each group of rows."""
    if content[-4:] != _MAGIC:
        raise ValueError("it was cut off")
    length = int.from_bytes(content[-8:-4], "little")
    begin = len(content) - 8 - length
    if begin < 4:
        raise ValueError("it was cut off")
    footer = _Thrift(content, begin).struct()
    for group in footer.get(_ROW_GROUPS, ()):
        for column in group.get(_COLUMNS, ()):
            if _META in column:
                yield column[_META]


def _check_chunk(content: bytes | mmap, chunk: Struct) -> None:
    wanted = chunk[_VALUES]
    if wanted == 0:  # then no page need be anywhere
        return
    at = chunk.get(_DICTIONARY_AT) or chunk[_DATA_AT]
    end = at + chunk[_PACKED_SIZE]
    if not (0 < at <= end <= len(content) and wanted > 0):
        raise ValueError("a column is not where the footer says")
    room = max(_LEAST_ROOM, RATIO * len(content))
    seen = 0
    while seen < wanted and at < end:
        reader = _Thrift(content, at)
        page = reader.struct()
        packed = page[_PAGE_PACKED]
        if not (0 <= packed <= end - reader.at and 0 <= page[_PAGE_SIZE] <= room):
            raise ValueError("a page has a size that no page has")
        for kind in _PAGE_HEADERS:
            header = page.get(kind, {1: 0})
            most = room if kind == _DICTIONARY else min(room, wanted - seen)
            if not 0 <= header[1] <= most:
                raise ValueError(f"a page of {header[1]:,} values, which it cannot hold")
            seen += 0 if kind == _DICTIONARY else header[1]
        if any(not 0 <= page.get(_SECOND, {}).get(one, 0) <= packed for one in _LEVELS):
            raise ValueError("a page has a size that no page has")
        at = reader.at + packed


class _Thrift:
    """Reads structs in the compact protocol; texts and single bytes are passed over."""

    def __init__(self, content: bytes | mmap, at: int) -> None:
        self._content = content
        self.at = at

    def struct(self, depth: int = 0) -> Struct:
        """The fields by their numbers."""
        found: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            found[number] = self._value(head & 15, depth)
        return found

    def _byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            one = self._byte()
            found |= (one & 127) << shift
            if one < 128:
                return found
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")

    def _signed(self) -> int:
        found = self._varint()
        return (found >> 1) ^ -(found & 1)

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deep")
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in _WHOLE:
            return self._signed()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._several(depth)
        if kind == _BINARY:
            self._pass(self._varint())
        elif kind == _BYTE:
            self._pass(1)
        elif kind == _DOUBLE:
            self._pass(8)
        elif kind == _MAP:
            self._map(depth)
        else:
            raise ValueError("it is damaged")
        return None

    def _several(self, depth: int) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        self._fits(count)
        return [self._element(head & 15, depth) for _ in range(count)]

    def _map(self, depth: int) -> None:
        count = self._varint()
        self._fits(count)
        kinds = self._byte() if count else 0
        for _ in range(count):
            self._element(kinds >> 4, depth)
            self._element(kinds & 15, depth)

    def _element(self, kind: int, depth: int) -> Any:
        """In lists and maps truth is a byte of its own."""
        return self._byte() == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)

    def _fits(self, count: int) -> None:
        if count > len(self._content) - self.at:
            raise ValueError("a list is longer than the file")

    def _pass(self, size: int) -> None:
        self.at += size
        if self.at > len(self._content):
            raise ValueError("it was cut off")
