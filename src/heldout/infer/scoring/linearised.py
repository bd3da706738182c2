"""Scores of many units by their linear parts: values of units whose mean is the score.

A score that is no mean over units is nearly one where there are many. The jackknife (for functions
of sums) or slopes (for measures of order) give each unit a value, so that the t test and the t
interval of means serve. From `heldout.infer.scoring.unit_kinds.MANY_UNITS` on this takes the place
of the bootstrap, whose work grows with units times replicates.

References
----------
Efron & Tibshirani (1993). An Introduction to the Bootstrap, chapters 11 and 21. Chapman & Hall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.intervals.units import t_interval
from heldout.infer.results import TIE
from heldout.infer.scoring.unit_kinds import total_of
from heldout.infer.tests.paired import t_test

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Alternative, Interval, Outcome
    from heldout.infer.tests.corpus_level import ScoreOfSums
    from heldout.measure.prediction.slopes import Slopes

__all__ = ["LinearScoring", "jackknife", "linear_interval", "values_of_slopes"]

BLOCK: Final = 2**22
"""Numbers of a table that are left out at a time."""


def jackknife(table: Floats, score: ScoreOfSums, counts: Ints | None = None) -> Floats:
    """The jackknife's values of units, centred on the score.

    Parameters
    ----------
    table
        Statistics, a row a unit.
    score
        Turns sums of statistics into scores, many at a time.
    counts
        How many units each row is for; by default one.
    """
    total = total_of(table, counts)
    whole = float(score(total)[0])
    size = max(1, BLOCK // max(1, table.shape[1]))
    without = np.concatenate(
        [score(total - table[at : at + size]) for at in range(0, len(table), size)]
    )
    without = np.where(np.isfinite(without), without, whole)
    if counts is None:
        mean, units = without.mean(), len(table)
    else:
        mean, units = np.average(without, weights=counts), int(counts.sum())
    found: Floats = whole + (units - 1) * (mean - without)
    return found


def values_of_slopes(found: Slopes, clusters: Ints) -> Floats:
    """Values of clusters that average to a score with these slopes.

    Parameters
    ----------
    found
        The score, and its slope in each unit.
    clusters
        The cluster of each unit, from 0 on.
    """
    sums = np.bincount(clusters, found.slopes)
    values: Floats = found.score + len(sums) * (sums - sums.mean())
    return values


def linear_interval(values: Floats, score: float, level: float) -> Interval:
    """The t interval of a score from values of units that average to it."""
    found = t_interval(values, level)
    shift = score - found.estimate
    return found._replace(
        estimate=score, low=found.low + shift, high=found.high + shift, method="t, linearised"
    )


@dataclass(frozen=True, eq=False)
class LinearScoring:
    """Claims about scores of very many units, by values that average to them.

    Parameters
    ----------
    values
        A row a unit (or a group of units), a column a system.
    scores
        Of each system.
    """

    values: Floats
    scores: Floats
    linearised: bool = True
    tests: tuple[str, ...] = ("t",)
    why: str = (
        "is no mean over units, but nearly one where there are so many: each unit counts by what "
        "it adds to the score"
    )

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """The paired t test."""
        del test
        return t_test(self._gaps(pair), alternative=alternative)

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """The t interval."""
        first, second = pair
        gap = float(self.scores[first] - self.scores[second])
        return linear_interval(self._gaps(pair), gap, level)

    def system(self, at: int, level: float) -> Interval:
        """The t interval."""
        return linear_interval(self.values[:, at], float(self.scores[at]), level)

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Units that speak for the first, and for the second."""
        gaps = self._gaps(pair)
        return int((gaps > TIE).sum()), int((gaps < -TIE).sum())

    def _gaps(self, pair: tuple[int, int]) -> Floats:
        first, second = pair
        found: Floats = self.values[:, first] - self.values[:, second]
        return found
