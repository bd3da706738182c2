"""Ranked lists, and ranks of judged documents, for all queries, lists and parameter settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.compiled import announce
from heldout.data.parallel import run_stretches
from heldout.retrieve.models import FRACTION_SHIFTED, LIKELIHOOD, coefficients

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.likelihood import Likelihood
    from heldout.retrieve.kernels.lists import Judged, Work
    from heldout.retrieve.kernels.scoring import Documents, Postings, Queries, Rule
    from heldout.retrieve.models import Model
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import Vocabulary

    Floats = NDArray[np.float64]

__all__ = [
    "LANES",
    "JudgedDocuments",
    "Ranking",
    "document_ratios",
    "padded",
    "rank",
]

LANES: Final = 32
"""Maximum number of lanes scored together: a block of documents must stay in cache."""
_WIDTH: Final = 8
"""Lanes are padded to a multiple of this, the width of the widest vector unit."""
_BLOCK_CELLS: Final = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDocuments:
    """Documents of each query: rows ``offsets[q]`` to ``offsets[q + 1]`` of `documents`."""

    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Ranked lists of every query, list and parameter setting.

    Parameters
    ----------
    documents, scores
        Queries × lists × settings × k: numbers of the documents, the best first; −1 where a list is
        shorter than k.
    ranks
        Judged documents × settings: rank from 1 in the document's list; 0: not retrieved.
    retrieved
        Queries × lists: number of documents that contain a query term.
    """

    documents: NDArray[np.int32]
    scores: Floats
    ranks: NDArray[np.int32]
    retrieved: NDArray[np.int64]


def _wide(lanes: int) -> int:
    """Return the number of lanes after padding."""
    return lanes if lanes <= _WIDTH // 2 else lanes + -lanes % _WIDTH


