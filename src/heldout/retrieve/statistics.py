"""Statistics of training documents: their number and length, and frequencies of query terms.

A training set is a weight for every document: 0 or 1, or a multiplicity. No new index is built:
only the postings of the query terms are counted, for all training sets at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.parallel import run_stretches
from heldout.retrieve.indexing.bounds import read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.scoring import Postings
    from heldout.retrieve.kernels.windows import Windows
    from heldout.retrieve.query_terms import QueryTerms

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The distinct terms of a set of queries."""

    numbers: NDArray[np.int64]  # of each term in the index, ascending
    offsets: NDArray[np.int64]  # rows offsets[q] to offsets[q + 1] of the next two are of query q
    places: NDArray[np.int64]  # of its terms in `numbers`
    counts: Floats  # of its terms in the query

    @classmethod
    def of(cls, queries: QueryTerms) -> Vocabulary:
        """Collect the terms of queries."""
        terms, places = np.unique(queries.terms, return_inverse=True)
        return cls(
            np.array(terms, np.int64),
            np.array(queries.offsets, np.int64),
            places.astype(np.int64),
            np.array(queries.counts, np.float64),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def postings(self, index: Index) -> Postings:
        """Return the postings of the terms."""
        from heldout.retrieve.kernels.scoring import Postings

        begin, end = self.stretches(index)
        return Postings(begin, end, np.asarray(index.documents), np.asarray(index.counts))

    def windows(self, index: Index) -> Windows:
        """Return the bounds of the terms, by windows of documents."""
        from heldout.retrieve.kernels.windows import Windows

        bounds, numbers = index.bounds, self.numbers
        return Windows(
            bounds.bits,
            bounds.rows(numbers),
            read_only(bounds.starts),
            read_only(bounds.counts),
            read_only(bounds.lengths),
            np.array(bounds.most[numbers]),
            np.array(bounds.shortest[numbers]),
        )

    def stretches(self, index: Index) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the beginning and end of the postings of each term."""
        return np.array(index.offsets[self.numbers]), np.array(index.offsets[self.numbers + 1])


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
        whole = self.merged()
        return TermStatistics(
            whole.documents - self.documents,
            whole.length - self.length,
            whole.df - self.df,
            whole.cf - self.cf,
        )

    def take(self, columns: Sequence[int]) -> TermStatistics:
        """Return the statistics of some of the training sets."""
        some = list(columns)
        return TermStatistics(
            self.documents[some], self.length[some], self.df[:, some], self.cf[:, some]
        )

    def merged(self) -> TermStatistics:
        """Return the sum of the statistics of all parts."""
        return TermStatistics(
            self.documents.sum(keepdims=True),
            self.length.sum(keepdims=True),
            self.df.sum(axis=1, keepdims=True),
            self.cf.sum(axis=1, keepdims=True),
        )


def cell_statistics(
    index: Index, vocabulary: Vocabulary, cells: NDArray[np.int32], number: int
) -> TermStatistics:
    """Compute the statistics of each of `number` cells; `cells` has that of each document or −1."""
    from heldout.retrieve.kernels.counting import count_cells

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
    begin, end = vocabulary.stretches(index)
    return TermStatistics(
        np.array([float(index.n_documents)]),
        np.array([float(index.total_length)]),
        (end - begin).astype(np.float64)[:, None],
        np.zeros((len(vocabulary), 1)),
    )


def weighted_statistics(
    index: Index,
    vocabulary: Vocabulary,
    weights: NDArray[np.uint8],
    *,
    occurrences: bool = True,
) -> TermStatistics:
    """Compute the statistics of documents with multiplicities.

    Weights are documents × replicates. Without `occurrences`, cf stays 0.
    """
    from heldout.retrieve.kernels.counting import count_weighted, sum_weights

    replicates = weights.shape[1]
    postings = vocabulary.postings(index)
    df, cf = np.zeros((2, len(vocabulary), replicates), np.int32)

    def count(kind: bool, some: tuple[int, int]) -> None:
        count_weighted(*some, postings, weights, df, cf, kind)

    for kind in (True, False) if occurrences else (False,):
        run_stretches(partial(count, kind), len(vocabulary))
    number, length = np.zeros((2, replicates))
    sum_weights(weights, np.asarray(index.lengths), number, length)
    return TermStatistics(number, length, df.astype(np.float64), cf.astype(np.float64))
