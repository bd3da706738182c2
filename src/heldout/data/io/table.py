"""Tables of predictions column by column: each is read when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from heldout.data.io.delimited import read_delimited
from heldout.data.io.large_text import LARGE, read_large_text
from heldout.data.io.parquet import parquet_errors
from heldout.data.io.prediction_table import column_names, json_lines, parquet_frame
from heldout.data.io.source import open_source
from heldout.data.places import Places

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import polars as pl

    from heldout.data.io.cells import Cells
    from heldout.data.io.delimited import Table
    from heldout.data.io.large_text import TextColumns

__all__ = ["PredictionColumns", "read_prediction_columns"]

FIRST: Final = 1000
"""Rows of a large text that are looked at first."""


@dataclass(frozen=True, slots=True, eq=False)
class PredictionColumns:
    """Columns with names, and rows that know where they stand.

    Parameters
    ----------
    source
        The file.
    names
        The columns.
    cells
        Gives the cells of a column, by its number.
    places
        Where each row stands.
    first_cells
        As `cells`, but perhaps of the first rows only, if all cells are texts.
    """

    source: str
    names: list[str]
    cells: Callable[[int], Cells]
    places: Places
    first_cells: Callable[[int], Cells]


def read_prediction_columns(path: str | os.PathLike[str]) -> PredictionColumns:
    """Read a table of predictions, told by its content and not by its name."""
    source = open_source(path)
    if source.head(4) == b"PAR1":
        return _of_parquet(source.read(0, source.size), source.name)
    if source.head().lstrip().startswith(b"{"):
        return _of_rows(json_lines(source.whole(), source.name))
    return _of_text(source.whole(), source.name)


def _of_rows(table: Table) -> PredictionColumns:
    names = column_names(table.names, len(table.rows), table.source)
    places = Places(table.source, len(table.rows), table.lines)

    def cells(at: int) -> list[object]:
        return [row[at] for row in table.rows]

    return PredictionColumns(table.source, names, cells, places, cells)


def _of_text(content: bytes, name: str) -> PredictionColumns:
    large = read_large_text(content) if len(content) >= LARGE else None
    return _of_rows(read_delimited(content, name)) if large is None else _of_columns(large, name)


def _of_columns(table: TextColumns, name: str) -> PredictionColumns:
    names = column_names(table.names, table.rows, name)
    lines = range(table.first_line, table.first_line + table.rows)
    places = Places(name, table.rows, lines)
    first = partial(table.column, rows=FIRST)
    return PredictionColumns(name, names, table.column, places, first)


def _of_parquet(content: bytes, name: str) -> PredictionColumns:
    frame = parquet_frame(content, name)

    def cells(at: int) -> Cells:
        column: pl.Series = frame[:, at]
        if column.dtype.is_numeric() or str(column.dtype) == "String":
            return column
        with parquet_errors(name):  # dates beyond those of Python
            found: list[object] = column.to_list()
        return found

    names = column_names(frame.columns, frame.height, name)
    return PredictionColumns(name, names, cells, Places(name, frame.height), cells)
