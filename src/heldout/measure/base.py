"""What all measures have in common, whatever they measure: they score units under weights.

A measure is asked for what it keeps of the units of one system (`UnitScores`); that knows the score
of every weighting of them, which is what an interval or a resampling test needs. There are three
kinds: a mean keeps a value per unit, a score of sums keeps statistics that are added (BLEU, F1,
RMSE), and an order statistic is computed again under the weights (AUC, the median).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.undefined import Undefined

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Floats
    from heldout.measure.undefined import Number

__all__ = [
    "TASKS",
    "Aggregate",
    "Measure",
    "Task",
    "UnitOrder",
    "UnitScores",
    "UnitSums",
    "UnitValues",
    "mean_of_sums",
]

Task = Literal["ranking", "classification", "regression", "text"]
"""What is measured: ranked lists, predicted classes, predicted numbers, or texts."""

TASKS: Final[tuple[Task, ...]] = get_args(Task)

Aggregate = Literal["mean", "sums", "order", "none"]
"""How the score of a set of units is made; ``none``: they have no score (a text per unit)."""


class UnitScores(ABC):
    """What a measure keeps of the units of one system: enough to score them under any weights."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of units."""

    @abstractmethod
    def weighted(self, weights: Floats) -> Floats:
        """The score for each row of weights (one column per unit); NaN where it is not defined."""

    def value(self) -> float:
        """The score of all units, each with weight 1."""
        return float(self.weighted(np.ones((1, self.count)))[0])


@dataclass(frozen=True, eq=False)
class UnitValues(UnitScores):
    """A mean over units.

    Parameters
    ----------
    values
        One per unit; a unit without a value (NaN) is left out.
    """

    values: Floats

    @property
    def count(self) -> int:
        """The number of units."""
        return len(self.values)

    def weighted(self, weights: Floats) -> Floats:
        """The weighted means."""
        return self.sums().weighted(weights)

    def sums(self) -> UnitSums:
        """The same as a score of sums: values, and the units that have one."""
        defined = ~np.isnan(self.values)
        table = np.column_stack([np.where(defined, self.values, 0.0), defined.astype(np.float64)])
        return UnitSums(table, mean_of_sums)


@dataclass(frozen=True, eq=False)
class UnitSums(UnitScores):
    """A function of sums over units.

    Parameters
    ----------
    table
        Statistics, one row per unit; units with weights of their own have them multiplied in.
    score
        The score for each row of sums; NaN where it is not defined.
    """

    table: Floats
    score: Callable[[Floats], Floats]

    @property
    def count(self) -> int:
        """The number of units."""
        return len(self.table)

    def weighted(self, weights: Floats) -> Floats:
        """The scores of the weighted sums."""
        return self.score(weights @ self.table)


@dataclass(frozen=True, eq=False)
class UnitOrder(UnitScores):
    """A score that has to be computed from all units for every weighting.

    Parameters
    ----------
    units
        The number of units.
    function
        The score for each row of weights; NaN where it is not defined. Weights are whole numbers,
        how often a unit is there, unless the measure knows better.
    """

    units: int
    function: Callable[[Floats], Floats]

    @property
    def count(self) -> int:
        """The number of units."""
        return self.units

    def weighted(self, weights: Floats) -> Floats:
        """The scores under the weights."""
        return self.function(weights)


def mean_of_sums(sums: Floats) -> Floats:
    """Sums over counts; NaN where nothing was counted."""
    counted = sums[:, 1] > 0
    return np.where(counted, sums[:, 0] / np.where(counted, sums[:, 1], 1.0), np.nan)


class Measure(ABC):
    """A measure with all its parameters: hashable, and equal to another iff all of them are.

    ``str(measure)`` is its name, which `heldout.parse_measure` reads back.
    """

    __slots__ = ()

    # Fields in some kinds of measures, class variables or properties in others: only their types
    # are the same, so that nothing stands here at run time.
    if TYPE_CHECKING:

        @property
        def family(self) -> str:
            """The name without parameters."""

        @property
        def task(self) -> Task:
            """What it measures."""

        @property
        def higher_is_better(self) -> bool | None:
            """The direction; None for mere counts."""

    @property
    @abstractmethod
    def aggregate(self) -> Aggregate:
        """How the score of a set of units is made."""

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """The least and the greatest value."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value, defaults included."""

    @abstractmethod
    def unit_scores(self, given: Any, positive: str | None = None) -> UnitScores | None:
        """What is kept of the units of one system; None if they cannot be weighted.

        Parameters
        ----------
        given
            Truth and predictions as the task has them: `Judged`, `ClassPredictions`,
            `NumberPredictions`, or a pair of `Segments` (references, then the system).
        positive
            The positive one of two classes, for measures that need one.
        """

    @property
    def needs_scores(self) -> bool:
        """Whether it needs scores of classes, predicted classes not being enough."""
        return False

    def counting(self, undefined: float | None) -> Measure:
        """The same, values of classes that do not exist counting as given, if it has such."""
        del undefined
        return self

    def compute(self, given: Any, positive: str | None = None) -> Number:
        """The score of all units; undefined, with the reason, where it does not exist.

        Parameters
        ----------
        given, positive
            As for `unit_scores`.
        """
        found = self.unit_scores(given, positive)
        score = math.nan if found is None else found.value()
        return Undefined("it has no value for these units") if math.isnan(score) else score

    def unit_values(self, given: Any, positive: str | None = None) -> Floats:
        """The score of each unit alone; NaN where it does not exist.

        Parameters
        ----------
        given, positive
            As for `unit_scores`.
        """
        found = self.unit_scores(given, positive)
        if isinstance(found, UnitValues):
            return found.values
        if isinstance(found, UnitSums):
            return found.score(found.table)
        raise MeasureError(f"{self} has no value for single units")

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"
