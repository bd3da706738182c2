"""Detect files of predictions by their columns, and classes or numbers by their cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from heldout.data.io.source import open_source
from heldout.data.io.table import find_column, read_names, read_table
from heldout.data.notes import named_few
from heldout.data.prediction_files import (
    GUESSES,
    OF_CLASSES,
    PROBABILITY,
    SCORE,
    TRUTHS,
    UNITS,
)
from heldout.errors import HeldoutError, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from heldout.data.io.table import Table

__all__ = ["detect_task"]


def detect_task(paths: Sequence[str | os.PathLike[str]]) -> str:
    """Return the task of files of predictions; empty if they are something else.

    They are predictions if the first has columns of units, of the truth, and of predictions or
    scores. Cells that are not numbers mean ``classification``, numbers with decimals
    ``regression``. Integers may be either: with scores, or with at most two distinct values, they
    are classes; otherwise the user has to name the task.

    Parameters
    ----------
    paths
        The files.
    """
    if not _is_predictions(paths[0]):
        return ""
    table = read_table(open_source(paths[0]))
    table.refuse_empty("predictions")
    guesses = _cells(table, GUESSES)
    numbers = [_number(cell) for cell in [*_cells(table, TRUTHS), *guesses]]
    if any(math.isnan(one) for one in numbers):
        return "classification"
    if guesses and any(not one.is_integer() for one in numbers):
        return "regression"
    if _scored(table.names):
        return "classification"
    if len(set(numbers)) <= 2:
        return "classification"
    raise InputError(
        f"{table.source}: truth and predictions are integers, which may be classes or numbers: "
        "choose task='classification' or task='regression'"
    )


def _is_predictions(path: str | os.PathLike[str]) -> bool:
    try:
        names = read_names(open_source(path))
    except HeldoutError:
        return False  # the reader of another format will say what is wrong
    if find_column(names, TRUTHS) is None:
        return False
    guessed = find_column(names, GUESSES) is not None
    if guessed and find_column(names, UNITS) is None:
        raise InputError(
            f"{path}: predictions need a column of ids, by which the systems are paired: add one "
            f"named unit or id (found {named_few(names, len(names), 10)})"
        )
    return find_column(names, UNITS) is not None and (guessed or _scored(names))


def _scored(names: Sequence[str]) -> bool:
    single = find_column(names, PROBABILITY) is not None or find_column(names, SCORE) is not None
    return single or any(name.lower().startswith(tuple(OF_CLASSES)) for name in names)


def _cells(table: Table, names: tuple[str, ...]) -> list[Any]:
    """Return the distinct cells of a column."""
    column = find_column(table.names, names)
    if column is None:
        return []
    cells = table.cells(column)
    return cells if isinstance(cells, list) else cells.unique().to_list()


def _number(cell: Any) -> float:
    """Return a cell as a number; NaN if it is not a number."""
    if isinstance(cell, bool):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan
