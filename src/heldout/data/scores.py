"""Scores: one number for each unit and system, paired by unit id; what claims are made from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.formats.source import open_source
from heldout.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import polars as pl

    from heldout.data.words import Floats

__all__ = ["Scores", "read_scores"]

UNIT_NAMES = ("unit", "query_id", "qid", "query", "query-id", "topic", "fold", "id")
SYSTEM_NAMES = ("system", "run", "name", "model")
GREATEST = 1e100
VALUE_NAMES = ("value", "score", "measure_value")


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of several systems on the same units.

    Parameters
    ----------
    measure
        What was measured.
    systems
        The names of the systems, one column each.
    units
        The ids of the units (queries, folds, instances), one row each.
    values
        One row a unit, one column a system.
    higher_is_better
        The direction of the measure.
    dropped
        Units that some system lacks; they are left out for all.
    judged
        For each system the share of its top documents that is judged; empty if not known.
    data
        A fingerprint of the held-out data, by which looks at them are counted.
    notes
        What a reader of any claim should know about the scores.
    """

    measure: str
    systems: tuple[str, ...]
    units: tuple[str, ...]
    values: Floats
    higher_is_better: bool = True
    dropped: tuple[str, ...] = ()
    judged: tuple[float, ...] = ()
    data: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (np.isfinite(self.values) & (np.abs(self.values) > GREATEST)).any():
            raise InputError(f"{self.measure}: a score is beyond {GREATEST:g}: scale the scores")
        if len(self.systems) != len(set(self.systems)):
            raise InputError(f"two systems have one name: {', '.join(self.systems)}")
        if not np.isfinite(self.values).all():
            row, column = np.argwhere(~np.isfinite(self.values))[0]
            raise InputError(
                f"{self.measure}, unit {self.units[row]}, system {self.systems[column]}: "
                f"{self.values[row, column]} is not a finite number"
            )
        self.values.flags.writeable = False

    @classmethod
    def of(
        cls, table: Mapping[str, Mapping[str, float]], measure: str = "score", **more: Any
    ) -> Scores:
        """Make scores of ``{system: {unit: value}}``; units that a system lacks are left out."""
        if not table:
            raise InputError("no system was given")
        every = dict.fromkeys(unit for units in table.values() for unit in units)
        common = [unit for unit in every if all(unit in units for units in table.values())]
        dropped = tuple(unit for unit in every if unit not in set(common))
        if not common:
            raise InputError("the systems have no unit in common: are the ids written alike?")
        try:
            rows = [[float(units[unit]) for units in table.values()] for unit in common]
        except (TypeError, ValueError) as error:
            raise InputError(f"a score is not a number ({error})") from None
        data = more.pop("data", "") or fingerprint(sorted(every))
        return cls(
            measure, tuple(table), tuple(common), np.array(rows), dropped=dropped, data=data, **more
        )

    def column(self, system: str) -> Floats:
        """The scores of one system."""
        return self.values[:, self.index(system)]

    def index(self, system: str) -> int:
        """The number of a system."""
        if system not in self.systems:
            raise InputError(f"no system {system!r}; there are {', '.join(self.systems)}")
        return self.systems.index(system)


def fingerprint(parts: list[str]) -> str:
    """A short text that changes when any of the parts does."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def read_scores(path: str | os.PathLike[str], measure: str = "score") -> Scores:
    """Read a table of scores.

    Parameters
    ----------
    path
        CSV, TSV or Parquet; wide (``unit,A,B,…``) or long (``system,unit,value``).
    measure
        What to call the scores.
    """
    source = open_source(path)
    frame = _frame(source.read(source.begin, source.size), source.name)
    names = {name.strip().lower(): name for name in frame.columns}
    unit = next((names[one] for one in UNIT_NAMES if one in names), None)
    if unit is None:
        raise InputError(
            f"{source.name}: no column of unit ids; found {', '.join(frame.columns)}, "
            f"expected one named {', '.join(UNIT_NAMES)}"
        )
    system = next((names[one] for one in SYSTEM_NAMES if one in names), None)
    value = next((names[one] for one in VALUE_NAMES if one in names), None)
    if system is not None and value is not None:
        return Scores.of(_long(frame, unit, system, value, source.name), measure)
    return Scores.of(_wide(frame, unit, source.name), measure)


def _frame(content: bytes, name: str) -> pl.DataFrame:
    import polars as pl  # slow to import

    try:
        if content.startswith(b"PAR1"):
            return pl.read_parquet(BytesIO(content)).with_columns(pl.all().cast(pl.String))
        first = content.partition(b"\n")[0]
        mark = "\t" if b"\t" in first else ","
        return pl.read_csv(BytesIO(content), separator=mark, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{name}: not a table that can be read ({reason})") from None


def _number(text: str | None, where: str) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise InputError(f"{where}: {text!r} is not a number") from None


def _long(
    frame: pl.DataFrame, unit: str, system: str, value: str, name: str
) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    rows = frame.select(system, unit, value).iter_rows()
    for line, (who, what, number) in enumerate(rows, 2):
        if not who or not what:
            raise InputError(f"{name}:{line}: the {'unit' if who else 'system'} is missing")
        scores = table.setdefault(str(who), {})
        if what in scores:
            raise InputError(f"{name}:{line}: system {who} has unit {what} twice")
        scores[str(what)] = _number(number, f"{name}:{line}")
    return table


def _wide(frame: pl.DataFrame, unit: str, name: str) -> dict[str, dict[str, float]]:
    units = frame[unit].to_list()
    if len(set(units)) < len(units):
        again = next(one for one in units if units.count(one) > 1)
        raise InputError(f"{name}: unit {again} stands twice")
    table: dict[str, dict[str, float]] = {}
    for system in frame.columns:
        if system == unit:
            continue
        cells = zip(units, frame[system].to_list(), strict=True)
        table[system] = {
            str(one): _number(cell, f"{name}:{line}, column {system}")
            for line, (one, cell) in enumerate(cells, 2)
            if cell is not None and str(cell).strip()
        }
    return table
