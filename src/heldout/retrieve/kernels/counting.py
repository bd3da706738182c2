"""Count document and collection frequencies of terms, for every part of the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.compiled import bare_kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Floats, Postings


@bare_kernel
def count_cells(
    first: int, last: int, postings: Postings, cells: NDArray[np.int32], df: Floats, cf: Floats
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
    df: NDArray[np.int32],
    cf: NDArray[np.int32],
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
    weights: NDArray[np.uint8], lengths: NDArray[np.int32], documents: Floats, length: Floats
) -> None:
    """Compute the number and total length of the documents of every replicate."""
    for d in range(weights.shape[0]):
        row = weights[d]
        own = lengths[d]
        for r in range(weights.shape[1]):
            documents[r] += row[r]
            length[r] += row[r] * own
