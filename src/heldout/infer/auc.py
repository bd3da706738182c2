"""DeLong's interval of an AUC, and the test of two AUCs on the same units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from heldout.errors import InputError
from heldout.infer.results import Interval, Outcome, check_alternative, t_quantile
from heldout.measure.base import Undefined
from heldout.measure.prediction.order import auc_covariance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.infer.results import Alternative

__all__ = ["area_interval", "delong_interval", "delong_test"]


def delong_interval(
    positive: ArrayLike,
    scores: ArrayLike,
    level: float = 0.95,
    *,
    scale: Literal["plain", "logit"] = "plain",
) -> Interval | Undefined:
    """Return DeLong's interval of an AUC.

    Parameters
    ----------
    positive
        1 or true for positive units.
    scores
        One per unit, higher for positive units.
    level
        The confidence level.
    scale
        ``plain``: AUC ± z·se, or ``logit`` where that leaves [0, 1]; ``logit``: ± z·se on the
        logit scale, which is better near 1.

    Returns
    -------
    Interval or Undefined
        Undefined where the scores separate the classes perfectly: the estimated variance is 0, and
        an interval of no width would be misleading.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988). Biometrics 44.
    """
    if scale not in {"plain", "logit"}:
        raise InputError(f"scale={scale!r}: expected plain or logit")
    estimate = auc_covariance(positive, scores)
    area, error = float(estimate.areas[0]), math.sqrt(float(estimate.covariance[0, 0]))
    if area in {0.0, 1.0}:
        return Undefined("the classes are perfectly separated, so the variance is unknown")
    return area_interval(area, error, level, scale=scale)


def area_interval(
    area: float, error: float, level: float, *, scale: Literal["plain", "logit"] = "plain"
) -> Interval:
    """Return the interval as `delong_interval` does, from an area and its standard error."""
    half = t_quantile(math.inf, (1 - level) / 2) * error
    fits = area - half >= 0.0 and area + half <= 1.0
    if fits and scale == "plain":
        return Interval(area, area - half, area + half, level, "DeLong")
    centre, reach = math.log(area / (1 - area)), half / (area * (1 - area))
    # The inverse logit by tanh, which does not overflow.
    low, high = (0.5 + math.tanh((centre + way * reach) / 2) / 2 for way in (-1, 1))
    return Interval(area, low, high, level, "DeLong, logit")


def delong_test(
    positive: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
) -> Outcome:
    """Return DeLong's test of two AUCs on the same units.

    Parameters
    ----------
    positive
        1 or true for positive units.
    first, second
        The scores of two classifiers, one per unit.
    alternative
        ``two-sided``, or ``greater`` / ``less``: the first has the larger / smaller area.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988). Biometrics 44.

    Examples
    --------
    >>> outcome = delong_test([1, 1, 0, 0], [4, 2, 3, 1], [4, 2, 3, 1])
    >>> outcome.p, outcome.method
    (1.0, 'no variance')
    """
    side = check_alternative(alternative)
    estimate = auc_covariance(positive, np.column_stack([first, second]))
    gap = float(estimate.areas[0] - estimate.areas[1])
    table = estimate.covariance
    variance = float(table[0, 0] + table[1, 1] - 2 * table[0, 1])
    n = estimate.positives + estimate.negatives
    # Where the components of both systems are equal, rounding leaves a tiny variance.
    if variance <= 1e-15 * float(table[0, 0] + table[1, 1] + 1e-15):
        return _without_variance(gap, side, n)
    statistic = gap / math.sqrt(variance)
    counts = f"{estimate.positives} positive and {estimate.negatives} negative units"
    return Outcome("delong", _normal_tail(statistic, side), statistic, side, n, "normal", 0, counts)


def _without_variance(gap: float, alternative: Alternative, n: int) -> Outcome:
    if abs(gap) <= 1e-12:
        detail = "both systems rank all pairs alike"
        return Outcome("delong", 1.0, 0.0, alternative, n, "no variance", detail=detail)
    raise InputError(
        "the difference of the two AUCs has no variance (the classes are perfectly separated), so "
        "DeLong's test is undefined: compare another measure"
    )


def _normal_tail(statistic: float, alternative: Alternative) -> float:
    from scipy.special import ndtr  # slow to import

    if alternative == "two-sided":
        return min(1.0, 2.0 * float(ndtr(-abs(statistic))))
    return float(ndtr(-statistic if alternative == "greater" else statistic))
