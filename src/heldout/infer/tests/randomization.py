"""Fisher's paired randomization test, exact where it can be, and the interval it inverts to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.data.notes import power_text
from heldout.errors import InputError
from heldout.infer.results import TIE, Alternative, Interval, Outcome, as_values, check_alternative
from heldout.infer.tests.draws import all_signed_sums, check_draws, signed_sums
from heldout.infer.tests.lattice import (
    chosen_chances,
    find_lattice,
    signed_cost,
    signed_tail,
)
from heldout.infer.tests.paired import fair_coin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats, Ints

__all__ = ["Method", "randomization_interval", "randomization_test"]

Method = Literal["auto", "exact", "grid", "monte carlo"]

FEW: Final = 20
"""Up to here enumeration is a matter of microseconds and is done first."""

MANY: Final = 32
"""Up to here enumeration (two halves, a few ms) is preferred to anything approximate."""

MOST: Final = 42
"""Up to here enumeration is done when asked for: a second, 100 MB."""

WAIT: Final = 1e8
"""Nanoseconds an exact p may take unasked; 100 times that when asked for."""

TIGHT: Final = 0.02
"""A grid p is used when its bound is within this share of it, or within ..."""

TIGHT_ABSOLUTE: Final = 1e-4


class _Answer(NamedTuple):
    p: float
    method: str
    error: float
    detail: str


def randomization_test(
    differences: Iterable[float],
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
    method: Method = "auto",
) -> Outcome:
    """Fisher's paired randomization test on the mean difference [1]_ [2]_.

    Were the two systems the same, each difference could as well have had the other sign. The
    p-value is the share of the 2^n assignments of signs whose mean is at least as far out as the
    one observed (``greater``: at least as large; ``less``: at most as large).

    Parameters
    ----------
    differences
        First system minus second, one number a unit.
    alternative
        ``two-sided``, ``greater`` or ``less``.
    replicates
        Random assignments, if it comes to Monte Carlo.
    seed
        Of the random assignments.
    method
        ``auto`` takes the first that is feasible of: ``exact``, by enumeration for few units, by
        convolution for differences on a lattice (P@10, hit rates, printed decimals), by the
        binomial distribution for millions of one size; ``grid``,
        differences rounded to a fine grid, with bounds for what that can do to p, used when they
        are within 2 % of p or 0.0001; ``monte carlo``, p = (c + 1) / (B + 1) [3]_. Any of them
        can be asked for by name.

    Returns
    -------
    Outcome
        Its `error` bounds a grid p and is the standard error of a Monte Carlo p.

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
    if method not in get_args(Method):
        raise InputError(f"method={method!r}: expected one of {', '.join(get_args(Method))}")
    answer = _answer(_Case.of(values, alternative), replicates, seed, method)
    return Outcome(
        "randomization",
        answer.p,
        float(values.mean()),
        alternative,
        len(values),
        answer.method,
        answer.error,
        answer.detail,
    )


