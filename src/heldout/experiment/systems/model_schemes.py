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
from heldout.tune.choose import choose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.models import ModelSystem
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record
    from heldout.retrieve.shards import AnyIndex
    from heldout.tune.choose import Choice

    Floats = NDArray[np.float64]
    RankingContext = Context[RankingSettings]

__all__ = [
    "GRID",
    "Scheme",
    "choose_point",
    "grid_tasks",
    "grid_values",
    "index_of",
    "make_candidates",
    "perform_grid",
]

GRID: Final = "grid"
"""The kind of a task that ranks all queries at some points."""
_CHUNK: Final = 32
"""Values of a model that are ranked in one task: as many as are scored in one walk."""


class Scheme(ABC):
    """How built-in models are evaluated under one kind of splits."""

    bytes_per_place: ClassVar[int] = 0
    """For each place of a ranked list that is merged and halved; measured."""

    @abstractmethod
    def tasks(self, system: ModelSystem, settings: RankingSettings) -> Iterator[Task]:
        """All tasks of a model."""

    def resolve(
        self,
        system: ModelSystem,
        tasks: Sequence[Task],
        settings: RankingSettings,
        records: Mapping[str, Record],
    ) -> list[Task]:
        """Tasks of a stage with the points that were chosen for them."""
        del system, settings, records
        return list(tasks)

    @abstractmethod
    def perform(self, system: ModelSystem, task: Task, context: RankingContext) -> Record:
        """Do one task."""

    @abstractmethod
    def collect(
        self, system: ModelSystem, settings: RankingSettings, records: Mapping[str, Record]
    ) -> RankedOutcome:
        """Put together what the tasks have found."""

    @abstractmethod
    def rankings(self, system: ModelSystem, settings: RankingSettings, task: Task) -> float:
        """How many rankings of all queries a task takes."""

    def points_at_once(self, system: ModelSystem, task: Task) -> int:
        """How many points a task ranks at the same time."""
        return len(task.points) or len(system.points())

    def halves(self, task: Task) -> bool:
        """Whether a task makes intervals from halves of the documents."""
        return self.bytes_per_place > 0 and task.kind != GRID


def index_of(system: ModelSystem, context: RankingContext) -> AnyIndex:
    """The index that a model searches."""
    if context.index is None:
        raise InputError(f"{system.name}: there is no index")
    return context.index


def make_candidates(system: ModelSystem, context: RankingContext) -> Candidates:
    """The model at every point, ready to rank."""
    settings = context.settings
    index = index_of(system, context)
    return Candidates.make(index, settings.collection, system.models(), depth=settings.depth)


def grid_tasks(system: ModelSystem) -> Iterator[Task]:
    """All points on all queries, many in each task."""
    count = len(system.points())
    for begin in range(0, count, _CHUNK):
        points = tuple(range(begin, min(begin + _CHUNK, count)))
        yield Task(f"{system.name}/grid/p{begin}", system.name, GRID, points=points)


def perform_grid(system: ModelSystem, task: Task, context: RankingContext) -> GridRecord:
    """Rank and measure some points on all queries."""
    settings, candidates = context.settings, make_candidates(system, context)
    side = whole_side(candidates.index, candidates.vocabulary)
    measures = [*settings.measures, settings.tune_for]
    return GridRecord(values=candidates.evaluate(side, measures, task.points))


def grid_values(system: ModelSystem, records: Mapping[str, Record]) -> Floats:
    """Measures × points × queries on everything, the tuning measure last."""
    found: list[Any] = [records[task.key] for task in grid_tasks(system)]
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
