"""Bounds of what a term can add to a score, by windows of documents; they make search faster.

The largest count and the smallest document length bound a score for all parameter settings. Terms
with several postings per window have them for each window, all terms for the whole list.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.parallel import run_threads
from heldout.retrieve.indexing.kernels.bounding import bound_terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

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


def _count_windows(n_documents: int) -> int:
    """Return the number of windows."""
    return -(-n_documents >> window_bits(n_documents)) if n_documents else 0


def _frequent_terms(frequencies: NDArray[np.integer], n_documents: int) -> NDArray[np.int32]:
    """Return the terms that have bounds for each window."""
    least = _PER_WINDOW * _count_windows(n_documents)
    return np.flatnonzero(frequencies >= least).astype(np.int32)


def bound_sizes(frequencies: NDArray[np.integer], n_documents: int) -> dict[str, tuple[str, int]]:
    """Return type and size of the sections of an index file."""
    rows, n_terms = len(_frequent_terms(frequencies, n_documents)), len(frequencies)
    windows = _count_windows(n_documents)
    return {
        "bound_terms": ("<i4", rows),
        "bound_starts": ("<i4", rows * (windows + 1)),
        "bound_counts": ("<u2", rows * windows),
        "bound_lengths": ("<u2", rows * windows),
        "most_counts": ("<u2", n_terms),
        "least_lengths": ("<u2", n_terms),
    }


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The bounds of some terms.

    A window has 2 to the power of `bits` documents. `terms` have bounds for each window, ascending;
    for each of them, `starts` is the number of postings before each window, and of all, `counts`
    and `lengths` are the largest count and the smallest length in each window. `most` and
    `shortest` are those of every term, in all.
    """

    bits: int
    terms: NDArray[np.int32]
    starts: NDArray[np.int32]
    counts: NDArray[np.uint16]
    lengths: NDArray[np.uint16]
    most: NDArray[np.uint16]
    shortest: NDArray[np.uint16]

    @classmethod
    def compute(
        cls,
        begins: NDArray[np.int64],
        ends: NDArray[np.int64],
        documents: NDArray[np.int32],
        counts: NDArray[Any],
        lengths: NDArray[np.int32],
        threads: int = 1,
    ) -> Bounds:
        """Compute bounds from postings; those of term ``t`` are ``begins[t]`` to ``ends[t]``."""
        n_terms, windows = len(ends), _count_windows(len(lengths))
        terms = _frequent_terms(ends - begins, len(lengths))
        rows = np.full(n_terms, -1, np.int32)
        rows[terms] = np.arange(len(terms), dtype=np.int32)
        bits, shape = window_bits(len(lengths)), (len(terms), windows)
        starts = np.zeros((len(terms), windows + 1), np.int32)
        tables = [np.zeros(size, np.uint16) for size in (shape, shape, n_terms, n_terms)]
        # Ranges of terms with about equally many postings.
        total = np.cumsum(ends - begins)
        wanted = [int(total[-1]) * part // threads for part in range(1, threads)] if n_terms else []
        cuts = [0, *np.searchsorted(total, wanted).tolist(), n_terms]
        run_threads(
            lambda part: bound_terms(
                *part, begins, ends, read_only(documents), read_only(counts), read_only(lengths),
                rows, bits, starts, *tables,
            ),
            [(low, high) for low, high in pairwise(cuts) if low < high],
        )  # fmt: skip
        return cls(bits, terms, starts, *tables)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the sections of an index file."""
        return {
            "bound_terms": self.terms,
            "bound_starts": self.starts.reshape(-1),
            "bound_counts": self.counts.reshape(-1),
            "bound_lengths": self.lengths.reshape(-1),
            "most_counts": self.most,
            "least_lengths": self.shortest,
        }

    def rows(self, terms: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the rows of terms in the tables of windows; −1 for those without any."""
        if not len(self.terms):
            return np.full(len(terms), -1, np.int64)
        places = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        return np.where(self.terms[places] == terms, places, -1).astype(np.int64)

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_documents: int) -> Bounds:
        """Return the bounds in the sections of an index file."""
        rows, windows = len(arrays["bound_terms"]), _count_windows(n_documents)
        return cls(
            window_bits(n_documents),
            arrays["bound_terms"],
            arrays["bound_starts"].reshape(rows, windows + 1),
            arrays["bound_counts"].reshape(rows, windows),
            arrays["bound_lengths"].reshape(rows, windows),
            arrays["most_counts"],
            arrays["least_lengths"],
        )


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that the loop is compiled for one type only."""
    view = array.view()
    view.flags.writeable = False
    return view
