"""One side of a split as a separate collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.data.collection import Collection
from heldout.data.documents import PartDocuments, copy_names
from heldout.data.qrels import Qrels, empty_qrels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import View
    from heldout.data.documents import Documents
    from heldout.data.words import Ints

    Weights = NDArray[np.int32]

__all__ = ["Part", "part_of"]


class Part(NamedTuple):
    """One side of a split as a collection, with the original ids.

    Parameters
    ----------
    collection
        The side.
    documents, queries
        The ids of its documents and queries in the whole collection.
    """

    collection: Collection
    documents: Sequence[str]
    queries: Sequence[str]


def part_of(view: View) -> Part:
    """Make a collection from a view."""
    whole, weights = view.collection, view.document_weights
    documents: Documents = whole.documents
    originals: Sequence[str] = whole.documents.ids
    if (weights != 1).any():
        documents = PartDocuments(whole.documents, weights)
        originals = [whole.documents.ids[at] for at in documents.numbers.tolist()]
    places = np.repeat(np.arange(len(whole.queries)), view.query_weights).tolist()
    asked = tuple(whole.queries.ids[place] for place in places)
    queries = whole.queries.take(places, copy_names(asked, set(whole.queries.ids)))
    drawn = max(weights.max(initial=0), view.query_weights.max(initial=0)) > 1
    qrels = _judged_copies(view, documents.ids, queries.ids) if drawn else view.qrels
    side = Collection(documents, queries, qrels if len(qrels) else None, name=whole.name)
    return Part(side, originals, asked)


def _judged_copies(view: View, documents: Sequence[str], queries: Sequence[str]) -> Qrels:
    """Return the judgements of repeated documents or queries: each copy has all of them."""
    rows = view.collection.judgements
    query, asked = _copies(view.query_weights, rows.queries)
    document, found = _copies(view.document_weights, rows.documents)
    pairs = asked * found
    row = np.repeat(np.arange(len(rows)), pairs)
    if not len(row):
        return empty_qrels()
    turn = np.arange(len(row)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    mine = (query[row] + turn // found[row]).tolist()
    others = (document[row] + turn % found[row]).tolist()
    columns = {
        "query": [queries[at] for at in mine],
        "doc": [documents[at] for at in others],
        "grade": rows.grades[row].tolist(),
    }
    return Qrels.of(columns)


def _copies(weights: Weights, units: Ints) -> tuple[Ints, Ints]:
    """Return the first position and the number of copies of the unit of each judgement."""
    times = weights.astype(np.int64)
    return (np.cumsum(times) - times)[units], times[units]
