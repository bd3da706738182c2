"""Run files, and runs in memory, as systems."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.ranked_lists import TOP, lists_of_run, measure_lists
from heldout.experiment.systems.base import System
from heldout.experiment.systems.model_records import FoldsRecord, selected_in_folds
from heldout.experiment.systems.records import RankedRecord
from heldout.experiment.systems.static import (
    FOLDS,
    POINT,
    collect_points,
    folds_needed,
    folds_tasks,
    point_tasks,
    point_values,
    selected_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.point_folds import FoldedRuns, RunPoints
    from heldout.experiment.systems.records import Record
    from heldout.resample.split import Splits

__all__ = ["RunSystem", "run_hash"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSystem(System["RankingSettings"]):
    """Existing runs: one, or one per parameter setting.

    Parameters
    ----------
    runs
        Paths or runs, in the order of the points.
    comparable
        Whether the score of a document does not depend on the other documents, so that documents
        can be held out.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {POINT: RankedRecord, FOLDS: FoldsRecord}
    needs_text: ClassVar[bool] = False
    needs_documents: ClassVar[bool] = False

    runs: tuple[Run | str, ...]
    comparable: bool | None = None

    def read(self, number: int) -> Run:
        """Read one of the runs."""
        given = self.runs[number]
        return given if isinstance(given, Run) else Run.of(given)

    def ranked(self, top: int = TOP) -> Iterator[Run]:
        """Read its runs one after another."""
        del top
        return map(self.read, range(len(self.runs)))

    @property
    def learns(self) -> bool:
        """Return False: runs are fixed."""
        return False

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of each run."""
        hashes = [run_hash(run) for run in self.runs]
        record: dict[str, Any] = {**System.describe(self), "runs": hashes}
        if self.comparable is not None:
            record["comparable"] = self.comparable
        return record

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by == "both":
            yield "queries and documents cannot both be held out of a run: hold out one of them"
        elif by == "document" and not self.comparable:
            yield (
                "a run was made with all documents. If the score of a document does not depend on "
                "the others (vectors of a fixed model), write comparable=true in its brackets: "
                f"{self.name}=FILE.run(comparable=true); otherwise hold out queries, or give a "
                "function that searches one side"
            )

    def plan_problems(self, splits: Splits, by: str) -> Iterator[tuple[str, str]]:
        """Yield that documents must be divided into folds, if they are not."""
        return folds_needed(self.name, splits, by)

    @property
    def merges_documents(self) -> bool:
        """Whether the scores of documents of different folds can be compared."""
        return bool(self.comparable)

    def not_a_part(self) -> None:
        """Return None: runs can be fused."""

    def selected(self, settings: RankingSettings, records: Mapping[str, Record]) -> list[int]:
        """Return the run chosen for each split, then for all data."""
        if settings.by == "document":
            return selected_in_folds(self.tasks(settings), records)
        return selected_numbers(settings, point_values(self, records))

    def ranking(self, number: int, context: Context[RankingSettings]) -> Run:
        """Return a run."""
        del context
        return self.read(number)

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield one task per run, or per repeat of document folds."""
        if settings.by == "document":
            return folds_tasks(self.name, settings)
        return point_tasks(self)

    def folded_runs(
        self, repeat: int, points: Sequence[int], context: Context[RankingSettings]
    ) -> FoldedRuns:
        """Return its rankings under document folds."""
        return self._points(repeat, context).folded(points, self.name)

    def _points(self, repeat: int, context: Context[RankingSettings]) -> RunPoints:
        from heldout.experiment.systems.point_folds import RunPoints

        settings = context.settings
        return RunPoints(settings, self.ranked(), settings.splits.folds(repeat))

    def perform(self, task: Task, context: Context[RankingSettings]) -> Record:
        """Evaluate a run on all queries, or all runs in document folds."""
        if task.kind == FOLDS:
            from heldout.experiment.systems.point_folds import perform_folds

            folds = context.settings.splits.folds(task.split)
            points = self._points(task.split, context)
            return perform_folds(context.settings, folds, points, len(self.runs))
        (number,), settings = task.points, context.settings
        lists = lists_of_run(self.read(number), settings.collection, settings.depth)
        table = RankTable.of(settings.collection)
        measures = [*settings.measures, settings.tune_for]
        counted = np.ones(len(table), np.bool_)
        top = lists.top(settings.kept)
        return RankedRecord(
            number=number,
            values=measure_lists(table, lists, counted, measures, settings.depth),
            documents=top.documents,
            scores=top.scores,
        )

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Read the values of the held-out queries of each split, or combine document folds."""
        if settings.by == "document":
            from heldout.experiment.systems.model_folds import collect_folds

            return collect_folds(self.tasks(settings), records)
        return collect_points(self, settings, records)

    def runs_elsewhere(self, task: Task, *, cluster: bool) -> bool:
        """Return False: runs are evaluated where their files are."""
        del task, cluster
        return False

    def sendable(self) -> Self:
        """Return the system without the runs, which are not sent."""
        return replace(self, runs=())


def run_hash(run: Run | str) -> str:
    """Return a hash of a run or of its file."""
    if isinstance(run, Run):
        digest = hashlib.sha256("\0".join(run.queries).encode())
        digest.update(run.offsets.tobytes() + run.scores.tobytes())
        digest.update("\0".join(run.docs.tolist()).encode())
        return digest.hexdigest()
    try:
        with Path(run).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{run}: cannot be read ({error.strerror})") from None
