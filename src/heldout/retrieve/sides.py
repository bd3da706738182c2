"""Which documents are ranked, into which lists, by the statistics of which train side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from heldout.retrieve.statistics import cell_statistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.parts import Part
    from heldout.retrieve.shards import AnyIndex
    from heldout.retrieve.statistics import TermStatistics, Vocabulary

    Numbers = NDArray[np.int32]

__all__ = ["Side", "held_out_side", "seen_side", "unseen_side", "whole_side"]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A part of the documents that is ranked.

    Parameters
    ----------
    statistics
        For each document the train side that scores it; −1: it is not ranked.
    lists
        For each document the ranked list that it comes into.
    n_lists
        How many lists a query has.
    terms
        The statistics of the train sides.
    added
        Whether a document joins the statistics while it is scored: a held-out document is scored
        as if it alone were added to the train side.
    relative
        Whether likelihoods are given relative to a document without any word of the query. Lists of
        one train side are ordered alike either way; where documents of several train sides come
        into one list, the likelihood of such a document must not differ between them.
    """

    statistics: Numbers
    lists: Numbers
    n_lists: int
    terms: TermStatistics
    added: bool
    relative: bool = False

    def within(self, part: Part) -> Side:
        """The documents of one part of the index, by the same statistics."""
        rows = part.rows()
        return replace(self, statistics=self.statistics[rows], lists=self.lists[rows])


def whole_side(index: AnyIndex, vocabulary: Vocabulary) -> Side:
    """All documents, by the statistics of all documents: plain search."""
    zero = np.zeros(index.n_documents, np.int32)
    return Side(zero, zero, 1, cell_statistics(index, vocabulary, zero, 1), added=False)


def seen_side(index: AnyIndex, vocabulary: Vocabulary, seen: NDArray[np.bool_]) -> Side:
    """The documents of a train side, by its own statistics."""
    cells = np.where(seen, 0, -1).astype(np.int32)
    known = cell_statistics(index, vocabulary, cells, 1)
    return Side(cells, np.zeros_like(cells), 1, known, added=False)


def held_out_side(
    index: AnyIndex, vocabulary: Vocabulary, folds: Numbers, number: int, *, pooled: bool = False
) -> Side:
    """Every document by the statistics of the folds that it is not in, itself added.

    Parameters
    ----------
    folds
        The fold of each document, from 0; −1: it is neither seen nor ranked.
    number
        How many folds there are.
    pooled
        One ranked list of all folds together instead of a list a fold.
    """
    known = cell_statistics(index, vocabulary, folds, number).complement()
    lists = np.zeros_like(folds) if pooled else np.maximum(folds, 0)
    return Side(folds, lists, 1 if pooled else number, known, added=True, relative=pooled)


def unseen_side(index: AnyIndex, vocabulary: Vocabulary, seen: NDArray[np.bool_]) -> Side:
    """The documents outside a train side, each scored as if it were added to it."""
    cells = np.where(seen, 0, -1).astype(np.int32)
    known = cell_statistics(index, vocabulary, cells, 1)
    ranked = np.where(seen, -1, 0).astype(np.int32)
    return Side(ranked, np.zeros_like(cells), 1, known, added=True)
