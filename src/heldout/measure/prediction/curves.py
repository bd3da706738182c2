"""ROC and precision-recall curves, and the ROC convex hull of several classifiers.

The hull is what classifiers and their mixtures can reach; those below it are dominated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.errors import Argument, InputError
from heldout.measure.base import quotient
from heldout.measure.prediction.order import Ties, labelled, one_sided

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from heldout.data.predictions import ClassPredictions
    from heldout.data.words import Floats

ON_LINE: Final = 1e-12  # points closer to a line than this are on it


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """Counts at every threshold: units with this score or more are predicted positive."""

    thresholds: Floats  # distinct scores, descending; the first is infinite: nothing is positive
    true: Floats  # positive units predicted positive (sums of weights, if units have weights)
    false: Floats  # negative units predicted positive

    @property
    def fp_rate(self) -> Floats:
        """The share of negative units predicted positive, ascending from 0 to 1."""
        rates: Floats = self.false / self.false[-1]
        return rates

    @property
    def tp_rate(self) -> Floats:
        """The recall: the share of positive units predicted positive, ascending from 0 to 1."""
        rates: Floats = self.true / self.true[-1]
        return rates

    @property
    def precision(self) -> Floats:
        """The share of positive units among those predicted positive; NaN if there are none."""
        return quotient(self.true, self.true + self.false)

    @property
    def area(self) -> float:
        """The area under the ROC curve, linearly interpolated, so that ties count half."""
        return float(np.trapezoid(self.tp_rate, self.fp_rate))

    def at(self, threshold: float) -> tuple[float, float]:
        """Return the FP rate and TP rate if this score or more is predicted positive."""
        last = int(np.count_nonzero(self.thresholds >= threshold)) - 1
        return float(self.fp_rate[last]), float(self.tp_rate[last])


def roc_curve(positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> RocCurve:
    """Return the curve of scores that are higher for positive units (Fawcett 2006).

    `positive` is 1 or true for positive units; weights are 1 by default.
    """
    flags, values = labelled(positive, scores)
    shares = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    if shares.shape != values.shape or not (np.isfinite(shares) & (shares >= 0)).all():
        raise InputError("weights: expected a non-negative number for each unit")
    problem = one_sided(flags, shares)
    if problem:
        raise InputError(f"{problem}: an ROC curve needs positive and negative units")
    ties = Ties.of(-values)
    counts = np.cumsum(ties.totals(shares * np.stack([flags, ~flags])), axis=1)
    true, false = np.concatenate([np.zeros((2, 1)), counts], axis=1)
    return RocCurve(np.append(math.inf, values[ties.order][ties.starts]), true, false)


def curves(several: Sequence[ClassPredictions], positive: str | None = None) -> dict[str, RocCurve]:
    """Return the curve of each system for a class against the others (of two, the last one)."""
    classes = several[0].classes
    if positive is None and len(classes) != 2:
        raise InputError(
            f"a curve needs one class against the others, and there are {len(classes)} classes "
            f"({', '.join(classes[:10])}): choose one with ",
            Argument("positive", "CLASS"),
        )
    drawn: dict[str, RocCurve] = {}
    for system in several:
        if system.scores is None:
            raise InputError(f"{system.name} has predictions but no scores: it has no curve")
        if system.name in drawn:
            raise InputError(f"duplicate system name {system.name}: rename a file, or the system")
        number = system.class_number(positive)
        scores = system.scores[:, number]
        drawn[system.name] = roc_curve(system.truth == number, scores, system.weights)
    return drawn


class HullPoint(NamedTuple):
    """A corner of the hull."""

    fp_rate: float
    tp_rate: float
    name: str = ""  # the classifier; empty for the trivial corners (none positive, all positive)
    threshold: float = math.nan  # NaN for a classifier without scores


class Mixture(NamedTuple):
    """How to reach a point of the hull: choose one of two classifiers at random."""

    first: HullPoint
    second: HullPoint
    weight: float  # the probability of using the second
    tp_rate: float


@dataclass(frozen=True, slots=True)
class RocHull:
    """The upper convex hull of ROC points."""

    points: tuple[HullPoint, ...]  # its corners, from (0, 0) to (1, 1)
    # Classifiers without a point on it: for every cost of errors and every share of positives,
    # others or their mixtures are better.
    dominated: tuple[str, ...]

    @property
    def area(self) -> float:
        """The area under the hull."""
        rates = np.array([point[:2] for point in self.points])
        return float(np.trapezoid(rates[:, 1], rates[:, 0]))

    def to_dict(self) -> dict[str, Any]:
        """Return area, dominated classifiers, and corners, as in JSON."""
        return {"area": self.area, "dominated": self.dominated, "points": self.points}

    def mix(self, fp_rate: float) -> Mixture:
        """Return the mixture that reaches the hull at a false positive rate."""
        if not 0 <= fp_rate <= 1:
            raise InputError("expected a number between 0 and 1", argument="fp_rate", value=fp_rate)
        # Of points with the same FP rate the highest is used: start after it.
        place = max(n for n, point in enumerate(self.points[:-1]) if point.fp_rate <= fp_rate)
        first, second = self.points[place], self.points[place + 1]
        width = second.fp_rate - first.fp_rate
        weight = (fp_rate - first.fp_rate) / width if width else 1.0
        reached = first.tp_rate + weight * (second.tp_rate - first.tp_rate)
        return Mixture(first, second, weight, reached)


def roc_hull(classifiers: Mapping[str, RocCurve | tuple[float, float]]) -> RocHull:
    """Return the hull of classifiers: curves, or FP rate and TP rate where there are no scores.

    Provost & Fawcett (2001). Robust classification for imprecise environments. Machine Learning 42.
    """
    every = [point for name, given in classifiers.items() for point in _points(name, given)]
    # Of several classifiers at one point the first by name is kept, in any input order; of the
    # points of a curve the highest threshold.
    ordered = sorted(
        [HullPoint(0.0, 0.0), HullPoint(1.0, 1.0), *every],
        key=lambda p: (*p[:3], -p.threshold if math.isfinite(p.threshold) else -math.inf),
    )
    points: list[HullPoint] = []
    for point in ordered:
        if points and points[-1][:2] == point[:2]:
            continue
        while len(points) > 1 and _turn(points[-2], points[-1], point) >= -ON_LINE:
            points.pop()
        points.append(point)
    hull = RocHull(tuple(points), ())
    used = {point.name for point in every if _is_on(hull, point)}
    return RocHull(tuple(points), tuple(name for name in classifiers if name not in used))


def hull_of(several: Sequence[ClassPredictions]) -> RocHull:
    """Return the hull of the curves of systems with scores, and of the points of the others."""
    every: dict[str, RocCurve | tuple[float, float]] = {}
    for system in several:
        if len(system.classes) != 2:
            raise InputError("an ROC hull is for two classes")
        column = system.class_number()
        positive = system.truth == column
        if system.scores is not None:
            every[system.name] = roc_curve(positive, system.scores[:, column], system.weights)
        elif system.predicted is not None:
            # A prediction is a score of two values: the middle point of its curve.
            guesses = (system.predicted == column).astype(float)
            every[system.name] = roc_curve(positive, guesses, system.weights).at(0.5)
    return roc_hull(every)


def _points(name: str, given: RocCurve | tuple[float, float]) -> list[HullPoint]:
    if not name:
        raise InputError("a classifier has an empty name")
    if isinstance(given, RocCurve):
        columns = given.fp_rate.tolist(), given.tp_rate.tolist(), given.thresholds.tolist()
        return [HullPoint(x, y, name, mark) for x, y, mark in zip(*columns, strict=True)]
    false, true = float(given[0]), float(given[1])
    if not (0 <= false <= 1 and 0 <= true <= 1):
        raise InputError(f"{name}: rates {false:g} and {true:g}, expected numbers between 0 and 1")
    return [HullPoint(false, true, name)]


def _turn(first: HullPoint, second: HullPoint, third: HullPoint) -> float:
    """Return a positive number for a left turn, a negative one for a right turn."""
    along = (second.fp_rate - first.fp_rate) * (third.tp_rate - first.tp_rate)
    return along - (second.tp_rate - first.tp_rate) * (third.fp_rate - first.fp_rate)


def _is_on(hull: RocHull, point: HullPoint) -> bool:
    """Return whether a point other than the two trivial corners is on the hull."""
    if point[:2] in {(0.0, 0.0), (1.0, 1.0)}:
        return False
    if point.fp_rate == 0.0:
        return point.tp_rate >= max(other.tp_rate for other in hull.points if not other.fp_rate)
    if point.tp_rate == 1.0:  # every curve ends along the top edge, which is not an advantage
        return point.fp_rate <= min(other.fp_rate for other in hull.points if other.tp_rate == 1.0)
    return point.tp_rate >= hull.mix(point.fp_rate).tp_rate - ON_LINE
