"""How built-in models are evaluated: a scheme for each kind of splits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final

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
    from heldout.retrieve.shards import AnyIndex
    from heldout.tune.choice import Choice

    Floats = NDArray[np.float64]

__all__ = ["GRID", "Scheme", "choose_point"]

GRID: Final = "grid"
"""The kind of a task that ranks all queries at some points."""
_CHUNK: Final = 32
"""Values of a model that are ranked in one task: as many as are scored in one walk."""


class Scheme(ABC):
    """How a built-in model is evaluated under one kind of splits.

    Parameters
    ----------
    system, settings
        The model, and the experiment.
    """

    bytes_per_place: ClassVar[int] = 0
    """For each place of a ranked list that is merged and evaluated again; measured."""

    def __init__(self, system: ModelSystem, settings: RankingSettings) -> None:
        self.system, self.settings = system, settings

    @abstractmethod
    def tasks(self) -> Iterator[Task]:
        """All tasks of the model."""

    def resolve(self, tasks: Sequence[Task], records: Mapping[str, Record]) -> list[Task]:
        """Tasks of a stage with the points that were chosen for them."""
        del records
        return list(tasks)

    @abstractmethod
    def perform(self, task: Task, index: AnyIndex) -> Record:
        """Do one task."""

    @abstractmethod
    def collect(self, records: Mapping[str, Record]) -> RankedOutcome:
        """Put together what the tasks have found."""

    def points_at_once(self, task: Task) -> int:
        """How many points a task ranks at the same time."""
        return len(task.points) or len(self.system.points())

    def halves(self, task: Task) -> bool:
        """Whether a task makes intervals for new documents."""
        return self.bytes_per_place > 0 and task.kind != GRID

    def block_bytes(self, task: Task) -> int:
        """Bytes that a task takes because it does several splits at once."""
        del task
        return 0

    def candidates(self, index: AnyIndex) -> Candidates:
        """The model at every point, ready to rank."""
        settings = self.settings
        models = self.system.models()
        return Candidates.make(index, settings.collection, models, depth=settings.depth)

    def grid_tasks(self) -> Iterator[Task]:
        """All points on all queries, many in each task."""
        name, count = self.system.name, len(self.system.points())
        for begin in range(0, count, _CHUNK):
            points = tuple(range(begin, min(begin + _CHUNK, count)))
            yield Task(f"{name}/grid/p{begin}", name, GRID, points=points)

    def perform_grid(self, task: Task, index: AnyIndex) -> GridRecord:
        """Rank and measure some points on all queries."""
        candidates = self.candidates(index)
        side = whole_side(index, candidates.vocabulary)
        measures = [*self.settings.measures, self.settings.tune_for]
        return GridRecord(values=candidates.evaluate(side, measures, task.points))

    def grid_values(self, records: Mapping[str, Record]) -> Floats:
        """Measures × points × queries on everything, the tuning measure last."""
        found: list[Any] = [records[task.key] for task in self.grid_tasks()]
        return np.concatenate([one.values for one in found], axis=1)


def choose_point(
    settings: RankingSettings, values: Floats, weights: NDArray[np.int32] | None = None
) -> Choice:
    """Choose a point on a train side.

    Parameters
    ----------
    values
        Points × queries.
    weights
        How often each query counts; None: all count once.
    """
    seen = values if weights is None else values[:, weights > 0]
    if not np.isfinite(seen).any():
        raise InputError("no query of a train side has a relevant document there: use fewer folds")
    return choose(values, weights, rule=settings.rule, higher_is_better=settings.higher_is_better)
