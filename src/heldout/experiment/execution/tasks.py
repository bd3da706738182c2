"""The tasks of an experiment: independent, named, and known before anything runs.

The record of a task depends on the settings and the task alone, so tasks can run in any order, on
any number of workers, before or after a crash. Held-out data are not used before parameters have
been chosen for them: tasks of a later stage need the choices that follow from earlier ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.settings import Settings

__all__ = ["EVERYTHING", "Task", "plan_tasks"]

EVERYTHING: Final = -1
"""In place of a split: nothing is held out (parameters are tuned on all data)."""


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work of one system.

    Parameters
    ----------
    key
        Its unique name.
    system
        The name of its system.
    kind
        The kind of task; only its system knows what it means.
    split
        The number of the split, or of the repeat; `EVERYTHING` if nothing is held out.
    inner
        The number of the inner fold; −1: none.
    points
        The numbers of the parameter settings to use; empty: they are chosen by an earlier stage,
        or by the task itself.
    stage
        0, or a higher number if it needs the choices that follow from earlier stages.
    inputs
        What it needs of the records of earlier stages besides choices; sent with the task.
    """

    key: str
    system: str
    kind: str
    split: int = EVERYTHING
    inner: int = -1
    points: tuple[int, ...] = ()
    stage: int = 0
    inputs: tuple[NDArray[Any], ...] = field(default=(), compare=False, repr=False)


def plan_tasks(settings: Settings) -> tuple[Task, ...]:
    """Return all tasks, in the order of the systems, stage after stage."""
    tasks = [task for system in settings.systems for task in system.tasks(settings)]
    return tuple(sorted(tasks, key=lambda task: task.stage))  # a stable sort
