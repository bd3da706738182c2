"""The sides of splits: from a table of folds, or computed when needed."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Weights = NDArray[np.int32]

__all__ = ["Sides", "Source", "partition"]


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


@dataclass(frozen=True, slots=True)
class Source:
    """The sides of all splits, computed when they are needed and not stored.

    Parameters
    ----------
    count
        The number of splits.
    sides
        Returns the sides of split 0, 1, …, always the same for the same number.
    place
        Returns repeat and fold of a split; by default every split is a repeat.
    folds
        For each repeat the fold of each unit (-1: on no side), if every unit is in one test fold.
    """

    count: int
    sides: Callable[[int], Sides]
    place: Callable[[int], tuple[int, int]] = lambda number: (number, 0)
    folds: tuple[Weights, ...] | None = None

    def __len__(self) -> int:
        return self.count


def partition(*folds: Weights) -> Source:
    """Return the splits of tables of folds, one for each repeat."""
    begins = [0, *accumulate(int(table.max(initial=-1)) + 1 for table in folds)]

    def place(number: int) -> tuple[int, int]:
        repeat = bisect_right(begins, number) - 1
        return repeat, number - begins[repeat]

    def sides(number: int) -> Sides:
        repeat, fold = place(number)
        test = folds[repeat] == fold
        return Sides(((folds[repeat] >= 0) & ~test).astype(np.int32), test.astype(np.int32))

    return Source(begins[-1], sides, place, folds)
