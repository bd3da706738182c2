"""Run files of each fold, made by other tools, as a system: ``folds/{fold}.run``."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.ranked_lists import TOP, lists_of_run, measure_lists
from heldout.experiment.execution.tasks import EVERYTHING, Task
from heldout.experiment.systems.base import System
from heldout.experiment.systems.call_outcomes import collect_tests
from heldout.experiment.systems.calls import call_sides, comparable_misfit, kept_lists
from heldout.experiment.systems.choose_in_folds import TEST, named_splits
from heldout.experiment.systems.outcomes import Chosen
from heldout.experiment.systems.records import RankedRecord
from heldout.experiment.systems.runs import run_hash
from heldout.notes import named_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.calls import CallSide
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record
    from heldout.resample.split import SplitKey, Splits

__all__ = ["FIELDS", "FoldRunSystem"]

FIELDS: Final = re.compile(r"\{(split|repeat|fold|other|run)\}")
"""What a path can have in place of the numbers of a split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRunSystem(System["RankingSettings"]):
    """One run file per split, with the rankings of what is held out in it.

    Parameters
    ----------
    pattern
        The path, with ``{fold}`` and ``{repeat}`` (numbers from 0), ``{other}`` (the fold of the
        documents, if queries and documents are held out) or ``{split}`` (such as ``r0-f3``).
    comparable
        Whether scores of different folds can be compared; see `System.of`.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {TEST: RankedRecord}
    needs_text: ClassVar[bool] = False
    needs_documents: ClassVar[bool] = False

    pattern: str
    comparable: bool | None = None

    def path(self, key: SplitKey) -> str:
        """Return the run file of a split."""
        values = {
            "split": str(key).replace("/", "-"),
            "repeat": key.repeat,
            "fold": key.fold,
            "other": key.other,
            "run": key.run,
        }
        return FIELDS.sub(lambda match: str(values[match[1]]), self.pattern)

    def files(self) -> list[str]:
        """Return all files that the pattern can name."""
        parts = FIELDS.split(self.pattern)[::2]
        return sorted(glob.glob("*".join(map(glob.escape, parts))))  # noqa: PTH207

    def ranked(self, top: int = TOP) -> Iterator[Run]:
        """Yield runs of all queries that together have the lists of all files, for their ids."""
        del top
        lists: dict[str, list[dict[str, float]]] = {}
        for path in self.files():
            for query, documents in Run.of(path).to_dict().items():
                lists.setdefault(query, []).append(documents)
        # A query has several lists if it is held out several times.
        for at in range(max(map(len, lists.values()), default=1)):
            every = {query: own[min(at, len(own) - 1)] for query, own in lists.items()}
            yield Run.of(every, self.name)

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of each file."""
        record = System.describe(self)
        return {**record, "runs": list(map(run_hash, self.files())), "comparable": self.comparable}

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by != "query" and self.comparable is None:
            yield comparable_misfit(self.pattern)

    def plan_problems(self, splits: Splits, by: str) -> Iterator[tuple[str, str]]:
        """Yield files that are missing, and files that are named twice."""
        del by
        paths = [self.path(splits.key(at)) for at in range(len(splits))]
        twice = len(set(paths)) < len(paths)
        if twice:
            yield (
                "systems",
                (
                    f"{self.name}: {self.pattern} names the same file for several of the "
                    f"{len(paths)} splits: add {{repeat}}, or use {{split}} (such as r0-f3)"
                ),
            )
        missing = [path for path in paths if not os.path.isfile(path)]
        if missing and not twice:
            yield (
                "systems",
                (
                    f"{self.name}: {len(missing)} of {len(paths)} run files are missing: "
                    f"{named_few(missing, len(missing))} (folds are numbered from 0)"
                ),
            )

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield one task per split."""
        for split, shown in named_splits(settings):
            yield Task(f"{self.name}/test/{shown}", self.name, TEST, split, points=(0,))

    def perform(self, task: Task, context: Context[RankingSettings]) -> RankedRecord:
        """Evaluate the run of a split."""
        settings, whole = context.settings, context.settings.collection
        path = self.path(settings.splits.key(task.split))
        run = Run.of(path)
        side = call_sides(settings, task)[1]
        _refuse_others(run, side, settings, f"{self.name}: {path}")
        lists = lists_of_run(run, whole, settings.depth)
        table = RankTable.of(whole)
        measures = [*settings.measures, settings.tune_for]
        values = measure_lists(table, lists, side.counted(table), measures, settings.depth)
        kept = kept_lists(lists, settings, comparable=self.comparable)
        return RankedRecord(number=0, values=values, documents=kept.documents, scores=kept.scores)

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the records of all splits."""
        chosen = {split: Chosen.none() for split in (*range(len(settings.splits)), EVERYTHING)}
        tests: dict[int, RankedRecord] = {
            task.split: records[task.key]  # type: ignore[misc]
            for task in self.tasks(settings)
        }
        unknown = np.full((len(settings.measures), len(settings.collection.queries)), np.nan)
        pooled = settings.by != "query" and bool(self.comparable)
        return collect_tests(settings, chosen, tests, unknown, pooled=pooled)

    def runs_elsewhere(self, task: Task, *, cluster: bool) -> bool:
        """Return False: runs are evaluated where their files are."""
        del task, cluster
        return False


def _refuse_others(run: Run, side: CallSide, settings: RankingSettings, where: str) -> None:
    """Raise an error if a run has queries or documents that are not held out here."""
    whole = settings.collection
    numbers = {query: at for at, query in enumerate(whole.queries.ids)}
    strange = [
        query
        for query in run.queries
        if query not in numbers or (side.queries is not None and not side.queries[numbers[query]])
    ]
    _refuse(strange, "queries", where)
    if side.documents is None:
        return  # as in any run, a document may be unknown
    listed = list(dict.fromkeys(run.docs.tolist()))
    places = whole.documents.ids.find(listed)
    out = (places < 0) | (side.documents[np.maximum(places, 0)] == 0)
    _refuse([listed[at] for at in np.flatnonzero(out).tolist()], "documents", where)


def _refuse(strange: list[str], what: str, where: str) -> None:
    if strange:
        raise InputError(
            f"{where} ranks {what} that are not held out in this split: {len(strange):,} "
            f"({named_few(strange[:1000], len(strange))}). Were other folds or another seed used?"
        )


def fold_run_path(pattern: str, folder: Path | None) -> str:
    """Return a pattern seen from a folder; an unknown field in it is an error."""
    unknown = re.sub(FIELDS, "", pattern)
    if "{" in unknown or "}" in unknown:
        raise InputError(
            f"{pattern}: expected {{fold}}, {{repeat}}, {{other}}, {{run}} or {{split}} in brackets"
        )
    return pattern if folder is None else str(folder / pattern)
