"""Tables of scores: wide (a column per system) or stacked (a row per system and unit).

A stacked table holds its scores in one column (``system,unit,value``), perhaps of several measures
(``run,query_id,measure,value``), or in one column per measure (``run,query,nDCG@10,AP``). The last
two are what ``heldout eval -q`` writes as Parquet and as TSV or CSV.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from heldout.data.columns import QUERY_NAMES
from heldout.data.io.cells import (
    as_list,
    cell_text,
    number_problem,
    read_labels,
    to_numbers,
)
from heldout.data.io.source import open_source
from heldout.data.io.table import find_column, read_table
from heldout.data.notes import count_of, named_few
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.data.io.table import Table

__all__ = [
    "MEASURE_NAMES",
    "SYSTEM_NAMES",
    "UNIT_NAMES",
    "ScoreTable",
    "look_like_ids",
    "read_score_table",
    "understand",
    "unit_column",
]

UNIT_NAMES: Final = ("unit", *QUERY_NAMES, "fold", "id")
SYSTEM_NAMES: Final = ("system", "run", "name", "model")
VALUE_NAMES: Final = ("value", "score", "measure_value")
MEASURE_NAMES: Final = ("measure", "metric")

SUMMARY: Final = "all"
"""The query id that trec_eval and heldout write for the mean over queries."""

FEWEST_IDS: Final = 3
"""Fewer integers may all differ by chance, such as success and failure on two units."""

INTEGER: Final = re.compile(r"[+-]?[0-9]+")

Pairs = tuple[dict[str, dict[str, float]], list[str]]
"""Scores by system and unit, and all units in order, those without a score included."""


Key = TypeVar("Key")


class ScoreTable(NamedTuple):
    """A table of scores and the roles of its columns.

    Parameters
    ----------
    table
        The cells.
    unit
        The column of unit ids.
    columns
        The columns of scores by name: of a system in a wide table, of a measure in a stacked one;
        the name is empty if the table does not name the measure.
    system
        The column of systems; None for a wide table.
    measure
        The column that names the measure of each row, if there is one.
    systems
        The systems to use; empty for all.
    """

    table: Table
    unit: int
    columns: dict[str, int]
    system: int | None = None
    measure: int | None = None
    systems: tuple[str, ...] = ()

    @property
    def measures(self) -> list[str]:
        """The measures named in the table; empty if it names none."""
        if self.measure is not None:
            cells = map(cell_text, as_list(self.table.cells(self.measure)))
            return list(dict.fromkeys(filter(None, cells)))
        return [] if self.system is None else list(filter(None, self.columns))

    def pairs(self, measure: str | None = None) -> tuple[str | None, Pairs]:
        """Return the scores in one measure, and its name.

        Parameters
        ----------
        measure
            The measure to use; may be None if the table has only one. In a table that names no
            measure it is the name of the scores.
        """
        known = self.measures
        name = _one_measure(known, measure, self.table.source) if known else measure
        if self.system is None:
            found, units = self._wide()
        else:
            found, units = self._stacked(self.system, name or "")
        if not units:
            raise InputError(
                f"{self.table.source}: only means (unit {SUMMARY}), no scores of single units"
            )
        return name, (found, units)

    def _wide(self) -> Pairs:
        places = self.table.places
        units = self._labels(self.unit, "unit")
        rows: dict[str, int] = {}
        for at, unit in enumerate(units):
            if unit != SUMMARY and rows.setdefault(unit, at) != at:
                first = places[rows[unit]]
                raise FormatError(places[at], f"unit {unit} appears twice (first in {first})")
        found = {
            name: dict(self._scores(column, rows, f", column {name}"))
            for name, column in self.columns.items()
        }
        return found, list(rows)

    def _stacked(self, system: int, measure: str) -> Pairs:
        places = self.table.places
        column = self.columns[measure if measure in self.columns else ""]
        wanted = set(range(len(self.table)))
        if self.measure is not None:
            measures = self._labels(self.measure, "measure")
            wanted = {at for at, one in enumerate(measures) if one == measure}
        systems, units = self._labels(system, "system"), self._labels(self.unit, "unit")
        rows: dict[tuple[str, str], int] = {}
        for at in sorted(wanted):
            who, what = systems[at], units[at]
            if what == SUMMARY or (self.systems and who not in self.systems):
                continue
            first = rows.setdefault((who, what), at)
            if first != at:
                before = places[first]
                raise FormatError(
                    places[at], f"system {who} has unit {what} twice (first in {before})"
                )
        found: dict[str, dict[str, float]] = {name: {} for name in self.systems}
        for who, _ in rows:
            found.setdefault(who, {})
        for (who, what), score in self._scores(column, rows):
            found[who][what] = score
        return found, list(dict.fromkeys(what for _, what in rows))

    def _labels(self, column: int, what: str) -> list[str]:
        return read_labels(self.table.cells(column), self.table.places.__getitem__, what)

    def _scores(
        self, column: int, rows: Mapping[Key, int], where: str = ""
    ) -> Iterator[tuple[Key, float]]:
        """Yield the scores in some rows of a column by their keys; empty cells are skipped."""
        cells = self.table.cells(column)
        numbers = to_numbers(cells).tolist()
        for key, at in rows.items():
            if not math.isnan(numbers[at]):
                yield key, numbers[at]
            elif cell_text(cells[at]):
                place = self.table.places[at] + where
                raise FormatError(place, number_problem(cells[at]))


def read_score_table(
    path: str | os.PathLike[str],
    *,
    systems: Sequence[str] | None = None,
    units: str | None = None,
) -> ScoreTable:
    """Read a table of scores, as `heldout.read_scores` describes it."""
    return understand(read_table(open_source(path)), systems=systems, units=units)


def understand(
    table: Table, *, systems: Sequence[str] | None = None, units: str | None = None
) -> ScoreTable:
    """Find the roles of the columns of a table.

    Parameters
    ----------
    systems
        The systems to use: columns of a wide table, values in a stacked one (default: all).
    units
        The column of unit ids (default: one with a usual name).
    """
    table.refuse_empty("scores")
    unit = unit_column(table.names, table.source, units)
    if unit is None:
        raise InputError(
            f"{table.source}: no column of unit ids (found {_few(table.names)}): name it unit (or "
            f"{', '.join(UNIT_NAMES[1:])})"
        )
    system, value = find_column(table.names, SYSTEM_NAMES), find_column(table.names, VALUE_NAMES)
    if system is None or (value is None and not _is_stacked(table, unit, system)):
        return ScoreTable(table, unit, _wide_columns(table, unit, systems))
    wanted = _wanted_systems(table, system, systems)
    if value is not None:
        measure = find_column(table.names, MEASURE_NAMES)
        return ScoreTable(table, unit, {"": value}, system, measure, wanted)
    columns = {name.strip(): at for at, name in enumerate(table.names) if at not in {unit, system}}
    if not columns:
        raise InputError(
            f"{table.source}: there is a column {table.names[system]}, but no column of scores: "
            f"name it {', '.join(VALUE_NAMES)}, or by the measure"
        )
    return ScoreTable(table, unit, columns, system, None, wanted)


def unit_column(names: Sequence[str], source: str, given: str | None = None) -> int | None:
    """Return the number of the column of unit ids, by the given or by a usual name."""
    if given is None:
        return find_column(names, UNIT_NAMES)
    if given not in names:
        raise InputError(f"{source}: no column {given!r} of unit ids; found {_few(names)}")
    return list(names).index(given)


def _is_stacked(table: Table, unit: int, system: int) -> bool:
    """Return whether a column has the names of systems, and not the scores of a system."""
    if any(map(_is_text, as_list(table.cells(system)))):
        return True
    units = list(map(cell_text, as_list(table.cells(unit))))
    return len(set(units)) < len(units)  # in a wide table every unit has one row


def _is_text(cell: Any) -> bool:
    """Return whether a cell has a name, and not a number or nothing."""
    return isinstance(cell, str) and bool(cell.strip()) and not re.match(r"\s*[+-]?\.?[0-9]", cell)


def _wide_columns(table: Table, unit: int, systems: Sequence[str] | None) -> dict[str, int]:
    """Return the columns of the given systems, or of all; raise an error for ids among them."""
    names = [name.strip() for name in table.names]
    if systems is not None:
        _refuse_unknown(systems, names, table.source)
        return {name: names.index(name) for name in systems}
    found = {
        name: at
        for at, name in enumerate(names)
        if at != unit and not _is_text_of_units(name, as_list(table.cells(at)))
    }
    if not found:
        raise InputError(f"{table.source}: no columns of scores, only {table.names[unit]}")
    say = "remove it, or name the systems (in Python, systems=…)"
    for name, at in found.items():
        if name.lower() in UNIT_NAMES:
            raise InputError(
                f"{table.source}: columns {names[unit]} and {name} both look like unit ids: {say}"
            )
        if look_like_ids(as_list(table.cells(at))):
            raise InputError(
                f"{table.source}: column {name} has a different integer in every row and looks "
                f"like ids, not scores: {say}"
            )
    return found


def _is_text_of_units(name: str, cells: Sequence[Any]) -> bool:
    """Return whether a column has the texts of units, such as queries beside query ids."""
    return name.lower() in UNIT_NAMES and all(_is_text(cell) for cell in cells)


def look_like_ids(cells: Sequence[Any]) -> bool:
    """Return whether all cells are integers, and all different."""
    if len(cells) < FEWEST_IDS:
        return False
    texts = [cell_text(cell) for cell in cells]
    whole = all(
        not isinstance(cell, float | bool) and INTEGER.fullmatch(text)
        for cell, text in zip(cells, texts, strict=True)
    )
    return whole and len(set(texts)) == len(texts)


def _wanted_systems(table: Table, system: int, systems: Sequence[str] | None) -> tuple[str, ...]:
    if systems is None:
        return ()
    there = list(dict.fromkeys(map(cell_text, as_list(table.cells(system)))))
    _refuse_unknown(systems, there, table.source)
    return tuple(systems)


def _refuse_unknown(systems: Sequence[str], there: Sequence[str], source: str) -> None:
    for name in systems:
        if name not in there:
            raise InputError(f"{source}: no system {name!r}; found {_few(there)}")
    again = [name for name, count in Counter(systems).items() if count > 1]
    if again:
        raise InputError(f"system {again[0]} is named twice")


def _one_measure(known: Sequence[str], wanted: str | None, source: str) -> str:
    """Return the measure to use, as the table spells it."""
    if wanted is None:
        if len(known) == 1:
            return known[0]
        raise InputError(
            f"{source} has scores in {count_of(len(known), 'measure')} "
            f"({named_few(known, len(known), 10)}): "
            "choose one (measure=…)"
        )
    same = [name for name in known if name == wanted]
    alike = same or [name for name in known if name.lower() == wanted.lower()]
    if len(alike) != 1:
        raise InputError(
            f"{source} has no scores in {wanted}; it has {named_few(known, len(known), 10)}"
        )
    return alike[0]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if names[5:] else "")
