"""The one order of ranked lists, and heaps and sorts that keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.compiled import part

if TYPE_CHECKING:
    import numpy as np

    from heldout.retrieve.kernels.types import Floats, Numbers


@part
def better(score: float, place: int, than_score: float, than_place: int) -> bool:
    """Return whether a document is ranked above another: by score, then by the greater id."""
    return bool(score > than_score or (score == than_score and place > than_place))


@part
def _sink(scores: Floats, docs: Numbers, size: int, score: float, d: np.int32, order: Any) -> None:
    """Replace the worst document (the root of the heap)."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        other = child + 1
        if other < size and better(
            scores[child], order[docs[child]], scores[other], order[docs[other]]
        ):
            child = other
        if not better(score, order[d], scores[child], order[docs[child]]):
            break
        scores[i] = scores[child]
        docs[i] = docs[child]
        i = child
    scores[i] = score
    docs[i] = d


@part
def keep(scores: Floats, docs: Numbers, size: int, score: float, d: np.int32, order: Any) -> int:
    """Put a document into a heap of the best if it is one of them; return the size of the heap."""
    if size == len(docs):
        if better(score, order[d], scores[0], order[docs[0]]):
            _sink(scores, docs, size, score, d, order)
        return size
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if not better(scores[parent], order[docs[parent]], score, order[d]):
            break
        scores[i] = scores[parent]
        docs[i] = docs[parent]
        i = parent
    scores[i] = score
    docs[i] = d
    return size + 1


@part
def _sort_heap(scores: Floats, docs: Numbers, size: int, order: Any) -> None:
    """Sort the heap, the best document first."""
    for last in range(size - 1, 0, -1):
        score = scores[last]
        d = docs[last]
        scores[last] = scores[0]
        docs[last] = docs[0]
        _sink(scores, docs, last, score, d, order)


@part
def sort_lists(scores: Floats, docs: Numbers, sizes: Any, order: Any) -> None:
    """Sort the heaps of the lists and lanes of a query."""
    for l in range(scores.shape[0]):  # noqa: E741
        for c in range(scores.shape[1]):
            _sort_heap(scores[l, c], docs[l, c], sizes[l, c], order)


@part
def sort_ranked(docs: Numbers, scores: Floats, order: Any, size: int, off: int) -> None:
    """Sort documents that are at most `off` places from their own into ranked order.

    Shell sort: quick to compile, and fast enough.
    """
    gap = 1
    while 3 * gap < off:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            score, d, j = scores[i], docs[i], i
            place = order[d]
            while j >= gap and better(score, place, scores[j - gap], order[docs[j - gap]]):
                scores[j] = scores[j - gap]
                docs[j] = docs[j - gap]
                j -= gap
            scores[j] = score
            docs[j] = d
        gap //= 3
