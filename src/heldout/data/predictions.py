"""Predictions: the true and the predicted values of units, paired by unit id."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from heldout.data.words import Floats, Ints
    from heldout.notes import Note

MAJORITY: Final = "(majority class)"
RANDOM: Final = "(random by shares)"
MEAN: Final = "(mean)"
BASELINES: Final = (MAJORITY, RANDOM, MEAN)  # that heldout adds


class _Predictions:
    """What predictions of classes and of numbers have in common."""

    __slots__ = ()
    name: str
    units: tuple[str, ...]
    repeats: tuple[str, ...]

    def __post_init__(self) -> None:
        refuse_repeated(self.name, self.units, self.repeats)

    def select(self, rows: Sequence[int] | Ints) -> Self:
        """Return the predictions for some units."""
        places = np.asarray(rows, np.int64)
        chosen: dict[str, Any] = {}
        columns = "units folds groups repeats truth predicted scores weights"
        for name in columns.split():
            column = getattr(self, name, None)
            if isinstance(column, np.ndarray):
                chosen[name] = column[places]
            elif column:
                chosen[name] = tuple(map(column.__getitem__, places.tolist()))
        return replace(self, **chosen)  # type: ignore[type-var]


@dataclass(frozen=True, slots=True, eq=False)
class ClassPredictions(_Predictions):
    """The classes that one system predicts.

    Parameters
    ----------
    name
        The name of the system.
    units
        The ids of the units; all different.
    classes
        The names of all classes, in order.
    truth
        The number of the true class of each unit.
    predicted
        The number of the predicted class of each unit; None if there are only scores.
    scores
        One row per unit, one column per class; None if there are only predictions.
    probabilities
        Whether the scores are probabilities, which add up to 1.
    weights
        The weight of each unit; None: all equal.
    folds, groups
        The fold and the group of each unit; empty if unknown.
    notes
        Warnings and remarks about the predictions.
    repeats
        The repetition (of a cross-validation, a hold-out or a run) of each prediction, in which a
        unit may appear once; empty if nothing was repeated.
    positive
        The positive class of two, for measures that need one; None: the last.
    """

    name: str
    units: tuple[str, ...]
    classes: tuple[str, ...]
    truth: Ints
    predicted: Ints | None
    scores: Floats | None = None
    probabilities: bool = False
    weights: Floats | None = None
    folds: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    repeats: tuple[str, ...] = ()
    positive: str | None = None

    def __post_init__(self) -> None:
        _Predictions.__post_init__(self)
        if len(self.classes) != len(set(self.classes)):
            raise InputError(f"{self.name}: a class appears twice")
        if self.predicted is None and self.scores is None:
            raise InputError(f"{self.name}: expected predictions or scores, got neither")

    def class_number(self, name: str | None = None) -> int:
        """Return the number of a class: the named one, else the positive one."""
        return positive_number(self.classes, name or self.positive)


@dataclass(frozen=True, slots=True, eq=False)
class NumberPredictions(_Predictions):
    """The numbers that one system predicts.

    Parameters
    ----------
    name
        The name of the system.
    units
        The ids of the units; all different.
    truth, predicted
        Finite numbers, one per unit.
    weights, folds, groups, notes, repeats
        As for `ClassPredictions`.
    """

    name: str
    units: tuple[str, ...]
    truth: Floats
    predicted: Floats
    weights: Floats | None = None
    folds: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    repeats: tuple[str, ...] = ()


def refuse_repeated(
    name: str,
    units: tuple[str, ...],
    repeats: tuple[str, ...],
    place: Callable[[int], str] | None = None,
) -> None:
    """Raise an error if a unit appears twice, in the same repeat if there are repeats."""
    keys: Sequence[Any] = list(zip(units, repeats, strict=True)) if repeats else units
    if len(set(keys)) == len(keys):
        return
    rows: dict[Any, int] = {}
    first, second = next(
        (rows[key], row) for row, key in enumerate(keys) if rows.setdefault(key, row) < row
    )
    within = f" in repeat {repeats[second]}" if repeats else ""
    what = f"{name} has unit {units[second]} twice{within}"
    if place is None:
        raise InputError(what)
    hint = "" if repeats else "; number repetitions in a column named repeat"
    raise FormatError(place(second), f"{what} (first in {place(first)}){hint}")


def unit_count(given: _Predictions) -> int:
    """Return the number of distinct units; a unit may be in several repeats."""
    return len(set(given.units)) if given.repeats else len(given.units)


def class_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return classes in order: numerically if all are numbers, else alphabetically."""
    different = set(names)
    try:
        return tuple(sorted(different, key=lambda name: (float(name), name)))
    except ValueError:
        return tuple(sorted(different))


def one_set_of_classes(several: Sequence[ClassPredictions]) -> list[ClassPredictions]:
    """Return the same predictions, each with the classes of all of them."""
    classes = class_order(name for system in several for name in system.classes)
    return [_with_classes(system, classes) for system in several]


def _with_classes(given: ClassPredictions, classes: tuple[str, ...]) -> ClassPredictions:
    if given.classes == classes:
        return given
    places = np.array([classes.index(name) for name in given.classes], np.int64)
    scores = None
    if given.scores is not None:
        absent = [name for name in classes if name not in given.classes]
        if absent and not given.probabilities:
            raise InputError(f"{given.name}: no scores for class {absent[0]}")
        scores = np.zeros((len(given.units), len(classes)))
        scores[:, places] = given.scores
    predicted = None if given.predicted is None else places[given.predicted]
    truth = places[given.truth]
    return replace(given, classes=classes, truth=truth, predicted=predicted, scores=scores)


def positive_number(classes: Sequence[str], positive: str | None) -> int:
    """Return the number of the positive class: by default the last one."""
    if positive is None:
        return len(classes) - 1
    if positive not in classes:
        raise InputError(
            f"no such class; the classes are {', '.join(classes)}",
            argument="positive",
            value=positive,
        )
    return list(classes).index(positive)
