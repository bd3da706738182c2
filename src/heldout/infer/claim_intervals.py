"""Intervals of the differences of a comparison, adjusted the way its p-values are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from heldout.infer.bounded import difference_inside
from heldout.infer.intervals import DIFFERING, PSEUDO, added_variance
from heldout.infer.results import Interval, drop_noise

if TYPE_CHECKING:
    from heldout.infer.claim_tests import Adjusted, Design
    from heldout.infer.pairwise import Pairwise
    from heldout.infer.results import Alternative

__all__ = ["INTERVALS", "PLUS_FOUR", "Coverage", "claim_intervals", "interval_coverage"]

INTERVALS: Final = ("t", "percentile", "bca")

PLUS_FOUR: Final = "plus four"
"""How the method of an interval ends that is wider because few units differ."""

BLOCK: Final = 2**22
"""Differences in memory at a time."""

Coverage = Literal["single", "simultaneous", "unadjusted"]
"""What the level applies to: a single interval, all intervals at once, or each interval alone."""


def interval_coverage(correction: str) -> Coverage:
    """Return what the level of the intervals applies to under a correction."""
    if not correction:
        return "single"
    return "unadjusted" if correction == "bh" else "simultaneous"


def claim_intervals(design: Design, adjusted: Adjusted, kind: str = "") -> list[Interval]:
    """Return the intervals of the differences, one per pair.

    Tukey's test has intervals of its own. For Romano-Wolf the critical value is the quantile of the
    largest statistic, so that an interval excludes 0 exactly if the single-step test rejects. All
    others, and a requested `kind`, are adjusted by Bonferroni; those of the false discovery rate
    are unadjusted. One-sided intervals are open on the other side. Intervals are wider if few units
    differ. Bounds are inside the range of the measure's differences.

    Parameters
    ----------
    design
        What is compared.
    adjusted
        The p-values of the claims.
    kind
        The requested kind; empty for the one that fits the design.

    References
    ----------
    Y. Hochberg and A. C. Tamhane, Multiple Comparison Procedures (1987).
    """
    intervals = None
    if not kind and design.test_share is None:
        intervals = _own_intervals(design, adjusted)
    if intervals is None:
        intervals = [_plain_interval(design, pair) for pair in design.pairs]
    if design.correction != "tukey":
        intervals = _with_little_variance(design, adjusted, intervals)
    return [difference_inside(interval, design.scores.range) for interval in intervals]


def _with_little_variance(
    design: Design, adjusted: Adjusted, intervals: list[Interval]
) -> list[Interval]:
    """Return intervals that trust neither the variance of a few differing units nor a lack of it.

    Where all differences are equal, the interval is that of all possible ones unless the test
    rejects.
    """
    from heldout.infer.scoring import RETUNED_INTERVAL  # measures of predictions

    found = []
    widest = design.scores.range[1] - design.scores.range[0]
    for interval, factor, p in zip(intervals, _widening(design), adjusted.p, strict=True):
        bounds = {interval.low, interval.high} - {-math.inf, math.inf}
        if bounds == {interval.estimate} and interval.estimate != 0 and p > design.alpha:
            low = min(interval.low, -widest)  # open ends stay open
            found.append(interval._replace(low=low, high=max(interval.high, widest)))
        elif factor > 1 and not interval.method.startswith(RETUNED_INTERVAL):  # it has them, too
            found.append(_widened(interval, factor))
        else:
            found.append(interval)
    return found


def _widening(design: Design) -> list[float]:
    """Return how much wider the interval of each pair is for four more differing units."""
    first, second = design.columns
    units = len(design.scores.units)
    if design.scores.machine is not None:  # they have been added already
        return [1.0] * len(first)
    if not design.scoring.linearised:
        factors: list[float] = []
        for start in range(0, len(first), size := max(1, BLOCK // units)):
            part = slice(start, start + size)
            values = design.scores.values
            gaps = drop_noise(values[:, first[part]], values[:, second[part]])
            added, variance = added_variance(gaps), gaps.var(0, ddof=1) / units
            ratio = np.divide(added, variance, out=np.zeros_like(added), where=added > 0)
            factors += np.sqrt(1 + ratio).tolist()
        return factors
    from heldout.infer.scoring import Area, Order

    # One unit changes the values of many, except in DeLong's.
    if isinstance(design.scoring, Order) and not isinstance(design.scoring, Area):
        return [1.0] * len(first)
    differing = [sum(design.scoring.signs(pair)) for pair in design.pairs]
    few = [0 < differ < min(DIFFERING, units / 2) for differ in differing]
    # The variance of m differing units of n is about m times their mean square over n².
    return [
        math.sqrt(1 + PSEUDO / differ) if rare else 1.0
        for differ, rare in zip(differing, few, strict=True)
    ]


def _widened(interval: Interval, factor: float) -> Interval:
    estimate = interval.estimate
    return interval._replace(
        low=estimate + factor * (interval.low - estimate),
        high=estimate + factor * (interval.high - estimate),
        method=f"{interval.method}, {PLUS_FOUR}",
    )


def _own_intervals(design: Design, adjusted: Adjusted) -> list[Interval] | None:
    """Return the intervals that belong to a correction; None if it has none."""
    if design.correction == "tukey":
        return _tukey(design)
    if adjusted.table is not None:
        return _romano_wolf(design, adjusted, adjusted.table)
    return None


def _romano_wolf(design: Design, adjusted: Adjusted, table: Pairwise) -> list[Interval]:
    """Return bootstrap-t intervals whose critical value is that of the largest statistic."""
    statistics = design.statistics()
    critical = table.null.critical(design.alpha)
    significant = np.array(adjusted.p) <= design.alpha
    # Differences that do not vary have no standard error: the test alone decides about them.
    constant = np.where(significant, 0.0, np.inf)
    # The critical value may be infinite, so it is multiplied by positive errors only.
    half = np.multiply(critical, statistics.error, out=constant, where=statistics.error > 0)
    half = np.where((statistics.error == 0) & (statistics.mean == 0), 0.0, half)
    low = statistics.mean - half if design.side != "less" else np.full(len(half), -np.inf)
    high = statistics.mean + half if design.side != "greater" else np.full(len(half), np.inf)
    rows = zip(statistics.mean.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Interval(*row, design.level, "Romano-Wolf") for row in rows]


def _tukey(design: Design) -> list[Interval]:
    from heldout.infer import tukey  # SciPy

    level = design.level
    bounds = {}
    for row in tukey.tukey_hsd(design.scores.values, level):
        bounds[row.first, row.second] = row.difference, row.low, row.high
        bounds[row.second, row.first] = -row.difference, -row.high, -row.low
    return [Interval(*bounds[pair], level, "Tukey") for pair in design.pairs]


def _plain_interval(design: Design, pair: tuple[int, int]) -> Interval:
    """Return the interval of one pair, adjusted by Bonferroni if several hold at once."""
    simultaneous = interval_coverage(design.correction) == "simultaneous"
    alpha = design.alpha / (len(design.pairs) if simultaneous else 1)
    # One bound of a two-sided interval is a one-sided bound that fails half as often.
    level = 1 - alpha if design.alternative == "two-sided" else 1 - 2 * alpha
    interval = design.scoring.difference(pair, level)
    method = f"{interval.method}, Bonferroni" if simultaneous else interval.method
    return _open(interval._replace(level=design.level, method=method), design.side)


def _open(interval: Interval, side: Alternative) -> Interval:
    """Return the interval that belongs to a one-sided test: open on the other side."""
    if side == "greater":
        return interval._replace(high=math.inf)
    return interval._replace(low=-math.inf) if side == "less" else interval
