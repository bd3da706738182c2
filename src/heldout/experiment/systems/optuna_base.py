"""Searches by Optuna: what any system has whose points are proposed one after the other.

What is proposed depends on what was found on a train side, so each train side has a search of its
own. One task does all of it, and then measures the point it has chosen on what is held out: it is
sequential inside, and depends on no other task, so that it can be done anywhere, or again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from heldout.data.notes import count_of
from heldout.errors import InputError
from heldout.experiment.execution.tasks import EVERYTHING, Task
from heldout.experiment.systems.choose_in_folds import call_seed, named_splits, shown_split
from heldout.experiment.systems.outcomes import Chosen
from heldout.experiment.systems.records import Record
from heldout.tune.search import search_optuna

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from heldout.data.words import Floats
    from heldout.experiment.manifest import AxisRecord, SystemRecord
    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.base import Point, Value
    from heldout.tune.search import Trials
    from heldout.tune.space import Space

    Objective = Callable[[Point], Floats]

__all__ = ["SEARCH", "SearchRecord", "Searched"]

SEARCH = "search"
"""The kind of a task that searches on one train side."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchRecord(Record):
    """A search on one train side.

    Parameters
    ----------
    points
        The values of the parameters at each trial, in the order of the trials.
    means
        What each trial got on the train side, by the measure that points are chosen by.
    trial
        The one that was chosen.
    """

    points: tuple[tuple[Value, ...], ...]
    means: Floats
    trial: int


class Searched:
    """What systems have in common whose points Optuna proposes; comes before their own class."""

    __slots__ = ()

    PACKAGES: ClassVar[tuple[str, ...]] = ("optuna",)
    tries_everywhere: ClassVar[bool] = False

    if TYPE_CHECKING:  # fields of the classes that it comes before
        name: str
        space: Space
        parameters: tuple[tuple[str, Value], ...]
        trials: int
        tried: tuple[Point, ...]

    def points(self) -> tuple[Point, ...]:
        """The points that were tried on any train side; none before the run."""
        return self.tried

    def shown_points(self) -> str:
        """How many points are tried, in words."""
        return f"{count_of(self.trials, 'trial')} of Optuna on each train side"

    @property
    def tuned(self) -> bool:
        """Yes: that is what a search is for."""
        return True

    def edges(self, number: int) -> tuple[str, ...]:
        """The parameters whose value is at an end of their range."""
        point = self.tried[number]
        return tuple(one.name for one in self.space.axes if one.at_edge(point[one.name]))

    def describe_search(self, system: SystemRecord) -> SystemRecord:
        """Return the description of a system with that of its search."""
        axes: dict[str, AxisRecord] = {
            axis.name: {"values": list(axis.values), "scale": axis.scale}
            for axis in self.space.axes
        }
        return {**system, "search": "optuna", "trials": self.trials, "space": axes}

    def tasks(self, settings: Settings) -> Iterator[Task]:
        """One for each split, and one for everything."""
        for split, shown in [*named_splits(settings), (EVERYTHING, "all")]:
            yield Task(f"{self.name}/search/{shown}", self.name, SEARCH, split)

    def resolve(
        self, tasks: Sequence[Task], settings: Settings, records: Mapping[str, Record]
    ) -> list[Task]:
        """Nothing is left to choose between tasks."""
        del settings, records
        return list(tasks)

    def search(self, task: Task, settings: Settings, objective: Objective) -> Trials:
        """Try points on the train side of a task; the seed and the task decide the first ones."""
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
        """The same with the points that were tried on any train side, each once."""
        tried = tuple(self.point(row) for row in self.numbers(settings, records))
        return replace(self, tried=tried)  # type: ignore[type-var]

    def point(self, row: Sequence[Value]) -> Point:
        """The parameters of a trial, from its row in a record."""
        return dict(zip((one.name for one in self.space.axes), row, strict=True))

    def choices(self, settings: Settings, records: Mapping[str, Record]) -> dict[int, Chosen]:
        """What was chosen for each split, and for everything, each by its own search."""
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
        """The number of each row that was tried on any train side."""
        rows = dict.fromkeys(
            row for task in self.tasks(settings) for row in _record(records, task).points
        )
        return {row: at for at, row in enumerate(rows)}


def _record(records: Mapping[str, Record], task: Task) -> SearchRecord:
    return records[task.key]  # type: ignore[return-value]
