"""Postings by document to postings by term."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.retrieve.compiled import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.indexing.kernels.types import Counted, Offsets, Placed, Places

__all__ = ["count_postings", "place_postings"]


@kernel
def _count(halves: NDArray[np.uint16], posting: int) -> int:
    """A count that is held as one or two numbers of 16 bits, the lower first."""
    count = np.int64(halves[posting, 0])
    if halves.shape[1] == 2:
        count |= np.int64(halves[posting, 1]) << 16
    return count


@kernel
def count_postings(
    counted: Counted,
    first: int,
    final: Places,
    latest: Places,
    frequencies: Offsets,
    sizes: Places,
) -> int:
    """Count what a batch will add once raw terms have become final ones.

    Parameters
    ----------
    first
        The number of the batch's first document.
    final
        For each raw term the number of its final one, -1 if it is left out.
    latest
        For each final term the last document with it, and its count there.
    frequencies
        For each final term its documents: added to.
    sizes
        For each document its length and the number of its different terms: filled.

    Returns
    -------
    int
        The greatest count of a term in a document.
    """
    greatest = np.int64(0)
    for row in range(len(counted.offsets) - 1):
        document = np.int32(first + row)
        length = np.int64(0)
        n_distinct = np.int64(0)
        for posting in range(counted.offsets[row], counted.offsets[row + 1]):
            term = final[counted.terms[posting]]
            if term < 0:
                continue
            count = _count(counted.counts, posting)
            length += count
            if latest[term, 0] == document:
                count += latest[term, 1]
            else:
                latest[term, 0] = document
                frequencies[term] += 1
                n_distinct += 1
            latest[term, 1] = count
            greatest = max(greatest, count)
        sizes[0, document] = length
        sizes[1, document] = n_distinct
    return greatest


@kernel
def place_postings(
    counted: Counted,
    first: int,
    final: Places,
    span: tuple[int, int],
    placed: Placed,
) -> None:
    """Put the postings of a batch whose final terms lie in a span where they belong.

    Parameters
    ----------
    first, final
        As for `count_postings`.
    span
        The first term, and the one behind the last; `placed` is for these.
    """
    low, high = span
    latest, cursors, documents, counts = placed
    wide = counts.shape[1] == 2
    for row in range(len(counted.offsets) - 1):
        document = np.int32(first + row)
        for posting in range(counted.offsets[row], counted.offsets[row + 1]):
            term = np.int64(final[counted.terms[posting]])
            if term < low or term >= high:
                continue
            count = _count(counted.counts, posting)
            place = cursors[term - low]
            if latest[term - low] == document:
                place -= 1
                count += _count(counts, place)
            else:
                latest[term - low] = document
                documents[place] = document
                cursors[term - low] = place + 1
            counts[place, 0] = count & 0xFFFF
            if wide:
                counts[place, 1] = count >> 16
