"""ROC and precision-recall curves, and the areas under them. Ties count half."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from heldout.errors import InputError, MeasureError
from heldout.measure.undefined import Number, Undefined, mean_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from heldout.data.words import Flags, Floats, Ints

__all__ = [
    "PrCurve",
    "RocCurve",
    "auc",
    "average_precision",
    "one_vs_rest",
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


def auc(positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Number:
    """Return the area under the ROC curve; undefined if all units belong to one class.

    It is the probability that a positive unit has a higher score than a negative one (ties: half).

    Parameters
    ----------
    positive, scores, weights
        As for `roc_curve`.

    Examples
    --------
    >>> auc([1, 0, 1], [0.9, 0.5, 0.5])
    0.75
    >>> auc([1, 1], [0.9, 0.5])
    Undefined(reason='every unit is positive')
    """
    flags, values, shares = _checked(positive, scores, weights)
    missing = _one_sided(flags, shares)
    if missing:
        return Undefined(missing)
    return roc_curve(flags, values, shares).area


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


def average_precision(
    positive: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None
) -> Number:
    """Return the sum of precision × increase of recall, without optimistic interpolation."""
    flags, _, shares = _checked(positive, scores, weights)
    if not shares[flags].sum():
        return Undefined("no unit is positive")
    curve = pr_curve(positive, scores, weights)
    return float((np.diff(curve.recall, prepend=0.0) * curve.precision).sum())


def _class_scores(truth: Ints, scores: Floats, classes: Sequence[str]) -> Floats:
    table = np.asarray(scores, np.float64)
    if table.shape != (len(truth), len(classes)):
        raise InputError(
            f"scores: shape {table.shape}, expected one row for each of {len(truth)} units and one "
            f"column for each of {len(classes)} classes"
        )
    return table


def one_vs_rest(
    truth: Ints,
    scores: Floats,
    classes: Sequence[str],
    *,
    average: Literal["macro", "weighted"] = "macro",
    weights: ArrayLike | None = None,
) -> Number:
    """Return the mean over classes of the AUC of a class against all others.

    Parameters
    ----------
    truth
        The number of the class of each unit.
    scores
        One row per unit, one column per class.
    classes
        Their names.
    average
        ``macro``: equal weights; ``weighted``: by the number of units.
    weights
        One per unit; by default 1.
    """
    if average not in {"macro", "weighted"}:
        raise MeasureError(f"average={average!r}: expected macro or weighted")
    codes = np.asarray(truth)
    table = _class_scores(codes, scores, classes)
    values = [auc(codes == at, table[:, at], weights) for at in range(len(classes))]
    shares = np.ones(len(codes)) if weights is None else np.asarray(weights, np.float64)
    counts = [float(shares[codes == at].sum()) for at in range(len(classes))]
    return mean_of(values, classes, counts if average == "weighted" else None)
