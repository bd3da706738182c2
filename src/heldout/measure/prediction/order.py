"""Measures of order: units are sorted once, and many rows of weights are scored together.

Weights are not negative; an integer counts a unit that many times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.measure.base import LackingError, Order, measure, quotient
from heldout.measure.prediction.numbers import loss, same_everywhere
from heldout.measure.prediction.probabilities import by_scores, scores_of
from heldout.measure.rank_correlation import correlation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.words import Flags, Floats, Ints

# Weights of positive and of negative units at each score, ascending -> one score per row.
Ranked = Callable[["Floats", "Floats"], "Floats"]


class Ties(NamedTuple):
    """Units in ascending order of a number, in groups of equal numbers."""

    order: Ints
    starts: Ints  # the first place of each group
    group: Ints  # the group of each unit

    @classmethod
    def of(cls, numbers: Floats) -> Ties:
        """Sort units by a number."""
        order = np.argsort(numbers, kind="stable")
        first = np.append(True, np.diff(numbers[order]) != 0)
        group = np.empty(len(numbers), np.int64)
        group[order] = np.cumsum(first) - 1
        return cls(order, np.flatnonzero(first), group)

    def added(self, ranked: Floats) -> Floats:
        """Return the weight of each group, for rows of weights that are in order."""
        if len(self.starts) == len(self.order):
            return ranked
        added: Floats = np.add.reduceat(ranked, self.starts, axis=1)
        return added

    def totals(self, rows: Floats) -> Floats:
        """Return the weight of each group, for rows of weights."""
        return self.added(rows[:, self.order])

    def midranks(self, rows: Floats) -> Floats:
        """Return the weight of the units below each unit, and half of that of its group."""
        return below(self.totals(rows))[:, self.group]


def below(totals: Floats) -> Floats:
    """Return the weight below the middle of each group."""
    return np.cumsum(totals, axis=1) - totals / 2


def labelled(positive: ArrayLike, scores: ArrayLike) -> tuple[Flags, Floats]:
    """Return which units are positive, and their scores, both checked."""
    labels, values = np.asarray(positive), np.asarray(scores, np.float64)
    if labels.ndim != 1 or labels.shape != values.shape:
        raise InputError(f"labels of shape {labels.shape} for scores of shape {values.shape}")
    flags = labels.astype(np.bool_)
    if not (flags == labels).all():
        raise InputError("labels: expected 1 (positive) or 0 for each unit")
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise InputError(f"scores: unit number {row + 1} is {values[row]}, not a finite number")
    return flags, values


# Classes


def area(positive: Floats, negative: Floats) -> Floats:
    """Return the share of pairs with a higher score of the positive unit; ties count half."""
    pairs = positive.sum(axis=1) * negative.sum(axis=1)
    return quotient((positive * below(negative)).sum(axis=1), pairs)


def precision_area(positive: Floats, negative: Floats) -> Floats:
    """Return the mean precision at the positive units, from the highest score down."""
    hits = np.cumsum(positive[:, ::-1], axis=1)
    precision = quotient(hits, np.cumsum((positive + negative)[:, ::-1], axis=1))
    # Before the first unit with weight there is no precision, and nothing to add.
    sums = (positive[:, ::-1] * np.nan_to_num(precision)).sum(axis=1)
    return quotient(sums, positive.sum(axis=1))


def of_class(given: ClassPredictions, number: int, function: Ranked) -> Callable[[Floats], Floats]:
    """Return a score of one class against all others, as a function of rows of weights."""
    ties = Ties.of(scores_of(given)[:, number])
    belongs = (given.truth == number)[ties.order]

    def score(rows: Floats) -> Floats:
        ranked = rows[:, ties.order]
        return function(
            ties.added(np.where(belongs, ranked, 0.0)), ties.added(np.where(belongs, 0.0, ranked))
        )

    return score


def one_sided(flags: Flags, weights: Floats) -> str:
    """Say why there is no pair of a positive and a negative unit; empty if there is one."""
    if not weights[flags].sum():
        return "no unit is positive"
    return "" if weights[~flags].sum() else "every unit is positive"


@by_scores("AUC", aliases=("roc_auc", "roc_auc_score", "roc_auc_ovr"))
def auc(given: ClassPredictions, *, average: Literal["macro", "weighted"] = "macro") -> Order:
    """Area under the ROC curve; of several classes, the mean of each against all others.

    Formula: P(score of a positive > score of a negative) + P(equal) / 2
    """
    scores_of(given)
    if len(given.classes) < 2:
        raise LackingError("all units are of one class")
    is_pair = len(given.classes) == 2
    numbers = [given.class_number()] if is_pair else list(range(len(given.classes)))
    areas = [of_class(given, number, area) for number in numbers]

    def score(rows: Floats) -> Floats:
        values = np.column_stack([of_rows(rows) for of_rows in areas])
        if is_pair or average == "macro":
            mean: Floats = values.mean(axis=1)
            return mean
        shares = np.column_stack([rows[:, given.truth == number].sum(axis=1) for number in numbers])
        weighted = np.where(shares > 0, shares * values, 0.0).sum(axis=1)
        return quotient(weighted, shares.sum(axis=1))

    def reason(row: Floats) -> str:
        missing = {number: one_sided(given.truth == number, row[0]) for number in numbers}
        number, why = next(pair for pair in missing.items() if pair[1])
        return why if is_pair else f"class {given.classes[number]}: {why}"

    return Order(len(given.truth), score, reason)


@by_scores("average-precision", aliases=("average_precision_score",))
def average_precision(given: ClassPredictions, *, class_: str | None = None) -> Order:
    """Precision at each rise of recall, without interpolation.

    Formula: Σ_t (R_t - R_{t-1}) P_t over thresholds t
    """
    scores_of(given)
    if len(given.classes) > 2 and class_ is None:
        raise LackingError("with several classes, name one: average-precision(class=NAME)")
    score = of_class(given, given.class_number(class_), precision_area)
    return Order(len(given.truth), score, lambda _: "no unit is positive")


# The variance of AUC by DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or
# more correlated receiver operating characteristic curves", Biometrics 44, in the time of a sort:
# midranks instead of all pairs (Sun & Xu 2014, IEEE Signal Processing Letters 21)


def auc_covariance(positive: ArrayLike, scores: ArrayLike) -> tuple[Floats, Floats]:
    """Return AUCs and their covariance; scores have one row per unit, one column per classifier."""
    columns = np.atleast_2d(np.asarray(scores, np.float64).T)
    checked = [labelled(positive, column) for column in columns]
    flags = checked[0][0]
    above, below = int(flags.sum()), int((~flags).sum())
    if above < 2 or below < 2:
        raise InputError(
            f"{above} positive and {below} negative units: two of each are needed for a variance"
        )
    shares = np.array([auc_components(flags, values) for _, values in checked])
    covariance = np.cov(shares[:, flags]) / above + np.cov(shares[:, ~flags]) / below
    return shares[:, flags].mean(axis=1), np.atleast_2d(covariance)


def auc_components(positive: Flags, scores: Floats) -> Floats:
    """Return, for each unit, the share of units of the other class that are ordered correctly.

    Their mean over the positive units is the area, as is the mean over the negative units.
    """
    sides = np.stack([~positive, positive]).astype(np.float64)
    below = Ties.of(scores).midranks(sides) / sides.sum(axis=1, keepdims=True)
    shares: Floats = np.where(positive, below[0], 1.0 - below[1])
    return shares


# Numbers


@measure("Spearman", "regression", aliases=("spearmanr",), bounds=(-1.0, 1.0))
def spearman(given: NumberPredictions) -> Order:
    """Correlation of the ranks of truth and prediction.

    Formula: Pearson of the ranks; ties have their mean rank
    """
    both = Ties.of(given.truth), Ties.of(given.predicted)

    def score(rows: Floats) -> Floats:
        left, right = (ties.midranks(rows) - rows.sum(axis=1, keepdims=True) / 2 for ties in both)
        products = (left * right, left**2, right**2)
        return correlation(*((rows * product).sum(axis=1) for product in products))

    return Order(len(given.truth), score, lambda _: same_everywhere(given))


@measure("Kendall", "regression", aliases=("kendalltau",), bounds=(-1.0, 1.0))
def kendall(given: NumberPredictions) -> Order:
    """Concordant minus discordant pairs of units, as a share (tau-b).

    Formula: (concordant - discordant pairs) / √(pairs untied in y · pairs untied in p) (tau-b)
    """
    left, right = Ties.of(given.truth), Ties.of(given.predicted)
    starts, ranks = np.append(left.starts, len(left.order)), right.group[left.order] + 1

    def untied(ties: Ties, rows: Floats) -> Floats:
        pairs: Floats = rows.sum(axis=1) ** 2 - (ties.totals(rows) ** 2).sum(axis=1)
        return pairs

    def score(rows: Floats) -> Floats:
        from heldout.measure.prediction.concordance import net_concordance  # compiled

        ranked = np.ascontiguousarray(rows[:, left.order])
        net = net_concordance(starts, ranks, ranked, int(ranks.max()))
        return correlation(2 * (ranked * net).sum(axis=1), untied(left, rows), untied(right, rows))

    return Order(len(given.truth), score, lambda _: same_everywhere(given))


@loss("median-AE", aliases=("median_absolute_error",))
def median_absolute_error(given: NumberPredictions) -> Order:
    """Median absolute error.

    Formula: median |y - p|
    """
    errors = np.abs(given.truth - given.predicted)
    order = np.argsort(errors, kind="stable")
    ranked = errors[order]

    def score(rows: Floats) -> Floats:
        reached = np.cumsum(rows[:, order], axis=1)
        half = reached[:, -1:] / 2
        # The first units that reach, and that exceed, half of the weight: two different ones if
        # the weight can be halved, as with an even number of units.
        low, high = (
            np.minimum(passed.sum(axis=1), len(ranked) - 1)
            for passed in (reached < half, reached <= half)
        )
        return np.where(half[:, 0] > 0, (ranked[low] + ranked[high]) / 2, np.nan)

    return Order(len(errors), score, lambda _: "there are no units")
