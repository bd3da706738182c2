"""Built-in models under two-way folds: held-out queries on held-out documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.make_estimates import document_estimates
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.ranked_lists import Lists
from heldout.experiment.execution.tasks import Task
from heldout.experiment.systems.model_folds import merged_outcome, single_point
from heldout.experiment.systems.model_records import TwoWayRecord
from heldout.experiment.systems.model_schemes import Scheme, choose_point
from heldout.experiment.systems.outcomes import Chosen, FoldRow, HeldOut, Place, RankedOutcome
from heldout.experiment.systems.static import lists_of_some
from heldout.retrieve.sides import seen_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from heldout.experiment.systems.records import Record
    from heldout.retrieve.index import Index

    Numbers = NDArray[np.int32]

__all__ = ["BOTH", "TwoWayFolds"]

BOTH = "both"
"""The kind of task that evaluates all folds of queries and documents of one repeat."""


class TwoWayFolds(Scheme):
    """One task per repeat.

    For each fold of the queries, parameters are chosen for each fold of the documents, on the
    queries and documents that neither fold contains. The documents are then merged into one
    ranking.
    """

    def tasks(self) -> Iterator[Task]:
        """Yield one task per repeat."""
        name = self.system.name
        for repeat in range(self.settings.splits.repeats):
            yield Task(f"{name}/both/r{repeat}", name, BOTH, repeat)

    def perform(self, task: Task, index: Index) -> TwoWayRecord:
        """Choose for each pair of folds, rank its held-out documents, and merge them."""
        settings = self.settings
        # A plan with one repeat is used for all repeats.
        crossed: Any = settings.splits.crossed
        queries, documents = (part.folds(task.split % part.repeats) for part in crossed)
        candidates = self.candidates(index)
        vocabulary = candidates.vocabulary
        counts = int(queries.max()) + 1, int(documents.max()) + 1
        table, measures = candidates.table, [*settings.measures, settings.tune_for]
        tuning = [
            candidates.evaluate(
                seen_side(index, vocabulary, (documents >= 0) & (documents != fold)),
                [settings.tune_for],
            )[0]
            for fold in (*range(counts[1]), counts[1])  # the last one: no document is held out
        ]
        values = np.full((len(measures), table.n_queries), np.nan)
        lists = np.full((table.n_queries, max(settings.depth, settings.kept)), -1, np.int32)
        scores = np.full(lists.shape, -np.inf)
        counted = (documents >= 0)[table.documents]
        chosen, train, surface = [], [], []
        for fold in range(counts[0]):
            seen = ((queries >= 0) & (queries != fold)).astype(np.int32)
            picks = [choose_point(settings, one, seen) for one in tuning]
            own = [pick.number for pick in picks[:-1]]
            pooled = pool(candidates, documents, own, picks[-1].number, lists.shape[1])
            found = table.evaluate(
                pooled.ranks[:, None], counted, pooled.retrieved, measures, settings.depth
            )[:, 0]
            mine = queries == fold
            values[:, mine], lists[mine], scores[mine] = (
                found[:, mine],
                pooled.documents[mine],
                pooled.scores[mine],
            )
            chosen.append(tuple(own))
            train.append(tuple(pick.mean for pick in picks[:-1]))
            surface.append([pick.means for pick in picks[:-1]])
        final = choose_point(settings, tuning[-1], (queries >= 0).astype(np.int32))
        training = candidates.evaluate(
            seen_side(index, vocabulary, documents >= 0), settings.measures, [final.number]
        )[:, 0]
        return TwoWayRecord(
            query_folds=queries,
            chosen=tuple(chosen),
            train=tuple(train),
            surface=np.array(surface),
            final=final.number,
            final_surface=final.means,
            values=values,
            train_values=np.where(queries >= 0, training, np.nan),
            estimates=document_estimates(
                settings, table, lists, documents >= 0, values[:-1], training
            ),
            documents=lists[:, : settings.kept],
            scores=scores[:, : settings.kept],
        )

    def collect(self, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the folds of all repeats, and the merged ranking of each fold of the queries."""
        folds, held_out, found = [], [], []
        for task in self.tasks():
            record: Any = records[task.key]
            for fold, numbers in enumerate(record.chosen):
                mine = record.query_folds == fold
                values = np.where(mine, record.values, np.nan)
                for other, number in enumerate(numbers):
                    means = record.surface[fold, other]
                    chosen = Chosen(number, record.train[fold][other], means)
                    place = Place(task.split, fold, other)
                    folds.append(FoldRow(place, chosen, mean_of(values[-1])))
                lists = lists_of_some(Lists(record.documents, record.scores), mine)
                place = Place(task.split, fold)
                held_out.append(HeldOut(place, single_point(numbers), values[:-1], lists))
            found.append(record)
        return merged_outcome(folds, held_out, found)
