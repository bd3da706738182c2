"""Order statistics (AUC, rank correlations, the median error, …) as functions of unit weights.

They are not functions of sums, but a bootstrap sample of units is a vector of weights: how often
each unit was drawn. Units are sorted once, and many samples are scored together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.predictions import ClassPredictions, positive_number
from heldout.measure.base import UnitOrder
from heldout.measure.prediction.correlation import kendall, spearman
from heldout.measure.prediction.names import PredictedMeasure

if TYPE_CHECKING:
    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Floats, Ints
    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["Weighing", "unit_order", "weighing"]

Weighing = Callable[["Floats"], "Floats"]
"""Function from weights (one row per set, one column per unit) to values; NaN if undefined."""


def unit_order(
    given: Predictions, measure: Measure, positive: str | None = None
) -> UnitOrder | None:
    """Return the data for scoring units by an order statistic; None for other measures.

    Parameters
    ----------
    given, measure, positive
        As for `weighing`.
    """
    function = weighing(given, measure, positive)
    return None if function is None else UnitOrder(len(given.units), function)


def weighing(given: Predictions, measure: Measure, positive: str | None = None) -> Weighing | None:
    """Return a measure of order, such as AUC or Spearman, as a function of unit weights.

    Parameters
    ----------
    given
        Predictions of one system; its own weights are multiplied by the given ones.
    measure
        A measure of order; None for others.
    positive
        The positive class of two.
    """
    if not isinstance(measure, PredictedMeasure):
        own = measure.unit_scores(given, positive)
        return own.function if isinstance(own, UnitOrder) else None
    if isinstance(given, ClassPredictions):
        return _of_classes(given, measure, positive)
    if measure.family in _CORRELATIONS:
        correlate = _CORRELATIONS[measure.family](given.truth, given.predicted)
        own_weights = 1.0 if given.weights is None else given.weights
        return lambda weights: correlate(weights * own_weights)
    errors = np.abs(given.truth - given.predicted)
    plain = given.weights is None and measure.family == "median-AE"
    return (lambda weights: _median(errors, weights)) if plain else None


_CORRELATIONS: Final = {"Spearman": spearman, "Kendall": kendall}


def _of_classes(
    given: ClassPredictions, measure: PredictedMeasure, positive: str | None
) -> Weighing | None:
    own = 1.0 if given.weights is None else given.weights
    if given.scores is None or measure.family not in {"AUC", "average-precision"}:
        return None
    if measure.family == "average-precision":
        at = positive_number(given.classes, measure.settings.one or positive)
        precise = _ordered(given.truth == at, given.scores[:, at], _average_precision)
        return lambda weights: precise(weights * own)
    if len(given.classes) == 2:
        at = positive_number(given.classes, positive)
        area = _ordered(given.truth == at, given.scores[:, at], _area)
        return lambda weights: area(weights * own)
    return _one_vs_rest(given, measure.settings.average, own)


def _ordered(
    flags: Any, scores: Floats, function: Callable[[Floats, Floats], Floats]
) -> Callable[[Floats], Floats]:
    """Return a function of unit weights, given one of the class weights at each score."""
    order = np.argsort(-scores, kind="stable")
    steps = np.flatnonzero(np.append(True, np.diff(scores[order])))
    signs = np.asarray(flags)[order]
    tied = len(steps) < len(order)

    def found(weights: Floats) -> Floats:
        ranked = weights[:, order]
        true, false = np.where(signs, ranked, 0.0), np.where(signs, 0.0, ranked)
        if tied:
            true, false = (np.add.reduceat(one, steps, axis=1) for one in (true, false))
        with np.errstate(divide="ignore", invalid="ignore"):
            value = function(true, false)
        return np.where(np.isfinite(value), value, np.nan)

    return found


def _area(true: Floats, false: Floats) -> Floats:
    above = np.cumsum(true, axis=1) - true / 2
    found: Floats = (false * above).sum(axis=1) / (true.sum(axis=1) * false.sum(axis=1))
    return found


def _average_precision(true: Floats, false: Floats) -> Floats:
    found, all_ = np.cumsum(true, axis=1), np.cumsum(true + false, axis=1)
    precision = np.where(all_ > 0, found / np.where(all_ > 0, all_, 1.0), 0.0)
    mean: Floats = (true * precision).sum(axis=1) / true.sum(axis=1)
    return mean


def _one_vs_rest(given: ClassPredictions, average: str, own: Any) -> Weighing:
    codes, scores = given.truth, np.asarray(given.scores)
    areas = [_ordered(codes == at, scores[:, at], _area) for at in range(len(given.classes))]

    def found(weights: Floats) -> Floats:
        all_ = weights * own
        values = np.column_stack([area(all_) for area in areas])
        return _over(values, _weights_of_classes(codes, all_, len(areas)), average)

    return found


def _weights_of_classes(codes: Ints, weights: Floats, size: int) -> Floats:
    found: Floats = np.column_stack([weights[:, codes == at].sum(axis=1) for at in range(size)])
    return found


def _over(values: Floats, shares: Floats, average: str) -> Floats:
    """Return the mean over classes; NaN if one with weight is undefined."""
    if average != "weighted":
        plain: Floats = values.mean(axis=1)
        return plain
    weighted = np.where(shares > 0, shares * values, 0.0).sum(axis=1)
    found: Floats = weighted / shares.sum(axis=1)
    return found


def _median(errors: Floats, weights: Floats) -> Floats:
    """Return the weighted median for each row; weights are integers (number of draws)."""
    order = np.argsort(errors, kind="stable")
    ranked = errors[order]
    reached = np.cumsum(weights[:, order], axis=1)
    total = reached[:, -1:]
    low = (reached <= (total - 1) // 2).sum(axis=1)
    high = (reached <= total // 2).sum(axis=1)
    last = len(ranked) - 1
    found: Floats = (ranked[np.minimum(low, last)] + ranked[np.minimum(high, last)]) / 2
    return found
