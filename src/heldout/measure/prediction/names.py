"""Names and parameters of the measures of predicted classes and numbers.

This module has names only, so that parsing one does not import NumPy.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from heldout.errors import MeasureError
from heldout.measure.base import Measure
from heldout.measure.syntax import read_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.words import Floats
    from heldout.measure.base import Aggregate, UnitScores
    from heldout.measure.undefined import Number

    Predictions = ClassPredictions | NumberPredictions

__all__ = [
    "CLASS_MEASURES",
    "DEFAULT_CLASS_MEASURES",
    "DEFAULT_NUMBER_MEASURES",
    "NUMBER_MEASURES",
    "PredictedMeasure",
    "PredictionTask",
    "Settings",
    "input_of",
    "parse_prediction",
    "scikit_learn_names",
]

PredictionTask = Literal["classification", "regression"]


class _About(NamedTuple):
    """The properties of a family.

    Parameters
    ----------
    aggregate
        How the score of units is computed.
    high, low
        The highest and lowest possible value.
    better
        Whether higher is better.
    shown
        The parameters that are part of its name even at their default.
    allowed
        The parameters that it has.
    """

    aggregate: Aggregate
    high: float = 1.0
    low: float = 0.0
    better: bool = True
    shown: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


_AVERAGED: Final = ("average", "class", "undefined")
_CLASS: Final[dict[str, _About]] = {
    "accuracy": _About("mean"),
    "error": _About("mean", better=False),
    "balanced-accuracy": _About("sums"),
    "precision": _About("sums", shown=("average",), allowed=_AVERAGED),
    "recall": _About("sums", shown=("average",), allowed=_AVERAGED),
    "F": _About("sums", shown=("beta", "average"), allowed=("beta", *_AVERAGED)),
    "F1": _About("sums", shown=("average",), allowed=_AVERAGED),
    "specificity": _About("sums", shown=("average",), allowed=_AVERAGED),
    "FP-rate": _About("sums", better=False, shown=("average",), allowed=_AVERAGED),
    "MCC": _About("sums", low=-1.0, allowed=("undefined",)),
    "kappa": _About("sums", low=-1.0, shown=("weights",), allowed=("weights", "undefined")),
    "log-loss": _About("mean", math.inf, better=False),
    "Brier": _About("mean", 2.0, better=False),
    "ECE": _About("sums", better=False, shown=("bins",), allowed=("bins",)),
    "AUC": _About("order", shown=("average",), allowed=("average",)),
    "average-precision": _About("order", allowed=("class",)),
    "top-k-accuracy": _About("mean", shown=("k",), allowed=("k",)),
}
_NUMBER: Final[dict[str, _About]] = {
    "RMSE": _About("sums", math.inf, better=False),
    "MSE": _About("mean", math.inf, better=False),
    "MAE": _About("mean", math.inf, better=False),
    "median-AE": _About("order", math.inf, better=False),
    "MAPE": _About("mean", math.inf, better=False),
    "sMAPE": _About("mean", 2.0, better=False),
    "R2": _About("sums", low=-math.inf),
    "explained-variance": _About("sums", low=-math.inf),
    "MSLE": _About("mean", math.inf, better=False),
    "pinball": _About("mean", math.inf, better=False, shown=("alpha",), allowed=("alpha",)),
    "Pearson": _About("sums", low=-1.0),
    "Spearman": _About("order", low=-1.0),
    "Kendall": _About("order", low=-1.0),
}
CLASS_MEASURES: Final = tuple(_CLASS)
NUMBER_MEASURES: Final = tuple(_NUMBER)
DEFAULT_CLASS_MEASURES: Final = (
    *("accuracy", "balanced-accuracy", "F1(macro)", "MCC", "kappa"),
    *("AUC", "log-loss", "Brier", "ECE(bins=10)"),
)
DEFAULT_NUMBER_MEASURES: Final = ("RMSE", "MAE", "median-AE", "MAPE", "sMAPE", "R2")

_FROM_CONFUSION: Final = frozenset(CLASS_MEASURES[: CLASS_MEASURES.index("log-loss")])
"""Measures that need no scores."""

_WORDS: Final = {
    **dict.fromkeys(("macro", "micro", "weighted"), "average"),
    **dict.fromkeys(("linear", "quadratic"), "weights"),
}

_SCIKIT_LEARN: Final[dict[PredictionTask, dict[str, str]]] = {
    "classification": {
        "accuracy_score": "accuracy",
        "zero_one_loss": "error",
        "balanced_accuracy_score": "balanced-accuracy",
        "precision_score": "precision",
        "recall_score": "recall",
        "f1_score": "F1",
        "matthews_corrcoef": "MCC",
        "cohen_kappa": "kappa",
        "cohen_kappa_score": "kappa",
        "roc_auc": "AUC",
        "roc_auc_score": "AUC",
        "roc_auc_ovr": "AUC",
        "roc_auc_ovr_weighted": "AUC(weighted)",
        "average_precision_score": "average-precision",
        "top_k_accuracy_score": "top-k-accuracy",
        "brier_score_loss": "Brier",
        **{
            f"{name}_{average}": f"{name}({average})"
            for name in ("precision", "recall", "f1")
            for average in ("macro", "micro", "weighted")
        },
    },
    "regression": {
        "r2_score": "R2",
        "mean_squared_error": "MSE",
        "root_mean_squared_error": "RMSE",
        "mean_absolute_error": "MAE",
        "median_absolute_error": "median-AE",
        "mean_absolute_percentage_error": "MAPE",
        "mean_squared_log_error": "MSLE",
        "mean_pinball_loss": "pinball",
        "explained_variance_score": "explained-variance",
        "pearsonr": "Pearson",
        "spearmanr": "Spearman",
        "kendalltau": "Kendall",
    },
}
"""Metrics and scorers of scikit-learn that heldout does not have."""

_NEGATED: Final[dict[PredictionTask, dict[str, str]]] = {
    "classification": {"neg_log_loss": "log-loss", "neg_brier_score": "Brier"},
    "regression": {
        f"neg_{name}": ours
        for name, ours in _SCIKIT_LEARN["regression"].items()
        if name.startswith(("mean_", "median_", "root_"))
    },
}


class Settings(NamedTuple):
    """The parameters that a measure of classes can have."""

    average: str = "macro"
    one: str = ""
    beta: float = 1.0
    bins: int = 10
    undefined: float | None = None
    weights: str = ""
    k: int = 2
    alpha: float = 0.5


_DEFAULTS: Final = Settings()


@dataclass(frozen=True, slots=True, repr=False)
class PredictedMeasure(Measure):
    """A measure of predicted classes or numbers.

    Parameters
    ----------
    family
        Its name without parameters.
    task
        ``classification`` or ``regression``.
    settings
        Its parameters.

    Examples
    --------
    >>> parse_prediction("classification", "F(beta=2, weighted)")
    Measure('F(beta=2, weighted)')
    """

    family: str
    task: PredictionTask
    settings: Settings = _DEFAULTS

    def __str__(self) -> str:
        values = {name: getattr(self.settings, name) for name in self._about.shown}
        found = [_show(name, value) for name, value in values.items() if value not in {"", None}]
        if self.settings.one:
            found = [one for one in found if one != self.settings.average]
            found.append(f"class={_show_class(self.settings.one)}")
        if self.settings.undefined is not None:
            found.append(_show("undefined", self.settings.undefined))
        if self.family == "AUC" and self.settings == _DEFAULTS:
            found = []  # for two classes there is one AUC
        return f"{self.family}({', '.join(found)})" if found else self.family

    @property
    def _about(self) -> _About:
        return _known(self.task)[self.family]

    @property
    def aggregate(self) -> Aggregate:
        """How the score of units is computed."""
        return self._about.aggregate

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest possible value."""
        return self._about.low, self._about.high

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better."""
        return self._about.better

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of its family."""
        found = self.settings._asdict()
        found["class"] = found.pop("one")
        return {name: found[name] for name in self._about.allowed}

    @property
    def needs_scores(self) -> bool:
        """Whether predictions alone are not enough."""
        return self.task == "classification" and self.family not in _FROM_CONFUSION

    def counting(self, undefined: float | None) -> PredictedMeasure:
        """Return the measure with undefined values counted as `undefined`."""
        if undefined is None or "undefined" not in self._about.allowed:
            return self
        return replace(self, settings=self.settings._replace(undefined=float(undefined)))

    def compute(self, given: Predictions, positive: str | None = None) -> Number:
        """Return the value for predictions; by default the last of two classes is positive."""
        from heldout.measure.prediction.measures import value_of  # imports NumPy

        return value_of(self, given, positive)

    def unit_values(self, given: Predictions, positive: str | None = None) -> Floats:
        """Return the value of each unit, if it is a mean over units."""
        from heldout.measure.prediction.measures import unit_values_of  # imports NumPy

        del positive
        return unit_values_of(self, given)

    def unit_scores(self, given: Predictions, positive: str | None = None) -> UnitScores | None:
        """Return the data for scoring the units of one system; None if they cannot be weighted."""
        from heldout.measure.prediction.measures import unit_scores_of  # imports NumPy

        return unit_scores_of(self, given, positive)


