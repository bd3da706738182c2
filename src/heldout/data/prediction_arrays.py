"""Predictions given as arrays: the truth, and what each system said, in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.predictions import (
    ClassPredictions,
    NumberPredictions,
    class_order,
    positive_number,
)
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Floats

__all__ = ["class_predictions", "number_predictions"]


def number_predictions(truth: Any, systems: Mapping[str, Any]) -> list[NumberPredictions]:
    """Numbers that systems predicted.

    Parameters
    ----------
    truth
        One number per unit.
    systems
        By name, the numbers that each system predicted, in the same order.

    Examples
    --------
    >>> [found] = number_predictions([1, 2, 3], {"A": [1, 2, 4]})
    >>> found.name, found.units, found.predicted.tolist()
    ('A', ('1', '2', '3'), [1.0, 2.0, 4.0])
    """
    true = _numbers(truth, "the truth")
    units = _units(len(true))
    found = []
    for name, given in systems.items():
        predicted = _numbers(_as_long(given, name, len(true)), name)
        found.append(NumberPredictions(str(name), units, true, predicted))
    return found


def class_predictions(
    truth: Any, systems: Mapping[str, Any], positive: str | None = None
) -> list[ClassPredictions]:
    """Classes that systems predicted.

    Parameters
    ----------
    truth
        The class of each unit.
    systems
        By name, in the same order: the classes that each system predicted; or scores, one row per
        unit and one column per class, the classes sorted as scikit-learn sorts them; or, of two
        classes, one score of the positive one per unit. Scores from 0 to 1 that add up to 1 are
        probabilities.
    positive
        The positive one of two classes; by default the last.

    Examples
    --------
    >>> one, two = class_predictions(["no", "yes"], {"A": ["no", "no"], "B": [0.3, 0.9]})
    >>> one.classes, one.predicted.tolist(), two.predicted.tolist(), two.probabilities
    (('no', 'yes'), [0, 0], [0, 1], True)
    """
    true = _labels(_array(truth, "the truth"))
    arrays = {
        str(name): _as_long(_array(given, name), name, len(true)) for name, given in systems.items()
    }
    known = set(true)
    guesses = {
        name: None if _are_scores(array, known) else _labels(array)
        for name, array in arrays.items()
    }
    labels = [label for guess in guesses.values() if guess is not None for label in guess]
    classes = class_order([*true, *labels])
    number = {name: at for at, name in enumerate(classes)}
    codes = np.array([number[label] for label in true], np.int64)
    found = []
    for name, guess in guesses.items():
        if guess is not None:
            predicted = np.array([number[label] for label in guess], np.int64)
            found.append(ClassPredictions(name, _units(len(true)), classes, codes, predicted))
            continue
        scores, probable = _scores(arrays[name], classes, positive, name)
        # A score that is not a probability has no natural threshold.
        several = arrays[name].ndim == 2
        most = scores.argmax(axis=1) if probable or several else None
        units = _units(len(true))
        found.append(ClassPredictions(name, units, classes, codes, most, scores, probable))
    return found


def _units(count: int) -> tuple[str, ...]:
    return tuple(str(at) for at in range(1, count + 1))


def _array(given: Any, what: str) -> NDArray[Any]:
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InputError(f"{what}: not an array ({error})") from None
    if array.ndim not in (1, 2) or not len(array):
        raise InputError(f"{what}: expected one value per unit, got shape {array.shape}")
    return array


def _as_long(given: Any, name: str, count: int) -> Any:
    if len(given) != count:
        raise InputError(f"{name}: {len(given):,} predictions, but the truth has {count:,} units")
    return given


def _numbers(given: Any, what: str) -> Floats:
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: not numbers ({error})") from None
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InputError(f"{what}: expected one finite number per unit")
    return array


def _labels(array: NDArray[Any]) -> list[str]:
    """Classes as texts: 1 and 1.0 are the same one."""
    if array.ndim != 1:
        raise InputError(f"expected one class per unit, got shape {array.shape}")
    return [
        str(int(one)) if isinstance(one, float) and one.is_integer() else str(one)
        for one in array.tolist()
    ]


def _are_scores(array: NDArray[Any], known: set[str]) -> bool:
    if array.ndim == 2:
        return True
    return array.dtype.kind == "f" and not known.issuperset(_labels(array))


def _scores(
    array: NDArray[Any], classes: Sequence[str], positive: str | None, name: str
) -> tuple[Floats, bool]:
    """Scores of all classes, and whether they are probabilities."""
    values = np.asarray(array, np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"{name}: a score is not a finite number")
    within = bool((values >= 0).all() and (values <= 1).all())
    if values.ndim == 1:
        if len(classes) != 2:
            raise InputError(
                f"{name}: one score per unit is for two classes, and there are {len(classes)}: "
                "give one column per class"
            )
        scores = np.empty((len(values), 2))
        at = positive_number(classes, positive)
        scores[:, at] = values
        scores[:, 1 - at] = 1 - values if within else -values
        return scores, within
    if values.shape[1] != len(classes):
        raise InputError(
            f"{name}: {values.shape[1]} columns of scores for {len(classes)} classes "
            f"({', '.join(classes)})"
        )
    return values, within and bool(np.allclose(values.sum(axis=1), 1, atol=1e-6))
