"""Scoring of functions of sums, of measures of order, and of the AUC of two classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.auc import area_interval, delong
from heldout.infer.linearised import jackknife, linear_interval
from heldout.infer.resample_sums import (
    MANY_UNITS,
    bootstrap_sums,
    bootstrap_weights,
    cluster_draws,
    randomize_sums,
    total_of,
)
from heldout.infer.results import TIE, Interval
from heldout.measure.prediction.order import auc_components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Flags, Floats, Ints
    from heldout.infer.corpus_level import Replicates, ScoreOfSums
    from heldout.infer.results import Alternative, Estimate, Outcome

__all__ = ["AreaScoring", "OrderScoring", "SumScoring", "left_out_values"]

LEAVE_OUT: Final = 2 * 10**7
"""Units times parts of the jackknife at most, but ..."""

FEWEST_PARTS: Final = 100
"""... this many parts at least."""


@dataclass(frozen=True, eq=False)
class SumScoring:
    """Tests and intervals of scores that are functions of sums.

    Parameters
    ----------
    tables
        Statistics of each system, one row per unit (or group of units), paired.
    score
        Turns sums of statistics into scores, many at a time.
    replicates
        Of the randomization test.
    bootstraps
        Of the intervals.
    seed
        Of all resampling.
    kind
        The row of each unit in the tables; None if each unit has its own row.
    """

    tables: Sequence[Floats]
    score: ScoreOfSums
    replicates: int = 100_000
    bootstraps: int = 10_000
    seed: int = 0
    kind: Ints | None = None
    linearised: bool = True
    tests: tuple[str, ...] = ("randomization", "bootstrap-shift")
    why: str = (
        "is not a mean over units: the sums that it is computed from are resampled by swapping "
        "outputs between the systems, unit by unit"
    )

    @cached_property
    def _counts(self) -> Ints | None:
        return None if self.kind is None else np.bincount(self.kind, minlength=len(self.tables[0]))

    @cached_property
    def drawn(self) -> Replicates:
        """The scores of resampled units."""
        return bootstrap_sums(
            self.tables,
            self.score,
            replicates=self.bootstraps,
            seed=self.seed,
            counts=self._counts,
        )

    @cached_property
    def values(self) -> Floats:
        """Values of units that average to the scores (jackknife)."""
        columns = [jackknife(table, self.score, self._counts) for table in self.tables]
        return np.column_stack(
            [column if self.kind is None else column[self.kind] for column in columns]
        )

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Return the randomization test, or the bootstrap-shift test."""
        if test == "bootstrap-shift":
            return self.drawn.shift_test(*pair, alternative=alternative)
        first, second = (self.tables[at] for at in pair)
        return randomize_sums(
            first,
            second,
            self.score,
            alternative=alternative,
            replicates=self.replicates,
            seed=self.seed,
            counts=self._counts,
        )

    @property
    def is_linear(self) -> bool:
        """Whether there are too many units to resample, so that intervals are linearised."""
        return self.kind is None and len(self.tables[0]) > MANY_UNITS

    def _score(self, at: int) -> float:
        return float(self.score(total_of(self.tables[at], self._counts))[0])

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the percentile interval; with many units the t interval."""
        if not self.is_linear:
            return self.drawn.difference(*pair, level=level)
        first, second = pair
        gaps = self.values[:, first] - self.values[:, second]
        return linear_interval(gaps, self._score(first) - self._score(second), level)

    def system(self, at: int, level: float) -> Interval:
        """Return the percentile interval; with many units the t interval."""
        if not self.is_linear:
            return self.drawn.interval(at, level)
        return linear_interval(self.values[:, at], self._score(at), level)

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return for how many units swapping the outputs lowers the difference, and raises it."""
        first, second = (self.tables[at] for at in pair)
        differ = (first != second).any(axis=1)
        gaps = (first - second)[differ]
        above, below = (total_of(table, self._counts) for table in (first, second))
        difference = float(self.score(above)[0] - self.score(below)[0])
        swapped = self.score(above - gaps) - self.score(below + gaps)
        change = np.where(np.isfinite(swapped), difference - swapped, 0.0)
        change[np.abs(change) <= TIE * (abs(difference) + 1)] = 0.0
        units = np.ones(len(gaps), np.int64) if self._counts is None else self._counts[differ]
        return int(units[change > 0].sum()), int(units[change < 0].sum())


