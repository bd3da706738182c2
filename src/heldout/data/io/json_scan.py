"""Find id, title and text in JSON lines as programs write them, without parsing them one by one.

A line is plain if it has an id, perhaps a title, a text and perhaps empty metadata, in this order
and without escapes. Plain lines mean what `json.loads` finds in them; all others are left to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.compiled import kernel, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.words import Bytes, Ints

__all__ = ["PlainLines", "find_plain"]


def _literal(text: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(text, np.uint8)


_IDS: Final = (_literal(b'"_id":'), _literal(b'"id":'))
_TITLE: Final = _literal(b'"title":')
_TEXTS: Final = (_literal(b'"text":'), _literal(b'"contents":'))
_METADATA: Final = _literal(b'"metadata":')
_QUOTE, _BACKSLASH, _COMMA, _BLANK = 34, 92, 44, 32
_OPEN, _CLOSE, _NEWLINE, _RETURN = 123, 125, 10, 13


class PlainLines(NamedTuple):
    """The lines of a block.

    `starts` and `ends` are those of the lines that are not blank; `fields` (lines × 6) are where
    id, title and text begin and end, −1 in lines that are not plain.
    """

    starts: Ints
    ends: Ints
    fields: Ints

    def is_plain(self) -> NDArray[np.bool_]:
        """Which lines are plain."""
        plain: NDArray[np.bool_] = self.fields[:, 0] >= 0
        return plain

    def lengths(self) -> Ints:
        """The length of each plain document: a newline is between title and text."""
        sizes = self.fields[:, 1::2] - self.fields[:, ::2]
        both = (sizes[:, 1] > 0) & (sizes[:, 2] > 0)
        lengths: Ints = sizes[:, 1] + sizes[:, 2] + both
        return lengths

    def ids(self, raw: bytes) -> list[str]:
        """The id of each plain line; other lines have an empty one."""
        begins, ends = self.fields[:, 0].tolist(), self.fields[:, 1].tolist()
        return [raw[begin:end].decode("ascii") for begin, end in zip(begins, ends, strict=True)]

    def copy(self, raw: Bytes, offsets: Ints, text: Bytes) -> None:
        """Write the plain documents to ``text[offsets[i]:offsets[i + 1]]``."""
        _copy(raw, self.fields, offsets, text)


def find_plain(raw: Bytes) -> PlainLines:
    r"""Find the lines of a block and the fields of those that are plain.

    Examples
    --------
    >>> block = b'{"_id": "d1", "title": "", "text": "apples"}\n\n{"id": 7}\n'
    >>> found = find_plain(np.frombuffer(block, np.uint8))
    >>> found.is_plain().tolist(), found.ids(block), found.lengths().tolist()
    ([True, False], ['d1', ''], [6, 0])
    """
    stops = np.append(np.flatnonzero(raw == _NEWLINE), len(raw))
    lines, fields = np.empty((2, len(stops)), np.int64), np.empty((len(stops), 6), np.int64)
    count = _scan(raw, stops, lines, fields)
    return PlainLines(lines[0, :count], lines[1, :count], fields[:count])


@part
def _after(raw: Bytes, i: int, end: int, literal: Bytes) -> int:
    """Return the position after a literal and a blank; −1 if it is not there."""
    if i < 0 or i + len(literal) > end:
        return -1
    for j in range(len(literal)):
        if raw[i + j] != literal[j]:
            return -1
    i += len(literal)
    return i + 1 if i < end and raw[i] == _BLANK else i


@part
def _string_end(raw: Bytes, i: int, end: int, highest: int) -> int:
    """Return the position of the quote that ends a string that begins at `i`; −1: not plain."""
    if i < 0 or i >= end or raw[i] != _QUOTE:
        return -1
    i += 1
    while i < end:
        byte = raw[i]
        if byte == _QUOTE:
            return i
        if byte == _BACKSLASH or byte < _BLANK or byte > highest:
            return -1
        i += 1
    return -1


@part
def _after_comma(raw: Bytes, i: int, end: int) -> int:
    if i < 0 or i >= end or raw[i] != _COMMA:
        return -1
    return i + 2 if i + 1 < end and raw[i + 1] == _BLANK else i + 1


@part
def _scan_line(raw: Bytes, i: int, end: int, fields: Ints) -> bool:
    """Find the fields of one line."""
    if raw[i] != _OPEN or raw[end - 1] != _CLOSE:
        return False
    begin = _after(raw, i + 1, end, _IDS[0])
    if begin < 0:
        begin = _after(raw, i + 1, end, _IDS[1])
    close = _string_end(raw, begin, end, 126)
    if close < 0:
        return False
    fields[0], fields[1] = begin + 1, close
    fields[2], fields[3] = 0, 0
    i = _after_comma(raw, close + 1, end)
    begin = _after(raw, i, end, _TITLE)
    if begin >= 0:
        close = _string_end(raw, begin, end, 255)
        if close < 0:
            return False
        fields[2], fields[3] = begin + 1, close
        i = _after_comma(raw, close + 1, end)
    begin = _after(raw, i, end, _TEXTS[0])
    if begin < 0:
        begin = _after(raw, i, end, _TEXTS[1])
    close = _string_end(raw, begin, end, 255)
    if close < 0:
        return False
    fields[4], fields[5] = begin + 1, close
    i = close + 1
    if i == end - 1:
        return True
    i = _after(raw, _after_comma(raw, i, end), end, _METADATA)
    return i >= 0 and i == end - 3 and raw[i] == _OPEN and raw[i + 1] == _CLOSE


@kernel
def _scan(raw: Bytes, stops: Ints, lines: Ints, fields: Ints) -> int:
    """Find all lines that are not blank; return their number."""
    count, start = 0, 0
    for stop in stops:
        i = start
        while i < stop and (raw[i] == _BLANK or 9 <= raw[i] <= _RETURN):
            i += 1
        if i < stop:
            end = stop - 1 if raw[stop - 1] == _RETURN else stop
            lines[0, count], lines[1, count] = start, stop
            if not _scan_line(raw, start, end, fields[count]):
                for j in range(6):
                    fields[count, j] = -1
            count += 1
        start = stop + 1
    return count


@kernel
def _copy(raw: Bytes, fields: Ints, offsets: Ints, text: Bytes) -> None:
    for line in range(len(fields)):
        if fields[line, 0] < 0:
            continue
        at = offsets[line]
        for i in range(fields[line, 2], fields[line, 3]):
            text[at] = raw[i]
            at += 1
        if fields[line, 3] > fields[line, 2] and fields[line, 5] > fields[line, 4]:
            text[at] = _NEWLINE
            at += 1
        for i in range(fields[line, 4], fields[line, 5]):
            text[at] = raw[i]
            at += 1
