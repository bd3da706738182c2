"""Split lines into fields separated by white space, many lines at once.

If all lines of a piece have the same number of fields with single separators, the positions of the
separators are those of the fields. Any other piece (tabs and spaces mixed, CRLF, comments, empty or
wrong lines) is split by a slower function with the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.data.io.decode import UTF16, looks_like_utf16
from heldout.errors import FormatError

if TYPE_CHECKING:
    from heldout.data.io.source import Piece, Source
    from heldout.data.words import Bytes, Flags, Ints

__all__ = ["BadLine", "Fields", "split_fields"]

_NEWLINE, _SPACE, _HASH, _TAB, _RETURN = 10, 32, 35, 9, 13


class BadLine(NamedTuple):
    """A line that cannot be used: where it begins, and why."""

    offset: int
    reason: str


class Fields(NamedTuple):
    """The wanted fields of the good lines of a piece.

    Parameters
    ----------
    starts, ends
        One row per field and one column per line: positions in the piece.
    bad
        The lines with too few or too many fields.
    """

    starts: Ints
    ends: Ints
    bad: list[BadLine]


def split_fields(
    source: Source,
    piece: Piece,
    wanted: tuple[int, ...],
    columns: tuple[int, int],
    expected: str,
) -> Fields:
    """Find the fields number `wanted` of all lines in a piece.

    Parameters
    ----------
    columns
        The lowest and highest number of fields of a good line.
    expected
        The expected form of a line, for messages about bad ones.
    """
    if not piece.size:
        none = np.empty((len(wanted), 0), np.int64)
        return Fields(none, none, [])
    text = piece.data[: piece.size]
    blank = text <= _SPACE
    places = np.flatnonzero(blank)
    marks = text[places]
    _check_text(source, piece, places, marks)
    found = _split_regular(text, places, marks, columns[0], wanted)
    if found is not None:
        return Fields(*found, [])
    return _split_ragged(piece, blank, wanted, columns, expected)


def _check_text(source: Source, piece: Piece, places: Ints, marks: Bytes) -> None:
    """Raise an error for control characters and for anything that is not UTF-8."""
    control = (marks < _SPACE) & (marks - np.uint8(_TAB) > _RETURN - _TAB)
    if control.any():
        if looks_like_utf16(source.head(64)):
            raise FormatError(f"{source.name}:1", UTF16)
        at = int(places[np.argmax(control)])
        raise FormatError(
            source.place(piece.offset + at),
            f"not a text file (byte 0x{piece.data[at]:02x}): "
            "expected lines of fields separated by white space",
        )
    text = piece.data[: piece.size]
    if int(text.max()) >= 128:
        try:
            text.tobytes().decode()
        except UnicodeDecodeError as error:
            raise FormatError(
                source.place(piece.offset + error.start),
                f"byte 0x{text[error.start]:02x} is not UTF-8: convert the file, "
                "for example with iconv -f latin1 -t utf-8",
            ) from None


def _split_regular(
    text: Bytes, places: Ints, marks: Bytes, columns: int, wanted: tuple[int, ...]
) -> tuple[Ints, Ints] | None:
    """Split lines that all have `columns` fields with one separator between them."""
    if len(places) % columns or places[0] == 0 or (places[1:] - places[:-1] == 1).any():
        return None
    line_end = marks == _NEWLINE
    lines = len(places) // columns
    if np.count_nonzero(line_end) != lines or not line_end[columns - 1 :: columns].all():
        return None
    starts = np.empty((len(wanted), lines), np.int64)
    ends = np.empty((len(wanted), lines), np.int64)
    for row, field in enumerate(wanted):
        ends[row] = places[field::columns]
        if field:
            np.add(places[field - 1 :: columns], 1, out=starts[row])
        else:
            starts[row, 0] = 0
            np.add(places[columns - 1 : -1 : columns], 1, out=starts[row, 1:])
    first = starts[wanted.index(0)]
    return None if (text[first] == _HASH).any() else (starts, ends)


def _split_ragged(
    piece: Piece,
    blank: Flags,
    wanted: tuple[int, ...],
    columns: tuple[int, int],
    expected: str,
) -> Fields:
    """Split any lines; empty lines and comments are skipped, others must fit `columns`."""
    text = piece.data[: piece.size]
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if not blank[0]:
        edges = np.concatenate(([0], edges))
    starts, ends = edges[0::2], edges[1::2]
    newlines = np.flatnonzero(text == _NEWLINE)
    counts = np.bincount(np.searchsorted(newlines, starts), minlength=len(newlines))
    first = np.cumsum(counts) - counts
    filled = np.flatnonzero(counts)
    filled = filled[text[starts[first[filled]]] != _HASH]
    fits = (counts[filled] >= columns[0]) & (counts[filled] <= columns[1])
    rows = first[filled[fits]]
    bad = [
        BadLine(
            piece.offset + int(starts[first[line]]), f"{counts[line]} fields, expected {expected}"
        )
        for line in filled[~fits].tolist()
    ]
    fields = np.array(wanted)[:, None] + rows
    return Fields(starts[fields], ends[fields], bad)
