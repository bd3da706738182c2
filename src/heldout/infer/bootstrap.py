"""Bootstrap over units: the bootstrap-shift test of a mean difference, and intervals of a mean."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from heldout.errors import InputError
from heldout.infer.draws import check_draws, drawn_sums, power_text
from heldout.infer.lattice import drawn_chances, find_lattice
from heldout.infer.results import (
    TIE,
    Alternative,
    Interval,
    Outcome,
    as_values,
    check_alternative,
    check_fraction,
    do_not_vary,
    mean_estimate,
    thresholds,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats, Ints

FEW: Final = 12  # units up to which all resamples are enumerated: 12,376 multisets per half
BLOCK: Final = 2**20  # drawn values in memory at a time
MOST_CELLS: Final = 20_000  # sums of resamples up to which their distribution is computed: .03 s


def shift_test(
    differences: Iterable[float],
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
) -> Outcome:
    """Return the bootstrap-shift test of the mean difference (Noreen 1989; Smucker et al. 2007).

    Units are drawn with replacement. The means of such resamples minus the observed mean have the
    null distribution, and p is the share that is at least as far from 0 as the observed mean. With
    few units (below about 100) the test rejects too often; prefer the randomization test. An exact
    p is 0 if no resample is as extreme as the observed mean; differences without variance have the
    p of all other tests (`heldout.infer.results.Estimate`). Replicates are not centred on their own
    average, whose Monte Carlo error would move all that equal the threshold to one side.

    >>> first = np.array([0.5, 0.3, 0.1, 0.4, 1.0, 0.9, 0.1, 0.2, 0.5, 0.8])
    >>> second = np.array([0.2, 0.3, 0.1, 0.4, 1.0, 0.8, 0.3, 0.1, 0.0, 0.9])
    >>> outcome = shift_test(first - second)
    >>> round(outcome.p, 10), outcome.method
    (0.2805329481, 'exact')
    """
    values = as_values(differences, "differences")
    check_alternative(alternative)
    check_draws(replicates, seed)
    mean = float(values.mean())
    if do_not_vary(values):
        (outcome,) = mean_estimate(values).outcomes("bootstrap-shift", alternative, len(values))
        return outcome._replace(statistic=mean)
    p, detail = _exact(values, alternative)
    outcome = Outcome("bootstrap-shift", p, mean, alternative, len(values), detail=detail)
    if math.isfinite(p):
        return outcome
    total, tie = float(values.sum()), TIE * float(np.abs(values).sum())
    low, high = thresholds(total, total, tie, alternative)
    out = 0
    for sums in drawn_sums(values, replicates, seed):
        out += int(np.count_nonzero((sums <= low) | (sums >= high)))
    return outcome.drawn(out, replicates, seed)


def _exact(values: Floats, alternative: Alternative) -> tuple[float, str]:
    """Return p, and how, for few units or a lattice that is not too fine; else NaN."""
    count = len(values)
    if count <= FEW:
        return _enumerate(values, alternative), f"all {power_text(count, count)} resamples"
    lattice = find_lattice(values)
    if lattice is None or count * int(np.ptp(lattice.cells)) > MOST_CELLS:
        return math.nan, ""
    chances, total = drawn_chances(lattice.cells), int(lattice.cells.sum())
    sums = np.arange(len(chances)) + count * int(lattice.cells.min())
    low, high = thresholds(total, total, 0, alternative)
    p = min(1.0, float(chances[(sums <= low) | (sums >= high)].sum()))
    return p, f"all resamples, by convolution on a lattice of step {lattice.step:.6g}"


def _enumerate(values: Floats, alternative: Alternative) -> float:
    """Return p over all n^n resamples, by meeting in the middle: the square root of the work.

    All multisets of each half of the draws are listed; sums beyond the thresholds are searched.
    """
    count, total = len(values), float(values.sum())
    low, high = thresholds(total, total, TIE * float(np.abs(values).sum()), alternative)
    left, left_ways = _multisets(values, count // 2)
    right, right_ways = _multisets(values, count - count // 2)
    order = np.argsort(right)
    right, below = right[order], np.concatenate([[0], right_ways[order].cumsum()])
    out = below[np.searchsorted(right, low - left, side="right")]
    out += below[-1] - below[np.searchsorted(right, high - left, side="left")]
    return float(min(1.0, int(left_ways @ out) / count**count))


def _multisets(values: Floats, draws: int) -> tuple[Floats, Ints]:
    """Return the sums of all multisets of `draws` values, and the number of orders of each."""
    picks = np.array(list(combinations_with_replacement(range(len(values)), draws)))
    run = np.ones(len(picks), np.int64)
    repeats = np.ones(len(picks), np.int64)
    # Counting each run up (1, 2, …, m) and multiplying gives the product of m! over all runs.
    for place in range(1, draws):
        run = np.where(picks[:, place] == picks[:, place - 1], run + 1, 1)
        repeats *= run
    return values[picks].sum(axis=1), math.factorial(draws) // repeats


def shift_p_of_replicates(
    replicates: Iterable[float], observed: float, alternative: Alternative = "greater"
) -> float:
    """Return the p-value of given bootstrap replicates, centred on their own average.

    This is the textbook shift method for replicates T from elsewhere: the share of T - average(T)
    that is as extreme as the observed value.

    >>> drawn = [0.10, 0.04, 0.21, 0.20, 0.13, 0.09, 0.22, 0.07, 0.03, 0.11]
    >>> shift_p_of_replicates(drawn, 0.07), shift_p_of_replicates(drawn, 0.07, "two-sided")
    (0.3, 0.5)
    """
    drawn = as_values(replicates, "replicates")
    if not math.isfinite(observed):
        raise InputError("expected a finite number", argument="observed", value=observed)
    tie = TIE * (float(np.abs(drawn).max()) + abs(observed))
    center = float(drawn.mean())
    low, high = thresholds(center, observed, tie, alternative)
    return float(np.mean((drawn <= low) | (drawn >= high)))


def bootstrap_interval(
    values: Iterable[float],
    *,
    kind: Literal["percentile", "bca"] = "percentile",
    level: float = 0.95,
    replicates: int = 100_000,
    seed: int = 0,
) -> Interval:
    """Return a bootstrap interval for the mean over units; no width if all values are equal.

    ``percentile`` (Efron 1979): quantiles of the means of resamples; ``bca`` (Efron 1987): the
    same, corrected for bias and skewness, which matters for few or skewed values.

    >>> interval = bootstrap_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> round(interval.estimate, 1), round(interval.low, 1), round(interval.high, 1)
    (3.5, 2.2, 4.8)
    """
    from scipy.stats import bootstrap  # slow to import

    units = as_values(values)
    check_draws(replicates, seed)
    check_fraction(level)
    mean, method = float(units.mean()), f"bootstrap {'BCa' if kind == 'bca' else kind}"
    if do_not_vary(units):
        return Interval(mean, mean, mean, level, method)
    drawn = bootstrap(
        (units,),
        np.mean,
        n_resamples=replicates,
        batch=max(1, BLOCK // len(units)),
        confidence_level=level,
        method="BCa" if kind == "bca" else "percentile",
        rng=np.random.default_rng(seed),
    )
    low, high = map(float, drawn.confidence_interval)
    return Interval(mean, low, high, level, method)
