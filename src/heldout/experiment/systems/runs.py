"""Run files, and runs in memory, as systems."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.ranked_lists import TOP, lists_of_run, measure_lists
from heldout.experiment.systems.base import System
from heldout.experiment.systems.records import RankedRecord
from heldout.experiment.systems.static import (
    POINT,
    collect_points,
    point_tasks,
    point_values,
    selected_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.manifest import SystemRecord
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record

__all__ = ["RunSystem", "run_hash"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSystem(System["RankingSettings"]):
    """Existing runs: one, or one per parameter setting.

    Parameters
    ----------
    runs
        Paths or runs, in the order of the points.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {POINT: RankedRecord}
    needs_text: ClassVar[bool] = False
    needs_documents: ClassVar[bool] = False

    runs: tuple[Run | str, ...]

    def read(self, number: int) -> Run:
        """Read one of the runs."""
        given = self.runs[number]
        return given if isinstance(given, Run) else Run.read(given)

    def ranked(self, top: int = TOP) -> Iterator[Run]:
        """Read its runs one after another."""
        del top
        return map(self.read, range(len(self.runs)))

    @property
    def learns(self) -> bool:
        """Return False: runs are fixed."""
        return False

    def describe(self) -> SystemRecord:
        """Return what it is as plain values, with a hash of each run."""
        hashes = [run_hash(run) for run in self.runs]
        return {**System.describe(self), "runs": hashes}

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by != "query":
            yield (
                "a run was made with all documents, so documents cannot be held out of it: hold "
                "out queries, or give a function that searches one side"
            )

    def not_a_part(self) -> None:
        """Return None: runs can be fused."""

    def selected(self, settings: RankingSettings, records: Mapping[str, Record]) -> list[int]:
        """Return the run chosen for each split, then for all data."""
        return selected_numbers(self, settings, point_values(self, records))

    def ranking(self, number: int, context: Context[RankingSettings]) -> Run:
        """Return a run."""
        del context
        return self.read(number)

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield one task per run."""
        del settings
        return point_tasks(self)

    def perform(self, task: Task, context: Context[RankingSettings]) -> RankedRecord:
        """Evaluate a run on all queries."""
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
        """Read the values of the held-out queries of each split."""
        return collect_points(self, settings, records)

    def runs_elsewhere(self, *, cluster: bool) -> bool:
        """Return False: runs are evaluated where their files are."""
        del cluster
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
