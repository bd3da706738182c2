"""Tables for people: drawn with lines by Rich, or in plain columns."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Final

from heldout.report.tables import Table, notes_text, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table as RichTable

__all__ = ["aligned", "fitted", "printable", "ruled", "shortened"]

MANY_ROWS: Final = 50
"""From here on rows are not drawn by Rich, which takes milliseconds for each."""

ANY_WIDTH: Final = 10_000
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
    return "\n".join(_aligned(part) for part in parts)


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
    sizes = [max(map(len, column)) + 3 for column in zip(*table.lines, strict=True)]
    fixed = sum(sizes[: table.texts])
    shown: list[int] = []
    for at in range(table.texts, len(table.head)):
        if shown and fixed + sum(sizes[one] for one in shown) + sizes[at] - 3 > width:
            yield _selected(table, [*range(table.texts), *shown])
            shown = []
        shown.append(at)
    yield _selected(table, [*range(table.texts), *shown])


def _selected(table: Table, columns: list[int]) -> Table:
    return replace(
        table,
        head=[table.head[at] for at in columns],
        rows=[[row[at] for at in columns] for row in table.rows],
        bold={(row, columns.index(at)) for row, at in table.bold if at in columns},
    )


def ruled(tables: Sequence[Table], *, terminal: bool) -> str:
    """Tables with lines between columns, below each other.

    Parameters
    ----------
    tables
        What is shown.
    terminal
        Whether it has the width of the terminal, and its bold letters.
    """
    from rich.console import Console  # slow to import
    from rich.text import Text

    buffer = StringIO()
    width = Console().width if terminal else ANY_WIDTH
    console = Console(file=buffer, width=width, force_terminal=terminal, highlight=False)
    for number, table in enumerate(map(printable, tables)):
        if number:
            console.print()
        if table.title:
            console.print(Text(table.title))
        for part, fitting in enumerate(_fitting(table, width)):
            if part:
                console.print()
            _print_rows(console, fitting)
        buffer.write(notes_text(table.notes, "table"))
    return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())


def printable(table: Table) -> Table:
    """The same table without control characters."""
    return replace(
        table,
        head=[plain_text(cell) for cell in table.head],
        rows=[[plain_text(cell) for cell in row] for row in table.rows],
        title=plain_text(table.title),
    )


def _print_rows(console: Console, table: Table) -> None:
    """Print a table; of many rows Rich draws one, as wide as all, and the others follow it."""
    from rich.cells import cell_len

    plain = all(cell.isprintable() and cell == cell.strip() for row in table.rows for cell in row)
    marked = bool(table.bold) and console.is_terminal
    if len(table.rows) < MANY_ROWS or not plain or marked:
        console.print(_drawn(table))
        return
    widths = [max(map(cell_len, column)) for column in zip(*table.rows, strict=True)]
    sample = ["x" * width for width in widths]
    with console.capture() as captured:
        console.print(_drawn(replace(table, rows=[sample, sample], sections={0}, bold=())))
    head = captured.get().splitlines(keepends=True)
    if len(head) != 5:  # cells are folded: the terminal is too narrow
        console.print(_drawn(table))
        return
    widths = [max(width, cell_len(name)) for width, name in zip(widths, table.head, strict=True)]
    console.file.write("".join(head[:2]))
    for number, row in enumerate(table.rows):
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blank = " " * (width - cell_len(cell))
            cells.append(cell + blank if at < table.texts else blank + cell)
        console.file.write(" │ ".join(cells) + "\n")
        if number in table.sections and number + 1 < len(table.rows):
            console.file.write(head[3])


def _drawn(table: Table) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(header_style="bold", show_edge=False, pad_edge=False)
    for at, name in enumerate(table.head):
        drawn.add_column(
            Text(name), justify="left" if at < table.texts else "right", overflow="fold"
        )
    for number, row in enumerate(table.rows):
        cells = [
            Text(cell, "bold" if (number, at) in table.bold else "") for at, cell in enumerate(row)
        ]
        drawn.add_row(*cells, end_section=number in table.sections)
    return drawn
