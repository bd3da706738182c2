"""Queries as numbers of terms."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.analyze import Analyzer

_BITS: Final = 32
"""Numbers of terms have fewer bits."""


@dataclass(frozen=True, slots=True, eq=False)
class QueryTerms:
    """Queries as term numbers."""

    offsets: NDArray[np.int64]  # the terms of query i are offsets[i] to offsets[i + 1]
    terms: NDArray[np.int32]  # the distinct ones that are in the vocabulary, ascending
    counts: NDArray[np.float64]  # how often each occurs in its query

    def __len__(self) -> int:
        return len(self.offsets) - 1


def encode_queries(
    analyzer: Analyzer,
    queries: Sequence[str],
    numbers_of: Callable[[Sequence[str]], NDArray[np.int32]],
) -> QueryTerms:
    """Analyse queries; terms to which `numbers_of` gives a negative number are left out."""
    raw = [analyzer.raw_terms(query) for query in queries]
    words = list(dict.fromkeys(chain.from_iterable(raw)))
    final = analyzer.final_terms(words)
    terms = list(dict.fromkeys(term for term in final if term))
    number = dict(zip(terms, numbers_of(terms).tolist(), strict=True))
    known = {one: number.get(term, -1) for one, term in zip(words, final, strict=True)}
    sizes = np.fromiter(map(len, raw), np.int64, len(raw))
    numbers = np.fromiter(map(known.__getitem__, chain.from_iterable(raw)), np.int64, sizes.sum())
    # Pairs of a query and a term as one number each: sorted by query, then by term.
    pairs = (np.repeat(np.arange(len(raw)), sizes) << _BITS | numbers)[numbers >= 0]
    different, counts = np.unique(pairs, return_counts=True)
    offsets = np.searchsorted(different, np.arange(len(raw) + 1) << _BITS)
    terms_of = (different & ((1 << _BITS) - 1)).astype(np.int32)
    return QueryTerms(offsets.astype(np.int64), terms_of, counts.astype(np.float64))
