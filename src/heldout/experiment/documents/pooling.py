"""Pooling: one ranking of all documents, each scored by the fold that holds it out.

Each fold scores its held-out documents with statistics and parameters of its training documents.
Merging all folds gives one ranking of the whole sample in which no document has influenced its own
score. Unlike the mean over folds, it ranks as many documents as the sample has, and no fold lacks
relevant documents. Scores of folds with different parameters are on different scales and are
aligned first (`alignment`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from heldout.experiment.documents.alignment import align_scores, merge_lists
from heldout.retrieve.sides import held_out_side, seen_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.experiment.documents.candidates import Candidates

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = ["Pooled", "pool"]


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """One ranking of all held-out documents.

    Parameters
    ----------
    ranks
        Of each judged document; 0: not retrieved, or not in the sample.
    retrieved
        Of each query.
    documents, scores
        Queries × k: the merged lists, scores on the scale of the reference setting.
    """

    ranks: NDArray[np.int64]
    retrieved: NDArray[np.int64]
    documents: Numbers
    scores: Floats


def pool(
    candidates: Candidates, folds: Numbers, chosen: Sequence[int], reference: int, k: int
) -> Pooled:
    """Merge the held-out documents of all folds into one ranking.

    Parameters
    ----------
    folds
        The fold of each document; −1: not in the sample.
    chosen
        The number of the setting of each fold.
    reference
        The setting on whose scale folds with different settings are merged.
    k
        Number of places of the merged lists to keep.
    """
    index, vocabulary = candidates.index, candidates.vocabulary
    number = len(chosen)
    if len({candidates.models[value] for value in chosen}) == 1:
        side = held_out_side(index, vocabulary, folds, number, pooled=True)
        deepest = max(k, candidates.depth)
        found = candidates.rank_chosen(side, chosen, k=k, depth=deepest)
        ranks = np.where(candidates.counted(side), found.ranks[:, 0], 0).astype(np.int64)
        lists = found.documents[:, 0, 0], found.scores[:, 0, 0]
        return Pooled(ranks, found.retrieved[:, 0], *lists)
    side = replace(held_out_side(index, vocabulary, folds, number), relative=True)
    depth = max(k, candidates.depth)
    found = candidates.rank_chosen(side, chosen, k=depth, judged=False, depth=depth)
    scores = _aligned(candidates, folds >= 0, found.scores[:, :, 0], chosen, reference)
    merged, kept = merge_lists(found.documents[:, :, 0], scores, np.asarray(index.id_order), depth)
    ranks = _ranks_in(candidates, merged)
    return Pooled(ranks, found.retrieved.sum(axis=1), merged[:, :k], kept[:, :k])


def _aligned(
    candidates: Candidates,
    sample: Flags,
    scores: Floats,
    chosen: Sequence[int],
    reference: int,
) -> Floats:
    """Return the scores of every fold (queries × folds × places) on the scale of the reference.

    The scales come from the documents of the sample alone: an estimate from the sample must not
    depend on anything else.
    """
    values = sorted({*chosen, reference})
    side = replace(seen_side(candidates.index, candidates.vocabulary, sample), relative=True)
    k = scores.shape[2]
    scale = candidates.rank(side, values, k=k, judged=False, depth=k).scores[:, 0]
    aligned = scores.copy()
    for fold, value in enumerate(chosen):
        if candidates.models[value] == candidates.models[reference]:
            continue
        own, other = values.index(value), values.index(reference)
        for query in range(len(scores)):
            aligned[query, fold] = align_scores(
                scores[query, fold], scale[query, own], scale[query, other]
            )
    return aligned


def _ranks_in(candidates: Candidates, lists: Numbers) -> NDArray[np.int64]:
    """Return the ranks of the judged documents in ranked lists (queries × k)."""
    table = candidates.table
    ranks = np.zeros(len(table), np.int64)
    for begin in range(0, len(table), 4096):
        part = slice(begin, begin + 4096)
        same = lists[table.queries[part]] == table.documents[part, None]
        ranks[part] = np.where(same.any(axis=1), same.argmax(axis=1) + 1, 0)
    return ranks