def left_out_values(
    functions: Sequence[ScoreOfSums], clusters: Ints, observed: Floats, seed: int
) -> Floats:
    """Return values of clusters that average to the scores, by leaving clusters out.

    With many clusters, parts of several clusters are left out together (delete-d jackknife); the
    deviations are scaled so that the variance of the mean is that of single clusters.
    """
    count = int(clusters.max()) + 1
    parts = min(count, max(FEWEST_PARTS, LEAVE_OUT // len(clusters)))
    part_of = np.random.default_rng(seed).permutation(count) % parts
    of_units = part_of[clusters]
    size = max(1, 2**22 // len(clusters))
    rows = []
    for start in range(0, parts, size):
        left = np.arange(start, min(start + size, parts))
        weights = (of_units != left[:, None]).astype(np.float64)
        rows.append(np.column_stack([function(weights) for function in functions]))
    without = np.concatenate(rows)
    without = np.where(np.isfinite(without), without, observed)
    spread = (parts - 1) * (without.mean(axis=0) - without) * math.sqrt(count / parts)
    values: Floats = observed + spread[part_of]
    values += observed - values.mean(axis=0)
    return values


@dataclass(frozen=True, eq=False)
class OrderScoring:
    """Tests and intervals of AUC, average precision and medians, by resampling units or groups.

    Outputs are not swapped between systems: such measures rank the units by a system's scores, and
    scores of two systems may have different scales.

    Parameters
    ----------
    functions
        For each system, the function from weights of the units to scores.
    clusters
        The group of each unit, numbered from 0, or the unit itself.
    bootstraps, seed
        Of the bootstrap.
    smooth
        Whether a unit more or less changes the scores little and smoothly: not true of medians.
    """

    functions: Sequence[ScoreOfSums]
    clusters: Ints
    bootstraps: int = 10_000
    seed: int = 0
    smooth: bool = False
    linearised: bool = True
    tests: tuple[str, ...] = ("bootstrap-shift",)
    why: str = "depends on the order of the units: units are resampled (bootstrap)"

    @cached_property
    def _drawn(self) -> Replicates:
        return bootstrap_weights(
            self.functions, self.clusters, replicates=self.bootstraps, seed=self.seed
        )

    @cached_property
    def values(self) -> Floats:
        """Values of clusters that average to the scores.

        The jackknife is wrong for medians, whatever the number of units (Efron & Tibshirani 1993,
        section 11.6). For smooth scores it is better than the bootstrap: with 50 units the
        bootstrap's error of average precision is too small.
        """
        if self.smooth:
            return left_out_values(self.functions, self.clusters, self._drawn.observed, self.seed)
        return self._covariances()

    def _covariances(self) -> Floats:
        """Return values of clusters that average to the scores and vary as their replicates do.

        The value of a cluster is the covariance of a score with the number of times that the
        cluster was drawn, scaled so that the standard error of the mean is that of the bootstrap.
        """
        scores, observed, count, seed = self._drawn
        deviations = np.where(np.isfinite(scores), scores, observed)
        deviations -= deviations.mean(axis=0)
        slopes, start = np.zeros((count, len(observed))), 0
        for drawn in cluster_draws(self.clusters, len(scores), seed):
            slopes += drawn.T.astype(np.float64) @ deviations[start : start + len(drawn)]
            start += len(drawn)
        slopes -= slopes.mean(axis=0)
        spread = slopes.std(axis=0, ddof=1)
        error = deviations.std(axis=0)
        scale = np.divide(error * math.sqrt(count), spread, out=0 * spread, where=spread > 0)
        values: Floats = observed + slopes * scale
        return values

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Return the bootstrap-shift test."""
        del test
        return self._drawn.shift_test(*pair, alternative=alternative)

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the percentile interval."""
        return self._drawn.difference(*pair, level=level)

    def system(self, at: int, level: float) -> Interval:
        """Return the percentile interval."""
        return self._drawn.interval(at, level)

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the number of clusters in favour of the first, and of the second system."""
        gaps = self.values[:, pair[0]] - self.values[:, pair[1]]
        gaps[np.abs(gaps) <= TIE] = 0.0
        return int((gaps > 0).sum()), int((gaps < 0).sum())


@dataclass(frozen=True, eq=False)
class AreaScoring:
    """DeLong's tests and intervals of the AUC of two classes.

    Parameters
    ----------
    positive
        Whether each unit is positive.
    scores
        Higher for positive units; one row per unit, one column per system.
    """

    positive: Flags
    scores: Floats
    linearised: bool = True
    tests: tuple[str, ...] = ("delong",)
    why: str = (
        "is compared by DeLong's test, which includes the correlation of systems on the same units"
    )

    @cached_property
    def _components(self) -> list[Floats]:
        """For each system and unit, the share of the other class that is ranked correctly."""
        return [auc_components(self.positive, column) for column in self.scores.T]

    @cached_property
    def values(self) -> Floats:
        """Values of units that average to the areas and have DeLong's variance."""
        columns = []
        for parts in self._components:
            area = float(parts[self.positive].mean())
            column = np.empty(len(parts))
            for flags in (self.positive, ~self.positive):
                column[flags] = area + len(parts) / flags.sum() * (parts[flags] - area)
            columns.append(column)
        return np.column_stack(columns)

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Return DeLong's test."""
        return self._gap(pair).outcomes(test, alternative, len(self.positive))[0]

    def _gap(self, pair: tuple[int, int]) -> Estimate:
        columns = self.scores[:, list(pair)]
        return delong(self.positive, columns, np.array([0]), np.array([1]))

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return DeLong's interval of the difference."""
        return self._gap(pair).interval(level)[0]

    def system(self, at: int, level: float) -> Interval:
        """Return DeLong's interval, on the logit scale where the plain one leaves [0, 1]."""
        areas = delong(self.positive, self.scores[:, at])
        return area_interval(float(areas.value[0]), float(areas.error[0]), level)

    def signs(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Return the number of units that the first system ranks better, and worse."""
        gaps = self._components[pair[0]] - self._components[pair[1]]
        return int((gaps > TIE).sum()), int((gaps < -TIE).sum())
