"""Convert postings by document to postings by term.

Writing postings to their final positions in input order would access memory at random. Therefore a
few million at a time are first sorted by the region that they go to, which fits into a cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import bare_kernel, kernel, part

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

__all__ = [
    "count_postings",
    "count_regions",
    "divide_postings",
    "place_postings",
    "sort_postings",
]


@part
def _count(halves: NDArray[np.uint16], posting: int) -> int:
    """Return a count stored as one or two 16-bit numbers, the lower one first."""
    count = np.int64(halves[posting, 0])
    if halves.shape[1] == 2:
        count |= np.int64(halves[posting, 1]) << 16
    return count


@bare_kernel
def count_postings(
    counted: Counted,
    first: int,
    final: Places,
    latest: Places,
    frequencies: Offsets,
    sizes: Places,
) -> int:
    """Count what a batch adds once raw terms are mapped to final ones.

    Parameters
    ----------
    first
        The number of the first document of the batch.
    final
        For each raw term, the number of its final term; -1 if it is left out.
    latest
        For each final term, the last document with it, and its count there.
    frequencies
        For each final term, its document frequency (incremented).
    sizes
        For each document, its length and the number of its distinct terms (filled in).

    Returns
    -------
    int
        The largest count of a term in a document.
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
            greatest = count if count > greatest else greatest
        sizes[0, document] = length
        sizes[1, document] = n_distinct
    return greatest


@kernel
def divide_postings(counted: Counted, part_of: Bytes, divided: Counted) -> None:
    """Divide the postings of a batch by parts of the vocabulary; their order is kept.

    Parameters
    ----------
    part_of
        The part of each raw term.
    divided
        Filled in: the postings of all parts, one after another; its `offsets` have one row per
        part (zeros at first), counted from the first posting of that part.
    """
    terms, counts, offsets = divided
    places = np.zeros(len(offsets) + 1, np.int64)
    for posting in range(len(counted.terms)):
        places[part_of[counted.terms[posting]] + 1] += 1
    places = np.cumsum(places)
    begins = places.copy()
    for row in range(len(counted.offsets) - 1):
        for posting in range(counted.offsets[row], counted.offsets[row + 1]):
            term = counted.terms[posting]
            part = part_of[term]
            place = places[part]
            places[part] = place + 1
            terms[place] = term
            for column in range(counts.shape[1]):
                counts[place, column] = counted.counts[posting, column]
        for part in range(len(offsets)):
            offsets[part, row + 1] = places[part] - begins[part]


@bare_kernel
def count_regions(
    counted: Counted, final: Places, span: tuple[int, int], cursors: Offsets, regions: Sorted
) -> None:
    """Count the postings of a batch that go to each region of the result.

    Parameters
    ----------
    final
        As for `count_postings`.
    span
        The first term of the result, and the one after the last.
    cursors
        For each term of the span, the position of its next posting.
    """
    low, high = span
    for posting in range(len(counted.terms)):
        term = np.int64(final[counted.terms[posting]])
        if low <= term < high:
            regions.ends[cursors[term - low] >> regions.shift] += 1


@bare_kernel
def sort_postings(
    counted: Counted,
    first: int,
    final: Places,
    span: tuple[int, int],
    cursors: Offsets,
    regions: Sorted,
) -> None:
    """Group the postings of a batch by the region that they go to.

    ``regions.ends`` gives the position of the next posting of each region.
    """
    low, high = span
    for row in range(len(counted.offsets) - 1):
        document = np.int32(first + row)
        for posting in range(counted.offsets[row], counted.offsets[row + 1]):
            term = np.int64(final[counted.terms[posting]])
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
    latest, cursors, documents, counts = placed
    wide = counts.shape[1] == 2
    for posting in range(size):
        term = regions.terms[posting]
        document = regions.documents[posting]
        count = np.int64(regions.counts[posting])
        place = cursors[term]
        if latest[term] == document:
            place -= 1
            count += _count(counts, place)
        else:
            latest[term] = document
            documents[place] = document
            cursors[term] = place + 1
        counts[place, 0] = count & 0xFFFF
        if wide:
            counts[place, 1] = count >> 16
