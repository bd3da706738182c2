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
from heldout.retrieve.indexing.bounds import Bounds, read_only
from heldout.retrieve.parts import in_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Postings
    from heldout.retrieve.kernels.windows import Windows
    from heldout.retrieve.parts import Part
    from heldout.retrieve.query_terms import QueryTerms
    from heldout.retrieve.shards import AnyIndex

    Floats = NDArray[np.float64]

__all__ = [
    "TermStatistics",
    "Vocabulary",
    "cell_statistics",
    "part_statistics",
    "weighted_statistics",
    "whole_statistics",
]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The distinct terms of a set of queries, and the positions of their postings.

    Parameters
    ----------
    numbers
        Parts of the index × terms: the number of each term in each part (ascending); −1: not in the
        part.
    offsets, places, counts
        Rows ``offsets[q]`` to ``offsets[q + 1]``: columns of `numbers` of the terms of query ``q``,
        and their counts in the query.
    """

    numbers: NDArray[np.int64]
    offsets: NDArray[np.int64]
    places: NDArray[np.int64]
    counts: Floats

    @classmethod
    def of(cls, queries: QueryTerms) -> Vocabulary:
        """Collect the terms of queries."""
        terms, places = np.unique(queries.terms, return_inverse=True)
        numbers = terms[None] if queries.numbers is None else queries.numbers[:, terms]
        return cls(
            np.array(numbers, np.int64),
            np.array(queries.offsets, np.int64),
            places.astype(np.int64),
            np.array(queries.counts, np.float64),
        )

    def __len__(self) -> int:
        return int(self.numbers.shape[1])

    def postings(self, part: Part) -> Postings:
        """Return the postings of the terms in a part of the index."""
        from heldout.retrieve.kernels.scoring import Postings

        index, (begin, end) = part.index, self.stretches(part)
        numbers = self.numbers[part.number]
        index.check_postings(numbers[numbers >= 0])
        return Postings(begin, end, np.asarray(index.documents), np.asarray(index.counts))

    def windows(self, part: Part) -> Windows:
        """Return the bounds of the terms in a part of the index, by windows of documents."""
        from heldout.retrieve.kernels.windows import Windows

        index, numbers = part.index, self.numbers[part.number]
        bounds, known = index.bounds, numbers >= 0
        if bounds is None:  # a file of heldout 0.1
            own = self.postings(part)
            bounds = Bounds.compute(
                own.begin, own.end, own.documents, own.counts, np.asarray(index.lengths)
            )
            numbers, known = np.arange(len(numbers)), np.ones(len(numbers), np.bool_)
        most, shortest = np.zeros((2, len(numbers)), np.uint16)
        most[known], shortest[known] = bounds.most[numbers[known]], bounds.shortest[numbers[known]]
        rows = np.where(known, bounds.rows(numbers), -1)
        return Windows(
            bounds.bits,
            rows,
            read_only(bounds.starts),
            read_only(bounds.counts),
            read_only(bounds.lengths),
            most,
            shortest,
        )

    def stretches(self, part: Part) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the beginning and end of the postings of each term in a part."""
        numbers = self.numbers[part.number]
        begin, end = np.zeros((2, len(numbers)), np.int64)
        known = numbers >= 0
        begin[known] = part.index.offsets[numbers[known]]
        end[known] = part.index.offsets[numbers[known] + 1]
        return begin, end


