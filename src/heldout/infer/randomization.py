"""Fisher's randomization test of paired differences, and the tests that are transforms of it.

If two systems are equally good, each difference is as likely to have the opposite sign. The p-value
is the share of all assignments of signs whose sum is at least as extreme as the observed one. It is
computed in the first way that is feasible: by enumeration, by convolution on a lattice, on a grid
with an error bound, or from random signs.

The sign test, Wilcoxon's and McNemar's are the same test of the signs, of the signed ranks, and of
differences of zeros and ones. All take differences first minus second, one per unit, where rounding
noise has been set to 0 (`heldout.infer.results.drop_noise`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.draws import all_signed_sums, check_draws, power_text, signed_sums
from heldout.infer.lattice import chosen_chances, find_lattice
from heldout.infer.results import SAME, TIE, Alternative, Outcome, as_values, check_alternative
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats, Ints

FEW: Final = 20  # differences up to which enumeration takes microseconds and is tried first
MANY: Final = 32  # differences up to which enumeration (milliseconds) beats approximations
MOST_WORK: Final = 4e7  # nanoseconds that convolution may take
GRID_WORK: Final = 2**23  # additions above which random signs are faster than a grid
TIGHT: Final = 0.02  # a grid p-value is used if its error is at most this share of it, or .0001


def randomization_test(
    differences: Iterable[float],
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
) -> Outcome:
    """Return Fisher's test of the mean difference (1935, The Design of Experiments, section 21).

    See also Smucker, Allan & Carterette (2007), CIKM. The sign of 0 does not matter: zeros count as
    units, but not as differences. Darwin's maize, as Fisher tested it:

    >>> maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> outcome = randomization_test(maize)
    >>> round(outcome.p * 32_768), outcome.method, outcome.detail
    (1726, 'exact', 'all 32,768 sign assignments')
    """
    values = as_values(differences, "differences")
    check_draws(replicates, seed)
    case = _Case.of(values, float(values.mean()), alternative)
    if outcome := _exact(case) or _round_to_grid(case):
        return outcome
    out = 0
    for sums in signed_sums(case.values, replicates, seed):
        statistics = np.abs(sums) if case.tails == 2 else sums
        out += int(np.count_nonzero(statistics >= case.threshold))
    return case.outcome(1.0, "").drawn(out, replicates, seed)


def sign_test(differences: Iterable[float], *, alternative: Alternative = "two-sided") -> Outcome:
    """Return the sign test of wins against losses (Conover 1999, section 3.4); ties are left out.

    The null hypothesis is not about the mean: each system wins a unit with probability 1/2.
    """
    values = as_values(differences, "differences")
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    ties = count_of(len(values) - wins - losses, "tie")
    detail = f"{count_of(wins, 'win')}, {count_of(losses, 'loss', 'losses')}, {ties}"
    outcome = randomization_test(np.sign(values), alternative=alternative)
    return outcome._replace(test="sign", statistic=float(wins), detail=detail)


def mcnemar_test(
    first: Iterable[float], second: Iterable[float], *, alternative: Alternative = "two-sided"
) -> Outcome:
    """Return McNemar's exact test (1947) of two systems that are right (1) or wrong (0) on units.

    Only units on which one system is right count. The exact p is conservative; the detail has the
    mid-p, which leaves out half of the probability of the observed table (Fagerland et al. 2013).
    """
    right, other = as_values(first, "first"), as_values(second, "second")
    if len(right) != len(other):
        raise InputError(f"first has {len(right)} units, second {len(other)}: pair them by unit")
    if not np.isin([right, other], (0, 1)).all():
        raise InputError("mcnemar needs scores of 0 and 1: use randomization, t or wilcoxon")
    outcome = randomization_test(right - other, alternative=alternative)
    won, lost = int((right > other).sum()), int((right < other).sum())
    fewer = {"two-sided": min(won, lost), "greater": lost, "less": won}[alternative]
    middle = _coin_tail(fewer, won + lost) + _coin_tail(fewer - 1, won + lost)
    if alternative != "two-sided":
        middle /= 2
    detail = f"{won:,} of {count_of(won + lost, 'discordant unit')} won; mid-p {middle:.6g}"
    return outcome._replace(test="mcnemar", statistic=float(won), detail=detail)


def wilcoxon_test(
    differences: Iterable[float], *, alternative: Alternative = "two-sided"
) -> Outcome:
    """Return Wilcoxon's signed-rank test (1945, Biometrics Bulletin 1).

    The null hypothesis is that the differences are **symmetric about zero**, so it is not a test of
    the mean. Zeros are dropped; equal sizes share their mean rank. Up to about 600 units p is
    exact; above it is normal, with the corrections for continuity and ties of R's ``wilcox.test``.
    """
    values = as_values(differences, "differences")
    ranks, tied = _signed_ranks(values[values != 0])
    statistic = float(ranks[ranks > 0].sum())
    case = _Case.of(ranks, statistic, alternative)
    outcome = _exact(case) or case.outcome(_normal_p(ranks, tied, alternative), "", "normal")
    zeros = count_of(len(values) - len(ranks), "zero")
    detail = f"{count_of(len(ranks), 'difference')} ranked, {zeros} dropped"
    return outcome._replace(test="wilcoxon", n=len(values), detail=detail)


def _signed_ranks(values: Floats) -> tuple[Floats, Ints]:
    """Return the mean ranks of the sizes, with signs, and how many values share each rank."""
    sizes = np.abs(values)
    order = np.argsort(sizes, kind="stable")
    step = np.diff(sizes[order], prepend=-np.inf)
    group = np.cumsum(step > SAME * sizes.max(initial=0.0)) - 1
    tied = np.bincount(group)
    ranks = np.empty(len(values))
    ranks[order] = (np.cumsum(tied) - (tied - 1) / 2)[group]
    return ranks * np.sign(values), tied


def _normal_p(ranks: Floats, tied: Ints, alternative: Alternative) -> float:
    """Return the normal approximation, with the corrections for continuity and ties."""
    from scipy.special import ndtr  # slow to import

    count, sizes = len(ranks), tied.astype(np.float64)
    ties = float((sizes**3 - sizes).sum())
    deviation = math.sqrt(count * (count + 1) * (2 * count + 1) / 24.0 - ties / 48.0)
    distance = float(ranks.sum()) / 2  # of the sum of positive ranks from its mean
    if alternative == "two-sided":
        p = 2.0 * float(ndtr(-max(abs(distance) - 0.5, 0.0) / deviation))
    else:
        p = float(ndtr(((distance if alternative == "less" else -distance) + 0.5) / deviation))
    return min(1.0, p)


class _Case(NamedTuple):
    """Differences without zeros, turned so that large sums are evidence against the null."""

    values: Floats
    tails: int
    units: int
    statistic: float
    alternative: Alternative

    @classmethod
    def of(cls, values: Floats, statistic: float, alternative: Alternative) -> _Case:
        two = check_alternative(alternative) == "two-sided"
        kept = values[values != 0]
        if alternative == "less" or (two and kept.sum() < 0):
            kept = -kept
        return cls(kept, 2 if two else 1, len(values), statistic, alternative)

    @property
    def observed(self) -> float:
        return float(self.values.sum())

    @property
    def threshold(self) -> float:
        """The smallest sum as extreme as the observed one, with a tolerance for rounding."""
        return self.observed - TIE * float(np.abs(self.values).sum())

    def p(self, tail: float) -> float:
        """Return the p-value of an upper tail: the distribution of the sums is symmetric."""
        return min(1.0, self.tails * tail)

    def outcome(self, p: float, detail: str, method: str = "exact", error: float = 0) -> Outcome:
        side, n = self.alternative, self.units
        return Outcome("randomization", p, self.statistic, side, n, method, error, detail)


def _exact(case: _Case) -> Outcome | None:
    count = len(case.values)
    if not count:
        return case.outcome(1.0, "all differences are 0")
    if case.tails == 2 and case.threshold <= 0:
        return case.outcome(1.0, "the mean difference is 0")
    answer = _enumerate(case) if count <= FEW else _convolve(case)
    return _enumerate(case) if answer is None and count <= MANY else answer


def _enumerate(case: _Case) -> Outcome:
    """Count over all signs: for each sum of one half, search among the sums of the other."""
    half = len(case.values) // 2
    left = all_signed_sums(case.values[:half])
    right = np.sort(all_signed_sums(case.values[half:]))
    left.sort()  # consecutive searches then access the same memory
    reaching = len(right) - np.searchsorted(right, case.threshold - left, side="left")
    p = case.p(int(reaching.sum()) / 2 ** len(case.values))
    return case.outcome(p, f"all {power_text(2, case.units)} sign assignments")


def _convolve(case: _Case) -> Outcome | None:
    """Return the exact p of differences that are multiples of a common step (P@10, ranks)."""
    lattice = find_lattice(case.values)
    if lattice is None:
        return None
    cells = lattice.cells
    sizes, observed = np.abs(cells), int(cells.sum())
    total = int(sizes.sum())
    if case.tails == 2 and observed <= 0:
        return case.outcome(1.0, "the mean difference is 0")
    if total == len(sizes):  # differences of one size
        tail = _coin_tail(int((cells < 0).sum()), total)
        return case.outcome(case.p(tail), "all sign assignments, by the binomial distribution")
    if len(sizes) * (1_500 + 0.25 * total) > MOST_WORK:
        return None
    # A sum in which L is lost is total - 2 L, and losses are sums of chosen sizes.
    tail = float(chosen_chances(sizes, (total - observed) // 2).sum())
    detail = f"all sign assignments, by convolution on a lattice of step {lattice.step:.6g}"
    return case.outcome(case.p(tail), detail)


def _coin_tail(most: int, count: int) -> float:
    """Return the probability of at most so many heads of fair coins."""
    from scipy.special import betainc  # slow to import; for millions of coins bdtr is less exact

    if not 0 <= most < count:
        return float(most >= count)
    return float(betainc(count - most, most + 1, 0.5))


def _round_to_grid(case: _Case) -> Outcome | None:
    """Return p of rounded differences, with rigorous bounds; None if they are too far apart.

    The exact tail lies between those of rounded sums at thresholds moved by the rounding error.
    """
    sizes = np.abs(case.values)
    count = len(sizes)
    # Rounding moves the sum by up to count / 2 steps; its deviation is √count mean sizes. So many
    # steps bound the error near 1 % of p at p = .05.
    step = float(sizes.sum()) / math.ceil(48 * count * math.sqrt(count))
    weights = np.rint(sizes / step).astype(np.int64)
    total = int(weights.sum())
    if count * total > GRID_WORK:
        return None
    rounding = float(np.abs(sizes - weights * step).sum())
    near, far = case.threshold - rounding, 2 * case.observed - case.threshold + rounding

    def most_lost(threshold: float) -> int:
        return total - max(0, math.ceil((threshold / step + total) / 2))

    shares = chosen_chances(weights, max(0, most_lost(near))).cumsum()

    def p_beyond(threshold: float) -> float:
        lost = most_lost(threshold)
        return case.p(float(shares[lost])) if lost >= 0 else 0.0

    low = max(case.p(0.5**count), p_beyond(far))  # the observed assignment itself always counts
    high = max(low, 1.0 if case.tails == 2 and near <= 0 else p_beyond(near))
    p, error = (low + high) / 2, (high - low) / 2
    if error > max(TIGHT * p, 1e-4):
        return None
    detail = f"rounded to multiples of {step:.3g}, p within ± {error:.1g}"
    return case.outcome(p, detail, "grid", error)
