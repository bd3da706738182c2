"""Merge pairs of ranked lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.compiled import kernel
from heldout.retrieve.kernels.lists import better

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.kernels.scoring import Floats

    Numbers = NDArray[np.int32]

__all__ = ["merge"]


@kernel
def merge(
    documents: Numbers,
    scores: Floats,
    order: Numbers,
    new_documents: Numbers,
    new_scores: Floats,
    new_order: Numbers,
) -> None:
    """Merge new lists (lists × k, the best first) into existing ones.

    Positions without a document have order −1 and score −∞, so that they sort last.
    """
    lists, k = documents.shape
    kept_documents = np.empty(k, np.int32)
    kept_scores = np.empty(k)
    kept_order = np.empty(k, np.int32)
    for row in range(lists):
        i, j = 0, 0
        for at in range(k):
            if better(new_scores[row, j], new_order[row, j], scores[row, i], order[row, i]):
                kept_documents[at] = new_documents[row, j]
                kept_scores[at] = new_scores[row, j]
                kept_order[at] = new_order[row, j]
                j += 1
            else:
                kept_documents[at] = documents[row, i]
                kept_scores[at] = scores[row, i]
                kept_order[at] = order[row, i]
                i += 1
        for at in range(k):
            documents[row, at] = kept_documents[at]
            scores[row, at] = kept_scores[at]
            order[row, at] = kept_order[at]
