"""Measures of predicted classes, all scores of the same sums: counts of the confusion matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from heldout.measure.agreement import Weights, beyond_chance, distances
from heldout.measure.agreement import confusion as confusion_of
from heldout.measure.base import (
    DEFINITIONS,
    LackingError,
    Means,
    Positive,
    Sums,
    Zero,
    measure,
    quotient,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.predictions import ClassPredictions
    from heldout.data.words import Floats, Ints
    from heldout.measure.base import Measure

Over = Literal["macro", "micro", "weighted"]
"""The average over classes: equal weights; pooled counts; weighted by the number of units."""
Name = str | None
Fill = Zero | None
"""What a class counts as for which a measure is undefined; None: the average is undefined, too."""

WHY: Final = {
    "guessed": "it was never predicted",
    "true": "it has no units",
    "others": "it has all units",
}


class Counts(NamedTuple):
    """Counts of each class (columns) in several sets of units (rows)."""

    hits: Floats
    true: Floats
    guessed: Floats
    others: Floats  # units of other classes
    distance: Floats  # of the predicted from the true class, added over units; one column

    @classmethod
    def of(cls, sums: Floats) -> Counts:
        """Return the counts in sums of the rows of a table."""
        hits, true, guessed = np.split(sums[:, :-1], 3, axis=1)
        return cls(hits, true, guessed, true.sum(axis=1, keepdims=True) - true, sums[:, -1:])


def predicted_classes(given: ClassPredictions) -> Ints:
    """Return the predicted classes; raise an error if there are none."""
    if given.predicted is None:
        raise LackingError("there are scores but no predictions")
    return given.predicted


def confusion(given: ClassPredictions) -> Floats:
    """Return the confusion matrix: a row per true class, a column per predicted class."""
    return confusion_of(given.truth, predicted_classes(given), len(given.classes), given.weights)


def counted(
    given: ClassPredictions,
    score: Callable[[Counts], Floats],
    reason: Callable[[Counts], str],
    apart: Floats | None = None,
) -> Sums:
    """Return a score of counts as one of sums; units in one cell of the matrix are of a kind."""
    size = len(given.classes)
    cell_of_unit = size * given.truth + predicted_classes(given)
    cells = np.flatnonzero(np.bincount(cell_of_unit))  # of a thousand classes, few occur
    true, guessed = np.divmod(cells, size)
    is_true, is_guessed = np.eye(size)[true], np.eye(size)[guessed]
    distance = np.zeros(len(cells)) if apart is None else apart[true, guessed]
    return Sums(
        np.column_stack([is_true * is_guessed, is_true, is_guessed, distance]),
        lambda sums: score(Counts.of(sums)),
        lambda sums: reason(Counts.of(sums)),
        kinds=np.searchsorted(cells, cell_of_unit),
    )


def filled(values: Floats, undefined: float | None) -> Floats:
    """Return values with what undefined ones count as instead of NaN."""
    return values if undefined is None else np.where(np.isnan(values), undefined, values)


def over_classes(  # noqa: C901 - three functions of the same choices
    given: ClassPredictions,
    per_class: Callable[[Counts], Floats],
    needs: str,
    average: Over | None,
    class_: Name,
    undefined: Fill,
) -> Sums:
    """Return a measure of each class against all others, averaged or of one class.

    A class is undefined where one of the counts that the measure `needs` is 0, even if its formula
    would give a number there.
    """
    if class_ is None and average is None and len(given.classes) > 2 and given.positive is None:
        raise LackingError("with several classes, name one (class=NAME) or an average (macro)")
    number = None if class_ is None and average else given.class_number(class_)
    reasons = {need: WHY[need] for need in needs.split()}

    def values(counts: Counts) -> Floats:
        possible = np.all([getattr(counts, need) > 0 for need in reasons], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return filled(np.where(possible, per_class(counts), np.nan), undefined)

    def score(counts: Counts) -> Floats:
        if number is not None:
            return values(counts)[:, number]
        if average == "micro":
            pooled = Counts(*(count.sum(axis=1, keepdims=True) for count in counts))
            return values(pooled)[:, 0]
        if average == "macro":
            mean: Floats = values(counts).mean(axis=1)
            return mean
        # A class without units has no weight, so that it does not matter whether it is defined.
        weighted = np.where(counts.true > 0, counts.true * values(counts), 0.0).sum(axis=1)
        return quotient(weighted, counts.true.sum(axis=1))

    def reason(counts: Counts) -> str:
        if average == "micro" and number is None:
            return "there is one class"
        for code, name in enumerate(given.classes):
            lacking = [why for need, why in reasons.items() if not getattr(counts, need)[0, code]]
            if lacking and number == code:
                return lacking[0]
            if lacking and number is None and (average == "macro" or counts.true[0, code]):
                return f"class {name}: {lacking[0]}"
        return "there are no units"

    return counted(given, score, reason)


@measure("accuracy", "classification", aliases=("accuracy_score",))
def accuracy(given: ClassPredictions) -> Means:
    """Share of correct predictions.

    Formula: Σ [p = y] / n
    """
    return Means((given.truth == predicted_classes(given)).astype(np.float64))


@measure("error", "classification", aliases=("zero_one_loss",), higher_is_better=False)
def error(given: ClassPredictions) -> Means:
    """Share of wrong predictions.

    Formula: Σ [p ≠ y] / n
    """
    return Means((given.truth != predicted_classes(given)).astype(np.float64))


@measure("balanced-accuracy", "classification", aliases=("balanced_accuracy_score",))
def balanced_accuracy(given: ClassPredictions) -> Sums:
    """Mean recall of the classes that have units.

    Formula: mean over classes of TP / (TP + FN)
    """

    def score(counts: Counts) -> Floats:
        recalls = np.nan_to_num(quotient(counts.hits, counts.true))
        return quotient(recalls.sum(axis=1), (counts.true > 0).sum(axis=1))

    return counted(given, score, lambda _: "there are no units")


@measure("precision", "classification", aliases=("precision_score",), shown=("average",))
def precision(
    given: ClassPredictions, *, average: Over = "macro", class_: Name = None, undefined: Fill = None
) -> Sums:
    """Share of the units predicted as a class that belong to it.

    Formula: TP / (TP + FP)
    """
    return over_classes(given, lambda c: c.hits / c.guessed, "guessed", average, class_, undefined)


@measure("recall", "classification", aliases=("recall_score",), shown=("average",))
def recall(
    given: ClassPredictions, *, average: Over = "macro", class_: Name = None, undefined: Fill = None
) -> Sums:
    """Share of the units of a class that were predicted as it.

    Formula: TP / (TP + FN)
    """
    return over_classes(given, lambda c: c.hits / c.true, "true", average, class_, undefined)


@measure("F", "classification", shown=("beta", "average"))
def f_measure(
    given: ClassPredictions,
    *,
    beta: Positive = 1.0,
    average: Over = "macro",
    class_: Name = None,
    undefined: Fill = None,
) -> Sums:
    """Weighted harmonic mean of precision and recall; beta weights recall.

    Formula: (1 + β²) TP / ((1 + β²) TP + β² FN + FP)
    """
    square = beta * beta

    def of_class(counts: Counts) -> Floats:
        return (1 + square) * counts.hits / (square * counts.true + counts.guessed)

    return over_classes(given, of_class, "guessed true", average, class_, undefined)


@measure("F1", "classification", aliases=("f1_score",), shown=("average",))
def f1(
    given: ClassPredictions, *, average: Over = "macro", class_: Name = None, undefined: Fill = None
) -> Sums:
    """Harmonic mean of precision and recall.

    Formula: 2 TP / (2 TP + FN + FP)
    """
    return f_measure(given, average=average, class_=class_, undefined=undefined)


@measure("specificity", "classification", shown=("average",))
def specificity(
    given: ClassPredictions,
    *,
    average: Over | None = None,
    class_: Name = None,
    undefined: Fill = None,
) -> Sums:
    """Share of the units of other classes that were not predicted as the class.

    Formula: TN / (TN + FP)
    """
    return over_classes(given, lambda c: 1 - _fall_out(c), "others", average, class_, undefined)


@measure("FP-rate", "classification", shown=("average",), higher_is_better=False)
def fp_rate(
    given: ClassPredictions,
    *,
    average: Over | None = None,
    class_: Name = None,
    undefined: Fill = None,
) -> Sums:
    """Share of the units of other classes that were predicted as the class.

    Formula: FP / (TN + FP)
    """
    return over_classes(given, _fall_out, "others", average, class_, undefined)


def _fall_out(counts: Counts) -> Floats:
    return (counts.guessed - counts.hits) / counts.others


@measure("MCC", "classification", aliases=("matthews_corrcoef",), bounds=(-1.0, 1.0))
def matthews(given: ClassPredictions, *, undefined: Fill = None) -> Sums:
    """Matthews' correlation of true and predicted classes, for two or more (Gorodkin 2004).

    Formula: (a - Σ t_c q_c) / √((1 - Σ t_c²) (1 - Σ q_c²)); a: accuracy, t and q: true and
    predicted shares
    """

    def score(counts: Counts) -> Floats:
        # Shares, because products of large counts lose digits.
        total = np.broadcast_to(counts.true.sum(axis=1, keepdims=True), counts.true.shape)
        true, guessed = quotient(counts.true, total), quotient(counts.guessed, total)
        above = (quotient(counts.hits, total) - true * guessed).sum(axis=1)
        spread = (1 - (true**2).sum(axis=1)) * (1 - (guessed**2).sum(axis=1))
        several = ((true > 0).sum(axis=1) > 1) & ((guessed > 0).sum(axis=1) > 1)
        return filled(quotient(above, np.where(several, np.sqrt(spread), 0.0)), undefined)

    def reason(counts: Counts) -> str:
        single = np.count_nonzero(counts.true) < 2
        return "all units are of one class" if single else "one class was predicted for all units"

    return counted(given, score, reason)


@measure(
    "kappa",
    "classification",
    aliases=("cohen_kappa", "cohen_kappa_score"),
    bounds=(-1.0, 1.0),
    shown=("weights",),
)
def kappa(
    given: ClassPredictions, *, weights: Weights | None = None, undefined: Fill = None
) -> Sums:
    """Cohen's kappa: agreement beyond chance; with weights, far classes disagree more.

    Formula: 1 - Σ w_ij n_ij / Σ w_ij e_ij; w = [i ≠ j], |i - j| (linear) or (i - j)² (quadratic),
    e: by chance
    """
    try:  # classes are in their order, which is that of the numbers if all are numbers
        places = np.argsort(np.argsort([float(name) for name in given.classes], kind="stable"))
    except ValueError:
        places = np.arange(len(given.classes))
    apart = distances(places, weights)

    def score(counts: Counts) -> Floats:
        value = beyond_chance(counts.distance[:, 0], counts.true, counts.guessed, apart)
        return filled(value, undefined)

    reason = "all units are of one class, and it was predicted for all of them"
    return counted(given, score, lambda _: reason, apart)


def undefined_hint(measured: Measure, reason: str) -> str:
    """Say how to count a class for which a measure is undefined, if that is the reason."""
    is_of_class = reason.endswith((WHY["guessed"], WHY["true"]))
    if not is_of_class or measured.parameters.get("undefined", 0) == 0:
        return ""
    definition = DEFINITIONS["classification", measured.family]
    counted = definition.make({**measured.parameters, "undefined": 0})
    return f"; {counted} counts such a class as 0, like scikit-learn"
