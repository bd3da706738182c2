"""The top of ranked lists under many parameter settings at once, without scoring all documents.

One number per document, summed over the terms of a query, bounds its scores under all settings: a
score relative to the k-th best score of its setting so far, the largest over the settings. It takes
one addition per posting. Only documents whose bound reaches what their list demands are scored
under every setting, in the order of the query, so that all scores have the bits of a plain loop.

Documents are scored a window at a time, so that their sums stay in the cache. For each frequent
term the index has the largest count and the smallest length in each window. Scores rise with the
count and fall with the length, so these two bound what the term adds to any score in the window,
for all parameter settings. Lists whose bounds together cannot reach the k-th best score need not
be read (MaxScore; Turtle and Flood 1995): they are only looked up for documents that still can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.kernels.heaps import better, keep, sort_lists
from heldout.retrieve.kernels.scoring import ZERO, fraction, shifted
from heldout.retrieve.kernels.types import FRACTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Documents, Postings, Queries, Rule
    from heldout.retrieve.kernels.types import Floats, Ints, Numbers, Windows

    Lists = NDArray[Any]
    Singles = NDArray[np.float32]

COUNTS = 16
"""Counts that bounds tell apart; the last one stands for all larger counts."""
EMPTY = -1e30
_SLACK = 1e-4
"""Bounds are 32-bit sums: thresholds are lowered by far more than they can be off."""
_PROBE = 64
"""Looking a document up costs as much as reading this many postings."""
_GAIN = 4
"""Lists are looked up only where that saves at least this part of the postings of a window."""

LIST = np.dtype(
    [
        ("begin", np.int64),
        ("end", np.int64),
        ("bound", np.float64),
        ("order", np.int64),
        ("below", np.float64),
    ]
)
"""A list of a query in a window: one row per term.

