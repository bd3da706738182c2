"""Measures of predicted numbers."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.measure.base import LackingError, Means, Share, Sums, measure, quotient
from heldout.measure.rank_correlation import correlation
from heldout.notes import count_of, named_few

if TYPE_CHECKING:
    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Flags, Floats

loss = partial(measure, task="regression", bounds=(0.0, math.inf), higher_is_better=False)
gain = partial(measure, task="regression", bounds=(-math.inf, 1.0))
LEAST: Final = 1e-12  # share of the variance up to which that of equal numbers is rounding errors


@loss("RMSE", aliases=("root_mean_squared_error",))
def root_mean_squared_error(given: NumberPredictions) -> Sums:
    """Root of the mean squared error.

    Formula: √(1/n Σ (y - p)²)
    """
    squares = (given.truth - given.predicted) ** 2
    table = np.column_stack([squares, np.ones(len(squares))])
    return Sums(table, lambda sums: np.sqrt(quotient(sums[:, 0], sums[:, 1])))


@loss("MSE", aliases=("mean_squared_error",))
def mean_squared_error(given: NumberPredictions) -> Means:
    """Mean squared error.

    Formula: 1/n Σ (y - p)²
    """
    return Means((given.truth - given.predicted) ** 2)


@loss("MAE", aliases=("mean_absolute_error",))
def mean_absolute_error(given: NumberPredictions) -> Means:
    """Mean absolute error.

    Formula: 1/n Σ |y - p|
    """
    return Means(np.abs(given.truth - given.predicted))


@loss("MAPE", aliases=("mean_absolute_percentage_error",))
def mean_absolute_percentage_error(given: NumberPredictions) -> Means:
    """Mean error as a share of the truth; a truth of 0 is refused.

    Formula: 1/n Σ |y - p| / |y|
    """
    _refuse(given, given.truth == 0, "the truth is 0", "the relative error is undefined there")
    return Means(np.abs((given.truth - given.predicted) / given.truth))


@loss("sMAPE", bounds=(0.0, 2.0))
def symmetric_error(given: NumberPredictions) -> Means:
    """Mean of 2|a-p|/(|a|+|p|), a share from 0 to 2.

    Formula: 1/n Σ 2 |y - p| / (|y| + |p|)
    """
    size = np.abs(given.truth) + np.abs(given.predicted)
    _refuse(given, size == 0, "truth and prediction are 0", "the relative error is undefined there")
    return Means(2 * np.abs(given.truth - given.predicted) / size)


@loss("MSLE", aliases=("mean_squared_log_error",))
def mean_squared_log_error(given: NumberPredictions) -> Means:
    """Mean squared error of logarithms of 1 + x; numbers of -1 or less are refused.

    Formula: 1/n Σ (log(1 + y) - log(1 + p))²
    """
    low = (given.truth <= -1) | (given.predicted <= -1)
    problem = "the logarithm of 1 + x is undefined there"
    _refuse(given, low, "truth or prediction is -1 or less", problem)
    return Means((np.log1p(given.truth) - np.log1p(given.predicted)) ** 2)


def _refuse(given: NumberPredictions, wrong: Flags, what: str, problem: str) -> None:
    names = [given.units[row] for row in np.flatnonzero(wrong).tolist()]
    if names:
        raise LackingError(
            f"{what} for {count_of(len(names), 'unit')} ({named_few(names, len(names))}): "
            f"{problem}; use MAE or RMSE, or leave out these units"
        )


@loss("pinball", aliases=("mean_pinball_loss",), shown=("alpha",))
def pinball(given: NumberPredictions, *, alpha: Share = 0.5) -> Means:
    """Quantile loss: errors below the alpha quantile cost 1 - alpha, above it alpha.

    Formula: 1/n Σ max(α (y - p), (α - 1) (y - p))
    """
    gap = given.truth - given.predicted
    return Means(np.maximum(alpha * gap, (alpha - 1) * gap))


@gain("R2", aliases=("R²", "r2_score"))
def r_squared(given: NumberPredictions) -> Sums:
    """Share of the variance of the truth that is explained.

    Formula: 1 - Σ (y - p)² / Σ (y - mean y)²
    """
    return _explained(given, 0.0)


@gain("explained-variance", aliases=("explained_variance_score",))
def explained_variance(given: NumberPredictions) -> Sums:
    """R2 without a constant error.

    Formula: 1 - Var(y - p) / Var(y)
    """
    return _explained(given, 1.0)


def _explained(given: NumberPredictions, constant: float) -> Sums:
    """Return R², or the explained variance, where a constant error does not count."""
    # Squares of large numbers lose digits: what is squared is centred before.
    centred = given.truth - given.truth.mean()
    errors = given.truth - given.predicted
    errors = errors - constant * errors.mean()
    table = np.column_stack([errors**2, centred, centred**2, np.ones(len(centred)), errors])
    least = LEAST * float((centred**2).mean())

    def score(sums: Floats) -> Floats:
        error_squared, mean, squared, _, error = _means(sums, 3)
        variance = squared - mean**2
        left = error_squared - constant * error**2
        return np.where(variance > least, 1 - quotient(left, variance), np.nan)

    return Sums(table, score, lambda _: "the truth is the same for every unit")


def _means(sums: Floats, units: int) -> Floats:
    """Return the means of all columns; column `units` has the number of units."""
    return quotient(sums, np.broadcast_to(sums[:, units : units + 1], sums.shape)).T


@measure("Pearson", "regression", aliases=("pearsonr",), bounds=(-1.0, 1.0))
def pearson(given: NumberPredictions) -> Sums:
    """Linear correlation of truth and prediction.

    Formula: Cov(y, p) / √(Var(y) Var(p))
    """
    # Squares of large numbers lose digits: both are centred before.
    left, right = (column - column.mean() for column in (given.truth, given.predicted))
    table = np.column_stack([np.ones(len(left)), left, right, left**2, right**2, left * right])
    least = LEAST * (left**2).mean(), LEAST * (right**2).mean()

    def score(sums: Floats) -> Floats:
        _, x, y, x_squared, y_squared, product = _means(sums, 0)
        spread = x_squared - x**2, y_squared - y**2
        defined = (spread[0] > least[0]) & (spread[1] > least[1])
        return np.where(defined, correlation(product - x * y, *spread), np.nan)

    otherwise = "truth or prediction hardly varies"
    return Sums(table, score, lambda _: same_everywhere(given) or otherwise)


def same_everywhere(given: NumberPredictions) -> str:
    """Say why there is no correlation; empty if there is one."""
    for what, values in (("truth", given.truth), ("prediction", given.predicted)):
        if (values == values[0]).all():
            return f"the {what} is the same for every unit"
    return ""
