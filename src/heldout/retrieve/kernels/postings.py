"""Loops over postings: sort them by term, bound what terms can add to scores, count frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import bare_kernel
from heldout.retrieve.kernels.types import SATURATED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Postings
    from heldout.retrieve.kernels.types import Counted, Counts, Floats, Ints, Numbers


@bare_kernel
def sort_block(
    counted: Counted,
    first: int,
    heads: Numbers,
    documents: Numbers,
    counts: Numbers,
    lengths: Numbers,
    distinct: Numbers,
) -> tuple[int, int]:
    """Sort the postings of the documents from `first` by term; return how many, and the most.

    Final terms of a document that were several raw terms (apple, apples) become one posting; those
    of −1 are left out. The result is in `documents` and `counts`, the latter's largest is returned.
    Each row of `heads` (terms and two more, zeros at first) has a position and the last document
    with the term, side by side because each access waits for memory. In the end the postings of
    term ``t`` are ``heads[t, 0]`` to ``heads[t + 1, 0]``.
    """
    terms, offsets = counted.terms, counted.offsets
    n_rows = len(offsets) - 1
    # How many documents has each term? Counted two rows further on, where they become positions.
    for row in range(n_rows):
        for posting in range(offsets[row], offsets[row + 1]):
            term = np.int64(terms[posting])
            if term >= 0 and heads[term + 1, 1] != row + 1:
                heads[term + 1, 1] = row + 1
                heads[term + 2, 0] += 1
    for term in range(2, len(heads)):
        heads[term, 0] += heads[term - 1, 0]
    # Row t + 1 has where the postings of t begin, and moves on to where they end.
    most = np.int64(0)
    for row in range(n_rows):
        seen = n_rows + row + 1  # differs from all marks of the first pass
        length, different = np.int64(0), np.int64(0)
        for posting in range(offsets[row], offsets[row + 1]):
            term = np.int64(terms[posting])
            if term < 0:
                continue
            count = np.int64(counted.counts[posting])
            length += count
            place = np.int64(heads[term + 1, 0])
            if heads[term + 1, 1] == seen:
                place -= 1
                count += counts[place]
            else:
                heads[term + 1, 0] = place + 1
                heads[term + 1, 1] = seen
                documents[place] = first + row
                different += 1
            counts[place] = count
            most = count if count > most else most
        lengths[first + row] = length
        distinct[first + row] = different
    return np.int64(heads[len(heads) - 2, 0]), most


@bare_kernel
def append_block(
    terms: Numbers,
    starts: Numbers,
    documents: Numbers,
    counts: Counts,
    cursors: Ints,
    all_documents: Numbers,
    all_counts: Counts,
) -> None:
    """Append the postings of a block to those of the blocks before, for a range of terms.

    `terms` of the block count from the first of the range; `starts` is where the postings of each
    begin, and the end. `cursors` is where the next posting of each term of the range goes.
    """
    for number in range(len(terms)):
        term = terms[number]
        place = cursors[term]
        for posting in range(starts[number] - starts[0], starts[number + 1] - starts[0]):
            all_documents[place] = documents[posting]
            all_counts[place] = counts[posting]
            place += 1
        cursors[term] = place


@bare_kernel
def bound_postings(
    first: int,
    last: int,
    offsets: Ints,
    documents: Numbers,
    counts: Counts,
    lengths: Numbers,
    rows: Numbers,
    bits: int,
    starts: Numbers,
    window_counts: NDArray[np.uint16],
    window_lengths: NDArray[np.uint16],
    most: NDArray[np.uint16],
    shortest: NDArray[np.uint16],
) -> None:
    """Compute the bounds of the terms `first` to `last`.

    `rows` are those of the terms in the tables of windows, which are zero at first; −1: it has
    none. Counts and lengths above 65535 are stored as 65535.
    """
    for term in range(first, last):
        begin, end, row = offsets[term], offsets[term + 1], rows[term]
        largest, smallest = np.int64(0), np.int64(SATURATED)
        i = begin
        while i < end:
            # All postings of one window, or of a rare term.
            window = np.int64(documents[i]) >> bits
            beyond = (window + 1) << bits if row >= 0 else len(lengths)
            top, low = np.int64(0), np.int64(SATURATED)
            while i < end and documents[i] < beyond:
                count, length = np.int64(counts[i]), np.int64(lengths[documents[i]])
                top = count if count > top else top
                low = length if length < low else low
                i += 1
            top = top if top < SATURATED else np.int64(SATURATED)
            if row >= 0:
                starts[row, window + 1] = i - begin
                window_counts[row, window] = top
                window_lengths[row, window] = low
            largest = top if top > largest else largest
            smallest = low if low < smallest else smallest
        most[term] = largest
        shortest[term] = smallest
        if row >= 0:
            for window in range(1, starts.shape[1]):
                before = starts[row, window - 1]
                if before > starts[row, window]:
                    starts[row, window] = before


@bare_kernel
def count_cells(
    first: int, last: int, postings: Postings, cells: Numbers, df: Floats, cf: Floats
) -> None:
    """Count the frequencies of the terms `first` to `last` in each cell (−1: in none)."""
    for term in range(first, last):
        for i in range(postings.begin[term], postings.end[term]):
            cell = cells[postings.documents[i]]
            if cell >= 0:
                df[term, cell] += 1
                cf[term, cell] += postings.counts[i]


@bare_kernel
def count_weighted(
    first: int,
    last: int,
    postings: Postings,
    weights: NDArray[np.uint8],
    df: Numbers,
    cf: Numbers,
    occurrences: bool,
) -> None:
    """Count the frequencies of the terms `first` to `last` in every replicate of the documents.

    Counts `cf` if `occurrences` are wanted, else `df`: no model needs both.
    """
    replicates = weights.shape[1]
    for term in range(first, last):
        for i in range(postings.begin[term], postings.end[term]):
            row = weights[postings.documents[i]]
            count = postings.counts[i]
            if occurrences:
                for r in range(replicates):
                    cf[term, r] += row[r] * count
            else:
                for r in range(replicates):
                    df[term, r] += row[r]


@bare_kernel
def sum_weights(
    weights: NDArray[np.uint8], lengths: Numbers, documents: Floats, length: Floats
) -> None:
    """Compute the number and total length of the documents of every replicate."""
    for d in range(weights.shape[0]):
        row = weights[d]
        own = lengths[d]
        for r in range(weights.shape[1]):
            documents[r] += row[r]
            length[r] += row[r] * own
