"""Compute measures of predictions, for a whole table and, for means, for each unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.predictions import ClassPredictions, NumberPredictions, positive_number
from heldout.errors import MeasureError
from heldout.measure.prediction import calibration, classification, correlation, regression, roc
from heldout.measure.prediction.names import PredictedMeasure
from heldout.measure.undefined import Number, Undefined, defined_or

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Floats
    from heldout.measure.base import Measure, UnitScores
    from heldout.measure.prediction.names import Settings

    Predictions = ClassPredictions | NumberPredictions
    FromCounts = Callable[[classification.Confusion, Settings, str | None], Number]

__all__ = ["class_confusion", "confusion_value", "unit_scores_of", "unit_values_of", "value_of"]

NO_GUESSES: Final = Undefined("there are scores but no predictions")
NO_SCORES: Final = Undefined("there are predictions but no scores")
NO_PROBABILITIES: Final = Undefined("there are no probabilities")
NO_WEIGHTS: Final = Undefined("not defined for weighted units")


def value_of(measure: PredictedMeasure, given: Predictions, positive: str | None = None) -> Number:
    """Return the value of a measure on a table of predictions.

    Parameters
    ----------
    measure
        For classes or for numbers, as the predictions are.
    given
        The predictions of one system.
    positive
        The positive class of two, for measures that need one; by default the last.
    """
    if isinstance(given, NumberPredictions):
        if measure.family == "pinball":
            return float(np.average(unit_values_of(measure, given), weights=given.weights))
        return _NUMBER_VALUES[measure.family](given)
    value = _CLASS_VALUES[measure.family](given, measure.settings, positive)
    # Averages have replaced undefined classes already; missing columns are never replaced.
    replaceable = measure.family in {"MCC", "kappa"} and value != NO_GUESSES
    return defined_or(value, measure.settings.undefined) if replaceable else value


def unit_values_of(measure: PredictedMeasure, given: Predictions) -> Floats:
    """Return the value of each unit, if the measure is a mean over units."""
    if measure.aggregate != "mean":
        raise MeasureError(f"{measure} is not a mean over units: compare it over folds")
    if measure.family in {"accuracy", "error"}:
        _need(given, "predicted", f"{measure}: {NO_GUESSES.reason}")
    elif measure.family == "top-k-accuracy":
        _need(given, "scores", f"{measure}: {NO_SCORES.reason}")
        return _in_top(given, measure.settings.k)
    elif measure.task == "classification":
        _need(given, "probabilities", f"{measure}: {NO_PROBABILITIES.reason}")
    if isinstance(given, NumberPredictions) and measure.family == "pinball":
        return regression.pinball_losses(given.truth, given.predicted, measure.settings.alpha)
    found: Floats = _TERMS[measure.family](given)
    return found


def _in_top(given: Any, k: int) -> Floats:
    """Return 1 for units whose class has one of the `k` highest scores.

    Of equal scores those of later classes count as higher, as in scikit-learn; of two classes the
    first.
    """
    scores = given.scores[:, ::-1] if len(given.classes) == 2 else given.scores
    truth = 1 - given.truth if len(given.classes) == 2 else given.truth
    best = np.argsort(scores, axis=1, kind="stable")[:, ::-1][:, :k]
    found: Floats = (best == truth[:, None]).any(axis=1).astype(np.float64)
    return found


def _need(given: Predictions, field: str, reason: str) -> None:
    value = getattr(given, field)
    if value is None or value is False:
        raise MeasureError(f"{given.name}: {reason}")


def unit_scores_of(
    measure: PredictedMeasure, given: Predictions, positive: str | None = None
) -> UnitScores | None:
    """Return the data for scoring the units; None if they cannot be weighted."""
    from heldout.measure.prediction.sums import unit_sums
    from heldout.measure.prediction.weights import unit_order

    return unit_sums(given, measure, positive) or unit_order(given, measure, positive)


def class_confusion(predictions: ClassPredictions) -> classification.Confusion:
    """Return the confusion matrix; raise an error if there are no predicted classes."""
    if predictions.predicted is None:
        raise MeasureError(f"{predictions.name}: {NO_GUESSES.reason}")
    size = len(predictions.classes)
    cells = size * predictions.truth + predictions.predicted
    counts: Any = np.bincount(cells, predictions.weights, size * size).reshape(size, size)
    return classification.Confusion(predictions.classes, counts)


def _of_confusion(
    function: FromCounts,
) -> Callable[[ClassPredictions, Settings, str | None], Number]:
    def found(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
        if given.predicted is None:
            return NO_GUESSES
        return function(class_confusion(given), settings, positive)

    return found


def confusion_value(
    measure: Measure, table: classification.Confusion, positive: str | None = None
) -> Number:
    """Return the value for a confusion matrix alone (baselines); undefined if it needs more."""
    if not isinstance(measure, PredictedMeasure):
        return Undefined("it cannot be computed from a confusion matrix")
    function = _CONFUSION_VALUES.get(measure.family)
    if function is None:
        return NO_SCORES
    return defined_or(function(table, measure.settings, positive), measure.settings.undefined)


def _averaged(field: str) -> FromCounts:
    functions: dict[str, Callable[..., Number]] = {
        "precision": classification.precision,
        "recall": classification.recall,
        "f": classification.f_measure,
    }

    def found(table: classification.Confusion, settings: Settings, _: str | None) -> Number:
        if settings.one:
            rows = classification.class_rows(table, settings.beta, settings.undefined)
            value: Number = getattr(rows[table.index(settings.one)], field)
            return value
        more = {"beta": settings.beta} if field == "f" else {}
        return functions[field](table, settings.average, undefined=settings.undefined, **more)

    return found


def _of_class(field: str) -> FromCounts:
    def found(table: classification.Confusion, settings: Settings, positive: str | None) -> Number:
        name = settings.one or positive
        if settings.average and not settings.one:
            average: Any = settings.average
            rate = classification.specificity if field == "specificity" else classification.fp_rate
            return rate(table, average, undefined=settings.undefined)
        if name is None and len(table.classes) > 2:
            return Undefined("with several classes, name one (class=NAME) or an average (macro)")
        rows = classification.class_rows(table)
        value: Number = getattr(rows[-1 if name is None else table.index(name)], field)
        return defined_or(value, settings.undefined)

    return found


_CONFUSION_VALUES: Final[dict[str, FromCounts]] = {
    "accuracy": lambda table, _, __: table.accuracy,
    "error": lambda table, _, __: table.error,
    "balanced-accuracy": lambda table, _, __: classification.balanced_accuracy(table),
    "precision": _averaged("precision"),
    "recall": _averaged("recall"),
    "F": _averaged("f"),
    "F1": _averaged("f"),
    "specificity": _of_class("specificity"),
    "FP-rate": _of_class("fp_rate"),
    "MCC": lambda table, _, __: classification.matthews(table),
    "kappa": lambda table, settings, _: classification.kappa(table, settings.weights),
}


def _log_loss(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
    del settings, positive
    if given.scores is None or not given.probabilities:
        return NO_PROBABILITIES
    return calibration.log_loss(given.truth, given.scores, given.weights)


def _brier(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
    del settings, positive
    if given.scores is None or not given.probabilities:
        return NO_PROBABILITIES
    return calibration.brier(given.truth, given.scores, given.weights)


def _ece(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
    del positive
    if given.scores is None or not given.probabilities:
        return NO_PROBABILITIES
    if given.weights is not None:
        return NO_WEIGHTS
    return calibration.calibration_error(given.truth, given.scores, settings.bins)


def _auc(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
    if given.scores is None:
        return NO_SCORES
    if len(given.classes) == 1:
        return Undefined("all units are of one class")
    if len(given.classes) == 2:
        at = positive_number(given.classes, positive)
        return roc.auc(given.truth == at, given.scores[:, at], given.weights)
    average: Any = settings.average
    return roc.one_vs_rest(
        given.truth, given.scores, given.classes, average=average, weights=given.weights
    )


def _average_precision(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
    if given.scores is None:
        return NO_SCORES
    at = positive_number(given.classes, settings.one or positive)
    if len(given.classes) > 2 and not settings.one:
        return Undefined("with several classes, name one: average-precision(class=NAME)")
    return roc.average_precision(given.truth == at, given.scores[:, at], given.weights)


def _top_k(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
    del positive
    if given.scores is None:
        return NO_SCORES
    return float(np.average(_in_top(given, settings.k), weights=given.weights))


_CLASS_VALUES: Final[dict[str, Callable[[ClassPredictions, Settings, str | None], Number]]] = {
    **{name: _of_confusion(function) for name, function in _CONFUSION_VALUES.items()},
    "log-loss": _log_loss,
    "Brier": _brier,
    "ECE": _ece,
    "AUC": _auc,
    "average-precision": _average_precision,
    "top-k-accuracy": _top_k,
}


def _correlation(
    function: Callable[[Floats, Floats], Callable[[Floats], Floats]],
) -> Callable[[NumberPredictions], Number]:
    def found(given: NumberPredictions) -> Number:
        reason = correlation.same_everywhere(given)
        if reason:
            return Undefined(reason)
        weights = np.ones(len(given.truth)) if given.weights is None else given.weights
        return float(function(given.truth, given.predicted)(weights[None])[0])

    return found


def _pearson(given: NumberPredictions) -> Number:
    reason = correlation.same_everywhere(given)
    if reason:
        return Undefined(reason)
    weights = np.ones(len(given.truth)) if given.weights is None else given.weights
    value = float(correlation.pearson_sums(given).weighted(weights[None])[0])
    return Undefined("truth or prediction hardly varies") if np.isnan(value) else value


_NUMBER_VALUES: Final[dict[str, Callable[[NumberPredictions], Number]]] = {
    "RMSE": lambda given: regression.rmse(given.truth, given.predicted, given.weights),
    "MSE": lambda given: regression.mse(given.truth, given.predicted, given.weights),
    "MAE": lambda given: regression.mae(given.truth, given.predicted, given.weights),
    "median-AE": lambda given: (
        NO_WEIGHTS
        if given.weights is not None
        else regression.median_ae(given.truth, given.predicted)
    ),
    "MAPE": lambda given: regression.mape(given.truth, given.predicted, given.weights, given.units),
    "sMAPE": lambda given: regression.smape(
        given.truth, given.predicted, given.weights, given.units
    ),
    "R2": lambda given: regression.r_squared(given.truth, given.predicted, given.weights),
    "explained-variance": lambda given: regression.explained_variance(
        given.truth, given.predicted, given.weights
    ),
    "MSLE": lambda given: regression.msle(given.truth, given.predicted, given.weights, given.units),
    "Pearson": _pearson,
    "Spearman": _correlation(correlation.spearman),
    "Kendall": _correlation(correlation.kendall),
}

_TERMS: Final[dict[str, Callable[[Any], Floats]]] = {
    "accuracy": lambda given: (given.truth == given.predicted).astype(np.float64),
    "error": lambda given: (given.truth != given.predicted).astype(np.float64),
    "log-loss": lambda given: calibration.log_loss_terms(given.truth, given.scores),
    "Brier": lambda given: calibration.brier_terms(given.truth, given.scores),
    "MSE": lambda given: (given.truth - given.predicted) ** 2,
    "MAE": lambda given: np.abs(given.truth - given.predicted),
    "MAPE": lambda given: regression.percentage_errors(given.truth, given.predicted, given.units),
    "sMAPE": lambda given: regression.symmetric_errors(given.truth, given.predicted, given.units),
    "MSLE": lambda given: regression.squared_log_errors(given.truth, given.predicted, given.units),
}
