"""Scores: one number per unit and system, paired by unit id; comparisons start from them."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.frames import as_list
from heldout.data.ids import as_id
from heldout.data.score_tables import refuse_unknown, scored_units
from heldout.errors import Argument, InputError
from heldout.notes import Note, count_of, named_few

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from heldout.data.tables import Table
    from heldout.data.words import Floats

GREATEST: Final = 1e100
LEAST: Final = 1e-100  # of the greatest difference of two systems: the squares would be 0


class ChoiceSpread(NamedTuple):
    """The variance of the mean difference of two systems that were tuned on the same splits."""

    units: float  # of the mean over units, averaged over resampled choices of parameters
    choices: float  # of the mean over those choices


class MachineScores(NamedTuple):
    """Scores of the same systems under the judgements of a machine: units x systems."""

    known: Floats  # on the units of the human scores, in their order
    extra: Floats  # on further units, which only the machine has judged


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of several systems on the same units.

    Parameters
    ----------
    measure
        The name of the measure.
    systems
        The names of the systems, one column each; all different.
    units
        The ids of the units (queries, folds, instances), one row each; all different.
    values
        One row per unit, one column per system; they are copied.
    higher_is_better
        The direction of the measure.
    dropped
        Units that some system lacks; they are ignored for all systems.
    judged
        The share of judged documents among the top documents of each system; empty if unknown.
    data
        A fingerprint or a name of the held-out data, used to count evaluations on them.
    notes
        Warnings and remarks about the scores (`Note`).
    choices
        For systems tuned in folds: what the choice of parameters adds to the variance of the
        difference, by pair of names (in one order). Comparisons of these pairs include it.
    unit
        The name of a unit in sentences, such as ``query``, ``fold`` or ``segment``.
    range
        The lowest and highest possible value of the measure; intervals stay inside.
    machine
        The scores under machine judgements, if there are any: claims then combine both.
    outputs
        A digest of what each system put out (ranking, predictions, texts); empty if unknown. Only
        systems with the same digest are known to be equal, not only in their scores.

    Examples
    --------
    >>> Scores("AP", ["A", "B"], [1, 2], [[0.1, 0.2], [0.3, 0.5]]).column("B")
    array([0.2, 0.5])
    """

    measure: str
    systems: tuple[str, ...]
    units: tuple[str, ...]
    values: Floats
    higher_is_better: bool = True
    dropped: tuple[str, ...] = ()
    judged: tuple[float, ...] = ()
    data: str = ""
    notes: tuple[Note, ...] = ()
    choices: Mapping[tuple[str, str], ChoiceSpread] = field(default_factory=dict)
    unit: str = "unit"
    range: tuple[float, float] = (-math.inf, math.inf)
    machine: MachineScores | None = None
    outputs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        own: dict[str, Any] = {
            "systems": tuple(map(str, as_list(self.systems, "systems"))),
            "units": tuple(map(as_id, as_list(self.units, "units"))),
            "dropped": tuple(map(as_id, as_list(self.dropped, "dropped"))),
            "notes": tuple(as_list(self.notes, "notes")),
            "judged": tuple(map(float, as_list(self.judged, "judged"))),
        }
        own["values"] = _as_matrix(self.values, len(own["units"]), len(own["systems"]))
        for name, value in own.items():
            object.__setattr__(self, name, value)  # frozen, but not yet made
        for name in ("systems", "units"):
            again = [label for label, count in Counter(own[name]).items() if count > 1]
            if again:
                raise InputError(f"two {name} have the same name: {again[0]}")
        if not all(isinstance(note, Note) for note in self.notes):
            raise InputError('notes: expected notes, such as heldout.Note("", "a remark")')
        if self.judged and len(self.judged) != len(self.systems):
            raise InputError(f"judged: {len(self.judged)} shares for {len(self.systems)} systems")
        self._check_values()

    def _check_values(self) -> None:
        sizes = np.abs(self.values)
        for row, column in np.argwhere(~(sizes <= GREATEST)):  # also NaN
            value = float(self.values[row, column])
            reason = f"too large (above {GREATEST:g}): scale the scores"
            raise InputError(
                f"{self.measure}, unit {self.units[row]}, system {self.systems[column]}: {value} "
                f"is {reason if math.isfinite(value) else 'not a finite number'}"
            )
        # Only scores near 0 differ by so little: less than 1e-12 of a score is rounding noise.
        near = ((sizes > 0) & (sizes < LEAST * 1e12)).any(axis=0)
        for column in np.flatnonzero(near):
            gaps = np.abs(self.values - self.values[:, [column]]).max(axis=0)
            if ((gaps > 0) & (gaps < LEAST)).any():
                raise InputError(
                    f"{self.measure}: the scores of {self.systems[column]} and another system "
                    f"differ by less than {LEAST:g} everywhere: scale the scores"
                )

    @classmethod
    def of(
        cls,
        table: Any,
        measure: Any = None,
        *,
        systems: Sequence[str] | None = None,
        units: str | None = None,
        higher_is_better: bool = True,
        data: str = "",
        notes: tuple[Note, ...] = (),
        unit: str = "unit",
        range: tuple[float, float] = (-math.inf, math.inf),  # noqa: A002 - as the field is called
    ) -> Scores:
        """Make scores from a frame, a mapping or a file; units that a system lacks are ignored.

        Parameters
        ----------
        table
            ``{system: {unit: value}}``; ``{system: [values]}``, the values in the same order for
            all systems; a pandas or Polars frame, wide (a column per system) or long (columns for
            system, unit and value, and perhaps measure), such as `Evaluation.to_frame` makes; or
            the path of a file with such a table.
        measure
            The name of the measure (default ``score``); the one to use, if the frame has several.
        systems
            The names of the systems (default: all columns except the unit ids).
        units
            The name of the column of unit ids (default: one named ``unit``, ``query_id``, ``qid``,
            ``query``, ``topic``, ``fold``, ``id`` or similar, else the index of a pandas frame).
        higher_is_better, data, notes, unit, range
            As for `Scores`; `data` is by default a fingerprint of the unit ids.

        Examples
        --------
        >>> scores = Scores.of({"A": {1: 0.5, 2: 0.1}, "B": {1: 0.4, 2: 0.3, 3: 0.9}})
        >>> scores.units, scores.dropped
        (('1', '2'), ('3',))
        >>> Scores.of({"qid": ["q1", "q2"], "A": [0.5, 0.1], "B": [0.4, 0.3]}).units
        ('q1', 'q2')
        """
        if systems is not None:
            systems = [str(name) for name in as_list(systems, "systems")]
        tables = scored_units(table, systems, units)
        scores = scores_in(tables, measure, systems)
        more: Any = {"notes": notes, "unit": unit, "range": range, "data": data or scores.data}
        return replace(scores, higher_is_better=higher_is_better, **more)

    def column(self, system: str) -> Floats:
        """Return the scores of one system."""
        return self.values[:, self.index(system)]

    def choice_spread(self, first: str, second: str) -> ChoiceSpread | None:
        """Return what tuning adds to the variance of a difference; None if unknown."""
        return self.choices.get((first, second)) or self.choices.get((second, first))

    @property
    def size(self) -> str:
        """The number of units in words, such as ``2 queries``."""
        plural = f"{self.unit[:-1]}ies" if self.unit.endswith("y") else ""
        return count_of(len(self.units), self.unit, plural)

    def index(self, system: str) -> int:
        """Return the number of a system."""
        refuse_unknown([system], self.systems, self.measure)
        return self.systems.index(system)


