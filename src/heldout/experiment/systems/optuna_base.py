"""Searches by Optuna: the common part of systems whose parameter settings are proposed in turn.

A proposal depends on the values found on a training side, so each training side has its own search.
One task does the whole search and then evaluates the chosen point on the held-out side. It is
sequential inside and depends on no other task, so it can run anywhere, and can be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from heldout.errors import InputError
from heldout.experiment.execution.tasks import EVERYTHING, Task
from heldout.experiment.systems.choose_in_folds import call_seed, named_splits, shown_split
from heldout.experiment.systems.outcomes import Chosen
from heldout.experiment.systems.records import Record
from heldout.notes import count_of
from heldout.tune.search import search_optuna

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from heldout.data.words import Floats
    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.base import Point, Value
    from heldout.tune.search import Trials
    from heldout.tune.space import Point as TrialPoint
    from heldout.tune.space import Space

    Objective = Callable[[TrialPoint], Floats]

__all__ = ["SEARCH", "SearchRecord", "Searched"]

SEARCH = "search"
"""The kind of task that searches on one training side."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchRecord(Record):
    """A search on one training side.

    Parameters
    ----------
    points
        The parameter values of each trial, in the order of the trials.
    means
        The mean of each trial on the training side, by the tuning measure.
    trial
        The chosen trial.
    """

    points: tuple[tuple[Value, ...], ...]
    means: Floats
    trial: int


class Searched:
    """The common part of systems with a search by Optuna; it comes before their own class."""

    __slots__ = ()

    PACKAGES: ClassVar[tuple[str, ...]] = ("optuna",)
    tries_everywhere: ClassVar[bool] = False

    if TYPE_CHECKING:  # fields of the classes it is combined with
        name: str
        space: Space
        parameters: tuple[tuple[str, Value], ...]
        trials: int
        tried: tuple[Point, ...]

    def points(self) -> tuple[Point, ...]:
        """Return the points tried on any training side; none before the run."""
        return self.tried

    def point_at(self, number: int) -> Point:
        """Return one of the points that were tried."""
        return self.tried[number]

    def shown_points(self) -> str:
        """Describe how many points are tried."""
        return f"{count_of(self.trials, 'trial')} of Optuna per training side"

    @property
    def tuned(self) -> bool:
        """Return True: a search always tunes."""
        return True

    def edges(self, number: int) -> tuple[str, ...]:
        """Return the parameters whose value is at an end of their range."""
        point = self.tried[number]
        return tuple(axis.name for axis in self.space.axes if axis.at_edge(point[axis.name]))

    def describe_search(self, system: dict[str, Any]) -> dict[str, Any]:
        """Return the description of a system with that of its search."""
        axes: dict[str, dict[str, Any]] = {
            axis.name: {"values": list(axis.values), "scale": axis.scale}
            for axis in self.space.axes
        }
        return {**system, "search": "optuna", "trials": self.trials, "space": axes}

    def tasks(self, settings: Settings) -> Iterator[Task]:
        """Yield one task per split, and one for all data."""
        for split, shown in [*named_splits(settings), (EVERYTHING, "all")]:
            yield Task(f"{self.name}/search/{shown}", self.name, SEARCH, split)

    def resolve(
        self, tasks: Sequence[Task], settings: Settings, records: Mapping[str, Record]
    ) -> list[Task]:
        """Return the tasks as they are: each one chooses for itself."""
        del settings, records
        return list(tasks)

    def search(self, task: Task, settings: Settings, objective: Objective) -> Trials:
        """Try points on the training side of a task, with a seed of its own."""
        try:
            return search_optuna(
                objective,
                self.space,
                self.trials,
                call_seed(settings.seed, SEARCH, self.name, shown_split(settings, task)),
                rule=settings.rule,
                higher_is_better=settings.higher_is_better,
            )
        except InputError as error:
            raise InputError(f"{task.key}: {error}") from error

    def as_tried(self, settings: Settings, records: Mapping[str, Record]) -> Self:
        """Return the system with the points tried on any training side, each once."""
        tried = tuple(self.point(row) for row in self.numbers(settings, records))
        return replace(self, tried=tried)  # type: ignore[type-var]

    def point(self, row: Sequence[Value]) -> Point:
        """Return the parameters of a trial, from its row in a record."""
        return dict(zip((axis.name for axis in self.space.axes), row, strict=True))

    def choices(self, settings: Settings, records: Mapping[str, Record]) -> dict[int, Chosen]:
        """Return the choice for each split and for all data, each by its own search."""
        numbers = self.numbers(settings, records)
        chosen = {}
        for task in self.tasks(settings):
            one = _record(records, task)
            surface = np.full(len(numbers), np.nan)
            surface[[numbers[row] for row in one.points]] = one.means
            number = numbers[one.points[one.trial]]
            chosen[task.split] = Chosen(number, float(one.means[one.trial]), surface)
        return chosen

    def numbers(
        self, settings: Settings, records: Mapping[str, Record]
    ) -> dict[tuple[Value, ...], int]:
        """Return the number of each row that was tried on any training side."""
        rows = dict.fromkeys(
            row for task in self.tasks(settings) for row in _record(records, task).points
        )
        return {row: at for at, row in enumerate(rows)}


def _record(records: Mapping[str, Record], task: Task) -> SearchRecord:
    return records[task.key]  # type: ignore[return-value]
