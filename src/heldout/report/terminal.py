"""Tables for people, in plain columns."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from heldout.report.tables import Table, notes_text, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["aligned", "fitted", "printable", "shortened", "stacked"]

SHORTEST: Final = 12
"""Characters of a name that are always shown."""


def shortened(text: str, width: int) -> str:
    """A text of at most `width` characters: a longer one loses its middle.

    Examples
    --------
    >>> shortened("a-very-long-name", 9)
    'a-ve…name'
    """
    if len(text) <= width:
        return text
    half = (width - 1) // 2
    return f"{text[: width - 1 - half]}…{text[len(text) - half :]}"


def aligned(table: Table, width: int | None = None) -> str:
    """Columns of equal width without lines.

    Parameters
    ----------
    table
        Without control characters.
    width
        What a line may have: further columns go into further tables below. None for any width.

    Examples
    --------
    >>> print(aligned(Table(["system", "AP"], [["a", "0.5"]])), end="")
    system   AP
    a       0.5
    """
    parts = _fitting(table, 10**9 if width is None else width)
    return "\n".join(_aligned(fitted(part, width)) for part in parts)


def fitted(table: Table, width: int | None) -> Table:
    """The same table with the texts of its first column shortened to fit a width.

    Parameters
    ----------
    table
        Without control characters.
    width
        Columns of the terminal; None for any width.
    """
    if width is None:
        return table
    longest = max((len(row[0]) for row in table.rows), default=0)
    excess = max(map(len, _aligned(table).splitlines())) - width
    if excess <= 0:
        return table
    room = max(longest - excess, SHORTEST)
    return replace(table, rows=[[shortened(row[0], room), *row[1:]] for row in table.rows])


def _aligned(table: Table) -> str:
    widths = [max(map(len, column)) for column in zip(*table.lines, strict=True)]
    lines = []
    for row in table.lines:
        padded = [
            f"{cell:<{width}}" if at < table.texts else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def _fitting(table: Table, width: int) -> Iterator[Table]:
    """Divide the columns over as many tables as the width asks for."""
    sizes = [max(map(len, column)) + 2 for column in zip(*table.lines, strict=True)]
    fixed = sum(sizes[: table.texts])
    shown: list[int] = []
    for at in range(table.texts, len(table.head)):
        if shown and fixed + sum(sizes[one] for one in shown) + sizes[at] - 2 > width:
            yield _selected(table, [*range(table.texts), *shown])
            shown = []
        shown.append(at)
    yield _selected(table, [*range(table.texts), *shown])


def _selected(table: Table, columns: list[int]) -> Table:
    return replace(
        table,
        head=[table.head[at] for at in columns],
        rows=[[row[at] for at in columns] for row in table.rows],
    )


def stacked(tables: Sequence[Table], *, terminal: bool) -> str:
    """Tables with their titles and notes, below each other.

    Parameters
    ----------
    tables
        What is shown.
    terminal
        Whether it has the width of the terminal.
    """
    width = shutil.get_terminal_size().columns if terminal else None
    return "\n".join(
        (f"{table.title}\n" if table.title else "")
        + aligned(table, width)
        + notes_text(table.notes, "table")
        for table in map(printable, tables)
    )


def printable(table: Table) -> Table:
    """The same table without control characters."""
    return replace(
        table,
        head=[plain_text(cell) for cell in table.head],
        rows=[[plain_text(cell) for cell in row] for row in table.rows],
        title=plain_text(table.title),
    )