def _as_matrix(values: Any, units: int, systems: int) -> Floats:
    """Return a read-only copy of the values."""
    try:
        matrix = np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"values: not a table of numbers ({error})") from None
    if matrix.shape != (units, systems):
        raise InputError(
            f"values: expected {units} rows (units) and {systems} columns (systems), got shape "
            f"{matrix.shape}"
        )
    matrix.flags.writeable = False
    return matrix


def scores_in(
    measures: Mapping[str, Mapping[str, Table]],
    measure: Any = None,
    systems: Sequence[str] | None = None,
) -> Scores:
    """Return the scores in one of the measures, on the units that all systems have."""
    chosen = _one_measure(measures, measure)
    tables = measures[chosen]
    source = next(iter(tables.values())).source
    names = tuple(tables if systems is None else systems)
    refuse_unknown(names, list(tables), source)
    columns = [_by_unit(name, tables[name]) for name in names]
    every = list(dict.fromkeys(unit for scores in columns for unit in scores))
    matrix = np.array([[scores.get(unit, math.nan) for scores in columns] for unit in every])
    is_scored = ~np.isnan(matrix)
    for name in compress(names, ~is_scored.any(axis=0)):
        raise InputError(f"{source}: system {name} has no scores")
    shared = is_scored.all(axis=1)
    if not shared.any():
        raise InputError(
            f"{source}: the systems have no unit in common: check that they use the same ids "
            "(different units are independent samples: scipy.stats.ttest_ind with equal_var=False)"
        )
    return Scores(
        chosen or str(measure or "score"),
        names,
        tuple(compress(every, shared)),
        matrix[shared],
        dropped=tuple(compress(every, ~shared)),
        data=fingerprint(sorted(every)),
    )


