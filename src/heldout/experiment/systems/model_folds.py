"""Built-in models under document folds: a pass to tune each, and one for all that is held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.experiment.documents.cross_validate import cross_validate_documents
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.ranked_lists import Lists
from heldout.experiment.systems.model_records import FoldsRecord
from heldout.experiment.systems.model_schemes import Scheme
from heldout.experiment.systems.outcomes import Chosen, FoldRow, HeldOut, Place, RankedOutcome
from heldout.experiment.systems.point_folds import FoldedRuns, as_run
from heldout.experiment.systems.static import folds_tasks
from heldout.retrieve.sides import seen_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.run import Run
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.systems.model_records import TwoWayRecord
    from heldout.experiment.systems.records import Record
    from heldout.retrieve.index import Index

__all__ = ["DocumentFolds", "collect_folds", "merged_outcome", "single_point"]


class DocumentFolds(Scheme):
    """One task per repeat; it chooses parameters on each training side itself."""

    def tasks(self) -> Iterator[Task]:
        """Yield one task per repeat."""
        return folds_tasks(self.system.name, self.settings)

    def perform(self, task: Task, index: Index) -> FoldsRecord:
        """Choose on each training side, rank the held-out documents, and merge the folds."""
        settings = self.settings
        found = cross_validate_documents(
            index,
            settings.collection,
            self.system.models(),
            settings.splits.folds(task.split),
            tune_for=settings.tune_for,
            measures=settings.measures,
            rule=settings.rule,
            method=settings.method,
            target_size=settings.target_size,
            depth=settings.depth,
            k=settings.kept,
            seed=settings.seed,
            replicates=settings.replicates,
            level=settings.level,
            groups=settings.document_groups,
        )
        choices = found.choices
        return FoldsRecord(
            chosen=choices.chosen,
            surface=choices.surface,
            final=choices.final,
            final_surface=choices.final_surface,
            fold_scores=found.fold_scores,
            values=found.values,
            train_values=found.train_values,
            estimates=found.estimates,
            documents=found.documents,
            scores=found.scores,
        )

    def collect(self, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the folds of all repeats, and the merged ranking of each."""
        return collect_folds(self.tasks(), records)

    def folded_runs(self, repeat: int, points: Sequence[int], index: Index) -> FoldedRuns:
        """Return the rankings of the training sides, of the held-out documents, and of all."""
        settings, candidates = self.settings, self.candidates(index)
        folds, (*own, final) = settings.splits.folds(repeat), points
        deepest, name = candidates.depth, self.system.name

        def run(seen: NDArray[np.bool_], point: int) -> Run:
            side = seen_side(index, candidates.vocabulary, seen)
            found = candidates.rank(side, [point], k=deepest, judged=False, depth=deepest)
            lists = Lists(found.documents[:, 0, 0], found.scores[:, 0, 0])
            return as_run(lists, settings.collection, name)

        sample = folds >= 0
        pooled = pool(candidates, folds, own, final, deepest)
        return FoldedRuns(
            tuple(run(sample & (folds != fold), point) for fold, point in enumerate(own)),
            as_run(Lists(pooled.documents, pooled.scores), settings.collection, name),
            run(sample, final),
        )


def collect_folds(tasks: Iterator[Task], records: Mapping[str, Record]) -> RankedOutcome:
    """Combine the folds of all repeats, and the merged ranking of each."""
    folds, held_out, found = [], [], []
    for task in tasks:
        record: Any = records[task.key]
        for fold, number in enumerate(record.chosen):
            means = record.surface[fold]
            chosen = Chosen(number, float(means[number]), means)
            row = FoldRow(Place(task.split, fold), chosen, float(record.fold_scores[fold]))
            folds.append(row)
        lists = Lists(record.documents, record.scores)
        number = single_point(record.chosen)
        held_out.append(HeldOut(Place(task.split), number, record.values, lists))
        found.append(record)
    return merged_outcome(folds, held_out, found)


def single_point(numbers: Sequence[int]) -> int:
    """Return the point that all folds have; −1: they have different ones."""
    return int(numbers[0]) if len(set(numbers)) == 1 else -1


def merged_outcome(
    folds: Sequence[FoldRow],
    held_out: Sequence[HeldOut],
    records: Sequence[FoldsRecord | TwoWayRecord],
) -> RankedOutcome:
    """Return the choice on all data; it is the same in all repeats, which differ in their folds."""
    number, means = records[0].final, records[0].final_surface
    final = Chosen(number, float(means[number]) if len(means) else float("nan"), means)
    training = np.stack([record.train_values for record in records]).mean(axis=0)
    estimates = tuple(record.estimates for record in records)
    return RankedOutcome(tuple(folds), final, tuple(held_out), training, estimates)
