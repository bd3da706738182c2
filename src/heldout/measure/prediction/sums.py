"""Measures of predictions as functions of sums over units.

F1, MCC, R² and similar measures are not means over units, but functions of sums: of true positives,
class counts and predicted counts, or of squares. Many resampled sets of units are therefore scored
at once, without access to single units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.predictions import ClassPredictions, positive_number
from heldout.measure.base import UnitSums, mean_of_sums
from heldout.measure.prediction.classification import disagreement
from heldout.measure.prediction.correlation import pearson_sums
from heldout.measure.prediction.names import PredictedMeasure

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Floats, Ints
    from heldout.measure.base import Measure
    from heldout.measure.prediction.names import Settings

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["CellSums", "cell_sums", "unit_sums"]


def unit_sums(given: Predictions, measure: Measure, positive: str | None = None) -> UnitSums | None:
    """Return the statistics of each unit and the score of their sums; None if there are none.

    Parameters
    ----------
    given
        Predictions of one system.
    measure
        Any measure but AUC, average precision and the median.
    positive
        The positive class of two.

    Examples
    --------
    >>> from heldout import parse_measure
    >>> truth, guess = np.array([0, 1, 1]), np.array([0, 1, 0])
    >>> one = ClassPredictions("A", ("a", "b", "c"), ("no", "yes"), truth, guess)
    >>> found = unit_sums(one, parse_measure("F1(class=yes)"))
    >>> found.score(found.table.sum(axis=0, keepdims=True)).round(4).tolist()
    [0.6667]
    """
    if not isinstance(measure, PredictedMeasure):
        return None
    made = _made(given, measure, positive)
    if made is None or given.weights is None:
        return made
    made.table[:] *= given.weights[:, None]
    return made


class CellSums(NamedTuple):
    """A measure of a confusion matrix as a function of sums over its cells.

    Parameters
    ----------
    classes
        Number of classes; cell number ``classes * true + predicted``.
    score
        As for `UnitSums`.
    """

    classes: int
    score: Callable[[Floats], Floats]

    def rows(self, cells: Ints) -> Floats:
        """Return the statistics of units in these cells, as in `unit_sums`."""
        return _count_rows(*np.divmod(cells, self.classes), self.classes)


def cell_sums(given: Predictions, measure: Measure, positive: str | None = None) -> CellSums | None:
    """Return a measure of the confusion matrix of unweighted units; None for other measures.

    Parameters
    ----------
    given, measure, positive
        As for `unit_sums`.
    """
    if not isinstance(given, ClassPredictions) or given.weights is not None:
        return None
    if not isinstance(measure, PredictedMeasure):
        return None
    score = _score_of_counts(given, measure, positive)
    return None if score is None else CellSums(len(given.classes), score)


def _made(given: Any, measure: PredictedMeasure, positive: str | None) -> UnitSums | None:
    if measure.aggregate == "mean" or measure.family == "RMSE":
        return _mean(given, measure)
    function = _OWN_SUMS.get(measure.family)
    if function is not None:
        return function(given, measure.settings)
    if measure.settings.weights:
        return None if given.predicted is None else _weighted_kappa(given, measure.settings)
    score = _score_of_counts(given, measure, positive)
    if score is None:
        return None
    return UnitSums(_count_rows(given.truth, given.predicted, len(given.classes)), score)


def _score_of_counts(
    given: ClassPredictions, measure: PredictedMeasure, positive: str | None
) -> Callable[[Floats], Floats] | None:
    function = _COUNTED.get(measure.family)
    if function is None or given.predicted is None or measure.settings.weights:
        return None
    at = _class_number(given, measure, positive)
    if at is None and not measure.settings.average:
        return None
    counted, settings = function, measure.settings
    return lambda sums: _quietly(counted, _Counts.of(sums), settings, at)


def _class_number(
    given: ClassPredictions, measure: PredictedMeasure, positive: str | None
) -> int | None:
    """Return the class that a measure refers to: the named one, or the positive of two if needed.

    Averages of precision, recall and F are over all classes unless one is named.
    """
    name = measure.settings.one
    averaged = measure.family in {"precision", "recall", "F", "F1", "specificity", "FP-rate"}
    if not name and averaged and measure.settings.average:
        return None
    if not name and len(given.classes) > 2 and positive is None:
        return None
    return positive_number(given.classes, name or positive)


def _mean(given: Any, measure: PredictedMeasure) -> UnitSums:
    base = "MSE" if measure.family == "RMSE" else measure.family
    terms = (given.truth - given.predicted) ** 2 if base == "MSE" else measure.unit_values(given)
    table = np.column_stack([terms, np.ones(len(terms))])
    return UnitSums(table, _root if measure.family == "RMSE" else mean_of_sums)


def _root(sums: Floats) -> Floats:
    found: Floats = np.sqrt(np.maximum(mean_of_sums(sums), 0.0))
    return found


def _explained(given: NumberPredictions, *, centred_errors: bool) -> UnitSums:
    """Return R², or the explained variance, where a constant error does not count.

    The truth is centred first, because squares of large numbers lose digits.
    """
    centred = given.truth - given.truth.mean()
    error = given.truth - given.predicted
    shift = float(error.mean()) if centred_errors else 0.0
    error = error - shift
    table = np.column_stack([error**2, centred, centred**2, np.ones(len(error)), error])
    least = 1e-12 * float((centred**2).mean())

    def score(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            means = sums / sums[:, 3:4]
            spread = means[:, 2] - means[:, 1] ** 2
            left = means[:, 0] - (means[:, 4] ** 2 if centred_errors else 0.0)
            found: Floats = 1 - left / spread
        return np.where(spread > least, found, np.nan)

    return UnitSums(table, score)


def _weighted_kappa(given: ClassPredictions, settings: Settings) -> UnitSums:
    size = len(given.classes)
    apart = disagreement(given.classes, settings.weights)
    counts = _count_rows(given.truth, np.asarray(given.predicted), size)[:, size:]
    table = np.column_stack([apart[given.truth, given.predicted], counts])

    def score(sums: Floats) -> Floats:
        true, guessed = sums[:, 1 : size + 1], sums[:, size + 1 :]
        by_chance = ((true @ apart) * guessed).sum(axis=1)
        some = by_chance > 0
        found = 1 - sums[:, 0] * true.sum(axis=1) / np.where(some, by_chance, 1.0)
        missing = np.nan if settings.undefined is None else settings.undefined
        return np.where(some, found, missing)

    return UnitSums(table, score)


def _calibration(given: ClassPredictions, settings: Settings) -> UnitSums | None:
    if given.scores is None or not given.probabilities:
        return None
    edges = np.linspace(0, 1, settings.bins + 1)
    sure = given.scores.max(axis=1)
    places = np.clip(np.searchsorted(edges, sure, side="left") - 1, 0, settings.bins - 1)
    table = np.zeros((len(sure), settings.bins + 1))
    right = given.scores.argmax(axis=1) == given.truth
    table[np.arange(len(sure)), places] = sure - right
    table[:, -1] = 1.0
    return UnitSums(table, lambda sums: np.abs(sums[:, :-1]).sum(axis=1) / sums[:, -1])


class _Counts(NamedTuple):
    """True positives, true counts and predicted counts of each class; one row per set of units."""

    hits: Floats
    true: Floats
    guessed: Floats

    @classmethod
    def of(cls, sums: Floats) -> _Counts:
        return cls(*np.split(sums, 3, axis=1))

    @property
    def total(self) -> Floats:
        found: Floats = self.true.sum(axis=1)
        return found


def _count_rows(truth: Ints, predicted: Ints, size: int) -> Floats:
    """Return the contribution of each unit to the counts of `_Counts`."""
    rows = np.arange(len(truth))
    table = np.zeros((len(truth), 3 * size))
    right = truth == predicted
    table[rows[right], truth[right]] = 1.0
    table[rows, size + truth] = 1.0
    table[rows, 2 * size + predicted] = 1.0
    return table


def _quietly(function: Any, counts: _Counts, settings: Settings, at: int | None) -> Floats:
    """Call a function without warnings: division by 0 gives NaN, which means undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = function(counts, settings, at)
    return np.where(np.isfinite(found), found, np.nan)


