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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Floats, Ints

    Numbers = NDArray[np.int32]
    Places = NDArray[np.uint32]
    Terms = NDArray[Any]

__all__ = ["Room", "TERM", "search"]

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
        sums[d - low] = max(known, floor) + weight * (top * x / (x + norms[codes[d]]))
    return np.int64(size)


@part
def _gather(sums: Floats, least: float, touched: Places) -> int:
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
def _find(
    begin: int, end: int, low: int, span: int, d: int, bits: int, row: int, documents: Numbers,
    starts: Any,
) -> int:  # fmt: skip
    """Return the posting of document `d` in a list; −1: there is none.

    The list is one of the documents from `low`, `span` of them. They are spread evenly, more or
    less, so that the first guess is close.
    """
    if row >= 0:
        window = np.uint64(d >> bits)
        end = begin + starts[np.uint64(row), window + np.uint64(1)]
        begin += starts[np.uint64(row), window]
        low, span = d >> bits << bits, 1 << bits
    if begin == end:
        return np.int64(-1)
    ahead = np.uint64((d - low) * (end - begin)) // np.uint64(span)
    i, first, last = np.uint64(begin) + ahead, np.uint64(begin), np.uint64(end - 1)
    while i < last and documents[i] < d:
        i += np.uint64(1)
    while i > first and documents[i] > d:
        i -= np.uint64(1)
    return np.int64(i) if documents[i] == d else np.int64(-1)


@part
def _count(
    level: int, found: int, scale: float, sums: Floats, touched: Places, levels: Numbers
) -> int:
    """Count documents by the level of their sums, and return how many reach `level`.

    Lower levels are not counted.
    """
    reaching = 0
    for t in range(found):
        own = int(sums[touched[t]] * scale)
        if own >= level:
            levels[np.uint64(min(own, LEVELS - 1))] += 1
            reaching += 1
    return reaching


