"""The fast reader of large regular text tables, column by column with Polars.

The cells of every line are counted first, so that Polars and the strict reader
`heldout.data.io.delimited` read the same. Any irregular text is left to the strict reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.io.delimited import LINES_TO_TELL, find_separator, first_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from heldout.data.words import Bytes, Ints

__all__ = ["RegularText", "read_regular"]

HEAD: Final = 1 << 16
"""Bytes with the lines in which the separator is found."""

BLOCK: Final = 1 << 24
"""Bytes that are checked at a time."""

LONGEST: Final = 1 << 17
"""The largest number of bytes of a line; longer lines are left to the strict reader."""

NEWLINE, QUOTE, BLANK = b'\n" '


class RegularText(NamedTuple):
    """A regular text table.

    Parameters
    ----------
    names
        The names of the columns.
    content
        The text from its header, without quotation marks.
    separator
        The character between cells.
    rows
        The number of rows.
    first_line
        The line of the first row; each row is one line.
    """

    names: list[str]
    content: bytes
    separator: str
    rows: int
    first_line: int

    def column(self, at: int) -> pl.Series:
        """Return the cells of a column as strings, with surrounding white space."""
        import polars as pl  # slow to import

        frame = pl.read_csv(
            self.content,
            columns=[at],
            separator=self.separator,
            quote_char=None,
            infer_schema=False,
        )
        return frame.to_series().fill_null("")


def read_regular(content: bytes, separator: str = "") -> RegularText | None:
    """Read a large text table with a header; None if it is irregular.

    Lines may end in CR LF, cells may be quoted without need, and comments may be above the header.
    Irregular are empty lines, lines with other numbers of cells, separators and line ends inside
    quotation marks, lines of 128 kB, and text that is not UTF-8.

    Parameters
    ----------
    content
        The whole text.
    separator
        The character between cells (default: found in the first lines).
    """
    head = content[:HEAD]
    if head.count(b"\n") <= LINES_TO_TELL or b"\0" in content:
        return None
    if b"\r" in content:
        if content.count(b"\r") != content.count(b"\r\n"):
            return None
        content = content.replace(b"\r\n", b"\n")
    try:
        top = first_lines(head[: head.rindex(b"\n") + 1].decode())
    except UnicodeDecodeError:
        return None
    separator = separator or find_separator(top)
    begin, line = _header_at(content)
    width = content.count(separator.encode(), begin, content.find(b"\n", begin)) + 1
    rows = 0
    for block in _blocks(content, begin):
        found = _rows_in(block, ord(separator), width)
        if found is None:
            return None
        rows += found
    content = content[begin:] if begin else content
    content = content.replace(b'"', b"") if b'"' in content else content
    header = content[: content.find(b"\n")].decode()
    names = [name.strip() for name in header.split(separator)]
    if "" in names or len(set(names)) < len(names):
        return None
    return RegularText(names, content, separator, rows - 1, line + 1)


def _header_at(content: bytes) -> tuple[int, int]:
    """Return where the header begins, after empty lines and comments, and its line."""
    begin, line = 0, 1
    while True:
        end = content.find(b"\n", begin)
        first = content[begin : end if end >= 0 else None].strip()
        if end < 0 or (first and not first.startswith(b"#")):
            return begin, line
        begin, line = end + 1, line + 1


def _blocks(content: bytes, begin: int) -> Iterator[bytes]:
    """Yield the text in parts of whole lines."""
    while begin < len(content):
        end = content.rfind(b"\n", begin, begin + BLOCK) + 1
        last = begin + BLOCK >= len(content) and end < len(content)
        if last or end == 0:  # the last line has no line end, or a line is too long
            yield content[begin : begin + BLOCK] + b"\n"
            return
        yield content[begin:end]
        begin = end


def _rows_in(block: bytes, separator: int, width: int) -> int | None:
    """Return the number of lines if all are regular, else None."""
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == NEWLINE)
    marks = np.flatnonzero(data == separator)
    starts = np.append(0, ends[:-1] + 1)
    if width < 2 or len(marks) != len(ends) * (width - 1):
        return None
    of_lines = marks.reshape(-1, width - 1)
    sizes = ends - starts
    odd = (
        (of_lines[:, 0] < starts).any()
        or (of_lines[:, -1] > ends).any()
        or sizes.max() >= LONGEST
        or sizes.min() < width  # a line of separators alone
        or _has_blank_line(data, separator, starts, len(ends) + len(marks))
        or (b'"' in block and not _plain_quotes(data, np.sort(np.append(ends, marks))))
        or not _is_utf8(block)
    )
    return None if odd else len(ends)


def _has_blank_line(data: Bytes, separator: int, starts: Ints, cuts: int) -> bool:
    """Return whether a line has only white space and separators."""
    cuts = cuts if separator <= BLANK else len(starts)
    if np.count_nonzero(data <= BLANK) == cuts:  # no other white space
        return False
    filled = (data > BLANK) & (data != separator)
    return not np.logical_or.reduceat(filled, starts).all()


def _is_utf8(block: bytes) -> bool:
    try:
        return block.isascii() or bool(block.decode())
    except UnicodeDecodeError:
        return False


def _plain_quotes(data: Bytes, cuts: Ints) -> bool:
    """Return whether quotation marks are around whole cells only."""
    quotes = np.flatnonzero(data == QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    cell = np.searchsorted(cuts, opening)
    first_of_cell = np.append(0, cuts + 1)[cell]
    return bool((opening == first_of_cell).all() and (closing + 1 == cuts[cell]).all())