def _averaged(per_class: Floats, counts: _Counts, settings: Settings, at: int | None) -> Floats:
    if settings.undefined is not None:
        per_class = np.where(np.isnan(per_class), settings.undefined, per_class)
    if at is not None:
        return per_class[:, at]
    if settings.average == "micro":
        right: Floats = counts.hits.sum(axis=1) / counts.total
        return right
    if settings.average == "weighted":
        weighted = np.where(counts.true > 0, counts.true * per_class, 0.0)
        mean: Floats = weighted.sum(axis=1) / counts.total
        return mean
    found: Floats = per_class.mean(axis=1)
    return found


def _precision(counts: _Counts, settings: Settings, at: int | None) -> Floats:
    return _averaged(counts.hits / counts.guessed, counts, settings, at)


def _recall(counts: _Counts, settings: Settings, at: int | None) -> Floats:
    return _averaged(counts.hits / counts.true, counts, settings, at)


def _f(counts: _Counts, settings: Settings, at: int | None) -> Floats:
    square = settings.beta**2
    found = (1 + square) * counts.hits / (square * counts.true + counts.guessed)
    exists = (counts.true > 0) & (counts.guessed > 0)
    return _averaged(np.where(exists, found, np.nan), counts, settings, at)


def _balanced(counts: _Counts, settings: Settings, at: int | None) -> Floats:
    del settings, at
    some = counts.true > 0
    found: Floats = np.where(some, counts.hits / counts.true, 0.0).sum(axis=1) / some.sum(axis=1)
    return found


