"""The cells of a column as labels or as numbers: lists of what was read, or columns of Polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.io.prediction_table import label_cell, number_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from heldout.data.words import Floats, Ints

    Cells = list[Any] | pl.Series
    Place = Callable[[int], str]

__all__ = ["Labels", "any_filled", "cell_types", "code_labels", "read_labels", "read_numbers"]

BLANK_ENDS: Final = r"^[\s\x1c-\x1f]|[\s\x1c-\x1f]$"
"""What `str.strip` takes away, as Polars' regular expressions know it."""


class Labels(NamedTuple):
    """Labels that come again and again.

    Parameters
    ----------
    names
        The different ones, in the order in which they come first.
    codes
        The number of each cell's.
    """

    names: list[str]
    codes: Ints


def _is_text(cells: pl.Series) -> bool:
    return str(cells.dtype) == "String"


def read_labels(cells: Cells, place: Place, what: str) -> list[str]:
    """Every cell as a label.

    Parameters
    ----------
    cells
        Of a column.
    place
        Where a cell stands, by its number.
    what
        The column, as messages call it.
    """
    if not isinstance(cells, list) and _is_text(cells):
        texts = cells.fill_null("")
        found = texts.to_list()
        if texts.str.contains(BLANK_ENDS).any():
            found = [cell.strip() for cell in found]
        if all(found):
            return found
    return [label_cell(cell, place(at), what) for at, cell in _with_places(cells)]


def code_labels(cells: Cells, place: Place, what: str) -> Labels:
    """Every cell as the number of a label; arguments as for `read_labels`."""
    if not isinstance(cells, list) and _is_text(cells):
        found = _text_codes(cells)
        if found is not None:
            return found
    numbers: dict[str, int] = {}
    codes = [
        numbers.setdefault(label_cell(cell, place(at), what), len(numbers))
        for at, cell in _with_places(cells)
    ]
    return Labels(list(numbers), np.array(codes, np.int64))


def _text_codes(cells: pl.Series) -> Labels | None:
    """The same of texts; None if one is missing."""
    import polars as pl

    cells = cells.fill_null("")
    different = cells.unique(maintain_order=True)
    numbers: dict[str, int] = {}
    of_cell = [numbers.setdefault(one.strip(), len(numbers)) for one in different]
    if "" in numbers:
        return None
    places = cells.cast(pl.Enum(different)).to_physical().to_numpy()
    return Labels(list(numbers), np.array(of_cell, np.int64)[places])


def _with_places(cells: Cells) -> enumerate[Any]:
    return enumerate(cells if isinstance(cells, list) else cells.to_list())


def read_numbers(cells: Cells, place: Place, what: str) -> Floats:
    """Every cell as a finite number; arguments as for `read_labels`."""
    if isinstance(cells, list) or not (_is_text(cells) or cells.dtype.is_numeric()):
        every = [number_cell(cell, place(at), what) for at, cell in _with_places(cells)]
        return np.array(every, np.float64)
    import polars as pl

    found = cells.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    odd = np.flatnonzero(~np.isfinite(found)).tolist()
    if odd:  # blanks around it, or no number
        found = np.array(found)
        for at in odd:
            found[at] = number_cell(cells[at], place(at), what)
    return found


def any_filled(cells: Cells) -> bool:
    """Whether there is anything in a column."""
    if isinstance(cells, list):
        return any(cell is not None and cell != "" for cell in cells)  # also lists, refused later
    if _is_text(cells):
        return bool((cells.fill_null("") != "").any())
    return cells.null_count() < len(cells)


def cell_types(cells: Cells) -> set[type]:
    """The types of the cells."""
    if not isinstance(cells, list) and _is_text(cells) and not cells.null_count():
        return {str}
    return {type(cell) for _, cell in _with_places(cells)}
