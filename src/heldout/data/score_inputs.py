"""Scores from Python: frames, and mappings from systems to values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from heldout.data.columns import is_frame
from heldout.data.ids import as_id
from heldout.data.io.delimited import refuse_repeated
from heldout.data.io.score_table import (
    MEASURE_NAMES,
    SYSTEM_NAMES,
    UNIT_NAMES,
    look_like_ids,
    understand,
    unit_column,
)
from heldout.data.io.table import find_column, table_of
from heldout.data.notes import named_few
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.io.score_table import Pairs

__all__ = ["score_pairs"]

_EXPECTED = (
    "expected {system: {unit: value}}, {system: [values]}, or a pandas or Polars frame with a "
    "column of unit ids and a column per system"
)

_FRAME = "the frame"


def score_pairs(
    given: Any, measure: str | None, systems: Sequence[str] | None, units: Any
) -> tuple[str | None, Pairs]:
    """Return the measure, if it is known, and the scores of a frame or mapping.

    Parameters
    ----------
    given
        A frame, or a mapping from systems to their values.
    measure
        The measure to use, if there are several.
    systems
        The systems to use; None for all.
    units
        The name of the column of unit ids, or the ids themselves.
    """
    if systems is not None:
        systems = [str(name) for name in _several(systems, "systems")]
    if is_frame(given):
        return understand_columns(_frame_columns(given, units), measure, systems, units)
    if not hasattr(given, "items"):
        raise InputError(f"{_kind(given)} is not a table of scores: {_EXPECTED}")
    table = dict(given.items())
    if not table:
        raise InputError("no system was given")
    _refuse_frames(table)
    if all(hasattr(values, "items") for values in table.values()):
        if units is not None:
            raise InputError("units: leave it out, {system: {unit: value}} already has unit ids")
        return measure, _of_mappings(table, systems)
    columns = {str(name): _values(values, name) for name, values in table.items()}
    if len(columns) < len(table):
        raise InputError("two systems have the same name, such as 1 and '1'")
    if systems is None:
        # Every key names a system, unless it is a usual name of unit ids.
        named = {units} if isinstance(units, str) else set()
        systems = [name for name in columns if name not in named and name.lower() not in UNIT_NAMES]
        if not systems:
            raise InputError(f"no scores found, only unit ids ({', '.join(columns)})")
    return understand_columns(columns, measure, systems, units, "the table")


def understand_columns(
    columns: dict[str, list[Any]],
    measure: str | None,
    systems: Sequence[str] | None,
    units: Any,
    source: str = _FRAME,
) -> tuple[str | None, Pairs]:
    """Return the scores in columns of equal length; units without ids are numbered from 0."""
    lengths = {name: len(cells) for name, cells in columns.items()}
    rows = max(lengths.values(), default=0)
    if not columns or not rows:
        raise InputError(f"{source} has no rows")
    short = next((name for name, length in lengths.items() if length < rows), None)
    if short is not None:
        raise InputError(
            f"{short} has {lengths[short]} values, others have {rows}: to pair them by id, give "
            "{unit: value} for each system"
        )
    named = units if isinstance(units, str) else None
    if units is not None and named is None:
        columns = {**columns, "unit": _ids(units, rows)}
        named = "unit"
    elif unit_column(list(columns), source, named) is None:
        _refuse_texts(columns, systems, source)
        columns = {"unit": list(range(rows)), **columns}
    found = understand(table_of(source, columns), systems=systems, units=named)
    return found.pairs(measure)


def _refuse_frames(table: dict[Any, Any]) -> None:
    for name, values in table.items():
        if is_frame(values):
            raise InputError(f"system {name} is a frame: {_EXPECTED}")


def _refuse_texts(
    columns: dict[str, list[Any]], systems: Sequence[str] | None, source: str
) -> None:
    """Raise an error for a column of texts, which may be unit ids without a usual name."""
    for name in columns if systems is None else systems:
        if any(isinstance(cell, str) for cell in columns.get(name, ())):
            raise InputError(
                f"{source}: column {name} has texts, not scores: if they are unit ids, name the "
                f"column unit, or use Scores.of(…, units={name!r})"
            )


def _frame_columns(frame: Any, units: Any) -> dict[str, list[Any]]:
    """Return the columns of a frame, including a pandas index that is not the default one."""
    names = [str(name) for name in frame.columns]
    refuse_repeated(names, _FRAME)
    columns = {name: _cells(frame[own]) for name, own in zip(names, frame.columns, strict=True)}
    index = getattr(frame, "index", None)
    if index is None:
        return columns
    levels = {
        str(name): index.get_level_values(at).tolist()
        for at, name in enumerate(index.names)
        if name is not None and str(name) not in columns
    }
    if levels:  # an index of any name has unit ids, unless it has the systems of a long table
        other = find_column(list(levels), SYSTEM_NAMES + MEASURE_NAMES) is not None
        holds_units = index.nlevels == 1 and units is None and not other
    else:
        holds_units = type(index).__name__ != "RangeIndex"
    if holds_units and unit_column([*levels, *names], _FRAME) is None:
        levels = {"unit": index.tolist()}
    return {**levels, **columns}


def _cells(series: Any) -> list[Any]:
    """Return the cells of a column; missing values of pandas are None."""
    cells = [float(one) if isinstance(one, bool) else one for one in series.to_list()]
    if not hasattr(series, "isna"):
        return cells
    return [
        None if lacks else one for one, lacks in zip(cells, series.isna().to_list(), strict=True)
    ]


def _of_mappings(table: dict[Any, Any], systems: Sequence[str] | None) -> Pairs:
    named = {system: _by_text(units, system) for system, units in table.items()}
    if systems is not None:
        texts = {str(system): scores for system, scores in named.items()}
        unknown = [name for name in systems if name not in texts]
        if unknown:
            raise InputError(f"no system {unknown[0]!r}; found {named_few(texts, len(texts), 10)}")
        named = {name: texts[name] for name in systems}
    else:
        _refuse_ids(named)
    return named, list(dict.fromkeys(unit for units in named.values() for unit in units))


def _refuse_ids(named: dict[Any, dict[str, Any]]) -> None:
    """Raise an error for unit ids among the systems, as in a frame converted to a mapping."""
    for system, scores in named.items():
        cells = list(scores.values())
        texts = any(isinstance(cell, str) for cell in cells)
        if str(system).lower() in UNIT_NAMES and (texts or look_like_ids(cells)):
            raise InputError(
                f"{system} has unit ids, not scores: give the frame itself, or name the systems "
                "(systems=…)"
            )


def _by_text(units: Mapping[Any, float], system: Any) -> dict[str, float]:
    """Return scores by the unit id as a string, so that 1 and "1" are the same unit."""
    if hasattr(units, "dropna"):  # a pandas series, in which missing values are NaN
        units = units.dropna()
    found = {as_id(unit): value for unit, value in units.items()}
    if len(found) < len(units):
        raise InputError(f"system {system}: two units have the same id, such as 1 and '1'")
    return found


def _values(values: Any, system: Any) -> list[Any]:
    """Return the values of a system in a list."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InputError(f"system {system}: {values!r} is not a list of scores; {_EXPECTED}")
    if hasattr(values, "items"):
        raise InputError(
            f"system {system} has {{unit: value}}, others have lists: use one kind for all"
        )
    if getattr(values, "ndim", 1) != 1:
        raise InputError(f"system {system}: values of shape {values.shape}, expected one per unit")
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [float(one) if isinstance(one, bool) else one for one in listed]


def _ids(units: Any, rows: int) -> list[Any]:
    ids = list(_several(units, "units"))
    if len(ids) != rows:
        raise InputError(f"units: {len(ids)} ids for {rows} rows")
    return ids


def _several(given: Any, what: str) -> Iterable[Any]:
    """Return an iterable; raise an error for a string, whose items are letters."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{what}={given!r}: expected a list")
    return given


def _kind(given: object) -> str:
    """Return a short description of a value for a message."""
    if isinstance(given, str | int | float | None):
        return repr(given)
    return f"an object of type {type(given).__name__}"
