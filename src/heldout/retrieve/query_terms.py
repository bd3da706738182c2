"""Queries as numbers of terms."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.analyze import Analyzer

__all__ = ["QueryTerms", "encode_queries"]


@dataclass(frozen=True, slots=True, eq=False)
class QueryTerms:
    """Queries as term numbers.

    Parameters
    ----------
    offsets
        The terms of query ``i`` are ``offsets[i]`` to ``offsets[i + 1]``.
    terms
        The distinct terms of each query that are in the vocabulary, ascending.
    counts
        How often each occurs in its query.
    numbers
        For an index of several parts: parts × terms, the number of each term in each part; −1:
        none. `terms` are then columns of this array.
    """

    offsets: NDArray[np.int64]
    terms: NDArray[np.int32]
    counts: NDArray[np.float64]
    numbers: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1


def encode_queries(
    analyzer: Analyzer,
    queries: Sequence[str],
    numbers_of: Callable[[Sequence[str]], NDArray[np.int32]],
) -> QueryTerms:
    """Analyse queries; terms to which `numbers_of` gives a negative number are left out."""
    counted = [Counter(analyzer.analyze(query)) for query in queries]
    different = list(dict.fromkeys(term for one in counted for term in one))
    numbers = dict(zip(different, numbers_of(different).tolist(), strict=True))
    known = [
        sorted((numbers[term], count) for term, count in one.items() if numbers[term] >= 0)
        for one in counted
    ]
    offsets = np.zeros(len(known) + 1, np.int64)
    np.cumsum([len(one) for one in known], out=offsets[1:])
    pairs = [pair for one in known for pair in one]
    return QueryTerms(
        offsets,
        np.array([number for number, _ in pairs], np.int32),
        np.array([count for _, count in pairs], np.float64),
    )
