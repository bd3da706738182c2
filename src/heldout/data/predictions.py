"""Predictions: the true and the predicted values of units, paired by unit id."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.data.words import Floats, Ints
    from heldout.notes import Note

__all__ = [
    "BASELINES",
    "MAJORITY",
    "MEAN",
    "RANDOM",
    "ClassPredictions",
    "NumberPredictions",
    "class_order",
    "one_set_of_classes",
    "positive_number",
    "unit_count",
]

MAJORITY: Final = "(majority class)"
RANDOM: Final = "(random by shares)"
MEAN: Final = "(mean)"
BASELINES: Final = (MAJORITY, RANDOM, MEAN)
"""The names of the baselines that heldout adds."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassPredictions:
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

    def __post_init__(self) -> None:
        _refuse_repeated(self)
        if len(self.classes) != len(set(self.classes)):
            raise InputError(f"{self.name}: a class appears twice")
        if self.predicted is None and self.scores is None:
            raise InputError(f"{self.name}: expected predictions or scores, got neither")

    def select(self, rows: Sequence[int] | Ints) -> ClassPredictions:
        """Return the predictions for some units."""
        at = np.asarray(rows, np.int64)
        return replace(
            self,
            truth=self.truth[at],
            predicted=None if self.predicted is None else self.predicted[at],
            scores=None if self.scores is None else self.scores[at],
            **_chosen(self, at),
        )

    def with_classes(self, classes: Sequence[str]) -> ClassPredictions:
        """Return the same predictions with more classes, or with classes in another order."""
        number = {name: code for code, name in enumerate(classes)}
        places = np.array([number[name] for name in self.classes], np.int64)
        scores = None
        if self.scores is not None:
            absent = [name for name in classes if name not in self.classes]
            if absent and not self.probabilities:
                raise InputError(f"{self.name}: no scores for class {absent[0]}")
            scores = np.zeros((len(self.units), len(classes)))
            scores[:, places] = self.scores
        return replace(
            self,
            classes=tuple(classes),
            truth=places[self.truth],
            predicted=None if self.predicted is None else places[self.predicted],
            scores=scores,
        )


@dataclass(frozen=True, slots=True, eq=False)
class NumberPredictions:
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

    def __post_init__(self) -> None:
        _refuse_repeated(self)

    def select(self, rows: Sequence[int] | Ints) -> NumberPredictions:
        """Return the predictions for some units."""
        at = np.asarray(rows, np.int64)
        return replace(
            self, truth=self.truth[at], predicted=self.predicted[at], **_chosen(self, at)
        )


def _chosen(given: ClassPredictions | NumberPredictions, at: Ints) -> dict[str, Any]:
    """Return the fields of some units other than truth and prediction."""
    found: dict[str, Any] = {
        name: tuple(map(column.__getitem__, at.tolist())) if column else ()
        for name in ("units", "folds", "groups", "repeats")
        for column in (getattr(given, name),)
    }
    found["weights"] = None if given.weights is None else given.weights[at]
    return found


def _refuse_repeated(given: ClassPredictions | NumberPredictions) -> None:
    """Raise an error if a unit appears twice (in the same repeat, if there are repeats)."""
    if not given.repeats and len(set(given.units)) == len(given.units):
        return
    keys: list[tuple[str, ...]] = [(unit,) for unit in given.units]
    if given.repeats:
        keys = list(zip(given.units, given.repeats, strict=True))
    if len(set(keys)) == len(keys):
        return
    again = next(key for key, count in Counter(keys).items() if count > 1)
    within = f" in repeat {again[1]}" if given.repeats else ""
    raise InputError(f"{given.name} has unit {again[0]} twice{within}")


def unit_count(given: ClassPredictions | NumberPredictions) -> int:
    """Return the number of distinct units; a unit may be in several repeats."""
    return len(set(given.units)) if given.repeats else len(given.units)


def class_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return classes in order: numerically if all are numbers, else alphabetically.

    Examples
    --------
    >>> class_order(["10", "9"]), class_order(["spam", "ham"])
    (('9', '10'), ('ham', 'spam'))
    """
    different = set(names)
    try:
        return tuple(sorted(different, key=lambda name: (float(name), name)))
    except ValueError:
        return tuple(sorted(different))


def one_set_of_classes(several: Sequence[ClassPredictions]) -> list[ClassPredictions]:
    """Return the same predictions, each with the classes of all of them."""
    classes = class_order(name for one in several for name in one.classes)
    return [one if one.classes == classes else one.with_classes(classes) for one in several]


def positive_number(classes: Sequence[str], positive: str | None) -> int:
    """Return the number of the positive class: by default the last one."""
    if positive is None:
        return len(classes) - 1
    if positive not in classes:
        raise InputError(
            f"positive={positive!r}: no such class; the classes are {', '.join(classes)}"
        )
    return list(classes).index(positive)
