"""Do the tasks of an experiment, stage by stage, wherever there are hands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.experiment.choices import choose_for_calls, choose_static, grid_values
from heldout.experiment.estimator_settings import EstimatorSettings
from heldout.experiment.executors import Here
from heldout.experiment.jobs import Job, Workshop
from heldout.experiment.systems import ModelSystem, RunSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.experiment.config import Settings
    from heldout.experiment.executors import Executor
    from heldout.experiment.journal import Record
    from heldout.experiment.tasks import Task
    from heldout.retrieve.shards import AnyIndex

    Finished = Callable[[Task, Record, float], None]

__all__ = ["execute"]


def execute(
    settings: Settings | EstimatorSettings,
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
    here = Here(Workshop(settings, index))
    for stage in (0, 1):
        waiting = [one for one in tasks if one.stage == stage and one.key not in records]
        chosen = _Chooser(settings, tasks, records)
        # What is chosen is asked for now: in the midst of dispatching, nobody would hear an error.
        jobs = [_job(task, chosen) for task in waiting]
        away = [job for job in jobs if _goes(settings, job, executor)]
        near = [job for job in jobs if not _goes(settings, job, executor)]
        # One job is not worth a process of its own; a cluster is asked for even one.
        other: Executor = here
        if executor is not None and (executor.models or len(away) > 1):
            other = executor
        for hands, own in ((here, near), (other, away)):
            for job, record, seconds in hands.do(own):
                records[job.task.key] = record
                finished(job.task, record, seconds)


def _job(task: Task, chosen: _Chooser) -> Job:
    if task.kind in {"folds", "both", "side", "grid"}:
        return Job(task)  # they choose for themselves, or nothing
    if task.point >= 0:
        return Job(task, (task.point,))
    return Job(task, tuple(chosen.numbers(task)) if task.stage else (0,))


def _goes(settings: Settings | EstimatorSettings, job: Job, executor: Executor | None) -> bool:
    """Whether a job is done elsewhere: runs are where their files are, models use threads."""
    if executor is None or isinstance(settings, EstimatorSettings):
        return executor is not None
    system = settings.systems[job.task.system]
    if isinstance(system, ModelSystem):
        return executor.models
    return not isinstance(system, RunSystem)


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