Its postings (`begin` to `end`) and what it can add at most (`bound`). In row ``i``, `order` is the
list with the i-th smallest bound, and `below` the sum of the bounds before it. Records, because
every array that functions pass on takes time to compile.
"""


class Filter(NamedTuple):
    """Bounds of what a term adds to a score.

    `cells` is the cell of each document: documents of similar length. `curves` (counts × cells ×
    lanes) bound what a count adds there under each setting, per weight; `weights` are the largest
    weights of the terms. `cell_of` is the cell of a length.
    """

    cells: NDArray[np.uint16]
    curves: Singles
    weights: Floats
    cell_of: NDArray[np.uint16]


class Work(NamedTuple):
    """Arrays that the loop works with: for a window, for a document, for the lists of a query.

    `heights` (counts × cells) are bounds relative to the thresholds `scale` (lanes); `least` (lists
    × lanes) are the k-th best scores, `demands` (lists) the bounds that a document must reach.
    """

    lists: Lists
    sums: Singles
    touched: NDArray[np.uint32]
    heights: Singles
    scale: Floats
    least: Floats
    demands: Floats
    row: Floats


class Tops(NamedTuple):
    """The best documents (queries × lists × lanes × k), and how many they are."""

    scores: Floats
    documents: Numbers
    sizes: Ints


@part
def _lists_in_window(
    q: int, window: int, postings: Postings, queries: Queries, windows: Windows, filter_: Filter,
    work: Work,
) -> int:  # fmt: skip
    """Find and bound the lists of query `q` in a window; return the number of their postings.

    The lists of rare terms go on from their ends in the window before.
    """
    first, lists, total = queries.offsets[q], work.lists, 0
    beyond = (window + 1) << windows.bits
    for j in range(queries.offsets[q + 1] - first):
        term = queries.terms[first + j]
        row = windows.rows[term]
        if row >= 0:
            begin = postings.begin[term] + windows.starts[row, window]
            end = postings.begin[term] + windows.starts[row, window + 1]
            count, length = windows.counts[row, window], windows.lengths[row, window]
        else:
            begin, stop = lists[j].end, postings.end[term]
            end = begin
            while end < stop and postings.documents[end] < beyond:
                end += 1
            count, length = windows.most[term], windows.shortest[term]
        lists[j].begin, lists[j].end, lists[j].bound = begin, end, 0.0
        total += end - begin
        if begin < end:
            height = work.heights[min(count, COUNTS - 1), filter_.cell_of[length]]
            weight = queries.weights[first + j] * filter_.weights[term]
            lists[j].bound = weight * height * (1 + _SLACK)
    return total


@part
def _skippable(number: int, total: int, least: float, lists: Lists) -> int:
    """Sort lists by their bounds; return how many of the first need not be read.

    −1: no document of the window can reach `least`. 0 also where it would save too little.
    """
    for j in range(number):
        i = j
        while i > 0 and lists[lists[i - 1].order].bound > lists[j].bound:
            lists[i].order = lists[i - 1].order
            i -= 1
        lists[i].order = j
    reach = 0.0
    for i in range(number):
        lists[i].below = reach
        reach += lists[lists[i].order].bound
    lists[number].below = reach
    if reach < least:
        return -1
    skipped, saved = 0, 0
    while lists[skipped + 1].below < least:
        saved += lists[lists[skipped].order].end - lists[lists[skipped].order].begin
        skipped += 1
    return skipped if _GAIN * saved >= total else 0


@part
def _find(documents: NDArray[np.int32], begin: int, end: int, d: int) -> int:
    """Return the posting of document `d` between `begin` and `end`; −1: there is none.

    In a window documents are spread evenly, so that the first guess is close.
    """
    posting = -1
    if begin < end and documents[begin] <= d <= documents[end - 1]:
        low, high = int(documents[begin]), int(documents[end - 1])
        i = begin + (d - low) * (end - 1 - begin) // max(high - low, 1)
        while documents[i] < d:
            i += 1
        while documents[i] > d:
            i -= 1
        if documents[i] == d:
            posting = i
    return posting


@part
def _set_scale(full: bool, real: int, filter_: Filter, work: Work) -> None:
    """Make bounds relative to the mean threshold of each lane, or to a usual score before that."""
    curves, lists = filter_.curves, len(work.least)
    for c in range(len(work.scale)):
        height = float(curves[1, curves.shape[1] // 2, c]) * lists
        if full:
            height = 0.0
            for l in range(lists):  # noqa: E741
                height += work.least[l, c]
        work.scale[c] = lists / height if height > 0 and (c < real or not full) else 0.0
    for x in range(curves.shape[0]):
        for cell in range(curves.shape[1]):
            highest = np.float32(0.0)
            for c in range(curves.shape[2]):
                highest = max(highest, curves[x, cell, c] * np.float32(work.scale[c]))
            work.heights[x, cell] = highest


@part
def _set_demands(real: int, work: Work) -> float:
    """Find the bound that each list demands; return the lowest."""
    lowest = np.inf
    for l in range(len(work.least)):  # noqa: E741
        demand = np.inf
        for c in range(real):
            least = work.least[l, c]
            demand = min(demand, least * work.scale[c] if least > 0 else least)
        work.demands[l] = demand * (1 - _SLACK) if demand > 0 else demand
        lowest = min(lowest, work.demands[l])
    return lowest


@part
def _read_list(
    j: int, base: int, floor: np.float32, weight: np.float32, postings: Postings, filter_: Filter,
    work: Work, found: int,
) -> int:  # fmt: skip
    """Add a list to the bounds above `floor`, which is 0 or `EMPTY`; note the others it begins.

    Returns the number of documents noted.
    """
    low, sums, touched, lists = np.uint32(base), work.sums, work.touched, work.lists
    for i in range(lists[j].begin, lists[j].end):
        d = np.uint32(postings.documents[i])
        x = np.uint32(min(postings.counts[i], COUNTS - 1))
        known = sums[d - low]
        touched[found] = d - low
        found += known < floor  # without a branch, which could not be predicted
        sums[d - low] = max(known, floor) + weight * work.heights[x, filter_.cells[d]]
    return found


@part
def _still_able(found: int, least: float, work: Work) -> int:
    """Drop documents with a bound below `least`; return the number of the others."""
    sums, touched, kept = work.sums, work.touched, 0
    for t in range(found):
        y = touched[t]
        known = sums[y]
        touched[kept] = y
        kept += known >= least
        sums[y] = known if known >= least else np.float32(EMPTY)
    return kept


@part
def _read_window(
    q: int, base: int, skipped: int, lowest: float, postings: Postings, queries: Queries,
    filter_: Filter, work: Work,
) -> int:  # fmt: skip
    """Bound the documents of a window; return the number of those noted."""
    first, found, lists = queries.offsets[q], ZERO, work.lists
    for i in range(queries.offsets[q + 1] - first - 1, -1, -1):
        j = lists[i].order if skipped else i
        weight = np.float32(queries.weights[first + j] * filter_.weights[queries.terms[first + j]])
        floor = np.float32(0.0)
        if i < skipped:  # no other documents can be among the best
            floor = np.float32(EMPTY)
            found = _still_able(found, lowest - lists[i + 1].below, work)
            if _PROBE * found < lists[j].end - lists[j].begin:
                for t in range(found):
                    d = base + int(work.touched[t])
                    p = _find(postings.documents, lists[j].begin, lists[j].end, d)
                    if p >= 0:
                        x = min(postings.counts[p], COUNTS - 1)
                        work.sums[d - base] += weight * work.heights[x, filter_.cells[d]]
                continue
        found = _read_list(j, base, floor, weight, postings, filter_, work, found)
    return found


@part
def _score(
    q: int, d: int, postings: Postings, queries: Queries, documents: Documents, rule: Rule,
    work: Work,
) -> None:  # fmt: skip
    """Score a document under all settings, term by term as the plain loop does."""
    s, r, row, values = documents.statistics[d], documents.ratio[d], work.row, rule.values
    for c in range(len(row)):
        row[c] = 0.0
    first, lists = queries.offsets[q], work.lists
    for j in range(queries.offsets[q + 1] - first):
        i = _find(postings.documents, lists[j].begin, lists[j].end, d)
        if i < 0:
            continue
        weight = queries.weights[first + j] * rule.weights[queries.terms[first + j], s]
        if rule.kind == FRACTION:
            x = float(postings.counts[i])
            for c in range(len(row)):
                norm = values[s, 1, c] + values[s, 2, c] * r
                row[c] += weight * fraction(x, values[s, 0, c], norm)
        else:
            x = rule.table[postings.counts[i]]
            for c in range(len(row)):
                row[c] += weight * shifted(x, r, values, s, c)


@part
def _insert(q: int, d: int, documents: Documents, work: Work, tops: Tops) -> bool:
    """Insert a document into its list, where it is good enough; return whether it was anywhere."""
    l, order, changed = documents.lists[d], documents.order, False  # noqa: E741
    for c in range(tops.scores.shape[2]):
        scores, docs, size = tops.scores[q, l, c], tops.documents[q, l, c], tops.sizes[q, l, c]
        if size == len(docs) and not better(work.row[c], order[d], scores[0], order[docs[0]]):
            continue
        size = keep(scores, docs, size, work.row[c], np.int32(d), order)
        tops.sizes[q, l, c], changed = size, True
        if size == len(docs):
            work.least[l, c] = scores[0]
    return changed


@bare_kernel
def rank_top(
    first: int,
    last: int,
    postings: Postings,
    queries: Queries,
    windows: Windows,
    documents: Documents,
    rule: Rule,
    filter_: Filter,
    work: Work,
    tops: Tops,
) -> None:
    """Find the top of all lists of the queries `first` to `last`; `work` is of this thread alone.

    Weights must not be negative, and scores must rise with counts and fall with lengths.
    """
    width, real = len(work.sums), tops.scores.shape[2]
    every = (len(documents.statistics) + width - 1) >> windows.bits
    for q in range(first, last):
        number = queries.offsets[q + 1] - queries.offsets[q]
        for j in range(number):
            work.lists[j].end = postings.begin[queries.terms[queries.offsets[q] + j]]
        work.least[:] = -np.inf
        _set_scale(False, real, filter_, work)
        lowest, seen, rescale, full = _set_demands(real, work), 0, 1, False
        for window in range(every):
            if full and seen >= rescale:
                _set_scale(True, real, filter_, work)
                rescale = 2 * seen + 1
                lowest = _set_demands(real, work)
            total = _lists_in_window(q, window, postings, queries, windows, filter_, work)
            if total == 0:
                continue
            seen += 1
            base, skipped = window << windows.bits, 0
            if lowest > 0:
                skipped = _skippable(number, total, lowest, work.lists)
                if skipped < 0:
                    continue
            found = _read_window(q, base, skipped, lowest, postings, queries, filter_, work)
            for t in range(found):
                y = work.touched[t]
                d, known = base + int(y), work.sums[y]
                work.sums[y] = EMPTY
                if documents.statistics[d] >= 0 and known >= work.demands[documents.lists[d]]:
                    _score(q, d, postings, queries, documents, rule, work)
                    if _insert(q, d, documents, work, tops):
                        lowest = _set_demands(real, work)
            full = lowest > -np.inf
        sort_lists(tops.scores[q], tops.documents[q], tops.sizes[q], documents.order)
