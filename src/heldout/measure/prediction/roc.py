"""ROC and precision-recall curves, and the areas under them. Ties count half."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Flags, Floats

__all__ = [
    "PrCurve",
    "RocCurve",
    "pr_curve",
    "roc_curve",
]


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """Rates at every threshold: units with this score or more are predicted positive.

    Parameters
    ----------
    fp_rate, tp_rate
        One per threshold, ascending from 0 to 1.
    thresholds
        The distinct scores, descending; the first is infinite: no unit is predicted positive.
    positives, negatives
        Number of positive and negative units (sums of weights, if units have weights).
    """

    fp_rate: Floats
    tp_rate: Floats
    thresholds: Floats
    positives: float
    negatives: float

    @property
    def area(self) -> float:
        """The area under the curve, linearly interpolated, so that ties count half."""
        return float(np.trapezoid(self.tp_rate, self.fp_rate))

    def at(self, threshold: float) -> tuple[float, float]:
        """Return the FP rate and TP rate if units with at least this score are predicted positive.

        Examples
        --------
        >>> curve = roc_curve([1, 0, 1, 1, 0, 0], [0.98, 0.80, 0.67, 0.65, 0.54, 0.32])
        >>> [round(rate, 2) for rate in curve.at(0.7)]
        [0.33, 0.33]
        """
        last = int(np.count_nonzero(self.thresholds >= threshold)) - 1
        return float(self.fp_rate[last]), float(self.tp_rate[last])


class PrCurve(NamedTuple):
    """Precision and recall at every threshold, the highest threshold first.

    Parameters
    ----------
    precision, recall
        One per threshold. Precision is undefined if no unit is predicted positive, so there is
        no point at recall 0.
    thresholds
        The distinct scores, descending.
    """

    precision: Floats
    recall: Floats
    thresholds: Floats


def _checked(
    positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None
) -> tuple[Flags, Floats, Floats]:
    labels = np.asarray(positive)
    values = np.asarray(scores, np.float64)
    if labels.ndim != 1 or labels.shape != values.shape:
        raise InputError(f"labels of shape {labels.shape} for scores of shape {values.shape}")
    flags = labels.astype(np.bool_)
    if not (flags == labels).all():
        raise InputError("labels: expected 1 (positive) or 0 for each unit")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"scores: unit number {row + 1} is {values[row]}, not a finite number")
    shares = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    if shares.shape != values.shape or not (np.isfinite(shares) & (shares >= 0)).all():
        raise InputError("weights: expected a non-negative number for each unit")
    return flags, values, shares


class _Steps(NamedTuple):
    """Counts of units with at least each distinct score, the highest first."""

    true: Floats
    false: Floats
    thresholds: Floats


def _steps(flags: Flags, values: Floats, weights: Floats) -> _Steps:
    # If all weights are 1, sums are integers and do not depend on the order of tied scores.
    order = np.argsort(-values, kind=None if (weights == 1).all() else "stable")
    ordered = values[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    true = np.cumsum(np.where(flags[order], weights[order], 0.0))[last]
    false = np.cumsum(np.where(flags[order], 0.0, weights[order]))[last]
    return _Steps(true, false, ordered[last])


def _one_sided(flags: Flags, weights: Floats) -> str:
    """Return the reason why there is no curve; empty if there is one."""
    if not weights[flags].sum():
        return "no unit is positive"
    return "" if weights[~flags].sum() else "every unit is positive"


def roc_curve(positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> RocCurve:
    """Compute the ROC curve of scores that are higher for positive units.

    Parameters
    ----------
    positive
        1 or true for positive units.
    scores
        One finite number per unit.
    weights
        One per unit; by default 1.

    References
    ----------
    Fawcett (2006). An introduction to ROC analysis. Pattern Recognition Letters 27.
    """
    flags, values, shares = _checked(positive, scores, weights)
    missing = _one_sided(flags, shares)
    if missing:
        raise InputError(f"{missing}: an ROC curve needs positive and negative units")
    steps = _steps(flags, values, shares)
    return RocCurve(
        np.append(0.0, steps.false / steps.false[-1]),
        np.append(0.0, steps.true / steps.true[-1]),
        np.append(math.inf, steps.thresholds),
        float(steps.true[-1]),
        float(steps.false[-1]),
    )


def pr_curve(positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> PrCurve:
    """Compute the precision-recall curve of scores that are higher for positive units."""
    flags, values, shares = _checked(positive, scores, weights)
    if not shares[flags].sum():
        raise InputError("no unit is positive: recall is undefined")
    steps = _steps(flags, values, shares)
    found = steps.true + steps.false
    some = found > 0  # units without weight may come first
    return PrCurve(
        steps.true[some] / found[some], steps.true[some] / steps.true[-1], steps.thresholds[some]
    )
