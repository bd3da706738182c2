"""Schemes: how built-in models are evaluated, one for each kind of split."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.execution.tasks import Task
from heldout.experiment.systems.model_records import GridRecord
from heldout.retrieve.sides import whole_side
from heldout.tune.choice import choose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.models import ModelSystem
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record
    from heldout.retrieve.index import Index
    from heldout.tune.choice import Choice

    Floats = NDArray[np.float64]

__all__ = ["GRID", "Scheme", "choose_point"]

GRID: Final = "grid"
"""The kind of task that ranks all queries at some points."""
_CHUNK: Final = 32
"""Points of a model that are ranked in one task: as many as one pass scores."""


class Scheme(ABC):
    """The way to evaluate a built-in model under one kind of split.

    Parameters
    ----------
    system, settings
        The model, and the experiment.
    """

    def __init__(self, system: ModelSystem, settings: RankingSettings) -> None:
        self.system, self.settings = system, settings

    @abstractmethod
    def tasks(self) -> Iterator[Task]:
        """Yield all tasks of the model."""

    def resolve(self, tasks: Sequence[Task], records: Mapping[str, Record]) -> list[Task]:
        """Return the tasks of a stage with the points chosen for them."""
        del records
        return list(tasks)

    @abstractmethod
    def perform(self, task: Task, index: Index) -> Record:
        """Perform one task."""

    @abstractmethod
    def collect(self, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the records of the tasks."""

    def candidates(self, index: Index, points: Sequence[int] | None = None) -> Candidates:
        """Return the model at some points (None: at every point), ready to rank."""
        settings = self.settings
        models = self.system.models(points)
        return Candidates.make(index, settings.collection, models, depth=settings.depth)

    def grid_tasks(self) -> Iterator[Task]:
        """Yield tasks for all points on all queries, many points per task."""
        name, count = self.system.name, len(self.system.points())
        for begin in range(0, count, _CHUNK):
            points = tuple(range(begin, min(begin + _CHUNK, count)))
            yield Task(f"{name}/grid/p{begin}", name, GRID, points=points)

    def perform_grid(self, task: Task, index: Index) -> GridRecord:
        """Rank and evaluate some points on all queries."""
        candidates = self.candidates(index, task.points)
        side = whole_side(index, candidates.vocabulary)
        measures = [*self.settings.measures, self.settings.tune_for]
        return GridRecord(values=candidates.evaluate(side, measures))

    def grid_values(self, records: Mapping[str, Record]) -> Floats:
        """Return measures × points × queries on all data, the tuning measure last."""
        found: list[Any] = [records[task.key] for task in self.grid_tasks()]
        return np.concatenate([one.values for one in found], axis=1)


def choose_point(
    settings: RankingSettings, values: Floats, weights: NDArray[np.int32] | None = None
) -> Choice:
    """Choose a point on a training side.

    Parameters
    ----------
    values
        Points × queries.
    weights
        The weight of each query; None: all have weight 1.
    """
    seen = values if weights is None else values[:, weights > 0]
    if not np.isfinite(seen).any():
        raise InputError("no query has a relevant document on a training side: use fewer folds")
    return choose(values, weights, rule=settings.rule, higher_is_better=settings.higher_is_better)
