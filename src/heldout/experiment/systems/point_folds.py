"""Document folds of systems whose ranked lists are given or fused: runs, and fusions.

Each fold chooses a point on the ranking of its training documents. The held-out documents of all
folds make one ranking in which each document has the score of the point that its fold chose; scores
of different points are aligned first (`documents.alignment`). The ranking is as long as the one of
the whole sample, so normalised scores and ranks mean the same in it as in a new collection of that
size, and no judgement of a document has influenced its own score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from heldout.experiment.documents.alignment import align_scores, merge_lists
from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.make_estimates import document_estimates
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.ranked_lists import NONE, Lists, lists_of_run, measure_lists
from heldout.experiment.systems.model_records import FoldsRecord
from heldout.experiment.systems.model_schemes import choose_point
from heldout.retrieve.search import run_of_lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.data.run import Run
    from heldout.experiment.settings import RankingSettings

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = [
    "FoldedRuns",
    "PointLists",
    "RunPoints",
    "as_run",
    "id_order",
    "lists_of_documents",
    "perform_folds",
    "pool_points",
]


class FoldedRuns(NamedTuple):
    """The rankings of a system under the document folds of one repeat.

    Parameters
    ----------
    training
        For each fold, of its training documents.
    pooled
        Of all documents, each with the score that it has when its fold is held out.
    whole
        Of all documents, none of them held out.
    """

    training: tuple[Run, ...]
    pooled: Run
    whole: Run


class PointLists(Protocol):
    """What a system ranks at each of its points."""

    def training(self, fold: int, counted: Flags) -> Floats:
        """Return points × queries by the tuning measure, on the training documents of a fold."""

    def whole(self, counted: Flags) -> Floats:
        """Return measures × points × queries on all documents, the tuning measure last."""

    def pooled(self, points: Iterable[int]) -> dict[int, Lists]:
        """Return the lists of all held-out documents at some points."""


def perform_folds(
    settings: RankingSettings, folds: Numbers, points: PointLists, count: int
) -> FoldsRecord:
    """Choose a point in each fold, merge the held-out documents of all, and evaluate them.

    Parameters
    ----------
    folds
        The fold of each document; −1: not in the sample.
    count
        The number of points.
    """
    table, sample = RankTable.of(settings.collection), folds >= 0
    number, of_judgement = int(folds.max()) + 1, folds[table.documents]
    whole = points.whole(of_judgement >= 0)
    surface, final_surface = np.full((number, 1), np.nan), np.full(1, np.nan)
    chosen, final = (0,) * number, 0
    if count > 1:
        choices = [
            choose_point(
                settings, points.training(fold, (of_judgement >= 0) & (of_judgement != fold))
            )
            for fold in range(number)
        ]
        last = choose_point(settings, whole[-1])
        chosen, final = tuple(int(one.number) for one in choices), int(last.number)
        surface, final_surface = np.stack([one.means for one in choices]), last.means
    depth = settings.depth
    lists = pool_points(
        points.pooled({*chosen, final}), chosen, final, folds, id_order(settings.collection), depth
    )
    values = measure_lists(table, lists, of_judgement >= 0, settings.measures, depth)
    scores = [
        measure_lists(
            table,
            lists_of_documents(lists, folds == fold),
            of_judgement == fold,
            [settings.tune_for],
            depth,
        )
        for fold in range(number)
    ]
    training, top = whole[:-1, final], lists.top(settings.kept)
    return FoldsRecord(
        chosen=chosen,
        surface=surface,
        final=final,
        final_surface=final_surface,
        fold_scores=np.array([mean_of(one[0]) for one in scores]),
        values=values,
        train_values=training,
        estimates=document_estimates(settings, table, lists.documents, sample, values, training),
        documents=top.documents,
        scores=top.scores,
    )


def pool_points(
    lists: Mapping[int, Lists],
    chosen: Sequence[int],
    reference: int,
    folds: Numbers,
    order: Numbers,
    depth: int,
) -> Lists:
    """Merge the documents of all folds, each as its own point ranks it among all documents.

    Parameters
    ----------
    lists
        All documents, at each point that was chosen and at the reference.
    chosen, reference
        The point of each fold, and the one to whose scale scores are mapped.
    order
        Of ids, which breaks ties.
    """
    if len(set(chosen)) == 1:
        return lists_of_documents(lists[chosen[0]], folds >= 0)
    parts = []
    for fold, point in enumerate(chosen):
        own = lists_of_documents(lists[point], folds == fold)
        if point != reference:
            pairs = zip(own.scores, lists[point].scores, lists[reference].scores, strict=True)
            own = Lists(own.documents, np.stack([_aligned(*one) for one in pairs]))
        parts.append(own)
    documents = np.concatenate([one.documents for one in parts], axis=1)
    scores = np.concatenate([one.scores for one in parts], axis=1)
    merged = Lists(*merge_lists(documents[:, None], scores[:, None], order, depth))
    return lists_of_documents(merged, folds >= 0)  # without empty places


def _aligned(scores: Floats, own: Floats, reference: Floats) -> Floats:
    """Map scores to another scale; a list may be longer than the other."""
    places = min(len(own), len(reference))
    return align_scores(scores, own[:places], reference[:places])


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


def as_run(lists: Lists, collection: Collection, name: str) -> Run:
    """Return ranked lists as a run."""
    ids, queries = collection.documents.ids, collection.queries.ids
    return run_of_lists(ids, queries, lists.documents, lists.scores, name)


def id_order(collection: Collection) -> Numbers:
    """Return the rank of each document's id in byte order, which breaks ties."""
    ids = collection.documents.ids
    by_id = sorted(range(len(ids)), key=lambda at: ids[at].encode())
    order = np.empty(len(ids), np.int32)
    order[np.array(by_id, np.int64)] = np.arange(len(ids))
    return order


