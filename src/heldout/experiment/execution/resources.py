"""Resources: the workers of a run."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError, MissingExtraError
from heldout.experiment.execution.executors import Processes, local_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from heldout.experiment.execution.executors import Executor
    from heldout.experiment.settings import Settings
    from heldout.retrieve.index import Index

__all__ = ["Resources"]


@dataclass(frozen=True, slots=True)
class Resources:
    """The workers of a run (processes of this machine, or a Dask cluster).

    Parameters
    ----------
    workers
        Processes of this machine for calls and fits; 1: this process.
    dask
        A cluster to use instead, as for `heldout.Experiment.run`.
    on_message
        Called with a message for the user before the run starts.
    """

    workers: int
    dask: Any
    on_message: Callable[[str], None] | None = None

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
            tools.open_dask(self.dask) as client,
            closing(tools.DaskExecutor(client, settings, index)) as executor,
        ):
            if not tools.workers_of(client):
                self._tell("the Dask cluster has no workers: waiting for the first one")
            yield executor


def _check_address(where: Any) -> None:
    """Refuse text that is not an address: connecting to it could take for ever."""
    if not isinstance(where, str) or local_processes(where):
        return
    if "://" not in where and not os.path.isfile(where):
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
