"""Intervals of measures with a range, such as [0, 1]: no bound is outside the range.

Truncation would hide that the other bound is wrong, too: near 1 a sample often underestimates the
variance, and the lower bound is too high. An interval that leaves the range is replaced by Wilson's
construction for proportions (1927): its bounds are the values m for which (estimate - m)² is the
squared half-width times (m - a)(b - m) / ((estimate - a)(b - estimate)), so that the variance
vanishes at the ends a and b. An infinite end drops out of the formula.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from heldout.infer.results import Interval

UNBOUNDED: Final = (-math.inf, math.inf)
AT_AN_END: Final = 1e-100  # estimates closer to an end than this are at it, where nothing varies


def inside(interval: Interval, ends: tuple[float, float]) -> Interval:
    """Return the interval of a score, inside the range of its measure; infinite bounds are kept.

    Examples
    --------
    >>> from heldout.infer.results import Interval
    >>> found = inside(Interval(0.9875, 0.9662, 1.0088, 0.95, "t"), (0.0, 1.0))
    >>> round(found.low, 4), round(found.high, 4), found.method
    (0.9431, 0.9974, 't, bounded')
    """
    if not (_leaves(interval.low, ends) or _leaves(interval.high, ends)):
        return interval
    low, high = wilson_bounds(*interval[:3], ends)
    return interval._replace(low=low, high=high, method=f"{interval.method}, bounded")


def difference_inside(interval: Interval, ends: tuple[float, float]) -> Interval:
    """Return the interval of a difference of two scores, inside the range of differences.

    Only bounds outside the range are replaced. The other bound is kept, since it belongs to the
    test: the interval includes 0 exactly if it did before.
    """
    span = ends[0] - ends[1], ends[1] - ends[0]
    found = inside(interval, span)
    return found._replace(
        low=found.low if _leaves(interval.low, span) else interval.low,
        high=found.high if _leaves(interval.high, span) else interval.high,
    )


def wilson_bounds(
    estimate: float, low: float, high: float, ends: tuple[float, float]
) -> tuple[float, float]:
    """Return Wilson's bounds of estimate ± half-width, even for an interval inside the range.

    Examples
    --------
    >>> low, high = wilson_bounds(0.8, 0.6247, 0.9753, (0.0, 1.0))  # 16 of 20
    >>> round(low, 2), round(high, 2)
    (0.58, 0.92)
    """
    if min(estimate - ends[0], ends[1] - estimate) <= AT_AN_END:
        return max(low, min(ends[0], estimate)), min(high, max(ends[1], estimate))
    return _bound(estimate, low - estimate, ends), _bound(estimate, high - estimate, ends)


def _leaves(bound: float, ends: tuple[float, float]) -> bool:
    return math.isfinite(bound) and not ends[0] <= bound <= ends[1]


def _bound(estimate: float, reach: float, ends: tuple[float, float]) -> float:
    """Return the bound on the side of a signed half-width.

    With d = m - estimate, u = estimate - a, v = b - estimate and h the half-width, d solves
    d² = h² (1 + d/u) (1 - d/v).
    """
    if not reach or not math.isfinite(reach):
        return estimate + reach
    below, above = 1.0 / (estimate - ends[0]), 1.0 / (ends[1] - estimate)
    lean = abs(reach) * (below - above)
    curve = 1.0 + reach * reach * below * above
    root = math.sqrt(lean * lean + 4.0 * curve)
    bound = estimate + abs(reach) * (lean + math.copysign(root, reach)) / (2.0 * curve)
    return min(max(bound, ends[0]), ends[1])  # outside by rounding only
