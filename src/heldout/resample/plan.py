"""Plan: what all plans have in common."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from heldout.data.notes import count_of
from heldout.resample.duplicates import text_notes
from heldout.resample.groups import grouped_units
from heldout.resample.notices import PlanError, ResamplingWarning
from heldout.resample.sources import Made, Sides
from heldout.resample.split import Splits
from heldout.resample.units import Unit, Units, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from heldout.data.collection import Collection
    from heldout.data.words import Ints
    from heldout.notes import Note
    from heldout.resample.sources import Source
    from heldout.resample.split import Split
    from heldout.resample.units import Column

__all__ = ["MOST_REPEATS", "Plan", "check_count", "check_seed"]

MOST_REPEATS: Final = 100_000
"""Of one division: beyond this nothing is learned, and a slip of the keyboard would take days."""


class Plan(ABC):
    """A rule that divides units; scikit-learn takes it for a cross-validator."""

    _always_shown: ClassVar[tuple[str, ...]] = ()
    """Fields that ``repr`` shows even at their defaults: without them it would not say enough."""

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
            What is divided: ``query``, ``document`` or ``instance``.
        labels
            The class of each unit, for a plan with ``stratify="labels"``.
        groups
            The group of each unit; units of a group stay on one side. Documents with the same text
            do so in any case, see `KFold`.
        """
        found = units_of(units, unit).with_columns(labels, groups)
        return self._checked(found, None)

    def _checked(self, units: Units, split: Split | None) -> Splits:
        if len(units) < 2:
            raise PlanError(
                f"{count_of(len(units), units.unit, units.plural)}: at least 2 are needed, one to "
                "see and one to hold out"
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
        """Divide the train side of a split; `Split.inner` is the way here."""
        if split.documents is not None:
            return self._inside_both(split, unit)
        if unit is not None and unit != split.unit:
            raise PlanError(f"split {split.key} is of {split.units.plural}, not by {unit}")
        return self.within(split, split)

    def within(self, side: Split, outer: Split) -> Splits:
        """Divide the train side of `side`, which is `outer` or its split of the documents."""
        return self._checked(_seen(side, outer), outer)

    def _inside_both(self, split: Split, unit: Unit | None) -> Splits:
        """Divide one kind of unit; of the other kind, the seen ones stay on both sides."""
        from heldout.resample.combined import TwoWaySplits  # it is made of plans

        if split.documents is None or unit not in {"query", "document"}:
            raise PlanError(
                f"split {split.key} holds out queries and documents: say which of them {self} "
                "shall divide (unit='query' or 'document'), or give a TwoWay"
            )
        documents = split.documents
        if unit == "query":
            kept = _kept(self, _seen(documents, split), split)
            return TwoWaySplits(self, self.within(split, split), kept, split.key)
        kept = _kept(self, _seen(split, split), split)
        return TwoWaySplits(self, kept, self.within(documents, split), split.key)

    @abstractmethod
    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Say which units are in which split, and what is to be said about it."""

    def split(
        self,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Iterator[tuple[Ints, Ints]]:
        """Row numbers of the train and the test side of each split, for scikit-learn.

        Parameters
        ----------
        X
            Anything with rows.
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
        """How many splits there will be, for scikit-learn."""
        if X is None:
            raise PlanError(f"{self} cannot tell the number of splits without the data (X)")
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
    """The units of a train side, with a context that makes chance different in each split."""
    return side.units.inside(side.train, f"{side.units.context}/{split.key}")


def _kept(plan: Plan, units: Units, split: Split) -> Splits:
    """All units that are seen, on both sides."""
    ones = np.ones(len(units), np.int32)
    return Splits(plan, units, Made(1, lambda _: Sides(ones, ones.copy())), (), split.key)


def _rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _is(value: Any, default: Any) -> bool:
    """Whether a value is the default one; arrays cannot be asked whether they are equal."""
    return value is default or (isinstance(value, int | float | str) and bool(value == default))


def _short(value: Any) -> str:
    if isinstance(value, Mapping | list | tuple) or hasattr(value, "shape"):
        return f"<{count_of(len(value), 'value')}>"
    if isinstance(value, os.PathLike):
        return repr(Path(value).name)  # the same wherever it was read from
    if repr(value) == object.__repr__(value):  # it would show an address in memory
        return f"{type(value).__name__}()"
    return repr(value)


def check_seed(seed: int) -> None:
    """Refuse a seed that is none."""
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise PlanError(f"seed={seed!r}: a seed is a whole number from 0 on")


def check_count(name: str, value: int, least: int, advice: str, most: int | None = None) -> None:
    """Refuse a number that is too small or too large, or none."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise PlanError(f"{name}={value!r}: expected a whole number from {least} on; {advice}")
    if most is not None and value > most:
        raise PlanError(f"{name}={value}: at most {most:,} are made; take fewer")
