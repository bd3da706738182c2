"""The tasks of an experiment: independent, named, and known before anything runs.

A task's result depends on the settings and the task alone, so tasks can be done in any order, by
any number of workers, today or after a crash. What is held out is not touched before a value has
been chosen for it: tasks of the second stage need the choices that follow from the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from heldout.experiment.settings import Settings

__all__ = ["EVERYTHING", "STAGES", "Task", "plan_tasks"]

EVERYTHING: Final = -1
"""In place of a split: nothing is held out (the choice of the parameters to ship)."""
STAGES: Final = (0, 1)


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work of one system.

    Parameters
    ----------
    key
        Its name, different from all others.
    system
        The name of its system.
    kind
        Which of its system's tasks it is; it means nothing to others.
    split
        The number of the split, or of the repeat; `EVERYTHING` if nothing is held out.
    inner
        The number of the inner fold; −1: none.
    points
        The numbers of the parameter values it is done at; none: they are chosen first, or by the
        task itself.
    stage
        0, or 1 for what needs the choices that follow from stage 0.
    """

    key: str
    system: str
    kind: str
    split: int = EVERYTHING
    inner: int = -1
    points: tuple[int, ...] = ()
    stage: int = 0


def plan_tasks(settings: Settings) -> tuple[Task, ...]:
    """All tasks, in the order of the systems; those of stage 1 after all of stage 0."""
    tasks = [task for system in settings.systems for task in system.tasks(settings)]
    return tuple(sorted(tasks, key=lambda task: task.stage))  # a stable sort
