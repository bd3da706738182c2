"""Choose parameters in each fold: for systems that are called or fitted on the training side.

Every parameter setting is tried on the training side of each split, on all of it or by inner folds.
The best one is used on the held-out side, which plays no part in the choice. The same is done once
on all data, for the parameters to use in the end.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from heldout.errors import InputError
from heldout.experiment.execution.tasks import EVERYTHING, Task
from heldout.experiment.systems.base import System
from heldout.experiment.systems.outcomes import Chosen
from heldout.resample.hashing import seed_word
from heldout.tune.choice import choose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.records import Record, TuneRecord

__all__ = [
    "TEST",
    "TUNE",
    "NestedSystem",
    "call_seed",
    "fold_means",
    "named_splits",
    "shown_split",
]

S = TypeVar("S", bound="Settings")

TUNE = "tune"
"""The kind of task that tries one parameter setting on a part of a training side."""
TEST = "test"
"""The kind of task that evaluates the chosen parameter setting on a held-out side."""


def shown_split(settings: Settings, task: Task) -> str:
    """Return the name of the split of a task, for messages and seeds."""
    return "all" if task.split == EVERYTHING else str(settings.splits.key(task.split))


def call_seed(seed: int, *parts: object) -> int:
    """Return the seed of one call, which depends on the random seed and the task alone."""
    return int(seed_word(seed, "call", *parts) >> np.uint64(33))


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedSystem(System[S]):
    """A system for which every parameter setting is tried on each training side."""

    @abstractmethod
    def why_no_choice(self, settings: S, tried: Sequence[TuneRecord]) -> str:
        """Return why no parameter setting can be chosen."""

    def tasks(self, settings: S) -> Iterator[Task]:
        """Yield every point on each training side and on all data, then one test per split."""
        if self.tuned:
            yield from self._tuning(settings)
        points = () if self.tuned else (0,)
        for split, shown in named_splits(settings):
            key = f"{self.name}/test/{shown}"
            yield Task(key, self.name, TEST, split, points=points, stage=int(self.tuned))

    def _tuning(self, settings: S) -> Iterator[Task]:
        inner = [-1] if settings.inner is None else range(settings.inner)
        for split, shown in [*named_splits(settings), (EVERYTHING, "all")]:
            for fold in inner:
                for point in range(len(self.points())):
                    part = f"/i{fold}" if fold >= 0 else ""
                    key = f"{self.name}/tune/{shown}{part}/p{point}"
                    yield Task(key, self.name, TUNE, split, fold, (point,))

    def resolve(
        self, tasks: Sequence[Task], settings: S, records: Mapping[str, Record]
    ) -> list[Task]:
        """Return the tests with the points chosen on their training sides."""
        if all(task.points for task in tasks):
            return list(tasks)
        chosen = self.choices(settings, records)
        return [replace(task, points=(chosen[task.split].number,)) for task in tasks]

    def choices(self, settings: S, records: Mapping[str, Record]) -> dict[int, Chosen]:
        """Return the choice for each split, and for all data."""
        splits = [*range(len(settings.splits)), EVERYTHING]
        if not self.tuned:
            return dict.fromkeys(splits, Chosen.none())
        by_split: dict[int, list[Task]] = {split: [] for split in splits}
        for task in self._tuning(settings):
            by_split[task.split].append(task)
        return {split: self._choose(settings, mine, records) for split, mine in by_split.items()}

    def _choose(self, settings: S, tasks: Sequence[Task], records: Mapping[str, Record]) -> Chosen:
        """Choose by the value of each query, averaged over the inner folds that contain it.

        For estimators there is one value per inner fold, and a point that failed in a fold is not
        chosen.
        """
        split = tasks[0].split
        tried: list[TuneRecord] = [records[task.key] for task in tasks]  # type: ignore[misc]
        rows = []
        for point in range(len(self.points())):
            mine = [one for one, task in zip(tried, tasks, strict=True) if task.points == (point,)]
            rows.append(fold_means(mine))
        values = np.stack(rows)
        weights = None
        if split != EVERYTHING and settings.by in {"query", "both"}:
            weights = settings.splits[split].train
        if not np.isfinite(values).any():
            raise InputError(f"{tasks[0].key}: {self.why_no_choice(settings, tried)}")
        return Chosen.of(
            choose(values, weights, rule=settings.rule, higher_is_better=settings.higher_is_better)
        )


def fold_means(tried: Sequence[TuneRecord]) -> NDArray[np.float64]:
    """Return the values per query at a point, averaged over the inner folds that contain it."""
    parts = np.stack([trial.values for trial in tried])
    if any(trial.failed is not None for trial in tried):
        parts[:] = np.nan
    there = np.isfinite(parts)
    times = there.sum(axis=0)
    total = np.where(there, parts, 0.0).sum(axis=0)
    return np.where(times > 0, total / np.maximum(times, 1), np.nan)


def named_splits(settings: Settings) -> list[tuple[int, str]]:
    """Return the number of each split, and its name in keys."""
    return [(at, str(settings.splits.key(at))) for at in range(len(settings.splits))]
