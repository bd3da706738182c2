"""Plan: the base class of all plans."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from heldout.notes import count_of
from heldout.resample.duplicates import text_notes
from heldout.resample.groups import grouped_units
from heldout.resample.notices import PlanError, ResamplingWarning
from heldout.resample.sources import Sides, Source
from heldout.resample.split import Splits
from heldout.resample.units import Unit, Units, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from heldout.data.collection import Collection
    from heldout.data.words import Ints
    from heldout.notes import Note
    from heldout.resample.split import Split
    from heldout.resample.units import Column

__all__ = ["MOST_REPEATS", "Plan", "check_count", "check_seed"]

MOST_REPEATS: Final = 100_000
"""The largest number of repeats: more add nothing, and a typing error would take days."""


class Plan(ABC):
    """A rule that divides units into training and test sides; a scikit-learn cross-validator."""

    _always_shown: ClassVar[tuple[str, ...]] = ()
    """Fields that ``repr`` shows even if they have their default values."""

    def splits(
        self,
        units: Collection | Units | Iterable[Any] | int,
        unit: Unit = "query",
        *,
        labels: ArrayLike | Column | None = None,
        groups: ArrayLike | Column | None = None,
    ) -> Splits:
        """Divide units.

        Parameters
        ----------
        units
            A collection, ids, a number of rows (whose ids are ``0``, ``1``, …), or the units of
            other splits.
        unit
            The kind of unit: ``query``, ``document`` or ``instance``.
        labels
            The class of each unit, for a plan with ``stratify="labels"``.
        groups
            The group of each unit; units of a group stay on one side, and documents with the same
            text, too (see `KFold`).
        """
        found = units_of(units, unit).with_columns(labels, groups)
        return self._checked(found, None)

    def _checked(self, units: Units, split: Split | None) -> Splits:
        if len(units) < 2:
            raise PlanError(
                f"{count_of(len(units), units.unit, units.plural)}: at least 2 are needed, one for "
                "training and one to hold out"
            )
        given = getattr(self, "groups", None)
        units = grouped_units(units, given)
        source, notes = self.divide(units)
        if split is None and units.unit == "document" and units.collection is not None:
            notes = [*notes, *text_notes(units, source, given)]
        for note in notes:
            if note.severity == "warning":
                warnings.warn(ResamplingWarning(note), stacklevel=3)
        return Splits(self, units, source, notes, None if split is None else split.key)

    def inside(self, split: Split, unit: Unit | None = None) -> Splits:
        """Divide the training side of a split; called by `Split.inner`."""
        if split.documents is not None:
            return self._inside_both(split, unit)
        if unit is not None and unit != split.unit:
            raise PlanError(
                f"split {split.key} divides {split.units.plural}: unit={unit!r} is not possible"
            )
        return self.within(split, split)

    def within(self, side: Split, outer: Split) -> Splits:
        """Divide the training side of `side`, which is `outer` or its split of the documents."""
        return self._checked(_seen(side, outer), outer)

    def _inside_both(self, split: Split, unit: Unit | None) -> Splits:
        """Divide one kind of unit; training units of the other kind are on both sides."""
        from heldout.resample.combined import TwoWaySplits  # circular import

        if split.documents is None or unit not in {"query", "document"}:
            raise PlanError(
                f"split {split.key} holds out queries and documents: choose which of them {self} "
                "divides (unit='query' or 'document'), or give a TwoWay"
            )
        documents = split.documents
        if unit == "query":
            kept = _kept(self, _seen(documents, split), split)
            return TwoWaySplits(self, self.within(split, split), kept, split.key)
        kept = _kept(self, _seen(split, split), split)
        return TwoWaySplits(self, kept, self.within(documents, split), split.key)

    @abstractmethod
    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Return which units are in which split, with notes."""

    def split(
        self,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Iterator[tuple[Ints, Ints]]:
        """Yield the row numbers of training and test side of each split, for scikit-learn.

        Parameters
        ----------
        X
            Data with rows.
        y
            Labels, used by a plan with ``stratify="labels"``.
        groups
            Rows of a group stay on one side.
        """
        found = self.splits(_rows(X), "instance", labels=y, groups=groups)
        for split in found:
            yield split.rows("train"), split.rows("test")

    def get_n_splits(
        self,
        X: Any = None,  # noqa: N803 - scikit-learn's name
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """Return the number of splits, for scikit-learn."""
        if X is None:
            raise PlanError(f"the number of splits of {self} depends on the data: give X")
        return len(self.splits(_rows(X), "instance", labels=y, groups=groups))

    def __repr__(self) -> str:
        values = ((one, getattr(self, one.name)) for one in fields(self))  # type: ignore[arg-type]
        shown = (
            f"{one.name}={_short(value)}"
            for one, value in values
            if one.name in self._always_shown or not _is(value, one.default)
        )
        return f"{type(self).__name__}({', '.join(shown)})"


def _seen(side: Split, split: Split) -> Units:
    """Return the units of a training side, with a context that changes the seed in each split."""
    return side.units.inside(side.train, f"{side.units.context}/{split.key}")


def _kept(plan: Plan, units: Units, split: Split) -> Splits:
    """Return one split with all training units on both sides."""
    ones = np.ones(len(units), np.int32)
    return Splits(plan, units, Source(1, lambda _: Sides(ones, ones.copy())), (), split.key)


def _rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _is(value: Any, default: Any) -> bool:
    """Return whether a value is the default; arrays have no single answer to ==."""
    return value is default or (isinstance(value, int | float | str) and bool(value == default))


def _short(value: Any) -> str:
    if isinstance(value, Mapping | list | tuple) or hasattr(value, "shape"):
        return f"<{count_of(len(value), 'value')}>"
    if isinstance(value, os.PathLike):
        return repr(Path(value).name)  # without its folder, so that it is the same everywhere
    if repr(value) == object.__repr__(value):  # it would show an address in memory
        return f"{type(value).__name__}()"
    return repr(value)


def check_seed(seed: int) -> None:
    """Raise an error if a seed is not valid."""
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise PlanError(f"seed={seed!r}: expected an integer of at least 0")


def check_count(name: str, value: int, least: int, advice: str, most: int | None = None) -> None:
    """Raise an error if a value is not an integer, too small or too large."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise PlanError(f"{name}={value!r}: expected an integer of at least {least}; {advice}")
    if most is not None and value > most:
        raise PlanError(f"{name}={value}: at most {most:,} are possible")
