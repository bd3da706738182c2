"""Intervals of the differences of a comparison, adjusted the way its p-values are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from heldout.errors import InputError
from heldout.infer.analyses import POOLED, UNADJUSTED
from heldout.infer.few_differ import DIFFERING, PSEUDO, added_variance
from heldout.infer.intervals.bounded import difference_inside
from heldout.infer.results import TIE, Interval, drop_noise
from heldout.infer.scoring.retuned import RETUNED_INTERVAL

if TYPE_CHECKING:
    from heldout.data.words import Floats
    from heldout.infer.claim_tests import Adjusted, Design
    from heldout.infer.results import Alternative
    from heldout.infer.simultaneous.pairwise import Pairwise

__all__ = ["INTERVALS", "PLUS_FOUR", "Coverage", "claim_intervals", "interval_coverage"]

INTERVALS: Final = ("t", "percentile", "bca", "randomization")

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
    return "unadjusted" if correction in UNADJUSTED else "simultaneous"


def claim_intervals(design: Design, adjusted: Adjusted, kind: str = "") -> list[Interval]:
    """Return the intervals of the differences, one per pair.

    Tukey's and Dunnett's tests have intervals of their own. For Romano-Wolf and the permutation
    tests the critical value is the quantile of the largest statistic, so that an interval excludes
    0 exactly if the single-step test rejects. All others, and a requested `kind`, are adjusted by
    Bonferroni. Corrections that control the false discovery rate, and tests of ranks, have
    unadjusted intervals. One-sided intervals are open on the other side. Intervals are wider if few
    units differ. Bounds are inside the range of the measure's differences.

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
    Y. Hochberg and A. C. Tamhane, Multiple Comparison Procedures (1987); P. H. Westfall and S. S.
    Young, Resampling-Based Multiple Testing (1993).
    """
    intervals = None
    if not kind and design.test_share is None:
        intervals = _own_intervals(design, adjusted)
    if intervals is None:
        intervals = [_plain_interval(design, pair) for pair in design.pairs]
    if design.correction not in POOLED:
        intervals = _with_little_variance(design, adjusted, intervals)
    return [difference_inside(interval, design.scores.range) for interval in intervals]


def _with_little_variance(
    design: Design, adjusted: Adjusted, intervals: list[Interval]
) -> list[Interval]:
    """Return intervals that trust neither the variance of a few differing units nor a lack of it.

    Where all differences are equal, the interval is that of all possible ones unless the test
    rejects.
    """
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
    from heldout.infer.scoring.resampled import OrderScoring  # SciPy

    if isinstance(design.scoring, OrderScoring):  # one unit changes the values of many
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
    if design.correction == "dunnett-t":
        return _dunnett(design)
    if adjusted.table is None:
        return None
    if design.correction == "romano-wolf":
        return _romano_wolf(design, adjusted, adjusted.table)
    if design.correction == "randomized-tukey":
        return _randomized_tukey(design, adjusted.table)
    return [_max_t(design, adjusted.table, design.gaps(pair)) for pair in design.pairs]


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
    from heldout.infer.simultaneous import tukey  # SciPy

    level = design.level
    bounds = {}
    for row in tukey.tukey_hsd(design.scores.values, level):
        bounds[row.first, row.second] = row.difference, row.low, row.high
        bounds[row.second, row.first] = -row.difference, -row.high, -row.low
    return [Interval(*bounds[pair], level, "Tukey") for pair in design.pairs]


def _dunnett(design: Design) -> list[Interval]:
    from heldout.infer.simultaneous import tukey  # SciPy

    if design.baseline is None:  # advise refuses it
        raise InputError("correction='dunnett-t' needs a baseline: pass baseline=NAME")
    level = design.level
    table = tukey.dunnett_blocks(design.scores.values, design.baseline, level, design.side)
    by_system = {result.first: result for result in table}
    ordered = [by_system[first] for first, _ in design.pairs]
    return [
        Interval(result.difference, result.low, result.high, level, "Dunnett") for result in ordered
    ]


def _randomized_tukey(design: Design, table: Pairwise) -> list[Interval]:
    half = table.null.critical(design.alpha) / len(design.scores.units)
    means = [float(design.gaps(pair).mean()) for pair in design.pairs]
    level = design.level
    return [
        Interval(mean, _no_noise(mean - half), _no_noise(mean + half), level, "randomized Tukey")
        for mean in means
    ]


def _no_noise(bound: float) -> float:
    """Return 0 for a bound within the tolerance of ties, which is frequent on a lattice."""
    return 0.0 if abs(bound) <= TIE else bound


def _max_t(design: Design, table: Pairwise, gaps: Floats) -> Interval:
    """Return the t interval whose critical value is the quantile of the largest t.

    The permutation statistic u = sum / √(sum of squares) is a monotone function of t,
    u = t / √((t² + n - 1) / n); its critical value is turned back into one of t.
    """
    n = len(gaps)
    critical = table.null.critical(design.alpha)
    mean, deviation = float(gaps.mean()), float(gaps.std(ddof=1))
    room = n - critical * critical
    if room <= 0:  # too few units: no t would be rejected
        return Interval(mean, -math.inf, math.inf, design.level, "max-t")
    half = critical * math.sqrt((n - 1) / room) * deviation / math.sqrt(n)
    interval = Interval(mean, mean - half, mean + half, design.level, "max-t")
    return _open(interval, design.side)


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
