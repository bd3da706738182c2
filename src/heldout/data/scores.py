"""Scores: one number per unit and system, paired by unit id; comparisons start from them."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.frames import as_list
from heldout.data.ids import as_id
from heldout.data.notes import count_of, named_few
from heldout.data.score_tables import score_table
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from heldout.data.frames import Frame
    from heldout.data.score_tables import ScoreTable
    from heldout.data.words import Floats

    Table = Frame | Mapping[Any, Mapping[Any, float]] | Mapping[Any, Sequence[Any]]

__all__ = ["ChoiceSpread", "MachineScores", "Scores", "paired_scores", "read_scores"]

GREATEST: Final = 1e100

LEAST: Final = 1e-100
"""Systems whose scores differ by less everywhere are refused: the squares would be 0."""


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
        _set(self, "systems", tuple(map(str, as_list(self.systems, "systems"))))
        for name in ("units", "dropped"):
            _set(self, name, tuple(map(as_id, as_list(getattr(self, name), name))))
        _set(self, "notes", tuple(as_list(self.notes, "notes")))
        if not all(isinstance(note, Note) for note in self.notes):
            raise InputError('notes: expected notes, such as heldout.Note("", "a remark")')
        _set(self, "judged", tuple(map(float, as_list(self.judged, "judged"))))
        _set(self, "values", _as_matrix(self.values, len(self.units), len(self.systems)))
        _refuse_twice(self.systems, "systems", "name")
        _refuse_twice(self.units, "units", "id")
        if self.judged and len(self.judged) != len(self.systems):
            raise InputError(f"judged: {len(self.judged)} shares for {len(self.systems)} systems")
        self._check_values()

    def _check_values(self) -> None:
        wrong = ~(np.abs(self.values) <= GREATEST)  # also NaN
        if not wrong.any():
            self._refuse_tiny()
            return
        row, column = np.argwhere(wrong)[0]
        value = float(self.values[row, column])
        reason = f"too large (above {GREATEST:g}): scale the scores"
        raise InputError(
            f"{self.measure}, unit {self.units[row]}, system {self.systems[column]}: {value} is "
            f"{reason if math.isfinite(value) else 'not a finite number'}"
        )

    def _refuse_tiny(self) -> None:
        # Differences below 1e-12 of the scores are rounding noise.
        tiny = (self.values != 0) & (np.abs(self.values) < LEAST * 1e12)
        for at in np.flatnonzero(tiny.any(axis=0)).tolist():
            gaps = np.abs(self.values - self.values[:, [at]]).max(axis=0, initial=0.0)
            for other in np.flatnonzero((gaps > 0) & (gaps < LEAST)).tolist():
                raise InputError(
                    f"{self.measure}: the scores of {self.systems[at]} and {self.systems[other]} "
                    f"differ by {gaps[other]:.3g} at most, too little to compute with: scale the "
                    "scores"
                )

    @classmethod
    def of(
        cls,
        table: Table,
        measure: Any = None,
        *,
        systems: Sequence[str] | None = None,
        units: str | Sequence[Any] | None = None,
        higher_is_better: bool = True,
        judged: tuple[float, ...] = (),
        data: str = "",
        notes: tuple[Note, ...] = (),
        range: tuple[float, float] = (-math.inf, math.inf),  # noqa: A002 - as the field is called
        unit: str = "unit",
    ) -> Scores:
        """Make scores from a frame or a mapping; units that a system lacks are ignored.

        Parameters
        ----------
        table
            ``{system: {unit: value}}``; ``{system: [values]}``, the values in the same order for
            all systems; or a pandas or Polars frame, wide (a column per system) or long (columns
            for system, unit and value, and perhaps measure), such as `Evaluation.to_frame` makes.
        measure
            The name of the measure (default ``score``); the one to use, if the frame has several.
        systems
            The names of the systems (default: all columns except the unit ids).
        units
            The name of the column of unit ids (default: one named ``unit``, ``query_id``, ``qid``,
            ``query``, ``topic``, ``fold``, ``id`` or similar, else the index of a pandas frame), or
            the ids themselves, one per row.
        higher_is_better, judged, data, notes, range, unit
            As for `Scores`; `data` is by default a fingerprint of the unit ids.

        Examples
        --------
        >>> scores = Scores.of({"A": {1: 0.5, 2: 0.1}, "B": {1: 0.4, 2: 0.3, 3: 0.9}})
        >>> scores.units, scores.dropped
        (('1', '2'), ('3',))
        >>> Scores.of({"qid": ["q1", "q2"], "A": [0.5, 0.1], "B": [0.4, 0.3]}).units
        ('q1', 'q2')
        """
        paired = paired_scores(score_table(table, systems=systems, units=units), measure)
        return replace(
            paired,
            higher_is_better=higher_is_better,
            judged=judged,
            data=data or paired.data,
            notes=notes,
            range=range,
            unit=unit,
        )

    def column(self, system: str) -> Floats:
        """Return the scores of one system."""
        return self.values[:, self.index(system)]

    def choice_spread(self, first: str, second: str) -> ChoiceSpread | None:
        """Return what tuning adds to the variance of a difference; None if unknown."""
        return self.choices.get((first, second)) or self.choices.get((second, first))

    @property
    def size(self) -> str:
        """The number of units in words.

        Examples
        --------
        >>> Scores("AP", ["A"], [1, 2], [[0.1], [0.3]], unit="query").size
        '2 queries'
        """
        plural = f"{self.unit[:-1]}ies" if self.unit.endswith("y") else ""
        return count_of(len(self.units), self.unit, plural)

    def index(self, system: str) -> int:
        """Return the number of a system."""
        if system not in self.systems:
            raise InputError(
                f"no system {system!r}; found {named_few(self.systems, len(self.systems), 10)}"
            )
        return self.systems.index(system)


def _set(scores: Scores, name: str, value: object) -> None:
    object.__setattr__(scores, name, value)  # frozen, but not yet made


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


def _refuse_twice(ids: tuple[str, ...], what: str, kind: str) -> None:
    if len(set(ids)) < len(ids):
        again = next(name for name, count in Counter(ids).items() if count > 1)
        raise InputError(f"two {what} have the same {kind}: {again}")


def paired_scores(table: ScoreTable, measure: Any = None) -> Scores:
    """Return the scores of a table in one measure, on the units that all systems have."""
    name, (found, every) = table.pairs(None if measure is None else str(measure))
    for system, scores in found.items():
        if not scores:
            raise InputError(f"{table.table.source}: system {system} has no scores")
    shared = [unit for unit in every if all(unit in scores for scores in found.values())]
    if not shared:
        raise InputError(
            f"{table.table.source}: the systems have no unit in common: check that they use the "
            "same ids (different units are independent samples: scipy.stats.ttest_ind with "
            "equal_var=False)"
        )
    kept = set(shared)
    return Scores(
        name or "score",
        tuple(found),
        tuple(shared),
        np.array([[scores[unit] for scores in found.values()] for unit in shared]),
        dropped=tuple(unit for unit in every if unit not in kept),
        data=fingerprint(sorted(every)),
    )


def fingerprint(parts: list[str]) -> str:
    """Return a short hash of some texts."""
    digest = hashlib.blake2b(digest_size=8)
    for at in range(0, len(parts), 2**16):
        digest.update("".join(f"{part}\0" for part in parts[at : at + 2**16]).encode())
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
    measure
        The name of the scores (default ``score``); in a table with several measures, the one to
        use.
    higher_is_better
        Whether higher scores are better; False for errors and times.
    systems
        The names of the systems (default: all columns except the unit ids).
    units
        The name of the column of unit ids (default: a usual name such as ``unit`` or ``qid``).
    """
    paired = paired_scores(score_table(path, systems=systems, units=units), measure)
    return replace(paired, higher_is_better=higher_is_better)
