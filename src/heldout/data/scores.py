"""Scores: one number for each unit and system, paired by unit id; what claims are made from."""

from __future__ import annotations

import hashlib
import math
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.formats.score_table import read_score_table
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heldout.data.words import Floats

__all__ = ["Scores", "read_scores"]

GREATEST: Final = 1e100


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of several systems on the same units.

    Parameters
    ----------
    measure
        What was measured.
    systems
        The names of the systems, one column each; all different.
    units
        The ids of the units (queries, folds, instances), one row each; all different.
    values
        One row a unit, one column a system; they are copied.
    higher_is_better
        The direction of the measure.
    dropped
        Units that some system lacks; they are left out for all.
    judged
        For each system the share of its top documents that is judged; empty if not known.
    data
        A fingerprint or a name of the held-out data, by which looks at them are counted.
    notes
        What a reader of any claim should know about the scores.

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
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("systems", "units", "dropped", "notes"):
            _set(self, name, tuple(map(str, _several(getattr(self, name), name))))
        _set(self, "judged", tuple(map(float, _several(self.judged, "judged"))))
        _set(self, "values", _as_matrix(self.values, len(self.units), len(self.systems)))
        _refuse_twice(self.systems, "systems", "name")
        _refuse_twice(self.units, "units", "id")
        if self.judged and len(self.judged) != len(self.systems):
            raise InputError(f"judged: {len(self.judged)} shares for {len(self.systems)} systems")
        self._check_values()

    def _check_values(self) -> None:
        wrong = ~(np.abs(self.values) <= GREATEST)  # NaN is not below anything
        if not wrong.any():
            return
        row, column = np.argwhere(wrong)[0]
        value = float(self.values[row, column])
        reason = f"beyond {GREATEST:g}: scale the scores"
        raise InputError(
            f"{self.measure}, unit {self.units[row]}, system {self.systems[column]}: {value} is "
            f"{reason if math.isfinite(value) else 'not a finite number'}"
        )

    @classmethod
    def of(
        cls, table: Mapping[Any, Mapping[Any, float]], measure: str = "score", **more: Any
    ) -> Scores:
        """Make scores of ``{system: {unit: value}}``; units that a system lacks are left out.

        Examples
        --------
        >>> scores = Scores.of({"A": {1: 0.5, 2: 0.1}, "B": {1: 0.4, 2: 0.3, 3: 0.9}})
        >>> scores.units, scores.dropped
        (('1', '2'), ('3',))
        """
        named = {system: _by_text(units, system) for system, units in table.items()}
        every = dict.fromkeys(unit for units in named.values() for unit in units)
        return _paired(named, every, measure, more)

    def column(self, system: str) -> Floats:
        """The scores of one system."""
        return self.values[:, self.index(system)]

    def index(self, system: str) -> int:
        """The number of a system."""
        if system not in self.systems:
            raise InputError(f"no system {system!r}; there are {', '.join(self.systems)}")
        return self.systems.index(system)


def _set(scores: Scores, name: str, value: object) -> None:
    object.__setattr__(scores, name, value)  # frozen, but not yet made


def _several(values: Any, what: str) -> Iterable[Any]:
    """Values that are several; a text would be taken for its letters."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise InputError(f"{what}={values!r}: expected a list")
    return values  # type: ignore[no-any-return]


def _as_matrix(values: Any, units: int, systems: int) -> Floats:
    """A copy of the values that nobody can change: the caller's own array stays as it is."""
    try:
        matrix = np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"values: not a table of numbers ({error})") from None
    if matrix.shape != (units, systems):
        raise InputError(
            f"values: shape {matrix.shape}, expected a row for each of {units} units and a column "
            f"for each of {systems} systems"
        )
    matrix.flags.writeable = False
    return matrix


def _refuse_twice(ids: tuple[str, ...], what: str, kind: str) -> None:
    if len(set(ids)) < len(ids):
        again = next(one for one, count in Counter(ids).items() if count > 1)
        raise InputError(f"two {what} have one {kind}: {again}")


def _by_text(units: Mapping[Any, float], system: Any) -> dict[str, float]:
    """Scores by the text of the unit's id, so that 1 and "1" are one unit."""
    found = {str(unit): value for unit, value in units.items()}
    if len(found) < len(units):
        raise InputError(f"system {system}: two units have one id, such as 1 and '1'")
    return found


def _paired(
    table: Mapping[Any, Mapping[str, float]],
    every: Iterable[str],
    measure: str,
    more: dict[str, Any],
) -> Scores:
    """Scores on the units that all systems have."""
    if not table:
        raise InputError("no system was given")
    for system, units in table.items():
        if not units:
            raise InputError(f"system {system} has no scores")
    common: list[str] = []
    dropped: list[str] = []
    for unit in every:
        shared = all(unit in units for units in table.values())
        (common if shared else dropped).append(unit)
    if not common:
        raise InputError("the systems have no unit in common: are the ids written alike?")
    try:
        rows = [[float(units[unit]) for units in table.values()] for unit in common]
    except (TypeError, ValueError) as error:
        raise InputError(f"a score is not a number ({error})") from None
    settings = {"dropped": tuple(dropped), **more}
    settings["data"] = settings.get("data") or fingerprint(sorted([*common, *dropped]))
    return Scores(measure, tuple(table), tuple(common), np.array(rows), **settings)


def fingerprint(parts: list[str]) -> str:
    """A short text that changes when any of the parts does."""
    digest = hashlib.blake2b(digest_size=8)
    for at in range(0, len(parts), 2**16):
        digest.update("".join(f"{part}\0" for part in parts[at : at + 2**16]).encode())
    return digest.hexdigest()


def read_scores(
    path: str | os.PathLike[str], measure: str = "score", *, higher_is_better: bool = True
) -> Scores:
    """Read a table of scores.

    Parameters
    ----------
    path
        CSV (commas or semicolons), TSV or Parquet, packed or not; wide (``unit,A,B,…``) or long
        (``system,unit,value``). Where there is no score the cell is empty: the unit is left out
        for all systems and stands in `Scores.dropped`.
    measure
        What to call the scores.
    higher_is_better
        Whether it is; not for errors and times.
    """
    table, units = read_score_table(path)
    try:
        return _paired(table, units, measure, {"higher_is_better": higher_is_better})
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
