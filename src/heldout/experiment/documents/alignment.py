"""Alignment: bring scores of folds that chose different parameters to one scale.

A BM25 score under k1 = 2 is larger than under k1 = 1. If scores were merged as they are, folds that
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

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heldout.data.words import Floats

_TOP = 20
"""Places at the end of a list from which the map is extrapolated beyond it."""
_ROUNDING = 1e-9
"""Scores with a smaller relative difference are equal: rounding errors have no slope."""


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
