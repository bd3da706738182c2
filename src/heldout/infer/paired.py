"""Classical tests of two systems that were scored on the same units.

All take the differences first minus second, one per unit; ``greater`` asks whether the first system
is better. Differences that are rounding noise must be set to exactly zero before, with
`heldout.infer.results.drop_noise`, which needs the scores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.results import Alternative, Outcome, as_values, check_alternative
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Flags, Floats

__all__ = [
    "check_share",
    "constant_columns",
    "corrected_t_test",
    "fair_coin",
    "is_constant",
    "mcnemar_test",
    "sign_flips",
    "sign_test",
    "t_tail",
    "t_test",
    "t_tests",
    "wilcoxon_test",
    "without_variance",
]

SAME: Final = 1e-10
"""Differences closer than this, relative to the largest, are equal up to rounding.

Wider than the tie rule for scores, because subtraction cancels digits: .9001 - .9 has twelve
correct digits of sixteen.
"""

EXACT_UNITS: Final = 50
"""Units up to which Wilcoxon's p is exact: a double counts 2**50 sign assignments exactly."""


def is_constant(values: Floats) -> bool:
    """Return whether all values are equal up to rounding, so that their variance is noise."""
    return bool(constant_columns(values))


def constant_columns(values: Floats) -> Flags:
    """Return whether the values of each column are equal up to rounding."""
    constant: Flags = np.ptp(values, axis=0) <= SAME * np.abs(values).max(0)
    return constant


def check_share(test_share: float) -> float:
    """Refuse an invalid ratio n_test / n_train."""
    if not (math.isfinite(test_share) and test_share > 0):
        raise InputError(
            f"test_share={test_share}: expected n_test / n_train, such as 1/9 for ten folds"
        )
    return test_share


def t_test(differences: Iterable[float], *, alternative: Alternative = "two-sided") -> Outcome:
    """Return the paired t test of the mean difference.

    If all differences are equal there is no variance, and only the signs are evidence: p is that of
    the randomization test, 2^(1-n) two-sided, with the method ``no variance``; 1 if all are zero.

    Parameters
    ----------
    differences
        First minus second, one per unit.
    alternative
        The alternative: ``two-sided``, ``greater`` (first better) or ``less``.

    Returns
    -------
    Outcome
        The statistic is t, with n - 1 degrees of freedom.

    References
    ----------
    Student (1908). The probable error of a mean. Biometrika 6(1).

    Examples
    --------
    Darwin's maize, as Fisher tested it.

    >>> maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> round(t_test(maize).p, 6)
    0.049703
    """
    values = as_values(differences, "differences")
    return _t_outcome("t", values, 1.0 / len(values), check_alternative(alternative))


def t_tests(
    means: Floats, errors: Floats, units: int, *, alternative: Alternative = "two-sided"
) -> list[Outcome]:
    """Return paired t tests of many pairs of systems at once; each equals `t_test`.

    Parameters
    ----------
    means, errors
        The mean differences and their standard errors; 0 where all differences are equal.
    units
        The number of units.
    alternative
        The alternative.
    """
    from scipy.special import stdtr  # slow to import

    limit = np.where(means == 0, 0.0, np.copysign(np.inf, means))
    t = np.divide(means, errors, out=limit, where=errors > 0)
    if alternative == "two-sided":
        p = np.minimum(1.0, 2.0 * stdtr(units - 1, -np.abs(t)))
    else:
        p = stdtr(units - 1, -t if alternative == "greater" else t)
    on_its_side = (means != 0) & (p < 0.5)
    p = np.where(errors > 0, p, np.where(on_its_side, sign_flips(units, alternative), 1.0))
    detail = _freedom(units)
    outcomes = [
        Outcome("t", p_value, statistic, alternative, units, "t", detail=detail)
        for p_value, statistic in zip(p.tolist(), t.tolist(), strict=True)
    ]
    for pair in np.flatnonzero(errors == 0).tolist():
        why = "all differences are zero" if means[pair] == 0 else "all differences are equal"
        outcomes[pair] = outcomes[pair]._replace(method="no variance", detail=why)
    return outcomes


def corrected_t_test(
    differences_per_fold: Iterable[float],
    test_share: float,
    *,
    alternative: Alternative = "two-sided",
) -> Outcome:
    """Return the corrected resampled t test, for differences of folds or repeated splits.

    The training sets of folds overlap, so their differences are not independent, and the plain t
    test rejects too often. The variance of the mean is the variance of the J differences times
    (1/J + n_test/n_train), with J - 1 degrees of freedom. Without variance the result is that of
    `t_test`.

    Parameters
    ----------
    differences_per_fold
        First minus second, one per fold of every repetition.
    test_share
        n_test / n_train of one split (not n_test / n): 1/9 for ten folds.
    alternative
        The alternative.

    Returns
    -------
    Outcome
        The statistic is the corrected t.

    References
    ----------
    Nadeau & Bengio (2003). Inference for the generalization error. Machine Learning 52(3).
    Bouckaert & Frank (2004). Evaluating the replicability of significance tests. PAKDD.
    """
    values = as_values(differences_per_fold, "differences_per_fold")
    factor = 1.0 / len(values) + check_share(test_share)
    return _t_outcome("corrected-t", values, factor, check_alternative(alternative))


