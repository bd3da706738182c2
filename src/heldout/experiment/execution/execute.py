"""Do the tasks of an experiment, stage by stage, here and elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.experiment.execution.executors import InProcess
from heldout.experiment.execution.tasks import STAGES
from heldout.experiment.systems.base import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heldout.experiment.execution.executors import Executor
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.records import Record
    from heldout.retrieve.shards import AnyIndex

    Finished = Callable[[Task, Record, float], None]

__all__ = ["execute"]


def execute(
    settings: Settings,
    index: AnyIndex | None,
    tasks: Sequence[Task],
    records: dict[str, Record],
    *,
    executor: Executor | None,
    finished: Finished,
) -> None:
    """Do what is not done yet, stage by stage.

    Parameters
    ----------
    records
        What is done, by key; what comes is added.
    executor
        Does what can be done elsewhere; None: everything is done here.
    finished
        Told of each task, its record and the seconds it took.
    """
    in_process = InProcess(Context(settings, index))
    for stage in STAGES:
        waiting = [one for one in tasks if one.stage == stage and one.key not in records]
        # Points are chosen before anything is sent: an error amid dispatching would be lost.
        ready = list(_resolved(settings, waiting, records))
        away = [task for task in ready if _goes(settings, task, executor)]
        near = [task for task in ready if not _goes(settings, task, executor)]
        # One task is not worth a process of its own; a cluster is asked for even one.
        other: Executor = in_process
        if executor is not None and (executor.cluster or len(away) > 1):
            other = executor
        for one, own in ((in_process, near), (other, away)):
            for task, record, seconds in one.run_tasks(own):
                records[task.key] = record
                finished(task, record, seconds)


def _resolved(
    settings: Settings, tasks: Sequence[Task], records: dict[str, Record]
) -> Iterator[Task]:
    """Tasks with the points that their systems have chosen for them."""
    for system in settings.systems:
        mine = [task for task in tasks if task.system == system.name]
        if mine:
            yield from system.resolve(mine, settings, records)


def _goes(settings: Settings, task: Task, executor: Executor | None) -> bool:
    """Whether a task is done elsewhere."""
    if executor is None:
        return False
    return settings.system(task.system).runs_elsewhere(cluster=executor.cluster)
