"""Built-in models on splits of the documents that are not folds, each evaluated by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.make_estimates import document_estimates
from heldout.experiment.documents.rank_table import needed_depth
from heldout.experiment.documents.ranked_lists import Lists
from heldout.experiment.execution.tasks import Task
from heldout.experiment.systems.model_records import SideRecord, SidesRecord
from heldout.experiment.systems.model_replicates import (
    evaluate_splits,
    splits_at_once,
    train_parts,
)
from heldout.experiment.systems.model_schemes import GRID, Scheme, choose_point
from heldout.experiment.systems.outcomes import (
    Chosen,
    FoldRow,
    HeldOut,
    Place,
    RankedOutcome,
    listed_splits,
)
from heldout.retrieve.sides import Side
from heldout.retrieve.statistics import weighted_statistics
from heldout.tune.choice import choose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heldout.experiment.documents.candidates import Candidates
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.records import Record
    from heldout.resample.split import Split
    from heldout.retrieve.index import Index

__all__ = ["SIDE", "SIDES", "DocumentSplits"]

SIDE = "side"
"""The kind of task that evaluates one split."""
SIDES = "sides"
"""The kind of task that evaluates several splits at once."""


class DocumentSplits(Scheme):
    """One task per split, and the grid on all data for the parameters to use in the end."""

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks of the grid, then those of the splits."""
        yield from self.grid_tasks()
        yield from self._side_tasks()

    def perform(self, task: Task, index: Index) -> Record:
        """Evaluate points on all data, or choose on a training side and evaluate the other."""
        if task.kind == GRID:
            return self.perform_grid(task, index)
        settings, candidates = self.settings, self.candidates(index)
        if task.kind == SIDE:
            found = _evaluate_split(settings, candidates, settings.splits[task.split])
            return self._kept(task.split, found)
        mine = self._mine(task)
        found_sides = evaluate_splits(settings, candidates, [settings.splits[at] for at in mine])
        sides = zip(mine, found_sides, strict=True)
        return SidesRecord(sides=tuple(self._kept(at, side) for at, side in sides))

    def collect(self, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the splits, each by itself."""
        settings, whole = self.settings, self.grid_values(records)
        final = Chosen.of(
            choose(whole[-1], rule=settings.rule, higher_is_better=settings.higher_is_better)
        )
        folds, held_out, estimates = [], [], []
        for split, record in self._sides(records):
            place = Place.of(settings.splits.key(split))
            chosen = Chosen(record.number, record.train, record.surface)
            folds.append(FoldRow(place, chosen, mean_of(record.values[-1])))
            lists = Lists(record.documents, record.scores)
            held_out.append(HeldOut(place, chosen.number, record.values[:-1], lists))
            estimates.append(record.estimates)
        # These estimates have a training score of their own, for the same number of documents.
        training = np.full(whole.shape[::2], np.nan)[:-1]
        return RankedOutcome(tuple(folds), final, tuple(held_out), training, tuple(estimates))

    def _kept(self, split: int, side: SideRecord) -> SideRecord:
        """Return the record of a split, without its lists if they are not kept."""
        if split < listed_splits(self.settings):
            return side
        return replace(side, documents=side.documents[:, :0], scores=side.scores[:, :0])

    def _at_once(self) -> int:
        return splits_at_once(self.settings, self.system.models([0])[0])

    def _side_tasks(self) -> Iterator[Task]:
        name, splits, step = self.system.name, self.settings.splits, self._at_once()
        kind = SIDE if step == 1 else SIDES
        for split in range(0, len(splits), step):
            yield Task(f"{name}/{kind}/{splits.key(split)}", name, kind, split)

    def _mine(self, task: Task) -> range:
        """Return the splits of a task."""
        return range(task.split, min(task.split + self._at_once(), len(self.settings.splits)))

    def _sides(self, records: Mapping[str, Record]) -> Iterator[tuple[int, SideRecord]]:
        """Yield each split with its record."""
        for task in self._side_tasks():
            record: Any = records[task.key]
            sides = (record,) if task.kind == SIDE else record.sides
            yield from zip(self._mine(task), sides, strict=True)


def _evaluate_split(settings: RankingSettings, candidates: Candidates, split: Split) -> SideRecord:
    """Choose on the training side of a split, and evaluate the choice on the held-out side."""
    seen, unseen = _sides(candidates, split)
    chosen = Chosen.none()
    if len(candidates) > 1:
        means = candidates.evaluate(seen, [settings.tune_for])[0]
        chosen = Chosen.of(choose_point(settings, means, np.ones(means.shape[1], np.int32)))
    k = max(settings.depth, settings.kept)
    found = candidates.rank(unseen, [chosen.number], k=k, depth=k)
    measures, lists = [*settings.measures, settings.tune_for], found.documents[:, 0, 0]
    values = candidates.table.evaluate(
        found.ranks, candidates.counted(unseen), found.retrieved[:, 0], measures, settings.depth
    )[:, 0]
    held = split.test > 0
    estimates = document_estimates(
        settings, candidates.table, lists, held, values[:-1], share=len(settings.splits)
    )
    train = _seen_alike(settings, candidates, seen, int(held.sum()), chosen.number)
    return SideRecord(
        number=chosen.number,
        train=chosen.train,
        surface=chosen.surface,
        values=values,
        estimates=tuple(
            replace(one, train=mean, optimism=mean - one.value)
            for one, mean in zip(estimates, train, strict=True)
        ),
        documents=lists[:, : settings.kept],
        scores=found.scores[:, 0, 0, : settings.kept],
    )


def _sides(candidates: Candidates, split: Split) -> tuple[Side, Side]:
    """Return the training documents, and the held-out ones, scored as if added to the index."""
    index = candidates.index
    terms = weighted_statistics(
        index, candidates.vocabulary, np.minimum(split.train, 255).astype(np.uint8)[:, None]
    )
    zero = np.zeros(index.n_documents, np.int32)
    seen = Side(np.where(split.train > 0, 0, -1).astype(np.int32), zero, 1, terms, added=False)
    ranked = np.where(split.test > 0, 0, -1).astype(np.int32)
    return seen, Side(ranked, zero, 1, terms, added=True, relative=True)


def _seen_alike(
    settings: RankingSettings, candidates: Candidates, seen: Side, size: int, number: int
) -> list[float]:
    """Return the mean of each measure on parts of the training side of the held-out size."""
    table = candidates.table
    part = train_parts(settings, candidates, seen.statistics >= 0, size)
    parts = int(part.max()) + 1
    if not parts:
        return [float("nan")] * len(settings.measures)
    ranked = np.where(part >= 0, 0, -1).astype(np.int32)
    side = replace(seen, statistics=ranked, lists=np.maximum(part, 0), n_lists=parts)
    deepest = needed_depth(settings.measures, settings.depth)
    found = candidates.rank(side, [number], depth=deepest)
    means = [
        [
            mean_of(values)
            for values in table.evaluate(
                found.ranks,
                part[table.documents] == one,
                found.retrieved[:, one],
                settings.measures,
                settings.depth,
            )[:, 0]
        ]
        for one in range(parts)
    ]
    return [mean_of(np.array(column)) for column in zip(*means, strict=True)]
