"""Compute measures of predictions, for a whole table and, for means, for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.predictions import ClassPredictions, NumberPredictions, positive_number
from heldout.errors import MeasureError
from heldout.measure.prediction import calibration, classification, regression, roc
from heldout.measure.prediction.names import PredictedMeasure
from heldout.measure.undefined import Number, Undefined

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
        return _NUMBER_VALUES[measure.family](given)
    return _CLASS_VALUES[measure.family](given, measure.settings, positive)


def unit_values_of(measure: PredictedMeasure, given: Predictions) -> Floats:
    """Return the value of each unit, if the measure is a mean over units."""
    if measure.aggregate != "mean":
        raise MeasureError(f"{measure} is not a mean over units: compare it over folds")
    if measure.family in {"accuracy", "error"}:
        _need(given, "predicted", f"{measure}: {NO_GUESSES.reason}")
    elif measure.task == "classification":
        _need(given, "probabilities", f"{measure}: {NO_PROBABILITIES.reason}")
    found: Floats = _TERMS[measure.family](given)
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
    return NO_SCORES if function is None else function(table, measure.settings, positive)


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
        if name is None and len(table.classes) > 2:
            return Undefined("with several classes, name one: (class=NAME)")
        rows = classification.class_rows(table)
        value: Number = getattr(rows[-1 if name is None else table.index(name)], field)
        return value

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
    "kappa": lambda table, _, __: classification.kappa(table),
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
    binning: Any = settings.binning
    return calibration.calibration_error(given.truth, given.scores, settings.bins, binning)


def _auc(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
    if given.scores is None:
        return NO_SCORES
    average: Any = settings.average
    if len(given.classes) == 1:
        return Undefined("all units are of one class")
    if len(given.classes) == 2:
        at = positive_number(given.classes, positive)
        return roc.auc(given.truth == at, given.scores[:, at], given.weights)
    if settings.pairs == "ovr":
        return roc.one_vs_rest(
            given.truth, given.scores, given.classes, average=average, weights=given.weights
        )
    if given.weights is not None:
        return NO_WEIGHTS
    return roc.one_vs_one(given.truth, given.scores, given.classes, average=average)


def _average_precision(given: ClassPredictions, settings: Settings, positive: str | None) -> Number:
    if given.scores is None:
        return NO_SCORES
    at = positive_number(given.classes, settings.one or positive)
    if len(given.classes) > 2 and not settings.one:
        return Undefined("with several classes, name one: average-precision(class=NAME)")
    return roc.average_precision(given.truth == at, given.scores[:, at], given.weights)


_CLASS_VALUES: Final[dict[str, Callable[[ClassPredictions, Settings, str | None], Number]]] = {
    **{name: _of_confusion(function) for name, function in _CONFUSION_VALUES.items()},
    "log-loss": _log_loss,
    "Brier": _brier,
    "ECE": _ece,
    "AUC": _auc,
    "average-precision": _average_precision,
}


class _Names(Sequence[str]):
    """Units as named in messages: with file and line, if known."""

    def __init__(self, given: NumberPredictions) -> None:
        self._given = given

    def __len__(self) -> int:
        return len(self._given.units)

    def __getitem__(self, at: Any) -> Any:
        unit, places = self._given.units[at], self._given.places
        return f"{unit} in {places[at]}" if places else unit


_NUMBER_VALUES: Final[dict[str, Callable[[NumberPredictions], Number]]] = {
    "RMSE": lambda given: regression.rmse(given.truth, given.predicted, given.weights),
    "MSE": lambda given: regression.mse(given.truth, given.predicted, given.weights),
    "MAE": lambda given: regression.mae(given.truth, given.predicted, given.weights),
    "median-AE": lambda given: (
        NO_WEIGHTS
        if given.weights is not None
        else regression.median_ae(given.truth, given.predicted)
    ),
    "MAPE": lambda given: regression.mape(
        given.truth, given.predicted, given.weights, _Names(given)
    ),
    "sMAPE": lambda given: regression.smape(
        given.truth, given.predicted, given.weights, _Names(given)
    ),
    "R2": lambda given: regression.r_squared(given.truth, given.predicted, given.weights),
}

_TERMS: Final[dict[str, Callable[[Any], Floats]]] = {
    "accuracy": lambda given: (given.truth == given.predicted).astype(np.float64),
    "error": lambda given: (given.truth != given.predicted).astype(np.float64),
    "log-loss": lambda given: calibration.log_loss_terms(given.truth, given.scores),
    "Brier": lambda given: calibration.brier_terms(given.truth, given.scores),
    "MSE": lambda given: (given.truth - given.predicted) ** 2,
    "MAE": lambda given: np.abs(given.truth - given.predicted),
    "MAPE": lambda given: regression.percentage_errors(given.truth, given.predicted, _Names(given)),
    "sMAPE": lambda given: regression.symmetric_errors(given.truth, given.predicted, _Names(given)),
}
