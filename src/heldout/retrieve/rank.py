"""Ranked lists, and ranks of judged documents, of all queries, lists and parameter values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.parallel import run_stretches
from heldout.retrieve.compiled import announce
from heldout.retrieve.models import FRACTION_SHIFTED, coefficients

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.scoring import Documents, Postings, Queries, Rule
    from heldout.retrieve.models import Model
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import Vocabulary

    Floats = NDArray[np.float64]

__all__ = ["JudgedDocuments", "Ranking", "document_ratios", "rank"]

_LANES: Final = 32
"""Lanes that are scored together at most: a block of documents must stay in cache."""
_WIDTH: Final = 8
"""Lanes are filled up to a multiple of this, the width of the widest vector unit."""
_BLOCK_CELLS: Final = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDocuments:
    """Documents of each query: rows ``offsets[q]`` to ``offsets[q + 1]`` of `documents`."""

    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Ranked lists of every query, list and value.

    Parameters
    ----------
    documents, scores
        Queries × lists × values × k: numbers of the documents, the best first; −1 where a list is
        shorter than k.
    ranks
        Judged documents × values: rank from 1 in the document's list; 0: not retrieved.
    retrieved
        Queries × lists: how many documents have a term of the query.
    """

    documents: NDArray[np.int32]
    scores: Floats
    ranks: NDArray[np.int32]
    retrieved: NDArray[np.int64]


def _padded(values: Floats) -> Floats:
    """Fill up the lanes (copies of the last one) so that vectors are always full.

    The result is always a new array in C order: for another layout the loops would be compiled
    once more.
    """
    lanes = values.shape[2]
    wide = lanes if lanes <= _WIDTH // 2 else lanes + -lanes % _WIDTH
    filled = np.empty((*values.shape[:2], wide))
    filled[:, :, :lanes] = values
    filled[:, :, lanes:] = values[:, :, -1:]
    return filled


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """What the compiled loops are given."""

    postings: Postings
    queries: Queries
    documents: Documents
    rule: Rule
    lanes: slice

    @property
    def block(self) -> int:
        """Documents in a block."""
        fitting = int(_BLOCK_CELLS // self.rule.values.shape[2])
        return min(max(fitting, 64), 4096, max(len(self.documents.lengths), 1))


def document_ratios(index: Index, side: Side) -> Floats:
    r"""\|d\| over the average length of the train side that scores d (0 where that is empty)."""
    lengths = np.asarray(index.lengths)
    place = np.maximum(side.statistics, 0)
    total = side.terms.length[place] + side.added * lengths
    count = side.terms.documents[place] + side.added
    ratio = np.zeros(len(lengths))
    np.divide(lengths * count, total, out=ratio, where=total > 0)
    return ratio


def _document_columns(index: Index, side: Side, priors: Floats) -> Documents:
    from heldout.retrieve.kernels.scoring import Documents

    # Copies: loops that know writable arrays would be compiled again for one that is not.
    return Documents(
        np.array(side.statistics, np.int32, order="C"),
        np.array(side.lists, np.int32, order="C"),
        document_ratios(index, side),
        np.asarray(index.lengths),
        np.asarray(index.distinct),
        np.asarray(index.id_order),
        priors,
    )


def _jobs(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    priors: Floats | None,
) -> Iterator[_Job]:
    """Cut the values into pieces that are scored together.

    `models` has one sequence of values for all train sides, or one for each.
    """
    from heldout.retrieve.kernels.scoring import Queries, Rule

    first = models[0][0]
    values = np.stack([coefficients(own) for own in models])
    values = np.broadcast_to(values, (len(side.terms), *values.shape[1:]))
    postings = vocabulary.postings(index)
    weights = first.query_weights(vocabulary.counts)
    queries = Queries(vocabulary.offsets, vocabulary.places, weights)
    most = int(np.max(index.counts, initial=0)) if first.form.kind == FRACTION_SHIFTED else 0
    table = first.form.count(np.arange(most + 1, dtype=np.float64))
    term_weights = first.term_weights(side.terms, int(side.added))
    for begin in range(0, values.shape[2], _LANES):
        lanes = slice(begin, min(begin + _LANES, values.shape[2]))
        rule = Rule(
            first.form.kind,
            np.array(term_weights, order="C"),
            _padded(values[:, :, lanes]),
            np.array(side.terms.length),
            int(side.added),
            table,
            int(side.relative),
        )
        own = np.zeros((0, rule.values.shape[2]))
        if priors is not None:
            own = _padded(priors[None, :, lanes])[0]
        yield _Job(postings, queries, _document_columns(index, side, own), rule, lanes)


def rank(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    *,
    k: int = 0,
    judged: JudgedDocuments | None = None,
    priors: Floats | None = None,
) -> Ranking:
    """Rank the documents of a side for each query and value.

    Parameters
    ----------
    models
        The values: one sequence for all train sides of `side`, or one for each train side.
    k
        How many documents of each list are wanted.
    judged
        Documents whose ranks are wanted, however deep they stand.
    priors
        Documents × values: what is added to the score of each document under each value.
    """
    from heldout.retrieve.kernels.lists import rank as compiled

    announce("the ranker", compiled)
    count, number = len(vocabulary.offsets) - 1, len(models[0])
    asked = judged or JudgedDocuments(np.zeros(count + 1, np.int64), np.zeros(0, np.int32))
    asked = JudgedDocuments(np.array(asked.offsets), np.array(asked.documents))
    documents = np.full((count, side.n_lists, number, k), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    ranks = np.zeros((len(asked.documents), number), np.int32)
    for job in _jobs(index, vocabulary, models, side, priors):
        lists = (scores[:, :, job.lanes], documents[:, :, job.lanes])
        top = (np.array(lists[0], order="C"), np.array(lists[1], order="C"))
        own = np.array(ranks[:, job.lanes], order="C")
        sizes = np.zeros(top[0].shape[:3], np.int64)
        retrieved = np.zeros((count, side.n_lists), np.int64)
        run_stretches(partial(_rank_part, job, (*top, sizes), asked, own, retrieved), count)
        scores[:, :, job.lanes], documents[:, :, job.lanes], ranks[:, job.lanes] = *top, own
    return Ranking(documents, scores, ranks, retrieved)


def _rank_part(
    job: _Job,
    out: tuple[Floats, NDArray[np.int32], NDArray[np.int64]],
    asked: JudgedDocuments,
    ranks: NDArray[np.int32],
    retrieved: NDArray[np.int64],
    part: tuple[int, int],
) -> None:
    """Rank some of the queries."""
    from heldout.retrieve.kernels.lists import rank as compiled

    scores, documents, sizes = out
    compiled(
        *part, job.block, job.postings, job.queries, job.documents, job.rule,
        scores, documents, sizes, asked.offsets, asked.documents, ranks, retrieved,
    )  # fmt: skip
