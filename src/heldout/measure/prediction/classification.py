"""Measures of a confusion matrix; a division by 0 gives `Undefined`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.errors import InputError, MeasureError
from heldout.measure.undefined import Number, Undefined, defined_or, mean_of, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats

__all__ = [
    "Average",
    "ClassRow",
    "Confusion",
    "balanced_accuracy",
    "class_rows",
    "f_measure",
    "fp_rate",
    "kappa",
    "majority_baseline",
    "matthews",
    "precision",
    "random_baseline",
    "recall",
    "specificity",
]

Average = Literal["macro", "micro", "weighted"]
"""Over classes: equal weights; pooled counts; weighted by the number of units."""


NEVER_PREDICTED: Final = "it was never predicted"
NO_UNIT: Final = "it has no units"


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """A confusion matrix.

    Parameters
    ----------
    classes
        Their names, in the order of rows and columns.
    counts
        One row per true class, one column per predicted class; sums of weights if units have
        weights.

    Examples
    --------
    >>> table = Confusion(("yes", "no"), [[80, 20], [5, 195]])
    >>> round(table.accuracy, 3), round(table.error, 3)
    (0.917, 0.083)
    """

    classes: tuple[str, ...]
    counts: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(map(str, self.classes)))
        counts = np.array(self.counts, np.float64)
        size = len(self.classes)
        if counts.shape != (size, size):
            raise InputError(f"counts: shape {counts.shape}, expected {size} rows and columns")
        if not np.isfinite(counts).all() or (counts < 0).any() or not counts.sum():
            raise InputError("counts: expected non-negative numbers, and at least one unit")
        counts.flags.writeable = False
        object.__setattr__(self, "counts", counts)

    @property
    def total(self) -> float:
        """The number of units."""
        return float(self.counts.sum())

    @property
    def accuracy(self) -> float:
        """The share of correct units; equals micro precision, recall and F1."""
        return float(np.trace(self.counts)) / self.total

    @property
    def error(self) -> float:
        """The share of wrong units."""
        # Not 1 - accuracy, which differs in the last digits.
        return float(self.counts.sum() - np.trace(self.counts)) / self.total

    def index(self, name: str) -> int:
        """Return the index of a class."""
        if name not in self.classes:
            raise InputError(f"no class {name!r}; there are {', '.join(self.classes)}")
        return self.classes.index(name)

    def cells(self, name: str) -> Cells:
        """Return the four counts of one class against all others."""
        at = self.index(name)
        hits = float(self.counts[at, at])
        missed = float(self.counts[at].sum()) - hits
        false = float(self.counts[:, at].sum()) - hits
        return Cells(hits, missed, false, self.total - hits - missed - false)


class Cells(NamedTuple):
    """True positives, false negatives, false positives and true negatives of a class."""

    tp: float
    fn: float
    fp: float
    tn: float


class ClassRow(NamedTuple):
    """The measures of one class against all others.

    Parameters
    ----------
    name
        The class.
    units
        Number of units that belong to it.
    precision, recall, specificity, fp_rate, f
        Its measures; `f` with the given β.
    """

    name: str
    units: float
    precision: Number
    recall: Number
    specificity: Number
    fp_rate: Number
    f: Number


def _precision(cells: Cells) -> Number:
    return ratio(cells.tp, cells.tp + cells.fp, NEVER_PREDICTED)


def _recall(cells: Cells) -> Number:
    return ratio(cells.tp, cells.tp + cells.fn, NO_UNIT)


def _f(cells: Cells, beta: float) -> Number:
    """Return (1+β²)PR/(β²P+R); undefined where P or R is, though the counts alone would give 0."""
    for part in (_precision(cells), _recall(cells)):
        if isinstance(part, Undefined):
            return part
    square = beta * beta
    return float((1 + square) * cells.tp / ((1 + square) * cells.tp + square * cells.fn + cells.fp))


def _check_beta(beta: float) -> None:
    if not (math.isfinite(beta) and beta > 0):
        raise MeasureError(f"beta={beta}: expected a positive number; 1 weights P and R equally")


def class_rows(
    table: Confusion, beta: float = 1.0, undefined: float | None = None
) -> tuple[ClassRow, ...]:
    """Return the measures of every class.

    Parameters
    ----------
    table
        The confusion matrix.
    beta
        Weight of recall relative to precision in F.
    undefined
        Value of undefined precision, recall and F; None: `Undefined`.

    Examples
    --------
    >>> row = class_rows(Confusion(("yes", "no"), [[80, 20], [5, 195]]))[0]
    >>> round(row.precision, 3), row.recall, row.fp_rate, round(row.f, 3)
    (0.941, 0.8, 0.025, 0.865)
    """
    _check_beta(beta)
    found = []
    for name in table.classes:
        cells = table.cells(name)
        others = cells.fp + cells.tn
        found.append(
            ClassRow(
                name,
                cells.tp + cells.fn,
                defined_or(_precision(cells), undefined),
                defined_or(_recall(cells), undefined),
                ratio(cells.tn, others, "it has all units"),
                ratio(cells.fp, others, "it has all units"),
                defined_or(_f(cells, beta), undefined),
            )
        )
    return tuple(found)


def _averaged(
    table: Confusion, average: str, field: str, undefined: float | None, beta: float = 1.0
) -> Number:
    if average not in get_args(Average):
        raise MeasureError(f"average={average!r}: expected {', '.join(get_args(Average))}")
    if average == "micro":  # every error is one false positive and one false negative
        return table.accuracy
    rows = class_rows(table, beta, undefined)
    weights = [row.units for row in rows] if average == "weighted" else None
    return mean_of([getattr(row, field) for row in rows], table.classes, weights)


def precision(
    table: Confusion, average: Average = "macro", *, undefined: float | None = None
) -> Number:
    """Return the precision over classes; undefined if a class with weight was never predicted.

    Parameters
    ----------
    table, average, undefined
        As for `f_measure`.
    """
    return _averaged(table, average, "precision", undefined)


def recall(
    table: Confusion, average: Average = "macro", *, undefined: float | None = None
) -> Number:
    """Return the recall over classes; undefined if a class with weight has no unit.

    Parameters
    ----------
    table, average, undefined
        As for `f_measure`.
    """
    return _averaged(table, average, "recall", undefined)


def f_measure(
    table: Confusion,
    average: Average = "macro",
    beta: float = 1.0,
    *,
    undefined: float | None = None,
) -> Number:
    """Return the mean over classes of F = (1+β²)PR/(β²P+R).

    Parameters
    ----------
    table
        The confusion matrix.
    average
        How classes are averaged.
    beta
        Weight of recall relative to precision.
    undefined
        Value of a class for which F is undefined (``zero_division`` of scikit-learn); None: the
        mean is then undefined, too.

    Examples
    --------
    >>> never = Confusion(("yes", "no"), [[0, 100], [0, 200]])
    >>> print(f_measure(never), f_measure(never, undefined=0))
    — 0.4
    """
    return _averaged(table, average, "f", undefined, beta)


def specificity(
    table: Confusion, average: Average = "macro", *, undefined: float | None = None
) -> Number:
    """Return the specificity over classes: the share of other units that was not predicted so.

    Parameters
    ----------
    table, undefined
        As for `f_measure`; undefined for a class that has all units.
    average
        How classes are averaged; ``micro`` pools their counts.

    Examples
    --------
    >>> specificity(Confusion(("a", "b", "c"), [[2, 0, 0], [1, 1, 0], [0, 0, 1]]), "micro")
    0.9
    """
    return _over_classes(table, average, "specificity", undefined)


def fp_rate(
    table: Confusion, average: Average = "macro", *, undefined: float | None = None
) -> Number:
    """Return the false-positive rate over classes: the share of other units predicted so.

    Parameters
    ----------
    table, average, undefined
        As for `specificity`.
    """
    return _over_classes(table, average, "fp_rate", undefined)


def _over_classes(table: Confusion, average: str, field: str, undefined: float | None) -> Number:
    if average == "micro":
        cells = [table.cells(name) for name in table.classes]
        wrong, right = sum(cell.fp for cell in cells), sum(cell.tn for cell in cells)
        above = wrong if field == "fp_rate" else right
        return defined_or(ratio(above, wrong + right, "there is one class"), undefined)
    rows = class_rows(table)
    weights = [row.units for row in rows] if average == "weighted" else None
    values = [defined_or(getattr(row, field), undefined) for row in rows]
    return mean_of(values, table.classes, weights)


def balanced_accuracy(table: Confusion) -> Number:
    """Return the mean accuracy of the classes that have units.

    Examples
    --------
    >>> round(balanced_accuracy(Confusion(("yes", "no"), [[80, 20], [5, 195]])), 4)
    0.8875
    """
    rows = [row for row in class_rows(table) if row.units]
    return mean_of([row.recall for row in rows], [row.name for row in rows])


def matthews(table: Confusion) -> Number:
    """Return Matthews' correlation coefficient, for two or more classes (Gorodkin 2004).

    Undefined if all units belong to one class or are predicted as one class, where scikit-learn
    returns 0.
    """
    true, guessed = table.counts.sum(axis=1), table.counts.sum(axis=0)
    # Shares instead of counts: products of large counts would lose digits.
    total = table.total
    true, guessed, right = true / total, guessed / total, table.accuracy
    spread_true = 1.0 - float((true**2).sum())
    spread_guessed = 1.0 - float((guessed**2).sum())
    if np.count_nonzero(true) < 2:
        return Undefined("all units are of one class")
    if np.count_nonzero(guessed) < 2:
        return Undefined("one class was predicted for all units")
    return (right - float(true @ guessed)) / math.sqrt(spread_true * spread_guessed)


def disagreement(classes: Sequence[str], weights: str) -> Floats:
    """Return how far apart classes are in weighted kappa: 0 on the diagonal.

    Parameters
    ----------
    classes
        Their names, in order; names that are all numbers are ordered by number.
    weights
        ``linear`` or ``quadratic``; empty: all different classes are equally far apart.
    """
    try:
        place = np.argsort(np.argsort([float(name) for name in classes], kind="stable"))
    except ValueError:
        place = np.arange(len(classes))
    apart: Floats = np.abs(place[:, None] - place[None]).astype(np.float64)
    if weights == "quadratic":
        apart = apart**2
    return apart if weights else np.minimum(apart, 1.0)


def kappa(table: Confusion, weights: str = "") -> Number:
    """Return Cohen's kappa: agreement beyond chance.

    Parameters
    ----------
    table
        The confusion matrix.
    weights
        ``linear`` or ``quadratic``: errors count more the farther apart the classes are (ordered
        as they are, or by number).

    Examples
    --------
    >>> table = Confusion(("1", "2", "3"), [[5, 1, 0], [1, 5, 1], [2, 0, 5]])
    >>> round(kappa(table), 4), round(kappa(table, "quadratic"), 4)
    (0.6269, 0.5956)
    """
    true, guessed = table.counts.sum(axis=1), table.counts.sum(axis=0)
    if weights:
        apart = disagreement(table.classes, weights)
        by_chance = float(true @ apart @ guessed) / table.total
        if not by_chance:
            return Undefined("all units are of one class, and it was predicted for all of them")
        return 1.0 - float((apart * table.counts).sum()) / by_chance
    by_chance = float((true / table.total) @ (guessed / table.total))
    one = np.count_nonzero(true) == 1 and np.count_nonzero(guessed) == 1
    if one and by_chance:
        return Undefined("all units are of one class, and it was predicted for all of them")
    return (table.accuracy - by_chance) / (1.0 - by_chance)


def majority_baseline(table: Confusion) -> Confusion:
    """Return the confusion matrix of predicting the most frequent class for every unit.

    Ties go to the first class.

    Examples
    --------
    >>> base = majority_baseline(Confusion(("yes", "no"), [[80, 20], [5, 195]]))
    >>> round(base.accuracy, 3), class_rows(base)[0].precision
    (0.667, Undefined(reason='it was never predicted'))
    """
    true = table.counts.sum(axis=1)
    counts = np.zeros_like(table.counts)
    counts[:, int(np.argmax(true))] = true
    return Confusion(table.classes, counts)


def random_baseline(table: Confusion) -> Confusion:
    """Return the expected confusion matrix of random predictions by class shares (stratified).

    It is the expectation itself and does not depend on a seed.
    """
    true = table.counts.sum(axis=1)
    return Confusion(table.classes, np.outer(true, true / table.total))
