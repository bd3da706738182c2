"""Cells of a column as labels or as numbers; columns are lists or Polars series."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from heldout.data.words import Floats, Ints

    Cells = list[Any] | pl.Series
    Place = Callable[[int], str]

__all__ = [
    "Labels",
    "any_filled",
    "as_list",
    "cell_text",
    "cell_types",
    "code_labels",
    "label_of",
    "number_problem",
    "read_labels",
    "read_numbers",
    "to_numbers",
]

BLANK_ENDS: Final = r"^[\s\x1c-\x1f]|[\s\x1c-\x1f]$"
"""White space that `str.strip` removes, as a regular expression of Polars."""

# Python's float() also accepts 1_000 and the digits of every script.
NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DECIMAL_COMMA: Final = re.compile(r"[+-]?[0-9.]*,[0-9]+")


class Labels(NamedTuple):
    """The labels of a column.

    Parameters
    ----------
    names
        The distinct labels, in the order of their first appearance.
    codes
        The number of the label of each cell.
    """

    names: list[str]
    codes: Ints


def cell_text(cell: Any) -> str:
    """Return a cell as a string without surrounding white space; empty for a missing value."""
    return "" if cell is None else str(cell).strip()


def label_of(cell: Any) -> str:
    """Return a class, an id or a name as a string; empty if there is none."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return ""
        return str(int(cell)) if cell.is_integer() else str(cell)
    return cell_text(cell)


def _label_problem(cell: Any, what: str) -> str:
    if isinstance(cell, float):
        return f"the {what} is {cell}, expected a name"
    return f"the {what} is missing"


def number_problem(cell: Any) -> str:
    """Return why a cell is not a finite number."""
    text = cell_text(cell)
    if not text:
        return "the number is missing"
    reason = "is not a number"
    if DECIMAL_COMMA.fullmatch(text):
        reason = "has a comma: use a decimal point, and no thousands separators"
    elif text.lower().lstrip("+-") in {"nan", "inf", "infinity"} or NUMBER.fullmatch(text):
        reason = "is not a finite number"
    elif text.lower() in {"na", "n/a", "null", "none", "-"}:
        reason = "is not a number: leave cells without a value empty"
    return f"{cell!r} {reason}"


def _number(cell: Any) -> float:
    """Return a cell as a number; NaN if it is not a finite number."""
    text = "" if isinstance(cell, bool) else cell_text(cell)
    if not NUMBER.fullmatch(text):
        return math.nan
    number = float(text)
    return number if math.isfinite(number) else math.nan


def _is_text(cells: pl.Series) -> bool:
    return str(cells.dtype) == "String"


def as_list(cells: Cells) -> list[Any]:
    """Return the cells as a list."""
    return cells if isinstance(cells, list) else cells.to_list()


def read_labels(cells: Cells, place: Place, what: str) -> list[str]:
    """Return every cell as a label.

    Parameters
    ----------
    cells
        The cells of a column.
    place
        Returns the place of a cell by its row.
    what
        The name of the column in messages.
    """
    if isinstance(cells, list) or not _is_text(cells):
        found = [label_of(cell) for cell in as_list(cells)]
    else:
        texts = cells.fill_null("")
        found = texts.to_list()
        if texts.str.contains(BLANK_ENDS).any():
            found = [cell.strip() for cell in found]
    if not all(found):
        at = found.index("")
        raise FormatError(place(at), _label_problem(cells[at], what))
    return found


def code_labels(cells: Cells, place: Place, what: str) -> Labels:
    """Return every cell as the number of a label; arguments as for `read_labels`."""
    if not isinstance(cells, list) and _is_text(cells):
        found = _text_codes(cells)
        if found is not None:
            return found
    numbers: dict[str, int] = {}
    labels = read_labels(cells, place, what)
    codes = [numbers.setdefault(label, len(numbers)) for label in labels]
    return Labels(list(numbers), np.array(codes, np.int64))


def _text_codes(cells: pl.Series) -> Labels | None:
    """Return the labels of a column of strings; None if one is missing."""
    import polars as pl

    cells = cells.fill_null("")
    different = cells.unique(maintain_order=True)
    numbers: dict[str, int] = {}
    of_cell = [numbers.setdefault(one.strip(), len(numbers)) for one in different]
    if "" in numbers:
        return None
    places = cells.cast(pl.Enum(different)).to_physical().to_numpy()
    return Labels(list(numbers), np.array(of_cell, np.int64)[places])


def to_numbers(cells: Cells) -> Floats:
    """Return every cell as a number; NaN for cells that are not finite numbers."""
    if isinstance(cells, list) or not (_is_text(cells) or cells.dtype.is_numeric()):
        return np.array([_number(cell) for cell in as_list(cells)], np.float64)
    import polars as pl

    found = cells.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    odd = np.flatnonzero(~np.isfinite(found)).tolist()
    if odd:  # surrounding white space, or not a number
        found = np.array(found)
        for at in odd:
            found[at] = _number(cells[at])
    return found


def read_numbers(cells: Cells, place: Place, what: str) -> Floats:
    """Return every cell as a finite number; arguments as for `read_labels`."""
    found = to_numbers(cells)
    wrong = np.isnan(found)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise FormatError(place(at), f"{what}: {number_problem(cells[at])}")
    return found


def any_filled(cells: Cells) -> bool:
    """Return whether a column has any value."""
    return any(cell_text(cell) for cell in cells)  # usually the first cell has one


def cell_types(cells: Cells) -> set[type]:
    """Return the types of the cells."""
    if not isinstance(cells, list) and _is_text(cells) and not cells.null_count():
        return {str}
    return set(map(type, as_list(cells)))
