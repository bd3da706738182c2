"""Ranked lists by document number: made from runs, and searched for judged documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.data.run import Run
    from heldout.experiment.documents.rank_table import RankTable
    from heldout.measure.base import Measure

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = [
    "ABSENT",
    "NONE",
    "TOP",
    "Lists",
    "lists_of_run",
    "measure_lists",
    "padded_lists",
    "ranks_in",
]

NONE = -1
"""The list has ended."""
ABSENT = -2
"""A document that the collection does not have; it still takes a place."""
TOP = 10
"""Documents of each ranked list kept for the report."""


class Lists(NamedTuple):
    """Ranked lists of all queries of a collection.

    Parameters
    ----------
    documents
        Queries × places: numbers of documents, `NONE` or `ABSENT`.
    scores
        Their scores; −∞ where there is none.
    """

    documents: NDArray[np.int32]
    scores: Floats

    def top(self, k: int) -> Lists:
        """Return the first `k` places."""
        return Lists(self.documents[:, :k].copy(), self.scores[:, :k].copy())


def lists_of_run(run: Run, collection: Collection, depth: int) -> Lists:
    """Return the first `depth` documents per query, without queries that the collection lacks."""
    counts = np.minimum(np.diff(run.offsets), depth)
    numbers = {one: at for at, one in enumerate(collection.queries.ids)}
    asked = np.array([numbers.get(one, -1) for one in run.queries], np.int64)
    counts = np.where(asked >= 0, counts, 0)
    places = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.repeat(run.offsets[:-1], counts) + places
    query = np.repeat(asked, counts)
    found = collection.documents.ids.find(run.docs.take(rows).tolist())
    width = int(counts.max(initial=0))
    documents = np.full((len(collection.queries), width), NONE, np.int32)
    scores = np.full(documents.shape, -np.inf)
    documents[query, places] = np.where(found >= 0, found, ABSENT)
    scores[query, places] = run.scores[rows]
    return Lists(documents, scores)


def padded_lists(lists: Lists, places: int) -> Lists:
    """Fill lists up to some places, so that they can be stacked."""
    missing = ((0, 0), (0, places - lists.documents.shape[1]))
    documents = np.pad(lists.documents, missing, constant_values=NONE)
    return Lists(documents, np.pad(lists.scores, missing, constant_values=-np.inf))


def ranks_in(table: RankTable, documents: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the rank of each judged document in lists (queries × places); 0: it is not there."""
    most = int(max(documents.max(initial=0), table.documents.max(initial=0))) + 1
    query, place = np.nonzero(documents >= 0)
    listed = query.astype(np.int64) * most + documents[query, place]
    order = np.argsort(listed, kind="stable")
    wanted = table.queries.astype(np.int64) * most + table.documents
    if not len(order):
        return np.zeros(len(wanted), np.int64)
    at = np.minimum(np.searchsorted(listed[order], wanted), len(order) - 1)
    hit = order[at]
    return np.where(listed[hit] == wanted, place[hit] + 1, 0).astype(np.int64)


def measure_lists(
    table: RankTable,
    lists: Lists,
    counted: Flags,
    measures: Sequence[Measure],
    depth: int,
) -> Floats:
    """Return measures × queries; NaN: the query has no relevant document that counts.

    Parameters
    ----------
    counted
        Which judgements count: those of the queries and documents that were ranked.
    """
    ranks = ranks_in(table, lists.documents)
    retrieved = (lists.documents != NONE).sum(axis=1)
    found: Floats = table.evaluate(ranks[:, None], counted, retrieved, measures, depth)[:, 0]
    return found
