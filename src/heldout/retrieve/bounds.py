"""Bounds of what a term can add to a score, by windows of documents; they make search faster.

The largest count and the smallest document length bound a score for all parameter settings. Terms
with several postings per window have them for each window, all terms for the whole list.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.parallel import run_threads
from heldout.retrieve.kernels.types import Windows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.index import Index

_LEAST_BITS: Final = 11
_MOST_BITS: Final = 13
_WINDOWS: Final = 256
"""About as many windows as a collection has, unless they become too small or too large."""
_PER_WINDOW: Final = 8
"""A term with at least this many postings per window, on average, has bounds for each."""


def window_bits(n_documents: int) -> int:
    """Return the number of documents of a window, as a power of two.

    Index files rely on this: a change requires a new format.
    """
    return min(max(_LEAST_BITS, (n_documents // _WINDOWS).bit_length()), _MOST_BITS)


def bound_terms(
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    counts: NDArray[Any],
    lengths: NDArray[np.int32],
    threads: int,
) -> dict[str, NDArray[Any]]:
    """Compute bounds from the postings of some terms, as an index has them.

    ``bound_terms`` have bounds for each window. For each of them, ``bound_starts`` is the number of
    postings before each window, ``bound_counts`` and ``bound_lengths`` the largest count and the
    smallest length in it; ``most_counts`` and ``least_lengths`` are those of every term, in all.
    """
    from heldout.retrieve.kernels.postings import bound_postings

    n_terms, bits = len(offsets) - 1, window_bits(len(lengths))
    windows = -(-len(lengths) >> bits)
    frequent = np.flatnonzero(np.diff(offsets) >= _PER_WINDOW * windows).astype(np.int32)
    rows = np.full(n_terms, -1, np.int32)
    rows[frequent] = np.arange(len(frequent))
    tables: dict[str, NDArray[Any]] = {
        "bound_starts": np.zeros((len(frequent), windows + 1), np.int32),
        "bound_counts": np.zeros((len(frequent), windows), np.uint16),
        "bound_lengths": np.zeros((len(frequent), windows), np.uint16),
        "most_counts": np.zeros(n_terms, np.uint16),
        "least_lengths": np.zeros(n_terms, np.uint16),
    }
    # Ranges of terms with about equally many postings.
    wanted = [int(offsets[-1]) * part // threads for part in range(1, threads)]
    cuts = [0, *np.searchsorted(offsets[:-1], wanted).tolist(), n_terms]
    run_threads(
        lambda some: bound_postings(
            *some, offsets, documents, counts, lengths, rows, bits, *tables.values()
        ),
        pairwise(cuts),
        threads,
    )
    return {"bound_terms": frequent, **tables}


def windows_of(index: Index, terms: NDArray[np.int64]) -> Windows:
    """Return the bounds of some terms."""
    arrays = index.arrays
    frequent = np.append(arrays["bound_terms"], -1)
    places = np.searchsorted(frequent[:-1], terms)
    return Windows(
        window_bits(index.n_documents),
        np.where(frequent[places] == terms, places, -1),
        arrays["bound_starts"],
        arrays["bound_counts"],
        arrays["bound_lengths"],
        arrays["most_counts"][terms],
        arrays["least_lengths"][terms],
    )
