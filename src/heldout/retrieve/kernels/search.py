"""Plain search: ranked lists of all documents for one parameter setting of a fraction.

Windows of documents are scored one after another (see `heldout.retrieve.kernels.windows`). Where
all lists of a window are read, terms are added in the order of the query, and sums are exact. Where
some are only looked up, terms are added in another order; the documents that remain at the end
are then scored again in the order of the query. So all scores have the bits of a plain loop.

A few queries take turns, a stripe of windows each, so that the lengths of the documents of a stripe
are fetched into the cache once for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.compiled import bare_kernel, part
from heldout.retrieve.kernels.lists import better
from heldout.retrieve.kernels.windows import (
    EMPTY,
    SLACK,
    find_in_list,
    find_in_window,
    lists_in_window,
    look_up_cheaper,
    new_lists,
    skippable,
    whole_list,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Floats, Ints, Postings, Queries
    from heldout.retrieve.kernels.windows import Lists, Windows

    Numbers = NDArray[np.int32]

__all__ = ["Curve", "new_room", "new_state", "search", "sort_ranked"]

_BATCH = 32
"""Queries that take turns."""
_STRIPE = 17
"""Documents of a stripe, as a power of two: their lengths fit into the cache."""
_LEVELS = 4096
_BUCKETS = 1024
_DENSE = 4
"""A window with a posting for this many documents is read as a whole."""
_RESCORE = 60
"""Scoring a document again costs, for each term, as much as reading this many postings."""


class Curve(NamedTuple):
    """What a count adds to a score: `top` · x / (x + norm).

    ``norms[codes[d]]`` is the norm of document ``d``, `fixed` + `slope` · its length: documents of
    the same length share a code, so that the memory that is read at random is small.
    """

    top: float
    codes: NDArray[np.uint16]
    norms: Floats
    fixed: float
    slope: float


TURN = np.dtype(
    [
        ("size", np.int64),
        ("level", np.int64),
        ("reaching", np.int64),
        ("scale", np.float64),
        ("least", np.float64),
        ("prune", np.bool_),
    ]
)
"""A query that takes turns.

