"""Windows of documents: where each list is in a window, and what it can add to a score there.

Documents are scored a window at a time, so that their sums stay in the cache. For each frequent
term the index has the largest count and the smallest length in each window. Scores rise with the
count and fall with the length, so these two bound what the term adds to any score in the window,
for all parameter settings. Lists whose bounds together cannot reach the k-th best score need not
be read (MaxScore; Turtle and Flood 1995): they are only looked up for documents that still can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.compiled import part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Ints, Postings, Queries

    Lists = NDArray[Any]

SATURATED = 65535
"""A stored count that stands for itself and all larger ones."""
HUGE = 2.0**31
"""No count is larger."""
_GAIN = 4
"""Lists are looked up only where that saves at least this part of the postings of a window."""


class Windows(NamedTuple):
    """Bounds of the terms in use.

    A window has 2 to the power of `bits` documents. `rows` are the rows of the terms in the tables;
    −1: a rare term, which has none. `starts` (rows × windows + 1) count the postings before each
    window, `counts` and `lengths` (rows × windows) are the largest counts and smallest lengths
    there; `most` and `shortest` are those in the whole list, for every term.
    """

    bits: int
    rows: Ints
    starts: NDArray[np.int32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint16]
    most: NDArray[np.uint16]
    shortest: NDArray[np.uint16]


LIST = np.dtype(
    [
        ("begin", np.int64),
        ("end", np.int64),
        ("count", np.float64),
        ("length", np.float64),
        ("bound", np.float64),
        ("order", np.int64),
        ("below", np.float64),
    ]
)
"""A list of a query in a window: one row per term.

Its postings (`begin` to `end`), their largest `count` and smallest `length`, and what it can add at
most (`bound`). In row ``i``, `order` is the list with the i-th smallest bound, and `below` the sum
of the bounds before it. Records, because every array that functions pass on takes time to compile.
"""


@part
def lists_in_window(
    q: int, window: int, postings: Postings, queries: Queries, windows: Windows, lists: Lists
) -> int:
    """Find the lists of query `q` in a window; return the number of their postings.

    The lists of rare terms go on from their ends in the window before.
    """
    first, total = queries.offsets[q], 0
    beyond = (window + 1) << windows.bits
    for j in range(queries.offsets[q + 1] - first):
        term = queries.terms[first + j]
        row = windows.rows[term]
        if row >= 0:
            begin = postings.begin[term] + windows.starts[row, window]
            end = postings.begin[term] + windows.starts[row, window + 1]
            count, lists[j].length = windows.counts[row, window], windows.lengths[row, window]
        else:
            begin, stop = lists[j].end, postings.end[term]
            end = begin
            while end < stop and postings.documents[end] < beyond:
                end += 1
            count, lists[j].length = windows.most[term], windows.shortest[term]
        lists[j].count = float(count) if count < SATURATED else HUGE
        lists[j].begin, lists[j].end = begin, end
        total += end - begin
    return total


@part
def skippable(number: int, total: int, least: float, lists: Lists) -> int:
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
def find_in_window(documents: NDArray[np.int32], begin: int, end: int, d: int) -> int:
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
