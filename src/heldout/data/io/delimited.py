"""The strict reader of text tables (CSV, TSV, semicolons).

Polars reads millions of rows faster, but silently renames repeated columns and fills up short
lines. Here every irregularity is an error that names its line.
"""

from __future__ import annotations

from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.data.io.decode import decode_text
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "LINES_TO_TELL",
    "DelimitedText",
    "delimited_rows",
    "find_separator",
    "first_lines",
    "read_delimited",
    "refuse_repeated",
]

SEPARATORS: Final = ("\t", ",", ";")

LINES_TO_TELL: Final = 20
"""Lines that are inspected to find the separator."""


class DelimitedText(NamedTuple):
    """A text table.

    Parameters
    ----------
    names
        The names of the columns.
    rows
        One cell per column, with surrounding white space.
    lines
        The first line of each row.
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
    """Yield line and cells of each row, including the header.

    Parameters
    ----------
    lines
        With their line ends.
    source
        The name of the file in messages.
    quoted
        Whether cells may be quoted; else quotation marks are ordinary characters.
    first
        The number of the first line.
    """
    import csv  # TREC files do not need it

    # Python's reader refuses cells above 128 kB, a limit of the process; texts can be longer.
    csv.field_size_limit((1 << 31) - 1)
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
    """Return a message about wrong quotation marks, which most errors of csv are about."""
    if "unexpected end of data" in error or "field larger than" in error:
        return 'a quotation mark (") opens a cell that is never closed'
    if "expected after" in error:
        return (
            'text after a closing quotation mark ("): quote whole cells, and write "" for a '
            "quotation mark inside a cell"
        )
    return f"the table cannot be read ({error})"


def read_delimited(content: bytes, source: str, separator: str = "") -> DelimitedText:
    """Read a text table with a header, separated by tabs, commas or semicolons.

    Comments (``#``) are allowed above the header, not below it, where ``#`` may begin an id. Empty
    lines are skipped.

    Parameters
    ----------
    content
        The bytes of the text.
    source
        Its name in messages.
    separator
        The character between cells (default: found in the first lines).
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
            cells = cells[: len(names)]  # noqa: PLW2901 - trailing separators
        if len(cells) != len(names):
            raise _unfitting(cells, len(names), place, separator)
        rows.append(cells)
        lines.append(line)
    if not names:
        raise InputError(f"{source} has no header: name the columns in the first line")
    return DelimitedText(names, rows, lines, header_line)


def first_lines(text: str) -> list[str]:
    """Return the first lines that are neither empty nor comments above the header."""
    found: list[str] = []
    for line in StringIO(text, newline=""):
        if line.strip() and (found or not line.lstrip().startswith("#")):
            found.append(line)
        if len(found) == LINES_TO_TELL:
            break
    return found


def find_separator(head: list[str]) -> str:
    """Return the separator that gives all first lines equal numbers of cells.

    If there is none, it is the one that gives the header most cells. The header alone is not
    enough: a name may have a comma or a tab.
    """
    return max(SEPARATORS, key=lambda mark: _fitness(head, mark))


def _fitness(head: list[str], mark: str) -> tuple[bool, int]:
    import csv

    try:
        counts = [len(cells) for cells in islice(csv.reader(head, delimiter=mark), LINES_TO_TELL)]
    except csv.Error:  # a long line is one cell, which no table has
        counts = []
    first = counts[0] if counts else 0
    return first > 1 and len(set(counts)) == 1, first


def _header(names: list[str], place: str) -> list[str]:
    """Return the names of the columns, without trailing separators."""
    while not names[-1]:
        names.pop()
    refuse_repeated(names, place)
    if "" in names:
        raise FormatError(
            place,
            f"column {names.index('') + 1} has no name: name or remove it "
            "(pandas: to_csv(index=False), or index_label='unit')",
        )
    return names


def refuse_repeated(names: list[str], place: str) -> None:
    """Raise an error if a column name appears twice; other readers rename or drop one."""
    seen: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        first = seen.setdefault(name, at)
        if name and first < at:
            raise FormatError(
                place,
                f"two columns are named {name!r} (columns {first} and {at}): rename one of them",
            )


def _unfitting(cells: list[str], width: int, place: str, separator: str) -> FormatError:
    hint = "; is there a decimal comma?" if separator == "," and len(cells) > width else ""
    return FormatError(place, f"{len(cells)} cells, but the header has {width}{hint}")
