"""Pooling: one ranking of all documents, each scored by the fold that holds it out.

Each fold scores its held-out documents with statistics and parameters of its training documents.
Merging all folds gives one ranking of the whole sample in which no document has influenced its own
score. Unlike the mean over folds, it ranks as many documents as the sample has, and no fold lacks
relevant documents. Scores of folds with different parameters are on different scales and are
aligned first (`alignment`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heldout.experiment.documents.alignment import align_scores
from heldout.experiment.documents.lists import Lists, lists_of_documents, merged_lists, ranks_in
from heldout.retrieve.sides import held_out_side, seen_side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.words import Floats, Ints
    from heldout.experiment.documents.candidates import Candidates
    from heldout.retrieve.kernels.types import Numbers


def pool(
    candidates: Candidates, folds: Numbers, chosen: Sequence[int], reference: int, k: int
) -> Lists:
    """Merge the held-out documents of all folds into one ranking of `k` places.

    `folds` has the fold of each document (−1: not in the sample), `chosen` the number of the
    setting of each fold. Folds with different settings are merged on the scale of the `reference`.
    """
    index, vocabulary, models = candidates.index, candidates.vocabulary, candidates.models
    depth = max(k, candidates.depth)
    if _alike(candidates, chosen):
        side = held_out_side(index, vocabulary, folds, len(chosen), pooled=True)
        ranking = candidates.rank(side, chosen, by_fold=True, k=k, judged=False, depth=depth)
        return Lists(ranking.documents[:, 0, 0], ranking.scores[:, 0, 0])
    side = replace(held_out_side(index, vocabulary, folds, len(chosen)), relative=True)
    ranking = candidates.rank(side, chosen, by_fold=True, k=depth, judged=False, depth=depth)
    # The scales come from the documents of the sample alone: an estimate from the sample must not
    # depend on anything else.
    numbers = sorted({*chosen, reference})
    sample = replace(seen_side(index, vocabulary, folds >= 0), relative=True)
    ranked = candidates.rank(sample, numbers, k=depth, judged=False, depth=depth)
    scales = {number: ranked.scores[:, 0, row] for row, number in enumerate(numbers)}
    parts = []
    for fold, number in enumerate(chosen):
        part = Lists(ranking.documents[:, fold, 0], ranking.scores[:, fold, 0])
        if models[number] != models[reference]:
            part = _aligned(part, scales[number], scales[reference])
        parts.append(part)
    return merged_lists(parts, np.asarray(index.id_order), k)


def pooled_ranks(
    candidates: Candidates, folds: Numbers, chosen: Sequence[int], pooled: Lists
) -> Ints:
    """Return the rank of each judged document; 0: not retrieved, or not in the sample.

    If all folds chose the same, ranks below the end of the pooled lists are known, too.
    """
    if not _alike(candidates, chosen):
        return ranks_in(candidates.table, pooled.documents)
    index, vocabulary = candidates.index, candidates.vocabulary
    side = held_out_side(index, vocabulary, folds, len(chosen), pooled=True)
    depth = max(pooled.documents.shape[1], candidates.depth)
    ranks = candidates.rank(side, chosen, by_fold=True, depth=depth).ranks[:, 0]
    return np.where(candidates.counted(side), ranks, 0).astype(np.int64)


def _alike(candidates: Candidates, chosen: Sequence[int]) -> bool:
    """Return whether all folds chose the same model."""
    return len({candidates.models[number] for number in chosen}) == 1


def _aligned(lists: Lists, own: Floats, reference: Floats) -> Lists:
    """Return lists with the scores of every query mapped from their own scale to the reference."""
    rows = zip(lists.scores, own, reference, strict=True)
    return Lists(lists.documents, np.stack([align_scores(*row) for row in rows]))


def pool_points(
    lists: Mapping[int, Lists],
    chosen: Sequence[int],
    reference: int,
    folds: Numbers,
    order: Numbers,
    depth: int,
) -> Lists:
    """Merge the documents of all folds, each as its own point ranks it among all documents.

    For systems whose scores do not depend on the fold: runs, and fusions of pooled rankings.
    `lists` rank all documents, at each point that was `chosen` by a fold and at the `reference`, on
    whose scale they are merged; the `order` of ids breaks ties.
    """
    if len(set(chosen)) == 1:
        return lists_of_documents(lists[chosen[0]], folds >= 0)
    parts = []
    for fold, point in enumerate(chosen):
        part = lists_of_documents(lists[point], folds == fold)
        if point != reference:
            part = _aligned(part, lists[point].scores, lists[reference].scores)
        parts.append(part)
    return lists_of_documents(merged_lists(parts, order, depth), folds >= 0)  # no empty places
