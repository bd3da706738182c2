"""Power of the paired t test: queries needed for a difference, and detectable differences.

Randomization and the other tests of a mean have nearly the same power. The standard deviation is
that of the differences between two systems, from a pilot (`pilot_sd`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from heldout.errors import InputError
from heldout.infer.results import (
    Alternative,
    alpha_of,
    as_values,
    check_alternative,
    check_fraction,
    check_level,
    do_not_vary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "MOST_UNITS",
    "detectable_difference",
    "pilot_sd",
    "power",
    "power_of_shift",
    "queries_needed",
    "smallest_n",
    "smallest_value",
]

MOST_UNITS: Final = 100_000_000
"""Plans with more units are refused: no collection is that large."""


FAR: Final = 1e4
"""Above this shift the noncentral t is the shift over a chi variable, up to probabilities of 1e-8.

SciPy's noncentral t returns NaN for somewhat larger shifts.
"""


def pilot_sd(differences: Iterable[float], *, level: float | None = None) -> float:
    """Return the standard deviation of the differences of a pilot.

    Parameters
    ----------
    differences
        First minus second, one per unit of the pilot.
    level
        If given, return the one-sided upper confidence bound at this level instead (for normal
        differences): small pilots often underestimate the deviation, and plan too few queries.

    Returns
    -------
    float
        The standard deviation, with n - 1.

    References
    ----------
    Browne (1995). On the use of a pilot sample for sample size determination. Statistics in
    Medicine 14.
    """
    from scipy.special import chdtri  # slow to import

    values = as_values(differences, "differences")
    if do_not_vary(values):
        raise InputError(
            "differences: all are equal, so their standard deviation is unknown; use a pilot whose "
            "differences vary"
        )
    deviation = float(values.std(ddof=1))
    if level is None:
        return deviation
    check_fraction(level)
    freedom = len(values) - 1
    return deviation * math.sqrt(freedom / float(chdtri(freedom, level)))


def power(
    sd: float, n: int, delta: float, *, level: float = 0.95, alternative: Alternative = "two-sided"
) -> float:
    """Return the probability that a paired t test of n units detects a true difference delta.

    Parameters
    ----------
    sd
        Standard deviation of the differences.
    n
        Units, at least 2.
    delta
        The true mean difference, first minus second.
    level
        The confidence level; the test is at 1 - level.
    alternative
        Its alternative.

    Returns
    -------
    float
        Exact for normal differences, by the noncentral t distribution.

    References
    ----------
    Cohen (1988). Statistical Power Analysis for the Behavioral Sciences, 2nd ed., chapter 2.
    Sakai (2018). Laboratory Experiments in Information Retrieval, chapter 6.

    Examples
    --------
    >>> round(power(sd=0.2, n=50, delta=0.08), 4)
    0.7918
    """
    alpha = _check_design(sd, level, alternative)
    if n < 2:
        raise InputError(f"n={n}: expected at least 2 units for a paired t test")
    if not math.isfinite(delta):
        raise InputError(f"delta={delta}: expected a finite difference")
    return _power(delta / sd, n, alpha, alternative)


def _power(effect: float, n: int, alpha: float, alternative: Alternative) -> float:
    return power_of_shift(effect * math.sqrt(n), n - 1, alpha, alternative)


def power_of_shift(shift: float, freedom: int, alpha: float, alternative: Alternative) -> float:
    """Return the power of a t test.

    Parameters
    ----------
    shift
        The true difference divided by the standard error of its estimate.
    freedom
        Degrees of freedom of that standard error.
    alpha, alternative
        Of the test.
    """
    from scipy.special import stdtrit  # slow to import

    if alternative == "two-sided":
        critical = -float(stdtrit(freedom, alpha / 2.0))
        reached = _t_beyond(freedom, shift, critical) + _t_beyond(freedom, -shift, critical)
        return min(1.0, reached)
    critical = -float(stdtrit(freedom, alpha))
    return _t_beyond(freedom, shift if alternative == "greater" else -shift, critical)


def _t_beyond(freedom: int, shift: float, critical: float) -> float:
    """Return P(noncentral t > critical), via the mirror image where that keeps more digits."""
    if shift < 0:
        return _t_below(freedom, -shift, -critical)
    return 1.0 - _t_below(freedom, shift, critical)


def _t_below(freedom: int, shift: float, limit: float) -> float:
    """Return P(noncentral t < limit) for a shift that is not negative."""
    from scipy.special import chdtrc, nctdtr  # slow to import

    if shift > FAR:
        ratio = shift / limit if limit > 0 else math.inf
        return float(chdtrc(freedom, freedom * ratio * ratio))
    below = float(nctdtr(float(freedom), shift, limit))
    # SciPy may return NaN where the result underflows.
    return 0.0 if math.isnan(below) else below


def queries_needed(
    sd: float,
    delta: float,
    *,
    power: float = 0.8,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> int:
    """Return the smallest number of queries that detects a difference delta with this power.

    Parameters
    ----------
    sd
        Standard deviation of the differences, from a pilot.
    delta
        The true mean difference; positive for ``greater``, negative for ``less``.
    power
        The target power.
    level
        The confidence level; the test is at 1 - level.
    alternative
        Its alternative.

    Returns
    -------
    int
        At least 2; one query fewer has less power than the target.

    References
    ----------
    Sakai (2018). Laboratory Experiments in Information Retrieval, chapter 6.

    Examples
    --------
    >>> queries_needed(sd=0.2, delta=0.05)
    128
    """
    alpha = _check_design(sd, level, alternative)
    check_fraction(power, "power", "0.8")
    if not math.isfinite(delta) or delta == 0:
        raise InputError(f"delta={delta}: expected a difference other than zero")
    if (alternative == "greater" and delta < 0) or (alternative == "less" and delta > 0):
        raise InputError(f"delta={delta}: has the wrong sign for alternative={alternative!r}")
    needed = smallest_n(lambda n: _power(delta / sd, n, alpha, alternative), power)
    if needed is None:
        raise InputError(
            f"delta={delta}: needs more than {MOST_UNITS:,} queries at a standard deviation of "
            f"{sd}; choose a larger difference"
        )
    return needed


def smallest_n(power_at: Callable[[int], float], target: float) -> int | None:
    """Return the smallest n whose power, which must not decrease with n, reaches a target.

    Parameters
    ----------
    power_at
        The power at n.
    target
        The target power.

    Returns
    -------
    int or None
        At least 2; None beyond `MOST_UNITS`.
    """
    low, high = 1, 2
    while power_at(high) < target:
        if high >= MOST_UNITS:
            return None
        low, high = high, min(2 * high, MOST_UNITS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= target else (middle, high)
    return high


def detectable_difference(
    sd: float,
    n: int,
    *,
    power: float = 0.8,
    level: float = 0.95,
    alternative: Alternative = "two-sided",
) -> float:
    """Return the smallest true difference that n queries detect with this power.

    Parameters
    ----------
    sd
        Standard deviation of the differences, from a pilot.
    n
        Queries, at least 2.
    power
        The target power, above 1 - level.
    level
        The confidence level; the test is at 1 - level.
    alternative
        Its alternative.

    Returns
    -------
    float
        The difference; negative for ``less``.

    References
    ----------
    Sakai (2018). Laboratory Experiments in Information Retrieval, chapter 6.
    """
    alpha = _check_design(sd, level, alternative)
    if n < 2:
        raise InputError(f"n={n}: expected at least 2 units for a paired t test")
    if not alpha < power < 1:
        raise InputError(f"power={power}: expected a number between 1 - level ({alpha:g}) and 1")
    side: Alternative = "greater" if alternative == "less" else alternative
    effect = smallest_value(lambda effect: _power(effect, n, alpha, side), power)
    return -effect * sd if alternative == "less" else effect * sd


def smallest_value(power_at: Callable[[float], float], target: float) -> float:
    """Return the smallest positive number whose power, an increasing function, reaches a target."""
    low, high = 0.0, 1.0
    while power_at(high) < target:
        low, high = high, 2.0 * high
    while low < (middle := (low + high) / 2.0) < high:
        low, high = (low, middle) if power_at(middle) >= target else (middle, high)
    return high


def _check_design(sd: float, level: float, alternative: Alternative) -> float:
    """Return the significance level of a design; refuse an invalid one."""
    check_alternative(alternative)
    check_level(level)
    if not (math.isfinite(sd) and sd > 0):
        raise InputError(f"sd={sd}: expected the standard deviation of the differences, above zero")
    return alpha_of(level)
