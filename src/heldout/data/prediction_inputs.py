"""Predictions and texts from Python: objects, arrays, dictionaries or paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.ids import as_id
from heldout.data.prediction_files import read_class_predictions, read_number_predictions
from heldout.data.predictions import (
    ClassPredictions,
    NumberPredictions,
    class_order,
    positive_number,
)
from heldout.data.segments import Segments, read_hypotheses, read_references
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints

__all__ = ["as_predictions", "as_references", "as_systems", "is_path", "listed"]

SURE: Final = 1e-6
"""Rows that add up to 1 within this tolerance are probabilities."""


def is_path(given: object) -> bool:
    """Return whether this is the path of a file."""
    return isinstance(given, str | os.PathLike)


def listed(given: Any) -> list[Any]:
    """Return the systems as a list: one, several, or the values of ``{name: system}``."""
    if isinstance(given, Mapping):
        return list(given.values())
    if is_path(given) or not isinstance(given, Iterable) or hasattr(given, "dtype"):
        return [given]
    return list(given)


def as_predictions(
    truth: Any, given: Any, task: str, positive: str | None = None, threshold: float | None = None
) -> list[Any]:
    """Return predictions as one object per system.

    Parameters
    ----------
    truth
        One class or number per unit: a list, an array, a column of a frame, or ``{unit: truth}``;
        None if the predictions include it.
    given
        `ClassPredictions` or `NumberPredictions`, or paths of their files; or values in the form
        of the truth, of one system or as ``{system: values}``. For classes, values may be scores:
        one row per unit and one column per class in order, or for two classes one number per unit,
        the score of the positive one. Scores from 0 to 1 are taken as probabilities.
    task
        ``classification`` or ``regression``.
    positive, threshold
        As for `heldout.read_class_predictions`.
    """
    several = listed(given)
    if several and all(isinstance(one, ClassPredictions | NumberPredictions) for one in several):
        return several
    if truth is None:
        return _from_files(several, task, positive, threshold)
    named = given if _is_named(truth, given) else {"system": given}
    return [_of_values(str(name), truth, one, task, positive) for name, one in named.items()]


def _from_files(several: list[Any], task: str, positive: str | None, threshold: Any) -> list[Any]:
    if not several or not all(map(is_path, several)):
        raise InputError("the truth is missing: give it, or the paths of files with predictions")
    if task == "regression":
        return [one for path in several for one in read_number_predictions(path)]
    return [
        one
        for path in several
        for one in read_class_predictions(path, positive=positive, threshold=threshold)
    ]


def _is_named(truth: Any, given: Any) -> bool:
    """Return whether predictions are ``{system: values}``; ``{unit: value}`` is of one system."""
    if not isinstance(given, Mapping):
        return False
    return not (isinstance(truth, Mapping) and set(map(as_id, given)) == set(map(as_id, truth)))


def _of_values(name: str, truth: Any, given: Any, task: str, positive: str | None) -> Any:
    units, wanted = _units(truth)
    if isinstance(given, Mapping):
        by_unit = {as_id(unit): value for unit, value in given.items()}
        missing = next((unit for unit in units if unit not in by_unit), None)
        if missing is not None:
            raise InputError(f"{name}: no prediction for unit {missing}")
        given = [by_unit[unit] for unit in units]
    values = np.asarray(given)
    if len(values) != len(units):
        raise InputError(f"{name}: {len(values):,} predictions, but {len(units):,} true values")
    if task == "regression":
        return NumberPredictions(name, units, _numbers("truth", wanted), _numbers(name, values))
    labels = _labels(np.asarray(wanted))
    if values.ndim == 2:
        return _scored(name, units, labels, values)
    guesses = _labels(values)
    if values.dtype.kind == "f" and not set(labels).issuperset(guesses):
        return _of_positive(name, units, labels, values, positive)
    classes = class_order([*labels, *guesses])
    return ClassPredictions(name, units, classes, _codes(labels, classes), _codes(guesses, classes))


def _units(truth: Any) -> tuple[tuple[str, ...], Any]:
    if isinstance(truth, Mapping):
        return tuple(map(as_id, truth)), list(truth.values())
    if not isinstance(truth, Iterable) or is_path(truth):
        raise InputError(f"truth: expected one class or number per unit, got {truth!r}")
    values = np.asarray(truth if hasattr(truth, "dtype") else list(truth))
    return tuple(str(at) for at in range(1, len(values) + 1)), values


def _numbers(what: str, values: Any) -> Floats:
    try:
        found: Floats = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{what}: expected numbers; for classes use task='classification'"
        ) from None
    if found.ndim != 1 or not np.isfinite(found).all():
        raise InputError(f"{what}: expected one finite number per unit")
    return found


def _codes(labels: list[str], classes: tuple[str, ...]) -> Ints:
    number = {name: at for at, name in enumerate(classes)}
    return np.array([number[one] for one in labels], np.int64)


def _labels(values: Any) -> list[str]:
    """Return classes as strings; 1 and 1.0 are the same class."""
    return [
        str(int(one)) if isinstance(one, float) and one.is_integer() else str(one)
        for one in values.tolist()
    ]


def _of_positive(
    name: str, units: tuple[str, ...], labels: list[str], values: Floats, positive: str | None
) -> ClassPredictions:
    classes = class_order(labels)
    if len(classes) != 2:
        raise InputError(
            f"{name}: one score per unit works for two classes only, and there are {len(classes)}: "
            "give one column per class"
        )
    if not np.isfinite(values).all():
        raise InputError(f"{name}: a score is not a finite number")
    sure = bool((values >= 0).all() and (values <= 1).all())
    at = positive_number(classes, positive)
    scores = np.empty((len(values), 2))
    scores[:, at], scores[:, 1 - at] = values, 1 - values if sure else -values
    # A score that is not a probability has no natural threshold.
    guesses = scores.argmax(axis=1) if sure else None
    truth = _codes(labels, classes)
    return ClassPredictions(name, units, classes, truth, guesses, scores, probabilities=sure)


def _scored(name: str, units: tuple[str, ...], labels: list[str], values: Any) -> ClassPredictions:
    classes, scores = class_order(labels), np.asarray(values, np.float64)
    if scores.shape[1] != len(classes):
        raise InputError(
            f"{name}: {scores.shape[1]} columns of scores, but there are {len(classes)} classes "
            f"({', '.join(classes[:5])}): expected one column per class, in this order"
        )
    sure = bool((scores >= 0).all() and np.allclose(scores.sum(axis=1), 1, rtol=0, atol=SURE))
    truth, guesses = _codes(labels, classes), scores.argmax(axis=1)
    return ClassPredictions(name, units, classes, truth, guesses, scores, probabilities=sure)


def as_references(given: Any) -> Segments | None:
    """Return references from `Segments`, a list of texts or of lists of texts, or a path."""
    if given is None or isinstance(given, Segments):
        return given
    return read_references(given) if is_path(given) else Segments.of(list(given))


def as_systems(given: Any) -> list[Segments]:
    """Return the texts of systems from `Segments`, paths, lists, or ``{system: any of these}``."""
    if isinstance(given, Mapping):
        return [_written(one, str(name)) for name, one in given.items()]
    if isinstance(given, Segments) or is_path(given):
        return [_written(given)]
    several = list(given)
    if several and all(isinstance(one, str) for one in several):
        return [_written(several)]
    return [_written(one) for one in several]


def _written(given: Any, name: str | None = None) -> Segments:
    if isinstance(given, Segments):
        return given
    if is_path(given):
        return read_hypotheses(given, name)
    return Segments.of(list(given), name or "system")
