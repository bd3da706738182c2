"""Tables of scores: wide (a column per system) or stacked (a row per system and unit).

A stacked table holds its scores in one column (``system,unit,value``), perhaps of several measures
(``run,query_id,measure,value``), or in one column per measure (``run,query,nDCG@10,AP``). The last
two are what ``heldout eval -q`` writes as Parquet and as TSV or CSV. Frames and mappings become the
same tables.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.files import open_source
from heldout.data.frames import USUAL_NAMES, as_list, find_column, frame_columns, is_frame
from heldout.data.notes import count_of, named_few
from heldout.data.tables import Table, read_table
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SUMMARY: Final = "all"
"""The query id that trec_eval and heldout write for the mean over queries."""

FEWEST_IDS: Final = 3
"""Fewer integers may all differ by chance, such as success and failure on two units."""

EXPECTED: Final = (
    "expected {system: {unit: value}}, {system: [values]}, or a pandas or Polars frame with a "
    "column of unit ids and a column per system"
)
CHOOSE: Final = "name the systems (systems=…), or remove it"

Pairs = tuple[dict[str, dict[str, float]], list[str]]
"""Scores by system and unit, and all units in order, those without a score included."""


class ScoreTable(NamedTuple):
    """A table of scores and the roles of its columns."""

    table: Table
    unit: str
    columns: dict[str, str]  # of scores, by system in a wide table, by measure ("") in a stacked
    system: str | None = None  # None for a wide table
    measure: str | None = None  # the column that names the measure of each row
    systems: tuple[str, ...] = ()  # those to use; empty for all

    @property
    def measures(self) -> list[str]:
        """The measures named in the table; empty if it names none."""
        if self.measure is not None:
            return self.table.codes(self.measure, "measure").names
        return [] if self.system is None else list(filter(None, self.columns))

    def pairs(self, measure: str | None = None) -> tuple[str | None, Pairs]:
        """Return the scores in one measure, and its name.

        `measure` may be None if the table has only one. In a table that names no measure it is the
        name of the scores.
        """
        known = self.measures
        name = _one_measure(known, measure, self.table.source) if known else measure
        found: dict[str, dict[str, float]] = {}
        if self.system is None:
            for system, column in self.columns.items():
                self._add(found, self.table, [system] * len(self.table), column, f"column {column}")
        else:
            table = self.table
            if self.measure is not None:  # rows of others may have texts, such as runid
                chosen = np.array(table.labels(self.measure, "measure")) == name
                table = table.take(np.flatnonzero(chosen))
            column = self.columns[name if name in self.columns else ""]
            found = {system: {} for system in self.systems}
            self._add(found, table, table.labels(self.system, "system"), column)
        units = list(dict.fromkeys(unit for scores in found.values() for unit in scores))
        if not units:
            raise InputError(
                f"{self.table.source}: only means (unit {SUMMARY}), no scores of single units"
            )
        scored = {
            system: {unit: score for unit, score in scores.items() if score == score}  # noqa: PLR0124
            for system, scores in found.items()
        }
        return name, (scored, units)

    def _add(
        self,
        found: dict[str, dict[str, float]],
        table: Table,
        systems: list[str],
        column: str,
        what: str = "",
    ) -> None:
        """Add the scores in a column; NaN where a cell is empty."""
        units = table.labels(self.unit, "unit")
        wanted = set(self.systems)
        used = [
            unit != SUMMARY and (not wanted or system in wanted)
            for system, unit in zip(systems, units, strict=True)
        ]
        rows = np.flatnonzero(used)
        numbers = table.take(rows).numbers(column, what, empty=True).tolist()
        for row, number in zip(rows.tolist(), numbers, strict=True):
            scores = found.setdefault(systems[row], {})
            if units[row] in scores:
                first = next(
                    at
                    for at in rows.tolist()
                    if (systems[at], units[at]) == (systems[row], units[row])
                )
                raise FormatError(
                    table.place(row),
                    f"unit {units[row]} appears twice for system {systems[row]} (first in "
                    f"{table.place(first)})",
                )
            scores[units[row]] = number


def score_table(
    given: Any, *, systems: Sequence[str] | None = None, units: str | Sequence[Any] | None = None
) -> ScoreTable:
    """Find the roles of the columns of a file, a frame or a mapping.

    Parameters
    ----------
    systems
        The systems to use: columns of a wide table, values in a stacked one (default: all).
    units
        The column of unit ids (default: one with a usual name), or the ids.
    """
    if systems is not None:
        systems = [str(name) for name in as_list(systems, "systems")]
    if isinstance(given, str | os.PathLike):
        table = read_table(open_source(given))
        if not len(table):
            raise InputError(f"{table.source}: no scores below the header")
        return _understood(table, systems, units if isinstance(units, str) else None)
    source = "the frame" if is_frame(given) else "the table"
    columns = _frame_columns(given, units) if is_frame(given) else _mapped_columns(given, units)
    named = {units} if isinstance(units, str) else set()
    has_systems = not is_frame(given) and "system" not in columns
    if has_systems and systems is None:
        # Every key of a mapping names a system, unless it is a usual name of unit ids.
        usual = USUAL_NAMES["scored unit"]
        systems = [name for name in columns if name not in named and name.lower() not in usual]
        if not systems:
            raise InputError(f"no scores found, only unit ids ({', '.join(columns)})")
    return _understood(_with_units(columns, systems, units, source), systems, *named)


def _understood(
    table: Table, systems: Sequence[str] | None = None, units: str | None = None
) -> ScoreTable:
    unit = _unit_column(table.names, table.source, units)
    if unit is None:
        raise InputError(
            f"{table.source}: no column of unit ids (found "
            f"{named_few(table.names, len(table.names))}): name it unit (or "
            f"{', '.join(USUAL_NAMES['scored unit'][1:])})"
        )
    system, value = table.find("system"), table.find("value")
    if system is None or (value is None and not _is_stacked(table, unit, system)):
        return ScoreTable(table, unit, _wide_columns(table, unit, systems))
    wanted: tuple[str, ...] = ()
    if systems is not None:
        _refuse_unknown(systems, table.codes(system, "system").names, table.source)
        wanted = tuple(systems)
    if value is not None:
        return ScoreTable(table, unit, {"": value}, system, table.find("measure"), wanted)
    columns = {name: name for name in table.names if name not in {unit, system}}
    if not columns:
        raise InputError(
            f"{table.source}: there is a column {system}, but no column of scores: name it "
            f"{', '.join(USUAL_NAMES['value'])}, or by the measure"
        )
    return ScoreTable(table, unit, columns, system, None, wanted)


def _unit_column(names: Sequence[str], source: str, given: str | None) -> str | None:
    if given is None:
        return find_column(names, "scored unit")
    if given not in names:
        shown = named_few(names, len(names))
        raise InputError(f"{source}: no column {given!r} of unit ids; found {shown}")
    return given


def _is_stacked(table: Table, unit: str, system: str) -> bool:
    """Return whether a column has the names of systems, and not the scores of a system."""
    if any(map(_is_name, table.columns[system])):
        return True
    units = table.codes(unit, "unit")
    return len(units.names) < len(units.codes)  # in a wide table every unit has one row


def _is_name(cell: Any) -> bool:
    """Return whether a cell has a name, and not a number or nothing."""
    return isinstance(cell, str) and re.match(r"\s*(?![+-]?\.?[0-9])\S", cell) is not None


def _wide_columns(table: Table, unit: str, systems: Sequence[str] | None) -> dict[str, str]:
    """Return the columns of the given systems, or of all; raise an error for ids among them."""
    if systems is not None:
        _refuse_unknown(systems, table.names, table.source)
        return {name: name for name in systems}
    found = {}
    for name in table.names:
        is_usual = name.lower() in USUAL_NAMES["scored unit"]
        if name == unit or (is_usual and all(map(_is_name, table.columns[name]))):
            continue  # the ids, or the texts of units, such as queries beside query ids
        if is_usual:
            raise InputError(
                f"{table.source}: columns {unit} and {name} both look like unit ids: {CHOOSE}"
            )
        if _look_like_ids(list(table.columns[name])):
            raise InputError(
                f"{table.source}: column {name} has a different integer in every row and looks "
                f"like ids, not scores: {CHOOSE}"
            )
        found[name] = name
    if not found:
        raise InputError(f"{table.source}: no columns of scores, only {unit}")
    return found


def _look_like_ids(cells: Sequence[Any]) -> bool:
    """Return whether all cells are integers, and all different."""
    texts = {str(cell).strip() for cell in cells if not isinstance(cell, float | bool)}
    whole = all(re.fullmatch(r"[+-]?[0-9]+", text) for text in texts)
    return len(cells) >= FEWEST_IDS and len(texts) == len(cells) and whole


def _refuse_unknown(systems: Sequence[str], there: Sequence[str], source: str) -> None:
    for name in systems:
        if name not in there:
            raise InputError(
                f"{source}: no system {name!r}; found {named_few(there, len(there), 10)}"
            )
    again = [name for name, count in Counter(systems).items() if count > 1]
    if again:
        raise InputError(f"system {again[0]} is named twice")


def _one_measure(known: Sequence[str], wanted: str | None, source: str) -> str:
    """Return the measure to use, as the table spells it."""
    shown = named_few(known, len(known), 10)
    if wanted is None:
        if len(known) == 1:
            return known[0]
        measures = count_of(len(known), "measure")
        raise InputError(f"{source} has scores in {measures} ({shown}): choose one (measure=…)")
    same = [name for name in known if name == wanted]
    alike = same or [name for name in known if name.lower() == wanted.lower()]
    if len(alike) != 1:
        raise InputError(f"{source} has no scores in {wanted}; it has {shown}")
    return alike[0]


# Python values


def _frame_columns(frame: Any, units: Any) -> dict[str, list[Any]]:
    """Return the columns of a frame, including a pandas index that is not the default one."""
    columns = {
        name: [float(cell) if isinstance(cell, bool) else cell for cell in cells]
        for name, cells in frame_columns(frame, "the frame").items()
    }
    index = getattr(frame, "index", None)
    if index is None:
        return columns
    levels = {
        str(name): index.get_level_values(at).tolist()
        for at, name in enumerate(index.names)
        if name is not None and str(name) not in columns
    }
    if levels:  # an index of any name has unit ids, unless it has the systems of a long table
        other = any(find_column(list(levels), role) for role in ("system", "measure"))
        has_units = index.nlevels == 1 and units is None and not other
    else:
        has_units = type(index).__name__ != "RangeIndex"
    if has_units and find_column([*levels, *columns], "scored unit") is None:
        levels = {"unit": index.tolist()}
    return {**levels, **columns}


def _mapped_columns(given: Any, units: Any) -> dict[str, list[Any]]:
    """Return ``{system: {unit: value}}`` in stacked columns, ``{system: [values]}`` in wide."""
    if not hasattr(given, "items"):
        is_short = isinstance(given, str | int | float | None)
        shown = repr(given) if is_short else f"an object of type {type(given).__name__}"
        raise InputError(f"{shown} is not a table of scores: {EXPECTED}")
    table = dict(given.items())
    if not table:
        raise InputError("no system was given")
    for name, values in table.items():
        if is_frame(values):
            raise InputError(f"system {name} is a frame: {EXPECTED}")
    if all(hasattr(values, "items") for values in table.values()):
        if units is not None:
            raise InputError("units: leave it out, {system: {unit: value}} already has unit ids")
        return _stacked(table)
    columns = {str(name): _values(values, name) for name, values in table.items()}
    if len(columns) < len(table):
        raise InputError("two systems have the same name, such as 1 and '1'")
    return columns


def _stacked(table: Mapping[Any, Any]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"system": [], "unit": [], "value": []}
    for system, given in table.items():
        # A pandas series has NaN where a value is missing.
        scores = dict((given.dropna() if hasattr(given, "dropna") else given).items())
        if not scores:
            raise InputError(f"system {system} has no scores")
        values = list(scores.values())
        is_unit = str(system).lower() in USUAL_NAMES["scored unit"]
        if is_unit and (any(isinstance(one, str) for one in values) or _look_like_ids(values)):
            raise InputError(
                f"{system} has unit ids, not scores: give the frame itself, or name the systems "
                "(systems=…)"
            )
        columns["system"] += [str(system)] * len(scores)
        columns["unit"] += list(scores)
        columns["value"] += _values(values, system)
    return columns


def _values(values: Any, system: Any) -> list[Any]:
    """Return the values of a system in a list; success and failure are 1 and 0."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InputError(f"system {system}: {values!r} is not a list of scores; {EXPECTED}")
    if hasattr(values, "items"):
        raise InputError(
            f"system {system} has {{unit: value}}, others have lists: use one kind for all"
        )
    if getattr(values, "ndim", 1) != 1:
        raise InputError(f"system {system}: values of shape {values.shape}, expected one per unit")
    return [float(one) if isinstance(one, bool) else one for one in as_list(values, "values")]


def _with_units(
    columns: dict[str, list[Any]], systems: Sequence[str] | None, units: Any, source: str
) -> Table:
    """Return columns of equal length as a table; units without ids are numbered from 0."""
    lengths = {name: len(cells) for name, cells in columns.items()}
    rows = max(lengths.values(), default=0)
    if not rows:
        raise InputError(f"{source} has no rows")
    short = next((name for name, length in lengths.items() if length < rows), None)
    if short is not None:
        raise InputError(
            f"{short} has {lengths[short]} values, others have {rows}: to pair them by id, give "
            "{unit: value} for each system"
        )
    if units is not None and not isinstance(units, str):
        ids = as_list(units, "units")
        if len(ids) != rows:
            raise InputError(f"units: {len(ids)} ids for {rows} rows")
        columns = {**columns, "unit": ids}
    elif units is None and find_column(list(columns), "scored unit") is None:
        for name in columns if systems is None else systems:
            if any(isinstance(cell, str) for cell in columns.get(name, ())):
                raise InputError(
                    f"{source}: column {name} has texts, not scores: if they are unit ids, name "
                    f"the column unit, or use Scores.of(…, units={name!r})"
                )
        columns = {"unit": list(range(rows)), **columns}
    return Table.of(columns, source)
