"""Resources: the workers of a run, and the memory they may use."""

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
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from heldout.experiment.execution.executors import Executor
    from heldout.experiment.settings import Settings
    from heldout.retrieve.index import Index

__all__ = ["Resources"]


@dataclass(frozen=True, slots=True)
class Resources:
    """The workers of a run (processes of this machine, or a Dask cluster) and their memory.

    Parameters
    ----------
    workers
        Processes of this machine for calls and fits; 1: this process.
    dask
        A cluster to use instead, as for `heldout.Experiment.run`.
    limit
        Bytes that this process and its workers on this machine may use.
    on_message
        Called with a message for the user before the run starts.
    worker_limit
        Bytes that each process of a cluster on this machine may use.
    """

    workers: int
    dask: Any
    limit: int | None = None
    on_message: Callable[[str], None] | None = None
    worker_limit: int | None = None

    @property
    def processes(self) -> int:
        """Worker processes on this machine."""
        if self.dask is not None:
            return local_processes(self.dask)
        return self.workers if self.workers > 1 else 0

    def check(self) -> None:
        """Refuse impossible values before anything is read or built."""
        if self.workers < 1:
            raise InputError(f"workers={self.workers}: expected a positive integer")
        if self.dask is None:
            return
        if self.workers > 1:
            raise InputError("workers are processes here, dask is a cluster: give one of them")
        _dask_module()
        _check_address(self.dask)

    def within_memory(self, settings: Settings, index: Index | None) -> Resources:
        """Return as many workers as there is memory for; refuse a run that cannot fit."""
        check_machine(self.processes if self.limit is None else 0)
        expected = estimate_memory(
            settings,
            index,
            plan_tasks(settings),
            processes=self.processes,
            on_cluster=self.dask is not None,
        )
        if self.limit is None:
            self._warn(expected.total)
            return self
        # A cluster on this machine needs at least one process.
        least = 1 if self.dask is not None and self.processes else 0
        fit = check_memory(expected, self.limit, least=least)
        check_machine(fit)
        if fit < self.processes:
            self._tell(f"{max(fit, 1)} of {self.processes} workers, to stay within the memory")
        if least:
            share = max((self.limit - expected.own) // fit, expected.worker)
            return replace(self, dask=f"local:{fit}", worker_limit=share)
        return replace(self, workers=max(fit, 1))

    def _warn(self, needed: int) -> None:
        available = machine_memory()
        if available and needed > available:
            text = (
                f"this run needs about {shown_size(needed)} of memory, and this machine has "
                f"{shown_size(available)}"
            )
            self._tell(Note("little-memory", text).line())

    def _tell(self, message: str) -> None:
        if self.on_message is not None:
            self.on_message(message)

    @contextmanager
    def executor(self, settings: Settings, index: Index | None) -> Iterator[Executor | None]:
        """Give the executor of tasks that can run elsewhere; None: there is none."""
        if self.dask is None:
            yield Processes(settings, self.workers) if self.workers > 1 else None
            return
        tools = _dask_module()
        with (
            tools.open_dask(self.dask, self.worker_limit) as client,
            closing(tools.DaskExecutor(client, settings, index)) as executor,
        ):
            if not tools.workers_of(client):
                self._tell("the Dask cluster has no workers: waiting for the first one")
            yield executor


def _check_address(where: Any) -> None:
    """Refuse text that is not an address: connecting to it could take for ever."""
    if not isinstance(where, str) or local_processes(where):
        return
    if "://" not in where and not names_file(where):
        raise InputError(
            f"{where!r} is not a Dask cluster: give tcp://HOST:PORT, a scheduler file, or local:4 "
            "for four processes of this machine"
        )


def _dask_module() -> ModuleType:
    """Import what needs the optional package distributed."""
    try:
        import heldout.experiment.execution.dask_executor as dask_executor  # noqa: PLR0402
    except ImportError as error:
        raise MissingExtraError(
            "a Dask cluster needs the package distributed: pip install '.[dask]' in a clone of "
            "heldout (or pip install distributed)"
        ) from error
    return dask_executor
