"""Plain search: ranked lists of all documents for one parameter setting of a fraction.

Documents are scored in windows, so that their sums stay in the cache. The terms of a query come in
descending order of what they can add to a score at most. Lists are read one after another until the
others together cannot reach the k-th best score so far; these are only looked up for documents that
still can (MaxScore; Turtle and Flood 1995). Terms are then added in another order than that of the
query, so the documents that remain at the end are scored again. Where skipping does not pay,
terms come in the order of the query, and all lists are read. So all scores have the bits of a plain
loop.

Functions get plain arrays, and none of them calls another but the kernel: every level of calls is
optimised once more, and users wait for the compiler. Their loops have no branches that depend on
the data: a wrong prediction costs as much as ten postings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.kernels.heaps import sort_ranked
from heldout.retrieve.kernels.scoring import ZERO, fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Postings
    from heldout.retrieve.kernels.types import Floats, Ints, Numbers

    Places = NDArray[np.uint32]
    Terms = NDArray[Any]

TERM = np.dtype(
    [
        ("start", np.int64),
        ("stop", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
        ("row", np.int64),
        ("place", np.int64),
        ("weight", np.float64),
        ("bound", np.float64),
        ("rest", np.float64),
    ]
)
"""A term of a query: given are its postings (`start` to `stop`), its row in the table of windows
(−1: none), its weight, and the most that it can add to a score (`bound`).

