"""The top of ranked lists for all queries, lists and parameter settings, by bounds.

Used where ranks below some depth do not matter. Sums over terms have bounds; likelihoods and priors
do not, and are ranked by `heldout.retrieve.rank`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.compiled import announce
from heldout.data.parallel import run_stretches
from heldout.retrieve.models import FRACTION, LIKELIHOOD
from heldout.retrieve.rank import LANES, Ranking, columns_of, length_ratios, rule_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.scoring import Documents, Rule
    from heldout.retrieve.kernels.top import Filter, Tops
    from heldout.retrieve.models import Model
    from heldout.retrieve.rank import JudgedDocuments
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import Vocabulary

    Numbers = NDArray[np.int32]

_CELLS: Final = 128
"""Lengths that bounds tell apart."""
_LENGTHS: Final = 1 << 16
_CHUNK: Final = 1 << 24
_SCORE: Final = 60
"""Scoring a document costs, for each term, as much as reading this many postings."""


def rank_by_bounds(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    *,
    k: int,
    judged: JudgedDocuments | None,
    depth: int,
) -> Ranking | None:
    """Rank as `heldout.retrieve.rank.rank` does, down to `depth`; None: that is not worth it."""
    longest, first = max(k, min(depth, index.n_documents), 1), models[0][0]
    if first.form.kind == LIKELIHOOD or not _pays(
        index, vocabulary, len(models[0]), side.n_lists, longest
    ):
        return None
    if first.term_weights(side.terms, int(side.added)).min(initial=0.0) < 0:
        return None  # scores must rise with counts
    own = [
        _rank_top(
            index, vocabulary, [some[begin : begin + LANES] for some in models], side, longest
        )
        for begin in range(0, len(models[0]), LANES)
    ]
    documents = np.concatenate([tops.documents for tops in own], axis=2)
    scores = np.concatenate([tops.scores for tops in own], axis=2)
    ranks = _ranks_in(documents, side, judged)
    retrieved = np.minimum(own[0].sizes[:, :, 0], longest)
    return Ranking(documents[..., :k], scores[..., :k], ranks, retrieved)


def _pays(index: Index, vocabulary: Vocabulary, settings: int, lists: int, k: int) -> bool:
    """Return whether bounds are likely to save more than they cost.

    About k · (1 + log(n / k)) documents of each list become one of the best for a while; several
    settings want different ones.
    """
    queries, n = max(len(vocabulary.offsets) - 1, 1), index.n_documents
    terms = len(vocabulary.places) / queries
    begin, end = vocabulary.stretches(index)
    total = float((end - begin)[vocabulary.places].sum())
    scored = lists * k * (1 + np.log(max(n / (lists * k), 1.0))) * np.sqrt(settings)
    return bool(scored * terms * (_SCORE + settings) < total / queries * (1 + settings))


def _ranks_in(lists: Numbers, side: Side, judged: JudgedDocuments | None) -> Numbers:
    """Return the ranks of judged documents in their lists, from 1; 0: not there."""
    if judged is None:
        return np.zeros((0, lists.shape[2]), np.int32)
    documents = judged.documents
    queries = np.repeat(np.arange(len(lists)), np.diff(judged.offsets))
    ranks = np.zeros((len(documents), lists.shape[2]), np.int32)
    step = max(1, _CHUNK // max(lists.shape[2] * lists.shape[3], 1))
    for begin in range(0, len(documents), step):
        some = slice(begin, begin + step)
        own = lists[queries[some], side.lists[documents[some]]]
        same = own == documents[some, None, None]
        ranks[some] = np.where(same.any(axis=2), same.argmax(axis=2) + 1, 0)
    ranks[side.statistics[documents] < 0] = 0
    return ranks


def _rank_top(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    k: int,
) -> Tops:
    """Return the top k of the lists for as many settings as are scored together."""
    from heldout.retrieve.kernels.scoring import Queries
    from heldout.retrieve.kernels.top import COUNTS, EMPTY, Tops, Work
    from heldout.retrieve.kernels.top import rank_top as compiled
    from heldout.retrieve.kernels.windows import LIST, SATURATED

    announce("the ranker", compiled)
    first, count = models[0][0], len(vocabulary.offsets) - 1
    queries = Queries(vocabulary.offsets, vocabulary.places, first.query_weights(vocabulary.counts))
    postings, windows = vocabulary.postings(index), vocabulary.windows(index)
    most = int(windows.most.max(initial=0))
    if most == SATURATED:
        most = int(np.max(index.counts))
    documents = columns_of(index, side)
    rule = rule_of(models, side, max(most, COUNTS))
    bounds = _filter(rule, documents, side, len(models) > 1)
    scores = np.full((count, side.n_lists, len(models[0]), k), -np.inf)
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

    run_stretches(rank_some, count)
    return tops


def _filter(rule: Rule, documents: Documents, side: Side, apart: bool) -> Filter:
    """Return the bounds of what a count adds: in a cell, that for its shortest possible document.

    Where sets of statistics have values of their own, their cells are `apart`.
    """
    from heldout.retrieve.kernels.scoring import fraction, shifted
    from heldout.retrieve.kernels.top import COUNTS, Filter

    longest = max(int(documents.lengths.max(initial=1)), 2)
    edges = np.unique(np.geomspace(1, longest, _CELLS).astype(np.int64))
    cell_of = np.maximum(np.searchsorted(edges, np.arange(_LENGTHS), "right") - 1, 0)
    cell_of, step = cell_of.astype(np.uint16), len(edges)
    counts = np.arange(COUNTS)
    counts[-1] = len(rule.table) - 1
    sets = len(side.terms)
    number = sets if apart and sets * step < _LENGTHS else 1
    group = np.arange(sets) % number
    curves = np.zeros((COUNTS, number * step, rule.values.shape[2]), np.float32)
    every: Any = slice(None)  # lanes
    for s in range(sets):
        terms = side.terms
        r = length_ratios(edges, terms.documents[s], terms.length[s], side.added)[None, :, None]
        with np.errstate(invalid="ignore", divide="ignore"):  # a count of 0 is never asked for
            if rule.kind == FRACTION:
                x = counts[:, None, None].astype(np.float64)
                norm = rule.values[s, 1] + rule.values[s, 2] * r
                heights = _on_arrays(fraction)(x, rule.values[s, 0], norm)
            else:
                x = rule.table[counts][:, None, None]
                heights = _on_arrays(shifted)(x, r, rule.values, s, every)
        own = curves[:, group[s] * step : (group[s] + 1) * step]
        heights = np.nan_to_num(heights, posinf=1e30) * (1 + 1e-6)
        np.maximum(own, heights, out=own, casting="same_kind")
    cells = cell_of[np.minimum(documents.lengths, _LENGTHS - 1)]
    if number > 1:
        cells += (group * step).astype(np.uint16)[np.maximum(documents.statistics, 0)]
    return Filter(cells, curves, rule.weights.max(axis=1), cell_of, number, step)


def _on_arrays(formula: Any) -> Any:
    """Return the formula as it was before it was compiled, for numbers."""
    return getattr(formula, "py_func", formula)
