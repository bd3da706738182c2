"""Scores of very many units by linearisation: values of units whose mean is the score.

A smooth score that is not a mean over units behaves like one when there are many units. The
jackknife (for measures of order, of groups of units) gives each unit a value, and
the t test and t interval of these values apply. Above
`heldout.infer.resample_sums.MANY_UNITS` units this replaces the bootstrap, whose cost grows
with units times replicates.

References
----------
Efron & Tibshirani (1993). An Introduction to the Bootstrap, chapters 11 and 21. Chapman & Hall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.intervals import t_interval
from heldout.infer.resample_sums import total_of
from heldout.infer.results import TIE, mean_estimate

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints
    from heldout.infer.corpus_level import ScoreOfSums
    from heldout.infer.results import Alternative, Interval, Outcome

__all__ = ["LinearScoring", "jackknife", "linear_interval"]

BLOCK: Final = 2**22
"""Numbers of a table in memory at a time."""


def jackknife(table: Floats, score: ScoreOfSums, counts: Ints | None = None) -> Floats:
    """Return the jackknife pseudo-values of units, centred on the score.

    The score without unit i is s(total - row i): one subtraction per unit, because the score is a
    function of sums. Centring on the score, not on the mean of the pseudo-values, keeps the
    estimate and drops only the jackknife's bias correction (Efron & Tibshirani 1993, chapter 11).

    Parameters
    ----------
    table
        Statistics, one row per unit.
    score
        Turns sums of statistics into scores, many at a time.
    counts
        The number of units that each row represents; by default one.
    """
    total = total_of(table, counts)
    full = float(score(total)[0])
    size = max(1, BLOCK // max(1, table.shape[1]))
    without = np.concatenate(
        [score(total - table[at : at + size]) for at in range(0, len(table), size)]
    )
    without = np.where(np.isfinite(without), without, full)
    if counts is None:
        mean, units = without.mean(), len(table)
    else:
        mean, units = np.average(without, weights=counts), int(counts.sum())
    values: Floats = full + (units - 1) * (mean - without)
    return values


def linear_interval(values: Floats, score: float, level: float) -> Interval:
    """Return the t interval of a score from values of units that average to it."""
    interval = t_interval(values, level)
    shift = score - interval.estimate
    return interval._replace(
        estimate=score, low=interval.low + shift, high=interval.high + shift, method="t, linearised"
    )


@dataclass(frozen=True, eq=False)
class LinearScoring:
    """Tests and intervals of scores of very many units, by values that average to the scores.

    Parameters
    ----------
    values
        One row per unit (or group of units), one column per system.
    scores
        Of each system.
    """

    values: Floats
    scores: Floats
    linearised: bool = True
    tests: tuple[str, ...] = ("t",)
    why: str = (
        "is not a mean over units; with very many units it is linearised and compared by a t test"
    )

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Return the paired t test."""
        del test
        return mean_estimate(self._gaps(pair)).outcomes("t", alternative, len(self.values))[0]

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the t interval."""
        first, second = pair
        gap = float(self.scores[first] - self.scores[second])
        return linear_interval(self._gaps(pair), gap, level)

    def system(self, at: int, level: float) -> Interval:
        """Return the t interval."""
        return linear_interval(self.values[:, at], float(self.scores[at]), level)

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the number of units in favour of the first, and of the second system."""
        gaps = self._gaps(pair)
        return int((gaps > TIE).sum()), int((gaps < -TIE).sum())

    def _gaps(self, pair: tuple[int, int]) -> Floats:
        first, second = pair
        gaps: Floats = self.values[:, first] - self.values[:, second]
        return gaps
