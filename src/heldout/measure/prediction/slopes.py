"""How much an order statistic changes with each unit: its derivative in the unit's weight.

AUC, average precision and the median error are neither means nor functions of sums, but with many
units they are nearly linear in the weights. The slopes describe their sampling variation at the
cost of one sort; for the AUC of two classes they are DeLong's components.

References
----------
DeLong, DeLong & Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver
operating characteristic curves. Biometrics 44. Jaeckel (1972). The infinitesimal jackknife. Bell
Laboratories Memorandum MM 72-1215-11. Siddiqui (1960). Distribution of quantiles in samples from a
bivariate population. J. Res. Natl. Bur. Stand. 64B.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.predictions import ClassPredictions, positive_number
from heldout.measure.prediction.correlation import kendall_slopes, spearman_slopes
from heldout.measure.prediction.names import PredictedMeasure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Flags, Floats
    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["Slopes", "order_slopes"]


class Slopes(NamedTuple):
    """A score, and its derivatives in the weights of the units.

    Parameters
    ----------
    score
        The value of the measure.
    slopes
        One per unit; they sum to 0, because duplicating all units changes nothing.
    """

    score: float
    slopes: Floats


def order_slopes(
    given: Predictions, measure: Measure, positive: str | None = None
) -> Slopes | None:
    """Return the slopes of a measure of order; None for other measures.

    Parameters
    ----------
    given
        Predictions of one system for which the measure is defined.
    measure
        Such as AUC, average precision, Spearman or the median error.
    positive
        The positive class of two.
    """
    if not isinstance(measure, PredictedMeasure):
        return None
    if not isinstance(given, ClassPredictions):
        return _of_numbers(given, measure.family)
    if given.scores is None or measure.family not in {"AUC", "average-precision"}:
        return None
    weights = np.ones(len(given.truth)) if given.weights is None else given.weights
    if measure.family == "average-precision":
        at = positive_number(given.classes, measure.settings.one or positive)
        found = _ordered(given.truth == at, given.scores[:, at], weights, _average_precision)
    elif len(given.classes) == 2:
        at = positive_number(given.classes, positive)
        found = _ordered(given.truth == at, given.scores[:, at], weights, _area)
    else:
        found = _one_vs_rest(given, given.scores, weights, measure.settings.average)
    return found._replace(slopes=found.slopes * weights)


_CORRELATIONS: Final = {"Spearman": spearman_slopes, "Kendall": kendall_slopes}


def _of_numbers(given: NumberPredictions, family: str) -> Slopes | None:
    if family in _CORRELATIONS:
        weights = np.ones(len(given.truth)) if given.weights is None else given.weights
        score, slopes = _CORRELATIONS[family](given.truth, given.predicted, weights)
        return Slopes(score, slopes * weights)
    plain = given.weights is None and family == "median-AE"
    return _median(np.abs(given.truth - given.predicted)) if plain else None


class _Steps(NamedTuple):
    """Weights of positive and negative units at each distinct score, the highest first."""

    true: Floats
    false: Floats


def _ordered(
    flags: Flags,
    scores: Floats,
    weights: Floats,
    function: Callable[[_Steps], tuple[float, Floats, Floats]],
) -> Slopes:
    """Compute slopes per unit from a function that returns a score and its slopes per step."""
    order = np.argsort(-scores)
    starts = np.flatnonzero(np.append(True, np.diff(scores[order])))
    signs, ranked = flags[order], weights[order]
    steps = _Steps(np.where(signs, ranked, 0.0), np.where(signs, 0.0, ranked))
    tied = len(starts) < len(order)
    if tied:
        steps = _Steps(*(np.add.reduceat(one, starts) for one in steps))
    score, of_true, of_false = function(steps)
    if tied:
        sizes = np.diff(starts, append=len(order))
        of_true, of_false = (np.repeat(one, sizes) for one in (of_true, of_false))
    slopes = np.empty(len(scores))
    slopes[order] = np.where(signs, of_true, of_false)
    return Slopes(score, slopes)


def _area(steps: _Steps) -> tuple[float, Floats, Floats]:
    true, false = steps
    positives, negatives = true.sum(), false.sum()
    above = (np.cumsum(true) - true / 2) / positives
    below = 1 - (np.cumsum(false) - false / 2) / negatives
    area = float((false * above).sum() / negatives)
    return area, (below - area) / positives, (above - area) / negatives


def _average_precision(steps: _Steps) -> tuple[float, Floats, Floats]:
    true, false = steps
    positives, found, every = true.sum(), np.cumsum(true), np.cumsum(true + false)
    some = np.where(every > 0, every, 1.0)
    precision = found / some
    score = float((true * precision).sum() / positives)
    # An additional unit counts at its own step and at all steps below.
    gain, loss = (np.cumsum(part[::-1])[::-1] for part in (true / some, true * precision / some))
    return score, (precision - score + gain - loss) / positives, -loss / positives


def _one_vs_rest(given: ClassPredictions, scores: Floats, weights: Floats, average: str) -> Slopes:
    size = len(given.classes)
    areas = (_ordered(given.truth == at, scores[:, at], weights, _area) for at in range(size))
    shares = np.bincount(given.truth, weights, size) / weights.sum()
    if average != "weighted":
        return _mean_of(areas, np.full(size, 1 / size), len(weights))
    found = list(areas)
    whole = _mean_of(found, shares, len(weights))
    own = np.array([one.score for one in found])[given.truth]
    return whole._replace(slopes=whole.slopes + (own - whole.score) / weights.sum())


def _mean_of(several: Iterable[Slopes], shares: Floats, units: int) -> Slopes:
    score, slopes = 0.0, np.zeros(units)
    for one, share in zip(several, shares.tolist(), strict=True):
        score += share * one.score
        slopes += share * one.slopes
    return Slopes(score, slopes)


def _median(errors: Floats) -> Slopes:
    """Return the slopes of the median, with the density estimated from nearby quantiles."""
    count = len(errors)
    width = min(0.4, count ** (-1 / 3))
    low, middle, high = np.quantile(errors, [0.5 - width, 0.5, 0.5 + width])
    below = (errors < middle) + (errors == middle) / 2
    return Slopes(float(middle), (below.mean() - below) * (high - low) / (2 * width) / count)
