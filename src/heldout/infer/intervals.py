"""Intervals for one system: a proportion, a mean over units, a mean over folds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.errors import InputError
from heldout.infer.bounded import UNBOUNDED, inside
from heldout.infer.results import (
    TIE,
    Interval,
    as_values,
    check_fraction,
    mean_estimate,
    t_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats
    from heldout.infer.results import Estimate

SKEWED: Final = 0.3  # from a skewness of this many roots of n on, a mean has Hall's interval, ...
HALL_NEEDS: Final = 10  # ... if there are this many units
DIFFERING: Final = 10  # units that must differ from the commonest value, else the variance grows by
PSEUDO: Final = 4  # ... this many differing units, as in the "plus four" interval of a proportion


def around(estimate: Estimate, level: float) -> Interval:
    """Return the interval of one number: its value, and as many errors as the level requires."""
    quantile = t_quantile(estimate.df, (1.0 - check_fraction(level)) / 2.0)
    value, half = float(np.ravel(estimate.value)[0]), quantile * float(np.ravel(estimate.error)[0])
    return Interval(value, value - half, value + half, level, estimate.method)


# Proportions


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Return Wilson's score interval for a proportion (Wilson 1927, JASA 22).

    Examples
    --------
    >>> interval = wilson(16, 20)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.58, 0.92)
    """
    z = t_quantile(math.inf, (1.0 - check_fraction(level)) / 2.0)
    share = successes / n
    centre = (successes + z * z / 2.0) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(n * share * (1.0 - share) + z * z / 4.0)
    # At 0 and n the bound is exactly the end; the formula would give it with rounding error.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(share, low, high, level, "Wilson")


# Means over units


def t_interval(values: Iterable[float], level: float = 0.95) -> Interval:
    """Return Student's t interval for a mean over independent units; no width without variance."""
    return around(mean_estimate(as_values(values)), level)


def skewness(values: Floats) -> Floats:
    """Return the skewness of each column: third moment over variance^1.5; 0 if constant."""
    centred = values - values.mean(0)
    deviation = np.sqrt((centred**2).mean(0))
    flat = deviation <= 1e-12 * np.abs(values).max(0)
    scaled = centred / np.where(flat, 1.0, deviation)
    return np.where(flat, 0.0, (scaled**3).mean(0))


def hall_interval(values: Floats, level: float = 0.95) -> Interval:
    """Return Hall's interval for the mean of skewed values: t, transformed to be symmetric.

    It reaches further to the side of the long tail than a t interval, and less to the other (Hall
    1992, Journal of the Royal Statistical Society B 54).
    """
    plain, n = t_interval(values, level), len(values)
    lean = float(skewness(values[:, None])[0]) / math.sqrt(n)
    if not lean:
        return plain
    t = t_quantile(n - 1, (1.0 - level) / 2.0)
    error = (plain.high - plain.estimate) / t
    upper, lower = (3 / lean * (math.cbrt(1 + lean * (x - lean / 6)) - 1) for x in (t, -t))
    return plain._replace(
        low=plain.estimate - error * upper, high=plain.estimate - error * lower, method="Hall"
    )


def mean_interval(
    values: Floats, level: float = 0.95, ends: tuple[float, float] = UNBOUNDED
) -> Interval | None:
    """Return the interval of a mean over units, inside the range of a measure; None for one unit.

    Wilson's of zeros and ones, unless the range is known to be another; Hall's of ten or more
    values whose skewness is above .3 roots of their number; else t.
    """
    n = len(values)
    if n < 2:
        return None
    if ends in ((0.0, 1.0), UNBOUNDED) and set(np.unique(values)) <= {0.0, 1.0}:
        return wilson(int(values.sum()), n, level)
    if n >= HALL_NEEDS and abs(skewness(values[:, None])[0]) > SKEWED * math.sqrt(n):
        hall = hall_interval(values, level)
        return hall._replace(low=max(hall.low, ends[0]), high=min(hall.high, ends[1]))
    return inside(t_interval(values, level), ends)


# Means over folds, whose training sets overlap


def fold_factor(folds: int, test_share: float) -> float:
    """Return what the variance of fold scores is multiplied by for that of their mean.

    It is 1/J + n_test/n_train (not n_test / n), as if the correlation between splits were n_test /
    (n_test + n_train): a heuristic that works well in practice; there is no unbiased estimator
    (Nadeau & Bengio 2003, Machine Learning 52; Bengio & Grandvalet 2004, JMLR 5).
    """
    if not (math.isfinite(test_share) and test_share > 0):
        raise InputError(
            f"test_share={test_share}: expected n_test / n_train, such as 1/9 for ten folds"
        )
    return 1.0 / folds + test_share


def corrected_t(values: Iterable[float], test_share: float, level: float = 0.95) -> Interval:
    """Return the corrected resampled t interval for folds or repeated splits."""
    folds = as_values(values, "fold_scores")
    factor = fold_factor(len(folds), test_share)
    return around(mean_estimate(folds, factor, "corrected t over folds"), level)


def plain_z(values: Iterable[float], level: float = 0.95) -> Interval:
    """Return mean ± z·sd/√k over folds, with sd divided by k: the interval of many textbooks.

    It covers less than its level, because it treats folds as independent.
    """
    folds = as_values(values, "fold_scores")
    z = t_quantile(math.inf, (1.0 - check_fraction(level)) / 2.0)
    mean, half = float(folds.mean()), z * float(folds.std()) / math.sqrt(len(folds))
    return Interval(mean, mean - half, mean + half, level, "z over folds")


# Differences of systems that are equal on most units


def from_commonest(values: Floats) -> Floats:
    """Return the values minus the commonest one of each column, if most rows have it."""
    apart: Floats = values - np.median(values, 0)
    apart[np.abs(apart) <= TIE * np.abs(values).max(0)] = 0.0
    return apart


def added_variance(differences: Floats) -> Floats:
    """Return what four more differing units add to the variance of each mean difference.

    It is 0 unless most units have the commonest difference and fewer than ten do not (Agresti &
    Coull 1998, Am. Stat. 52).
    """
    apart = from_commonest(differences)
    differ = np.count_nonzero(apart, 0)
    few = (differ < DIFFERING) & (2 * differ < len(apart))
    square = (apart * apart).sum(0) / np.maximum(differ, 1)
    return np.where(few, PSEUDO * square / len(apart) ** 2, 0.0)
