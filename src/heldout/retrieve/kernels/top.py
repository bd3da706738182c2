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
from heldout.retrieve.kernels.scoring import ZERO
from heldout.retrieve.kernels.windows import (
    find_in_window,
    lists_in_window,
    look_up_cheaper,
    skippable,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Floats, Ints, Postings, Queries
    from heldout.retrieve.kernels.windows import Lists, Windows

    Numbers = NDArray[np.int32]
    Singles = NDArray[np.float32]

__all__ = ["COUNTS", "Collection", "Filter", "Rules", "Work", "rank_top"]

COUNTS = 16
"""Counts that bounds tell apart; the last one stands for all larger counts."""
_EMPTY = -1e30
_SLACK = 1e-4
"""Bounds are 32-bit sums: thresholds are lowered by far more than they can be off."""


class Collection(NamedTuple):
    """Data about each document.

    The set of `statistics` it is scored by (−1: it is not ranked), its list, the code of its
    length, and the rank of its id.
    """

    statistics: Numbers
    lists: Numbers
    codes: NDArray[np.uint16]
    order: Numbers


class Rules(NamedTuple):
    """A sum over terms under several parameter settings (lanes).

    `weights` (terms × statistics), `values` (statistics × coefficients × lanes) and `table` are
    those of `heldout.retrieve.kernels.scoring.Rule`; `ratios` (statistics × codes) are |d| over the
    average length.
    """

    kind: int
    weights: Floats
    values: Floats
    table: Floats
    ratios: Floats


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
    ends: Ints
    sums: Singles
    touched: NDArray[np.uint32]
    heights: Singles
    scale: Floats
    least: Floats
    demands: Floats
    row: Floats


@part
def _set_scale(filter_: Filter, number: int, work: Work) -> None:
    """Take the lowest thresholds of each lane as the scale of the bounds."""
    lanes, lists = work.least.shape[1], len(work.least)
    for c in range(lanes):
        height = 0.0
        for l in range(lists):  # noqa: E741
            height += work.least[l, c]
        work.scale[c] = lists / height if c < number and height > 0 else 0.0
    _set_heights(filter_, work)


@part
def _set_heights(filter_: Filter, work: Work) -> None:
    curves, scale, heights = filter_.curves, work.scale, work.heights
    for x in range(curves.shape[0]):
        for cell in range(curves.shape[1]):
            height = np.float32(0.0)
            for c in range(curves.shape[2]):
                height = max(height, curves[x, cell, c] * np.float32(scale[c]))
            heights[x, cell] = height


@part
def _set_demands(number: int, work: Work) -> float:
    """Find the bound that each list demands; return the lowest."""
    lowest = np.inf
    for l in range(len(work.least)):  # noqa: E741
        demand = np.inf
        for c in range(number):
            least = work.least[l, c]
            demand = min(demand, least * work.scale[c] if least > 0 else least)
        work.demands[l] = demand * (1 - _SLACK) if demand > 0 else demand
        lowest = min(lowest, work.demands[l])
    return lowest


@part
def _bound_lists(
    q: int, number: int, queries: Queries, filter_: Filter, lists: Lists, work: Work
) -> None:
    """Bound what each list can add in a window."""
    for j in range(number):
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
    begin: int, end: int, base: int, weight: np.float32, postings: Postings, filter_: Filter,
    work: Work, found: int,
) -> int:  # fmt: skip
    """Add one list to the bounds of documents; note those that had none; return their number."""
    low, sums, touched = np.uint32(base), work.sums, work.touched
    for i in range(begin, end):
        d = np.uint32(postings.documents[i])
        x = np.uint32(min(postings.counts[i], COUNTS - 1))
        known = sums[d - low]
        touched[found] = d - low
        found += known < 0  # without a branch, which could not be predicted
        sums[d - low] = max(known, np.float32(0.0)) + weight * work.heights[x, filter_.cells[d]]
    return found


@part
def _look_up(
    j: int, base: int, weight: np.float32, postings: Postings, filter_: Filter, work: Work,
    found: int,
) -> None:  # fmt: skip
    """Add one list to the bounds of the documents that are left, and to no others."""
    low, sums, lists = np.uint32(base), work.sums, work.lists
    if look_up_cheaper(j, found, lists):
        for t in range(found):
            y = int(work.touched[t])
            i = find_in_window(postings.documents, lists[j].begin, lists[j].end, base + y)
            if i >= 0:
                x = min(postings.counts[i], COUNTS - 1)
                sums[y] += weight * work.heights[x, filter_.cells[base + y]]
        return
    for i in range(lists[j].begin, lists[j].end):
        d = np.uint32(postings.documents[i])
        x = np.uint32(min(postings.counts[i], COUNTS - 1))
        sums[d - low] += weight * work.heights[x, filter_.cells[d]]


@part
def _still_able(found: int, least: float, work: Work) -> int:
    """Drop documents with a bound below `least`; return the number of the others."""
    sums, touched, kept = work.sums, work.touched, 0
    for t in range(found):
        y = touched[t]
        known = sums[y]
        touched[kept] = y
        kept += known >= least
        sums[y] = known if known >= least else np.float32(_EMPTY)
    return kept


@part
def _read_window(
    q: int, base: int, skipped: int, lowest: float, postings: Postings, queries: Queries,
    filter_: Filter, work: Work,
) -> int:  # fmt: skip
    """Bound the documents of a window; return the number of those noted."""
    first, found, lists = queries.offsets[q], ZERO, work.lists
    number = queries.offsets[q + 1] - first
    for i in range(number - 1, -1, -1):
        j = lists[i].order if skipped else i
        term = queries.terms[first + j]
        weight = np.float32(queries.weights[first + j] * filter_.weights[term])
        if i >= skipped:
            found = _read_list(
                lists[j].begin, lists[j].end, base, weight, postings, filter_, work, found
            )
        else:
            found = _still_able(found, lowest - lists[i + 1].below, work)
            _look_up(j, base, weight, postings, filter_, work, found)
    return found