The number of documents kept (`size`); `reaching` documents, at least k, reach `level`, and a score
of `least`; `scale` turns a score into a level; `prune`: whether it pays to look lists up.
"""


class State(NamedTuple):
    """The queries that take turns: their best documents so far, in no order, and where they are.

    `exact` says whether a score has its final bits. `levels` count all documents by score, from 0
    to the highest possible one, so that the k-th best score is always known closely. `ends` are the
    ends of the lists of each query in the last window.
    """

    turns: NDArray[Any]
    scores: Floats
    documents: Numbers
    exact: NDArray[np.bool_]
    levels: Numbers
    ends: Ints


class Room(NamedTuple):
    """Arrays for one window, and for sorting."""

    lists: Lists
    sums: Floats
    touched: NDArray[np.uint32]
    starts: Ints
    documents: Numbers
    scores: Floats


def new_state(queries: int, longest: int, k: int, width: int) -> State:
    """Return arrays for `queries` that take turns, at most; `longest` is their number of terms."""
    turns, room = max(1, min(_BATCH, queries)), 4 * k + 2 * width + 1
    return State(
        np.zeros(turns, TURN),
        np.empty((turns, room)),
        np.empty((turns, room), np.int32),
        np.empty((turns, room), np.bool_),
        np.empty((turns, _LEVELS), np.int32),
        np.empty((turns, longest), np.int64),
    )


def new_room(longest: int, k: int, width: int) -> Room:
    """Return arrays for windows of `width` documents."""
    return Room(
        new_lists(longest),
        np.full(width, EMPTY),
        np.empty(width + 1, np.uint32),
        np.empty(_BUCKETS + 1, np.int64),
        np.empty(4 * k + 2 * width + 1, np.int32),
        np.empty(4 * k + 2 * width + 1),
    )


@part
def sort_ranked(docs: Numbers, scores: Floats, order: Numbers, size: int) -> None:
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
def _spread_out(docs: Numbers, values: Floats, size: int, room: Room) -> None:
    """Sort documents roughly, by their position between the lowest and the highest score.

    The sort that follows only has to swap neighbours.
    """
    starts, low, high = room.starts, np.inf, -np.inf
    for j in range(size):
        low = min(low, values[j])
        high = max(high, values[j])
    scale = (_BUCKETS - 1) / (high - low) if high > low else 0.0
    for b in range(_BUCKETS + 1):
        starts[b] = 0
    for j in range(size):
        starts[int((high - values[j]) * scale) + 1] += 1
    for b in range(_BUCKETS):
        starts[b + 1] += starts[b]
    for j in range(size):
        b = int((high - values[j]) * scale)
        room.documents[starts[b]] = docs[j]
        room.scores[starts[b]] = values[j]
        starts[b] += 1


@part
def _bound(curve: Curve, weight: float, count: float, length: float) -> float:
    """Return the most that a list with this largest count and smallest length can add."""
    norm = curve.fixed + curve.slope * length
    return weight * (curve.top * count / (count + norm)) * (1 + SLACK)


@part
def _score_again(
    q: int, d: int, postings: Postings, queries: Queries, curve: Curve, windows: Windows
) -> float:
    """Score one document in the order of the query."""
    score = 0.0
    for row in range(queries.offsets[q], queries.offsets[q + 1]):
        i = find_in_list(queries.terms[row], d, postings, windows)
        if i >= 0:
            x = float(postings.counts[i])
            score += queries.weights[row] * (curve.top * x / (x + curve.norms[curve.codes[d]]))
    return score


@part
def _rescore(
    q: int, b: int, state: State, postings: Postings, queries: Queries, curve: Curve,
    windows: Windows,
) -> None:  # fmt: skip
    """Give all documents kept their final scores."""
    for j in range(state.turns[b].size):
        if not state.exact[b, j]:
            d = state.documents[b, j]
            state.scores[b, j] = _score_again(q, d, postings, queries, curve, windows)
            state.exact[b, j] = True


@part
def _drop(b: int, state: State) -> None:
    """Drop the documents that cannot be among the best."""
    scores, documents, exact, kept = state.scores[b], state.documents[b], state.exact[b], 0
    least = state.turns[b].least
    for j in range(state.turns[b].size):
        score = scores[j]
        scores[kept] = score
        documents[kept] = documents[j]
        exact[kept] = exact[j]
        kept += score >= least
    state.turns[b].size = kept


@part
def _raise_least(b: int, k: int, before: int, exact: bool, state: State) -> None:
    """Count the documents kept since there were `before`; find a score that k documents reach."""
    scores, levels, scale = state.scores[b], state.levels[b], state.turns[b].scale
    level, reaching = state.turns[b].level, state.turns[b].reaching
    for j in range(before, state.turns[b].size):
        state.exact[b, j] = exact
        own = max(min(int(scores[j] * scale), _LEVELS - 1), 0)
        levels[own] += 1
        reaching += own >= level
    while reaching - levels[level] >= k:
        reaching -= levels[level]
        level += 1
    state.turns[b].level, state.turns[b].reaching = level, reaching
    if level > 0:
        state.turns[b].least = level / scale * (1 - SLACK)


@part
def _read_all(
    q: int, base: int, postings: Postings, queries: Queries, curve: Curve, lists: Lists,
    sums: Floats,
) -> None:  # fmt: skip
    """Add all lists of a window, in the order of the query."""
    low = np.uint32(base)  # unsigned: no test for negative indexes
    for row in range(queries.offsets[q], queries.offsets[q + 1]):
        j, weight = row - queries.offsets[q], queries.weights[row]
        for i in range(lists[j].begin, lists[j].end):
            d = np.uint32(postings.documents[i])
            x = float(postings.counts[i])
            sums[d - low] = max(sums[d - low], 0.0) + weight * (
                curve.top * x / (x + curve.norms[curve.codes[d]])
            )


@part
def _read_list(
    j: int, base: int, weight: float, postings: Postings, curve: Curve, lists: Lists, sums: Floats,
    touched: NDArray[np.uint32], found: int,
) -> int:  # fmt: skip
    """Add one list, and note the documents that had no sum before; return their number."""
    low = np.uint32(base)
    for i in range(lists[j].begin, lists[j].end):
        d = np.uint32(postings.documents[i])
        x = float(postings.counts[i])
        known = sums[d - low]
        touched[found] = d - low
        found += known < 0  # without a branch, which could not be predicted
        sums[d - low] = max(known, 0.0) + weight * (
            curve.top * x / (x + curve.norms[curve.codes[d]])
        )
    return found


@part
def _look_up(
    j: int, base: int, weight: float, postings: Postings, curve: Curve, lists: Lists, sums: Floats,
    touched: NDArray[np.uint32], found: int,
) -> None:  # fmt: skip
    """Add one list to the sums of the documents that are left, and to no others."""
    low = np.uint32(base)
    if look_up_cheaper(j, found, lists):
        for t in range(found):
            y = int(touched[t])
            i = find_in_window(postings.documents, lists[j].begin, lists[j].end, base + y)
            if i >= 0:
                x = float(postings.counts[i])
                norm = curve.norms[curve.codes[base + y]]
                sums[y] += weight * (curve.top * x / (x + norm))
        return
    for i in range(lists[j].begin, lists[j].end):
        d = np.uint32(postings.documents[i])
        x = float(postings.counts[i])
        # All others stay `EMPTY`.
        sums[d - low] += weight * (curve.top * x / (x + curve.norms[curve.codes[d]]))


@part
def _still_able(found: int, touched: NDArray[np.uint32], sums: Floats, least: float) -> int:
    """Drop documents with a sum below `least`; return the number of the others."""
    kept = 0
    for t in range(found):
        y = touched[t]
        known = sums[y]
        touched[kept] = y
        kept += known >= least
        sums[y] = known if known >= least else EMPTY
    return kept


@part
def _open(
    q: int, b: int, k: int, postings: Postings, queries: Queries, curve: Curve, windows: Windows,
    state: State,
) -> None:  # fmt: skip
    """Begin a query."""
    first, last = queries.offsets[q], queries.offsets[q + 1]
    total, ceiling = 0, 0.0
    for row in range(first, last):
        term = queries.terms[row]
        state.ends[b, row - first] = postings.begin[term]
        total += postings.end[term] - postings.begin[term]
        count, length = whole_list(term, windows)
        ceiling += _bound(curve, queries.weights[row], count, length)
    state.levels[b, :] = 0
    state.turns[b].size, state.turns[b].level, state.turns[b].reaching = 0, 0, 0
    state.turns[b].scale = (_LEVELS - 1) / ceiling if ceiling > 0 else 0.0
    state.turns[b].least = -1.0
    state.turns[b].prune = total > k * (last - first) * _RESCORE


@part
def _take_dense(b: int, base: int, sums: Floats, state: State) -> None:
    """Keep the documents of a window that can be among the best; its sums are `EMPTY` then."""
    scores, documents, size = state.scores[b], state.documents[b], state.turns[b].size
    least = max(state.turns[b].least, 0.0)
    for y in range(0, len(sums), 16):
        hits = 0
        for z in range(y, y + 16):
            hits += sums[z] >= least
        if hits:
            for z in range(y, y + 16):
                scores[size] = sums[z]
                documents[size] = base + z
                size += sums[z] >= least
    state.turns[b].size = size
    for y in range(len(sums)):
        sums[y] = EMPTY


@part
def _take(
    b: int, base: int, found: int, touched: NDArray[np.uint32], sums: Floats, state: State
) -> None:
    """The same, for the documents in `touched`."""
    scores, documents, size = state.scores[b], state.documents[b], state.turns[b].size
    least = state.turns[b].least
    for t in range(found):
        y = touched[t]
        score = sums[y]
        sums[y] = EMPTY
        scores[size] = score
        documents[size] = base + int(y)
        size += score >= least
    state.turns[b].size = size


@part
def _read_some(
    q: int, b: int, base: int, skipped: int, postings: Postings, queries: Queries, curve: Curve,
    lists: Lists, sums: Floats, touched: NDArray[np.uint32], state: State,
) -> int:  # fmt: skip
    """Sum the documents of the lists that must be read; look the others up for those still able.

    Returns the number of documents left in `touched`. Lists are read in the order of the query if
    none is skipped, else by their bounds.
    """
    first, found = queries.offsets[q], 0
    number = queries.offsets[q + 1] - first
    for i in range(skipped, number):
        j = lists[number - 1 + skipped - i].order if skipped else i
        found = _read_list(
            j, base, queries.weights[first + j], postings, curve, lists, sums, touched, found
        )
    for i in range(skipped - 1, -1, -1):
        found = _still_able(found, touched, sums, state.turns[b].least - lists[i + 1].below)
        j = lists[i].order
        _look_up(j, base, queries.weights[first + j], postings, curve, lists, sums, touched, found)
    return found


@part
def _search_window(
    q: int, b: int, k: int, window: int, postings: Postings, queries: Queries, curve: Curve,
    windows: Windows, order: Numbers, room: Room, state: State,
) -> None:  # fmt: skip
    """Keep the documents of a window that can be among the best of a query."""
    lists, sums, touched = room.lists, room.sums, room.touched
    total = lists_in_window(q, window, postings, queries, windows, state.ends[b], lists)
    if total == 0:
        return
    first, skipped, width = queries.offsets[q], 0, len(sums)
    if state.turns[b].prune and state.turns[b].least > 0:
        number = queries.offsets[q + 1] - first
        for j in range(number):
            lists[j].bound = 0.0
            if lists[j].end > lists[j].begin:
                weight = queries.weights[first + j]
                lists[j].bound = _bound(curve, weight, lists[j].count, lists[j].length)
        skipped = skippable(number, total, state.turns[b].least, lists)
        if skipped < 0:
            return
    if state.turns[b].size + width >= state.scores.shape[1]:
        _drop(b, state)
        if state.turns[b].size + width >= state.scores.shape[1]:  # many documents tie
            _rescore(q, b, state, postings, queries, curve, windows)
            sort_ranked(state.documents[b], state.scores[b], order, state.turns[b].size)
            state.turns[b].size = min(k, state.turns[b].size)
    base, before = window << windows.bits, state.turns[b].size
    if skipped == 0 and total * _DENSE > width:
        _read_all(q, base, postings, queries, curve, lists, sums)
        _take_dense(b, base, sums, state)
    else:
        found = _read_some(
            q, b, base, skipped, postings, queries, curve, lists, sums, touched, state
        )
        _take(b, base, found, touched, sums, state)
    if state.turns[b].size > before:
        _raise_least(b, k, before, skipped == 0, state)


@bare_kernel
def search(
    first: int,
    last: int,
    postings: Postings,
    queries: Queries,
    curve: Curve,
    windows: Windows,
    order: Numbers,
    state: State,
    room: Room,
    top_docs: Numbers,
    top_scores: Floats,
) -> None:
    """Find the top documents of the queries `first` to `last`; weights must not be negative.

    `state` and `room` are of `new_state` and `new_room`, and are used by no other thread.
    """
    n, k, turns = len(curve.codes), top_docs.shape[1], len(state.turns)
    every = (n + len(room.sums) - 1) >> windows.bits
    stripe = max(1, (1 << _STRIPE) >> windows.bits)
    for low in range(first, last, turns):
        high = min(low + turns, last)
        for q in range(low, high):
            _open(q, q - low, k, postings, queries, curve, windows, state)
        for begin in range(0, every, stripe):
            for q in range(low, high):
                for window in range(begin, min(begin + stripe, every)):
                    _search_window(
                        q, q - low, k, window, postings, queries, curve, windows, order, room, state
                    )
        for q in range(low, high):
            b = q - low
            _drop(b, state)
            _rescore(q, b, state, postings, queries, curve, windows)
            size = state.turns[b].size
            _spread_out(state.documents[b], state.scores[b], size, room)
            sort_ranked(room.documents, room.scores, order, size)
            for j in range(min(k, size)):
                top_docs[q, j] = room.documents[j]
                top_scores[q, j] = room.scores[j]
