"""Sides of a split through which nothing else can be seen.

A `View` leads to its whole collection, held-out judgements included. What a system is given is
therefore a view of a collection that has nothing but the side: documents and queries of the other
side are not in it, and the held-out side has no judgements at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.data.collection import Collection
from heldout.data.view import View
from heldout.resample.parts import PartDocuments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import Documents

    Weights = NDArray[np.int32]

__all__ = ["sealed"]


def sealed(view: View, *, judged: bool) -> View:
    """The same part as a view of a collection of its own.

    Parameters
    ----------
    view
        A side of a split.
    judged
        Whether it has its judgements (the train side), or none (the test side).
    """
    whole = view.collection
    documents, document_weights = _documents(whole.documents, view.document_weights)
    numbers = view.query_numbers()
    queries = whole.queries.take(numbers.tolist())
    query_weights = view.query_weights
    times = None if query_weights is None else query_weights[numbers]
    qrels = view.qrels if judged and len(view.qrels) else None
    side = Collection(documents, queries, qrels, name=whole.name)
    return View(side, document_weights, times)


def _documents(whole: Documents, weights: Weights | None) -> tuple[Documents, Weights | None]:
    """The documents of a side, each once, and how often each counts."""
    if weights is None:
        return whole, None
    present = weights > 0
    return PartDocuments(whole, present.astype(np.int32)), weights[present]