def _t_outcome(test: str, values: Floats, factor: float, alternative: Alternative) -> Outcome:
    """Return the t test with the variance of the values times a factor as that of the mean."""
    n = len(values)
    if is_constant(values):
        return without_variance(test, values, alternative)
    statistic = float(values.mean()) / math.sqrt(float(values.var(ddof=1)) * factor)
    p = t_tail(statistic, n - 1, alternative)
    return Outcome(
        test,
        p,
        statistic,
        alternative,
        n,
        "t",
        detail=_freedom(n),
    )


def _freedom(units: int) -> str:
    return f"{units - 1} degree{'s' if units > 2 else ''} of freedom"


def t_tail(statistic: float, freedom: float, alternative: Alternative) -> float:
    """Return the p-value of a t statistic."""
    from scipy.special import stdtr  # slow to import

    if alternative == "two-sided":
        return min(1.0, 2.0 * float(stdtr(freedom, -abs(statistic))))
    return float(stdtr(freedom, -statistic if alternative == "greater" else statistic))


def without_variance(test: str, values: Floats, alternative: Alternative) -> Outcome:
    """Return the test of differences that are all equal: only their signs are evidence."""
    mean = float(values.mean())
    n = len(values)
    if mean == 0:
        return Outcome(
            test, 1.0, 0.0, alternative, n, "no variance", detail="all differences are zero"
        )
    on_its_side = alternative == "two-sided" or (alternative == "greater") == (mean > 0)
    detail = "all differences are equal"
    statistic = math.copysign(math.inf, mean)
    p = sign_flips(n, alternative) if on_its_side else 1.0
    return Outcome(test, p, statistic, alternative, n, "no variance", detail=detail)


def sign_flips(units: int, alternative: Alternative) -> float:
    """Return the p-value of differences that are equal on all units, in their direction."""
    return 2.0 ** (1 - units if alternative == "two-sided" else -units)


def sign_test(differences: Iterable[float], *, alternative: Alternative = "two-sided") -> Outcome:
    """Return the sign test: the exact binomial test of wins against losses.

    The null hypothesis is that each system wins a unit without a tie with probability 1/2; it is
    not about the mean. Ties are left out.

    Parameters
    ----------
    differences
        First minus second, one per unit.
    alternative
        The alternative.

    Returns
    -------
    Outcome
        The statistic is the number of wins.

    References
    ----------
    Conover (1999). Practical Nonparametric Statistics, 3rd ed., section 3.4.
    """
    values = as_values(differences, "differences", 1)
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    p = fair_coin(wins, wins + losses, check_alternative(alternative))
    ties = len(values) - wins - losses
    counted = count_of(wins, "win"), count_of(losses, "loss", "losses"), count_of(ties, "tie")
    detail = ", ".join(counted)
    return Outcome("sign", p, float(wins), alternative, len(values), "exact", detail=detail)


def mcnemar_test(
    first: Iterable[float], second: Iterable[float], *, alternative: Alternative = "two-sided"
) -> Outcome:
    """Return McNemar's exact test of two systems that are right (1) or wrong (0) on each unit.

    Only units on which exactly one system is right count: under the null hypothesis either is right
    with probability 1/2. The exact p is conservative. The detail has the mid-p, which counts half
    of the probability of the observed table and is closer to its nominal size.

    Parameters
    ----------
    first, second
        0 or 1, one per unit, in the same order.
    alternative
        The alternative.

    Returns
    -------
    Outcome
        The statistic is the number of units that only the first system got right.

    References
    ----------
    McNemar (1947). Note on the sampling error of the difference between correlated proportions
    or percentages. Psychometrika 12. Fagerland, Lydersen & Laake (2013). The McNemar test for
    binary matched-pairs data: mid-p and asymptotic are better than exact conditional. BMC
    Medical Research Methodology 13.
    """
    one, two = _zero_one(first, "first"), _zero_one(second, "second")
    if len(one) != len(two):
        raise InputError(f"first has {len(one)} units, second {len(two)}: pair them by unit")
    only_first, only_second = int((one > two).sum()), int((one < two).sum())
    discordant = only_first + only_second
    p = fair_coin(only_first, discordant, check_alternative(alternative))
    middle = _fair_coin_mid(only_first, discordant, alternative)
    units = count_of(discordant, "discordant unit")
    detail = f"{only_first:,} of {units} won; mid-p {middle:.6g}"
    return Outcome("mcnemar", p, float(only_first), alternative, len(one), "exact", detail=detail)


def _zero_one(values: Iterable[float], what: str) -> Floats:
    array = as_values(values, what, 1)
    odd = (array != 0) & (array != 1)
    if odd.any():
        row = int(np.argmax(odd))
        raise InputError(
            f"{what}: unit number {row + 1} is {array[row]}, but McNemar's test needs 0 and 1: use "
            "randomization, t or wilcoxon"
        )
    return array


