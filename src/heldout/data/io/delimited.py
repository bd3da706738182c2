"""Tables in a text (CSV, TSV, semicolons), read cell by cell without guessing.

Polars reads millions of rows faster, but renames repeated columns and fills short lines up without
a word. Here every oddity is named with its line. Large texts without any oddity are read by
`heldout.data.io.delimited_fast`.
"""

from __future__ import annotations

import csv
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.data.io.blocks import LONGEST
from heldout.data.io.decode import decode_text
from heldout.data.notes import count_of
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "LINES_TO_TELL",
    "BadRow",
    "DelimitedText",
    "delimited_rows",
    "find_separator",
    "first_lines",
    "read_delimited",
    "refuse_or_report",
    "refuse_repeated",
]

SEPARATORS: Final = ("\t", ",", ";")

LINES_TO_TELL: Final = 20
"""Lines that are looked at to tell the separator."""


class BadRow(NamedTuple):
    """A line or row that cannot be used: its number, and the error that names it."""

    number: int
    error: FormatError


def refuse_or_report(
    bad: Iterator[BadRow], count: int, *, skip: bool, report: Callable[[str], None] | None
) -> None:
    """Raise an error that names the bad rows, or report each of them and go on.

    Parameters
    ----------
    bad
        The rows in the order of the file, made one by one: counting lines takes time.
    count
        How many there are.
    skip, report
        `skip_bad_lines` and `report` of `heldout.read_run`.
    """
    if skip:
        for row in bad if report is not None else ():
            report(f"{row.error}; ignored")  # type: ignore[misc] # it is not None
        return
    named = list(islice(bad, 10))
    if not named:
        return
    first, more = named[0].error, ""
    if count > 1:
        numbers = ", ".join(str(row.number) for row in named[1:])
        others = count_of(count - 1, "more bad line")
        more = f" (and {others}: {numbers}{', …' if count > len(named) else ''})"
    raise FormatError(first.where, first.what + more)


class DelimitedText(NamedTuple):
    """A table in a text.

    Parameters
    ----------
    names
        The columns.
    rows
        One cell a column, with the blanks around them.
    lines
        The line in which each row begins.
    header_line
        The line of the header.
    """

    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    header_line: int


def delimited_rows(
    lines: Iterable[str], source: str, separator: str, *, quoted: bool = True, first: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of each row, the header included.

    Parameters
    ----------
    lines
        With their ends.
    source
        What to call the file in messages.
    quoted
        Whether quotation marks hold cells together; else they are letters.
    first
        The number of the first line.
    """
    # Python's reader refuses cells above 128 kB, for all of a process; texts are longer than that.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=separator, quoting=quoting, strict=True)
    line = first
    try:
        for cells in reader:
            begin, line = line, reader.line_num + first
            yield begin, cells
    except csv.Error as error:
        raise FormatError(f"{source}:{line}", _quoting(str(error))) from None


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


def read_delimited(
    content: bytes, source: str, separator: str = "", bad: list[BadRow] | None = None
) -> DelimitedText:
    """Read a text with a header, whose cells stand between tabs, commas or semicolons.

    Comments (``#``) are allowed above the header, not below it, where ``#`` may begin an id. Lines
    without any value are passed over.

    Parameters
    ----------
    content
        The bytes of the text.
    source
        What to call it in messages.
    separator
        The mark between cells; told by the first lines if it is not given.
    bad
        Takes up what is wrong with rows of too few or too many cells, which are left out then;
        without it the first is refused.
    """
    text = decode_text(content, source)
    separator = separator or find_separator(first_lines(text))
    names: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    header_line = 0
    for line, cells in delimited_rows(StringIO(text, newline=""), source, separator):
        if not any(map(str.strip, cells)) or (not names and cells[0].lstrip().startswith("#")):
            continue
        place = f"{source}:{line}"
        if not names:
            names, header_line = _header([cell.strip() for cell in cells], place), line
            continue
        if len(cells) > len(names) and not any(map(str.strip, cells[len(names) :])):
            cells = cells[: len(names)]  # noqa: PLW2901 - separators behind the last cell
        if len(cells) == len(names):
            rows.append(cells)
            lines.append(line)
        elif bad is None:
            raise _unfitting(cells, len(names), place, separator)
        else:
            bad.append(BadRow(line, _unfitting(cells, len(names), place, separator)))
    if not names:
        raise InputError(f"{source} has no header: its first line names the columns")
    return DelimitedText(names, rows, lines, header_line)


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


def _unfitting(cells: list[str], width: int, place: str, separator: str) -> FormatError:
    hint = "; a decimal comma?" if separator == "," and len(cells) > width else ""
    return FormatError(place, f"{len(cells)} cells, but the header has {width}{hint}")
