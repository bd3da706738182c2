"""Do tasks: models here, on threads of their own; calls and fits here or in other processes."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self

from heldout.errors import HeldoutError, InputError
from heldout.experiment.choices import choose_for_calls, choose_static, grid_values
from heldout.experiment.do_calls import call_of, do_run
from heldout.experiment.do_fits import FitMaker
from heldout.experiment.do_models import do_both, do_folds, do_grid, do_lists, do_side
from heldout.experiment.estimator_settings import EstimatorSettings
from heldout.experiment.shared import Parcel, parcel
from heldout.experiment.systems import ModelSystem, RunSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from heldout.experiment.config import Settings
    from heldout.experiment.journal import Record
    from heldout.experiment.tasks import Task
    from heldout.retrieve.index import Index

    Finished = Callable[[Task, Record, float], None]

__all__ = ["execute"]


def execute(
    settings: Settings | EstimatorSettings,
    index: Index | None,
    tasks: Sequence[Task],
    records: dict[str, Record],
    *,
    workers: int,
    finished: Finished,
) -> None:
    """Do what is not done yet, stage by stage.

    Parameters
    ----------
    records
        What is done, by key; what comes is added.
    workers
        Processes for systems that are called; with 1 they are called here.
    finished
        Told of each task, its record and the seconds it took.
    """
    for stage in (0, 1):
        waiting = [one for one in tasks if one.stage == stage and one.key not in records]
        chosen = _Chooser(settings, tasks, records)
        for task, record, seconds in _do(settings, index, waiting, chosen, workers):
            records[task.key] = record
            finished(task, record, seconds)


class _Chooser:
    """The points of tasks of stage 1; worked out once for each system."""

    def __init__(
        self,
        settings: Settings | EstimatorSettings,
        tasks: Sequence[Task],
        records: dict[str, Record],
    ) -> None:
        self._settings, self._tasks, self._records = settings, tasks, records
        self._known: dict[int, Any] = {}

    def numbers(self, task: Task) -> list[int]:
        """The points that were chosen for a task."""
        if task.system not in self._known:
            self._known[task.system] = self._choose(task)
        known = self._known[task.system]
        return known if task.kind == "lists" else [known[task.split].number]

    def _choose(self, task: Task) -> Any:
        settings = self._settings
        if task.kind == "test" or isinstance(settings, EstimatorSettings):
            return choose_for_calls(settings, self._tasks, self._records, task.system)
        values = grid_values(self._tasks, self._records, task.system)
        system = settings.systems[task.system]
        return sorted({one.number for one in choose_static(settings, system, values)[0]})


def _do(
    settings: Settings | EstimatorSettings,
    index: Index | None,
    tasks: Sequence[Task],
    chosen: _Chooser,
    workers: int,
) -> Iterator[tuple[Task, Record, float]]:
    calls = list(tasks)
    if not isinstance(settings, EstimatorSettings):
        kinds = [isinstance(settings.systems[one.system], ModelSystem | RunSystem) for one in tasks]
        built_in = [task for task, mine in zip(tasks, kinds, strict=True) if mine]
        calls = [task for task, mine in zip(tasks, kinds, strict=True) if not mine]
        yield from _do_built_in(settings, index, built_in, chosen)
    if calls:
        yield from _do_calls(settings, calls, chosen, workers)


def _do_built_in(
    settings: Settings, index: Index | None, tasks: Sequence[Task], chosen: _Chooser
) -> Iterator[tuple[Task, Record, float]]:
    """Models, and runs that are there already."""
    for task in tasks:
        system = settings.systems[task.system]
        begin = time.perf_counter()
        if isinstance(system, RunSystem):
            record = do_run(settings, system, task)
        else:
            if index is None or not isinstance(system, ModelSystem):
                raise InputError(f"{system.name}: there is no index")
            record = _do_model(settings, index, system, task, chosen)
        yield task, record, time.perf_counter() - begin


def _do_model(
    settings: Settings, index: Index, system: ModelSystem, task: Task, chosen: _Chooser
) -> Record:
    if task.kind == "grid":
        return do_grid(settings, index, system, task)
    if task.kind == "lists":
        return do_lists(settings, index, system, chosen.numbers(task))
    works = {"folds": do_folds, "both": do_both, "side": do_side}
    return works[task.kind](settings, index, system, task.split)


class _Work(Protocol):
    """A call of a system, or the fit of an estimator."""

    def sendable(self) -> Self:
        """The same, as another process can be sent it."""

    def make(self, shared: Any = None) -> Any:
        """Do it; `shared` is the collection or the data, where this process has it."""

    def record(self, settings: Any, task: Task, found: Any, /) -> Record:
        """What goes into the journal."""


def _do_calls(
    settings: Settings | EstimatorSettings, tasks: Sequence[Task], chosen: _Chooser, workers: int
) -> Iterator[tuple[Task, Record, float]]:
    here = workers < 2 or len(tasks) < 2
    make = _maker(settings, here=here)
    # What is chosen is asked for now: in the midst of dispatching, nobody would hear an error.
    numbers = [task.point if task.point >= 0 else _point(task, chosen) for task in tasks]
    waiting: dict[int, _Work] = {}

    def coming() -> Iterator[tuple[int, _Work]]:
        for at, task in enumerate(tasks):
            waiting[at] = make(task, numbers[at])
            yield at, waiting[at]

    done = _here(settings, coming()) if here else _elsewhere(coming(), workers)
    for at, found, seconds in done:
        yield tasks[at], waiting.pop(at).record(settings, tasks[at], found), seconds


def _maker(settings: Settings | EstimatorSettings, *, here: bool) -> Callable[[Task, int], _Work]:
    if isinstance(settings, EstimatorSettings):
        return FitMaker(settings, None if here else settings.data.parcel())
    return partial(call_of, settings, Parcel("") if here else parcel(settings))


def _point(task: Task, chosen: _Chooser) -> int:
    """The point that was chosen, or the only one there is."""
    return chosen.numbers(task)[0] if task.stage else 0


def _here(
    settings: Settings | EstimatorSettings, works: Iterable[tuple[int, _Work]]
) -> Iterator[tuple[int, Any, float]]:
    for at, work in works:
        begin = time.perf_counter()
        found = work.make(settings.shared)
        yield at, found, time.perf_counter() - begin


def _elsewhere(
    works: Iterable[tuple[int, _Work]], workers: int
) -> Iterator[tuple[int, Any, float]]:
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    # Records are written as they come; the order does not matter to the results.
    pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    for at, found, seconds, reason in pool(
        delayed(_do_there)(at, work.sendable()) for at, work in works
    ):
        if found is None:
            raise InputError(reason)
        yield at, found, seconds


def _do_there(at: int, work: _Work) -> tuple[int, Any, float, str]:
    """In another process: errors come back as text, since not every error can be sent."""
    begin = time.perf_counter()
    try:
        return at, work.make(), time.perf_counter() - begin, ""
    except HeldoutError as error:
        return at, None, time.perf_counter() - begin, str(error)