def fair_coin(heads: int, throws: int, alternative: Alternative) -> float:
    """Return the exact binomial p-value at probability 1/2."""
    from scipy.special import bdtr  # slow to import

    if throws == 0:
        return 1.0
    # By symmetry the upper tail is a lower tail: 1 - cdf would lose the digits of small tails.
    greater = float(bdtr(throws - heads, throws, 0.5))
    less = float(bdtr(heads, throws, 0.5))
    return _choose_tail(greater, less, alternative)


def _fair_coin_mid(heads: int, throws: int, alternative: Alternative) -> float:
    """Return the mid-p-value: half of the observed point is left out of each tail."""
    if throws == 0:
        return 1.0
    greater = fair_coin(heads, throws, "greater")
    less = fair_coin(heads, throws, "less")
    half = (greater + less - 1.0) / 2.0
    return _choose_tail(greater - half, less - half, alternative)


def _choose_tail(greater: float, less: float, alternative: Alternative) -> float:
    if alternative == "two-sided":
        return min(1.0, 2.0 * min(greater, less))
    return min(1.0, greater if alternative == "greater" else less)


class _Ranks(NamedTuple):
    """Ranks of the sizes of non-zero differences."""

    doubled: Floats  # twice the midranks, which are integers
    positive: Floats  # 1 where the difference is positive
    tied: Floats  # how many differences share each rank


def wilcoxon_test(
    differences: Iterable[float], *, alternative: Alternative = "two-sided"
) -> Outcome:
    """Return Wilcoxon's signed-rank test.

    The null hypothesis is that the differences are **symmetric about zero**: skewed differences
    with mean zero are rejected, too, so it is not a test of the mean. Zeros are dropped, as by
    Wilcoxon and R; equal sizes share their mean rank. Up to 50 units p is exact, also with ties (R
    then uses the normal distribution); above it is normal with the corrections for continuity and
    ties, as in R's ``wilcox.test``.

    Parameters
    ----------
    differences
        First minus second, one per unit.
    alternative
        The alternative.

    Returns
    -------
    Outcome
        The statistic is the sum of the ranks of the positive differences.

    References
    ----------
    Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1(6).
    Pratt & Gibbons (1981). Concepts of Nonparametric Theory, chapter 3.
    """
    values = as_values(differences, "differences", 1)
    check_alternative(alternative)
    ranks = _signed_ranks(values[values != 0])
    kept = len(ranks.doubled)
    statistic = float((ranks.doubled * ranks.positive).sum()) / 2.0
    exact = kept <= EXACT_UNITS
    p = (
        _rank_sum_exact(ranks, alternative)
        if exact
        else _rank_sum_normal(ranks, statistic, alternative)
    )
    zeros = count_of(len(values) - kept, "zero")
    detail = f"{count_of(kept, 'difference')} ranked, {zeros} dropped"
    method = "exact" if exact else "normal"
    return Outcome("wilcoxon", p, statistic, alternative, len(values), method, detail=detail)


def _signed_ranks(values: Floats) -> _Ranks:
    """Return midranks of the sizes; sizes that are equal up to rounding share one."""
    sizes = np.abs(values)
    order = np.argsort(sizes, kind="stable")
    step = np.diff(sizes[order], prepend=-np.inf)
    group = np.cumsum(step > SAME * sizes.max(initial=0.0)) - 1
    tied = np.bincount(group).astype(np.float64)
    last = np.cumsum(tied)
    doubled = np.empty(len(values))
    doubled[order] = (2.0 * last - tied + 1.0)[group]
    return _Ranks(doubled, (values > 0).astype(np.float64), tied)


def _rank_sum_exact(ranks: _Ranks, alternative: Alternative) -> float:
    """Count the sign assignments by their rank sum, adding one rank at a time."""
    doubled = ranks.doubled.astype(np.int64)
    counts = np.zeros(int(doubled.sum()) + 1)
    counts[0] = 1.0
    for rank in doubled:
        counts[rank:] += counts[:-rank].copy()
    observed = int(doubled @ ranks.positive.astype(np.int64))
    assignments = 2.0 ** len(doubled)
    greater = float(counts[observed:].sum()) / assignments
    less = float(counts[: observed + 1].sum()) / assignments
    return _choose_tail(greater, less, alternative)


def _rank_sum_normal(ranks: _Ranks, statistic: float, alternative: Alternative) -> float:
    """Return the normal approximation with the corrections for continuity and ties."""
    from scipy.special import ndtr  # slow to import

    n = len(ranks.doubled)
    ties = float((ranks.tied**3 - ranks.tied).sum())
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0 - ties / 48.0)
    distance = statistic - n * (n + 1) / 4.0
    if alternative == "two-sided":
        return min(1.0, 2.0 * float(ndtr(-max(abs(distance) - 0.5, 0.0) / deviation)))
    signed = -distance if alternative == "greater" else distance
    return float(ndtr((signed + 0.5) / deviation))
