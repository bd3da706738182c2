"""Built-in models for held-out queries: every point is ranked once, for all queries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heldout.experiment.execution.tasks import Task
from heldout.experiment.systems.model_records import ListsRecord
from heldout.experiment.systems.model_schemes import (
    GRID,
    Scheme,
)
from heldout.experiment.systems.static import choose_static, collect_static
from heldout.retrieve.sides import whole_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record
    from heldout.retrieve.index import Index

__all__ = ["LISTS", "HeldOutQueries"]

LISTS = "lists"
"""The kind of task that ranks the chosen points again, for the top of their lists."""


class HeldOutQueries(Scheme):
    """All points on all queries, then the lists of the points chosen for any split."""

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks of the grid, then the one of the lists."""
        yield from self.grid_tasks()
        yield self._lists_task()

    def resolve(self, tasks: Sequence[Task], records: Mapping[str, Record]) -> list[Task]:
        """Set the points of the lists: those that were chosen for any split."""
        if all(task.points for task in tasks):
            return list(tasks)
        chosen, _ = choose_static(self.settings, self.grid_values(records))
        points = tuple(sorted({one.number for one in chosen}))
        return [replace(task, points=points) for task in tasks]

    def perform(self, task: Task, index: Index) -> Record:
        """Evaluate some points, or keep the top of their lists."""
        if task.kind == GRID:
            return self.perform_grid(task, index)
        candidates = self.candidates(index)
        side = whole_side(index, candidates.vocabulary)
        kept = self.settings.kept
        found = candidates.rank(side, task.points, k=kept, judged=False, depth=kept)
        return ListsRecord(
            numbers=task.points, documents=found.documents[:, 0], scores=found.scores[:, 0]
        )

    def collect(self, records: Mapping[str, Record]) -> RankedOutcome:
        """Read the values of the held-out queries of each split."""
        lists: Any = records[self._lists_task().key]
        values = self.grid_values(records)
        return collect_static(self.settings, values, lists.by_point())

    def _lists_task(self) -> Task:
        return Task(f"{self.system.name}/lists", self.system.name, LISTS, stage=1)