def _by_unit(system: str, table: Table) -> dict[str, float]:
    """Return the values of a system by unit; NaN where a cell is empty."""
    units = table.labels("unit", "unit")
    values = table.numbers("value", f"system {system}", empty=True)
    first: dict[str, int] = {}
    rows = [first.setdefault(unit, row) for row, unit in enumerate(units)]
    table.refuse(
        np.array(rows) < np.arange(len(rows)),
        lambda row: (
            f"unit {units[row]} appears twice for system {system} (first in "
            f"{table.place(rows[row])})"
        ),
    )
    return dict(zip(units, values.tolist(), strict=True))


def _one_measure(tables: Mapping[str, Mapping[str, Table]], measure: Any) -> str:
    """Return the measure to use, as the table spells it."""
    if "" in tables or (measure is None and len(tables) == 1):
        return next(iter(tables))
    source = next(table.source for systems in tables.values() for table in systems.values())
    shown = named_few(tables, len(tables), 10)
    if measure is None:
        count = count_of(len(tables), "measure")
        raise InputError(
            f"{source} has scores in {count} ({shown}): choose one (", Argument("measure", "…"), ")"
        )
    spelled = {name.lower(): name for name in tables} | {name: name for name in tables}
    wanted = spelled.get(str(measure)) or spelled.get(str(measure).lower())
    if wanted is None:
        raise InputError(f"{source} has no scores in {measure}; it has {shown}")
    return wanted


def fingerprint(parts: list[str]) -> str:
    """Return a short hash of some texts."""
    digest = hashlib.blake2b(digest_size=8)
    for begin in range(0, len(parts), 2**16):
        digest.update("".join(f"{part}\0" for part in parts[begin : begin + 2**16]).encode())
    return digest.hexdigest()


def read_scores(
    path: str | os.PathLike[str],
    measure: Any = None,
    *,
    higher_is_better: bool = True,
    systems: Sequence[str] | None = None,
    units: str | None = None,
) -> Scores:
    """Read a table of scores.

    Parameters
    ----------
    path
        CSV (commas or semicolons), TSV or Parquet, compressed or not; wide (``unit,A,B,…``) or
        long (``system,unit,value``), including the output of ``heldout eval -q``. A unit with an
        empty cell is ignored for all systems and listed in `Scores.dropped`. Rows of a unit
        ``all``, which hold means, are ignored.
    higher_is_better
        Whether higher scores are better; False for errors and times.
    measure, systems, units
        As for `Scores.of`.
    """
    return Scores.of(path, measure, systems=systems, units=units, higher_is_better=higher_is_better)
