"""Alignment: bring scores of folds that chose different parameters to one scale, and merge them.

A BM25 score under k1 = 2 is larger than under k1 = 1. If scores were merged as they are, folds that
chose the larger value would take all top ranks. Scores are therefore mapped, query by query, to the
scale of a reference setting. All documents of the sample are ranked under the setting of the fold
and under the reference setting; the score at a rank of the first list becomes the score at the same
rank of the second, with linear interpolation in between.

The map is increasing, so it changes no order within a fold, and it is the identity if the fold
chose the reference setting. It is the same for all documents of a fold, so a held-out document
gains nothing from being in the sample by which the scales are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = ["align_scores", "merge_lists"]

_TOP = 20
"""Places at the end of a list from which the map is extrapolated beyond it."""
_ROUNDING = 1e-9
"""Scores with a smaller relative difference are equal: rounding errors have no slope."""


def _slope(own: Floats, reference: Floats) -> float:
    """Return the slope beyond the end of a list: that of the last places."""
    spread = float(own[0] - own[-1])
    if spread <= _ROUNDING * float(np.abs(own).max()):
        return 1.0
    return float(reference[0] - reference[-1]) / spread


def align_scores(scores: Floats, own: Floats, reference: Floats) -> Floats:
    """Map scores of one query from one scale to another.

    Parameters
    ----------
    scores
        The scores to map.
    own, reference
        Scores of the same documents under the two settings, each in descending order.

    Examples
    --------
    >>> own, reference = np.array([8.0, 4.0, 2.0]), np.array([4.0, 2.0, 1.0])
    >>> align_scores(np.array([4.0, 3.0, 9.0]), own, reference)
    array([2. , 1.5, 4.5])
    """
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


def merge_lists(
    documents: Numbers, scores: Floats, order: Numbers, k: int
) -> tuple[Numbers, Floats]:
    """Merge the lists of a query's folds into one.

    Parameters
    ----------
    documents, scores
        Queries × folds × places; −1: the list has ended.
    order
        Rank of each document's id, which breaks ties: the greater first.
    k
        Number of places of the merged lists.

    Returns
    -------
    tuple
        Documents and scores, queries × k.
    """
    flat, values = documents.reshape(len(documents), -1), scores.reshape(len(scores), -1)
    there = flat >= 0
    ties = np.where(there, order[np.maximum(flat, 0)], -1)
    # Missing documents come last, also after a score of −∞.
    ranked = np.lexsort((-ties, -values, ~there), axis=1)[:, :k]
    merged = np.take_along_axis(flat, ranked, axis=1)
    kept = np.take_along_axis(values, ranked, axis=1)
    missing = k - merged.shape[1]
    if missing > 0:
        merged = np.pad(merged, ((0, 0), (0, missing)), constant_values=-1)
        kept = np.pad(kept, ((0, 0), (0, missing)), constant_values=-np.inf)
    return merged, kept
