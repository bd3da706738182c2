"""Intervals for one system: a proportion, a mean over units or folds, an area; and their range."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.errors import InputError
from heldout.infer.results import (
    TIE,
    Estimate,
    Interval,
    as_values,
    check_fraction,
    mean_estimate,
    t_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from heldout.data.words import Floats, Ints

UNBOUNDED: Final = (-math.inf, math.inf)
AT_AN_END: Final = 1e-100  # estimates closer to an end than this are at it, where nothing varies
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
    """Return Wilson's score interval for a proportion (Wilson 1927, JASA 22)."""
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
    """Return Hall's interval for the mean of skewed values (1992, J. R. Stat. Soc. B 54).

    It reaches further to the side of the long tail than a t interval, and less to the other.
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

    Wilson's of zeros and ones (in such a range), Hall's of skewed values, else t.
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

    It is 1/J + n_test/n_train (not n_test / n), a heuristic that works well; there is no unbiased
    estimator (Nadeau & Bengio 2003, Machine Learning 52; Bengio & Grandvalet 2004, JMLR 5).
    """
    if not (math.isfinite(test_share) and test_share > 0):
        raise InputError(
            "expected n_test / n_train, such as 1/9 for ten folds",
            argument="test_share",
            value=test_share,
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


# Areas under ROC curves (DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44)


def delong(
    positive: ArrayLike,
    scores: ArrayLike,
    first: Ints | None = None,
    second: Ints | None = None,
) -> Estimate:
    """Return the area of each column of scores, or the differences first minus second of columns.

    A difference of areas can have no variance, such as that of a classifier that separates the
    classes and one that gives all units the same score: then only the signs of units are evidence.
    """
    from heldout.measure.prediction.order import auc_covariance  # of classes only

    areas, table = auc_covariance(positive, scores)
    value, variance = areas, np.diag(table)
    if first is not None and second is not None:
        value = areas[first] - areas[second]
        both = variance[first] + variance[second]
        variance = both - 2 * table[first, second]
        # Where the components of both systems are equal, rounding leaves tiny numbers.
        variance = np.where(variance <= 1e-15 * (both + 1e-15), 0.0, variance)
        value = np.where((variance == 0) & (np.abs(value) <= 1e-12), 0.0, value)
    return Estimate(value, np.sqrt(variance), math.inf, "DeLong", np.size(positive))


def area_interval(area: float, error: float, level: float) -> Interval:
    """Return the interval of an area, on the logit scale where the plain one leaves [0, 1]."""
    (plain,) = Estimate(np.array(area), np.array(error), math.inf, "DeLong").interval(level)
    if plain.low >= 0.0 and plain.high <= 1.0:
        return plain
    centre, reach = math.log(area / (1 - area)), (plain.high - area) / (area * (1 - area))
    # The inverse logit by tanh, which does not overflow.
    low, high = (0.5 + math.tanh((centre + side * reach) / 2) / 2 for side in (-1, 1))
    return Interval(area, low, high, level, "DeLong, logit")


# Differences of systems that are equal on most units


def from_commonest(values: Floats) -> Floats:
    """Return the values minus the commonest one of each column, if most rows have it."""
    apart: Floats = values - np.median(values, 0)
    apart[np.abs(apart) <= TIE * np.abs(values).max(0)] = 0.0
    return apart


def added_variance(differences: Floats) -> Floats:
    """Return what four more differing units add to the variance of each mean difference.

    0 unless most units have the commonest difference and fewer than ten do not.
    """
    apart = from_commonest(differences)
    differ = np.count_nonzero(apart, 0)
    few = (differ < DIFFERING) & (2 * differ < len(apart))
    square = (apart * apart).sum(0) / np.maximum(differ, 1)
    return np.where(few, PSEUDO * square / len(apart) ** 2, 0.0)


# Intervals of measures with a range, such as [0, 1]: no bound is outside the range.
#
# Truncation would hide that the other bound is wrong, too: near 1 a sample often underestimates the
# variance, and the lower bound is too high. An interval that leaves the range is replaced by
# Wilson's construction for proportions (1927): its bounds are the values m for which
# (estimate - m)² is the squared half-width times (m - a)(b - m) / ((estimate - a)(b - estimate)),
# so that the variance vanishes at the ends a and b. An infinite end drops out of the formula.


def inside(interval: Interval, ends: tuple[float, float]) -> Interval:
    """Return the interval of a score, inside the range of its measure; infinite bounds are kept."""
    if not (_leaves(interval.low, ends) or _leaves(interval.high, ends)):
        return interval
    low, high = wilson_bounds(*interval[:3], ends)
    return interval._replace(low=low, high=high, method=f"{interval.method}, bounded")


def difference_inside(interval: Interval, ends: tuple[float, float]) -> Interval:
    """Return the interval of a difference of two scores, inside the range of differences.

    A bound inside is kept: the interval includes 0 exactly if it did before.
    """
    span = ends[0] - ends[1], ends[1] - ends[0]
    bounded = inside(interval, span)
    return bounded._replace(
        low=bounded.low if _leaves(interval.low, span) else interval.low,
        high=bounded.high if _leaves(interval.high, span) else interval.high,
    )


def wilson_bounds(
    estimate: float, low: float, high: float, ends: tuple[float, float]
) -> tuple[float, float]:
    """Return Wilson's bounds of estimate ± half-width, even for an interval inside the range."""
    if min(estimate - ends[0], ends[1] - estimate) <= AT_AN_END:
        return max(low, min(ends[0], estimate)), min(high, max(ends[1], estimate))
    return _bound(estimate, low - estimate, ends), _bound(estimate, high - estimate, ends)


def _leaves(bound: float, ends: tuple[float, float]) -> bool:
    return math.isfinite(bound) and not ends[0] <= bound <= ends[1]


def _bound(estimate: float, reach: float, ends: tuple[float, float]) -> float:
    """Return the bound on the side of a signed half-width.

    With d = m - estimate, u = estimate - a, v = b - estimate and h the half-width, d solves
    d² = h² (1 + d/u) (1 - d/v).
    """
    if not reach or not math.isfinite(reach):
        return estimate + reach
    below, above = 1.0 / (estimate - ends[0]), 1.0 / (ends[1] - estimate)
    lean = abs(reach) * (below - above)
    curve = 1.0 + reach * reach * below * above
    root = math.sqrt(lean * lean + 4.0 * curve)
    bound = estimate + abs(reach) * (lean + math.copysign(root, reach)) / (2.0 * curve)
    return min(max(bound, ends[0]), ends[1])  # outside by rounding only
