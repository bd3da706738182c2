"""Tables of scores: wide (a column a system) or long (a row a system and unit)."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from heldout.data.formats.delimited import Table, read_delimited
from heldout.data.formats.parquet import parquet_errors, read_parquet
from heldout.data.formats.source import open_source
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    import os

__all__ = ["read_score_table"]

UNIT_NAMES: Final = ("unit", "query_id", "qid", "query", "query-id", "topic", "fold", "id")
SYSTEM_NAMES: Final = ("system", "run", "name", "model")
VALUE_NAMES: Final = ("value", "score", "measure_value")

# Python's float() also takes 1_000 and the digits of every script.
NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DECIMAL_COMMA: Final = re.compile(r"[+-]?[0-9.]*,[0-9]+")

Pairs = tuple[dict[str, dict[str, float]], list[str]]
"""Scores by system and unit, and all units in order, those without a score included."""


def read_score_table(path: str | os.PathLike[str]) -> Pairs:
    """Read a table of scores, as `heldout.read_scores` describes it."""
    source = open_source(path)
    if source.head(4) == b"PAR1":
        table = _parquet(source.read(0, source.size), source.name)
    else:
        table = read_delimited(source.whole(), source.name)
    if not table.rows:
        raise InputError(f"{source.name}: a header, but no scores below it")
    unit = _find(table, UNIT_NAMES)
    if unit is None:
        shown = ", ".join(table.names[:5]) + (", …" if table.names[5:] else "")
        raise InputError(
            f"{source.name}: no column of unit ids (found {shown}): add one named unit, or "
            f"{', '.join(UNIT_NAMES[1:])}"
        )
    system, value = _find(table, SYSTEM_NAMES), _find(table, VALUE_NAMES)
    if system is not None and value is not None:
        return _long(table, unit, system, value)
    if system is not None and any(_is_text(row[system]) for row in table.rows):
        raise InputError(
            f"{source.name}: a column {table.names[system]}, but none of their scores: name that "
            f"{', '.join(VALUE_NAMES)}"
        )
    return _wide(table, unit)


def _is_text(cell: Any) -> bool:
    """Whether a cell holds the name of a system rather than a score or nothing."""
    return isinstance(cell, str) and bool(cell) and not re.match(r"[+-]?\.?[0-9]", cell)


def _parquet(content: bytes, name: str) -> Table:
    frame = read_parquet(content, name)
    with parquet_errors(name):  # dates beyond those of Python
        return Table(name, frame.columns, [list(row) for row in frame.iter_rows()], [])


def _find(table: Table, known: tuple[str, ...]) -> int | None:
    """The number of the first column that goes by one of these names."""
    names = [name.strip().lower() for name in table.names]
    return next((names.index(one) for one in known if one in names), None)


def _number(cell: Any, place: str) -> float | None:
    """A number; None where there is none."""
    text = "" if cell is None else str(cell).strip()
    if not text:
        return None
    if NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    reason = "is not a number"
    if DECIMAL_COMMA.fullmatch(text):
        reason = "has a comma: write a decimal point, and no marks between thousands"
    elif text.lower().lstrip("+-") in {"nan", "inf", "infinity"} or NUMBER.fullmatch(text):
        reason = "is not a finite number"
    elif text.lower() in {"na", "n/a", "null", "none", "-"}:
        reason = "is not a number: leave the cell empty where there is no score"
    raise FormatError(place, f"{cell!r} {reason}")


def _id(cell: Any, place: str, what: str) -> str:
    """An id as text; refused if it is missing."""
    text = "" if cell is None else str(cell).strip()
    if not text:
        raise FormatError(place, f"the {what} is missing")
    return text


def _long(table: Table, unit: int, system: int, value: int) -> Pairs:
    found: dict[str, dict[str, float]] = {}
    rows: dict[tuple[str, str], int] = {}
    for at, cells in enumerate(table.rows):
        place = table.place(at)
        who, what = _id(cells[system], place, "system"), _id(cells[unit], place, "unit")
        first = rows.setdefault((who, what), at)
        if first != at:
            hint = ": keep the rows of one measure" if "measure" in table.names else ""
            raise FormatError(
                place, f"system {who} has unit {what} twice (first in {table.place(first)}){hint}"
            )
        scores = found.setdefault(who, {})
        number = _number(cells[value], place)
        if number is not None:
            scores[what] = number
    return found, list(dict.fromkeys(what for _, what in rows))


def _wide(table: Table, unit: int) -> Pairs:
    names = [name.strip() for name in table.names]
    found: dict[str, dict[str, float]] = {name: {} for at, name in enumerate(names) if at != unit}
    if not found:
        raise InputError(f"{table.source}: no column of a system beside {table.names[unit]}")
    rows: dict[str, int] = {}
    for at, cells in enumerate(table.rows):
        place = table.place(at)
        what = _id(cells[unit], place, "unit")
        if rows.setdefault(what, at) != at:
            raise FormatError(
                place, f"unit {what} stands twice (first in {table.place(rows[what])})"
            )
        for column, cell in enumerate(cells):
            if column == unit:
                continue
            number = _number(cell, f"{place}, column {names[column]}")
            if number is not None:
                found[names[column]][what] = number
    return found, list(rows)
