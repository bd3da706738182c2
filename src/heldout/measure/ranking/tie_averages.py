"""Expected values over all orders of tied documents.

A system that gives two documents the same score does not say which comes first. With
``ties='average'`` a measure is its mean over all orders of the tied documents (McSherry & Najork,
Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores,
ECIR 2008), instead of its value for one arbitrary order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heldout.data.words import Floats, Ints
    from heldout.measure.ranking.judged import Judged

__all__ = [
    "expected_hits",
    "expected_precision_sum",
    "expected_reciprocal_rank",
    "expected_success",
    "mean_discount",
]


class _Groups(NamedTuple):
    """Groups of tied documents that contain a relevant one, ordered by query and rank.

    Parameters
    ----------
    query, first, size
        Query, first rank and number of documents of each group.
    hits
        Number of relevant documents in the group.
    above
        Number of relevant documents above the group.
    """

    query: Ints
    first: Ints
    size: Ints
    hits: Ints
    above: Ints


def _groups(judged: Judged, rel: int) -> _Groups:
    keep = (judged.grade >= rel) & (judged.grade >= 0)
    query, first, size = judged.query[keep], judged.tie_first[keep], judged.tie_size[keep]
    opens = np.ones(len(query), np.bool_)
    opens[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
    starts = np.flatnonzero(opens)
    hits = np.diff(starts, append=len(query))
    counts = np.bincount(query, minlength=len(judged))
    before = (np.cumsum(counts) - counts)[query[starts]]
    return _Groups(query[starts], first[starts], size[starts], hits, starts - before)


def mean_discount(
    judged: Judged, weight: Callable[[Ints], NDArray[np.floating]], k: int | None
) -> Floats:
    """Return the mean weight of the ranks that each document may have, 0 beyond the cutoff."""
    deepest = int((judged.tie_first + judged.tie_size).max(initial=1))
    ranks = np.arange(1, max(deepest, 2))
    weights = weight(ranks)
    if k is not None:
        weights = np.where(ranks <= k, weights, 0.0)
    sums = np.append(0.0, np.cumsum(weights))
    begin = judged.tie_first - 1
    mean: Floats = (sums[begin + judged.tie_size] - sums[begin]) / judged.tie_size
    return mean


def expected_hits(judged: Judged, k: int, rel: int) -> Floats:
    """Return the expected number of relevant documents among the first k."""
    share = mean_discount(judged, lambda rank: np.ones(len(rank)), k)
    keep = (judged.grade >= rel) & (judged.grade >= 0)
    return judged.total(judged.query[keep], share[keep])


def _none_yet(hits: Ints, size: Ints, seen: Ints) -> Floats:
    """Return the probability that the first `seen` of `size` documents have none of the `hits`."""
    chance = np.ones(len(hits))
    for step in range(int(seen.max(initial=0))):
        left = np.maximum(size - hits - step, 0) / np.maximum(size - step, 1)
        chance = np.where(step < seen, chance * left, chance)
    return chance


def expected_success(judged: Judged, k: int, rel: int) -> Floats:
    """Return the probability that a relevant document is among the first k."""
    groups = _groups(judged, rel)
    top = groups.above == 0
    seen = np.clip(k - groups.first[top] + 1, 0, groups.size[top])
    value = 1 - _none_yet(groups.hits[top], groups.size[top], seen)
    return judged.total(groups.query[top], value)


def expected_reciprocal_rank(judged: Judged, k: int | None, rel: int) -> Floats:
    """Return the expected reciprocal rank of the first relevant document."""
    groups = _groups(judged, rel)
    top = groups.above == 0
    query, first = groups.query[top], groups.first[top]
    hits, size = groups.hits[top], groups.size[top]
    value, chance = np.zeros(len(query)), np.ones(len(query))
    for step in range(int((size - hits).max(initial=-1)) + 1):
        now = hits / np.maximum(size - step, 1)
        rank = first + step
        inside = (step <= size - hits) & (True if k is None else rank <= k)
        value += np.where(inside, chance * now / rank, 0.0)
        chance *= 1 - np.minimum(now, 1.0)
    return judged.total(query, value)


def expected_precision_sum(judged: Judged, k: int | None, rel: int) -> Floats:
    """Return the expected sum of precisions at relevant documents (AP before its division)."""
    groups = _groups(judged, rel)
    value = np.zeros(len(groups.query))
    others = np.maximum(groups.size - 1, 1)
    for step in range(int(groups.size.max(initial=0))):
        rank = groups.first + step
        before = groups.above + step * (groups.hits - 1) / others
        inside = (step < groups.size) & (True if k is None else rank <= k)
        value += np.where(inside, groups.hits / groups.size * (before + 1) / rank, 0.0)
    return judged.total(groups.query, value)
