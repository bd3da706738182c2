"""Points of ROC and precision-recall curves of several systems, with those on the hull marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from heldout.data.predictions import positive_number
from heldout.errors import InputError
from heldout.measure.names import definitions
from heldout.measure.prediction.hull import roc_hull
from heldout.measure.prediction.roc import pr_curve, roc_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.predictions import ClassPredictions
    from heldout.data.words import Flags, Floats
    from heldout.measure.base import Number
    from heldout.measure.prediction.roc import RocCurve

__all__ = ["Curve", "curves"]

CurveKind = Literal["roc", "pr"]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The points of a curve.

    Parameters
    ----------
    name
        The system.
    kind
        ``roc`` or ``pr``.
    positive
        The positive class.
    thresholds
        Descending; units with this score or more are predicted positive.
    x, y
        FP rate and TP rate, or recall and precision.
    on_hull
        Whether a threshold is a corner of the ROC convex hull of all systems. Only these can be
        optimal, also on a precision-recall curve (Davis & Goadrich 2006).
    area
        The area under the ROC curve.
    average_precision
        The sum of precision × increase of recall.
    """

    name: str
    kind: CurveKind
    positive: str
    thresholds: Floats
    x: Floats
    y: Floats
    on_hull: Flags
    area: float
    average_precision: Number


def curves(
    several: Sequence[ClassPredictions], kind: CurveKind, positive: str | None = None
) -> tuple[Curve, ...]:
    """Return the curves of systems with scores.

    Parameters
    ----------
    several
        Systems with the same classes.
    kind
        ``roc`` or ``pr``.
    positive
        The class against all others; by default the last of two classes.

    References
    ----------
    Davis & Goadrich (2006). The relationship between precision-recall and ROC curves. ICML.

    Examples
    --------
    >>> from heldout.data.predictions import ClassPredictions
    >>> scores = np.array([[0.1, 0.9], [0.4, 0.6], [0.5, 0.5], [0.8, 0.2]])
    >>> one = ClassPredictions("A", tuple("abcd"), ("n", "p"), np.array([1, 0, 1, 0]), None, scores)
    >>> [found] = curves([one], "roc")
    >>> found.x.tolist(), found.y.tolist(), found.on_hull.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], [True, True, False, True, True])
    """
    classes = several[0].classes
    if positive is None and len(classes) != 2:
        raise InputError(
            f"a curve needs one class against the others, and there are {len(classes)} classes "
            f"({', '.join(classes[:10])}): choose one with positive=CLASS"
        )
    at = positive_number(classes, positive)
    rates: dict[str, RocCurve] = {}
    for one in several:
        if one.scores is None:
            raise InputError(f"{one.name} has predictions but no scores: it has no curve")
        if one.name in rates:
            raise InputError(f"duplicate system name {one.name}: rename a file, or the system")
        rates[one.name] = roc_curve(one.truth == at, one.scores[:, at], one.weights)
    corners = {point[:2] for point in roc_hull(rates).points}
    return tuple(_curve(one, kind, at, rates[one.name], corners) for one in several)


def _curve(
    one: ClassPredictions,
    kind: CurveKind,
    at: int,
    rates: RocCurve,
    corners: set[tuple[float, float]],
) -> Curve:
    flags, column = one.truth == at, np.asarray(one.scores)[:, at]
    points = zip(rates.fp_rate.tolist(), rates.tp_rate.tolist(), strict=True)
    on_hull = np.array([point in corners for point in points])
    x, y, thresholds = rates.fp_rate, rates.tp_rate, rates.thresholds
    if kind == "pr":
        found = pr_curve(flags, column, one.weights)
        x, y = found.recall, found.precision
        on_hull = on_hull[np.isin(rates.thresholds, found.thresholds)]
        thresholds = found.thresholds
    wanted = definitions("classification")["average-precision"].make({"class": one.classes[at]})
    precise = wanted.compute(one)
    return Curve(one.name, kind, one.classes[at], thresholds, x, y, on_hull, rates.area, precise)
