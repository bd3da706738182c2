"""Executors: submit tasks, get records. In this process, or in worker processes of this machine.

For other machines see `heldout.experiment.execution.dask_executor`. A record depends on its task
alone, so any executor gives the same records, in any order.
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

    Finished = tuple[Task, Record, float]

__all__ = [
    "Executor",
    "InProcess",
    "Processes",
    "local_processes",
    "run_packed",
    "safe_path",
    "unpack",
]

DEATHS: Final = 3
"""Worker processes that may die before a run gives up."""
_MAPPED: Final = 1024
"""From this size in bytes, joblib maps an array from a file instead of sending it."""
_WATCH_SECONDS: Final = 0.5
_SAFE_PATH: Final = "PYTHONSAFEPATH"


class Executor(Protocol):
    """Runs tasks, in any order."""

    @property
    def cluster(self) -> bool:
        """Whether it has cores of its own, so that multi-threaded tasks can run there, too."""

    def run_tasks(self, tasks: Sequence[Task]) -> Iterator[Finished]:
        """Run all tasks; yield each with its record and its seconds as soon as it is finished."""


class InProcess:
    """Runs tasks in this process, one after another.

    Parameters
    ----------
    context
        What tasks need.
    """

    cluster = False

    def __init__(self, context: Context[Any]) -> None:
        self._context = context

    def run_tasks(self, tasks: Sequence[Task]) -> Iterator[Finished]:
        """Run the tasks in order."""
        for task in tasks:
            begin = time.perf_counter()
            record = self._context.perform(task)
            yield task, record, time.perf_counter() - begin


class Processes:
    """Worker processes of this machine.

    Parameters
    ----------
    settings
        The experiment; sent once to each process.
    workers
        The number of processes.
    """

    cluster = False

    def __init__(self, settings: Settings, workers: int) -> None:
        self._settings, self._workers = settings, workers
        self._payload: Payload | None = None

    def run_tasks(self, tasks: Sequence[Task]) -> Iterator[Finished]:
        """Run the tasks; those of a process that dies run again."""
        from joblib.externals.loky.process_executor import (  # type: ignore[import-untyped]
            TerminatedWorkerError,
        )

        if self._payload is None:
            self._payload = pack_payload(self._settings, None)
        waiting = {task.key: task for task in tasks}
        for deaths in range(DEATHS + 1):
            try:
                for line in self._lines(self._payload, list(waiting.values())):
                    task, record, seconds = unpack(self._settings, waiting, line)
                    del waiting[task.key]
                    yield task, record, seconds
            except _TaskError as error:
                raise InputError(str(error)) from None
            except TerminatedWorkerError as error:
                if deaths == DEATHS:
                    raise InputError(
                        f"worker processes have died {DEATHS + 1} times (killed, out of memory, or "
                        "a crash in the code of a system): use fewer workers"
                    ) from error
            else:
                return

    def _lines(self, payload: Payload, tasks: Sequence[Task]) -> Iterator[bytes]:
        from joblib import Parallel, delayed  # type: ignore[import-untyped]

        with safe_path() as before:
            # Unordered: each record is in the journal as soon as its task is finished.
            pool = Parallel(
                n_jobs=self._workers,
                return_as="generator_unordered",
                batch_size=1,
                max_nbytes=_MAPPED,
                initializer=_begin,
                initargs=(os.getpid(), before),
            )
            with _closing(pool(delayed(run_packed)(payload, task) for task in tasks)) as lines:
                yield from lines


@contextmanager
def safe_path() -> Iterator[str]:
    """Start Python processes that do not import modules of the current folder.

    It may be a folder of someone's data: a ``joblib.py`` in it would run. Code of users that starts
    Python must find its modules as ever: workers set the variable to what it was, which is yielded.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield before or ""
    finally:
        if before is None:
            os.environ.pop(_SAFE_PATH, None)
        else:
            os.environ[_SAFE_PATH] = before


@contextmanager
def _closing(results: Any) -> Iterator[Any]:
    """Stop the tasks that are still running when their results are no longer needed."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            # joblib warns about stopped tasks; stopping them is the purpose here.
            warnings.filterwarnings("ignore", ".*tasks", UserWarning)
            results.close()


def _begin(parent: int, safe: str) -> None:
    """Set the variable of `safe_path`; end this worker when the process that started it is killed.

    Without the latter, a worker waits five minutes for more work, or hangs in a call for ever. It
    is the first thing a worker does: its parent may be killed before it sends a task.
    """
    os.environ[_SAFE_PATH] = safe
    if sys.platform != "win32":  # on Windows, the parent's id does not change when it ends
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


class _TaskError(Exception):
    """A `HeldoutError` of a task, as text: not every error can be pickled."""


def run_packed(payload: Payload, task: Task) -> bytes:
    """Run a task in another process.

    The answer is a line as in the journal: arrays and plain values with a checksum, no objects.
    """
    try:
        context = payload.open()
        begin = time.perf_counter()
        record = context.perform(task)
    except HeldoutError as error:
        raise _TaskError(str(error)) from None
    seconds = time.perf_counter() - begin
    return encode({"key": task.key, "seconds": seconds, "record": record.plain()})


def unpack(settings: Settings, tasks: dict[str, Task], line: bytes) -> Finished:
    """Return the task, the record and the seconds that `run_packed` sent."""
    content = decode(line)
    if content is None:
        raise InputError(
            "the answer of a worker was damaged on the way: continue the run with resume=True"
        )
    task = tasks[content["key"]]
    record = settings.system(task.system).read_record(task, content["record"])
    return task, record, content["seconds"]


def local_processes(cluster: Any) -> int:
    """Return the number of processes that ``local:N`` asks for; 0 for any other cluster.

    Examples
    --------
    >>> local_processes("local:4"), local_processes("tcp://node1:8786")
    (4, 0)
    """
    match = re.fullmatch(r"local:([1-9][0-9]{0,8})", cluster) if isinstance(cluster, str) else None
    return int(match[1]) if match else 0