def padded(values: Floats) -> Floats:
    """Pad the lanes (with copies of the last one) so that vectors are always full.

    The result is always a new array in C order: the loops would be compiled again for another
    layout.
    """
    lanes = values.shape[2]
    filled = np.empty((*values.shape[:2], _wide(lanes)))
    filled[:, :, :lanes] = values
    filled[:, :, lanes:] = values[:, :, -1:]
    return filled


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """The arguments of the compiled loops."""

    postings: Postings
    queries: Queries
    documents: Documents
    rule: Rule
    likelihood: Likelihood
    lanes: slice

    @property
    def block(self) -> int:
        """The number of documents in a block."""
        fitting = int(_BLOCK_CELLS // self.rule.values.shape[2])
        return min(max(fitting, 64), 4096, max(len(self.documents.ratio), 1))


def document_ratios(lengths: NDArray[np.integer], side: Side) -> Floats:
    r"""Return \|d\| over the average length of the training documents for d (0 if none)."""
    place = np.maximum(side.statistics, 0)
    total = side.terms.length[place] + side.added * lengths
    count = side.terms.documents[place] + side.added
    ratio = np.zeros(len(lengths))
    np.divide(lengths * count, total, out=ratio, where=total > 0)
    return ratio


def _document_columns(index: Index, side: Side, priors: Floats) -> Documents:
    from heldout.retrieve.kernels.scoring import Documents

    # Copies: the loops are compiled for writable arrays, and would be compiled again otherwise.
    return Documents(
        np.array(side.statistics, np.int32, order="C"),
        np.array(side.lists, np.int32, order="C"),
        document_ratios(np.asarray(index.lengths), side),
        np.asarray(index.id_order),
        priors,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What to rank."""

    index: Index
    vocabulary: Vocabulary
    models: Sequence[Sequence[Model]]
    side: Side
    priors: Floats | None


def _jobs(task: _Task) -> Iterator[_Job]:
    """Split the parameter settings into batches that are scored together.

    The models are one sequence of settings for all training sets, or one for each.
    """
    from heldout.retrieve.kernels.scoring import Queries, Rule

    first, side, vocabulary = task.models[0][0], task.side, task.vocabulary
    values = np.stack([coefficients(own) for own in task.models])
    values = np.broadcast_to(values, (len(side.terms), *values.shape[1:]))
    weights = first.query_weights(vocabulary.counts)
    queries = Queries(vocabulary.offsets, vocabulary.places, weights)
    shifted = first.form.kind == FRACTION_SHIFTED
    most = int(np.max(task.index.counts, initial=0)) if shifted else 0
    table = first.form.count(np.arange(most + 1, dtype=np.float64))
    term_weights = first.term_weights(side.terms, int(side.added))
    postings = vocabulary.postings(task.index)
    for begin in range(0, values.shape[2], LANES):
        lanes = slice(begin, min(begin + LANES, values.shape[2]))
        weights = np.array(term_weights, order="C")
        rule = Rule(first.form.kind, weights, padded(values[:, :, lanes]), table)
        own = np.zeros((0, rule.values.shape[2]))
        if task.priors is not None:
            own = padded(task.priors[None, :, lanes])[0]
        documents = _document_columns(task.index, side, own)
        yield _Job(postings, queries, documents, rule, _likelihood(task), lanes)


def _likelihood(task: _Task) -> Likelihood:
    from heldout.retrieve.kernels.likelihood import Likelihood

    lengths, distinct = np.asarray(task.index.lengths), np.asarray(task.index.distinct)
    total, side = np.array(task.side.terms.length), task.side
    return Likelihood(lengths, distinct, total, int(side.added), int(side.relative))


@dataclass(frozen=True, slots=True, eq=False)
class _Positions:
    """The positions of the judged documents; see `heldout.retrieve.kernels.lists.Judged`.

    Parameters
    ----------
    offsets, documents
        The documents of each query.
    lists, order, scores, before
        Written by the loops: list, rank of the id, scores (judged × settings), and the number of
        documents ranked above (judged × settings).
    """

    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]
    lists: NDArray[np.int32]
    order: NDArray[np.int32]
    scores: Floats
    before: NDArray[np.int32]

    @classmethod
    def unknown(cls, asked: JudgedDocuments, values: int) -> _Positions:
        """Return positions that are not yet known."""
        shape = len(asked.documents), values
        return cls(
            np.array(asked.offsets),
            np.array(asked.documents),
            np.full(shape[0], -1, np.int32),
            np.zeros(shape[0], np.int32),
            np.full(shape, -np.inf),
            np.zeros(shape, np.int32),
        )

    def ranks(self) -> NDArray[np.int32]:
        """Return ranks from 1; 0: not retrieved."""
        return np.where(self.lists[:, None] >= 0, self.before + 1, 0).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class _Lists:
    """Ranked lists, and the number of documents that contain a term of each query."""

    documents: NDArray[np.int32]
    scores: Floats
    retrieved: NDArray[np.int64]


def rank(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    *,
    k: int = 0,
    judged: JudgedDocuments | None = None,
    priors: Floats | None = None,
    depth: int | None = None,
) -> Ranking:
    """Rank the documents of a side for each query and parameter setting.

    Parameters
    ----------
    models
        The parameter settings: one sequence for all training sets of `side`, or one for each.
    k
        Number of documents in each list.
    judged
        Documents whose ranks are needed, even below rank k.
    priors
        Documents × settings: added to the score of each document under each setting.
    depth
        Ranks beyond it are not needed, and may be 0; `retrieved` may then count at most `depth`
        documents. None: all ranks and counts are exact. A small depth is much faster.
    """
    if depth is not None and priors is None and len(vocabulary):
        from heldout.retrieve.top import rank_by_bounds

        top = rank_by_bounds(index, vocabulary, models, side, k=k, judged=judged, depth=depth)
        if top is not None:
            return top
    from heldout.retrieve.kernels.lists import rank as compiled

    announce("the ranker", compiled)
    count, number = len(vocabulary.offsets) - 1, len(models[0])
    asked = judged or JudgedDocuments(np.zeros(count + 1, np.int64), np.zeros(0, np.int32))
    positions = _Positions.unknown(asked, number)
    found = _rank(_Task(index, vocabulary, models, side, priors), k, positions)
    return Ranking(found.documents, found.scores, positions.ranks(), found.retrieved)


def _rank(task: _Task, k: int, positions: _Positions) -> _Lists:
    from heldout.retrieve.kernels.lists import Judged

    queries, number, side = len(task.vocabulary.offsets) - 1, len(task.models[0]), task.side
    documents = np.full((queries, side.n_lists, number, k), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    retrieved = np.zeros((queries, side.n_lists), np.int64)
    for job in _jobs(task):
        lists = (scores[:, :, job.lanes], documents[:, :, job.lanes])
        top = (np.array(lists[0], order="C"), np.array(lists[1], order="C"))
        judged = Judged(
            positions.offsets,
            positions.documents,
            positions.lists,
            positions.order,
            np.array(positions.scores[:, job.lanes], order="C"),
        )
        before = np.zeros(judged.scores.shape, np.int32)
        sizes = np.zeros(top[0].shape[:3], np.int64)
        retrieved[:] = 0  # the same for all parameter settings
        run_stretches(partial(_rank_some, job, (*top, sizes), judged, before, retrieved), queries)
        scores[:, :, job.lanes], documents[:, :, job.lanes] = top
        positions.scores[:, job.lanes], positions.before[:, job.lanes] = judged.scores, before
    return _Lists(documents, scores, retrieved)


def _rank_some(
    job: _Job,
    out: tuple[Floats, NDArray[np.int32], NDArray[np.int64]],
    judged: Judged,
    before: NDArray[np.int32],
    retrieved: NDArray[np.int64],
    some: tuple[int, int],
) -> None:
    """Rank some of the queries."""
    from heldout.retrieve.kernels.lists import rank as compiled

    scores, documents, sizes = out
    compiled(
        *some, job.block, job.postings, job.queries, job.documents, job.rule, job.likelihood,
        scores, documents, sizes, judged, before, retrieved, _work(job, some, judged, scores),
    )  # fmt: skip


def _work(job: _Job, some: tuple[int, int], judged: Judged, scores: Floats) -> Work:
    """Return room for some of the queries."""
    from heldout.retrieve.kernels.lists import Work

    own, queries = slice(some[0], some[1] + 1), job.queries
    spans = (job.postings.end - job.postings.begin)[queries.terms]
    postings = np.concatenate([[0], np.cumsum(spans)])[queries.offsets[own]]
    n, (_, lists, real, _) = len(job.documents.ratio), scores.shape
    widest, lanes = min(_widest(postings), n), job.rule.values.shape[2]
    products = widest if job.rule.kind == LIKELIHOOD else 0
    most = _widest(judged.offsets[own])
    return Work(
        np.empty(_widest(queries.offsets[own]), np.int64),
        np.full(n, -1, np.int32),
        np.empty(widest, np.int32),
        np.empty((widest, lanes)),
        np.empty((products, lanes)),
        np.empty((products, 2)),
        np.empty((len(job.likelihood.totals), 2)),
        np.empty((lists, lanes)),
        np.empty(lists + 1, np.int64),
        np.empty((most, real), np.int64),
        np.empty((most, real), np.int64),
    )


def _widest(offsets: NDArray[np.int64]) -> int:
    """Return the largest number of rows between two offsets."""
    return int(np.diff(offsets).max(initial=0))