The others are of the search: postings in the present window (`begin` to `end`), and, in row ``i``,
the row of the term that is read ``i``-th (`place`) and what it and all later ones can add (`rest`;
infinite where nothing is to be skipped).
"""


class Curve(NamedTuple):
    """What a count x adds to a score: weight · `top` · x / (x + norm).

    ``norms[codes[d]]`` is the norm of document ``d``: documents of the same length share a code, so
    that the memory that is read at random is small.
    """

    top: float
    codes: NDArray[np.uint16]
    norms: Floats


class Room(NamedTuple):
    """Arrays that the loop works with, for a window and for a query.

    `kept_docs` and `kept_scores` are documents that can be among the best; the last two are spare.
    """

    sums: Floats
    touched: Places
    levels: Numbers
    buckets: Numbers
    kept_docs: Places
    kept_scores: Floats
    spare_docs: Numbers
    spare_scores: Floats


EMPTY = -1e300
"""The sum of a document without any term; adding a score does not change it."""
SLACK = 1e-9
"""Bounds and thresholds are widened by this share: far more than rounding can matter."""
WIDTH = 1 << 13
"""Documents of a window here: at least as many as a window of the index has."""
LEVELS = 1024
BUCKETS = 1024
_RESCORE = 30
"""Scoring a document again costs, for each term, as much as reading this many postings."""
_PROBE = 16
"""Looking a document up costs as much as reading this many postings."""


@part
def _read(
    begin: int, end: int, base: int, weight: float, top: float, floor: float, documents: Numbers,
    counts: Any, codes: Any, norms: Floats, sums: Floats, touched: Places, found: int,
) -> int:  # fmt: skip
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
        sums[d - low] = max(floor, known) + weight * fraction(x, top, norms[codes[d]])
    return np.int64(size)


@part
def _still_able(found: int, touched: Places, sums: Floats, least: float) -> int:
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
    found: int, numbers: Places, base: int, begin: int, size: int, weight: float, top: float,
    documents: Numbers, counts: Any, codes: Any, norms: Floats, places: Numbers, added: Floats,
) -> None:  # fmt: skip
    """Find what a list, which must not be empty, adds to the scores of some documents.

    Binary search for all documents at once: no step waits for the one of another document.
    """
    first, low = np.uint64(begin), np.uint64(base)
    for t in range(found):
        places[t] = 0
    while size > 1:
        half = np.uint64(size >> 1)
        for t in range(found):
            place = np.uint64(places[t])
            beyond = np.uint64(documents[first + place + half]) > np.uint64(numbers[t]) + low
            places[t] = place + (np.uint64(0) if beyond else half)
        size -= size >> 1
    for t in range(found):
        i, d = first + np.uint64(places[t]), np.uint64(numbers[t]) + low
        x = float(counts[i])
        # A product, because a choice would become a branch.
        added[t] = weight * fraction(x, top, norms[codes[d]]) * (np.uint64(documents[i]) == d)


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
    size: int, docs: Places, scores: Floats, starts: Numbers, out_docs: Numbers, out_scores: Floats
) -> int:
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
    starts: Numbers,
    offsets: Ints,
    terms: Terms,
    postings: Postings,
    curve: Curve,
    order: Numbers,
    room: Room,
    top_docs: Numbers,
    top_scores: Floats,
) -> None:
    """Find the top documents of the queries `first` to `last`; weights must not be negative.

    `terms` are of the dtype `TERM`; `room` is used by no other thread.
    """
    documents, counts = postings.documents, postings.counts
    top, codes, norms = curve.top, curve.codes, curve.norms
    sums, touched, levels, buckets = room.sums, room.touched, room.levels, room.buckets
    kept_docs, kept_scores = room.kept_docs, room.kept_scores
    spare_docs, spare_scores = room.spare_docs, room.spare_scores
    width, k, every = len(sums), top_docs.shape[1], -(-len(codes) // len(sums))
    for q in range(first, last):
        begin, end, total, rest = offsets[q], offsets[q + 1], 0, 0.0
        for r in range(begin, end):
            one, i = terms[r], r
            one.end = one.start
            total += one.stop - one.start
            rest += one.bound
            while i > begin and terms[terms[i - 1].place].bound < one.bound:
                terms[i].place = terms[i - 1].place
                i -= 1
            terms[i].place = r
        exact = total <= k * (end - begin) * _RESCORE
        scale, below = (LEVELS - 1) / rest if rest > 0 else 0.0, np.inf if exact else 0.0
        for r in range(end - 1, begin - 1, -1):
            if exact:
                terms[r].place = r
            below += terms[terms[r].place].bound
            terms[r].rest = below
        least, level, size = -1.0, ZERO, 0
        levels[:] = 0
        for window in range(every):
            base = window * width
            stretch = min((base + width) >> bits, starts.shape[1] - 1)
            for r in range(begin, end):
                one = terms[r]
                stop = one.end
                one.begin = stop
                if base + width >= len(codes):
                    stop = one.stop
                elif one.row >= 0:
                    stop = one.start + starts[one.row, stretch]
                else:
                    while stop < one.stop and documents[stop] < base + width:
                        stop += 1
                one.end = stop
            # Read lists as long as they can bring new documents, or are short. Look up the others.
            found, floor = ZERO, 0.0
            for r in range(begin, end):
                one, below = terms[terms[r].place], terms[r].rest
                if below < least:
                    floor = EMPTY
                    if found > 0:
                        found = _still_able(found, touched, sums, least - below)
                    if found == 0:
                        break
                    if _PROBE * found < one.end - one.begin:
                        _look_up(
                            found, touched, base, one.begin, one.end - one.begin, one.weight, top,
                            documents, counts, codes, norms, spare_docs, spare_scores,
                        )  # fmt: skip
                        for t in range(found):
                            sums[touched[t]] += spare_scores[t]
                        continue
                if one.begin < one.end:
                    found = _read(
                        one.begin, one.end, base, one.weight, top, floor, documents, counts, codes,
                        norms, sums, touched, found,
                    )  # fmt: skip
                if window > 0 or r + 1 == end or found < k:
                    continue
                # What documents have so far is a first threshold, once it is likely to suffice.
                after = terms[terms[r + 1].place]
                if 3 * terms[r + 1].rest < rest and found < 2 * (after.end - after.begin):
                    level = _raise(level, k, found, scale, sums, touched, levels)
                    levels[level:] = 0
                    if level > 0:
                        least = level / scale * (1 - SLACK)
            if found > 0:
                level = _raise(level, k, found, scale, sums, touched, levels)
            if level > 0:
                least = level / scale * (1 - SLACK)
            for t in range(found):
                y = touched[t]
                kept_scores[size] = sums[y]
                kept_docs[size] = base + np.int64(y)
                size += sums[y] >= least
                sums[y] = EMPTY
            if window < every - 1 and size + width <= len(kept_docs):
                continue
            # The end, or no room: give final scores to all that can be among the best.
            kept = ZERO
            for j in range(size):
                score = kept_scores[j]
                kept_docs[kept] = kept_docs[j]
                kept_scores[kept] = score if exact else 0.0
                kept += score >= least
            for r in range(end if exact else begin, end):
                one = terms[r]
                if one.start < one.stop:
                    _look_up(
                        kept, kept_docs, ZERO, one.start, one.stop - one.start, one.weight, top,
                        documents, counts, codes, norms, spare_docs, spare_scores,
                    )  # fmt: skip
                    for j in range(kept):
                        kept_scores[j] += spare_scores[j]
            off = _spread_out(kept, kept_docs, kept_scores, buckets, spare_docs, spare_scores)
            sort_ranked(spare_docs, spare_scores, order, kept, off)
            size = min(k, kept)
            for j in range(size):
                kept_docs[j] = spare_docs[j]
                kept_scores[j] = spare_scores[j]
        for j in range(size):
            top_docs[q, j] = kept_docs[j]
            top_scores[q, j] = kept_scores[j]
