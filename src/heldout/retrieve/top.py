"""The top of ranked lists for all queries, lists and parameter settings, by bounds.

Used where ranks below some depth do not matter. Sums over terms have bounds; likelihoods and priors
do not, and are ranked by `heldout.retrieve.rank`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.compiled import announce
from heldout.data.parallel import run_stretches
from heldout.retrieve.models import FRACTION, FRACTION_SHIFTED, coefficients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index
    from heldout.retrieve.kernels.top import Collection, Filter, Rules, Work
    from heldout.retrieve.models import Model
    from heldout.retrieve.rank import JudgedDocuments, Ranking
    from heldout.retrieve.sides import Side
    from heldout.retrieve.statistics import Vocabulary

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = ["TopLists", "rank_by_bounds", "rank_top"]

_CELLS: Final = 128
"""Lengths that bounds tell apart."""
_LENGTHS: Final = 1 << 16
_CHUNK: Final = 1 << 24
_SCORE: Final = 60
"""Scoring a document costs, for each term, as much as reading this many postings."""


class TopLists(NamedTuple):
    """The best documents: queries × lists × settings × k, and how many they are."""

    documents: Numbers
    scores: Floats
    sizes: NDArray[np.int64]


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
    from heldout.retrieve.rank import LANES, Ranking

    longest = max(k, min(depth, index.n_documents), 1)
    weights = models[0][0].term_weights(side.terms, int(side.added))
    if not _can_bound(index, models, weights) or not _pays(
        index, vocabulary, len(models[0]), side.n_lists, longest
    ):
        return None
    own = [
        rank_top(
            index, vocabulary, [one[begin : begin + LANES] for one in models], side, weights,
            longest,
        )
        for begin in range(0, len(models[0]), LANES)
    ]  # fmt: skip
    documents = np.concatenate([one.documents for one in own], axis=2)
    scores = np.concatenate([one.scores for one in own], axis=2)
    ranks = _ranks_in(documents, side, judged)
    retrieved = np.minimum(own[0].sizes[:, :, 0], longest)
    return Ranking(documents[..., :k], scores[..., :k], ranks, retrieved)


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


def _can_bound(index: Index, models: Sequence[Sequence[Model]], weights: Floats) -> bool:
    """Return whether scores rise with counts and fall with lengths."""
    if models[0][0].form.kind not in {FRACTION, FRACTION_SHIFTED}:
        return False
    return index.length_codes() is not None and bool(weights.min(initial=0.0) >= 0)


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


def rank_top(
    index: Index,
    vocabulary: Vocabulary,
    models: Sequence[Sequence[Model]],
    side: Side,
    weights: Floats,
    k: int,
) -> TopLists:
    """Return the top k of the lists.

    Parameters
    ----------
    weights
        Terms × training sets: the weights of the terms.
    """
    from heldout.retrieve.kernels.scoring import Queries
    from heldout.retrieve.kernels.top import Collection
    from heldout.retrieve.kernels.top import rank_top as compiled
    from heldout.retrieve.kernels.windows import SATURATED

    announce("the ranker", compiled)
    first, count, number = models[0][0], len(vocabulary.offsets) - 1, len(models[0])
    coded = index.length_codes()
    assert coded is not None  # noqa: S101 - `_can_bound`
    codes, lengths = coded
    statistics = np.array(side.statistics, np.int32, order="C")
    collection = Collection(
        statistics, np.array(side.lists, np.int32, order="C"), codes, np.asarray(index.id_order)
    )
    queries = Queries(vocabulary.offsets, vocabulary.places, first.query_weights(vocabulary.counts))
    postings, windows = vocabulary.postings(index), vocabulary.windows(index)
    most = int(windows.most.max(initial=0))
    if most == SATURATED:
        most = int(np.max(index.counts))
    rules = _rules(models, side, weights, lengths, most)
    bounds = _filter(rules, collection, lengths, len(models))
    scores = np.full((count, side.n_lists, number, k), -np.inf)
    documents = np.full(scores.shape, -1, np.int32)
    sizes = np.zeros(scores.shape[:3], np.int64)
    longest, width = int(np.diff(vocabulary.offsets).max(initial=1)), 1 << windows.bits

    def rank_some(some: tuple[int, int]) -> None:
        work = _work(longest, width, bounds, side.n_lists)
        compiled(
            *some, postings, queries, windows, collection, rules, bounds, work,
            scores, documents, sizes,
        )  # fmt: skip

    run_stretches(rank_some, count)
    return TopLists(documents, scores, sizes)


def _rules(
    models: Sequence[Sequence[Model]],
    side: Side,
    weights: Floats,
    lengths: Numbers,
    most: int,
) -> Rules:
    """Return the scoring rules, with lanes padded so that vectors are always full."""
    from heldout.retrieve.kernels.top import COUNTS, Rules
    from heldout.retrieve.rank import _padded as padded

    first = models[0][0]
    values = np.stack([coefficients(own) for own in models])
    values = np.broadcast_to(values, (len(side.terms), *values.shape[1:]))
    # As `document_ratios` has them.
    total = side.terms.length[:, None] + int(side.added) * lengths
    ratios = np.zeros(total.shape)
    size = side.terms.documents[:, None] + int(side.added)
    np.divide(lengths * size, total, out=ratios, where=total > 0)
    table = first.form.count(np.arange(max(most, COUNTS) + 1, dtype=np.float64))
    return Rules(first.form.kind, np.array(weights, order="C"), padded(values), table, ratios)


def _filter(rules: Rules, collection: Collection, lengths: Numbers, groups: int) -> Filter:
    """Return the bounds of what a count adds: the most over all lengths of a cell."""
    from heldout.retrieve.kernels.top import COUNTS, Filter

    longest = max(int(lengths.max(initial=1)), 2)
    edges = np.unique(np.geomspace(1, longest, _CELLS).astype(np.int64))
    cell_of = np.maximum(np.searchsorted(edges, np.arange(_LENGTHS), "right") - 1, 0)
    of_code = np.maximum(np.searchsorted(edges, lengths, "right") - 1, 0)
    step = len(edges)
    # The shortest document of a cell (or of the next that has any) has the highest score there.
    empty = int(lengths[0] == 0) if len(lengths) > 1 else 0  # no term is in an empty document
    shortest = empty + np.searchsorted(of_code[empty:], np.arange(step))
    ratios = rules.ratios[:, np.minimum(shortest, len(lengths) - 1)]
    counts = np.arange(COUNTS, dtype=np.float64)
    counts[-1] = len(rules.table) - 1
    sets = len(rules.ratios)
    number = sets if groups > 1 and sets * step < _LENGTHS else 1
    group = np.arange(sets) % number
    curves = np.zeros((COUNTS, number * step, rules.values.shape[2]), np.float32)
    for s in range(sets):
        own = curves[:, group[s] * step : (group[s] + 1) * step]
        heights = _heights(rules, s, counts, ratios[s]) * (1 + 1e-6)
        np.maximum(own, heights, out=own, casting="same_kind")
    cells = of_code.astype(np.uint16)[collection.codes]
    if number > 1:
        place = np.maximum(collection.statistics, 0)
        cells += (group * step).astype(np.uint16)[place]
    return Filter(cells, curves, rules.weights.max(axis=1), cell_of.astype(np.uint16), number, step)


def _heights(rules: Rules, s: int, counts: Floats, ratios: Floats) -> Floats:
    """Return what a weight of 1 adds under one set of statistics: counts × ratios × lanes."""
    values, r = rules.values[s], ratios[None, :, None]
    with np.errstate(invalid="ignore", divide="ignore"):  # a count of 0 is never asked for
        if rules.kind == FRACTION:
            x = counts[:, None, None]
            found = values[0] * x / (x + (values[1] + values[2] * r))
        else:
            x = rules.table[counts.astype(int)][:, None, None]
            above = values[0] * x + values[3] + values[4] * r
            found = above / (values[5] * x + values[1] + values[2] * r) + values[6]
    bounded: Floats = np.nan_to_num(found, posinf=1e30)
    return bounded


def _work(longest: int, width: int, bounds: Filter, lists: int) -> Work:
    from heldout.retrieve.kernels.top import Work
    from heldout.retrieve.kernels.windows import new_lists

    counts, cells, lanes = bounds.curves.shape
    return Work(
        new_lists(longest),
        np.empty(longest, np.int64),
        np.full(width, -1e30, np.float32),
        np.empty(width + 1, np.uint32),
        np.empty((counts, cells), np.float32),
        np.empty(lanes),
        np.empty((lists, lanes)),
        np.empty(lists),
        np.empty(lanes),
    )
