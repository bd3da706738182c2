"""Rank correlation: Kendall's tau, AP correlation, Spearman, Pearson, rank-biased overlap.

Correlations take the scores of the same items in two lists; higher scores rank first. Rank-biased
overlap takes rankings, which may hold different items. Ties in the scores are ties in the order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from heldout.data.words import Floats, Ints

    Ranking: TypeAlias = Mapping[Any, float] | Sequence[Hashable]

__all__ = [
    "PERSISTENCE",
    "batch_correlations",
    "kendall_tau",
    "pearson",
    "rbo",
    "spearman",
    "tau_ap",
]

PERSISTENCE: Final = 0.9
"""The usual p of rank-biased overlap: ranks 1 to 10 have 86 % of the weight."""

_BLOCK: Final = 2**22
"""Numbers in memory at a time."""

_LONG: Final = 1000
"""Items from which on Kendall's tau is counted by sorting: pairs would fill the memory."""


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Kendall's tau-b, which corrects for ties (Kendall 1945).

    Parameters
    ----------
    first, second
        The scores of the same items.

    Returns
    -------
    float
        From -1 (reversed) to 1 (the same order); NaN if a list has only ties.

    Examples
    --------
    >>> kendall_tau([1, 2, 3, 4], [1, 3, 2, 4])
    0.6666666666666666
    """
    x, y = _two_lists(first, second)
    if len(x) > _LONG:
        from scipy.stats import kendalltau  # slow to import

        return float(kendalltau(x, y).statistic)
    return float(_kendall(x[None], y[None])[0])


def tau_ap(truth: Sequence[float], estimate: Sequence[float]) -> float:
    """Return the AP correlation, which weighs disagreement near the top most (Yilmaz et al. 2008).

    It walks down the estimated order: at each item it takes the share of the items above that
    belong above it in the true order. Of tied items it is the mean over all orders.

    Parameters
    ----------
    truth, estimate
        The scores of the same items in the true and in the estimated order.

    Returns
    -------
    float
        From -1 to 1.

    Examples
    --------
    >>> round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 4), round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 4)
    (0.7778, 0.3333)
    """
    x, y = _two_lists(truth, estimate)
    return float(_tau_ap(x[None], y[None])[0])


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's correlation of ranks; tied items share their mean rank.

    Parameters
    ----------
    first, second
        The scores of the same items.

    Examples
    --------
    >>> spearman([1, 2, 3, 4], [1, 3, 2, 4])
    0.8
    """
    x, y = _two_lists(first, second)
    return float(_pearson(_mean_ranks(x[None]), _mean_ranks(y[None]))[0])


