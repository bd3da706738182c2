"""Resources: who does the work of an experiment, and how much memory that may take."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from heldout.data.paths import names_file
from heldout.data.sizes import shown_size
from heldout.errors import InputError, MissingExtraError
from heldout.experiment.execution.executors import Processes, local_processes
from heldout.experiment.execution.memory import (
    check_machine,
    check_memory,
    estimate_memory,
    machine_memory,
)
from heldout.experiment.execution.tasks import plan_tasks
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heldout.experiment.execution.executors import Executor
    from heldout.experiment.execution.memory import Memory
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import Settings
    from heldout.retrieve.shards import AnyIndex

__all__ = ["Resources", "check_cluster"]


@dataclass(frozen=True, slots=True)
class Resources:
    """Who does the work (processes of this machine, or a Dask cluster), and what it may take.

    Parameters
    ----------
    workers
        Processes of this machine for calls and fits; 1: this one.
    dask
        A cluster that does the work instead, as `heldout.Experiment.run` takes it.
    limit
        Bytes that this process and others of this machine may take.
    told
        Called with what a user should know before the work begins.
    """

    workers: int
    dask: Any
    limit: int | None = None
    told: Callable[[str], None] | None = None

    @property
    def processes(self) -> int:
        """Processes of this machine beside this one."""
        if self.dask is not None:
            return local_processes(self.dask)
        return self.workers if self.workers > 1 else 0

    def check(self) -> None:
        """Refuse what cannot be meant, before anything is read or built."""
        if self.workers < 1:
            raise InputError(f"workers={self.workers}: give at least 1")
        if self.dask is None:
            return
        if self.workers > 1:
            raise InputError("workers are processes here, dask is a cluster: give one of them")
        _dask_tools()
        check_cluster(self.dask)

    def within_memory(self, settings: Settings, index: AnyIndex | None) -> Resources:
        """As many workers as there is memory for; refuse what cannot fit."""
        if self.limit is None:
            check_machine(self.processes)
            return self
        found = self._expected(settings, index, plan_tasks(settings))
        # Without processes of its own, a cluster of this machine could do nothing.
        least = 1 if self.dask is not None and self.processes else 0
        fit = check_memory(found, self.limit, least=least)
        check_machine(fit)
        if fit < self.processes and self.told is not None:
            shown = max(fit, 1)
            self.told(f"{shown} of {self.processes} workers, to stay within the memory")
        if least:
            return replace(self, dask=f"local:{fit}")
        return replace(self, workers=max(fit, 1))

    def tell(self, settings: Settings, index: AnyIndex | None, tasks: Sequence[Task]) -> None:
        """Say if the run may take more memory than there is."""
        there = machine_memory()
        if self.told is None or not there:
            return
        needed = self._expected(settings, index, tasks).total
        if needed > there:
            text = (
                f"this run takes about {shown_size(needed)} of memory, and this machine has "
                f"{shown_size(there)}"
            )
            self.told(Note("little-memory", text).line())

    @contextmanager
    def executor(self, settings: Settings, index: AnyIndex | None) -> Iterator[Executor | None]:
        """Whoever does what can be done elsewhere; None: nobody."""
        if self.dask is None:
            yield Processes(settings, self.workers) if self.workers > 1 else None
            return
        open_dask, executor, workers_of = _dask_tools()
        with (
            open_dask(self.dask, self._share(settings, index)) as client,
            closing(executor(client, settings, index)) as one,
        ):
            if self.told is not None and not workers_of(client):
                self.told("the Dask cluster has no workers: waiting for the first to come")
            yield one

    def _share(self, settings: Settings, index: AnyIndex | None) -> int | None:
        """Bytes that each process of a cluster of this machine may take."""
        if self.limit is None or not self.processes:
            return None
        found = self._expected(settings, index, plan_tasks(settings))
        return max((self.limit - found.own) // self.processes, found.worker)

    def _expected(
        self, settings: Settings, index: AnyIndex | None, tasks: Sequence[Task]
    ) -> Memory:
        away = self.dask is not None
        return estimate_memory(settings, index, tasks, processes=self.processes, away=away)


def check_cluster(where: Any) -> None:
    """Refuse text that names no cluster: to look for one there could take for ever."""
    if not isinstance(where, str) or local_processes(where):
        return
    if "://" not in where and not names_file(where):
        raise InputError(
            f"{where!r} is no Dask cluster: give tcp://HOST:PORT, a scheduler file, or local:4 for "
            "four processes of this machine"
        )


def _dask_tools() -> tuple[Any, Any, Any]:
    """What opens a cluster, what does jobs there, and what tells of its workers."""
    try:
        from heldout.experiment.execution.dask_executor import DaskExecutor, open_dask, workers_of
    except ImportError as error:
        raise MissingExtraError(
            "a Dask cluster needs the package distributed: pip install 'heldout[dask]'"
        ) from error
    return open_dask, DaskExecutor, workers_of
