"""Pooling: one ranking of all documents, each scored by the fold that holds it out.

Each fold scores its held-out documents with statistics and parameters of its training documents.
Merging all folds gives one ranking of the whole sample in which no document has influenced its own
score. Unlike the mean over folds, it ranks as many documents as the sample has, and no fold lacks
relevant documents.

Folds that chose different parameters have scores on different scales, which are aligned first. A
BM25 score under k1 = 2 is larger than under k1 = 1: if scores were merged as they are, folds that
chose the larger value would take all top ranks. Scores are therefore mapped, query by query, to the
scale of a reference setting. All documents of the sample are ranked under the setting of the fold
and under the reference setting; the score at a rank of the first list becomes the score at the same
rank of the second, with linear interpolation in between.

The map never falls, so that within a fold no document passes another (two of them may tie, where
the reference setting has ties), and it is the identity if the fold chose the reference setting. It
is the same for all documents of a fold, so a held-out document gains nothing from being in the
sample by which the scales are compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.experiment.documents.lists import Lists, lists_of_documents, merged_lists, ranks_in
from heldout.retrieve.sides import held_out_side, seen_side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.words import Floats, Ints
    from heldout.experiment.documents.candidates import Candidates
    from heldout.retrieve.kernels.types import Numbers

_TOP = 20  # places at the end of a list from which the map is extrapolated beyond it
_ROUNDING = 1e-9
"""Scores with a smaller relative difference are equal: rounding errors have no slope."""


def pool(
    candidates: Candidates, folds: Numbers, chosen: Sequence[int], reference: int, k: int
) -> Lists:
    """Merge the held-out documents of all folds, each by its chosen setting, into one ranking."""
    index, vocabulary, models = candidates.index, candidates.vocabulary, candidates.models
    if _alike(candidates, chosen):
        side = held_out_side(index, vocabulary, folds, len(chosen), pooled=True)
        (pooled,) = candidates.lists(side, chosen, k, by_fold=True)
        return pooled
    side = replace(held_out_side(index, vocabulary, folds, len(chosen)), relative=True)
    depth = max(k, candidates.depth)
    parts = candidates.lists(side, chosen, depth, by_fold=True)
    # The scales come from the documents of the sample alone: an estimate from the sample must not
    # depend on anything else.
    numbers = sorted({*chosen, reference})
    sample = replace(seen_side(index, vocabulary, folds >= 0), relative=True)
    ranked = candidates.lists(sample, numbers, depth)
    scales = {models[number]: own.scores for number, own in zip(numbers, ranked, strict=True)}
    own = [models[number] for number in chosen]
    return _merged(parts, own, models[reference], scales, np.asarray(index.id_order), k)


def pooled_ranks(
    candidates: Candidates, folds: Numbers, chosen: Sequence[int], pooled: Lists
) -> Ints:
    """Return the rank of each judged document; 0: not retrieved, or not in the sample."""
    if not _alike(candidates, chosen):
        return ranks_in(candidates.table, pooled.documents)
    # If all folds chose the same, ranks below the end of the pooled lists are known, too.
    index, vocabulary = candidates.index, candidates.vocabulary
    side = held_out_side(index, vocabulary, folds, len(chosen), pooled=True)
    depth = max(pooled.documents.shape[1], candidates.depth)
    ranks = candidates.rank(side, chosen, by_fold=True, depth=depth).ranks[:, 0]
    return np.where(candidates.counted(side), ranks, 0).astype(np.int64)


def _alike(candidates: Candidates, chosen: Sequence[int]) -> bool:
    """Return whether all folds chose the same model."""
    return len({candidates.models[number] for number in chosen}) == 1


def pool_points(
    lists: Mapping[int, Lists],
    chosen: Sequence[int],
    reference: int,
    folds: Numbers,
    order: Numbers,
    depth: int,
) -> Lists:
    """Merge the documents of all folds, whose scores depend on the point alone: runs, fusions."""
    if len(set(chosen)) == 1:
        return lists[chosen[0]]
    parts = [lists_of_documents(lists[point], folds == fold) for fold, point in enumerate(chosen)]
    scales = {point: ranked.scores for point, ranked in lists.items()}
    merged = _merged(parts, chosen, reference, scales, order, depth)
    return lists_of_documents(merged, folds >= 0)  # no empty places


def _merged(
    parts: Sequence[Lists],
    chosen: Sequence[Any],
    reference: Any,
    scales: Mapping[Any, Floats],
    order: Numbers,
    k: int,
) -> Lists:
    """Merge the lists of all folds, with the scores of each query on the scale of the reference."""
    aligned = []
    for part, own in zip(parts, chosen, strict=True):
        scores = part.scores
        if own != reference:
            rows = zip(scores, scales[own], scales[reference], strict=True)
            scores = np.stack([align_scores(*row) for row in rows])
        aligned.append(Lists(part.documents, scores))
    return merged_lists(aligned, order, k)


def align_scores(scores: Floats, own: Floats, reference: Floats) -> Floats:
    """Map scores of one query from their own scale to that of a reference.

    The scales are scores of the same documents under both settings, each in descending order; if
    one list is longer, its end is not used.

    >>> own, reference = np.array([8.0, 4.0, 2.0]), np.array([4.0, 2.0, 1.0])
    >>> align_scores(np.array([4.0, 3.0, 9.0]), own, reference)
    array([2. , 1.5, 4.5])
    """
    places = min(len(own), len(reference))
    own, reference = own[:places], reference[:places]
    finite = np.isfinite(own) & np.isfinite(reference)
    own, reference = own[finite], reference[finite]
    if not len(own):
        return scores
    mapped = np.interp(scores, own[::-1], reference[::-1])
    above = np.isfinite(scores) & (scores > own[0])
    below = np.isfinite(scores) & (scores < own[-1])
    mapped[above] = reference[0] + (scores[above] - own[0]) * _slope(own[:_TOP], reference[:_TOP])
    mapped[below] = reference[-1] + (scores[below] - own[-1]) * _slope(
        own[-_TOP:], reference[-_TOP:]
    )
    mapped[np.isneginf(scores)] = -np.inf
    return mapped


def _slope(own: Floats, reference: Floats) -> float:
    """Return the slope beyond the end of a list: that of the last places."""
    spread = float(own[0] - own[-1])
    if spread <= _ROUNDING * float(np.abs(own).max()):
        return 1.0
    return float(reference[0] - reference[-1]) / spread
