"""Ranked lists, and ranks of judged documents, for all queries, lists and parameter settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.compiled import announce
from heldout.data.parallel import run_stretches
from heldout.retrieve.models import FRACTION_SHIFTED, LIKELIHOOD, coefficients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.rank import Marks
    from heldout.retrieve.kernels.scoring import Documents, Rows, Rule
    from heldout.retrieve.models import Model
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import Vocabulary

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Numbers = NDArray[np.int32]

LANES: Final = 32
"""Maximum number of lanes scored together: a block of documents must stay in cache."""
_WIDTH: Final = 8
"""Lanes are padded to a multiple of this, the width of the widest vector unit."""
_BLOCK_CELLS: Final = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDocuments:
    """Documents of each query: rows ``offsets[q]`` to ``offsets[q + 1]`` of `documents`."""

    offsets: Ints
    documents: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Ranked lists of every query, list and parameter setting.

    `documents` and `scores` (queries × lists × settings × k) have the best first; −1 where a list
    is shorter than k. `ranks` (judged documents × settings) count from 1 in the document's list; 0:
    not retrieved. `retrieved` (queries × lists) is the number of documents with a query term.
    """

    documents: Numbers
    scores: Floats
    ranks: Numbers
    retrieved: Ints


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
    from heldout.retrieve.kernels.rank import Lists
    from heldout.retrieve.kernels.rank import rank as compiled
    from heldout.retrieve.kernels.scoring import Queries

    announce("the ranker", compiled)
    first, count, number = models[0][0], len(vocabulary.offsets) - 1, len(models[0])
    asked = judged or JudgedDocuments(np.zeros(count + 1, np.int64), np.zeros(0, np.int32))
    documents = np.full((count, side.n_lists, number, k), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    ranks = np.zeros((len(asked.documents), number), np.int32)
    queries = Queries(vocabulary.offsets, vocabulary.places, first.query_weights(vocabulary.counts))
    postings, columns = vocabulary.postings(index), columns_of(index, side)
    most = int(np.max(index.counts, initial=0)) if first.form.kind == FRACTION_SHIFTED else 0
    for begin in range(0, number, LANES):
        lanes = slice(begin, min(begin + LANES, number))
        rule = rule_of([own[lanes] for own in models], side, most)
        if priors is not None:
            columns = columns._replace(priors=_padded(priors[None, :, lanes])[0])
        lists = Lists(
            np.array(scores[:, :, lanes], order="C"),
            np.array(documents[:, :, lanes], order="C"),
            np.zeros(scores[:, :, lanes].shape[:3], np.int64),
            np.zeros((count, side.n_lists), np.int64),
            np.array(asked.offsets, np.int64),
            np.array(asked.documents, np.int32),
            np.array(ranks[:, lanes], order="C"),
        )
        wide = rule.values.shape[2]
        block = min(max(_BLOCK_CELLS // wide, 64), 4096, max(index.n_documents, 1))

        def rank_some(
            some: tuple[int, int],
            columns: Documents = columns,
            rule: Rule = rule,
            lists: Lists = lists,
            block: int = block,
        ) -> None:
            own = slice(some[0], some[1] + 1)
            spans = (postings.end - postings.begin)[queries.terms]
            found = np.concatenate([[0], np.cumsum(spans)])[queries.offsets[own]]
            widest = min(_widest(found), index.n_documents)
            rows = _rows(rule, index.n_documents, widest, _widest(queries.offsets[own]))
            marks = _marks(lists.scores, rule.values.shape[2], _widest(lists.offsets[own]))
            compiled(*some, block, postings, queries, columns, rule, rows, marks, lists)

        run_stretches(rank_some, count)
        scores[:, :, lanes], documents[:, :, lanes] = lists.scores, lists.documents
        ranks[:, lanes] = lists.ranks
    return Ranking(documents, scores, ranks, lists.retrieved)


def columns_of(index: Index, side: Side) -> Documents:
    """Return data about each document, without priors."""
    from heldout.retrieve.kernels.scoring import Documents

    place, lengths = np.maximum(side.statistics, 0), np.asarray(index.lengths)
    # Copies: the loops are compiled for writable arrays, and would be compiled again otherwise.
    return Documents(
        np.array(side.statistics, np.int32),
        np.array(side.lists, np.int32),
        np.asarray(index.id_order),
        length_ratios(lengths, side.terms.documents[place], side.terms.length[place], side.added),
        lengths,
        np.asarray(index.distinct),
        np.zeros((0, 1)),
    )


def length_ratios(lengths: NDArray[Any], number: Any, length: Any, added: bool) -> Floats:
    r"""Return \|d\| over the average length of `number` training documents (0 if none)."""
    total = length + added * lengths
    ratio = np.zeros(total.shape)
    np.divide(lengths * (number + added), total, out=ratio, where=total > 0)
    return ratio


def rule_of(models: Sequence[Sequence[Model]], side: Side, most: int) -> Rule:
    """Return the scoring rule of some settings; `most` is the largest count of its table."""
    from heldout.retrieve.kernels.scoring import Rule

    first = models[0][0]
    values = np.stack([coefficients(own) for own in models])
    values = np.broadcast_to(values, (len(side.terms), *values.shape[1:]))
    return Rule(
        first.form.kind,
        np.array(first.term_weights(side.terms, int(side.added)), order="C"),
        _padded(values),
        first.form.count(np.arange(most + 1, dtype=np.float64)),
        np.array(side.terms.length),
        int(side.added),
        int(side.relative),
    )


def _padded(values: Floats) -> Floats:
    """Pad the lanes (with copies of the last one) so that vectors are always full.

    The result is always a new array in C order: the loops would be compiled again for another
    layout.
    """
    lanes = values.shape[2]
    wide = lanes if lanes <= _WIDTH // 2 else lanes + -lanes % _WIDTH
    filled = np.empty((*values.shape[:2], wide))
    filled[:, :, :lanes] = values
    filled[:, :, lanes:] = values[:, :, -1:]
    return filled


def _widest(offsets: Ints) -> int:
    """Return the largest number of rows between two offsets."""
    return int(np.diff(offsets).max(initial=0))


def _rows(rule: Rule, documents: int, widest: int, terms: int) -> Rows:
    """Return room for the scores of at most `widest` of the documents."""
    from heldout.retrieve.kernels.scoring import Rows

    lanes, products = rule.values.shape[2], rule.kind == LIKELIHOOD
    return Rows(
        np.full(documents, -1, np.int32),
        np.empty(widest, np.int32),
        np.empty((widest, lanes)),
        np.empty((widest * products, lanes)),
        np.empty((widest * products, 2)),
        np.empty((len(rule.totals) * products, 2)),
        np.empty(terms, np.int64),
    )


def _marks(scores: Floats, wide: int, most: int) -> Marks:
    """Return room for at most `most` judged documents of a query."""
    from heldout.retrieve.kernels.rank import Marks

    _, lists, lanes, _ = scores.shape
    return Marks(
        np.empty(lists + 1, np.int64),
        np.empty(most, np.int64),
        np.empty((most, lanes), np.int64),
        np.empty((most, lanes), np.int64),
        np.empty((lists, wide)),
    )
