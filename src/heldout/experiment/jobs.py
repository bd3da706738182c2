"""Jobs: tasks with the points they are to be done at, and the workshop where they are done.

A workshop stands in the process that runs the experiment or in any other: what it gives depends on
the settings and the job alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heldout.errors import InputError
from heldout.experiment.do_calls import call_of, do_run
from heldout.experiment.do_fits import FitMaker
from heldout.experiment.do_models import do_both, do_folds, do_grid, do_lists, do_side
from heldout.experiment.estimator_settings import EstimatorSettings
from heldout.experiment.systems import ModelSystem, RunSystem

if TYPE_CHECKING:
    from heldout.experiment.config import Settings
    from heldout.experiment.journal import Record
    from heldout.experiment.tasks import Task
    from heldout.retrieve.shards import AnyIndex

__all__ = ["Job", "Workshop"]


@dataclass(frozen=True, slots=True)
class Job:
    """A task that can be done.

    Parameters
    ----------
    task
        What is to be done.
    numbers
        The points: the task's own, or those that were chosen for it.
    """

    task: Task
    numbers: tuple[int, ...] = ()


class Workshop:
    """All that jobs need, in one process.

    Parameters
    ----------
    settings
        The experiment.
    index
        For built-in models.
    """

    def __init__(self, settings: Settings | EstimatorSettings, index: AnyIndex | None) -> None:
        self.settings, self.index = settings, index
        self._fits = FitMaker(settings) if isinstance(settings, EstimatorSettings) else None

    def do(self, job: Job) -> Record:
        """Do a job: what goes into the journal."""
        task = job.task
        if self._fits is not None:
            return self._fits(task, job.numbers[0]).make()
        settings: Settings = self.settings  # type: ignore[assignment]
        system = settings.systems[task.system]
        if isinstance(system, RunSystem):
            return do_run(settings, system, task)
        if isinstance(system, ModelSystem):
            return self._do_model(settings, system, job)
        call = call_of(settings, task, job.numbers[0])
        return call.record(settings, task, call.make(settings.collection))

    def _do_model(self, settings: Settings, system: ModelSystem, job: Job) -> Record:
        task, index = job.task, self.index
        if index is None:
            raise InputError(f"{system.name}: there is no index")
        if task.kind == "grid":
            return do_grid(settings, index, system, task)
        if task.kind == "lists":
            return do_lists(settings, index, system, job.numbers)
        works = {"folds": do_folds, "both": do_both, "side": do_side}
        return works[task.kind](settings, index, system, task.split)
