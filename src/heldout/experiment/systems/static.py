"""Systems whose ranking of a query depends on their parameters alone.

Each parameter setting is ranked once, on all queries. The values for any split, and the choice in
it, are then read from one table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.ranked_lists import NONE, Lists
from heldout.experiment.execution.tasks import Task
from heldout.experiment.systems.outcomes import Chosen, FoldRow, HeldOut, Place, RankedOutcome
from heldout.tune.choice import choose_in_splits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import System
    from heldout.experiment.systems.records import RankedRecord, Record
    from heldout.resample.split import Splits

    Floats = NDArray[np.float64]
    RankingSystem = System[RankingSettings]

__all__ = [
    "FOLDS",
    "POINT",
    "choose_static",
    "collect_points",
    "collect_static",
    "folds_needed",
    "folds_tasks",
    "lists_of_some",
    "point_tasks",
    "point_values",
    "selected_numbers",
]

POINT = "point"
"""The kind of task that ranks all queries at one point."""


FOLDS = "folds"
"""The kind of task that evaluates all document folds of one repeat."""


def folds_needed(name: str, splits: Splits, by: str) -> Iterator[tuple[str, str]]:
    """Yield that documents must be divided into folds, if they are not."""
    if by == "document" and not splits.partitions:
        yield "plan", f"{name}: the held-out documents are merged, which needs folds (kfold, given)"


def folds_tasks(name: str, settings: RankingSettings) -> Iterator[Task]:
    """Yield one task per repeat of document folds."""
    for repeat in range(settings.splits.repeats):
        yield Task(f"{name}/folds/r{repeat}", name, FOLDS, repeat)


def point_tasks(system: RankingSystem) -> Iterator[Task]:
    """Yield one task per point."""
    for number in range(len(system.points())):
        yield Task(f"{system.name}/point/p{number}", system.name, POINT, points=(number,))


def collect_points(
    system: RankingSystem, settings: RankingSettings, records: Mapping[str, Record]
) -> RankedOutcome:
    """Combine the records of all points."""
    found = _point_records(system, records)
    values = point_values(system, records)
    return collect_static(settings, values, {at: one.lists for at, one in enumerate(found)})


def _point_records(system: RankingSystem, records: Mapping[str, Record]) -> list[RankedRecord]:
    return [records[task.key] for task in point_tasks(system)]  # type: ignore[misc]


def point_values(system: RankingSystem, records: Mapping[str, Record]) -> Floats:
    """Return measures × points × queries, the tuning measure last, from the records of points."""
    return np.stack([one.values for one in _point_records(system, records)], axis=1)


def selected_numbers(settings: RankingSettings, values: Floats) -> list[int]:
    """Return the point chosen for each split and, last, for all data.

    Parameters
    ----------
    values
        Measures × points × queries, the tuning measure last.
    """
    chosen, final = choose_static(settings, values)
    return [*(one.number for one in chosen), final.number]


def choose_static(settings: RankingSettings, values: Floats) -> tuple[list[Chosen], Chosen]:
    """Choose for each split, and for all data, by the values of all points on all queries.

    Parameters
    ----------
    values
        Measures × points × queries, the tuning measure last.
    """
    chosen, final = choose_in_splits(
        values[-1],
        settings.splits,
        rule=settings.rule,
        higher_is_better=settings.higher_is_better,
    )
    found = [
        replace(Chosen.of(one), held_out=_means(values[-1], split.test))
        for one, split in zip(chosen, settings.splits, strict=True)
    ]
    return found, Chosen.of(final)


def _means(values: Floats, weights: NDArray[np.int32]) -> Floats:
    """Return the mean of each row over the units with a weight; NaN: it has no value there."""
    there = np.isfinite(values) * weights
    total, times = (np.where(there > 0, values, 0.0) * weights).sum(axis=1), there.sum(axis=1)
    return np.where(times > 0, total / np.maximum(times, 1), np.nan)


def collect_static(
    settings: RankingSettings, values: Floats, lists: Mapping[int, Lists]
) -> RankedOutcome:
    """Read the held-out values of each split from the values of all points.

    Parameters
    ----------
    values
        Measures × points × queries, the tuning measure last.
    lists
        The top of the ranked lists, for the points that are chosen anywhere.
    """
    chosen, final = choose_static(settings, values)
    folds, held_out = [], []
    for split, choice in zip(settings.splits, chosen, strict=True):
        place, mine = Place.of(split.key), split.test > 0
        own = np.where(mine, values[:, choice.number], np.nan)
        folds.append(FoldRow(place, choice, mean_of(np.repeat(own[-1], split.test))))
        top = lists_of_some(lists[choice.number], mine)
        held_out.append(HeldOut(place, choice.number, own[:-1], top))
    return RankedOutcome(
        tuple(folds), final, tuple(held_out), values[:-1, final.number], points=values
    )


def lists_of_some(lists: Lists, mine: NDArray[np.bool_]) -> Lists:
    """Return the lists of some queries; those of the others are empty."""
    documents = np.where(mine[:, None], lists.documents, NONE).astype(np.int32)
    return Lists(documents, np.where(mine[:, None], lists.scores, -np.inf))
