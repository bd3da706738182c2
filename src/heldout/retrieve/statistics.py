"""Statistics of training documents: their number and length, and frequencies of query terms.

A training set is a weight for every document: 0 or 1, or a multiplicity. No new index is built:
only the postings of the query terms are counted, for all training sets at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.parallel import run_stretches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.scoring import Postings, Queries
    from heldout.retrieve.kernels.types import Floats, Ints
    from heldout.retrieve.models import Model


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The distinct terms of some queries that are in an index; see `Index.encode`."""

    numbers: Ints  # of each term in the index, ascending
    offsets: Ints  # rows offsets[q] to offsets[q + 1] of the next two are of query q
    places: Ints  # of its terms in `numbers`, ascending
    counts: Floats  # of its terms in the query

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def queries(self, model: Model) -> Queries:
        """Return the terms of each query with their weights."""
        from heldout.retrieve.kernels.scoring import Queries

        return Queries(self.offsets, self.places, model.query_weights(self.counts))

    def postings(self, index: Index) -> Postings:
        """Return the postings of the terms."""
        from heldout.retrieve.kernels.scoring import Postings

        begin, end = index.offsets[self.numbers], index.offsets[self.numbers + 1]
        return Postings(begin, end, np.asarray(index.documents), np.asarray(index.counts))


@dataclass(frozen=True, slots=True, eq=False)
class TermStatistics:
    """Statistics available to a model, for one or more training sets."""

    documents: Floats  # M: the number of documents of each training set
    length: Floats  # the sum of their lengths
    df: Floats  # terms × training sets: documents that contain the term
    cf: Floats  # its occurrences

    def __len__(self) -> int:
        return len(self.documents)

    def complement(self) -> TermStatistics:
        """Return, for each part, the statistics of all others: the training data of the folds."""
        parts = self.documents, self.length, self.df, self.cf
        return TermStatistics(*(part.sum(axis=-1, keepdims=True) - part for part in parts))

    def take(self, columns: Sequence[int]) -> TermStatistics:
        """Return the statistics of some of the training sets."""
        some = list(columns)
        return TermStatistics(
            self.documents[some], self.length[some], self.df[:, some], self.cf[:, some]
        )


def cell_statistics(
    index: Index, vocabulary: Vocabulary, cells: NDArray[np.int32], number: int
) -> TermStatistics:
    """Compute the statistics of each of `number` cells; `cells` has that of each document or −1."""
    from heldout.retrieve.kernels.postings import count_cells

    postings = vocabulary.postings(index)
    cells = np.array(cells, np.int32)
    df, cf = np.zeros((2, len(vocabulary), number))
    run_stretches(lambda some: count_cells(*some, postings, cells, df, cf), len(vocabulary))
    known = cells >= 0
    lengths = np.asarray(index.lengths)[known].astype(np.float64)
    documents = np.bincount(cells[known], minlength=number).astype(np.float64)
    length = np.bincount(cells[known], lengths, number).astype(np.float64)
    return TermStatistics(documents, length, df, cf)


def whole_statistics(index: Index, vocabulary: Vocabulary) -> TermStatistics:
    """Return the statistics of all documents that need no traversal: all but cf, which stays 0."""
    postings = vocabulary.postings(index)
    return TermStatistics(
        np.array([float(index.n_documents)]),
        np.array([float(index.total_length)]),
        (postings.end - postings.begin).astype(np.float64)[:, None],
        np.zeros((len(vocabulary), 1)),
    )


def weighted_statistics(
    index: Index, vocabulary: Vocabulary, weights: NDArray[np.uint8], *, occurrences: bool = True
) -> TermStatistics:
    """Compute the statistics of documents with multiplicities (documents × replicates).

    Without `occurrences`, cf stays 0.
    """
    from heldout.retrieve.kernels.postings import count_weighted, sum_weights

    postings, replicates = vocabulary.postings(index), weights.shape[1]
    df, cf = np.zeros((2, len(vocabulary), replicates), np.int32)

    def count(some: tuple[int, int]) -> None:
        for kind in (True, False) if occurrences else (False,):
            count_weighted(*some, postings, weights, df, cf, kind)

    run_stretches(count, len(vocabulary))
    number, length = np.zeros((2, replicates))
    sum_weights(weights, np.asarray(index.lengths), number, length)
    return TermStatistics(number, length, df.astype(np.float64), cf.astype(np.float64))
