"""Join ranked lists of several runs, and combine what they say of each document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import kernel
from heldout.retrieve.kernels.heaps import better

if TYPE_CHECKING:
    from heldout.retrieve.kernels.types import Floats, Ints, Numbers, Words


SUM, MNZ, ANZ, MAX, MIN, MED = range(6)
_EMPTY: Final = -1


@kernel
def join(hashes: Words, offsets: Ints, row_of: Numbers, entry_offsets: Ints) -> None:
    """Give each document of a query one entry, in the order of first appearance.

    `hashes` are the documents of the rows, all runs one after another, `offsets` (runs × queries +
    1) the rows of each query. `row_of` (rows × runs, all −1) receives the row of each entry in each
    run, `entry_offsets` the entries of each query.
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
    """Write the value of each row to `table` (entries × runs); NaN where a run lacks the entry."""
    for entry in range(row_of.shape[0]):
        for r in range(row_of.shape[1]):
            row = row_of[entry, r]
            table[entry, r] = values[row] if row >= 0 else np.nan


@kernel
def combine(table: Floats, weights: Floats, how: int, scores: Floats) -> None:
    """Combine the weighted values of each entry (a row of `table`; NaN: the run lacks it).

    Values are sorted before they are added, so that the order of the runs does not matter and equal
    sums are equal to the last bit. A sweep spends its time here: exchanges without a branch sort,
    and what is missing comes last, or is 0 in a sum.
    """
    entries, runs = table.shape
    own = np.empty(runs)
    missing = 0.0 if how == SUM else np.inf
    for entry in range(entries):
        n = 0
        for r in range(runs):
            value = weights[r] * table[entry, r]
            there = value == value  # noqa: PLR0124 - NaN
            n += there
            value = value if there else missing
            for i in range(r):
                low = min(value, own[i])
                value = max(value, own[i])
                own[i] = low
            own[r] = value
        total = 0.0
        for r in range(runs if how == SUM else n):
            total += own[r]
        if how == MNZ:
            total *= n
        elif how == ANZ:
            total /= n
        elif how == MAX:
            total = own[n - 1]
        elif how == MIN:
            total = own[0]
        elif how == MED:
            total = (own[(n - 1) // 2] + own[n // 2]) / 2
        scores[entry] = total


@kernel
def ranks(scores: Floats, ids: Words, offsets: Ints, judged: Numbers, found: Ints) -> None:
    """Find the ranks of the judged entries (−1: it is not judged); nothing is sorted.

    `ids` are numbers that are higher for a bytewise greater id. ``found[judged[entry]]`` receives
    the rank of an entry among those of its query.
    """
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        for entry in range(begin, end):
            if judged[entry] >= 0:
                above = 0
                for i in range(begin, end):
                    above += better(scores[i], ids[i], scores[entry], ids[entry])
                found[judged[entry]] = above + 1
