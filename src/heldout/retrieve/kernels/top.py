"""The top of ranked lists under many parameter settings at once, without scoring all documents.

One number per document, summed over the terms of a query, bounds its scores under all settings: a
score relative to the k-th best score of its setting so far, the largest over the settings. It takes
one addition per posting. Only documents whose bound reaches what their list demands are scored
under every setting, in the order of the query, so that all scores have the bits of a plain loop.
Windows and lists are skipped as in `heldout.retrieve.kernels.windows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.kernels.heaps import better, keep, sort_heap
from heldout.retrieve.kernels.scoring import FRACTION, ZERO, fraction, shifted
from heldout.retrieve.kernels.windows import find_in_window, lists_in_window, skippable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import (
        Documents,
        Floats,
        Ints,
        Numbers,
        Postings,
        Queries,
        Rule,
    )
    from heldout.retrieve.kernels.windows import Lists, Windows

    Singles = NDArray[np.float32]

COUNTS = 16
"""Counts that bounds tell apart; the last one stands for all larger counts."""
EMPTY = -1e30
_SLACK = 1e-4
"""Bounds are 32-bit sums: thresholds are lowered by far more than they can be off."""
_PROBE = 64
"""Looking a document up costs as much as reading this many postings."""


class Filter(NamedTuple):
    """Bounds of what a term adds to a score.

    `cells` is the cell of each document: documents of similar length, scored by the same values.
    `curves` (counts × cells × lanes) bound what a count adds there under each setting, per weight;
    `weights` are the largest weights of the terms. `cell_of` is the cell of a length, the first of
    `groups` that are `step` cells apart.
    """

    cells: NDArray[np.uint16]
    curves: Singles
    weights: Floats
    cell_of: NDArray[np.uint16]
    groups: int
    step: int


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
def _bound_lists(q: int, queries: Queries, filter_: Filter, work: Work) -> None:
    """Bound what each list can add in a window."""
    lists = work.lists
    for j in range(queries.offsets[q + 1] - queries.offsets[q]):
        lists[j].bound = 0.0
        if lists[j].end > lists[j].begin:
            row = queries.offsets[q] + j
            x = min(int(lists[j].count), COUNTS - 1)
            cell = np.int64(filter_.cell_of[int(lists[j].length)])
            height = np.float32(0.0)
            for g in range(filter_.groups):
                height = max(height, work.heights[x, cell + g * filter_.step])
            weight = queries.weights[row] * filter_.weights[queries.terms[row]]
            lists[j].bound = weight * height * (1 + _SLACK)


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
                    p = find_in_window(postings.documents, lists[j].begin, lists[j].end, d)
                    if p >= 0:
                        x = min(postings.counts[p], COUNTS - 1)
                        work.sums[d - base] += weight * work.heights[x, filter_.cells[d]]
                continue
        found = _read_list(j, base, floor, weight, postings, filter_, work, found)
    return found


@part
def _take_able(base: int, found: int, documents: Documents, work: Work, sort: bool) -> int:
    """Keep the documents that their lists may want; the best bounds first if `sort`."""
    kept = 0
    for t in range(found):
        y = work.touched[t]
        d = base + int(y)
        work.touched[kept] = y
        able = documents.statistics[d] >= 0
        if able:
            able = work.sums[y] >= work.demands[documents.lists[d]]
        kept += able
        if not able:
            work.sums[y] = EMPTY
    gap = kept // 2 if sort else 0
    while gap > 0:  # Shell sort
        for t in range(gap, kept):
            y = work.touched[t]
            i = t
            while i >= gap and work.sums[work.touched[i - gap]] < work.sums[y]:
                work.touched[i] = work.touched[i - gap]
                i -= gap
            work.touched[i] = y
        gap = gap // 2 if gap != 2 else 1
    return kept


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
        i = find_in_window(postings.documents, lists[j].begin, lists[j].end, d)
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
            total = lists_in_window(q, window, postings, queries, windows, work.lists)
            if total == 0:
                continue
            base, skipped = window << windows.bits, 0
            if full and seen >= rescale:
                _set_scale(True, real, filter_, work)
                rescale = 2 * seen + 1
                lowest = _set_demands(real, work)
            seen += 1
            if lowest > 0:
                _bound_lists(q, queries, filter_, work)
                skipped = skippable(number, total, lowest, work.lists)
                if skipped < 0:
                    continue
            found = _read_window(q, base, skipped, lowest, postings, queries, filter_, work)
            found = _take_able(base, found, documents, work, not full)
            for t in range(found):
                y = work.touched[t]
                d = base + int(y)
                if work.sums[y] >= work.demands[documents.lists[d]]:
                    _score(q, d, postings, queries, documents, rule, work)
                    if _insert(q, d, documents, work, tops):
                        lowest = _set_demands(real, work)
                work.sums[y] = EMPTY
            full = lowest > -np.inf
        for l in range(tops.scores.shape[1]):  # noqa: E741
            for c in range(real):
                own = tops.scores[q, l, c]
                sort_heap(own, tops.documents[q, l, c], tops.sizes[q, l, c], documents.order)