def _known(task: PredictionTask) -> dict[str, _About]:
    return _CLASS if task == "classification" else _NUMBER


def _show(name: str, value: Any) -> str:
    if name in {"average", "weights"}:
        return str(value)
    return f"{name}={value:g}"


def _show_class(name: str) -> str:
    """Return the name of a class, in quotes where it could not be parsed without."""
    plain = re.fullmatch(r"[^,'\"{}()\s](?:[^,'\"{}()]*[^,'\"{}()\s])?", name)
    return name if plain else f'"{name}"' if "'" in name else f"'{name}'"


def prediction_family(task: PredictionTask, name: str) -> str | None:
    """Return the family for a name, including those of scikit-learn; None if there is none."""
    stem = _plain(name.partition("(")[0])
    ours = {_plain(one): one for one in _known(task)}
    foreign = {_plain(one): two for one, two in {**_SCIKIT_LEARN[task], **_NEGATED[task]}.items()}
    found = ours.get(stem) or foreign.get(stem)
    return None if found is None else ours[_plain(found.partition("(")[0])]


def scikit_learn_names(task: PredictionTask, family: str) -> tuple[str, ...]:
    """Return the names that scikit-learn (or SciPy) has for a family."""
    return tuple(
        name for name, ours in _SCIKIT_LEARN[task].items() if ours.partition("(")[0] == family
    )


