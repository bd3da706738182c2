"""Bootstrap over units: the bootstrap-shift test of a mean difference, and intervals of a mean."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

import numpy as np

from heldout.errors import InputError
from heldout.infer.draws import check_draws, drawn_sums, power_text
from heldout.infer.lattice import drawn_cost, drawn_tail, find_lattice
from heldout.infer.results import (
    TIE,
    Alternative,
    Interval,
    Outcome,
    PValue,
    as_values,
    check_alternative,
    check_fraction,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heldout.data.words import Floats, Ints

_V = TypeVar("_V", "Floats", "Ints")

__all__ = [
    "IntervalKind",
    "bootstrap_interval",
    "shift_p_of_replicates",
    "shift_test",
]

IntervalKind = Literal["percentile", "bca"]

FEW: Final = 12
"""Units up to which all resamples are enumerated: 12,376 multisets per half."""

WAIT: Final = 2e8
"""Nanoseconds that an exact p-value may take."""


def shift_test(
    differences: Iterable[float],
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
) -> Outcome:
    """Return the bootstrap-shift test of the mean difference [1]_ [2]_.

    Units are drawn with replacement. The means of such resamples minus the observed mean have the
    null distribution, and the p-value is the share that is at least as far from 0 as the observed
    mean (``greater``: at least as large; ``less``: at most as large). With few units (below about
    100) the test rejects too often; prefer the randomization test.

    Replicates are centred on the observed mean, not on their own average. The average has a Monte
    Carlo error, and for scores on a lattice, where many replicates equal the threshold exactly, it
    would move all of them to one side at random.

    Parameters
    ----------
    differences
        First system minus second, one number per unit.
    alternative
        ``two-sided``, ``greater`` or ``less``.
    replicates, seed
        Of the resampling, if the p-value is not exact.

    Returns
    -------
    Outcome
        Exact by enumeration for few units, exact by convolution for differences on a lattice, else
        Monte Carlo with p = (c + 1) / (B + 1). The `error` of a Monte Carlo p is its standard
        error. An exact p is 0 if no resample is as extreme as the observed mean.

    References
    ----------
    .. [1] Noreen, E. W. (1989). Computer-Intensive Methods for Testing Hypotheses. Wiley.
    .. [2] Smucker, M. D., Allan, J., Carterette, B. (2007). A comparison of statistical
       significance tests for information retrieval evaluation. CIKM 2007, 623-632.

    Examples
    --------
    >>> first = np.array([0.5, 0.3, 0.1, 0.4, 1.0, 0.9, 0.1, 0.2, 0.5, 0.8])
    >>> second = np.array([0.2, 0.3, 0.1, 0.4, 1.0, 0.8, 0.3, 0.1, 0.0, 0.9])
    >>> outcome = shift_test(first - second)
    >>> round(outcome.p, 10), outcome.method
    (0.2805329481, 'exact')
    """
    values = as_values(differences, "differences")
    check_alternative(alternative)
    check_draws(replicates, seed)
    answer = (
        _all_zero(values)
        or _exact(values, alternative)
        or _monte_carlo(values, alternative, replicates, seed)
    )
    return answer.outcome("bootstrap-shift", float(values.mean()), alternative, len(values))


def _all_zero(values: Floats) -> PValue | None:
    if not values.any():
        return PValue(1.0, "exact", 0.0, "all differences are 0")
    if np.ptp(values) <= TIE * float(np.abs(values).max()):
        raise InputError(
            f"bootstrap-shift: all {len(values)} differences are {values[0]:g}, so all resamples "
            "are equal: use the randomization test"
        )
    return None


def _monte_carlo(values: Floats, alternative: Alternative, replicates: int, seed: int) -> PValue:
    center, tie = float(values.sum()), TIE * float(np.abs(values).sum())
    count = 0
    for (sums,) in drawn_sums([values], replicates, seed):
        count += _count_out(sums - center, center, tie, alternative)
    return PValue.monte_carlo(count, replicates, seed)


def _count_out(shifted: Floats, observed: float, tie: float, alternative: Alternative) -> int:
    """Return how many centred replicates are as extreme as the observed value, ties included."""
    if alternative == "two-sided":
        return int(np.count_nonzero(np.abs(shifted) >= abs(observed) - tie))
    if alternative == "greater":
        return int(np.count_nonzero(shifted >= observed - tie))
    return int(np.count_nonzero(shifted <= observed + tie))


def _exact(values: Floats, alternative: Alternative) -> PValue | None:
    count = len(values)
    if count <= FEW:
        p = _exact_p(values, alternative, _enumerated_tail)
        return PValue(p, "exact", 0.0, f"all {power_text(count, count)} resamples")
    lattice = find_lattice(values)
    if lattice is None or drawn_cost(lattice.cells) > WAIT:
        return None
    detail = f"all resamples, by convolution on a lattice of step {lattice.step:.6g}"
    return PValue(_exact_p(lattice.cells, alternative, drawn_tail), "exact", 0.0, detail)


def _exact_p(values: _V, alternative: Alternative, upper: Callable[[_V, Any], float]) -> float:
    """Return the p-value, given a function for P(sum of a resample >= threshold)."""
    observed = values.sum()
    if alternative == "less":
        values, observed = -values, -observed
    if alternative != "two-sided":
        return upper(values, observed + observed)
    far = abs(observed)
    return min(1.0, upper(values, observed + far) + upper(-values, far - observed))


def _enumerated_tail(values: Floats, at_least: float) -> float:
    """Return P(sum of n draws >= at_least), by meeting in the middle.

    All multisets of each half of the draws are listed, and for each left sum the right sums that
    reach the threshold are counted by binary search: the square root of the work of n^n resamples.
    """
    count = len(values)
    left, left_ways = _multisets(values, count // 2)
    right, right_ways = _multisets(values, count - count // 2)
    order = np.argsort(right)
    below = np.concatenate([[0], right_ways[order].cumsum()])
    threshold = at_least - TIE * float(np.abs(values).sum())
    reached = below[-1] - below[np.searchsorted(right[order], threshold - left, side="left")]
    return float(int(left_ways @ reached) / count**count)


def _multisets(values: Floats, draws: int) -> tuple[Floats, Ints]:
    """Return the sums of all multisets of `draws` values, and the number of orders of each."""
    picks = np.array(list(combinations_with_replacement(range(len(values)), draws)))
    run = np.ones(len(picks), np.int64)
    repeats = np.ones(len(picks), np.int64)
    # Counting each run up (1, 2, …, m) and multiplying gives the product of m! over all runs.
    for at in range(1, draws):
        run = np.where(picks[:, at] == picks[:, at - 1], run + 1, 1)
        repeats *= run
    return values[picks].sum(axis=1), math.factorial(draws) // repeats


def shift_p_of_replicates(
    replicates: Iterable[float], observed: float, alternative: Alternative = "greater"
) -> float:
    """Return the p-value of given bootstrap replicates, centred on their own average.

    This is the textbook shift method for replicates from elsewhere: the share of T - average(T)
    that is as extreme as the observed value. `shift_test` centres its own replicates on the
    observed mean.

    Parameters
    ----------
    replicates
        Values T of the statistic.
    observed
        Its observed value.
    alternative
        ``greater``, ``less`` or ``two-sided``.

    Examples
    --------
    >>> drawn = [0.10, 0.04, 0.21, 0.20, 0.13, 0.09, 0.22, 0.07, 0.03, 0.11]
    >>> shift_p_of_replicates(drawn, 0.07)
    0.3
    """
    drawn = as_values(replicates, "replicates")
    check_alternative(alternative)
    if not math.isfinite(observed):
        raise InputError(f"observed={observed}: expected a finite number")
    tie = TIE * (float(np.abs(drawn).max()) + abs(observed))
    return _count_out(drawn - drawn.mean(), observed, tie, alternative) / len(drawn)


def bootstrap_interval(
    values: Iterable[float],
    *,
    kind: IntervalKind = "percentile",
    level: float = 0.95,
    replicates: int = 100_000,
    seed: int = 0,
) -> Interval:
    """Return a bootstrap interval for the mean over units: percentile [1]_ or BCa [2]_.

    Parameters
    ----------
    values
        One number per unit: scores of a system, or differences of two.
    kind
        ``percentile``: quantiles of the means of resamples; ``bca``: the same, corrected for bias
        and skewness, which matters for few or skewed values.
    level
        The confidence level.
    replicates, seed
        Of the resampling.

    Returns
    -------
    Interval
        It has no width if all values are equal.

    References
    ----------
    .. [1] Efron, B. (1979). Bootstrap methods: another look at the jackknife. Annals of
       Statistics 7, 1-26.
    .. [2] Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American
       Statistical Association 82, 171-185.

    Examples
    --------
    >>> found = bootstrap_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> round(found.estimate, 1), round(found.low, 1), round(found.high, 1)
    (3.5, 2.2, 4.8)
    """
    units = as_values(values)
    check_draws(replicates, seed)
    if kind not in get_args(IntervalKind):
        raise InputError(f"kind={kind!r}: expected one of {', '.join(get_args(IntervalKind))}")
    check_fraction(level)
    mean, method = float(units.mean()), f"bootstrap {'BCa' if kind == 'bca' else kind}"
    if np.ptp(units) <= TIE * float(np.abs(units).max()):
        return Interval(mean, mean, mean, level, method)
    sums = np.concatenate([block for (block,) in drawn_sums([units], replicates, seed)])
    shares = ((1 - level) / 2, (1 + level) / 2)
    if kind == "bca":
        shares = _bca_shares(units, sums, shares)
    low, high = np.quantile(sums, shares) / len(units)
    return Interval(mean, float(low), float(high), level, method)


def _bca_shares(units: Floats, sums: Floats, shares: tuple[float, float]) -> tuple[float, float]:
    """Return the quantiles of the replicates to use, corrected for bias and acceleration."""
    from statistics import NormalDist  # slow to import

    normal = NormalDist()
    total, tie = float(units.sum()), TIE * float(np.abs(units).sum())
    below = np.count_nonzero(sums < total - tie) + np.count_nonzero(sums <= total + tie)
    # Ties count half. A share of 0 or 1 would make the bias infinite.
    share = min(max(below / 2, 0.5), len(sums) - 0.5) / len(sums)
    bias = normal.inv_cdf(share)
    centered = units - units.mean()  # proportional to the deviations of the jackknife means
    acceleration = float((centered**3).sum()) / (6 * float((centered**2).sum()) ** 1.5)

    def corrected(part: float) -> float:
        z = bias + normal.inv_cdf(part)
        return normal.cdf(bias + z / (1 - acceleration * z))

    return corrected(shares[0]), corrected(shares[1])
