"""Tables with a header in a text (CSV, TSV, semicolons), read cell by cell without guessing.

Polars reads millions of rows faster, but renames repeated columns and fills short lines up without
a word. A table of scores is small, and every oddity in it must be named. Large tables without any
oddity are read by `heldout.data.io.large_text`.
"""

from __future__ import annotations

import csv
from io import StringIO
from itertools import islice
from typing import Any, Final, NamedTuple

from heldout.errors import FormatError, InputError

__all__ = [
    "LINES_TO_TELL",
    "Table",
    "find_separator",
    "first_lines",
    "read_delimited",
    "refuse_repeated",
]

SEPARATORS: Final = ("\t", ",", ";")

LINES_TO_TELL: Final = 20
"""Lines that are looked at to tell the separator."""


class Table(NamedTuple):
    """Columns with names, and rows that know where they stand.

    Parameters
    ----------
    source
        The file.
    names
        The columns.
    rows
        One cell a column: text, or what a Parquet file holds.
    lines
        The line of each row in its file; empty for a file without lines.
    """

    source: str
    names: list[str]
    rows: list[list[Any]]
    lines: list[int]

    def place(self, row: int) -> str:
        """``file:line`` of a row, or its number."""
        return f"{self.source}:{self.lines[row]}" if self.lines else f"{self.source}, row {row + 1}"


def read_delimited(content: bytes, source: str, separator: str = "") -> Table:
    """Read a text with a header, whose cells stand between tabs, commas or semicolons.

    Comments (``#``) are allowed above the header. Lines without any value are passed over; cells
    are stripped of blanks around them.

    Parameters
    ----------
    content
        The bytes of the text.
    source
        What to call it in messages.
    separator
        The mark between cells; told by the first lines if it is not given.
    """
    text = _decode(content, source)
    separator = separator or find_separator(first_lines(text))
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    names: list[str] = []
    rows: list[list[Any]] = []
    lines: list[int] = []
    line = 1
    try:
        for cells in reader:
            begin, line = line, reader.line_num + 1
            stripped = [cell.strip() for cell in cells]
            if not any(stripped) or (not names and stripped[0].startswith("#")):
                continue
            if not names:
                names = _header(stripped, f"{source}:{begin}")
                continue
            rows.append(_fitted(stripped, len(names), f"{source}:{begin}", separator))
            lines.append(begin)
    except csv.Error as error:
        raise FormatError(f"{source}:{line}", _quoting(str(error))) from None
    if not names:
        raise InputError(f"{source} has no header: its first line names the columns")
    return Table(source, names, rows, lines)


def _quoting(error: str) -> str:
    """What is wrong with the quotation marks of a row; csv complains of little else."""
    if "unexpected end of data" in error or "field larger than" in error:
        return 'a quotation mark (") opens a cell that is never closed'
    if "expected after" in error:
        return (
            'a quotation mark (") opens a cell that goes on behind the next one: close it at the '
            'end of the cell, and write "" for a quotation mark inside'
        )
    return f"not a table that can be read ({error})"


def _decode(content: bytes, source: str) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        byte = f"byte 0x{content[error.start]:02x} is not UTF-8: save the table as UTF-8"
        raise FormatError(f"{source}:{line}", byte) from None
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        raise FormatError(f"{source}:{line}", "not a text file (byte 0x00)")
    return text


def first_lines(text: str) -> list[str]:
    """The first lines that are neither blank nor a comment above the header."""
    found: list[str] = []
    for line in StringIO(text, newline=""):
        if line.strip() and (found or not line.lstrip().startswith("#")):
            found.append(line)
        if len(found) == LINES_TO_TELL:
            break
    return found


def find_separator(head: list[str]) -> str:
    """The mark that cuts the first lines alike; else the one that cuts the header into most cells.

    One line tells too little: a name may hold a comma or a tab.
    """
    return max(SEPARATORS, key=lambda mark: _fitness(head, mark))


def _fitness(head: list[str], mark: str) -> tuple[bool, int]:
    counts = [len(cells) for cells in islice(csv.reader(head, delimiter=mark), LINES_TO_TELL)]
    first = counts[0] if counts else 0
    return first > 1 and len(set(counts)) == 1, first


def _header(names: list[str], place: str) -> list[str]:
    """The names of the columns; a separator behind the last is passed over."""
    while not names[-1]:
        names.pop()
    refuse_repeated(names, place)
    if "" in names:
        raise FormatError(
            place,
            f"column {names.index('') + 1} has no name: name it, or leave it out "
            "(pandas: to_csv(index=False), or index_label='unit')",
        )
    return names


def refuse_repeated(names: list[str], place: str) -> None:
    """Refuse a header in which a name stands twice; readers would rename or drop one of them."""
    seen: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        first = seen.setdefault(name, at)
        if name and first < at:
            raise FormatError(
                place,
                f"two columns are named {name!r} (columns {first} and {at}): rename one of them",
            )


def _fitted(cells: list[str], width: int, place: str, separator: str) -> list[str]:
    """The cells of a row, as many as there are columns."""
    if len(cells) > width and not any(cells[width:]):
        return cells[:width]
    if len(cells) != width:
        hint = "; a decimal comma?" if separator == "," and len(cells) > width else ""
        raise FormatError(place, f"{len(cells)} cells, but the header has {width}{hint}")
    return cells
