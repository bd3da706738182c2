"""The outcome of a system that is called: from the records of its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.experiment.documents.alignment import merge_lists
from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.make_estimates import document_estimates
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.ranked_lists import Lists, measure_lists, padded_lists
from heldout.experiment.execution.tasks import EVERYTHING
from heldout.experiment.systems.choose_in_folds import TEST, TUNE
from heldout.experiment.systems.outcomes import Chosen, FoldRow, HeldOut, Place, RankedOutcome
from heldout.experiment.systems.point_folds import id_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.documents.estimate import Estimate
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.calls import CallSystem
    from heldout.experiment.systems.records import RankedRecord, Record
    from heldout.resample.split import Split

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Tests = Mapping[int, RankedRecord]

__all__ = ["collect_calls", "collect_tests", "joined_lists"]


def collect_calls(
    system: CallSystem, settings: RankingSettings, records: Mapping[str, Record]
) -> RankedOutcome:
    """Combine the records of all calls."""
    chosen = system.choices(settings, records)
    tests: Tests = {
        task.split: records[task.key]  # type: ignore[misc]
        for task in system.tasks(settings)
        if task.kind == TEST
    }
    training = _training(system, settings, records, chosen[EVERYTHING].number)
    pooled = settings.by != "query" and bool(system.comparable)
    return collect_tests(settings, chosen, tests, training, pooled=pooled)


def collect_tests(
    settings: RankingSettings,
    chosen: Mapping[int, Chosen],
    tests: Tests,
    training: Floats,
    *,
    pooled: bool,
) -> RankedOutcome:
    """Combine the records of the held-out sides.

    Parameters
    ----------
    chosen, tests
        For each split, and for all data, the chosen point; for each split its record.
    training
        Measures × queries: values of the final point on the data it was chosen on.
    pooled
        Whether the held-out documents of all folds are merged into one ranking.
    """
    folds = tuple(
        FoldRow(Place.of(settings.splits.key(at)), chosen[at], mean_of(record.values[-1]))
        for at, record in tests.items()
    )
    if settings.by != "query" and not settings.splits.partitions:
        training = np.full_like(
            training, np.nan
        )  # not the number of documents that were held out, so not comparable
    if pooled:
        held_out, estimates = _pooled(settings, tests, training)
    else:
        held_out, estimates = [_alone(settings, at, one) for at, one in tests.items()], []
    return RankedOutcome(folds, chosen[EVERYTHING], tuple(held_out), training, tuple(estimates))


def _alone(settings: RankingSettings, at: int, record: RankedRecord) -> HeldOut:
    place = Place.of(settings.splits.key(at))
    return HeldOut(place, record.number, record.values[:-1], record.lists.top(settings.kept))


def _training(
    system: CallSystem, settings: RankingSettings, records: Mapping[str, Record], final: int
) -> Floats:
    """Return the values of the final point on all data, where known: by the tuning measure."""
    training = np.full((len(settings.measures), len(settings.collection.queries)), np.nan)
    if settings.inner is None and settings.tune_for in settings.measures:
        row = settings.measures.index(settings.tune_for)
        for task in system.tasks(settings):
            if (task.kind, task.split, task.points) == (TUNE, EVERYTHING, (final,)):
                training[row] = records[task.key].values  # type: ignore[attr-defined]
    return training


def _pooled(
    settings: RankingSettings, tests: Tests, training: Floats
) -> tuple[list[HeldOut], list[tuple[Estimate, ...]]]:
    """Merge the held-out documents of all folds of a repeat into one ranking."""
    table = RankTable.of(settings.collection)
    order = id_order(settings.collection)
    held_out, estimates = [], []
    for repeat in _by_repeat(settings, tests).values():
        parts = []
        for place, members in repeat.items():
            splits = [settings.splits[at] for at in members]
            lists = joined_lists([tests[at] for at in members], order, settings.depth)
            documents, asked = _ranked(settings, splits)
            counted = documents[table.documents] & asked[table.queries]
            values = measure_lists(table, lists, counted, settings.measures, settings.depth)
            numbers = {tests[at].number for at in members}
            number = numbers.pop() if len(numbers) == 1 else -1
            held_out.append(HeldOut(place, number, values, lists.top(settings.kept)))
            parts.append((asked, values, lists.documents))
        values, whole = parts[0][1:]
        for asked, own, documents_of_part in parts[1:]:
            values = np.where(asked, own, values)
            whole = np.where(asked[:, None], documents_of_part, whole)
        estimates.append(document_estimates(settings, table, whole, documents, values, training))
    return held_out, estimates


def _by_repeat(settings: RankingSettings, tests: Tests) -> dict[Place, dict[Place, list[int]]]:
    """Return, for each repeat, the splits whose documents are merged: those of the same queries."""
    found: dict[Place, dict[Place, list[int]]] = {}
    for at in tests:
        key = settings.splits.key(at)
        repeat = Place(key.repeat, run=key.run)
        mine = Place(key.repeat, key.fold, run=key.run) if settings.by == "both" else repeat
        found.setdefault(repeat, {}).setdefault(mine, []).append(at)
    return found


def joined_lists(
    records: Sequence[Lists | RankedRecord], order: NDArray[np.int32], depth: int
) -> Lists:
    """Merge the ranked lists of several folds."""
    width = max(record.documents.shape[1] for record in records)
    padded = [padded_lists(Lists(one.documents, one.scores), width) for one in records]
    documents = np.stack([one.documents for one in padded], axis=1)
    scores = np.stack([one.scores for one in padded], axis=1)
    return Lists(*merge_lists(documents, scores, order, depth))


def _ranked(settings: RankingSettings, splits: Sequence[Split]) -> tuple[Flags, Flags]:
    """Return the documents held out in any of the splits, and the queries that were ranked."""
    if settings.by == "both":
        documents = [split.documents.test > 0 for split in splits if split.documents is not None]
        return np.logical_or.reduce(documents), splits[0].test > 0
    held = np.logical_or.reduce([split.test > 0 for split in splits])
    return held, np.ones(len(settings.collection.queries), np.bool_)
