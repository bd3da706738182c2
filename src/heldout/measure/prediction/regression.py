"""Measures of predicted numbers; a division by 0 gives `Undefined`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.notes import named_few
from heldout.errors import InputError
from heldout.measure.undefined import Number, Undefined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from heldout.data.words import Floats

__all__ = [
    "explained_variance",
    "mae",
    "mape",
    "mean_baseline",
    "median_ae",
    "mse",
    "msle",
    "percentage_errors",
    "pinball_losses",
    "r_squared",
    "rmse",
    "smape",
    "squared_log_errors",
    "symmetric_errors",
]


def _pair(truth: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    actual, guess = np.asarray(truth, np.float64), np.asarray(predicted, np.float64)
    if actual.ndim != 1 or actual.shape != guess.shape or not len(actual):
        raise InputError(f"{actual.shape} true values for {guess.shape} predictions")
    for what, values in (("truth", actual), ("prediction", guess)):
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise InputError(f"{what}: unit number {row + 1} is {values[row]}, not finite")
    return actual, guess


def _mean(terms: Floats, weights: ArrayLike | None) -> float:
    return float(np.average(terms, weights=None if weights is None else np.asarray(weights)))


def mse(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the mean squared error."""
    actual, guess = _pair(truth, predicted)
    return _mean((actual - guess) ** 2, weights)


def rmse(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the root mean squared error.

    Examples
    --------
    >>> rmse([1, 2, 3], [1, 2, 6]) == 3**0.5
    True
    """
    return math.sqrt(mse(truth, predicted, weights))


def mae(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> float:
    """Return the mean absolute error."""
    actual, guess = _pair(truth, predicted)
    return _mean(np.abs(actual - guess), weights)


def median_ae(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the median absolute error."""
    actual, guess = _pair(truth, predicted)
    return float(np.median(np.abs(actual - guess)))


def _refuse_zero(zero: Sequence[int], what: str, names: Sequence[str] | None) -> None:
    if not zero:
        return
    shown = (str(names[at]) if names is not None else f"number {at + 1}" for at in zero)
    units = "unit" if len(zero) == 1 else "units"
    raise InputError(
        f"{what} for {len(zero)} {units} ({named_few(shown, len(zero))}): the relative error is "
        "undefined there; use MAE or RMSE, or leave out these units"
    )


def percentage_errors(
    truth: ArrayLike, predicted: ArrayLike, names: Sequence[str] | None = None
) -> Floats:
    """Return the relative error of each unit; raise an error where the truth is 0."""
    actual, guess = _pair(truth, predicted)
    _refuse_zero(np.flatnonzero(actual == 0).tolist(), "the truth is 0", names)
    found: Floats = np.abs((actual - guess) / actual)
    return found


def mape(
    truth: ArrayLike,
    predicted: ArrayLike,
    weights: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> float:
    """Return the mean absolute percentage error as a share: 0.1 is 10 %.

    Parameters
    ----------
    truth, predicted, weights
        One per unit.
    names
        The ids of the units, for the message if a truth is 0 (which is an error, not infinity).

    Examples
    --------
    >>> mape([2, 4], [1, 5])
    0.375
    """
    return _mean(percentage_errors(truth, predicted, names), weights)


def symmetric_errors(
    truth: ArrayLike, predicted: ArrayLike, names: Sequence[str] | None = None
) -> Floats:
    """Return 2|a - p| / (|a| + |p|) of each unit; raise an error where both are 0."""
    actual, guess = _pair(truth, predicted)
    size = np.abs(actual) + np.abs(guess)
    _refuse_zero(np.flatnonzero(size == 0).tolist(), "truth and prediction are 0", names)
    found: Floats = 2 * np.abs(actual - guess) / size
    return found


def smape(
    truth: ArrayLike,
    predicted: ArrayLike,
    weights: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> float:
    """Return the symmetric MAPE: the mean of 2|a - p| / (|a| + |p|), from 0 to 2.

    Parameters
    ----------
    truth, predicted, weights, names
        As for `mape`; an error where truth and prediction are both 0.
    """
    return _mean(symmetric_errors(truth, predicted, names), weights)


def r_squared(truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None) -> Number:
    """Return the share of the variance of the truth that is explained.

    It is negative if the predictions are worse than the mean of the truth.

    Examples
    --------
    >>> r_squared([1, 2, 3], [2, 2, 2]), r_squared([5, 5], [4, 5])
    (0.0, Undefined(reason='the truth is the same for every unit'))
    """
    actual, guess = _pair(truth, predicted)
    if (actual == actual[0]).all():
        return Undefined("the truth is the same for every unit")
    spread = _mean((actual - _mean(actual, weights)) ** 2, weights)
    return 1.0 - _mean((actual - guess) ** 2, weights) / spread


def explained_variance(
    truth: ArrayLike, predicted: ArrayLike, weights: ArrayLike | None = None
) -> Number:
    """Return 1 - variance of the errors / variance of the truth: R² without a constant error.

    Examples
    --------
    >>> explained_variance([1, 2, 3], [2, 3, 4])
    1.0
    """
    actual, guess = _pair(truth, predicted)
    error = actual - guess
    unexplained = _mean((error - _mean(error, weights)) ** 2, weights)
    if (actual == actual[0]).all():
        return Undefined("the truth is the same for every unit")
    return 1.0 - unexplained / _mean((actual - _mean(actual, weights)) ** 2, weights)


def squared_log_errors(
    truth: ArrayLike, predicted: ArrayLike, names: Sequence[str] | None = None
) -> Floats:
    """Return (log(1 + a) - log(1 + p))² of each unit; raise an error for numbers of -1 or less."""
    actual, guess = _pair(truth, predicted)
    low = np.flatnonzero((actual <= -1) | (guess <= -1)).tolist()
    if low:
        shown = (str(names[row]) if names is not None else f"number {row + 1}" for row in low)
        raise InputError(
            f"truth or prediction is -1 or less for {len(low)} "
            f"{'unit' if len(low) == 1 else 'units'} ({named_few(shown, len(low))}): the logarithm "
            "of 1 + x is undefined there; use MAE or RMSE"
        )
    found: Floats = (np.log1p(actual) - np.log1p(guess)) ** 2
    return found


def msle(
    truth: ArrayLike,
    predicted: ArrayLike,
    weights: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> float:
    """Return the mean squared error of logarithms of 1 + x.

    Parameters
    ----------
    truth, predicted, weights, names
        As for `mape`; an error where a number is -1 or less.
    """
    return _mean(squared_log_errors(truth, predicted, names), weights)


def pinball_losses(truth: ArrayLike, predicted: ArrayLike, alpha: float) -> Floats:
    """Return max(alpha·d, (alpha - 1)·d) of each unit, d = truth - prediction.

    Parameters
    ----------
    alpha
        The quantile that is predicted, from 0 to 1.

    Examples
    --------
    >>> pinball_losses([1, 1], [0, 2], alpha=0.9).round(2).tolist()
    [0.9, 0.1]
    """
    actual, guess = _pair(truth, predicted)
    found: Floats = np.maximum(alpha * (actual - guess), (alpha - 1) * (actual - guess))
    return found


def mean_baseline(truth: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Return the mean of the truth as the prediction for every unit, the reference point of R²."""
    actual = np.asarray(truth, np.float64)
    return np.full(len(actual), _mean(actual, weights))
