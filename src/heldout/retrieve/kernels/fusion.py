"""Join ranked lists of several runs, and combine what they say of each document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import kernel
from heldout.retrieve.kernels.fusion_codes import ANZ, MAX, MED, MIN, MNZ

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Numbers = NDArray[np.int32]
    Words = NDArray[np.uint64]

__all__ = ["add", "best", "combine", "join", "ranks", "spread"]

_EMPTY: Final = -1


@kernel
def join(hashes: Words, offsets: Ints, row_of: Numbers, entry_offsets: Ints) -> None:
    """Give each document of a query one entry, in the order of first appearance.

    Parameters
    ----------
    hashes
        The document of each row, all runs one after another.
    offsets
        Runs × (queries + 1): the rows of each query.
    row_of
        Rows × runs, all −1: receives the row of each entry in each run.
    entry_offsets
        Receives the entries of each query: ``entry_offsets[q]`` to ``entry_offsets[q + 1]``.
    """
    runs, queries = offsets.shape[0], offsets.shape[1] - 1
    table = np.full(16, _EMPTY, np.int32)
    first = np.empty(row_of.shape[0], np.uint64)  # the hash of each entry
    entries = 0
    for q in range(queries):
        entry_offsets[q] = entries
        rows = 0
        for r in range(runs):
            rows += offsets[r, q + 1] - offsets[r, q]
        while len(table) < 2 * rows:
            table = np.full(2 * len(table), _EMPTY, np.int32)
        table[:] = _EMPTY
        mask = np.uint64(len(table) - 1)
        for r in range(runs):
            for row in range(offsets[r, q], offsets[r, q + 1]):
                slot = np.int64((hashes[row] >> np.uint64(20)) & mask)
                while table[slot] != _EMPTY and first[table[slot]] != hashes[row]:
                    slot = (slot + 1) & np.int64(mask)
                if table[slot] == _EMPTY:
                    table[slot] = entries
                    first[entries] = hashes[row]
                    entries += 1
                row_of[table[slot], r] = row
    entry_offsets[queries] = entries


@kernel
def spread(row_of: Numbers, values: Floats, table: Floats) -> None:
    """Write what each run gives to each entry.

    Parameters
    ----------
    row_of
        As from `join`.
    values
        What its run gives to each row.
    table
        Entries × runs: receives the values; NaN where a run lacks the document.
    """
    for entry in range(row_of.shape[0]):
        for r in range(row_of.shape[1]):
            row = row_of[entry, r]
            table[entry, r] = values[row] if row >= 0 else np.nan


@kernel
def add(table: Floats, weights: Floats, scores: Floats) -> None:
    """Add the weighted values of each entry, as `combine` does for sums.

    A sweep spends its time here: values are sorted by exchanges without a branch, and what is
    missing is 0.

    Parameters
    ----------
    table, weights, scores
        As for `combine`.
    """
    entries, runs = table.shape
    own = np.empty(runs)
    for entry in range(entries):
        for r in range(runs):
            value = weights[r] * table[entry, r]
            value = value if value == value else 0.0  # noqa: PLR0124 - NaN
            for i in range(r):
                low = min(value, own[i])
                value = max(value, own[i])
                own[i] = low
            own[r] = value
        total = 0.0
        for r in range(runs):
            total += own[r]
        scores[entry] = total


@kernel
def combine(table: Floats, weights: Floats, how: int, scores: Floats) -> None:
    """Combine the values of each entry.

    Values are sorted before they are added, so that the order of the runs does not matter and equal
    sums are equal to the last bit.

    Parameters
    ----------
    table
        Entries × runs; NaN: the run is not counted.
    weights
        Of each run.
    how
        A code of `heldout.retrieve.kernels.fusion_codes`.
    scores
        Receives the score of each entry.
    """
    entries, runs = table.shape
    own = np.empty(runs)
    for entry in range(entries):
        n = 0
        for r in range(runs):
            value = weights[r] * table[entry, r]
            if np.isnan(value):
                continue
            place = n
            while place > 0 and own[place - 1] > value:
                own[place] = own[place - 1]
                place -= 1
            own[place] = value
            n += 1
        middle = (own[(n - 1) // 2] + own[n // 2]) / 2
        total = 0.0
        for i in range(n):
            total += own[i]
        if how == MNZ:
            total *= n
        elif how == ANZ:
            total /= n
        elif how == MAX:
            total = own[n - 1]
        elif how == MIN:
            total = own[0]
        elif how == MED:
            total = middle
        scores[entry] = total


@kernel
def ranks(scores: Floats, ids: Words, offsets: Ints, judged: Numbers, found: Ints) -> None:
    """Find the ranks of the judged entries; nothing is sorted.

    Parameters
    ----------
    scores, ids
        The score of each entry, and a number that is higher for a bytewise greater id.
    offsets
        The entries of each query.
    judged
        The judgement of each entry; −1: it is not judged.
    found
        Receives the rank of each judgement.
    """
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        for entry in range(begin, end):
            if judged[entry] < 0:
                continue
            score, above = scores[entry], 0
            for i in range(begin, end):
                if scores[i] > score or (scores[i] == score and ids[i] > ids[entry]):
                    above += 1
            found[judged[entry]] = above + 1


@kernel
def best(scores: Floats, ids: Words, offsets: Ints, found: Numbers) -> None:
    """Find the first entries of each query; the others are not sorted.

    Parameters
    ----------
    scores, ids, offsets
        As for `ranks`.
    found
        Queries × places, all −1: receives the entries.
    """
    k = found.shape[1]
    for q in range(len(offsets) - 1):
        size = 0
        for entry in range(offsets[q], offsets[q + 1]):
            place = size
            while place > 0:
                other = found[q, place - 1]
                if scores[other] > scores[entry] or (
                    scores[other] == scores[entry] and ids[other] > ids[entry]
                ):
                    break
                if place < k:
                    found[q, place] = other
                place -= 1
            if place < k:
                found[q, place] = entry
                size = min(size + 1, k)
