"""The two loops of inversion: sort a block of postings by term, and append blocks term by term."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import bare_kernel

if TYPE_CHECKING:
    from heldout.retrieve.indexing.kernels.types import Counted, Counts, Offsets, Places


@bare_kernel
def sort_block(
    counted: Counted,
    first: int,
    heads: Places,
    documents: Places,
    counts: Places,
    lengths: Places,
    distinct: Places,
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
    terms: Places,
    starts: Places,
    documents: Places,
    counts: Counts,
    cursors: Offsets,
    all_documents: Places,
    all_counts: Counts,
) -> None:
    """Append the postings of a block to those of the blocks before.

    Parameters
    ----------
    terms, starts
        The terms of the block, counted from the first of the range, and where the postings of each
        begin; `starts` has one more, and counts from its first.
    cursors
        For each term of the range, where its next posting goes.
    """
    for number in range(len(terms)):
        term = terms[number]
        place = cursors[term]
        for posting in range(starts[number] - starts[0], starts[number + 1] - starts[0]):
            all_documents[place] = documents[posting]
            all_counts[place] = counts[posting]
            place += 1
        cursors[term] = place
