"""Convert postings by document to postings by term.

Writing postings to their final positions in input order would access memory at random. Therefore a
few million at a time are first sorted by the region that they go to, which fits into a cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import bare_kernel, part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.indexing.kernels.types import (
        Bytes,
        Counted,
        Offsets,
        Placed,
        Places,
        Sorted,
    )

__all__ = ["count_regions", "place_postings", "settle_postings", "sort_postings"]


@part
def _count(halves: NDArray[np.uint16], posting: int) -> int:
    """Return a count stored as one or two 16-bit numbers, the lower one first."""
    count = np.int64(halves[posting, 0])
    if halves.shape[1] == 2:
        count |= np.int64(halves[posting, 1]) << 16
    return count


@bare_kernel
def settle_postings(
    counted: Counted,
    first: int,
    part_of: Bytes,
    seen: Places,
    sizes: Places,
    begins: Offsets,
    places: Offsets,
    settled: Counted,
) -> int:
    """Make one posting of those of a document and term, and divide them by parts; count both.

    Parameters
    ----------
    counted
        Postings of final terms; -1 if the term is left out.
    first
        The number of the first document.
    part_of
        The part of each final term.
    seen
        For each final term, the last document with it, the position of that posting, and the number
        of documents with it. They are side by side, because each access waits for memory.
    sizes
        For each document, its length and the number of its distinct terms (filled in).
    begins
        For each part and one more, where its postings begin in `settled` (filled in; zeros at
        first).
    places
        Working space of the same size.
    settled
        Filled in; its `offsets` have a row per part, in which the number of postings follows that
        of the document before (zeros at first).

    Returns
    -------
    int
        The largest count of a term in a document.
    """
    terms, counts, offsets = settled
    for posting in range(len(counted.terms)):
        if counted.terms[posting] >= 0:
            begins[part_of[counted.terms[posting]] + 1] += 1
    for number in range(1, len(begins)):
        begins[number] += begins[number - 1]
    for number in range(len(begins)):
        places[number] = begins[number]
    greatest = np.int64(0)
    for row in range(len(counted.offsets) - 1):
        document = np.int32(first + row)
        length = np.int64(0)
        n_distinct = np.int64(0)
        for posting in range(counted.offsets[row], counted.offsets[row + 1]):
            term = counted.terms[posting]
            if term < 0:
                continue
            count = np.int64(counted.counts[posting])
            length += count
            if seen[term, 0] == document:
                place = np.int64(seen[term, 1])
                count += counts[place]
            else:
                number = part_of[term]
                place = places[number]
                places[number] = place + 1
                offsets[number, row + 1] += 1
                seen[term, 0] = document
                seen[term, 1] = place
                seen[term, 2] += 1
                terms[place] = term
                n_distinct += 1
            counts[place] = count
            greatest = count if count > greatest else greatest
        sizes[0, document] = length
        sizes[1, document] = n_distinct
    return greatest


@bare_kernel
def count_regions(
    counted: Counted, span: tuple[int, int], cursors: Offsets, regions: Sorted
) -> None:
    """Count the postings that go to each region of the result.

    Parameters
    ----------
    span
        The first term of the result, and the one after the last.
    cursors
        For each term of the span, the position of its next posting.
    """
    low, high = span
    for posting in range(len(counted.terms)):
        term = np.int64(counted.terms[posting])
        if low <= term < high:
            regions.ends[cursors[term - low] >> regions.shift] += 1


@bare_kernel
def sort_postings(
    counted: Counted, first: int, span: tuple[int, int], cursors: Offsets, regions: Sorted
) -> None:
    """Group postings by the region that they go to.

    ``regions.ends`` gives the position of the next posting of each region.
    """
    low, high = span
    for row in range(len(counted.offsets) - 1):
        document = np.int32(first + row)
        for posting in range(counted.offsets[row], counted.offsets[row + 1]):
            term = np.int64(counted.terms[posting])
            if low <= term < high:
                region = cursors[term - low] >> regions.shift
                place = regions.ends[region]
                regions.ends[region] = place + 1
                regions.terms[place] = term - low
                regions.documents[place] = document
                regions.counts[place] = _count(counted.counts, posting)


@bare_kernel
def place_postings(regions: Sorted, size: int, placed: Placed) -> None:
    """Write the first `size` postings sorted by region to their final positions."""
    cursors, documents, counts = placed
    wide = counts.shape[1] == 2
    for posting in range(size):
        term = regions.terms[posting]
        count = regions.counts[posting]
        place = cursors[term]
        cursors[term] = place + 1
        documents[place] = regions.documents[posting]
        counts[place, 0] = count & 0xFFFF
        if wide:
            counts[place, 1] = count >> 16
