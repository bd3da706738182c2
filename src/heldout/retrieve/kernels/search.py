"""Plain search: ranked lists of all documents for one parameter setting of a fraction.

Documents are scored in windows, so that their sums stay in the cache. The terms of a query come in
descending order of what they can add to a score at most. Lists are read one after another until the
others together cannot reach the k-th best score so far; these are only looked up for documents that
still can (MaxScore; Turtle and Flood 1995). Terms are then added in another order than that of the
query, so the documents that remain at the end are scored again. Where skipping does not pay,
terms come in the order of the query, and all lists are read. So all scores have the bits of a plain
loop.

Functions get plain arrays, and none of them calls another but the kernel: every level of calls is
optimised once more, and users wait for the compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.kernels.lists import sort_ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Floats, Ints

    Numbers = NDArray[np.int32]
    Places = NDArray[np.uint32]
    Terms = NDArray[Any]
    Integer = Any  # of Python or NumPy: the same when compiled

__all__ = ["BUCKETS", "EMPTY", "LEVELS", "SLACK", "TERM", "search"]

TERM = np.dtype(
    [
        ("start", np.int64),
        ("stop", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
        ("row", np.int64),
        ("place", np.int64),
        ("weight", np.float64),
        ("rest", np.float64),
    ]
)
"""A term of a query.