def _fp_rate(counts: _Counts, settings: Settings, at: int | None) -> Floats:
    false, others = counts.guessed - counts.hits, counts.total[:, None] - counts.true
    if at is None and settings.average == "micro":
        pooled: Floats = false.sum(axis=1) / others.sum(axis=1)
        return pooled
    return _averaged(false / others, counts, settings, at)


def _specificity(counts: _Counts, settings: Settings, at: int | None) -> Floats:
    false, others = counts.guessed - counts.hits, counts.total[:, None] - counts.true
    if at is None and settings.average == "micro":
        return 1 - _fp_rate(counts, settings, at)
    return _averaged(1 - false / others, counts, settings, at)


def _or_undefined(values: Floats, settings: Settings) -> Floats:
    if settings.undefined is None:
        return values
    return np.where(np.isfinite(values), values, settings.undefined)


def _matthews(counts: _Counts, settings: Settings, at: int | None) -> Floats:
    del at
    total = counts.total[:, None]
    true, guessed = counts.true / total, counts.guessed / total
    right = counts.hits.sum(axis=1) / counts.total
    spread = (1 - (true**2).sum(axis=1)) * (1 - (guessed**2).sum(axis=1))
    several = ((true > 0).sum(axis=1) > 1) & ((guessed > 0).sum(axis=1) > 1)
    found = (right - (true * guessed).sum(axis=1)) / np.sqrt(np.where(several, spread, 1.0))
    return _or_undefined(np.where(several, found, np.nan), settings)


def _kappa(counts: _Counts, settings: Settings, at: int | None) -> Floats:
    del at
    total = counts.total[:, None]
    chance = (counts.true / total * counts.guessed / total).sum(axis=1)
    right = counts.hits.sum(axis=1) / counts.total
    one = ((counts.true > 0).sum(axis=1) == 1) & ((counts.guessed > 0).sum(axis=1) == 1)
    undefined = one & (chance > 0)
    found = np.where(undefined, np.nan, (right - chance) / np.where(undefined, 1.0, 1 - chance))
    return _or_undefined(found, settings)


_OWN_SUMS: Final[dict[str, Callable[[Any, Settings], UnitSums | None]]] = {
    "R2": lambda given, _: _explained(given, centred_errors=False),
    "explained-variance": lambda given, _: _explained(given, centred_errors=True),
    "Pearson": lambda given, _: pearson_sums(given),
    "ECE": _calibration,
}
_COUNTED: Final = {
    "balanced-accuracy": _balanced,
    "precision": _precision,
    "recall": _recall,
    "F": _f,
    "F1": _f,
    "specificity": _specificity,
    "FP-rate": _fp_rate,
    "MCC": _matthews,
    "kappa": _kappa,
}
