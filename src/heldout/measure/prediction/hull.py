"""The ROC convex hull: what classifiers and their mixtures can reach, and which are dominated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.measure.prediction.roc import RocCurve

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HullPoint", "Mixture", "RocHull", "roc_hull"]

ON_LINE: Final = 1e-12
"""Points closer to a line than this are on it."""


class HullPoint(NamedTuple):
    """A corner of the hull.

    Parameters
    ----------
    fp_rate, tp_rate
        Position of the point.
    name
        The classifier; empty for the trivial corners (none positive, all positive).
    threshold
        Scores at or above this are predicted positive; NaN for a classifier without scores.
    """

    fp_rate: float
    tp_rate: float
    name: str = ""
    threshold: float = math.nan


class Mixture(NamedTuple):
    """How to reach a point of the hull: choose one of two classifiers at random.

    Parameters
    ----------
    first, second
        The ends of the edge.
    weight
        The probability of using `second`; 0 at `first`.
    tp_rate
        The true positive rate reached.
    """

    first: HullPoint
    second: HullPoint
    weight: float
    tp_rate: float


@dataclass(frozen=True, slots=True)
class RocHull:
    """The upper convex hull of ROC points.

    Parameters
    ----------
    points
        Its corners, from (0, 0) to (1, 1).
    dominated
        Classifiers without a point on the hull: for every cost of errors and every share of
        positives other classifiers or their mixtures are better.
    """

    points: tuple[HullPoint, ...]
    dominated: tuple[str, ...]

    @property
    def area(self) -> float:
        """The area under the hull."""
        rates = np.array([point[:2] for point in self.points])
        return float(np.trapezoid(rates[:, 1], rates[:, 0]))

    def mix(self, fp_rate: float) -> Mixture:
        """Return the mixture that reaches the hull at a false positive rate.

        Examples
        --------
        >>> hull = roc_hull({"A": (0.2, 0.6), "B": (0.6, 0.9)})
        >>> mixed = hull.mix(0.3)
        >>> mixed.first.name, mixed.second.name, round(mixed.weight, 2), round(mixed.tp_rate, 3)
        ('A', 'B', 0.25, 0.675)
        """
        if not 0 <= fp_rate <= 1:
            raise InputError(f"fp_rate={fp_rate}: expected a number between 0 and 1")
        # Of points with the same FP rate the highest is used: start after it.
        at = max(
            (n for n, point in enumerate(self.points[:-1]) if point.fp_rate <= fp_rate), default=0
        )
        first, second = self.points[at], self.points[at + 1]
        width = second.fp_rate - first.fp_rate
        weight = (fp_rate - first.fp_rate) / width if width else 1.0
        reached = first.tp_rate + weight * (second.tp_rate - first.tp_rate)
        return Mixture(first, second, weight, reached)

    def slopes(self) -> tuple[float, ...]:
        """Return the slope of each edge.

        An edge is the iso-performance line on which its ends are equally good. With a share π of
        positives and costs c of errors the best corner is the one between edges steeper and flatter
        than c(FP)(1-π) / (c(FN)π).
        """
        found = []
        for first, second in zip(self.points, self.points[1:], strict=False):
            width = second.fp_rate - first.fp_rate
            found.append((second.tp_rate - first.tp_rate) / width if width else math.inf)
        return tuple(found)


def roc_hull(classifiers: Mapping[str, RocCurve | tuple[float, float]]) -> RocHull:
    """Return the hull of several classifiers.

    Parameters
    ----------
    classifiers
        By name: a curve, or the FP rate and TP rate of a classifier without scores.

    References
    ----------
    Provost & Fawcett (2001). Robust classification for imprecise environments. Machine Learning 42.

    Examples
    --------
    >>> hull = roc_hull({"A": (0.3, 0.4), "B": (0.5, 0.7), "C": (0.2, 0.6)})
    >>> [point.name for point in hull.points], hull.dominated
    (['', 'C', ''], ('A', 'B'))
    """
    every = [point for name, one in classifiers.items() for point in _points(name, one)]
    corners = [HullPoint(0.0, 0.0), HullPoint(1.0, 1.0)]
    # Of several classifiers at one point the first by name is kept, in any input order.
    ordered = sorted(
        [*corners, *every],
        key=lambda point: (point.fp_rate, point.tp_rate, point.name, -_finite(point.threshold)),
    )
    points: list[HullPoint] = []
    for point in ordered:
        if points and points[-1][:2] == point[:2]:
            continue
        while len(points) > 1 and _turn(points[-2], points[-1], point) >= -ON_LINE:
            points.pop()
        points.append(point)
    hull = RocHull(tuple(points), ())
    used = {point.name for point in every if _on(hull, point)}
    return RocHull(tuple(points), tuple(name for name in classifiers if name not in used))


def _finite(threshold: float) -> float:
    return threshold if math.isfinite(threshold) else math.inf


def _points(name: str, one: RocCurve | tuple[float, float]) -> list[HullPoint]:
    if not name:
        raise InputError("a classifier has an empty name")
    if isinstance(one, RocCurve):
        rates = zip(one.fp_rate.tolist(), one.tp_rate.tolist(), strict=True)
        marks = one.thresholds.tolist()
        return [HullPoint(*rate, name, mark) for rate, mark in zip(rates, marks, strict=True)]
    false, true = float(one[0]), float(one[1])
    if not (0 <= false <= 1 and 0 <= true <= 1):
        raise InputError(f"{name}: rates {false:g} and {true:g}, expected numbers between 0 and 1")
    return [HullPoint(false, true, name)]


def _turn(first: HullPoint, second: HullPoint, third: HullPoint) -> float:
    """Return a positive number for a left turn, a negative one for a right turn."""
    along = (second.fp_rate - first.fp_rate) * (third.tp_rate - first.tp_rate)
    return along - (second.tp_rate - first.tp_rate) * (third.fp_rate - first.fp_rate)


def _on(hull: RocHull, point: HullPoint) -> bool:
    """Return whether a point other than the two trivial corners is on the hull."""
    if point[:2] in {(0.0, 0.0), (1.0, 1.0)}:
        return False
    if point.fp_rate == 0.0:
        return point.tp_rate >= max(one.tp_rate for one in hull.points if one.fp_rate == 0.0)
    if point.tp_rate == 1.0:  # every curve ends along the top edge, which is not an advantage
        return point.fp_rate <= min(one.fp_rate for one in hull.points if one.tp_rate == 1.0)
    return point.tp_rate >= hull.mix(point.fp_rate).tp_rate - ON_LINE