Its postings (`start` to `stop`), those in the present window (`begin` to `end`), its row in the
table of windows (−1: none), its weight, and what this term and all later ones can add at most
(`rest`; infinite where nothing is to be skipped). `place` has another meaning: in row ``i``, it is
the row of the term that comes ``i``-th in the order of the query.
"""
EMPTY = -1e300
"""The sum of a document without any term; adding a score does not change it."""
SLACK = 1e-9
"""Bounds and thresholds are widened by this share: far more than rounding can matter."""
LEVELS = 2048
BUCKETS = 1024
_DENSE = 4
"""A window with a posting for this many documents is read as a whole."""
_PROBE = 32
"""Looking a document up costs as much as reading this many postings."""


@part
def _read(
    begin: int, end: int, base: int, weight: float, top: float, floor: float, documents: Numbers,
    counts: Any, codes: Any, norms: Floats, sums: Floats, touched: Places, found: int,
) -> Integer:  # fmt: skip
    """Add a list to the sums above `floor`, which is 0 or `EMPTY`; note the others that it begins.

    Returns the number of documents noted.
    """
    # Unsigned numbers: a test for negative indexes would double the time.
    low, size = np.uint32(base), np.uint64(found)
    for i in range(np.uint64(begin), np.uint64(end)):
        d = np.uint32(documents[i])
        x = float(counts[i])
        known = sums[d - low]
        touched[size] = d - low
        size += np.uint64(known < floor)  # without a branch, which could not be predicted
        sums[d - low] = (max(floor, known)) + weight * (top * x / (x + norms[codes[d]]))
    return np.int64(size)


@part
def _gather(sums: Floats, least: float, touched: Places) -> Integer:
    """Note all documents with a sum of at least `least`; return their number."""
    found = np.uint64(0)
    for y in range(0, len(sums), 16):
        hits = 0
        for z in range(y, y + 16):
            hits += sums[z] >= least
        if hits:
            for z in range(y, y + 16):
                touched[found] = z
                found += np.uint64(sums[z] >= least)
    return np.int64(found)


@part
def _still_able(found: int, touched: Places, sums: Floats, least: float) -> Integer:
    """Drop documents with a sum below `least`; return the number of the others."""
    kept = np.uint64(0)
    for t in range(found):
        y = touched[t]
        known = sums[y]
        touched[kept] = y
        kept += np.uint64(known >= least)
        sums[y] = known + (known < least) * EMPTY  # without a branch
    return np.int64(kept)


@part
def _look_up(
    begin: int, end: int, low: int, span: int, d: Integer, bits: int, row: int, weight: float,
    top: float, documents: Numbers, counts: Any, codes: Any, norms: Floats, starts: Any,
) -> float:  # fmt: skip
    """Return what a list adds to the score of document `d`: 0 if it is not there.

    The list is one of the documents from `low`, `span` of them. They are spread evenly, more or
    less, so that the first guess is close.
    """
    if row >= 0:
        window = np.uint64(d >> bits)
        end = begin + starts[np.uint64(row), window + np.uint64(1)]
        begin += starts[np.uint64(row), window]
        low, span = d >> bits << bits, 1 << bits
    if begin == end:
        return 0.0
    ahead = np.uint64((d - low) * (end - begin)) // np.uint64(span)
    i, first, last = np.uint64(begin) + ahead, np.uint64(begin), np.uint64(end - 1)
    while i < last and documents[i] < d:
        i += np.uint64(1)
    while i > first and documents[i] > d:
        i -= np.uint64(1)
    if documents[i] != d:
        return 0.0
    x = float(counts[i])
    return float(weight * (top * x / (x + norms[codes[np.uint64(d)]])))


@part
def _raise(
    level: int, k: int, found: int, scale: float, sums: Floats, touched: Places, levels: Numbers
) -> int:
    """Count more documents by the level of their sums; return the highest level that k reach.

    ``levels[LEVELS]`` is the number of documents that reach `level`. Lower ones are not counted.
    """
    reaching = levels[LEVELS]
    for t in range(found):
        own = np.int64(sums[touched[t]] * scale)
        if own >= level:
            levels[np.uint64(own if own < LEVELS else LEVELS - 1)] += 1
            reaching += 1
    while reaching - levels[level] >= k:
        reaching -= levels[level]
        level += 1
    levels[LEVELS] = reaching
    return level


@part
def _spread_out(
    size: int, docs: Numbers, scores: Floats, starts: Numbers, out_docs: Numbers, out_scores: Floats
) -> Integer:
    """Sort documents roughly, by their position between the lowest and the highest score.

    Returns how far from its place a document can be.
    """
    low, high, widest = np.inf, -np.inf, 0
    for j in range(size):
        score = scores[j]
        low = min(low, score)
        high = max(high, score)
    last = (min(BUCKETS, size)) - 1
    scale = last / (high - low) if high > low else 0.0
    starts[: last + 2] = 0
    for j in range(size):
        starts[np.int64((high - scores[j]) * scale) + 1] += 1
    for b in range(last + 1):
        widest = max(widest, starts[b + 1])
        starts[b + 1] += starts[b]
    for j in range(size):
        own = np.int64((high - scores[j]) * scale)
        out_docs[starts[own]] = docs[j]
        out_scores[starts[own]] = scores[j]
        starts[own] += 1
    return widest


@bare_kernel
def search(
    first: int,
    last: int,
    bits: int,
    top: float,
    offsets: Ints,
    terms: Terms,
    scales: Floats,
    documents: Numbers,
    counts: Any,
    codes: NDArray[np.uint16],
    norms: Floats,
    starts: Numbers,
    order: Numbers,
    sums: Floats,
    touched: Places,
    levels: Numbers,
    buckets: Numbers,
    kept_docs: Numbers,
    kept_scores: Floats,
    spare_docs: Numbers,
    spare_scores: Floats,
    top_docs: Numbers,
    top_scores: Floats,
) -> None:
    """Find the top documents of the queries `first` to `last`; weights must not be negative.

    `terms` are of the dtype `TERM`; `rest` is what the term alone can add. ``norms[codes[d]]`` is
    the norm of document ``d``: a count x adds weight · `top` · x / (x + norm). `scales` turn scores
    into levels. The arrays from `sums` to `spare_scores` are used by no other thread.
    """
    width, k, every = len(sums), top_docs.shape[1], (len(codes) + len(sums) - 1) >> bits
    for q in range(first, last):
        begin, end, scale, rest = offsets[q], offsets[q + 1], scales[q], 0.0
        for r in range(end - 1, begin - 1, -1):
            one = terms[r]
            rest += one.rest
            one.rest = rest
            one.end = one.start
        least, level, size, exact = -1.0, 0, 0, rest == np.inf
        levels[:] = 0
        for window in range(every):
            base, total = window << bits, 0
            for r in range(begin, end):
                one = terms[r]
                stop = one.end
                one.begin = stop
                if one.row >= 0:
                    stop = one.start + starts[one.row, window + 1]
                else:
                    while stop < one.stop and documents[stop] < base + width:
                        stop += 1
                one.end = stop
                total += stop - one.begin
            # Read lists as long as they can bring new documents, or are short.
            r, found, floor = begin, 0, 0.0
            while r < end:
                one = terms[r]
                if one.rest < least:
                    floor = EMPTY
                    found = _still_able(found, touched, sums, least - one.rest)
                    if _PROBE * found < one.end - one.begin:
                        break
                found = _read(
                    one.begin, one.end, base, one.weight, top, floor, documents, counts, codes,
                    norms, sums, touched, found,
                )  # fmt: skip
                r += 1
                if window == 0 and r < end and found >= k and 2 * terms[r].rest < rest:
                    # What documents have so far is a first threshold.
                    level = _raise(level, k, found, scale, sums, touched, levels)
                    levels[level:] = 0
                    if level > 0:
                        least = level / scale * (1 - SLACK)
            dense = exact and total * _DENSE > width
            if dense:
                found = _gather(sums, least, touched)
            # Look the other lists up.
            able = 0
            for t in range(found):
                y = touched[t]
                score, d, j = sums[y], base + np.int64(y), r
                while j < end and score + terms[j].rest >= least:
                    one = terms[j]
                    score += _look_up(
                        one.start if one.row >= 0 else one.begin, one.end, base, width, d, bits,
                        one.row, one.weight, top, documents, counts, codes, norms, starts,
                    )  # fmt: skip
                    j += 1
                touched[able] = y
                whole = j == end and score >= least
                able += whole
                sums[y] = score if whole else EMPTY
            level = _raise(level, k, able, scale, sums, touched, levels)
            if level > 0:
                least = level / scale * (1 - SLACK)
            for t in range(able):
                y = touched[t]
                kept_scores[size] = sums[y]
                kept_docs[size] = base + np.int64(y)
                size += sums[y] >= least
                sums[y] = EMPTY
            if dense:
                sums[:] = EMPTY
            if window < every - 1 and size + width <= len(kept_docs):
                continue
            # The end, or no room: give final scores to all that can be among the best.
            kept = 0
            for j in range(size):
                score, d = kept_scores[j], np.int64(kept_docs[j])
                if score >= least:
                    if not exact:
                        score = 0.0
                        for r in range(begin, end):
                            one = terms[terms[r].place]
                            score += _look_up(
                                one.start, one.stop, 0, len(codes), d, bits, one.row, one.weight,
                                top, documents, counts, codes, norms, starts,
                            )  # fmt: skip
                    kept_docs[kept] = d
                    kept_scores[kept] = score
                    kept += 1
            off = _spread_out(kept, kept_docs, kept_scores, buckets, spare_docs, spare_scores)
            sort_ranked(spare_docs, spare_scores, order, kept, off)
            size = min(k, kept)
            for j in range(size):
                kept_docs[j] = spare_docs[j]
                kept_scores[j] = spare_scores[j]
        for j in range(size):
            top_docs[q, j] = kept_docs[j]
            top_scores[q, j] = kept_scores[j]
