"""Scores of folds that chose different parameter values, brought to one scale.

A BM25 score under k1 = 2 is larger than under k1 = 1: merged as they are, the folds that chose the
larger value would win every place. So scores are mapped, query by query, to the scale of a
reference value: the score that stands at some place among all documents of the sample under the
fold's value becomes the one that stands at this place under the reference value, straight lines in
between. The map is the same for every document of a fold, rises, and is the identity where the fold
chose the reference value, so that nothing of what a held-out document earned is lost or leaked.
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
"""Places from the end of the list by which a map goes on beyond it."""
_ROUNDING = 1e-9
"""Scores that differ by a smaller share are equal: a difference of rounding has no slope."""


def _slope(own: Floats, reference: Floats) -> float:
    """How the map goes on where a list ends: as it went over the last places."""
    spread = float(own[0] - own[-1])
    if spread <= _ROUNDING * float(np.abs(own).max()):
        return 1.0
    return float(reference[0] - reference[-1]) / spread


def align_scores(scores: Floats, own: Floats, reference: Floats) -> Floats:
    """Map scores of one query from one scale to another.

    Parameters
    ----------
    scores
        What is mapped.
    own, reference
        Scores of the same documents under the two values, each in falling order.

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
        Place of each document's id: ties are broken by it, the greater first.
    k
        How many places the merged lists have.

    Returns
    -------
    tuple
        Documents and scores, queries × k.
    """
    flat, values = documents.reshape(len(documents), -1), scores.reshape(len(scores), -1)
    there = flat >= 0
    ties = np.where(there, order[np.maximum(flat, 0)], -1)
    # Documents that are not there come last, also behind a score of −∞.
    ranked = np.lexsort((-ties, -values, ~there), axis=1)[:, :k]
    merged = np.take_along_axis(flat, ranked, axis=1)
    kept = np.take_along_axis(values, ranked, axis=1)
    missing = k - merged.shape[1]
    if missing > 0:
        merged = np.pad(merged, ((0, 0), (0, missing)), constant_values=-1)
        kept = np.pad(kept, ((0, 0), (0, missing)), constant_values=-np.inf)
    return merged, kept
