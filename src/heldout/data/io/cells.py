"""The cells of a column as labels or as numbers: lists of what was read, or columns of Polars."""

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
    "label_cell",
    "number_cell",
    "number_problem",
    "read_labels",
    "read_numbers",
    "to_numbers",
]

BLANK_ENDS: Final = r"^[\s\x1c-\x1f]|[\s\x1c-\x1f]$"
"""What `str.strip` takes away, as Polars' regular expressions know it."""

# Python's float() also takes 1_000 and the digits of every script.
NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DECIMAL_COMMA: Final = re.compile(r"[+-]?[0-9.]*,[0-9]+")


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


def cell_text(cell: Any) -> str:
    """A cell as text without blanks around it; empty if there is nothing in it."""
    return "" if cell is None else str(cell).strip()


def label_cell(cell: Any, place: str, what: str) -> str:
    """A class, an id or a name as text; refused if it is missing."""
    label = _label(cell)
    if not label:
        raise FormatError(place, _label_problem(cell, what))
    return label


def _label(cell: Any) -> str:
    """A cell as a label; empty if it is none."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return ""
        return str(int(cell)) if cell.is_integer() else str(cell)
    return cell_text(cell)


def _label_problem(cell: Any, what: str) -> str:
    if isinstance(cell, float):
        return f"the {what} is {cell}, which is no name"
    return f"the {what} is missing"


def number_cell(cell: Any, place: str, what: str) -> float:
    """A finite number; refused if it is missing or none."""
    number = _number(cell)
    if math.isnan(number):
        raise FormatError(place, f"{what}: {number_problem(cell)}")
    return number


def number_problem(cell: Any) -> str:
    """Why a cell is no finite number."""
    text = cell_text(cell)
    if not text:
        return "the number is missing"
    reason = "is not a number"
    if DECIMAL_COMMA.fullmatch(text):
        reason = "has a comma: write a decimal point, and no marks between thousands"
    elif text.lower().lstrip("+-") in {"nan", "inf", "infinity"} or NUMBER.fullmatch(text):
        reason = "is not a finite number"
    elif text.lower() in {"na", "n/a", "null", "none", "-"}:
        reason = "is not a number: leave the cell empty where there is none"
    return f"{cell!r} {reason}"


def _number(cell: Any) -> float:
    """A cell as a number; not a number if it is no finite one."""
    text = "" if isinstance(cell, bool) else cell_text(cell)
    if not NUMBER.fullmatch(text):
        return math.nan
    number = float(text)
    return number if math.isfinite(number) else math.nan


def _is_text(cells: pl.Series) -> bool:
    return str(cells.dtype) == "String"


def as_list(cells: Cells) -> list[Any]:
    """The cells one by one."""
    return cells if isinstance(cells, list) else cells.to_list()


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
    if isinstance(cells, list) or not _is_text(cells):
        found = [_label(cell) for cell in as_list(cells)]
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
    """Every cell as the number of a label; arguments as for `read_labels`."""
    if not isinstance(cells, list) and _is_text(cells):
        found = _text_codes(cells)
        if found is not None:
            return found
    numbers: dict[str, int] = {}
    labels = read_labels(cells, place, what)
    codes = [numbers.setdefault(label, len(numbers)) for label in labels]
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


def to_numbers(cells: Cells) -> Floats:
    """Every cell as a number; not a number where there is no finite one."""
    if isinstance(cells, list) or not (_is_text(cells) or cells.dtype.is_numeric()):
        return np.array([_number(cell) for cell in as_list(cells)], np.float64)
    import polars as pl

    found = cells.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    odd = np.flatnonzero(~np.isfinite(found)).tolist()
    if odd:  # blanks around it, or no number
        found = np.array(found)
        for at in odd:
            found[at] = _number(cells[at])
    return found


def read_numbers(cells: Cells, place: Place, what: str) -> Floats:
    """Every cell as a finite number; arguments as for `read_labels`."""
    found = to_numbers(cells)
    wrong = np.isnan(found)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise FormatError(place(at), f"{what}: {number_problem(cells[at])}")
    return found


def any_filled(cells: Cells) -> bool:
    """Whether there is anything in a column."""
    return any(cell_text(cell) for cell in cells)  # most often the first one is filled


def cell_types(cells: Cells) -> set[type]:
    """The types of the cells."""
    if not isinstance(cells, list) and _is_text(cells) and not cells.null_count():
        return {str}
    return set(map(type, as_list(cells)))
