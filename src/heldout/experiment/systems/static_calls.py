"""Called systems that need not learn: each parameter setting ranks all queries once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from heldout.experiment.documents.ranked_lists import lists_of_run
from heldout.experiment.execution.tasks import EVERYTHING, Task
from heldout.experiment.systems.call_outcomes import joined_lists
from heldout.experiment.systems.calls import CallSide, CallSystem, call_sides
from heldout.experiment.systems.choose_in_folds import TEST, TUNE
from heldout.experiment.systems.point_folds import FoldedRuns, as_run, id_order
from heldout.experiment.systems.records import RankedRecord
from heldout.experiment.systems.static import (
    POINT,
    collect_points,
    point_tasks,
    point_values,
    selected_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.data.collection import View
    from heldout.data.run import Run
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record

__all__ = ["FixedCallSystem", "StaticCallSystem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticCallSystem(CallSystem):
    """A called system; if it does not learn, its rankings can be used by other systems."""

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {**CallSystem.RECORDS, POINT: RankedRecord}

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield one task per point if nothing is fitted; otherwise as for any called system."""
        return point_tasks(self) if self._once(settings) else CallSystem.tasks(self, settings)

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the records of its calls."""
        if self._once(settings):
            return collect_points(self, settings, records)
        return CallSystem.collect(self, settings, records)

    def _once(self, settings: RankingSettings) -> bool:
        return settings.by == "query" and not self.learns

    def not_a_part(self) -> str | None:
        """Return why its rankings cannot be used by another system; None: they can."""
        return CallSystem.not_a_part(self) if self.learns else None

    @property
    def merges_documents(self) -> bool:
        """Whether the scores of documents of different folds can be compared."""
        return bool(self.comparable)

    def selected(self, settings: RankingSettings, records: Mapping[str, Record]) -> list[int]:
        """Return the point chosen for each split, then for all data."""
        if not self._once(settings):
            return [one.number for one in self.choices(settings, records).values()]
        return selected_numbers(settings, point_values(self, records))

    def rank_task(
        self, task: Task, context: Context[RankingSettings], train: View, test: View
    ) -> Run:
        """Return the ranking of the test side of a task; what does not learn gets no judgements."""
        given = test if task.kind == POINT else train
        return CallSystem.rank_task(self, task, context, given, test)

    def ranking(self, number: int, context: Context[RankingSettings]) -> Run:
        """Return the ranked lists of all queries at a point."""
        whole = CallSide().sealed(context.settings.collection, judged=False)
        task = list(point_tasks(self))[number]
        return self.rank_task(task, context, whole, whole)

    def folded_runs(
        self, repeat: int, points: Sequence[int], context: Context[RankingSettings]
    ) -> FoldedRuns:
        """Call it again for each training side, each held-out side, and all data."""
        settings, (*own, final) = context.settings, points
        first, collection = repeat * len(own), settings.collection
        pairs = list(enumerate(own, first))
        training = [self._ranked(TUNE, split, point, context) for split, point in pairs]
        held_out = [
            lists_of_run(self._ranked(TEST, split, point, context), collection, settings.depth)
            for split, point in pairs
        ]
        pooled = joined_lists(held_out, id_order(collection), settings.depth)
        whole = self._ranked(TUNE, EVERYTHING, final, context)
        return FoldedRuns(tuple(training), as_run(pooled, collection, self.name), whole)

    def _ranked(self, kind: str, split: int, point: int, context: Context[RankingSettings]) -> Run:
        """Return the ranking of a task, with the seed of the task."""
        task, whole = Task("", self.name, kind, split, points=(point,)), context.settings.collection
        seen, ranked = call_sides(context.settings, task)
        sides = seen.sealed(whole, judged=True), ranked.sealed(whole, judged=False)
        return self.rank_task(task, context, *sides)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCallSystem(StaticCallSystem):
    """A function whose ranking of a query does not depend on other queries and judgements."""

    @property
    def learns(self) -> bool:
        """Return False: that was said about it."""
        return False

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of its source."""
        return {**CallSystem.describe(self), "learns": False}
