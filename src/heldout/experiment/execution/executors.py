"""Where tasks are done: in this process, or in other processes of this machine.

On other machines: see `heldout.experiment.execution.dask_executor`.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol

from heldout.errors import HeldoutError, InputError
from heldout.experiment.execution.journal import decode, encode
from heldout.experiment.execution.payload import Payload, pack_payload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import Settings
    from heldout.experiment.systems.base import Context
    from heldout.experiment.systems.records import Record

    Done = tuple[Task, Record, float]

__all__ = ["Executor", "InProcess", "Processes", "local_processes", "run_packed", "unpack"]

DEATHS: Final = 3
"""Worker processes that may die before a run gives up."""
_MAPPED: Final = 1024
"""Bytes from which joblib puts an array into a file for all processes, instead of each message."""
_WATCH_SECONDS: Final = 0.5


def local_processes(cluster: Any) -> int:
    """How many processes of this machine ``local:N`` means; 0 for any other cluster.

    Examples
    --------
    >>> local_processes("local:4"), local_processes("tcp://node1:8786")
    (4, 0)
    """
    found = re.fullmatch(r"local:([1-9][0-9]{0,8})", cluster) if isinstance(cluster, str) else None
    return int(found[1]) if found else 0


class Executor(Protocol):
    """Does tasks, in any order."""

    @property
    def cluster(self) -> bool:
        """Whether it has cores of its own, and not those that the threads of this process use."""

    def run_tasks(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Do all tasks; each comes back with its record and the seconds it took, as it is done."""


class InProcess:
    """The process that runs the experiment, one task after another.

    Parameters
    ----------
    context
        What is needed for the tasks.
    """

    cluster = False

    def __init__(self, context: Context[Any]) -> None:
        self._context = context

    def run_tasks(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Do the tasks in order."""
        for task in tasks:
            begin = time.perf_counter()
            record = self._context.perform(task)
            yield task, record, time.perf_counter() - begin


class Processes:
    """Other processes of this machine.

    Parameters
    ----------
    settings
        The experiment; sent once to each process.
    workers
        How many processes.
    """

    cluster = False

    def __init__(self, settings: Settings, workers: int) -> None:
        self._settings, self._workers = settings, workers
        self._payload: Payload | None = None

    def run_tasks(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Do the tasks; those of a process that dies are done again."""
        from joblib.externals.loky.process_executor import (  # type: ignore[import-untyped]
            TerminatedWorkerError,
        )

        if self._payload is None:
            self._payload = pack_payload(self._settings, None)
        waiting = {task.key: task for task in tasks}
        for deaths in range(DEATHS + 1):
            try:
                for task, record, seconds in self._done(self._payload, list(waiting.values())):
                    del waiting[task.key]
                    yield task, record, seconds
            except TerminatedWorkerError as error:
                if deaths == DEATHS:
                    raise InputError(
                        f"worker processes have died {DEATHS + 1} times (killed, out of memory, or "
                        "a crash in the code of a system): take fewer workers"
                    ) from error
            else:
                return

    def _done(self, payload: Payload, tasks: Sequence[Task]) -> Iterator[Done]:
        from joblib import Parallel, delayed  # type: ignore[import-untyped]

        # Records are written as they come; the order does not matter to the results.
        pool = Parallel(
            n_jobs=self._workers,
            return_as="generator_unordered",
            batch_size=1,
            max_nbytes=_MAPPED,
            initializer=_end_with,
            initargs=(os.getpid(),),
        )
        with _stopped(pool(delayed(_run_there)(payload, task) for task in tasks)) as done:
            for task, line, reason in done:
                if reason:
                    raise InputError(reason)
                yield task, *unpack(self._settings, task, line)


@contextmanager
def _stopped(results: Any) -> Iterator[Any]:
    """Stop what is still being done when nobody waits for it any more."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            # joblib warns of tasks that were stopped; that is what is wanted here.
            warnings.filterwarnings("ignore", ".*tasks", UserWarning)
            results.close()


def _run_there(payload: Payload, task: Task) -> tuple[Task, bytes, str]:
    """In another process: errors come back as text, since not every error can be sent."""
    try:
        return task, run_packed(payload, task), ""
    except HeldoutError as error:
        return task, b"", str(error)


def _end_with(parent: int) -> None:
    """End this process when the one that has started it was killed.

    Without it a worker would wait five minutes for more work, or hang in a call for ever. It is the
    first thing a worker does: its parent may be killed before it has a task for it.
    """
    if sys.platform != "win32":  # there a process keeps the number of a parent that is gone
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


def run_packed(payload: Payload, task: Task) -> bytes:
    """Do a task in another process.

    What comes back is a line as it stands in the journal: arrays and plain values with a checksum,
    no objects.
    """
    context = payload.open()
    begin = time.perf_counter()
    record = context.perform(task)
    return encode({"record": record.plain(), "seconds": time.perf_counter() - begin})


def unpack(settings: Settings, task: Task, line: bytes) -> tuple[Record, float]:
    """The record and the seconds that `run_packed` has sent."""
    found = decode(line)
    if found is None:
        raise InputError(
            "what a worker has sent did not arrive as it was sent: go on with --resume"
        )
    record = settings.system(task.system).read_record(task, found["record"])
    return record, found["seconds"]
