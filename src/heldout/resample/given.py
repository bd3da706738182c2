"""Given folds: published ones, or those of a scikit-learn splitter."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.ids import as_id
from heldout.notes import count_of, named_few
from heldout.resample.fold_files import Entry, read_values
from heldout.resample.notices import PlanError
from heldout.resample.plan import Plan
from heldout.resample.sources import Sides, Source, partition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.notes import Note
    from heldout.resample.units import Units

    Weights = NDArray[np.int32]

__all__ = ["GivenFolds", "SklearnPlan", "from_sklearn"]


@dataclass(frozen=True, eq=False, repr=False)
class GivenFolds(Plan):
    """Use folds from a file or a mapping, for instance to reproduce a paper.

    Parameters
    ----------
    folds
        ``{id: fold}``, or the path of a file: a table of id and fold (separated by tabs, commas,
        semicolons or spaces; with a header also a column ``repeat``), or JSON (``{id: fold}``).
        Folds are sorted by number, or else by name.
    strict
        Raise an error for units without a fold and for unknown ids. Otherwise such units are on no
        side, and unknown ids are ignored.

    Examples
    --------
    >>> GivenFolds({"a": 1, "b": 2, "c": 1}).splits(["a", "b", "c"]).folds().tolist()
    [0, 1, 0]
    """

    folds: Mapping[Any, Any] | str | os.PathLike[str]
    strict: bool = True

    def _entries(self) -> list[Entry]:
        if isinstance(self.folds, Mapping):
            pairs = self.folds.items()
            return [Entry("folds", as_id(unit), str(fold)) for unit, fold in pairs]
        return read_values(self.folds, "fold")

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Return the fold of each unit."""
        entries = self._entries()
        if self.strict:
            _refuse_unknown(entries, units)
        by_repeat: dict[str, dict[str, str]] = {}
        for entry in entries:
            by_repeat.setdefault(entry.repeat, {})[entry.unit] = entry.value
        return partition(*(self._table(by_repeat[one], units) for one in _in_order(by_repeat))), []

    def _table(self, known: dict[str, str], units: Units) -> Weights:
        values = [known.get(one) for one in units.present()]
        missing = [one for one, value in zip(units.present(), values, strict=True) if value is None]
        if missing and self.strict:
            raise PlanError(
                f"{self._where()}: no fold for {len(missing)} of {len(units)} {units.plural} "
                f"({named_few(missing, len(missing))}): add them, or ignore these "
                f"{units.plural} (strict=False)"
            )
        names = _in_order({value for value in values if value is not None})
        if len(names) < 2:
            raise PlanError(f"{self._where()}: at least 2 folds are needed, found {len(names)}")
        numbers = {name: number for number, name in enumerate(names)}
        return np.array([-1 if one is None else numbers[one] for one in values], np.int32)

    def _where(self) -> str:
        return "folds" if isinstance(self.folds, Mapping) else os.fspath(self.folds)


def _refuse_unknown(entries: list[Entry], units: Units) -> None:
    known = set(units.ids)
    unknown = [entry for entry in entries if entry.unit not in known]
    if unknown:
        named = named_few((one.unit for one in unknown), len(unknown))
        raise PlanError(
            f"{unknown[0].place}: {count_of(len(unknown), 'id')} not among the {units.plural} "
            f"({named}): remove such ids, or ignore them (strict=False)"
        )


def _in_order(names: Any) -> list[str]:
    """Sort names numerically if all are numbers, else alphabetically."""
    listed = sorted(names)
    return sorted(listed, key=int) if all(map(str.isdecimal, listed)) else listed


@dataclass(frozen=True, eq=False, repr=False)
class SklearnPlan(Plan):
    """The splits of a scikit-learn splitter, made by `from_sklearn`.

    Parameters
    ----------
    splitter
        An object with ``split(X, y, groups)``.
    """

    splitter: Any

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Divide the units by the splitter."""
        labels = None if units.labels is None else np.array(units.column(units.labels, "labels"))
        groups = None if units.groups is None else np.array(units.column(units.groups, "groups"))
        size = len(units)
        try:
            pairs = list(self.splitter.split(np.zeros((size, 1)), labels, groups))
        except (TypeError, ValueError) as error:
            raise PlanError(f"{self.splitter!r}: {error}") from None
        if not pairs:
            raise PlanError(f"{self.splitter!r} returns no splits")
        sides = [Sides(_counts(train, size), _counts(test, size)) for train, test in pairs]
        whole = Source(len(sides), sides.__getitem__, lambda number: (0, number))
        return _as_partition(sides) or whole, []


def _counts(rows: Any, size: int) -> Weights:
    return np.bincount(np.asarray(rows, np.int64), minlength=size).astype(np.int32)


def _as_partition(sides: list[Sides]) -> Source | None:
    """Return a table of folds if every unit is in one test side and else in training; or None."""
    tests = np.array([one.test for one in sides])
    whole = all(((one.train + one.test) == 1).all() for one in sides)
    if not whole or not (tests.sum(axis=0) == 1).all():
        return None
    return partition(tests.argmax(axis=0).astype(np.int32))


def from_sklearn(splitter: Any) -> SklearnPlan:
    """Make a plan from a scikit-learn splitter.

    The splitter gets the units in their order. Whether its folds depend on that order is up to the
    splitter.

    Parameters
    ----------
    splitter
        An object with ``split(X, y, groups)``, such as those of `sklearn.model_selection`. Labels
        and groups are those given to `Plan.splits`.

    Examples
    --------
    >>> from sklearn.model_selection import KFold as Theirs
    >>> from_sklearn(Theirs(2)).splits(["a", "b", "c", "d"]).folds().tolist()
    [0, 0, 1, 1]
    """
    if not callable(getattr(splitter, "split", None)):
        raise PlanError(
            f"{splitter!r} has no method split(X, y, groups): give a splitter of scikit-learn, "
            "such as GroupKFold(5)"
        )
    return SklearnPlan(splitter)
