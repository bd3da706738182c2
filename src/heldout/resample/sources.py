"""The sides of splits: from a table of folds, or computed when needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Weights = NDArray[np.int32]

__all__ = ["Computed", "Partition", "Sides", "Source"]


class Sides(NamedTuple):
    """The weights of a split's sides, for the units that take part.

    Parameters
    ----------
    train, test
        How often each unit is on the side.
    validation
        The same for a third side, if there is one.
    """

    train: Weights
    test: Weights
    validation: Weights | None = None


class Source(ABC):
    """Returns the sides of each split."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def place(self, number: int) -> tuple[int, int]:
        """Return repeat and fold of a split."""

    @abstractmethod
    def sides(self, number: int) -> Sides:
        """Return the sides of a split."""

    def folds(self) -> Sequence[Weights] | None:
        """Return for each repeat the fold of each unit (-1: none); None if there are no folds."""
        return None


@dataclass(frozen=True, slots=True)
class Partition(Source):
    """Every unit is in one test fold of each repeat, and on the training side of the others.

    Parameters
    ----------
    tables
        For each repeat the fold of each unit; -1 for a unit that is on no side.
    """

    tables: tuple[Weights, ...]
    begins: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sizes = (int(table.max(initial=-1)) + 1 for table in self.tables)
        object.__setattr__(self, "begins", [0, *accumulate(sizes)])

    def __len__(self) -> int:
        return self.begins[-1]

    def place(self, number: int) -> tuple[int, int]:
        """Return repeat and fold of a split."""
        repeat = bisect_right(self.begins, number) - 1
        return repeat, number - self.begins[repeat]

    def sides(self, number: int) -> Sides:
        """Return the sides of a split."""
        repeat, fold = self.place(number)
        table = self.tables[repeat]
        test = table == fold
        return Sides(((table >= 0) & ~test).astype(np.int32), test.astype(np.int32))

    def folds(self) -> Sequence[Weights]:
        """Return for each repeat the fold of each unit."""
        return self.tables


@dataclass(frozen=True, slots=True)
class Computed(Source):
    """Splits that are computed when they are needed, and not stored.

    Parameters
    ----------
    count
        The number of splits.
    make
        Returns the sides of split 0, 1, …, always the same for the same number.
    places
        Repeat and fold of each split; None: every split is a repeat.
    """

    count: int
    make: Callable[[int], Sides]
    places: tuple[tuple[int, int], ...] | None = None

    def __len__(self) -> int:
        return self.count

    def place(self, number: int) -> tuple[int, int]:
        """Return repeat and fold of a split."""
        return (number, 0) if self.places is None else self.places[number]

    def sides(self, number: int) -> Sides:
        """Return the sides of a split."""
        return self.make(number)
