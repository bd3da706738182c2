"""Rank correlation: Kendall's tau, AP correlation, Spearman, Pearson, rank-biased overlap.

Correlations take the scores of the same items in two lists; higher scores rank first, and ties in
the scores are ties in the order. All are computed for many pairs of short lists at a time, such as
systems in bootstrap samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.measure.base import quotient

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints

PERSISTENCE: Final = 0.9  # of rank-biased overlap: ranks 1 to 10 have 86 % of the weight
_BLOCK: Final = 2**22  # numbers in memory at a time


def correlation(product: Floats, left: Floats, right: Floats) -> Floats:
    """Return a sum of products as a share of the largest that sums of squares allow."""
    largest = np.sqrt(np.maximum(left * right, 0.0))
    return np.clip(quotient(product, largest), -1.0, 1.0)


def batch_correlations(first: Floats, second: Floats) -> dict[str, Floats]:
    """Return every correlation of many pairs of lists: one row per pair, one column per item.

    Of two rows the first is the truth for ``tau_ap``. NaN where all items of a list are tied.
    """
    functions = {
        "kendall": _kendall,
        "tau_ap": _tau_ap,
        "rbo": _rbo,
        "spearman": _spearman,
        "pearson": _pearson,
    }
    size = max(1, _BLOCK // (first.shape[1] ** 2))
    blocks = [slice(start, start + size) for start in range(0, len(first), size)]
    return {
        name: np.concatenate([function(first[rows], second[rows]) for rows in blocks])
        for name, function in functions.items()
    }


# One pair of lists per row


def _above_and_tied(x: Floats) -> tuple[Ints, Ints]:
    """Return how many items are above each item, and how many are equal, itself included."""
    above = (x[:, None, :] > x[:, :, None]).sum(axis=2)
    return above, (x[:, None, :] == x[:, :, None]).sum(axis=2)


def _kendall(x: Floats, y: Floats) -> Floats:
    """Return Kendall's tau-b, which corrects for ties (1945)."""
    sums = np.zeros((3, len(x)))
    for item in range(x.shape[1] - 1):  # pair by pair would fill the memory for long lists
        left, right = (np.sign(z[:, item : item + 1] - z[:, item + 1 :]) for z in (x, y))
        sums += [(left * right).sum(axis=1), (left**2).sum(axis=1), (right**2).sum(axis=1)]
    return correlation(*sums)


def _pearson(x: Floats, y: Floats) -> Floats:
    x, y = (z - z.mean(axis=1, keepdims=True) for z in (x, y))
    return correlation((x * y).sum(axis=1), (x**2).sum(axis=1), (y**2).sum(axis=1))


def _spearman(x: Floats, y: Floats) -> Floats:
    places = [_above_and_tied(z) for z in (x, y)]
    return _pearson(*(above + tied / 2 for above, tied in places))


def _tau_ap(truth: Floats, estimate: Floats) -> Floats:
    """Return the AP correlation, which weighs disagreement near the top most (Yilmaz et al. 2008).

    It walks down the estimated order: at each item it takes the share of the items above that
    belong above it in the true order. Of tied items it is the mean over all orders, in closed form
    (Urbano & Marrero 2017).
    """
    count = truth.shape[1]
    above, tied = _above_and_tied(estimate)
    # A pair that is tied in the truth is in the right order in half of the orders of its ties.
    right = 0.5 + 0.5 * np.sign(truth[:, None, :] - truth[:, :, None])
    is_above = estimate[:, None, :] > estimate[:, :, None]
    right_above = np.where(is_above, right, 0.0).sum(axis=2)
    sums = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, count + 1))])  # harmonic numbers
    # An item of a group of t ties below a others has rank a + 1, …, a + t with equal chances.
    rest = sums[above + tied - 1]
    chance = np.where(above > 0, (rest - sums[np.maximum(above - 1, 0)]) / tied, 0.0)
    within = ((tied - 1) - above * (rest - sums[above])) / (2 * tied)
    tau: Floats = 2 / (count - 1) * (right_above * chance + within).sum(axis=1) - 1
    return tau


def _rbo(x: Floats, y: Floats) -> Floats:
    """Return the extrapolated rank-biased overlap (Webber et al. 2010).

    It is the mean share of common items over depths, if a reader goes on to the next rank with
    probability `PERSISTENCE`; of tied items the mean over all orders (Corsi & Urbano 2024).
    """
    depths = np.arange(1, x.shape[1] + 1)
    parts = []  # how much of an item is among the first, by depth: some of it if its place is tied
    for scores in (x, y):
        above, tied = _above_and_tied(scores)
        parts.append(np.clip((depths - above[..., None]) / tied[..., None], 0.0, 1.0))
    agreement = (parts[0] * parts[1]).sum(axis=1) / depths
    chances = PERSISTENCE**depths
    seen = (1 - PERSISTENCE) / PERSISTENCE * (agreement * chances).sum(axis=1)
    extrapolated: Floats = seen + agreement[:, -1] * PERSISTENCE ** len(depths)
    return extrapolated
