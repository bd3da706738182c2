"""Rank correlation: Kendall's tau, AP correlation, Spearman, Pearson, rank-biased overlap.

Correlations take the scores of the same items in two lists; higher scores rank first. Rank-biased
overlap takes rankings, which may hold different items. Ties in the scores are ties in the order.
All are computed for many pairs of short lists at a time, such as systems in bootstrap samples.
Correlations of many predicted numbers are measures: `heldout.measure.prediction`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from heldout.errors import InputError
from heldout.measure.base import quotient

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from heldout.data.words import Floats, Ints

    Ranking: TypeAlias = Mapping[Any, float] | Sequence[Hashable]

__all__ = ["batch_correlations", "kendall_tau", "pearson", "rbo", "spearman", "tau_ap"]

PERSISTENCE: Final = 0.9
"""The usual p of rank-biased overlap: ranks 1 to 10 have 86 % of the weight."""

_BLOCK: Final = 2**22
"""Numbers in memory at a time."""


def correlation(product: Floats, left: Floats, right: Floats) -> Floats:
    """Return a sum of products as a share of the largest that sums of squares allow."""
    largest = np.sqrt(np.maximum(left * right, 0.0))
    return np.clip(quotient(product, largest), -1.0, 1.0)


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Kendall's tau-b, which corrects for ties (1945); NaN if a list has only ties."""
    return _of_lists(_kendall, first, second)


def tau_ap(truth: Sequence[float], estimate: Sequence[float]) -> float:
    """Return the AP correlation, which weighs disagreement near the top most (Yilmaz et al. 2008).

    It walks down the estimated order: at each item it takes the share of the items above that
    belong above it in the true order. Of tied items it is the mean over all orders.
    """
    return _of_lists(_tau_ap, truth, estimate)


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's correlation of ranks; tied items share their mean rank."""
    return _of_lists(_spearman, first, second)


def pearson(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Pearson's correlation of the scores themselves."""
    return _of_lists(_pearson, first, second)


def rbo(first: Ranking, second: Ranking, p: float = PERSISTENCE) -> float:
    """Return the extrapolated rank-biased overlap of two rankings (Webber et al. 2010).

    A ranking is ``{item: score}``, or a list of items, the best first. It is the mean share of
    common items over depths, if a reader goes on to the next rank with probability `p`; a small one
    weighs the first ranks most. The rankings may have different lengths and different items; the
    agreement at their ends is continued beyond them. Of items with equal scores it is the mean over
    all orders (Corsi & Urbano 2024).
    """
    if isinstance(p, bool) or not isinstance(p, int | float) or not 0 < p < 1:
        raise InputError(
            f"expected a number between 0 and 1, such as {PERSISTENCE}", argument="p", value=p
        )
    short, long = sorted((_scored(first), _scored(second)), key=len)
    items = {**short, **long}
    x, y = (np.array([[given.get(item, math.nan) for item in items]]) for given in (short, long))
    return float(_rbo(x, y, p)[0])


def batch_correlations(first: Floats, second: Floats, p: float = PERSISTENCE) -> dict[str, Floats]:
    """Return every correlation of many pairs of lists: one row per pair, one column per item."""
    functions: dict[str, Callable[[Floats, Floats], Floats]] = {
        "kendall": _kendall,
        "tau_ap": _tau_ap,
        "rbo": lambda x, y: _rbo(x, y, p),
        "spearman": _spearman,
        "pearson": _pearson,
    }
    size = max(1, _BLOCK // (first.shape[1] ** 2))
    blocks = [slice(start, start + size) for start in range(0, len(first), size)]
    return {
        name: np.concatenate([function(first[rows], second[rows]) for rows in blocks])
        for name, function in functions.items()
    }


def _of_lists(
    function: Callable[[Floats, Floats], Floats], first: Sequence[float], second: Sequence[float]
) -> float:
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(
            f"expected two lists of scores of the same items, got shapes {x.shape} and {y.shape}"
        )
    if len(x) < 2:
        raise InputError(f"a correlation needs at least 2 items, got {len(x)}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("a score is not a finite number")
    return float(function(x[None], y[None])[0])


def _scored(ranking: Ranking) -> dict[Any, float]:
    """Return the scores of a ranking by item."""
    if isinstance(ranking, Mapping):
        scores = {item: float(score) for item, score in ranking.items()}
    else:
        items = list(ranking)
        scores = {item: float(-rank) for rank, item in enumerate(items)}
        if len(scores) < len(items):
            raise InputError("an item appears twice in a ranking")
    if not scores:
        raise InputError("rank-biased overlap needs rankings with at least 1 item")
    if not all(map(math.isfinite, scores.values())):
        raise InputError("a score is not a finite number")
    return scores


# One pair of lists per row


def _above_and_tied(x: Floats) -> tuple[Ints, Ints]:
    """Return how many items are above each item, and how many are equal, itself included."""
    above = (x[:, None, :] > x[:, :, None]).sum(axis=2)
    return above, (x[:, None, :] == x[:, :, None]).sum(axis=2)


def _kendall(x: Floats, y: Floats) -> Floats:
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
    """Return the mean over all orders of tied items, in closed form (Urbano & Marrero 2017)."""
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


def _rbo(short: Floats, long: Floats, p: float) -> Floats:
    """Return the overlap of rankings with all items in columns: NaN where one does not have it."""
    s, length = (int(np.count_nonzero(~np.isnan(z[0]))) for z in (short, long))
    depths = np.arange(1, length + 1)
    parts = []  # how much of an item is among the first, by depth: some of it if its place is tied
    for scores in (short, long):
        above, tied = _above_and_tied(scores)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.clip((depths - above[..., None]) / tied[..., None], 0.0, 1.0)
        parts.append(np.where(np.isnan(scores)[..., None], 0.0, part))
    overlap = (parts[0] * parts[1]).sum(axis=1)
    end = overlap[:, s - 1 : s] / s
    # Unknown items of the short ranking agree as those before did, as far as the long one has them.
    unseen = np.where(np.isnan(short)[..., None], parts[1], 0.0)
    shown = (unseen > 0).sum(axis=1)
    mean = np.divide(unseen.sum(axis=1), shown, out=np.ones(shown.shape), where=shown > 0)
    agreement = (overlap + np.where(depths > s, (depths - s) * end * mean, 0.0)) / depths
    beyond = (overlap[:, -1] + (length - s) * end[:, 0]) / length
    seen = (1 - p) / p * (agreement * p**depths).sum(axis=1)
    extrapolated: Floats = seen + beyond * p**length
    return extrapolated
