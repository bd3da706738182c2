"""Built-in models as systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from heldout.errors import InputError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.model_records import (
    FoldsRecord,
    GridRecord,
    ListsRecord,
    SideRecord,
    SidesRecord,
    TwoWayRecord,
    selected_in_folds,
)
from heldout.retrieve.models import Model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.data.run import Run
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.model_schemes import Scheme
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.point_folds import FoldedRuns
    from heldout.experiment.systems.records import Record
    from heldout.resample.split import Splits

    RankingContext = Context[RankingSettings]

__all__ = ["ModelSystem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSystem(System["RankingSettings"]):
    """A built-in model.

    Parameters
    ----------
    model
        Its name.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {
        "grid": GridRecord,
        "lists": ListsRecord,
        "folds": FoldsRecord,
        "both": TwoWayRecord,
        "side": SideRecord,
        "sides": SidesRecord,
    }
    needs_index: ClassVar[bool] = True
    needs_text: ClassVar[bool] = False
    has_document_methods: ClassVar[bool] = True

    model: str

    def models(self, points: Sequence[int] | None = None) -> tuple[Model, ...]:
        """Return the model at some points; None: at every point."""
        numbers = range(len(self.points())) if points is None else points
        settings = (self.settings(number) for number in numbers)
        # `systems.reading` has checked that all of them are numbers.
        return tuple(
            Model.make(self.model, **cast("dict[str, float]", setting)) for setting in settings
        )

    @property
    def learns(self) -> bool:
        """Return False: its statistics of documents come from the index."""
        return False

    def describe(self) -> dict[str, Any]:
        """Return the model at every point, as plain values."""
        values = [str(model) for model in self.models()]
        return {**System.describe(self), "model": self.model, "values": values}

    def misfits(self, by: str) -> Iterator[str]:
        """Yield nothing: a built-in model works with all splits."""
        del by
        return iter(())

    def plan_problems(self, splits: Splits, by: str) -> Iterator[tuple[str, str]]:
        """Yield what does not work when documents are held out."""
        if by == "query":
            return
        if by == "both" and not all(part.partitions for part in splits.crossed or ()):
            yield "plan", "when queries and documents are held out, both need folds (kfold, given)"

    def not_a_part(self) -> str | None:
        """Return None: the rankings of a model can be fused."""
        return None

    @property
    def merges_documents(self) -> bool:
        """Return True: scores of folds are brought to one scale."""
        return True

    def selected(self, settings: RankingSettings, records: Mapping[str, Record]) -> list[int]:
        """Return the point chosen for each split, then for all data."""
        if settings.by == "document":
            return selected_in_folds(self.tasks(settings), records)
        from heldout.experiment.systems.static import selected_numbers

        values = self._scheme(settings).grid_values(records)
        return selected_numbers(settings, values)

    def ranking(self, number: int, context: RankingContext) -> Run:
        """Search all queries with the model at a point."""
        from heldout.retrieve.search import search

        if context.index is None:
            raise InputError(f"{self.name}: there is no index")
        settings, model = context.settings, self.models([number])[0]
        queries, depth = settings.collection.queries, settings.depth
        return search(context.index, queries, model, k=depth, name=self.name)

    def folded_runs(
        self, repeat: int, points: Sequence[int], context: RankingContext
    ) -> FoldedRuns:
        """Return its rankings under document folds."""
        from heldout.experiment.systems.model_folds import DocumentFolds

        if context.index is None:
            raise InputError(f"{self.name}: there is no index")
        return DocumentFolds(self, context.settings).folded_runs(repeat, points, context.index)

    def _scheme(self, settings: RankingSettings) -> Scheme:
        # Imported when needed: held-out queries do not need the code for new documents.
        if settings.by == "query":
            from heldout.experiment.systems.model_queries import HeldOutQueries

            return HeldOutQueries(self, settings)
        if settings.by == "both":
            from heldout.experiment.systems.model_both import TwoWayFolds

            return TwoWayFolds(self, settings)
        if settings.splits.partitions:
            from heldout.experiment.systems.model_folds import DocumentFolds

            return DocumentFolds(self, settings)
        from heldout.experiment.systems.model_splits import DocumentSplits

        return DocumentSplits(self, settings)

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield all its tasks; they depend on what is held out."""
        return self._scheme(settings).tasks()

    def resolve(
        self, tasks: Sequence[Task], settings: RankingSettings, records: Mapping[str, Record]
    ) -> list[Task]:
        """Return the tasks of a stage with the points chosen for them."""
        return self._scheme(settings).resolve(tasks, records)

    def perform(self, task: Task, context: RankingContext) -> Record:
        """Perform one task."""
        if context.index is None:
            raise InputError(f"{self.name}: there is no index")
        return self._scheme(context.settings).perform(task, context.index)

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the records of its tasks."""
        return self._scheme(settings).collect(records)

    def runs_elsewhere(self, task: Task, *, cluster: bool) -> bool:
        """Return whether it is a cluster: on this machine its threads use all cores already."""
        del task
        return cluster