def pearson(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Pearson's correlation of the scores themselves.

    Parameters
    ----------
    first, second
        The scores of the same items.

    Examples
    --------
    >>> round(pearson([1, 2, 3], [1, 2, 4]), 4)
    0.982
    """
    x, y = _two_lists(first, second)
    return float(_pearson(x[None], y[None])[0])


def rbo(first: Ranking, second: Ranking, p: float = PERSISTENCE) -> float:
    """Return the extrapolated rank-biased overlap of two rankings (Webber et al. 2010).

    It is the overlap that a reader expects who continues to the next rank with probability `p`. The
    rankings may have different lengths and different items; the agreement at their ends is
    continued beyond them. Of items with equal scores it is the mean over all orders (Corsi & Urbano
    2024).

    Parameters
    ----------
    first, second
        ``{item: score}``, or a list of items, the best first.
    p
        The probability to continue. A small one weighs the first ranks most.

    Returns
    -------
    float
        From 0 (no common items) to 1 (the same ranking).

    Examples
    --------
    >>> round(rbo(["a", "b", "c"], ["b", "a", "c"]), 4)
    0.9
    >>> round(rbo({"a": 2.0, "b": 1.0, "c": 1.0}, ["a", "c"], p=0.8), 4)
    0.9067
    """
    if isinstance(p, bool) or not isinstance(p, int | float) or not 0 < p < 1:
        raise InputError(f"p={p}: expected a number between 0 and 1, such as {PERSISTENCE}")
    short, long = sorted((_scored(first), _scored(second)), key=len)
    items = {item: number for number, item in enumerate({**long, **short})}
    places = [np.array([items[item] for item in one], np.int64) for one in (short, long)]
    spans = [_spans(np.array(list(one.values()), np.float64)) for one in (short, long)]
    if all((top == bottom).all() for top, bottom in spans):
        ranks = [np.full(len(items), len(items) + 1) for _ in spans]
        for rank, place, (top, _) in zip(ranks, places, spans, strict=True):
            rank[place] = top
        return _rbo_untied(ranks[0], ranks[1], len(short), len(long), p)
    depths = np.arange(1, len(long) + 1)
    shares = [np.zeros((len(items), len(long))) for _ in spans]
    for share, place, (top, bottom) in zip(shares, places, spans, strict=True):
        within = (depths - top[:, None] + 1) / (bottom - top + 1)[:, None]
        share[place] = np.clip(within, 0.0, 1.0)
    return _rbo_tied(shares[0], shares[1], len(short), p)


def batch_correlations(first: Floats, second: Floats, p: float = PERSISTENCE) -> dict[str, Floats]:
    """Return every correlation of many pairs of lists of the same items.

    Parameters
    ----------
    first, second
        One row per pair of lists, one column per item; `first` is the truth for ``tau_ap``.
    p
        Of rank-biased overlap.

    Returns
    -------
    dict of str to array
        ``kendall``, ``tau_ap``, ``rbo``, ``spearman`` and ``pearson``, one number per row.
    """
    size = max(1, _BLOCK // (first.shape[1] ** 2))
    functions: dict[str, Callable[[Floats, Floats], Floats]] = {
        "kendall": _kendall,
        "tau_ap": _tau_ap,
        "rbo": lambda x, y: _rbo_same_items(x, y, p),
        "spearman": lambda x, y: _pearson(_mean_ranks(x), _mean_ranks(y)),
        "pearson": _pearson,
    }
    starts = range(0, len(first), size)
    return {
        name: np.concatenate(
            [function(first[at : at + size], second[at : at + size]) for at in starts]
        )
        for name, function in functions.items()
    }


# Inputs


def _two_lists(first: Sequence[float], second: Sequence[float]) -> tuple[Floats, Floats]:
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(
            f"expected two lists of scores of the same items, got shapes {x.shape} and {y.shape}"
        )
    if len(x) < 2:
        raise InputError(f"a correlation needs at least 2 items, got {len(x)}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("a score is not a finite number")
    return x, y


def _scored(ranking: Ranking) -> dict[Any, float]:
    """Return the scores of a ranking by item, the best first."""
    if isinstance(ranking, Mapping):
        if not all(math.isfinite(score) for score in ranking.values()):
            raise InputError("a score is not a finite number")
        found = dict(sorted(ranking.items(), key=lambda pair: -pair[1]))
    else:
        items = list(ranking)
        found = {item: float(-rank) for rank, item in enumerate(items)}
        if len(found) < len(items):
            raise InputError("an item appears twice in a ranking")
    if not found:
        raise InputError("rank-biased overlap needs rankings with at least 1 item")
    return found


# Correlations, for one pair of lists per row


def _kendall(x: Floats, y: Floats) -> Floats:
    one, other = np.triu_indices(x.shape[1], 1)
    signs_x, signs_y = np.sign(x[:, one] - x[:, other]), np.sign(y[:, one] - y[:, other])
    untied = np.sqrt((signs_x**2).sum(axis=1) * (signs_y**2).sum(axis=1))
    return _ratio((signs_x * signs_y).sum(axis=1), untied)


def _pearson(x: Floats, y: Floats) -> Floats:
    x = x - x.mean(axis=1, keepdims=True)
    y = y - y.mean(axis=1, keepdims=True)
    spread = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return np.clip(_ratio((x * y).sum(axis=1), spread), -1.0, 1.0)


def _mean_ranks(x: Floats) -> Floats:
    above = (x[:, None, :] > x[:, :, None]).sum(axis=2)
    tied = (x[:, None, :] == x[:, :, None]).sum(axis=2)
    ranks: Floats = above + (tied + 1) / 2
    return ranks


def _tau_ap(truth: Floats, estimate: Floats) -> Floats:
    """Return the mean over all orders of tied items, in closed form (Urbano & Marrero 2017)."""
    count = truth.shape[1]
    is_above = estimate[:, None, :] > estimate[:, :, None]
    above = is_above.sum(axis=2)
    tied = (estimate[:, None, :] == estimate[:, :, None]).sum(axis=2)
    # A pair that is tied in the truth is in the right order in half of the orders of its ties.
    right = 0.5 + 0.5 * np.sign(truth[:, None, :] - truth[:, :, None])
    right_above = np.where(is_above, right, 0.0).sum(axis=2)
    sums = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, count + 1))])  # harmonic numbers
    # An item of a group of t ties below a others has rank a + 1, …, a + t with equal chances.
    rest = sums[above + tied - 1]
    chance = np.where(above > 0, (rest - sums[np.maximum(above - 1, 0)]) / tied, 0.0)
    within = ((tied - 1) - above * (rest - sums[above])) / (2 * tied)
    found: Floats = 2 / (count - 1) * (right_above * chance + within).sum(axis=1) - 1
    return found


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole; NaN where there is nothing to divide by."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


# Rank-biased overlap


def _spans(scores: Floats) -> tuple[Ints, Ints]:
    """Return the first and last rank of the group of ties of each item; scores descend."""
    new = np.append(True, scores[1:] != scores[:-1])
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(scores))
    group = np.cumsum(new) - 1
    return starts[group] + 1, ends[group]


def _rbo_untied(short_ranks: Ints, long_ranks: Ints, s: int, length: int, p: float) -> float:
    """Return the overlap of rankings without ties: common items are counted, depth by depth."""
    deepest = np.maximum(short_ranks, long_ranks)
    common = np.bincount(deepest[deepest <= length], minlength=length + 1)[1:]
    overlap = np.cumsum(common).astype(np.float64)
    depths = np.arange(1, length + 1)
    end = overlap[s - 1] / s
    agreement = (overlap + np.maximum(depths - s, 0) * end) / depths
    return _extrapolated(agreement, agreement[-1], p)


def _rbo_tied(short: Floats, long: Floats, s: int, p: float) -> float:
    """Return the overlap of rankings with ties, from the contributions of items by depth."""
    length = short.shape[1]
    depths = np.arange(1, length + 1)
    overlap = (short * long).sum(axis=0)
    end = overlap[s - 1] / s
    # Unknown items of the short ranking agree as those before did, as far as the long one has them.
    unseen = long * (short[:, -1:] == 0)
    shown = (unseen > 0).sum(axis=0)
    mean = np.divide(unseen.sum(axis=0), shown, out=np.ones(length), where=shown > 0)
    overlap += np.where(depths > s, (depths - s) * end * mean, 0.0)
    agreement = overlap / depths
    beyond = ((short[:, -1] * long[:, -1]).sum() + (length - s) * end) / length
    return _extrapolated(agreement, beyond, p)


def _extrapolated(agreement: Floats, beyond: float, p: float) -> float:
    depths = np.arange(1, len(agreement) + 1)
    seen = (1 - p) / p * float((agreement * p**depths).sum())
    return seen + float(beyond) * float(p ** len(agreement))


def _rbo_same_items(x: Floats, y: Floats, p: float) -> Floats:
    """Return the overlap of complete orders of the same items."""
    count = x.shape[1]
    depths = np.arange(1, count + 1)
    overlap = np.zeros((len(x), count))
    shares = []
    for scores in (x, y):
        top = 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
        tied = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
        shares.append(np.clip((depths - top[..., None] + 1) / tied[..., None], 0.0, 1.0))
    overlap = (shares[0] * shares[1]).sum(axis=1)
    agreement = overlap / depths
    weights = (1 - p) / p * p**depths
    weights[-1] += p**count
    found: Floats = agreement @ weights
    return found
