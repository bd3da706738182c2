"""Predictions: the truth and what systems said about it, one unit a row, paired by unit id."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import FormatError, InputError

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
"""The names of the baselines that heldout adds, in scores and in what experiments write."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassPredictions:
    """What one system said about the class of each unit.

    Parameters
    ----------
    name
        The system.
    units
        Their ids; all different.
    classes
        The names of all classes, in order.
    truth
        The number of the class of each unit.
    predicted
        The number of the class that was predicted; None if there are only scores.
    scores
        One row a unit, one column a class; None if there are only predictions.
    probabilities
        Whether the scores are probabilities, which add up to 1.
    weights
        How much each unit counts; None: all the same.
    folds, groups
        Of each unit; empty if not known.
    places
        Where each unit stands, as ``file:line``; empty if in no file.
    notes
        What a reader should know.
    repeats
        Of each unit, where a cross-validation, a hold-out or a run was repeated: a unit may then
        stand once in each; empty if nothing was.
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
    places: Sequence[str] = ()
    notes: tuple[Note, ...] = ()
    repeats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _refuse_repeated(self)
        if len(self.classes) != len(set(self.classes)):
            raise InputError(f"{self.name}: a class stands twice")
        if self.predicted is None and self.scores is None:
            raise InputError(f"{self.name}: neither predictions nor scores")

    def select(self, rows: Sequence[int] | Ints) -> ClassPredictions:
        """The same of some units only."""
        at = np.asarray(rows, np.int64)
        return replace(
            self,
            truth=self.truth[at],
            predicted=None if self.predicted is None else self.predicted[at],
            scores=None if self.scores is None else self.scores[at],
            **_chosen(self, at),
        )

    def with_classes(self, classes: Sequence[str]) -> ClassPredictions:
        """The same with more classes, or in another order."""
        number = {name: at for at, name in enumerate(classes)}
        places = np.array([number[name] for name in self.classes], np.int64)
        scores = None
        if self.scores is not None:
            absent = [name for name in classes if name not in self.classes]
            if absent and not self.probabilities:
                raise InputError(f"{self.name}: no scores of class {absent[0]}")
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
    """What one system said about the number of each unit.

    Parameters
    ----------
    name
        The system.
    units
        Their ids; all different.
    truth, predicted
        Finite numbers, one a unit.
    weights, folds, groups, places, notes, repeats
        As for `ClassPredictions`.
    """

    name: str
    units: tuple[str, ...]
    truth: Floats
    predicted: Floats
    weights: Floats | None = None
    folds: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    places: Sequence[str] = ()
    notes: tuple[Note, ...] = ()
    repeats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _refuse_repeated(self)

    def select(self, rows: Sequence[int] | Ints) -> NumberPredictions:
        """The same of some units only."""
        at = np.asarray(rows, np.int64)
        return replace(
            self, truth=self.truth[at], predicted=self.predicted[at], **_chosen(self, at)
        )


def _chosen(given: ClassPredictions | NumberPredictions, at: Ints) -> dict[str, Any]:
    """What is known about some units beside truth and prediction."""
    found: dict[str, Any] = {
        name: tuple(map(column.__getitem__, at.tolist())) if column else ()
        for name in ("units", "folds", "groups", "repeats")
        for column in (getattr(given, name),)
    }
    from heldout.data.io.table import Places  # readers of tables, which rankings do without

    places = given.places
    if isinstance(places, Places):
        found["places"] = places.select(at)
    else:
        found["places"] = tuple(places[one] for one in at.tolist()) if places else ()
    found["weights"] = None if given.weights is None else given.weights[at]
    return found


def _refuse_repeated(given: ClassPredictions | NumberPredictions) -> None:
    """Refuse a unit that stands twice, in the same repeat if there are any."""
    if not given.repeats and len(set(given.units)) == len(given.units):
        return
    keys: list[tuple[str, ...]] = [(unit,) for unit in given.units]
    if given.repeats:
        keys = list(zip(given.units, given.repeats, strict=True))
    if len(set(keys)) == len(keys):
        return
    again = next(one for one, count in Counter(keys).items() if count > 1)
    first, second = [at for at, one in enumerate(keys) if one == again][:2]
    within = f" in repeat {again[1]}" if given.repeats else ""
    said = f"{given.name} has unit {again[0]} twice{within}"
    if given.places:
        hint = "" if given.repeats else "; a column repeat tells repetitions apart"
        raise FormatError(given.places[second], f"{said} (first in {given.places[first]}){hint}")
    raise InputError(said)


def unit_count(given: ClassPredictions | NumberPredictions) -> int:
    """How many different units there are; in several repeats each of them is the same."""
    return len(set(given.units)) if given.repeats else len(given.units)


def class_order(names: Iterable[str]) -> tuple[str, ...]:
    """Classes in order: as numbers if all are numbers, else as texts.

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
    """The same predictions, all with the classes of all of them."""
    classes = class_order(name for one in several for name in one.classes)
    return [one if one.classes == classes else one.with_classes(classes) for one in several]


def positive_number(classes: Sequence[str], positive: str | None) -> int:
    """The number of the positive class: by default the last one."""
    if positive is None:
        return len(classes) - 1
    if positive not in classes:
        raise InputError(f"no class {positive!r} to be positive; there are {', '.join(classes)}")
    return list(classes).index(positive)