@part
def _sort(
    size: int, docs: Numbers, scores: Floats, order: Numbers, starts: Numbers, out_docs: Numbers,
    out_scores: Floats,
) -> None:  # fmt: skip
    """Sort documents into ranked order: roughly by score, then exactly (Shell sort)."""
    low, high, buckets, widest = np.inf, -np.inf, min(size, len(starts) - 1), 0
    for j in range(size):
        low = min(low, scores[j])
        high = max(high, scores[j])
    scale = (buckets - 1) / (high - low) if high > low else 0.0
    starts[: buckets + 1] = 0
    for j in range(size):
        starts[int((high - scores[j]) * scale) + 1] += 1
    for b in range(buckets):
        widest = max(widest, starts[b + 1])
        starts[b + 1] += starts[b]
    for j in range(size):
        b = int((high - scores[j]) * scale)
        out_docs[starts[b]] = docs[j]
        out_scores[starts[b]] = scores[j]
        starts[b] += 1
    gap = 1
    while gap < widest // 2:
        gap = int(gap * 2.25) + 1
    while gap > 0:
        for i in range(gap, size):
            score, d = out_scores[i], out_docs[i]
            place = order[d]
            j = i
            while j >= gap:
                other = out_scores[j - gap]
                if score < other or (score == other and place < order[out_docs[j - gap]]):
                    break
                out_scores[j] = other
                out_docs[j] = out_docs[j - gap]
                j -= gap
            out_scores[j] = score
            out_docs[j] = d
        gap = int(gap / 2.25)


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
    the norm of document ``d``: a count x adds weight · `top` · x / (x + norm). `scales` turn a score
    into a level. The arrays from `sums` to `spare_scores` are used by no other thread.
    """
    width, k = len(sums), top_docs.shape[1]
    every = (len(codes) + width - 1) // width
    for q in range(first, last):
        begin, end, scale, rest = offsets[q], offsets[q + 1], scales[q], 0.0
        for r in range(end - 1, begin - 1, -1):
            rest += terms[r].rest
            terms[r].rest = rest
            terms[r].end = terms[r].start
        least, level, reaching, size, exact = -1.0, 0, 0, 0, rest == np.inf
        levels[:] = 0
        for window in range(every):
            base, total = window * width, 0
            for r in range(begin, end):
                at = terms[r].end
                if window == every - 1:
                    stop = terms[r].stop
                elif terms[r].row >= 0:
                    stop = terms[r].start + starts[terms[r].row, window + 1]
                else:
                    stop = at
                    while stop < terms[r].stop and documents[stop] < base + width:
                        stop += 1
                terms[r].begin, terms[r].end = at, stop
                total += stop - at
            # Read lists as long as they can bring new documents, or are short.
            r, found, floor = begin, 0, 0.0
            while r < end:
                if terms[r].rest < least:
                    floor = EMPTY
                    found = _still_able(found, touched, sums, least - terms[r].rest)
                    if _PROBE * found < terms[r].end - terms[r].begin:
                        break
                found = _read(
                    terms[r].begin, terms[r].end, base, terms[r].weight, top, floor, documents,
                    counts, codes, norms, sums, touched, found,
                )  # fmt: skip
                r += 1
                if window == 0 and r < end and found >= k and 2 * terms[r].rest < rest:
                    # What documents have already is a first threshold.
                    reaching = _count(level, found, scale, sums, touched, levels)
                    while reaching - levels[level] >= k:
                        reaching -= levels[level]
                        level += 1
                    least = max(least, level / scale * (1 - SLACK))
                    levels[level:] = 0
                    reaching = 0
            dense = exact and total * _DENSE > width
            if dense:
                found = _gather(sums, max(least, 0.0), touched)
            # Look the remaining lists up.
            able = 0
            for t in range(found):
                y = touched[t]
                score, d, j = sums[y], base + int(y), r
                while j < end and score + terms[j].rest >= least:
                    row = terms[j].row
                    i = _find(
                        terms[j].start if row >= 0 else terms[j].begin, terms[j].end, base, width,
                        d, bits, row, documents, starts,
                    )  # fmt: skip
                    if i >= 0:
                        x = float(counts[i])
                        score += terms[j].weight * (top * x / (x + norms[codes[d]]))
                    j += 1
                touched[able] = y
                whole = j == end and score >= least
                able += whole
                sums[y] = score if whole else EMPTY
            reaching += _count(level, able, scale, sums, touched, levels)
            while reaching - levels[level] >= k:
                reaching -= levels[level]
                level += 1
            if level > 0:
                least = max(least, level / scale * (1 - SLACK))
            for t in range(able):
                y = touched[t]
                kept_scores[size] = sums[y]
                kept_docs[size] = base + int(y)
                size += sums[y] >= least
                sums[y] = EMPTY
            if dense:
                sums[:] = EMPTY
            if window < every - 1 and size + width <= len(kept_docs):
                continue
            kept = 0
            for j in range(size):
                kept_docs[kept] = kept_docs[j]
                kept_scores[kept] = kept_scores[j]
                kept += kept_scores[j] >= least
            size = kept
            if window < every - 1 and size + width <= len(kept_docs):
                continue
            # The end, or very many documents tie.
            if not exact:
                for j in range(size):
                    score, d = 0.0, int(kept_docs[j])
                    for r in range(begin, end):
                        own = terms[r].place
                        i = _find(
                            terms[own].start, terms[own].stop, 0, len(codes), d, bits,
                            terms[own].row, documents, starts,
                        )  # fmt: skip
                        if i >= 0:
                            x = float(counts[i])
                            score += terms[own].weight * (top * x / (x + norms[codes[d]]))
                    kept_scores[j] = score
            _sort(size, kept_docs, kept_scores, order, buckets, spare_docs, spare_scores)
            size = min(size, k)
            for j in range(size):
                kept_docs[j] = spare_docs[j]
                kept_scores[j] = spare_scores[j]
        for j in range(size):
            top_docs[q, j] = kept_docs[j]
            top_scores[q, j] = kept_scores[j]
