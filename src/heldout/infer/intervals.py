"""Intervals for one system: a proportion or a mean over units."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.errors import InputError
from heldout.infer.bounded import UNBOUNDED, inside
from heldout.infer.results import Interval, as_values, check_fraction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

__all__ = [
    "SKEWED",
    "hall_interval",
    "mean_interval",
    "normal_quantile",
    "skewness",
    "t_interval",
    "t_quantile",
    "wilson",
]


SKEWED: Final = 0.3
"""From a skewness of this many roots of n on, a mean has Hall's interval, ..."""

HALL_NEEDS: Final = 10
"""... if there are this many units."""


def normal_quantile(level: float) -> float:
    """Return the normal quantile of a two-sided interval."""
    from scipy.special import ndtri  # slow to import

    return float(ndtri((1.0 + check_fraction(level)) / 2.0))


def t_quantile(level: float, freedom: int) -> float:
    """Return the t quantile of a two-sided interval."""
    from scipy.special import stdtrit  # slow to import

    return float(stdtrit(freedom, (1.0 + check_fraction(level)) / 2.0))


def _counts(successes: int, n: int) -> tuple[int, int]:
    """Return the counts as integers; refuse what is not a proportion."""
    try:
        right, units = operator.index(successes), operator.index(n)
    except TypeError as error:
        raise InputError(
            f"successes={successes!r}, n={n!r}: expected two integers, such as 16 and 20"
        ) from error
    if units < 1 or not 0 <= right <= units:
        raise InputError(f"{right} successes of {units} units: expected 0 <= successes <= n, n > 0")
    return right, units


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Return Wilson's score interval for a proportion.

    Parameters
    ----------
    successes, n
        The number of successes and the number of units.
    level
        The confidence level.

    Returns
    -------
    Interval
        Around the plain proportion, inside [0, 1].

    References
    ----------
    Wilson (1927). Probable inference, the law of succession, and statistical inference. JASA 22.
    Newcombe (1998). Two-sided confidence intervals for the single proportion. Statistics in
    Medicine 17.

    Examples
    --------
    >>> interval = wilson(16, 20)
    >>> round(interval.low, 2), round(interval.high, 2)
    (0.58, 0.92)
    """
    right, units = _counts(successes, n)
    z = normal_quantile(level)
    share = right / units
    centre = (right + z * z / 2.0) / (units + z * z)
    half = z / (units + z * z) * math.sqrt(units * share * (1.0 - share) + z * z / 4.0)
    # At 0 and n the bound is exactly the end; the formula would give it with rounding error.
    low = 0.0 if right == 0 else centre - half
    high = 1.0 if right == units else centre + half
    return Interval(share, low, high, level, "Wilson")


def t_interval(values: Iterable[float], level: float = 0.95) -> Interval:
    """Return Student's t interval for a mean over units, or over paired differences.

    Parameters
    ----------
    values
        One per unit; units must be independent (queries are, overlapping folds are not).
    level
        The confidence level.

    Returns
    -------
    Interval
        Values without variance give an interval of no width.

    References
    ----------
    Student (1908). The probable error of a mean. Biometrika 6(1).
    """
    array = as_values(values)
    n = len(array)
    mean = float(array.mean())
    half = t_quantile(level, n - 1) * float(array.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, level, "t")


def skewness(values: Floats) -> Floats:
    """Return the skewness of each column of values: third moment over variance^1.5; 0 if constant.

    Examples
    --------
    >>> skewness(np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 4.0]])).round(4).tolist()
    [1.1547, 0.0]
    """
    centred = values - values.mean(0)
    deviation = np.sqrt((centred**2).mean(0))
    flat = deviation <= 1e-12 * np.abs(values).max(0)
    scaled = centred / np.where(flat, 1.0, deviation)
    return np.where(flat, 0.0, (scaled**3).mean(0))


def hall_interval(values: Floats, level: float = 0.95) -> Interval:
    """Return Hall's interval for the mean of skewed values: t, transformed to be symmetric.

    It reaches further to the side of the long tail than a t interval, and less to the other.

    Parameters
    ----------
    values
        One per unit.
    level
        The confidence level.

    References
    ----------
    Hall (1992). On the removal of skewness by transformation. Journal of the Royal Statistical
    Society B 54(1).

    Examples
    --------
    >>> interval = hall_interval(np.array([0.0] * 16 + [0.1, 0.2, 0.6, 0.9]))
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.011, 0.533)
    """
    plain = t_interval(values, level)
    n = len(values)
    lean = float(skewness(values[:, None])[0]) / math.sqrt(n)
    t = t_quantile(level, n - 1)
    error = (plain.high - plain.estimate) / t
    if lean:
        upper, lower = (3 / lean * (math.cbrt(1 + lean * (x - lean / 6)) - 1) for x in (t, -t))
        return plain._replace(
            low=plain.estimate - error * upper,
            high=plain.estimate - error * lower,
            method="Hall",
        )
    return plain


def mean_interval(
    values: Floats, level: float = 0.95, ends: tuple[float, float] = UNBOUNDED
) -> Interval | None:
    """Return the interval of a mean over units; None for fewer than two.

    Wilson's of zeros and ones; Hall's of ten or more values whose skewness is above .3 roots of
    their number; else t.

    Parameters
    ----------
    values
        One per unit.
    level
        The confidence level.
    ends
        The range of the measure, which the interval does not leave.
    """
    n = len(values)
    if n < 2:
        return None
    if set(np.unique(values)) <= {0.0, 1.0}:
        return wilson(int(values.sum()), n, level)
    if n >= HALL_NEEDS and abs(skewness(values[:, None])[0]) > SKEWED * math.sqrt(n):
        found = hall_interval(values, level)
        return found._replace(low=max(found.low, ends[0]), high=min(found.high, ends[1]))
    return inside(t_interval(values, level), ends)
