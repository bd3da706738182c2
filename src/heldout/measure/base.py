"""The base of all measures: they score units under weights.

For the units of one system a measure keeps a `UnitScores` object, which computes the score under
any weights, as intervals and resampling tests need. There are three kinds: a mean keeps one value
per unit, a score of sums keeps statistics that are added (BLEU, F1, RMSE), and an order statistic
is recomputed under the weights (AUC, the median).
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
"""The kind of predictions: ranked lists, classes, numbers, or texts."""

TASKS: Final[tuple[Task, ...]] = get_args(Task)

Aggregate = Literal["mean", "sums", "order", "none"]
"""How the score of a set of units is computed; ``none``: there is no score (a text per unit)."""


class UnitScores(ABC):
    """The data of one system's units from which a measure computes scores under any weights."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of units."""

    @abstractmethod
    def weighted(self, weights: Floats) -> Floats:
        """Return the score for each row of weights (one column per unit); NaN where undefined."""

    def value(self) -> float:
        """Return the score of all units, each with weight 1."""
        return float(self.weighted(np.ones((1, self.count)))[0])


@dataclass(frozen=True, eq=False, repr=False)
class UnitValues(UnitScores):
    """A mean over units.

    Parameters
    ----------
    values
        One per unit; units without a value (NaN) are left out.
    """

    values: Floats

    @property
    def count(self) -> int:
        """The number of units."""
        return len(self.values)

    def weighted(self, weights: Floats) -> Floats:
        """Return the weighted means."""
        defined = ~np.isnan(self.values)
        table = np.column_stack([np.where(defined, self.values, 0.0), defined.astype(np.float64)])
        return mean_of_sums(weights @ table)


@dataclass(frozen=True, eq=False, repr=False)
class UnitSums(UnitScores):
    """A function of sums over units.

    Parameters
    ----------
    table
        Statistics, one row per unit; units with weights of their own have them multiplied in.
    score
        Function from rows of sums to scores; NaN where undefined.
    """

    table: Floats
    score: Callable[[Floats], Floats]

    @property
    def count(self) -> int:
        """The number of units."""
        return len(self.table)

    def weighted(self, weights: Floats) -> Floats:
        """Return the scores of the weighted sums."""
        return self.score(weights @ self.table)


@dataclass(frozen=True, eq=False, repr=False)
class UnitOrder(UnitScores):
    """A score that must be computed from all units for every weighting.

    Parameters
    ----------
    units
        The number of units.
    function
        Function from rows of weights to scores; NaN where undefined. Weights are integers (how
        often a unit was drawn) unless the measure also accepts others.
    """

    units: int
    function: Callable[[Floats], Floats]

    @property
    def count(self) -> int:
        """The number of units."""
        return self.units

    def weighted(self, weights: Floats) -> Floats:
        """Return the scores under the weights."""
        return self.function(weights)


def mean_of_sums(sums: Floats) -> Floats:
    """Divide sums by counts; NaN where the count is 0."""
    counted = sums[:, 1] > 0
    return np.where(counted, sums[:, 0] / np.where(counted, sums[:, 1], 1.0), np.nan)


class Measure(ABC):
    """A measure with all its parameters: hashable, and equal to another if all of them are equal.

    ``str(measure)`` is its name, which `heldout.parse_measure` reads back.
    """

    __slots__ = ()

    # Fields in some kinds of measures, class variables or properties in others: only their types
    # are declared here, so there is nothing at run time.
    if TYPE_CHECKING:

        @property
        def family(self) -> str:
            """The name without parameters."""

        @property
        def task(self) -> Task:
            """The kind of predictions that it measures."""

        @property
        def higher_is_better(self) -> bool | None:
            """Whether higher values are better; None for counts."""

    @property
    @abstractmethod
    def aggregate(self) -> Aggregate:
        """How the score of a set of units is computed."""

    @property
    @abstractmethod
    def range(self) -> tuple[float, float]:
        """The lowest and highest possible value."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value, defaults included."""

    @abstractmethod
    def unit_scores(self, given: Any, positive: str | None = None) -> UnitScores | None:
        """Return the data for scoring the units of one system; None if they cannot be weighted.

        Parameters
        ----------
        given
            Truth and predictions, depending on the task: `Judged`, `ClassPredictions`,
            `NumberPredictions`, or a pair of `Segments` (references, then the system).
        positive
            The positive class of two, for measures that need one.
        """

    @property
    def needs_scores(self) -> bool:
        """Whether it needs scores for the classes, not only predicted classes."""
        return False

    def counting(self, undefined: float | None) -> Measure:
        """Return the measure with undefined values of classes counted as `undefined`."""
        del undefined
        return self

    def compute(self, given: Any, positive: str | None = None) -> Number:
        """Return the score of all units, or `Undefined` with the reason.

        Parameters
        ----------
        given, positive
            As for `unit_scores`.
        """
        found = self.unit_scores(given, positive)
        score = math.nan if found is None else found.value()
        return Undefined("undefined for these units") if math.isnan(score) else score

    def unit_values(self, given: Any, positive: str | None = None) -> Floats:
        """Return the score of each single unit; NaN where undefined.

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
        raise MeasureError(f"{self} is not defined for single units")

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"
