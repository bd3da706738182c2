"""The tasks of an experiment: independent, named, and known before anything runs.

A task's result depends on the settings and its key alone, so tasks can be done in any order, by any
number of workers, today or after a crash. What is held out is not touched before a value has been
chosen for it: tasks of the second stage need the choices that follow from the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from heldout.experiment.systems import CallSystem, ModelSystem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.experiment.config import Settings
    from heldout.experiment.estimator_settings import EstimatorSettings
    from heldout.experiment.systems import System

__all__ = ["CHUNK", "EVERYTHING", "Kind", "Task", "is_static", "plan_tasks"]

Kind = Literal["grid", "point", "lists", "folds", "both", "side", "tune", "test"]

CHUNK: Final = 32
"""Values of a model that are ranked in one task: as many as are scored in one walk."""

EVERYTHING: Final = -1
"""In place of a split: nothing is held out (the choice of the parameters to ship)."""


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work.

    Parameters
    ----------
    key
        Its name, different from all others.
    kind
        ``grid``: some values of a model on all queries; ``point``: one run, or a transformer that
        learns nothing, on all queries; ``lists``: the rankings of chosen values; ``folds``,
        ``both``, ``side``: a model under document folds, two-way folds, another split of documents;
        ``tune``, ``test``: a call of a system, or the fit of an estimator, on a train side and on a
        held-out side.
    system
        Its number.
    split
        The number of the split, or of the repeat (``folds``, ``both``); `EVERYTHING` for the choice
        of the parameters to ship.
    inner
        The number of the inner fold; −1: none.
    point
        The number of the (first) point; −1: the one that is chosen.
    stage
        0, or 1 for what needs the choices that follow from stage 0.
    """

    key: str
    kind: Kind
    system: int
    split: int = EVERYTHING
    inner: int = -1
    point: int = -1
    stage: int = 0


def is_static(system: System, by: str) -> bool:
    """Whether the ranking of a query depends on nothing but the parameters."""
    return by == "query" and (not isinstance(system, CallSystem) or not system.learns)


def plan_tasks(settings: Settings | EstimatorSettings) -> tuple[Task, ...]:
    """All tasks, in the order of the systems; those of stage 1 after all of stage 0."""
    tasks = [
        task
        for number, system in enumerate(settings.systems)
        for task in _of_system(settings, number, system)
    ]
    return tuple(sorted(tasks, key=lambda task: task.stage))  # a stable sort


def _of_system(
    settings: Settings | EstimatorSettings, number: int, system: System
) -> Iterator[Task]:
    name = system.name
    if is_static(system, settings.by):
        yield from _static(number, system)
    elif isinstance(system, ModelSystem):
        splits = settings.splits
        if settings.by == "both":
            for repeat in range(splits.repeats):
                yield Task(f"{name}/both/r{repeat}", "both", number, repeat)
        elif splits.partitions:
            for repeat in range(splits.repeats):
                yield Task(f"{name}/folds/r{repeat}", "folds", number, repeat)
        else:
            yield from _grid(number, system)  # for the parameters to ship
            for split in range(len(splits)):
                yield Task(f"{name}/side/{splits.key(split)}", "side", number, split)
    else:
        yield from _calls(settings, number, system)


def _static(number: int, system: System) -> Iterator[Task]:
    name, count = system.name, len(system.points())
    if isinstance(system, ModelSystem):
        yield from _grid(number, system)
        yield Task(f"{name}/lists", "lists", number, stage=1)
        return
    for point in range(count):
        yield Task(f"{name}/point/p{point}", "point", number, point=point)


def _grid(number: int, system: System) -> Iterator[Task]:
    for point in range(0, len(system.points()), CHUNK):
        yield Task(f"{system.name}/grid/p{point}", "grid", number, point=point)


def _calls(settings: Settings | EstimatorSettings, number: int, system: System) -> Iterator[Task]:
    name, splits = system.name, settings.splits
    keys = [(at, str(splits.key(at))) for at in range(len(splits))]
    if system.tuned:
        inner = [-1] if settings.inner is None else range(settings.inner)
        for split, shown in [*keys, (EVERYTHING, "all")]:
            for fold in inner:
                for point in range(len(system.points())):
                    part = f"/i{fold}" if fold >= 0 else ""
                    key = f"{name}/tune/{shown}{part}/p{point}"
                    yield Task(key, "tune", number, split, fold, point)
    for split, shown in keys:
        yield Task(f"{name}/test/{shown}", "test", number, split, stage=int(system.tuned))
