"""Built-in models where queries are held out: every point is ranked once, on all queries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heldout.experiment.documents.ranked_lists import TOP
from heldout.experiment.execution.tasks import Task
from heldout.experiment.systems.model_records import ListsRecord
from heldout.experiment.systems.model_schemes import (
    GRID,
    Scheme,
    grid_tasks,
    grid_values,
    make_candidates,
    perform_grid,
)
from heldout.experiment.systems.static import choose_static, collect_static
from heldout.retrieve.sides import whole_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.model_schemes import RankingContext
    from heldout.experiment.systems.models import ModelSystem
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record

__all__ = ["LISTS", "HeldOutQueries"]

LISTS = "lists"
"""The kind of the task that ranks the chosen points again, for the top of their lists."""


class HeldOutQueries(Scheme):
    """All points on all queries; then the lists of those that were chosen for any split."""

    def tasks(self, system: ModelSystem, settings: RankingSettings) -> Iterator[Task]:
        """The whole grid, then the lists."""
        del settings
        yield from grid_tasks(system)
        yield _lists_task(system)

    def resolve(
        self,
        system: ModelSystem,
        tasks: Sequence[Task],
        settings: RankingSettings,
        records: Mapping[str, Record],
    ) -> list[Task]:
        """The lists are made at the points that were chosen for any split."""
        if all(task.points for task in tasks):
            return list(tasks)
        chosen, _ = choose_static(system, settings, grid_values(system, records))
        points = tuple(sorted({one.number for one in chosen}))
        return [replace(task, points=points) for task in tasks]

    def perform(self, system: ModelSystem, task: Task, context: RankingContext) -> Record:
        """Measure some points, or keep the top of their lists."""
        if task.kind == GRID:
            return perform_grid(system, task, context)
        candidates = make_candidates(system, context)
        side = whole_side(candidates.index, candidates.vocabulary)
        found = candidates.rank(side, task.points, k=TOP, judged=False)
        return ListsRecord(
            numbers=task.points, documents=found.documents[:, 0], scores=found.scores[:, 0]
        )

    def collect(
        self, system: ModelSystem, settings: RankingSettings, records: Mapping[str, Record]
    ) -> RankedOutcome:
        """Read what each split held out."""
        lists: Any = records[_lists_task(system).key]
        return collect_static(system, settings, grid_values(system, records), lists.by_point())

    def rankings(self, system: ModelSystem, settings: RankingSettings, task: Task) -> float:
        """One for each point."""
        if task.kind == GRID:
            return len(task.points)
        return min(len(system.points()), len(settings.splits))


def _lists_task(system: ModelSystem) -> Task:
    return Task(f"{system.name}/lists", system.name, LISTS, stage=1)
