"""Statistics of a train side: number and length of documents, and frequencies of query terms.

A train side is a weight for every document: 0 or 1, or a multiplicity. Nothing is indexed anew;
only the postings of the terms that the queries have are counted, for all train sides at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.parallel import run_stretches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.index import Index, QueryTerms
    from heldout.retrieve.kernels.scoring import Postings

    Floats = NDArray[np.float64]

__all__ = [
    "TermStatistics",
    "Vocabulary",
    "cell_statistics",
    "weighted_statistics",
    "whole_statistics",
]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The distinct terms of a set of queries, and where their postings are.

    Parameters
    ----------
    terms
        Numbers of the terms in the index, rising.
    offsets, places, counts
        Row ``offsets[q]`` to ``offsets[q + 1]``: places in `terms` of the terms of query ``q``,
        and how often the query has each.
    """

    terms: NDArray[np.int64]
    offsets: NDArray[np.int64]
    places: NDArray[np.int64]
    counts: Floats

    @classmethod
    def of(cls, queries: QueryTerms) -> Vocabulary:
        """Collect the terms of queries."""
        terms, places = np.unique(queries.terms, return_inverse=True)
        return cls(
            terms.astype(np.int64),
            np.array(queries.offsets, np.int64),
            places.astype(np.int64),
            np.array(queries.counts, np.float64),
        )

    def __len__(self) -> int:
        return len(self.terms)

    def postings(self, index: Index) -> Postings:
        """Where the postings of the terms are."""
        from heldout.retrieve.kernels.scoring import Postings

        index.check_postings(self.terms)
        begin = np.asarray(index.offsets[self.terms], np.int64)
        end = np.asarray(index.offsets[self.terms + 1], np.int64)
        return Postings(begin, end, np.asarray(index.documents), np.asarray(index.counts))


@dataclass(frozen=True, slots=True, eq=False)
class TermStatistics:
    """What a model may know of the documents it has seen, for one or more train sides.

    Parameters
    ----------
    documents
        M: how many documents each train side has.
    length
        The sum of their lengths.
    df, cf
        Terms × train sides: documents that have the term, and its occurrences.
    """

    documents: Floats
    length: Floats
    df: Floats
    cf: Floats

    def __len__(self) -> int:
        return len(self.documents)

    def complement(self, total: TermStatistics | None = None) -> TermStatistics:
        """For each part the statistics of all the others: train sides of the folds."""
        whole = total or self.merged()
        return TermStatistics(
            whole.documents - self.documents,
            whole.length - self.length,
            whole.df - self.df,
            whole.cf - self.cf,
        )

    def merged(self) -> TermStatistics:
        """The statistics of all parts together."""
        return TermStatistics(
            self.documents.sum(keepdims=True),
            self.length.sum(keepdims=True),
            self.df.sum(axis=1, keepdims=True),
            self.cf.sum(axis=1, keepdims=True),
        )


def cell_statistics(
    index: Index, vocabulary: Vocabulary, cells: NDArray[np.int32], number: int
) -> TermStatistics:
    """Statistics of each part of a division of the documents.

    Parameters
    ----------
    cells
        The part that each document is in, from 0; −1: in none.
    number
        How many parts there are.
    """
    from heldout.retrieve.kernels.counting import count_cells

    postings = vocabulary.postings(index)
    cells = np.array(cells, np.int32)
    df, cf = np.zeros((2, len(vocabulary), number))
    run_stretches(lambda part: count_cells(*part, postings, cells, df, cf), len(vocabulary))
    known = cells >= 0
    lengths = np.asarray(index.lengths)[known].astype(np.float64)
    documents = np.bincount(cells[known], minlength=number).astype(np.float64)
    length = np.bincount(cells[known], lengths, number).astype(np.float64)
    return TermStatistics(documents, length, df, cf)


def whole_statistics(index: Index, vocabulary: Vocabulary) -> TermStatistics:
    """Statistics of all documents that need no walk: all but cf, which stays 0."""
    df = index.offsets[vocabulary.terms + 1] - index.offsets[vocabulary.terms]
    return TermStatistics(
        np.array([float(index.n_documents)]),
        np.array([float(index.total_length)]),
        df[:, None].astype(np.float64),
        np.zeros((len(vocabulary), 1)),
    )


def weighted_statistics(
    index: Index,
    vocabulary: Vocabulary,
    weights: NDArray[np.uint8],
    *,
    occurrences: bool = True,
    documents: bool = True,
) -> TermStatistics:
    """Statistics of documents with multiplicities.

    Parameters
    ----------
    weights
        Documents × replicates: how often each train side has each document.
    occurrences, documents
        Whether cf, and df, are wanted; what is not stays 0.
    """
    from heldout.retrieve.kernels.counting import count_weighted, sum_weights

    replicates = weights.shape[1]
    postings = vocabulary.postings(index)
    df, cf = np.zeros((2, len(vocabulary), replicates), np.int32)

    def count(kind: bool, part: tuple[int, int]) -> None:
        count_weighted(*part, postings, weights, df, cf, kind)

    for kind in [kind for kind, wanted in ((True, occurrences), (False, documents)) if wanted]:
        run_stretches(partial(count, kind), len(vocabulary))
    number, length = np.zeros((2, replicates))
    sum_weights(weights, np.asarray(index.lengths), number, length)
    return TermStatistics(number, length, df.astype(np.float64), cf.astype(np.float64))