@dataclass(frozen=True, slots=True, eq=False)
class TermStatistics:
    """Statistics available to a model, for one or more training sets.

    Parameters
    ----------
    documents
        M: the number of documents of each training set.
    length
        The sum of their lengths.
    df, cf
        Terms × training sets: documents that contain the term, and its occurrences.
    """

    documents: Floats
    length: Floats
    df: Floats
    cf: Floats

    def __len__(self) -> int:
        return len(self.documents)

    @classmethod
    def sum(cls, several: Iterable[TermStatistics]) -> TermStatistics:
        """Add the statistics of several sets of documents (integers, so the sum is exact)."""
        columns = [(one.documents, one.length, one.df, one.cf) for one in several]
        return cls(*(np.sum(column, axis=0) for column in zip(*columns, strict=True)))

    def complement(self, total: TermStatistics | None = None) -> TermStatistics:
        """Return, for each part, the statistics of all others: the training data of the folds."""
        whole = total or self.merged()
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
    index: AnyIndex, vocabulary: Vocabulary, cells: NDArray[np.int32], number: int
) -> TermStatistics:
    """Compute the statistics of each cell of a partition of the documents.

    Parameters
    ----------
    cells
        The cell of each document, from 0; −1: in none.
    number
        Number of cells.
    """
    return TermStatistics.sum(
        in_turn(
            lambda part: part_statistics(part, vocabulary, cells[part.rows()], number), index.parts
        )
    )


def part_statistics(
    part: Part, vocabulary: Vocabulary, cells: NDArray[np.int32], number: int
) -> TermStatistics:
    """Compute `cell_statistics` for one part of the index and the `cells` of its documents."""
    from heldout.retrieve.kernels.counting import count_cells

    postings = vocabulary.postings(part)
    cells = np.array(cells, np.int32)
    df, cf = np.zeros((2, len(vocabulary), number))
    run_stretches(lambda some: count_cells(*some, postings, cells, df, cf), len(vocabulary))
    known = cells >= 0
    lengths = np.asarray(part.index.lengths)[known].astype(np.float64)
    documents = np.bincount(cells[known], minlength=number).astype(np.float64)
    length = np.bincount(cells[known], lengths, number).astype(np.float64)
    return TermStatistics(documents, length, df, cf)


def whole_statistics(index: AnyIndex, vocabulary: Vocabulary) -> TermStatistics:
    """Return the statistics of all documents that need no traversal: all but cf, which stays 0."""
    df = np.zeros(len(vocabulary))
    for begin, end in in_turn(vocabulary.stretches, index.parts):
        df += end - begin
    return TermStatistics(
        np.array([float(index.n_documents)]),
        np.array([float(index.total_length)]),
        df[:, None],
        np.zeros((len(vocabulary), 1)),
    )


def weighted_statistics(
    index: AnyIndex,
    vocabulary: Vocabulary,
    weights: NDArray[np.uint8],
    *,
    occurrences: bool = True,
    documents: bool = True,
) -> TermStatistics:
    """Compute the statistics of documents with multiplicities.

    Parameters
    ----------
    weights
        Documents × replicates: how often each training set contains each document.
    occurrences, documents
        Whether cf and df are needed; the other stays 0.
    """
    kinds = [kind for kind, wanted in ((True, occurrences), (False, documents)) if wanted]
    return TermStatistics.sum(
        in_turn(
            lambda part: _part_weighted(part, vocabulary, weights[part.rows()], kinds), index.parts
        )
    )


def _part_weighted(
    part: Part, vocabulary: Vocabulary, weights: NDArray[np.uint8], kinds: Sequence[bool]
) -> TermStatistics:
    """Compute `weighted_statistics` for one part; `kinds`: occurrences (True), documents."""
    from heldout.retrieve.kernels.counting import count_weighted, sum_weights

    replicates = weights.shape[1]
    postings = vocabulary.postings(part)
    df, cf = np.zeros((2, len(vocabulary), replicates), np.int32)

    def count(kind: bool, some: tuple[int, int]) -> None:
        count_weighted(*some, postings, weights, df, cf, kind)

    for kind in kinds:
        run_stretches(partial(count, kind), len(vocabulary))
    number, length = np.zeros((2, replicates))
    sum_weights(weights, np.asarray(part.index.lengths), number, length)
    return TermStatistics(number, length, df.astype(np.float64), cf.astype(np.float64))