class RunPoints:
    """Runs, one per point; the score of a document does not depend on the fold.

    Parameters
    ----------
    runs
        One per point.
    folds
        The fold of each document; −1: not in the sample.
    """

    def __init__(self, settings: RankingSettings, runs: Iterable[Run], folds: Numbers) -> None:
        self._settings, self._folds = settings, folds
        depth, collection = settings.depth, settings.collection
        self._lists = [
            lists_of_documents(lists_of_run(run, collection, depth), folds >= 0) for run in runs
        ]
        self._table = RankTable.of(collection)

    def training(self, fold: int, counted: Flags) -> Floats:
        """Return points × queries by the tuning measure, on the training documents of a fold."""
        tune_for, depth, kept = self._settings.tune_for, self._settings.depth, self._folds != fold
        seen = [lists_of_documents(lists, kept) for lists in self._lists]
        found = [measure_lists(self._table, one, counted, [tune_for], depth)[0] for one in seen]
        return np.stack(found)

    def whole(self, counted: Flags) -> Floats:
        """Return measures × points × queries on all documents, the tuning measure last."""
        settings = self._settings
        measures = [*settings.measures, settings.tune_for]
        found = [
            measure_lists(self._table, lists, counted, measures, settings.depth)
            for lists in self._lists
        ]
        return np.stack(found, axis=1)

    def pooled(self, points: Iterable[int]) -> dict[int, Lists]:
        """Return the lists of all held-out documents at some points."""
        return {point: self._lists[point] for point in points}

    def folded(self, chosen: Sequence[int], name: str) -> FoldedRuns:
        """Return the rankings at the points of the folds and, last, of all data."""
        collection, folds = self._settings.collection, self._folds
        *own, final = chosen
        pooled = pool_points(
            dict(enumerate(self._lists)),
            own,
            final,
            folds,
            id_order(collection),
            self._settings.depth,
        )
        training = [
            lists_of_documents(self._lists[point], folds != fold) for fold, point in enumerate(own)
        ]
        return FoldedRuns(
            tuple(as_run(one, collection, name) for one in training),
            as_run(pooled, collection, name),
            as_run(self._lists[final], collection, name),
        )
