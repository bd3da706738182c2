"""Adjust p-values for the number of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Floats

__all__ = ["Adjustment", "adjust"]

Adjustment = Literal["holm", "hochberg", "hommel", "bonferroni", "bh", "by", "none"]
"""Family-wise error rate (the first four) or false discovery rate (``bh``, ``by``)."""


def adjust(p: ArrayLike, method: Adjustment | str = "holm") -> Floats:
    """Return adjusted p-values, in the given order.

    Parameters
    ----------
    p
        The p-values of all comparisons of the family.
    method
        ``holm`` and ``bonferroni`` control the familywise error rate under any dependence;
        ``hochberg`` and ``hommel`` (at least as powerful) for independent or positively dependent
        tests; ``bh`` controls the false discovery rate for such tests, ``by`` for all; ``none``.

    Returns
    -------
    ndarray
        The same as R's ``p.adjust``.

    References
    ----------
    S. Holm, Scand. J. Stat. 6 (1979) 65-70; Y. Hochberg, Biometrika 75 (1988) 800-802;
    G. Hommel, Biometrika 75 (1988) 383-386;
    Y. Benjamini and Y. Hochberg, J. R. Stat. Soc. B 57 (1995) 289-300; Y. Benjamini and
    D. Yekutieli, Ann. Stat. 29 (2001) 1165-1188.

    Examples
    --------
    >>> adjust([0.01, 0.02, 0.03, 0.04, 0.05], "holm").round(4).tolist()
    [0.05, 0.08, 0.09, 0.09, 0.09]
    """
    if method not in get_args(Adjustment):
        raise InputError(f"method={method!r}: expected one of {', '.join(get_args(Adjustment))}")
    values = _check(p)
    count = len(values)
    if method == "none" or count < 2:
        return values.copy()
    if method == "bonferroni":
        return np.minimum(values * count, 1.0)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(count)
    if method == "hommel":
        adjusted[order] = _hommel(values[order])
        return adjusted
    adjusted[order] = np.minimum(_enforce_order(values[order] * _factors(method, count), method), 1)
    return adjusted


def _check(p: ArrayLike) -> Floats:
    values = np.asarray(p, np.float64)
    if values.ndim != 1:
        raise InputError(f"p: expected a list of p-values, got an array of shape {values.shape}")
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        position = int(np.argmax(wrong))
        raise InputError(
            f"p: number {position + 1} is {values[position]}, expected a p-value from 0 to 1"
        )
    return values


def _hommel(values: Floats) -> Floats:
    """Return closed testing with Simes' test for sorted p-values, as R's ``p.adjust`` does.

    A hypothesis is rejected if all intersections that contain it are. Among the intersections of m
    hypotheses, the one with the m - 1 largest other p-values is the hardest to reject; its Simes p
    is the minimum of m p / rank.
    """
    count = len(values)
    adjusted: Floats = np.full(count, (count * values / np.arange(1, count + 1)).min())
    for m in range(count - 1, 1, -1):
        first = count - m + 1
        largest = (m * values[first:] / np.arange(2, m + 1)).min()
        simes = np.full(count, np.minimum(m * values[first - 1], largest))
        simes[:first] = np.minimum(m * values[:first], largest)
        adjusted = np.maximum(adjusted, simes)
    return np.maximum(adjusted, values)


def _factors(method: str, count: int) -> Floats:
    """Return the factors of the p-values, smallest first."""
    rank = np.arange(1.0, count + 1)
    if method in ("holm", "hochberg"):
        return count + 1 - rank
    factors = count / rank
    return factors * (1 / rank).sum() if method == "by" else factors


def _enforce_order(sorted_values: Floats, method: str) -> Floats:
    """Make the adjusted p-values monotone: step-down for Holm, step-up for the others."""
    if method == "holm":
        return np.maximum.accumulate(sorted_values)
    return np.minimum.accumulate(sorted_values[::-1])[::-1]
