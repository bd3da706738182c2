"""Ranked lists, and ranks of judged documents, for all queries, lists and parameter settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.compiled import announce
from heldout.data.parallel import run_stretches
from heldout.retrieve.kernels.types import LIKELIHOOD
from heldout.retrieve.models import coefficients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.scoring import Documents, Rule
    from heldout.retrieve.kernels.types import Floats, Ints, Numbers
    from heldout.retrieve.models import Model
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import TermStatistics, Vocabulary


_LANES: Final = 32
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

    `models` are the parameter settings: one sequence for all training sets of `side`, or one for
    each. Lists have `k` documents; ranks of `judged` documents are given even below. `priors`
    (documents × settings) are added to the scores. Ranks beyond `depth` are not needed, and may be
    0; `retrieved` may then count at most `depth` documents. A small depth is much faster.
    """
    from heldout.retrieve import top

    none = JudgedDocuments(np.zeros(vocabulary.n_queries + 1, np.int64), np.zeros(0, np.int32))
    asked, columns = judged or none, columns_of(index, side)
    longest = max(k, min(depth or 0, index.n_documents), 1)
    bounded = depth is not None and priors is None
    bounded = bounded and top.pays(index, vocabulary, models, side, longest)
    parts = []
    for begin in range(0, len(models[0]), _LANES):
        lanes = slice(begin, begin + _LANES)
        some = [own[lanes] for own in models]
        if bounded:
            part = top.rank_top(
                index, vocabulary, some, side, columns, asked=asked, k=k, depth=longest
            )
        else:
            if priors is not None:
                columns = columns._replace(priors=_padded(priors[None, :, lanes])[0])
            part = _rank_all(index, vocabulary, some, side, columns, asked=asked, k=k)
        parts.append(part)
    return Ranking(
        np.concatenate([part.documents for part in parts], axis=2),
        np.concatenate([part.scores for part in parts], axis=2),
        np.concatenate([part.ranks for part in parts], axis=1),
        parts[0].retrieved,
    )


def _rank_all(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    columns: Documents,
    *,
    asked: JudgedDocuments,
    k: int,
) -> Ranking:
    """Score every document with a query term, under as many settings as are scored together."""
    from heldout.retrieve.kernels.rank import Lists, Marks
    from heldout.retrieve.kernels.rank import rank as compiled
    from heldout.retrieve.kernels.scoring import Rows

    announce("the ranker", compiled)
    rule = rule_of(models, side.terms, index, side.added, side.relative)
    postings, queries = vocabulary.postings(index), vocabulary.queries(models[0][0])
    n, number, lanes = index.n_documents, len(models[0]), rule.values.shape[2]
    shape = vocabulary.n_queries, side.n_lists, number
    lists = Lists(
        np.full((*shape, k), -np.inf),
        np.full((*shape, k), -1, np.int32),
        np.zeros(shape, np.int64),
        np.zeros(shape[:2], np.int64),
        np.array(asked.offsets, np.int64),
        np.array(asked.documents, np.int32),
        np.zeros((len(asked.documents), number), np.int32),
    )
    spans = np.cumsum((postings.end - postings.begin)[queries.terms])
    spans_before = np.concatenate([[0], spans])[queries.offsets]
    block = min(max(_BLOCK_CELLS // lanes, 64), 4096, max(n, 1))

    def rank_some(some: tuple[int, int]) -> None:
        own, products = slice(some[0], some[1] + 1), rule.kind == LIKELIHOOD
        widest, most = min(_widest(spans_before[own]), n), _widest(lists.offsets[own])
        rows = Rows(
            np.full(n, -1, np.int32),
            np.empty(widest, np.int32),
            np.empty((widest, lanes)),
            np.empty((widest * products, lanes)),
            np.empty((widest * products, 2)),
            np.empty((len(rule.totals) * products, 2)),
            np.empty(_widest(queries.offsets[own]), np.int64),
        )
        marks = Marks(
            np.empty(side.n_lists + 1, np.int64),
            np.empty(most, np.int64),
            np.empty((most, number), np.int64),
            np.empty((most, number), np.int64),
            np.empty((side.n_lists, lanes)),
        )
        compiled(*some, block, postings, queries, columns, rule, rows, marks, lists)

    run_stretches(rank_some, vocabulary.n_queries)
    return Ranking(lists.documents, lists.scores, lists.ranks, lists.retrieved)


def _widest(offsets: Ints) -> int:
    """Return the largest number of rows between two offsets."""
    return int(np.diff(offsets).max(initial=0))


def rank_times(
    index: Index,
    vocabulary: Vocabulary,
    model: Model,
    known: TermStatistics,
    times: NDArray[np.uint8],
    *,
    added: bool,
    k: int,
) -> tuple[Numbers, Floats]:
    """Rank replicates of the documents without building new indexes; not for likelihoods.

    `known` are the statistics of each replicate's training data, `times` (documents × replicates)
    is how often a document is listed (0: not), `added` whether it is scored as if it were added to
    the training data. Returns the top documents (queries × replicates × k; −1: none) and scores.
    """
    from heldout.retrieve.kernels.replicates import Replicates, rank_replicates

    announce("the bootstrap", rank_replicates)
    rule = rule_of([[model]], known, index, added)
    lengths, order = np.asarray(index.lengths), np.asarray(index.id_order)
    data = Replicates(times, known.documents, lengths, order)
    postings, queries = vocabulary.postings(index), vocabulary.queries(model)
    documents = np.full((vocabulary.n_queries, times.shape[1], k), -1, np.int32)
    scores = np.full(documents.shape, -np.inf)
    run_stretches(
        lambda some: rank_replicates(*some, postings, queries, rule, data, documents, scores),
        vocabulary.n_queries,
    )
    return documents, scores


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


def rule_of(
    models: Sequence[Sequence[Model]],
    known: TermStatistics,
    index: Index,
    added: bool,
    relative: bool = False,
) -> Rule:
    """Return the scoring rule of some settings, for training sets with the statistics `known`."""
    from heldout.retrieve.kernels.scoring import Rule

    first = models[0][0]
    values = np.stack([coefficients(own) for own in models])
    values = np.broadcast_to(values, (len(known), *values.shape[1:]))
    return Rule(
        first.form.kind,
        np.array(first.term_weights(known, int(added)), order="C"),
        _padded(values),
        first.form.count(np.arange(index.largest_count + 1, dtype=np.float64)),
        np.array(known.length),
        int(added),
        int(relative),
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
