"""Tasks of systems that users bring: calls with sealed sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.view import View
from heldout.experiment.calls import call_seed, call_system
from heldout.experiment.do_models import TOP
from heldout.experiment.lists import Lists, lists_of_run, measure_lists
from heldout.experiment.rank_table import RankTable
from heldout.experiment.sealed import sealed
from heldout.experiment.systems import CallSystem
from heldout.experiment.tasks import EVERYTHING
from heldout.resample.plans import KFold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.experiment.config import Settings
    from heldout.experiment.journal import Record
    from heldout.experiment.systems import RunSystem
    from heldout.experiment.tasks import Task
    from heldout.resample.split import Split

    Weights = NDArray[np.int32] | None
    Sides = tuple[tuple[Weights, Weights], tuple[Weights, Weights]]

__all__ = ["Call", "call_of", "do_run"]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """All that a call needs, but for the collection.

    Parameters
    ----------
    system, number, seed
        The system, the point, and the seed of the call.
    train, test
        The weights of documents and queries on each side.
    depth
        How many documents of each list come back.
    """

    system: CallSystem
    number: int
    seed: int
    train: tuple[Weights, Weights]
    test: tuple[Weights, Weights]
    depth: int

    def make(self, whole: Collection) -> Lists:
        """Let the system rank its test side of a collection."""
        train = sealed(View(whole, *self.train), judged=True)
        test = sealed(View(whole, *self.test), judged=False)
        run = call_system(self.system, train, test, self.number, self.seed)
        return lists_of_run(run, whole, self.depth)

    def record(self, settings: Settings, task: Task, lists: Lists) -> Record:
        """Measure what the call has given."""
        table = RankTable.of(settings.collection)
        documents, queries = self.test
        counted = np.ones(len(table), np.bool_)
        if documents is not None:
            counted &= documents[table.documents] > 0
        if queries is not None:
            counted &= queries[table.queries] > 0
        if task.kind == "tune":
            values = measure_lists(table, lists, counted, [settings.tune_for], settings.depth)
            return {"values": values[0]}
        measures = [*settings.measures, settings.tune_for]
        values = measure_lists(table, lists, counted, measures, settings.depth)
        kept = lists if self.system.comparable and settings.by != "query" else lists.top(TOP)
        return {
            "number": self.number,
            "values": values,
            "documents": kept.documents,
            "scores": kept.scores,
        }


def call_of(settings: Settings, task: Task, number: int) -> Call:
    """The call of a task.

    Parameters
    ----------
    number
        The point: the task's own, or the one that was chosen.
    """
    system = settings.systems[task.system]
    if not isinstance(system, CallSystem):
        raise TypeError(task.key)
    train, test = _sides(settings, task)
    shown = _shown(settings, task)
    # The same for all points, so that they are compared under the same chance.
    seed = call_seed(settings.seed, system.name, shown, task.inner)
    return Call(system, number, seed, train, test, settings.depth)


def _shown(settings: Settings, task: Task) -> str:
    return "all" if task.split == EVERYTHING else str(settings.splits.key(task.split))


def _sides(settings: Settings, task: Task) -> Sides:
    """Weights of documents and queries of the side that is seen, and of the one that is ranked."""
    if task.kind == "point" or (task.split == EVERYTHING and task.inner < 0):
        return (None, None), (None, None)
    split = _split(settings, task)
    train = _weights(split, "train", settings.by)
    if task.kind == "tune" and task.inner < 0:
        return train, train  # a value is chosen on the side that the system has seen
    return train, _weights(split, "test", settings.by)


def _split(settings: Settings, task: Task) -> Split:
    """The split of a task, an inner one if it has any."""
    if task.inner < 0:
        return settings.splits[task.split]
    inner = KFold(settings.inner or 2, seed=settings.seed)
    if task.split == EVERYTHING:
        unit = "document" if settings.by == "document" else "query"
        return inner.splits(settings.collection, unit)[task.inner]  # type: ignore[arg-type]
    split = settings.splits[task.split]
    return split.inner(inner, "query" if settings.by == "both" else None)[task.inner]


def _weights(split: Split, side: str, by: str) -> tuple[Weights, Weights]:
    if split.documents is not None:
        return split.documents.weights(side), split.weights(side)
    own = split.weights(side)
    return (own, None) if by == "document" else (None, own)


def do_run(settings: Settings, system: RunSystem, task: Task) -> Record:
    """Measure a run on all queries."""
    lists = lists_of_run(system.read(task.point), settings.collection, settings.depth)
    table = RankTable.of(settings.collection)
    measures = [*settings.measures, settings.tune_for]
    counted = np.ones(len(table), np.bool_)
    top = lists.top(TOP)
    return {
        "number": task.point,
        "values": measure_lists(table, lists, counted, measures, settings.depth),
        "documents": top.documents,
        "scores": top.scores,
    }