class _Case(NamedTuple):
    """A test turned such that large sums speak against the null.

    Zero differences are left out: their sign does not matter.
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
        """Sums from here on are as far out as the observed one, ties but for rounding included."""
        return self.observed - TIE * float(np.abs(self.values).sum())


def _answer(case: _Case, replicates: int, seed: int, method: Method) -> _Answer:
    if not len(case.values):
        return _Answer(1.0, "exact", 0.0, "all differences are 0")
    if case.two and case.threshold <= 0:
        return _Answer(1.0, "exact", 0.0, "the mean difference is 0")
    answer = None
    if method in {"auto", "exact"}:
        answer = _exact(case, asked=method == "exact")
        if method == "exact" and answer is None:
            raise InputError(
                f"method='exact': {len(case.values)} differences other than 0 that lie on no "
                f"common lattice are too many (at most {MOST}): use method='auto' or 'monte carlo'"
            )
    if answer is None and method in {"auto", "grid"}:
        answer = _grid(case, asked=method == "grid")
    return answer or _monte_carlo(case, replicates, seed)


def _exact(case: _Case, *, asked: bool) -> _Answer | None:
    count = len(case.values)
    if count <= FEW:
        return _enumerate(case)
    answer = _convolve(case, WAIT * (100 if asked else 1))
    if answer is None and count <= (MOST if asked else MANY):
        answer = _enumerate(case)
    return answer


def _enumerate(case: _Case) -> _Answer:
    """Count over all signs; each half is enumerated, pairs are counted by binary search."""
    half = len(case.values) // 2
    left = all_signed_sums(case.values[:half])
    right = np.sort(all_signed_sums(case.values[half:]))
    left.sort()  # neighbouring searches then touch the same memory
    found = len(right) - np.searchsorted(right, case.threshold - left, side="left")
    p = int(found.sum()) * (2 if case.two else 1) / 2 ** len(case.values)
    return _Answer(p, "exact", 0.0, f"all {power_text(2, case.units)} sign assignments")


def _convolve(case: _Case, wait: float) -> _Answer | None:
    lattice = find_lattice(case.values)
    if lattice is None:
        return None
    sizes = np.abs(lattice.cells)
    if signed_cost(sizes) > wait:
        return _coins(lattice.cells, two=case.two) if (sizes == 1).all() else None
    observed = int(lattice.cells.sum())
    if case.two and observed <= 0:
        return _Answer(1.0, "exact", 0.0, "the mean difference is 0")
    p = signed_tail(lattice.cells, observed) * (2 if case.two else 1)
    detail = f"all sign assignments, by convolution on a lattice of step {lattice.step:.6g}"
    return _Answer(min(1.0, p), "exact", 0.0, detail)


def _coins(cells: Ints, *, two: bool) -> _Answer:
    """Differences of one size are coins, of which millions are no trouble."""
    p = fair_coin(int((cells > 0).sum()), len(cells), "greater") * (2 if two else 1)
    return _Answer(min(1.0, p), "exact", 0.0, "all sign assignments, by the binomial distribution")


def _grid_cells(count: int, *, asked: bool) -> int:
    """Cells for a bound near 1 % of p at p = .05: it grows with count^1.5 / cells."""
    return math.ceil((200 if asked else 48) * count * math.sqrt(count))


def _grid(case: _Case, *, asked: bool) -> _Answer | None:
    """Round to a grid and bound the tail by shifting the threshold by all the rounding there is."""
    sizes = np.abs(case.values)
    step = float(sizes.sum()) / _grid_cells(len(sizes), asked=asked)
    weights = np.rint(sizes / step).astype(np.int64)
    if not asked and len(weights) * int(weights.sum()) > 2**23:  # some ms: drawing is faster
        return None
    if len(weights) * int(weights.sum()) > 2**33:
        raise InputError(
            f"method='grid': {len(weights)} differences other than 0 are too many for a tight "
            "grid: use method='auto' or 'monte carlo'"
        )
    rounding = float(np.abs(sizes - weights * step).sum())
    total = int(weights.sum())
    from_there = _steps_from_top(case.threshold - rounding, step, total)
    # Chances are the same from either end, and no sum further in is asked for.
    upward = chosen_chances(weights, max(0, from_there)).cumsum()
    at_most = 1.0
    if not case.two or case.threshold - rounding > 0:
        at_most = _tail_from(upward, from_there, two=case.two)
    # the observed assignment itself always counts
    least = (2.0 if case.two else 1.0) / 2.0 ** len(sizes)
    beyond = _steps_from_top(2 * case.observed - case.threshold + rounding, step, total)
    at_least = max(least, _tail_from(upward, beyond, two=case.two))
    at_most = max(at_most, at_least)
    p, error = (at_least + at_most) / 2, (at_most - at_least) / 2
    if not asked and error > max(TIGHT * p, TIGHT_ABSOLUTE):
        return None
    return _Answer(p, "grid", error, f"rounded to multiples of {step:.3g}, p within ± {error:.1g}")


def _steps_from_top(threshold: float, step: float, total: int) -> int:
    """How many steps of a sum below the largest are the last that reach the threshold."""
    return total - max(0, math.ceil((threshold / step + total) / 2))


def _tail_from(upward: Floats, steps: int, *, two: bool) -> float:
    """P(sum >= threshold), or both ways, from the sums of chances from the top downward."""
    return min(1.0, float(upward[steps]) * (2 if two else 1)) if steps >= 0 else 0.0


def _monte_carlo(case: _Case, replicates: int, seed: int) -> _Answer:
    count = 0
    for sums in signed_sums(case.values, replicates, seed):
        found = np.abs(sums) if case.two else sums
        count += int(np.count_nonzero(found >= case.threshold))
    p = (count + 1) / (replicates + 1)
    error = math.sqrt(p * (1 - p) / replicates)
    return _Answer(p, "monte carlo", error, f"{replicates:,} draws, seed {seed}")


def randomization_interval(
    differences: Iterable[float],
    *,
    level: float = 0.95,
    replicates: int = 100_000,
    seed: int = 0,
) -> Interval:
    """The interval of mean differences that the two-sided randomization test does not reject.

    The test of "the mean is s" flips the signs of the differences minus s. Its one-sided p is
    the share of subsets of the units whose mean is at most s (the empty subset, no flip, always
    counts), so no search is needed: the bounds are order statistics of the means of subsets
    (Hartigan's typical values [1]_). Up to 16 units all subsets are taken, else random ones.

    Parameters
    ----------
    differences
        First system minus second, one number a unit.
    level
        The confidence level.
    replicates, seed
        Of the random subsets.

    Returns
    -------
    Interval
        Unbounded when there are too few units to reject anything (5 at level .95).

    References
    ----------
    .. [1] Hartigan, J. A. (1969). Using subsample values as typical values. Journal of the
       American Statistical Association 64, 1303-1317.

    Examples
    --------
    >>> maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> found = randomization_interval(maize)
    >>> round(found.low, 2), round(found.high, 2)
    (-0.17, 41.0)
    """
    values = as_values(differences, "differences")
    check_draws(replicates, seed)
    if not 0 < level < 1:
        raise InputError(f"level={level}: expected a number between 0 and 1, such as 0.95")
    sums, sizes = _subsets(values, replicates, seed)
    kept = sizes > 0.5  # sizes are whole numbers, in floats
    means = np.sort(sums[kept] / sizes[kept])
    # Assignments other than the observed one are all in `sums`, which adds itself: (c + 1)/(B + 1).
    reject = math.floor((1 - level) / 2 * (len(sums) + 1) * (1 + TIE))
    reject -= len(sums) - len(means)  # drawn empty subsets always count
    low, high = -math.inf, math.inf
    if reject >= 1:
        low, high = float(means[reject - 1]), float(means[-reject])
    return Interval(float(values.mean()), low, high, level, "randomization inversion")


ALL_SUBSETS: Final = 16


def _subsets(values: Floats, replicates: int, seed: int) -> tuple[Floats, Floats]:
    """Sums and sizes of subsets of the units: all but the empty one, or random ones."""
    ones = np.ones(len(values))
    if len(values) <= ALL_SUBSETS:
        signed, signs = all_signed_sums(values)[1:], all_signed_sums(ones)[1:]
    else:  # equal seeds: equal subsets
        signed = np.concatenate(list(signed_sums(values, replicates, seed)))
        signs = np.concatenate(list(signed_sums(ones, replicates, seed)))
    return (values.sum() + signed) / 2, (len(values) + signs) / 2