def input_of(task: PredictionTask, family: str) -> str:
    """Return what a family needs: predictions, scores or probabilities."""
    if task == "regression":
        return "true and predicted numbers"
    if family in _FROM_CONFUSION:
        return "true and predicted classes"
    ranked = family in {"AUC", "average-precision", "top-k-accuracy"}
    return f"true classes and {'scores' if ranked else 'probabilities'}"


def parse_prediction(
    task: PredictionTask, name: object, undefined: float | None = None
) -> PredictedMeasure:
    """Parse the name of a measure.

    Parameters
    ----------
    task
        ``classification`` or ``regression``.
    name
        For example ``accuracy``, ``F1(macro)``, ``F(beta=2, class=spam)``,
        ``ECE(bins=15)``, ``RMSE``, or as in scikit-learn: ``f1_macro``.
    undefined
        0: undefined values (precision, recall, F, specificity and FP rate of a class, MCC, kappa)
        count as 0, as with ``zero_division=0`` in scikit-learn; the same as
        ``F1(macro, undefined=0)``.
    """
    if undefined not in (None, 0):
        raise MeasureError(f"undefined={undefined!r}: expected 0")
    text = str(name)  # any other object is an unknown name
    form = _FORM.fullmatch(text)
    stem = _plain(form[1]) if form else ""
    _refuse_negated(task, text, stem)
    foreign = {_plain(one): two for one, two in _SCIKIT_LEARN[task].items()}.get(stem)
    if foreign is not None and form is not None:
        both = ", ".join(filter(None, [foreign.partition("(")[2].rstrip(")"), form[2]]))
        form = _FORM.fullmatch(f"{foreign.partition('(')[0]}({both})")
    known = _known(task)
    base = {_plain(one): one for one in known}.get(_plain(form[1])) if form else None
    if form is None or base is None:
        raise MeasureError(f"unknown measure {text!r} of {task}: expected {', '.join(known)}")
    settings = _settings(base, form[2], text, known[base].allowed)
    return PredictedMeasure(base, task, Settings(**settings)).counting(undefined)


_FORM: Final = re.compile(r"\s*([A-Za-z0-9_\-²]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "").replace("²", "2")


def _refuse_negated(task: PredictionTask, text: str, stem: str) -> None:
    ours = {_plain(one): two for one, two in _NEGATED[task].items()}.get(stem)
    if ours is not None:
        raise MeasureError(
            f"{text!r} is the negative of {ours} in scikit-learn; in heldout lower is "
            f"better: write {ours}"
        )


def _settings(base: str, inner: str | None, text: str, allowed: tuple[str, ...]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, written in read_arguments(text, inner, words=True).items():
        name, value = _setting(key, written, text)
        if name not in allowed:
            part = written if key == written else f"{key}={written}"
            raise MeasureError(f"{text!r}: {base} has no parameter {part!r}")
        settings["one" if name == "class" else name] = value
    if base == "AUC" and settings.get("average") == "micro":
        raise MeasureError(f"{text!r}: AUC over classes must be macro or weighted")
    if base in {"specificity", "FP-rate"}:  # of the positive class, unless an average is named
        settings.setdefault("average", "")
    return settings


def _setting(key: str, value: str, text: str) -> tuple[str, Any]:
    if key == value:
        if key not in _WORDS:
            raise MeasureError(f"{text!r}: {key!r} is not one of {', '.join(_WORDS)}")
        return _WORDS[key], key
    if key in _NUMBERS:
        return key, _number_setting(key, value, text)
    if key in {"average", "weights"} and _WORDS.get(value.strip("'\"")) == key:
        return key, value.strip("'\"")
    if key == "class" and value.strip("'\""):
        return key, value[1:-1] if value[0] in "'\"" else value
    raise MeasureError(f"{text!r}: unknown parameter '{key}={value}'")


_NUMBERS: Final[dict[str, tuple[Callable[[float], bool], str]]] = {
    "beta": (lambda number: 0 < number < math.inf, "beta must be above 0"),
    "bins": (lambda number: number >= 1, "there must be at least 1 bin"),
    "k": (lambda number: number >= 1, "k must be at least 1"),
    "undefined": (lambda number: number == 0, "undefined must be 0"),
    "alpha": (lambda number: 0 <= number <= 1, "alpha must be from 0 to 1"),
}
"""Parameters that are numbers: whether a value is allowed, and what is expected."""


def _number_setting(key: str, value: str, text: str) -> float:
    try:
        number = int(value) if key in {"bins", "k"} else float(value)
    except ValueError:
        raise MeasureError(f"{text!r}: {value!r} is not a number") from None
    allowed, expected = _NUMBERS[key]
    if not allowed(number):
        raise MeasureError(f"{text!r}: {expected}")
    return number
