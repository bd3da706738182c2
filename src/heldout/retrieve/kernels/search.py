"""Plain search: long ranked lists of all documents for one parameter setting of a fraction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import kernel, part
from heldout.retrieve.kernels.lists import better

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Floats, Ints, Postings, Queries

__all__ = ["search", "sort_ranked"]

_BUCKETS = 1024
_BLOCK = 1 << 15


@part
def _kth_best(values: Floats, size: int, k: int) -> float:
    """Return the k-th largest of the first `size` values, reordering them (quickselect)."""
    low, high, at = 0, size - 1, k - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if at <= j:
            high = j
        elif at >= i:
            low = i
        else:
            break
    return float(values[at])


@part
def sort_ranked(
    docs: NDArray[np.int32], scores: Floats, order: NDArray[np.int32], size: int
) -> None:
    """Sort documents into ranked order (Shell sort: quick to compile and fast enough)."""
    gap = 1
    while gap < size // 2:
        gap = int(gap * 2.25) + 1
    while gap > 0:
        for i in range(gap, size):
            score, d = scores[i], docs[i]
            place = order[d]
            j = i
            while j >= gap and better(score, place, scores[j - gap], order[docs[j - gap]]):
                scores[j] = scores[j - gap]
                docs[j] = docs[j - gap]
                j -= gap
            scores[j] = score
            docs[j] = d
        gap = int(gap / 2.25)


@part
def _spread_out(
    docs: NDArray[np.int32],
    values: Floats,
    size: int,
    starts: Ints,
    spread_docs: NDArray[np.int32],
    spread_values: Floats,
) -> None:
    """Sort values roughly in descending order, by their position between minimum and maximum.

    The sort that follows only has to swap neighbours.
    """
    low, high = np.inf, -np.inf
    for j in range(size):
        low = min(low, values[j])
        high = max(high, values[j])
    buckets = len(starts) - 1
    scale = (buckets - 1) / (high - low) if high > low else 0.0
    for b in range(buckets + 1):
        starts[b] = 0
    for j in range(size):
        starts[int((high - values[j]) * scale) + 1] += 1
    for b in range(buckets):
        starts[b + 1] += starts[b]
    for j in range(size):
        b = int((high - values[j]) * scale)
        spread_docs[starts[b]] = docs[j]
        spread_values[starts[b]] = values[j]
        starts[b] += 1


@kernel
def search(
    first: int,
    last: int,
    postings: Postings,
    queries: Queries,
    weights: Floats,
    top: float,
    norms: Floats,
    order: NDArray[np.int32],
    top_docs: NDArray[np.int32],
    top_scores: Floats,
) -> None:
    """Find the top documents of the queries `first` to `last` by Σ weight · top·x / (x + norm)."""
    n, k = len(norms), top_docs.shape[1]
    scores = np.empty(n)
    for d in range(n):
        scores[d] = -1.0  # not touched: sums of the models searched here are never negative
    touched = np.empty(n, np.int32)
    values = np.empty(n)
    ranked = np.empty(n, np.int32)
    ranked_values = np.empty(n)
    starts = np.empty(_BUCKETS + 1, np.int64)
    longest = 0
    for q in range(first, last):
        longest = max(longest, queries.offsets[q + 1] - queries.offsets[q])
    cursor = np.empty(longest, np.int64)
    docs, counts = postings.documents, postings.counts
    for q in range(first, last):
        found = 0
        begin, end = queries.offsets[q], queries.offsets[q + 1]
        for row in range(begin, end):
            cursor[row - begin] = postings.begin[queries.terms[row]]
        for high in range(_BLOCK, n + _BLOCK, _BLOCK):  # the data of a block stay in cache
            for row in range(begin, end):
                term = queries.terms[row]
                weight = queries.weights[row] * weights[term]
                i, stop = cursor[row - begin], postings.end[term]
                while i < stop and docs[i] < high:
                    d = docs[i]
                    x = float(counts[i])
                    score = scores[d]
                    if score < 0:
                        touched[found] = d
                        found += 1
                        score = 0.0
                    scores[d] = score + weight * (top * x / (x + norms[d]))
                    i += 1
                cursor[row - begin] = i
        least = 0.0
        if found > k:
            for j in range(found):
                values[j] = scores[touched[j]]
            least = _kth_best(values, found, k)
        kept = 0
        for j in range(found):
            d = touched[j]
            if scores[d] >= least:
                touched[kept] = d
                values[kept] = scores[d]
                kept += 1
            scores[d] = -1.0
        _spread_out(touched, values, kept, starts, ranked, ranked_values)
        sort_ranked(ranked, ranked_values, order, kept)
        for j in range(min(kept, k)):
            top_docs[q, j] = ranked[j]
            top_scores[q, j] = ranked_values[j]
