"""Tables of scores; each becomes two columns per system, the units and their values.

Files and frames are wide (a column per system) or long; a long one holds its scores in one column
(``system,unit,value``), perhaps of several measures (``run,query_id,measure,value``), or in one
column per measure (``run,query,nDCG@10,AP``). The last two are what ``heldout eval -q`` writes as
Parquet and as TSV or CSV. In Python there are mappings, too: ``{system: {unit: value}}`` and
``{system: [values]}``.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.files import open_source
from heldout.data.frames import (
    USUAL_NAMES,
    as_list,
    find_column,
    frame_columns,
    is_frame,
    refuse_repeated,
)
from heldout.data.tables import Table, read_table
from heldout.errors import InputError
from heldout.notes import named_few

if TYPE_CHECKING:
    from collections.abc import Sequence


SUMMARY: Final = "all"  # the query id that trec_eval and heldout write for the mean over queries
EXPECTED: Final = (
    "expected {system: {unit: value}}, {system: [values]}, or a pandas or Polars frame with a "
    "column of unit ids and a column per system"
)


def scored_units(
    given: Any, systems: Sequence[str] | None = None, units: str | None = None
) -> dict[str, dict[str, Table]]:
    """Return the columns ``unit`` and ``value`` by measure ("" if none is named) and system."""
    if isinstance(given, str | os.PathLike):
        return _understood(read_table(open_source(given)), systems, units)
    if is_frame(given):
        table = _python_table(_frame_columns(given, units), units, "the frame")
        return _understood(table, systems, units)
    if not hasattr(given, "items"):
        kind = repr(given) if given is None else f"an object of type {type(given).__name__}"
        raise InputError(f"{kind} is not a table of scores: {EXPECTED}")
    if given and all(hasattr(inner, "items") and not is_frame(inner) for inner in given.values()):
        return {"": _of_mappings(given, systems)}
    refuse_repeated([str(name) for name in given], "the table")
    columns = {str(name): _listed(values, name) for name, values in given.items()}
    table, unit = _without_means(_python_table(columns, units, "the table"), units)
    # Whoever writes a mapping has named the systems.
    usual = USUAL_NAMES["scored unit"]
    named = [name for name in table.names if name != unit and name.lower() not in usual]
    return {"": _of_columns(table, unit, systems or named)}


def _without_means(table: Table, units: str | None) -> tuple[Table, str]:
    """Return the rows of single units, and the name of their column."""
    if not len(table):
        raise InputError(f"{table.source} has no rows of scores")
    unit = table.need("scored unit", "unit ids") if units is None else units
    refuse_unknown([unit], table.names, table.source, "column")
    is_unit = np.array(table.labels(unit, "unit")) != SUMMARY
    if not is_unit.any():
        raise InputError(f"{table.source}: only means (unit {SUMMARY}), no scores of single units")
    return table if is_unit.all() else table.take(np.flatnonzero(is_unit)), unit


def _understood(
    table: Table, systems: Sequence[str] | None, units: str | None
) -> dict[str, dict[str, Table]]:
    table, unit = _without_means(table, units)
    system, value, measure = table.find("system"), table.find("value"), table.find("measure")
    # In a wide table, every unit has one row, and a column named system has scores.
    is_wide = len(set(table.texts(unit, "unit"))) == len(table)
    is_wide = is_wide and not (system and any(map(_is_name, table.columns[system])))
    if system is None or (value is None and is_wide):
        return {"": _of_columns(table, unit, systems or _score_columns(table, unit))}
    if value is None:
        names = [name for name in table.names if name not in {unit, system}]
        if not names:
            raise InputError(
                f"{table.source}: there is a column {system}, but no column of scores: name it "
                f"{', '.join(USUAL_NAMES['value'])}, or by the measure"
            )
        parts = {name: (table, name) for name in names}
    elif measure is None:
        parts = {"": (table, value)}
    else:
        parts = {name: (part, value) for name, part in table.parts(measure, "measure").items()}
    return {
        name: {
            label: _pair(rows, unit, value) for label, rows in part.parts(system, "system").items()
        }
        for name, (part, value) in parts.items()
    }


def _pair(table: Table, unit: str, value: str) -> Table:
    return replace(table, columns={"unit": table.columns[unit], "value": table.columns[value]})


def _of_columns(table: Table, unit: str, systems: Sequence[str]) -> dict[str, Table]:
    if not systems:
        raise InputError(f"{table.source}: no columns of scores, only {unit}")
    refuse_unknown(systems, table.names, table.source)
    return {system: _pair(table, unit, system) for system in systems}


def _is_name(cell: Any) -> bool:
    """Return whether a cell has a name, and not a number or nothing."""
    return isinstance(cell, str) and re.match(r"\s*(?![+-]?\.?[0-9])\S", cell) is not None


def _score_columns(table: Table, unit: str) -> list[str]:
    """Return the columns of a wide table that are systems; raise an error for ids among them."""
    systems = []
    for name, cells in table.columns.items():
        is_usual = name.lower() in USUAL_NAMES["scored unit"]
        if name == unit or (is_usual and all(map(_is_name, cells))):
            continue  # the ids, or the texts of units, such as queries beside query ids
        texts = {str(cell).strip() for cell in cells if not isinstance(cell, float)}
        are_whole = all(re.fullmatch(r"[+-]?[0-9]+", text) for text in texts)
        # Two integers may differ by chance, such as success and failure on two units.
        if is_usual or (are_whole and 3 <= len(cells) == len(texts)):
            raise InputError(
                f"{table.source}: column {name} looks like ids (by its name, or because of a "
                f"different integer in every row), but {unit} has the unit ids: name the systems, "
                "or remove it"
            )
        systems.append(name)
    return systems


def refuse_unknown(
    names: Sequence[str], there: Sequence[str], source: str, what: str = "system"
) -> None:
    """Raise an error if a name is not there."""
    for name in names:
        if name not in there:
            shown = named_few(there, len(there), 10)
            raise InputError(f"{source}: no {what} {name!r}; found {shown}")


# Python values; success and failure are 1 and 0


def _frame_columns(frame: Any, units: Any) -> dict[str, list[Any]]:
    """Return the columns of a frame, including a pandas index that is not the default one."""
    index = getattr(frame, "index", None)
    if index is not None:
        named = [name for name in index.names if name is not None]
        has_units = units or find_column([*map(str, (*named, *frame.columns))], "scored unit")
        is_default = type(index).__name__ == "RangeIndex" or has_units
        if (named or not is_default) and not set(named) & set(frame.columns):
            whole = frame if has_units or index.nlevels > 1 else frame.rename_axis("unit")
            frame = whole.reset_index()
    columns = frame_columns(frame, "the frame")
    return {name: _listed(cells, name) for name, cells in columns.items()}


def _python_table(columns: dict[str, list[Any]], units: str | None, source: str) -> Table:
    """Make a table; rows without ids are numbered, unless there are texts that may be ids."""
    longest = max(map(len, columns.values()), default=0)
    for name, cells in columns.items():
        if len(cells) < longest:
            raise InputError(
                f"{name} has {len(cells)} values, others have {longest}: to pair them by id, give "
                "{unit: value} for each system"
            )
    has_texts = any(isinstance(cell, str) for cells in columns.values() for cell in cells)
    if not has_texts and units is None and find_column(list(columns), "scored unit") is None:
        columns = {"unit": list(range(longest)), **columns}
    return Table.of(columns, source)


def _listed(values: Any, system: Any) -> list[Any]:
    is_list = hasattr(values, "__iter__") and not isinstance(values, str | bytes)
    if not is_list or hasattr(values, "items") or len(getattr(values, "shape", "1")) != 1:
        shown = f"an object of type {type(values).__name__}"
        raise InputError(f"system {system} has {shown}, not a list of scores: {EXPECTED}")
    scores = as_list(values, "values")
    return [float(score) if isinstance(score, bool) else score for score in scores]


def _of_mappings(given: Any, systems: Sequence[str] | None) -> dict[str, Table]:
    tables = {}
    for system, values in given.items():
        if systems is None and str(system).lower() in USUAL_NAMES["scored unit"]:
            raise InputError(
                f"{system} looks like unit ids, not like a system: give the frame itself, or name "
                "the systems"
            )
        # A pandas series has NaN where a value is missing.
        scores = dict((values.dropna() if hasattr(values, "dropna") else values).items())
        if not scores:
            raise InputError(f"system {system} has no scores")
        columns = {"unit": list(scores), "value": _listed(list(scores.values()), system)}
        tables[str(system)], _ = _without_means(Table.of(columns, "the table"), "unit")
    if len(tables) < len(given):
        raise InputError("two systems have the same name, such as 1 and '1'")
    return tables
