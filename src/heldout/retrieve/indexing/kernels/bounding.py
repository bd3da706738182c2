"""The largest count and the smallest document length of each term, in all and in each window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.compiled import bare_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.indexing.kernels.types import Offsets, Places

_SATURATED = 65535


@bare_kernel
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
    """Compute the bounds of the terms `first` to `last`; see `Bounds`.

    `rows` are those of the terms in the tables of windows, which are zero at first; −1: it has
    none. Counts and lengths above 65535 are stored as 65535.
    """
    for term in range(first, last):
        begin, end, row = begins[term], ends[term], rows[term]
        largest, smallest = np.int64(0), np.int64(_SATURATED)
        i = begin
        while i < end:
            # All postings of one window, or of a rare term.
            window = np.int64(documents[i]) >> bits
            beyond = (window + 1) << bits if row >= 0 else len(lengths)
            top, low = np.int64(0), np.int64(_SATURATED)
            while i < end and documents[i] < beyond:
                count, length = np.int64(counts[i]), np.int64(lengths[documents[i]])
                top = count if count > top else top
                low = length if length < low else low
                i += 1
            top = top if top < _SATURATED else np.int64(_SATURATED)
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
