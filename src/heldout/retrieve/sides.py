"""Which documents are ranked, into which lists, using the statistics of which training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.retrieve.statistics import cell_statistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.types import Numbers
    from heldout.retrieve.statistics import TermStatistics, Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The documents to rank, and how.

    `statistics` is the training set by which each document is scored (−1: it is not ranked),
    `lists` the ranked list in which it appears, `terms` the statistics of the training sets.
    `added`: a held-out document is scored as if it alone were added to the training data.
    `relative`: likelihoods are given relative to a document without any query term. Within one
    training set the order is the same either way; where one list has documents of several training
    sets, the likelihood of such a document must not differ between them.
    """

    statistics: Numbers
    lists: Numbers
    n_lists: int
    terms: TermStatistics
    added: bool
    relative: bool = False


def whole_side(index: Index, vocabulary: Vocabulary) -> Side:
    """Return the side of all documents, scored by the statistics of all: plain search."""
    zero = np.zeros(index.n_documents, np.int32)
    return Side(zero, zero, 1, cell_statistics(index, vocabulary, zero, 1), added=False)


def seen_side(index: Index, vocabulary: Vocabulary, seen: NDArray[np.bool_]) -> Side:
    """Return the side of the training documents, scored by their own statistics."""
    cells = np.where(seen, 0, -1).astype(np.int32)
    known = cell_statistics(index, vocabulary, cells, 1)
    return Side(cells, np.zeros_like(cells), 1, known, added=False)


def held_out_side(
    index: Index, vocabulary: Vocabulary, folds: Numbers, number: int, *, pooled: bool = False
) -> Side:
    """Return the side of all documents, each scored by the other folds with itself added.

    A fold of −1 is neither used for statistics nor ranked. `pooled`: one ranked list of all folds
    together instead of one list per fold.
    """
    known = cell_statistics(index, vocabulary, folds, number).complement()
    lists = np.zeros_like(folds) if pooled else np.maximum(folds, 0)
    return Side(folds, lists, 1 if pooled else number, known, added=True, relative=pooled)
