"""Do tasks: built-in models here, on threads of their own; calls here or in other processes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from heldout.errors import HeldoutError, InputError
from heldout.experiment.choices import choose_for_calls, choose_static, grid_values
from heldout.experiment.do_calls import call_of, do_run, finish_call, make_call, sendable
from heldout.experiment.do_models import do_both, do_folds, do_grid, do_lists, do_side
from heldout.experiment.shared import Parcel, parcel
from heldout.experiment.systems import ModelSystem, RunSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heldout.experiment.config import Settings
    from heldout.experiment.do_calls import Call
    from heldout.experiment.journal import Record
    from heldout.experiment.lists import Lists
    from heldout.experiment.tasks import Task
    from heldout.retrieve.index import Index

    Finished = Callable[[Task, Record, float], None]

__all__ = ["execute"]


def execute(
    settings: Settings,
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
        self, settings: Settings, tasks: Sequence[Task], records: dict[str, Record]
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
        if task.kind == "test":
            return choose_for_calls(self._settings, self._tasks, self._records, task.system)
        values = grid_values(self._tasks, self._records, task.system)
        system = self._settings.systems[task.system]
        return sorted({one.number for one in choose_static(self._settings, system, values)[0]})


def _do(
    settings: Settings,
    index: Index | None,
    tasks: Sequence[Task],
    chosen: _Chooser,
    workers: int,
) -> Iterator[tuple[Task, Record, float]]:
    calls = []
    for task in tasks:
        system = settings.systems[task.system]
        if not isinstance(system, ModelSystem | RunSystem):
            calls.append(task)
            continue
        begin = time.perf_counter()
        if isinstance(system, RunSystem):
            record = do_run(settings, system, task)
        else:
            if index is None:
                raise InputError(f"{system.name}: there is no index")
            record = _do_model(settings, index, system, task, chosen)
        yield task, record, time.perf_counter() - begin
    if calls:
        yield from _do_calls(settings, calls, chosen, workers)


def _do_model(
    settings: Settings, index: Index, system: ModelSystem, task: Task, chosen: _Chooser
) -> Record:
    if task.kind == "grid":
        return do_grid(settings, index, system, task)
    if task.kind == "lists":
        return do_lists(settings, index, system, chosen.numbers(task))
    works = {"folds": do_folds, "both": do_both, "side": do_side}
    return works[task.kind](settings, index, system, task.split)


def _do_calls(
    settings: Settings, tasks: Sequence[Task], chosen: _Chooser, workers: int
) -> Iterator[tuple[Task, Record, float]]:
    here = workers < 2 or len(tasks) < 2
    sent = Parcel("") if here else parcel(settings)
    calls = [
        call_of(settings, sent, task, task.point if task.point >= 0 else _point(task, chosen))
        for task in tasks
    ]
    for at, lists, seconds in _here(settings, calls) if here else _elsewhere(calls, workers):
        yield tasks[at], finish_call(settings, tasks[at], calls[at], lists), seconds


def _point(task: Task, chosen: _Chooser) -> int:
    """The point that was chosen, or the only one there is."""
    return chosen.numbers(task)[0] if task.stage else 0


def _here(settings: Settings, calls: Sequence[Call]) -> Iterator[tuple[int, Lists, float]]:
    for at, call in enumerate(calls):
        begin = time.perf_counter()
        lists = make_call(call, settings.collection)
        yield at, lists, time.perf_counter() - begin


def _elsewhere(calls: Sequence[Call], workers: int) -> Iterator[tuple[int, Lists, float]]:
    from joblib import Parallel, delayed  # type: ignore[import-untyped]

    # Records are written as they come; the order does not matter to the results.
    pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    for at, lists, seconds, reason in pool(
        delayed(_call_there)(at, sendable(call)) for at, call in enumerate(calls)
    ):
        if lists is None:
            raise InputError(reason)
        yield at, lists, seconds


def _call_there(at: int, call: Call) -> tuple[int, Lists | None, float, str]:
    """In another process: errors come back as text, since not every error can be sent."""
    begin = time.perf_counter()
    try:
        return at, make_call(call), time.perf_counter() - begin, ""
    except HeldoutError as error:
        return at, None, time.perf_counter() - begin, str(error)
