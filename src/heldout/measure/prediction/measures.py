"""Measures of predictions by name, for a whole table and, where that makes sense, for each unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.predictions import ClassPredictions, NumberPredictions, positive_number
from heldout.errors import MeasureError
from heldout.measure.prediction import calibration, classification, regression, roc
from heldout.measure.undefined import Number, Undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heldout.data.words import Floats

    Predictions = ClassPredictions | NumberPredictions
    FromCounts = Callable[[classification.Confusion, "Settings", str | None], Number]

__all__ = [
    "CLASS_MEASURES",
    "DEFAULT_CLASS_MEASURES",
    "DEFAULT_NUMBER_MEASURES",
    "NUMBER_MEASURES",
    "PredictionMeasure",
    "class_confusion",
    "confusion_value",
    "parse_prediction_measures",
]

NO_GUESSES: Final = Undefined("there are scores and no predictions")
NO_SCORES: Final = Undefined("there are predictions and no scores")
NO_PROBABILITIES: Final = Undefined("there are no probabilities")
NO_WEIGHTS: Final = Undefined("it does not exist for weighted units")


class Settings(NamedTuple):
    """The parameters that a measure may have."""

    average: str = "macro"
    one: str = ""
    beta: float = 1.0
    bins: int = 10
    binning: str = "equal-width"
    pairs: str = "ovr"
    undefined: float | None = None


@dataclass(frozen=True, slots=True)
class PredictionMeasure:
    """A measure of predictions.

    Parameters
    ----------
    base
        Its name without parameters.
    task
        ``classification`` or ``regression``.
    settings
        Its parameters.
    higher_is_better
        Its direction.

    Examples
    --------
    >>> [str(one) for one in parse_prediction_measures("classification", ["F(beta=2, weighted)"])]
    ['F(beta=2, weighted)']
    """

    base: str
    task: str
    settings: Settings
    higher_is_better: bool

    def __str__(self) -> str:
        shown = _SHOWN.get(self.base, ())
        found = [_show(name, getattr(self.settings, name)) for name in shown]
        if self.settings.one:
            found = [one for one in found if one != self.settings.average]
            found.append(f"class={self.settings.one}")
        if self.settings.undefined is not None:
            found.append(_show("undefined", self.settings.undefined))
        if self.base == "AUC" and self.settings == Settings():
            return "AUC"
        return f"{self.base}({', '.join(found)})" if found else self.base

    def value(self, predictions: Predictions, positive: str | None = None) -> Number:
        """The value of the measure on a table of predictions.

        Parameters
        ----------
        predictions
            Of classes or of numbers, as the measure is for.
        positive
            The positive one of two classes, for measures that need one; by default the last.
        """
        if isinstance(predictions, NumberPredictions):
            return _NUMBER_VALUES[self.base](predictions)
        return _CLASS_VALUES[self.base](predictions, self.settings, positive)

    @property
    def per_unit(self) -> bool:
        """Whether it is a mean over units."""
        return self.base in _TERMS

    @property
    def needs_scores(self) -> bool:
        """Whether predictions alone are not enough."""
        return self.task == "classification" and self.base not in _CONFUSION_VALUES

    def terms(self, predictions: Predictions) -> Floats:
        """The value of each unit, if it is a mean over units."""
        if not self.per_unit:
            raise MeasureError(f"{self} is not a mean over units: compare it over folds")
        if self.task == "classification" and self.base in {"accuracy", "error"}:
            _need(predictions, "predicted", f"{self}: {NO_GUESSES.reason}")
        elif self.task == "classification":
            _need(predictions, "probabilities", f"{self}: {NO_PROBABILITIES.reason}")
        found: Floats = _TERMS[self.base](predictions)
        return found


def _need(predictions: Predictions, field: str, reason: str) -> None:
    value = getattr(predictions, field)
    if value is None or value is False:
        raise MeasureError(f"{predictions.name}: {reason}")


def _show(name: str, value: Any) -> str:
    if name in {"average", "binning", "pairs"}:
        return str(value)
    return f"{name}={value:g}"


def class_confusion(predictions: ClassPredictions) -> classification.Confusion:
    """The confusion matrix of predictions that have any."""
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
    measure: PredictionMeasure, table: classification.Confusion, positive: str | None = None
) -> Number:
    """The value for a confusion matrix alone, as baselines have one; undefined if it needs more."""
    function = _CONFUSION_VALUES.get(measure.base)
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
            return Undefined("of several classes one must be named: (class=NAME)")
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
        return Undefined("of several classes one must be named: average-precision(class=NAME)")
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
    """Units as they are named in messages: with file and line, if they have one."""

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

CLASS_MEASURES: Final = tuple(_CLASS_VALUES)
NUMBER_MEASURES: Final = tuple(_NUMBER_VALUES)
LOWER: Final = {
    *("error", "FP-rate", "log-loss", "Brier", "ECE"),
    *("RMSE", "MSE", "MAE", "median-AE", "MAPE", "sMAPE"),
}
DEFAULT_CLASS_MEASURES: Final = (
    *("accuracy", "balanced-accuracy", "F1(macro)", "MCC", "kappa"),
    *("AUC", "log-loss", "Brier", "ECE(bins=10)"),
)
DEFAULT_NUMBER_MEASURES: Final = ("RMSE", "MAE", "median-AE", "MAPE", "sMAPE", "R2")

_SHOWN: Final = {
    "precision": ("average",),
    "recall": ("average",),
    "F": ("beta", "average"),
    "F1": ("average",),
    "ECE": ("bins", "binning"),
    "AUC": ("pairs", "average"),
}
_WORDS: Final = {
    **dict.fromkeys(("macro", "micro", "weighted"), "average"),
    **dict.fromkeys(("ovr", "ovo"), "pairs"),
    **dict.fromkeys(("equal-width", "equal-count"), "binning"),
}
_ALLOWED: Final = {
    "precision": {"average", "one", "undefined"},
    "recall": {"average", "one", "undefined"},
    "F": {"average", "one", "beta", "undefined"},
    "F1": {"average", "one", "undefined"},
    "specificity": {"one"},
    "FP-rate": {"one"},
    "ECE": {"bins", "binning"},
    "AUC": {"average", "pairs"},
    "average-precision": {"one"},
}
_FORM: Final = re.compile(r"\s*([A-Za-z0-9_\-²]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse_prediction_measures(
    task: str, names: Iterable[str], undefined: float | None = None
) -> list[PredictionMeasure]:
    """Read the names of measures.

    Parameters
    ----------
    task
        ``classification`` or ``regression``.
    names
        Such as ``accuracy``, ``F1(macro)``, ``F(beta=2, class=spam)``, ``AUC(ovo)``,
        ``ECE(bins=15, equal-count)``, ``RMSE``.
    undefined
        0: precision, recall and F of a class count 0 where they do not exist, as with
        ``zero_division=0`` of scikit-learn; the same as ``F1(macro, undefined=0)``.
    """
    if undefined not in (None, 0):
        raise MeasureError(f"undefined={undefined!r}: expected 0")
    listed = [names] if isinstance(names, str) else names
    return [_counting(_parse(task, name), undefined) for name in listed]


def _counting(measure: PredictionMeasure, undefined: float | None) -> PredictionMeasure:
    """A measure by which values that do not exist count, if it has such."""
    if undefined is None or "undefined" not in _ALLOWED.get(measure.base, set()):
        return measure
    return replace(measure, settings=measure.settings._replace(undefined=float(undefined)))


def _parse(task: str, given: object) -> PredictionMeasure:
    known = CLASS_MEASURES if task == "classification" else NUMBER_MEASURES
    text = str(given)  # whatever it is, what it is called is no such measure
    form = _FORM.fullmatch(text)
    bases = {_plain(name): name for name in known}
    base = bases.get(_plain(form[1])) if form else None
    if form is None or base is None:
        raise MeasureError(f"unknown measure {text!r} of {task}: expected {', '.join(known)}")
    settings: dict[str, Any] = {}
    for part in (form[2] or "").split(","):
        if part.strip():
            key, value = _setting(part.strip(), text)
            if key not in _ALLOWED.get(base, set()):
                raise MeasureError(f"{text!r}: {base} has no setting {part.strip()!r}")
            settings[key] = value
    if base == "AUC" and settings.get("average") == "micro":
        raise MeasureError(f"{text!r}: the AUC over classes is macro or weighted")
    return PredictionMeasure(base, task, Settings(**settings), base not in LOWER)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace("²", "2")


def _setting(part: str, text: str) -> tuple[str, Any]:
    key, equals, value = (one.strip() for one in part.partition("="))
    if not equals:
        if part not in _WORDS:
            raise MeasureError(f"{text!r}: {part!r} is none of {', '.join(_WORDS)}")
        return _WORDS[part], part
    if key in {"beta", "bins", "undefined"}:
        return key, _number_setting(key, value, text)
    if key in {"average", "pairs", "binning"} and _WORDS.get(value) == key:
        return key, value
    if key == "class" and value:
        return "one", value.strip("'\"")
    raise MeasureError(f"{text!r}: {part!r} is no setting of a measure")


def _number_setting(key: str, value: str, text: str) -> float:
    try:
        number = int(value) if key == "bins" else float(value)
    except ValueError:
        raise MeasureError(f"{text!r}: {value!r} is not a number") from None
    if key == "beta" and not 0 < number < float("inf"):
        raise MeasureError(f"{text!r}: beta must be above 0")
    if key == "bins" and number < 1:
        raise MeasureError(f"{text!r}: there must be at least 1 bin")
    if key == "undefined" and number != 0:
        raise MeasureError(f"{text!r}: undefined must be 0")
    return number
