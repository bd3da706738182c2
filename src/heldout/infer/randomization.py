"""Fisher's paired randomization test, exact where feasible."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.infer.draws import all_signed_sums, check_draws, power_text, signed_sums
from heldout.infer.lattice import (
    chosen_chances,
    find_lattice,
    signed_cost,
    signed_tail,
)
from heldout.infer.paired import fair_coin
from heldout.infer.results import (
    TIE,
    Alternative,
    Outcome,
    PValue,
    as_values,
    check_alternative,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats, Ints

__all__ = ["randomization_test"]

FEW: Final = 20
"""Differences up to which enumeration takes microseconds and is tried first."""

MANY: Final = 32
"""Differences up to which enumeration (two halves, a few ms) is preferred to approximations."""

WAIT: Final = 1e8
"""Nanoseconds that an exact p-value may take."""

TIGHT: Final = 0.02
"""A grid p-value is used if its error bound is at most this fraction of it, or at most ..."""

TIGHT_ABSOLUTE: Final = 1e-4


def randomization_test(
    differences: Iterable[float],
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
) -> Outcome:
    """Return Fisher's paired randomization test of the mean difference [1]_ [2]_.

    If the two systems were equally good, each difference would be as likely to have the opposite
    sign. The p-value is the share of the 2^n assignments of signs whose mean is at least as extreme
    as the observed one (``greater``: at least as large; ``less``: at most as large).

    Parameters
    ----------
    differences
        First system minus second, one number per unit.
    alternative
        ``two-sided``, ``greater`` or ``less``.
    replicates
        Random sign assignments, if the p-value is not exact.
    seed
        The random seed.

    Returns
    -------
    Outcome
        By the first feasible method: ``exact``, by enumeration for few units, by convolution for
        differences on a lattice (P@10, hit rates, printed decimals), by the binomial distribution
        for millions of differences of one size; ``grid``, differences rounded to a fine grid, with
        an error bound for p, used if the bound is within 2 % of p or 0.0001; ``monte carlo``,
        p = (c + 1) / (B + 1) [3]_. The `error` is a bound for a grid p and the standard error of a
        Monte Carlo p.

    References
    ----------
    .. [1] Fisher, R. A. (1935). The Design of Experiments, section 21. Oliver and Boyd.
    .. [2] Smucker, M. D., Allan, J., Carterette, B. (2007). A comparison of statistical
       significance tests for information retrieval evaluation. CIKM 2007, 623-632.
    .. [3] Phipson, B., Smyth, G. K. (2010). Permutation p-values should never be zero.
       Statistical Applications in Genetics and Molecular Biology 9(1), 39.

    Examples
    --------
    Darwin's maize, as Fisher tested it.

    >>> maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> outcome = randomization_test(maize)
    >>> round(outcome.p * 32_768), outcome.method, outcome.detail
    (1726, 'exact', 'all 32,768 sign assignments')
    """
    values = as_values(differences, "differences")
    check_alternative(alternative)
    check_draws(replicates, seed)
    answer = _answer(_Case.of(values, alternative), replicates, seed)
    return answer.outcome("randomization", float(values.mean()), alternative, len(values))


class _Case(NamedTuple):
    """A test with signs reversed if needed, so that large sums are evidence against the null.

    Zero differences are left out: their signs do not change the sum.
    """

    values: Floats
    observed: float
    two: bool
    units: int

    @classmethod
    def of(cls, values: Floats, alternative: Alternative) -> _Case:
        kept = values[values != 0]
        if alternative == "less" or (alternative == "two-sided" and kept.sum() < 0):
            kept = -kept
        return cls(kept, float(kept.sum()), alternative == "two-sided", len(values))

    @property
    def threshold(self) -> float:
        """The smallest sum as extreme as the observed one, with a tolerance for rounding."""
        return self.observed - TIE * float(np.abs(self.values).sum())


def _answer(case: _Case, replicates: int, seed: int) -> PValue:
    if not len(case.values):
        return PValue(1.0, "exact", 0.0, "all differences are 0")
    if case.two and case.threshold <= 0:
        return PValue(1.0, "exact", 0.0, "the mean difference is 0")
    return _exact(case) or _grid(case) or _monte_carlo(case, replicates, seed)


def _exact(case: _Case) -> PValue | None:
    count = len(case.values)
    if count <= FEW:
        return _enumerate(case)
    answer = _convolve(case)
    return _enumerate(case) if answer is None and count <= MANY else answer


def _enumerate(case: _Case) -> PValue:
    """Count over all signs, by meeting in the middle.

    The signed sums of each half are listed, and for each left sum the right sums that reach the
    threshold are counted by binary search: 2^(n/2) steps instead of 2^n.
    """
    half = len(case.values) // 2
    left = all_signed_sums(case.values[:half])
    right = np.sort(all_signed_sums(case.values[half:]))
    left.sort()  # consecutive searches then access the same memory
    reaching = len(right) - np.searchsorted(right, case.threshold - left, side="left")
    p = int(reaching.sum()) * (2 if case.two else 1) / 2 ** len(case.values)
    return PValue(p, "exact", 0.0, f"all {power_text(2, case.units)} sign assignments")


def _convolve(case: _Case) -> PValue | None:
    lattice = find_lattice(case.values)
    if lattice is None:
        return None
    sizes = np.abs(lattice.cells)
    if signed_cost(sizes) > WAIT:
        return _coins(lattice.cells, two=case.two) if (sizes == 1).all() else None
    observed = int(lattice.cells.sum())
    if case.two and observed <= 0:
        return PValue(1.0, "exact", 0.0, "the mean difference is 0")
    p = signed_tail(lattice.cells, observed) * (2 if case.two else 1)
    detail = f"all sign assignments, by convolution on a lattice of step {lattice.step:.6g}"
    return PValue(min(1.0, p), "exact", 0.0, detail)


def _coins(cells: Ints, *, two: bool) -> PValue:
    """Return the exact p-value of differences of one size, whose signs are fair coins."""
    p = fair_coin(int((cells > 0).sum()), len(cells), "greater") * (2 if two else 1)
    return PValue(min(1.0, p), "exact", 0.0, "all sign assignments, by the binomial distribution")


def _grid_cells(count: int) -> int:
    """Return the cells that bound the error near 1 % of p at p = .05.

    Rounding moves the sum by up to count * step / 2, its standard deviation is about √count times
    the mean size, and step is the total size over the cells: the bound is of the order
    count^1.5 / cells.
    """
    return math.ceil(48 * count * math.sqrt(count))


def _grid(case: _Case) -> PValue | None:
    """Return p of differences rounded to a grid, with rigorous bounds.

    A signed sum changes by at most the total rounding error, so the exact tail lies between the
    tails of the rounded sums at the threshold moved up and down by that amount.
    """
    sizes = np.abs(case.values)
    step = float(sizes.sum()) / _grid_cells(len(sizes))
    weights = np.rint(sizes / step).astype(np.int64)
    if len(weights) * int(weights.sum()) > 2**23:  # Monte Carlo is faster
        return None
    rounding = float(np.abs(sizes - weights * step).sum())
    total = int(weights.sum())
    from_there = _steps_from_top(case.threshold - rounding, step, total)
    # The distribution is symmetric: compute it from the small end, and only as far as needed.
    upward = chosen_chances(weights, max(0, from_there)).cumsum()
    at_most = 1.0
    if not case.two or case.threshold - rounding > 0:
        at_most = _tail_from(upward, from_there, two=case.two)
    # The observed assignment itself always counts.
    least = (2.0 if case.two else 1.0) / 2.0 ** len(sizes)
    beyond = _steps_from_top(2 * case.observed - case.threshold + rounding, step, total)
    at_least = max(least, _tail_from(upward, beyond, two=case.two))
    at_most = max(at_most, at_least)
    p, error = (at_least + at_most) / 2, (at_most - at_least) / 2
    if error > max(TIGHT * p, TIGHT_ABSOLUTE):
        return None
    return PValue(p, "grid", error, f"rounded to multiples of {step:.3g}, p within ± {error:.1g}")


def _steps_from_top(threshold: float, step: float, total: int) -> int:
    """Return how many steps below the largest sum the threshold is."""
    return total - max(0, math.ceil((threshold / step + total) / 2))


def _tail_from(upward: Floats, steps: int, *, two: bool) -> float:
    """Return P(sum >= threshold), doubled if two-sided, from cumulated chances from the top."""
    return min(1.0, float(upward[steps]) * (2 if two else 1)) if steps >= 0 else 0.0


def _monte_carlo(case: _Case, replicates: int, seed: int) -> PValue:
    count = 0
    for sums in signed_sums(case.values, replicates, seed):
        statistics = np.abs(sums) if case.two else sums
        count += int(np.count_nonzero(statistics >= case.threshold))
    return PValue.monte_carlo(count, replicates, seed)
