"""Small tables of texts: for the terminal, for other programs, for a paper."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from heldout.report.markup import csv_lines, html_rows
from heldout.report.tables import (
    LATEX_ESCAPES,
    escape_markdown,
    fit_columns,
    latex_row,
    plain_text,
    tsv_lines,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

__all__ = ["Grid", "aligned", "grids_text", "notes_text"]

MANY_ROWS: Final = 50
"""From here on rows are not drawn by Rich, which takes milliseconds for each."""


class Grid(NamedTuple):
    """A head and rows of cells; the first `texts` columns are words, the others numbers."""

    head: list[str]
    rows: list[list[str]]
    title: str = ""
    texts: int = 1


def grids_text(grids: Sequence[Grid], kind: str, *, terminal: bool = False) -> str:
    """Tables below each other: ``table``, ``tsv``, ``csv``, ``md``, ``latex`` or ``html``.

    On a terminal, columns that do not fit its width go into further tables below the first.
    """
    plain = [
        grid._replace(
            head=[plain_text(cell) for cell in grid.head],
            rows=[[plain_text(cell) for cell in row] for row in grid.rows],
            title=plain_text(grid.title),
        )
        for grid in grids
    ]
    if kind == "table":
        return _rich(plain, terminal=terminal)
    writer = {"tsv": _tsv, "csv": _csv, "md": _markdown, "latex": _latex, "html": _html}[kind]
    return "\n".join(writer(grid) for grid in plain)


def notes_text(notes: Sequence[str], kind: str) -> str:
    """Sentences below tables: ``md``, ``latex`` or ``html``."""
    if kind == "html":
        return "".join(f"<p>{html.escape(note)}</p>\n" for note in notes)
    if kind == "latex":
        return "".join(f"% {note}\n" for note in notes)
    return "".join(f"{escape_markdown(note, line=True)}\n\n" for note in notes)


def aligned(rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Columns of equal width without lines; the first is words, the others numbers.

    Parameters
    ----------
    rows
        The first of them is the head.
    width
        What a line may have: further columns go into further tables below. None for any width.

    Examples
    --------
    >>> print(aligned([["system", "AP"], ["a", "0.5"]]), end="")
    system   AP
    a       0.5
    """
    cells = [list(row) for row in rows]
    parts = fit_columns(cells[0], cells[1:], 1, 10**9 if width is None else width)
    return "\n".join(_aligned([[row[at] for at in columns] for row in cells]) for columns in parts)


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        padded = [
            f"{cell:>{width}}" if at else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def _tsv(grid: Grid) -> str:
    return tsv_lines([grid.head, *grid.rows])


def _csv(grid: Grid) -> str:
    return csv_lines([grid.head, *grid.rows])


def _html(grid: Grid) -> str:
    title = f"<p>{html.escape(grid.title)}</p>" if grid.title else ""
    return title + html_rows(grid.head, grid.rows) + "\n"


def _markdown(grid: Grid) -> str:
    rule = ["---" if at < grid.texts else "---:" for at in range(len(grid.head))]
    rows = [[escape_markdown(cell) for cell in row] for row in [grid.head, *grid.rows]]
    title = f"{escape_markdown(grid.title, line=True)}\n\n" if grid.title else ""
    return title + "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], rule, *rows[1:]])


def _latex(grid: Grid) -> str:
    cells = [
        [cell.translate(LATEX_ESCAPES).replace("—", "---") for cell in row]
        for row in [grid.head, *grid.rows]
    ]
    form = "l" * grid.texts + "r" * (len(grid.head) - grid.texts)
    lines = [f"% {grid.title}"] if grid.title else []
    lines += [f"\\begin{{tabular}}{{{form}}}", "\\toprule", latex_row(cells[0])]
    lines += ["\\midrule", *map(latex_row, cells[1:])]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _rich(grids: Sequence[Grid], *, terminal: bool) -> str:
    from io import StringIO

    from rich.console import Console  # slow to import, needed for tables only
    from rich.text import Text

    buffer = StringIO()
    width = Console().width if terminal else 10_000
    console = Console(file=buffer, width=width, force_terminal=terminal, highlight=False)
    for number, grid in enumerate(grids):
        if number:
            console.print()
        if grid.title:
            console.print(Text(grid.title))
        for part, columns in enumerate(fit_columns(grid.head, grid.rows, grid.texts, width)):
            if part:
                console.print()
            rows = [[row[at] for at in columns] for row in grid.rows]
            _print_rows(console, Grid([grid.head[at] for at in columns], rows, texts=grid.texts))
    return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())


def _print_rows(console: Console, grid: Grid) -> None:
    """Print a table; of many rows Rich draws one, as wide as all, and the others follow it."""
    plain = all(cell.isprintable() and cell == cell.strip() for row in grid.rows for cell in row)
    if len(grid.rows) < MANY_ROWS or not plain:
        console.print(_table(grid))
        return
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*grid.rows, strict=True)]
    with console.capture() as captured:
        console.print(_table(grid._replace(rows=[["x" * width for width in widths]])))
    head = captured.get().splitlines(keepends=True)
    if len(head) != 3:  # cells are folded: the terminal is too narrow
        console.print(_table(grid))
        return
    widths = [max(width, cell_len(name)) for width, name in zip(widths, grid.head, strict=True)]
    console.file.write("".join(head[:2]))
    for row in grid.rows:
        cells = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blank = " " * (width - cell_len(cell))
            cells.append(cell + blank if at < grid.texts else blank + cell)
        console.file.write(" │ ".join(cells) + "\n")


def _table(grid: Grid) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold", show_edge=False, pad_edge=False)
    for at, name in enumerate(grid.head):
        side: Literal["left", "right"] = "left" if at < grid.texts else "right"
        table.add_column(Text(name), justify=side, overflow="fold")
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table
