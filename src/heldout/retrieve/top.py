"""The top of ranked lists for all queries, lists and parameter settings, by bounds.

Used where ranks below some depth do not matter. Sums over terms have bounds; likelihoods and priors
do not, and are ranked by `heldout.retrieve.rank`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.compiled import announce
from heldout.data.parallel import run_stretches
from heldout.retrieve.bounds import windows_of
from heldout.retrieve.kernels.types import FRACTION, LIKELIHOOD
from heldout.retrieve.rank import Ranking, length_ratios, rule_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.scoring import Documents, Rule
    from heldout.retrieve.kernels.top import Filter
    from heldout.retrieve.kernels.types import Numbers
    from heldout.retrieve.models import Model
    from heldout.retrieve.rank import JudgedDocuments
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import Vocabulary


_CELLS: Final = 128
"""Lengths that bounds tell apart."""
_LENGTHS: Final = 1 << 16
_CHUNK: Final = 1 << 24
_SCORE: Final = 60
"""Scoring a document costs, for each term, as much as reading this many postings."""


def pays(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    k: int,
) -> bool:
    """Return whether bounds can be used, and are likely to save more than they cost.

    About k · (1 + log(n / k)) documents of each list become one of the best for a while; several
    settings want different ones.
    """
    first, settings, lists = models[0][0], len(models[0]), side.n_lists
    if not len(vocabulary) or first.form.kind == LIKELIHOOD:
        return False
    if first.term_weights(side.terms, int(side.added)).min() < 0:
        return False  # scores must rise with counts
    postings, n = vocabulary.postings(index), index.n_documents
    terms = len(vocabulary.places) / vocabulary.n_queries
    total = float((postings.end - postings.begin)[vocabulary.places].sum())
    scored = lists * k * (1 + np.log(max(n / (lists * k), 1.0))) * np.sqrt(settings)
    read = total / vocabulary.n_queries
    return bool(scored * terms * (_SCORE + settings) < read * (1 + settings))


def rank_top(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    documents: Documents,
    *,
    asked: JudgedDocuments,
    k: int,
    depth: int,
) -> Ranking:
    """Rank down to `depth` under as many settings as are scored together."""
    from heldout.retrieve.kernels.top import EMPTY, LIST, Tops, Work
    from heldout.retrieve.kernels.top import rank_top as compiled

    announce("the ranker", compiled)
    postings, queries = vocabulary.postings(index), vocabulary.queries(models[0][0])
    windows = windows_of(index, vocabulary.numbers)
    rule = rule_of(models, side.terms, index, side.added)
    bounds = _filter(rule, documents, side)
    scores = np.full((vocabulary.n_queries, side.n_lists, len(models[0]), depth), -np.inf)
    tops = Tops(scores, np.full(scores.shape, -1, np.int32), np.zeros(scores.shape[:3], np.int64))
    longest, width = int(np.diff(vocabulary.offsets).max(initial=1)), 1 << windows.bits

    def rank_some(some: tuple[int, int]) -> None:
        counts, cells, lanes = bounds.curves.shape
        work = Work(
            np.zeros(longest + 1, LIST),
            np.full(width, EMPTY, np.float32),
            np.empty(width + 1, np.uint32),
            np.empty((counts, cells), np.float32),
            np.empty(lanes),
            np.empty((side.n_lists, lanes)),
            np.empty(side.n_lists),
            np.empty(lanes),
        )
        compiled(*some, postings, queries, windows, documents, rule, bounds, work, tops)

    run_stretches(rank_some, vocabulary.n_queries)
    ranks, retrieved = _ranks_in(tops.documents, side, asked), tops.sizes[:, :, 0]
    return Ranking(tops.documents[..., :k], scores[..., :k], ranks, retrieved)


def _ranks_in(lists: Numbers, side: Side, asked: JudgedDocuments) -> Numbers:
    """Return the ranks of judged documents in their lists, from 1; 0: not there."""
    documents = asked.documents
    queries = np.repeat(np.arange(len(lists)), np.diff(asked.offsets))
    ranks = np.zeros((len(documents), lists.shape[2]), np.int32)
    step = max(1, _CHUNK // max(lists.shape[2] * lists.shape[3], 1))
    for begin in range(0, len(documents), step):
        some = slice(begin, begin + step)
        own = lists[queries[some], side.lists[documents[some]]]
        same = own == documents[some, None, None]
        ranks[some] = np.where(same.any(axis=2), same.argmax(axis=2) + 1, 0)
    ranks[side.statistics[documents] < 0] = 0
    return ranks


def _filter(rule: Rule, documents: Documents, side: Side) -> Filter:
    """Return the bounds of what a count adds: in a cell, that for its shortest possible document.

    They are the largest over all sets of statistics.
    """
    from heldout.retrieve.kernels.scoring import fraction, shifted
    from heldout.retrieve.kernels.top import COUNTS, Filter

    longest = max(int(documents.lengths.max(initial=1)), 2)
    edges = np.unique(np.geomspace(1, longest, _CELLS).astype(np.int64))
    cell_of = np.maximum(np.searchsorted(edges, np.arange(_LENGTHS), "right") - 1, 0)
    counts = np.minimum(np.arange(COUNTS), len(rule.table) - 1)
    counts[-1] = len(rule.table) - 1
    x, known, values = rule.table[counts][:, None, None], side.terms, rule.values
    curves = np.zeros((COUNTS, len(edges), values.shape[2]), np.float32)
    for s in range(len(known)):
        r = length_ratios(edges, known.documents[s], known.length[s], side.added)[None, :, None]
        with np.errstate(invalid="ignore", divide="ignore"):  # a count of 0 is never asked for
            if rule.kind == FRACTION:
                norm = values[s, 1] + values[s, 2] * r
                heights = _on_arrays(fraction)(x, values[s, 0], norm)
            else:
                heights = _on_arrays(shifted)(x, r, values, s, slice(None))
        heights = np.nan_to_num(heights, posinf=1e30) * (1 + 1e-6)
        np.maximum(curves, heights, out=curves, casting="same_kind")
    cell_of = cell_of.astype(np.uint16)
    cells = cell_of[np.minimum(documents.lengths, _LENGTHS - 1)]
    return Filter(cells, curves, rule.weights.max(axis=1), cell_of)


def _on_arrays(formula: Any) -> Any:
    """Return the formula as it was before it was compiled, for numbers."""
    return getattr(formula, "py_func", formula)
