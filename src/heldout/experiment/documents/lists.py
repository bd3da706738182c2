"""Ranked lists by document number: made from runs, merged, and searched for judged documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.retrieve.search import run_of_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.collection import Collection
    from heldout.data.run import Run
    from heldout.data.words import Flags, Floats, Ints
    from heldout.experiment.documents.rank_table import RankTable
    from heldout.measure.base import Measure
    from heldout.retrieve.kernels.types import Numbers

NONE = -1  # the list has ended
ABSENT = -2  # a document that the collection does not have; it still takes a place
TOP = 10  # documents of each ranked list kept for the report


class Lists(NamedTuple):
    """Ranked lists of all queries of a collection: queries × places."""

    documents: Numbers  # or `NONE`, or `ABSENT`
    scores: Floats  # −∞ where there is none

    def top(self, k: int) -> Lists:
        """Return the first `k` places."""
        return Lists(self.documents[:, :k].copy(), self.scores[:, :k].copy())


def lists_of_run(run: Run, collection: Collection, depth: int) -> Lists:
    """Return the first `depth` documents per query, without queries that the collection lacks."""
    numbers = {name: number for number, name in enumerate(collection.queries.ids)}
    asked = np.array([numbers.get(name, -1) for name in run.queries], np.int64)
    counts = np.where(asked >= 0, np.minimum(np.diff(run.offsets), depth), 0)
    places = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.repeat(run.offsets[:-1], counts) + places
    query = np.repeat(asked, counts)
    known = collection.documents.ids.find(run.docs.take(rows).tolist())
    width = int(counts.max(initial=0))
    documents = np.full((len(collection.queries), width), NONE, np.int32)
    scores = np.full(documents.shape, -np.inf)
    documents[query, places] = np.where(known >= 0, known, ABSENT)
    scores[query, places] = run.scores[rows]
    return Lists(documents, scores)


def as_run(lists: Lists, collection: Collection, name: str) -> Run:
    """Return ranked lists as a run."""
    ids, queries = collection.documents.ids, collection.queries.ids
    return run_of_lists(ids, queries, lists.documents, lists.scores, name)


def lists_of_documents(lists: Lists, kept: Flags) -> Lists:
    """Return lists with some of the documents only; the others do not take a place."""
    there = (lists.documents >= 0) & kept[np.maximum(lists.documents, 0)]
    counts = there.sum(axis=1)
    order = np.argsort(~there, axis=1, kind="stable")[:, : int(counts.max(initial=0))]
    documents = np.take_along_axis(lists.documents, order, axis=1)
    scores = np.take_along_axis(lists.scores, order, axis=1)
    filled = np.arange(order.shape[1]) < counts[:, None]
    return Lists(
        np.where(filled, documents, NONE).astype(np.int32), np.where(filled, scores, -np.inf)
    )


def lists_of_queries(lists: Lists, kept: Flags) -> Lists:
    """Return the lists of some queries; those of the others are empty."""
    documents = np.where(kept[:, None], lists.documents, NONE).astype(np.int32)
    return Lists(documents, np.where(kept[:, None], lists.scores, -np.inf))


def merged_lists(parts: Sequence[Lists], order: Numbers, k: int) -> Lists:
    """Merge lists by score into lists of `k` places; of ties, the greater in the `order` of ids."""
    documents = np.concatenate([part.documents for part in parts], axis=1)
    scores = np.concatenate([part.scores for part in parts], axis=1)
    there = documents >= 0
    ties = np.where(there, order[np.maximum(documents, 0)], -1)
    # Missing documents come last, also after a score of −∞.
    ranked = np.lexsort((-ties, -scores, ~there), axis=1)[:, :k]
    missing = ((0, 0), (0, k - ranked.shape[1]))
    return Lists(
        np.pad(np.take_along_axis(documents, ranked, axis=1), missing, constant_values=NONE),
        np.pad(np.take_along_axis(scores, ranked, axis=1), missing, constant_values=-np.inf),
    )


def id_order(collection: Collection) -> Numbers:
    """Return the rank of each document's id in byte order, which breaks ties."""
    ids = collection.documents.ids
    by_id = sorted(range(len(ids)), key=lambda number: ids[number].encode())
    order = np.empty(len(ids), np.int32)
    order[np.array(by_id, np.int64)] = np.arange(len(ids))
    return order


def ranks_in(table: RankTable, documents: Numbers) -> Ints:
    """Return the rank of each judged document in lists (queries × places); 0: it is not there."""
    most = int(max(documents.max(initial=0), table.documents.max(initial=0))) + 1
    query, place = np.nonzero(documents >= 0)
    listed = query.astype(np.int64) * most + documents[query, place]
    order = np.argsort(listed, kind="stable")
    wanted = table.queries.astype(np.int64) * most + table.documents
    if not len(order):
        return np.zeros(len(wanted), np.int64)
    nearest = order[np.minimum(np.searchsorted(listed[order], wanted), len(order) - 1)]
    return np.where(listed[nearest] == wanted, place[nearest] + 1, 0).astype(np.int64)


def measure_lists(
    table: RankTable, lists: Lists, counted: Flags, measures: Sequence[Measure], depth: int
) -> Floats:
    """Return measures × queries; NaN: the query has no relevant document that counts."""
    ranks = ranks_in(table, lists.documents)
    retrieved = (lists.documents != NONE).sum(axis=1)
    values: Floats = table.evaluate(ranks[:, None], counted, retrieved, measures, depth)[:, 0]
    return values