@part
def _take_able(base: int, found: int, collection: Collection, work: Work, sort: bool) -> int:
    """Keep the documents that their lists may want; the best bounds first if `sort`."""
    kept = 0
    for t in range(found):
        y = work.touched[t]
        d = base + int(y)
        work.touched[kept] = y
        able = collection.statistics[d] >= 0
        if able:
            able = work.sums[y] >= work.demands[collection.lists[d]]
        kept += able
        if not able:
            work.sums[y] = _EMPTY
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
    q: int, d: int, postings: Postings, queries: Queries, collection: Collection, rules: Rules,
    work: Work,
) -> None:  # fmt: skip
    """Score a document under all settings, by the operations of `score_sums`."""
    s, row, values, lists = collection.statistics[d], work.row, rules.values, work.lists
    r = rules.ratios[s, collection.codes[d]]
    for c in range(len(row)):
        row[c] = 0.0
    first = queries.offsets[q]
    for j in range(queries.offsets[q + 1] - first):
        i = find_in_window(postings.documents, lists[j].begin, lists[j].end, d)
        if i < 0:
            continue
        weight = queries.weights[first + j] * rules.weights[queries.terms[first + j], s]
        if rules.kind == 0:
            x = float(postings.counts[i])
            for c in range(len(row)):
                norm = values[s, 1, c] + values[s, 2, c] * r
                row[c] += weight * (values[s, 0, c] * x / (x + norm))
        else:
            x = rules.table[min(postings.counts[i], len(rules.table) - 1)]
            for c in range(len(row)):
                above = values[s, 0, c] * x + values[s, 3, c] + values[s, 4, c] * r
                below = values[s, 5, c] * x + values[s, 1, c] + values[s, 2, c] * r
                row[c] += weight * (above / below + values[s, 6, c])


@part
def _insert(
    q: int, d: int, collection: Collection, work: Work, top_scores: Floats, top_docs: Numbers,
    sizes: Ints,
) -> bool:  # fmt: skip
    """Insert a document into its list, where it is good enough; return whether it was anywhere."""
    l, order, k = collection.lists[d], collection.order, top_scores.shape[3]  # noqa: E741
    changed = False
    for c in range(top_scores.shape[2]):
        score, size = work.row[c], sizes[q, l, c]
        if size == k and not better(
            score, order[d], top_scores[q, l, c, 0], order[top_docs[q, l, c, 0]]
        ):
            continue
        sizes[q, l, c] = keep(
            top_scores[q, l, c], top_docs[q, l, c], size, score, np.int32(d), order
        )
        changed = True
        if sizes[q, l, c] == k:
            work.least[l, c] = top_scores[q, l, c, 0]
    return changed


@part
def _open(q: int, postings: Postings, queries: Queries, filter_: Filter, work: Work) -> None:
    """Begin a query: no list is full, and all settings count alike."""
    for row in range(queries.offsets[q], queries.offsets[q + 1]):
        work.ends[row - queries.offsets[q]] = postings.begin[queries.terms[row]]
    work.least[:] = -np.inf
    middle = filter_.curves.shape[1] // 2
    for c in range(len(work.scale)):
        height = filter_.curves[1, middle, c]
        work.scale[c] = 1.0 / height if height > 0 else 0.0
    _set_heights(filter_, work)


@bare_kernel
def rank_top(
    first: int,
    last: int,
    postings: Postings,
    queries: Queries,
    windows: Windows,
    collection: Collection,
    rules: Rules,
    filter_: Filter,
    work: Work,
    top_scores: Floats,
    top_docs: Numbers,
    sizes: Ints,
) -> None:
    """Find the top of all lists of the queries `first` to `last`.

    `top_scores`, `top_docs` (queries × lists × lanes × k) receive the best documents, `sizes` their
    number. Weights must not be negative, and scores must rise with counts and fall with lengths.
    `work` is used by no other thread.
    """
    width, real = len(work.sums), top_scores.shape[2]
    every = (len(collection.codes) + width - 1) >> windows.bits
    for q in range(first, last):
        _open(q, postings, queries, filter_, work)
        number, lowest = queries.offsets[q + 1] - queries.offsets[q], _set_demands(real, work)
        seen, rescale, full = 0, 1, False
        for window in range(every):
            total = lists_in_window(q, window, postings, queries, windows, work.ends, work.lists)
            if total == 0:
                continue
            base, skipped = window << windows.bits, 0
            if full and seen >= rescale:
                _set_scale(filter_, real, work)
                rescale = 2 * seen + 1
                lowest = _set_demands(real, work)
            seen += 1
            if lowest > 0:
                _bound_lists(q, number, queries, filter_, work.lists, work)
                skipped = skippable(number, total, lowest, work.lists)
                if skipped < 0:
                    continue
            found = _read_window(q, base, skipped, lowest, postings, queries, filter_, work)
            found = _take_able(base, found, collection, work, not full)
            for t in range(found):
                y = work.touched[t]
                d = base + int(y)
                if work.sums[y] >= work.demands[collection.lists[d]]:
                    _score(q, d, postings, queries, collection, rules, work)
                    if _insert(q, d, collection, work, top_scores, top_docs, sizes):
                        lowest = _set_demands(real, work)
                work.sums[y] = _EMPTY
            full = lowest > -np.inf
        for l in range(top_scores.shape[1]):  # noqa: E741
            for c in range(real):
                sort_heap(top_scores[q, l, c], top_docs[q, l, c], sizes[q, l, c], collection.order)
