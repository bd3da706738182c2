"""The largest count and the smallest document length of each term, in all and in each window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.compiled import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from heldout.retrieve.indexing.kernels.types import Offsets, Places

__all__ = ["bound_terms"]

_SATURATED = 65535


@kernel
def bound_terms(
    first: int,
    last: int,
    begins: Offsets,
    ends: Offsets,
    documents: Places,
    counts: NDArray[Any],
    lengths: Places,
    rows: Places,
    bits: int,
    starts: Places,
    window_counts: NDArray[np.uint16],
    window_lengths: NDArray[np.uint16],
    most: NDArray[np.uint16],
    shortest: NDArray[np.uint16],
) -> None:
    """Compute the bounds of the terms `first` to `last`.

    Parameters
    ----------
    begins, ends
        The postings of term ``t`` are ``begins[t]`` to ``ends[t]``.
    rows
        The row of each term in the tables of windows; −1: it has none.
    bits
        A window has 2 to the power of `bits` documents.
    starts, window_counts, window_lengths
        Rows × windows: the number of postings before each window (and all, in one more column),
        the largest count and the smallest length in each (filled in; zero at first).
    most, shortest
        The largest count and the smallest length of each term (filled in). Counts and lengths above
        65535 are stored as 65535.
    """
    for term in range(first, last):
        begin, end, row = begins[term], ends[term], rows[term]
        largest, smallest = 0, _SATURATED
        i = begin
        while i < end:
            # All postings of one window, or of a rare term.
            window = int(documents[i]) >> bits
            beyond = (window + 1) << bits if row >= 0 else len(lengths)
            top, low = 0, _SATURATED
            while i < end and documents[i] < beyond:
                top = max(top, int(counts[i]))
                low = min(low, int(lengths[documents[i]]))
                i += 1
            if row >= 0:
                starts[row, window + 1] = i - begin
                window_counts[row, window] = min(top, _SATURATED)
                window_lengths[row, window] = low
            largest, smallest = max(largest, top), min(smallest, low)
        most[term] = min(largest, _SATURATED)
        shortest[term] = smallest
        if row >= 0:
            for window in range(1, starts.shape[1]):
                starts[row, window] = max(starts[row, window], starts[row, window - 1])
