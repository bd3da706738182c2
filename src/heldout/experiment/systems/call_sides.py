"""What a call of a user's system may see: sides of a split through which nothing else can be seen.

A `View` leads to its whole collection, held-out judgements included. What a system is given is
therefore a view of a collection that has nothing but the side: documents and queries of the other
side are not in it, and the held-out side has no judgements at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.collection import Collection
from heldout.data.view import View
from heldout.experiment.execution.tasks import EVERYTHING
from heldout.experiment.systems.nested import TUNE
from heldout.resample.parts import PartDocuments
from heldout.resample.plans import KFold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import Documents
    from heldout.experiment.documents.rank_table import RankTable
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import RankingSettings
    from heldout.resample.split import Split

    Weights = NDArray[np.int32] | None

__all__ = ["CallSide", "call_sides", "sealed"]


@dataclass(frozen=True, slots=True, eq=False)
class CallSide:
    """How often each document and query counts on one side; None: all count once."""

    documents: Weights = None
    queries: Weights = None

    def counted(self, table: RankTable) -> NDArray[np.bool_]:
        """Which judgements are of this side's queries and documents."""
        counted = np.ones(len(table), np.bool_)
        if self.documents is not None:
            counted &= self.documents[table.documents] > 0
        if self.queries is not None:
            counted &= self.queries[table.queries] > 0
        return counted

    def sealed(self, whole: Collection, *, judged: bool) -> View:
        """The side as a system is given it."""
        return sealed(View(whole, self.documents, self.queries), judged=judged)


def call_sides(settings: RankingSettings, task: Task) -> tuple[CallSide, CallSide]:
    """The side that is seen, and the one that is ranked."""
    if task.split == EVERYTHING and task.inner < 0:
        return CallSide(), CallSide()
    split = _split(settings, task)
    train = _side(split, "train", settings.by)
    if task.kind == TUNE and task.inner < 0:
        return train, train  # a value is chosen on the side that the system has seen
    return train, _side(split, "test", settings.by)


def _split(settings: RankingSettings, task: Task) -> Split:
    """The split of a task, an inner one if it has any."""
    if task.inner < 0:
        return settings.splits[task.split]
    inner = KFold(settings.inner or 2, seed=settings.seed)
    if task.split == EVERYTHING:
        units = settings.splits.units  # they know their groups
        return inner.splits(units, units.unit)[task.inner]
    split = settings.splits[task.split]
    return split.inner(inner, "query" if settings.by == "both" else None)[task.inner]


def _side(split: Split, side: str, by: str) -> CallSide:
    if split.documents is not None:
        return CallSide(split.documents.weights(side), split.weights(side))
    own = split.weights(side)
    return CallSide(documents=own) if by == "document" else CallSide(queries=own)


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


def _documents(whole: Documents, weights: Weights) -> tuple[Documents, Weights]:
    """The documents of a side, each once, and how often each counts."""
    if weights is None:
        return whole, None
    present = weights > 0
    return PartDocuments(whole, present.astype(np.int32)), weights[present]
