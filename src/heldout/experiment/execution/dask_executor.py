"""Tasks on the workers of a Dask cluster.

What tasks share is sent once to each worker, also to workers that join later or replace one that
died. A task is then a few words, and its result is a line of the journal.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import threading
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, Final, TypeVar

import dask.config
from distributed import Client, KilledWorker, LocalCluster, as_completed, get_worker

from heldout.errors import HeldoutError, InputError
from heldout.experiment.execution.executors import (
    _TaskError,
    local_processes,
    run_packed,
    safe_path,
    unpack,
)
from heldout.experiment.execution.payload import Payload, pack_payload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.execution.executors import Finished
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import Settings
    from heldout.retrieve.index import Index

__all__ = ["DaskExecutor", "open_dask", "workers_of"]

R = TypeVar("R")

RETRIES: Final = 2
"""How often a failed task is repeated, perhaps on another worker."""
_SECONDS_TO_CONNECT: Final = 20
_LARGEST: Final = 1 << 30
"""Bytes that may go through the scheduler; larger data must be on storage shared by all workers."""

_one_at_a_time = threading.Lock()
"""A user's system need not be thread-safe, and a worker can have several threads."""


@contextmanager
def open_dask(where: str | Client) -> Iterator[Client]:
    """Connect to a cluster, or start one on this machine.

    Parameters
    ----------
    where
        The address of a scheduler (``tcp://HOST:PORT``, ``tls://HOST:PORT``), its scheduler file,
        ``local:N`` for N processes of this machine, or a connected client.
    """
    if isinstance(where, Client):
        yield where
        return
    with ExitStack() as stack:
        count = local_processes(where)
        if count:
            gc.collect()  # see _connected
            before = stack.enter_context(safe_path())
            cluster = stack.enter_context(_local(count, before))
            yield stack.enter_context(Client(cluster))
            return
        yield stack.enter_context(_connected(where))


def _local(count: int, safe: str) -> LocalCluster:
    try:
        with _uninterrupted():
            return LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                # Any free port, reachable from this machine only.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
                memory_limit=0,  # near a limit Dask would pause a worker for ever
                env={"PYTHONSAFEPATH": safe},
            )
    except (OSError, RuntimeError, TimeoutError) as error:
        raise InputError(f"local:{count}: cannot start the processes ({error})") from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Block SIGINT in the threads and processes started here.

    A terminal sends Ctrl-C to all processes at once, but this process has to end the others.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # when it starts, it unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connected(where: str) -> Client:
    given = {"address": where} if "://" in where else {"scheduler_file": where}
    # A client that failed to connect is closed when it is garbage-collected. If that happens while
    # another client starts, it waits for ever for a lock that the other one holds.
    gc.collect()
    try:
        return Client(**given, timeout=_SECONDS_TO_CONNECT)
    except Exception as error:  # noqa: BLE001 - whatever answers need not be a scheduler
        hint = ": does Dask's configuration name the certificates in distributed.comm.tls?"
        raise InputError(
            f"no Dask scheduler at {where} ({_reason(error)})"
            f"{hint if where.startswith('tls://') else ''}"
        ) from None


def workers_of(client: Client) -> list[str]:
    """Return the addresses of the current workers."""
    return list(client.scheduler_info(n_workers=-1)["workers"])


class DaskExecutor:
    """The workers of a cluster.

    Parameters
    ----------
    client
        A connected client.
    settings, index
        The experiment, and the index of built-in models.
    """

    cluster = True

    def __init__(self, client: Client, settings: Settings, index: Index | None) -> None:
        self._client, self._settings, self._index = client, settings, index
        self._payload: Any = None  # a future

    def run_tasks(self, tasks: Sequence[Task]) -> Iterator[Finished]:
        """Run the tasks; one that fails, or whose worker dies, is repeated."""
        if not tasks:
            return
        if self._payload is None:
            self._payload = self._sent_payload()
        by_key = {task.key: task for task in tasks}
        futures = {
            self._client.submit(
                _run_on_worker,
                self._payload,
                task,
                _this_process(),
                key=f"{self._payload.key}-{task.key}",
                pure=False,
                retries=RETRIES,
            ): task.key
            for task in tasks
        }
        with _cancelled_at_end(self._client, futures):
            for future in as_completed(list(futures)):
                line = _result(future, futures[future])
                del futures[future]
                yield unpack(self._settings, by_key, line)
                future.release()

    def close(self) -> None:
        """Remove the experiment from the workers."""
        if self._payload is not None:
            with suppress(Exception):  # the cluster may be gone
                self._client.cancel([self._payload])
            self._payload = None

    def _sent_payload(self) -> Any:
        """Return what the workers share, on its way to them."""
        try:
            # A task that a worker cannot import would kill it without a message.
            self._client.run(_is_importable)
            return self._send(pack_payload(self._settings, self._index))
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"the workers cannot load the experiment ({_reason(error)}): install the same "
                "versions of heldout, and of everything your systems need, there"
            ) from error

    def _send(self, payload: Payload) -> Any:
        size = len(payload.content)
        if size > _LARGEST:
            raise InputError(
                f"collection and index are {size / 2**30:.1f} GB, too large to send: put them on "
                "storage that all workers reach under the same path (heldout index -o), and give "
                "the paths"
            )
        return _sent(self._client, payload)


def _sent(client: Client, data: Any) -> Any:
    """Send data that many tasks need; each worker gets them once.

    They are the result of a task. The scheduler keeps the task, so they are made again if the
    worker that has them dies. Scattered data would be lost: of several copies, Dask keeps one.
    """
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        return client.submit(_same, data, pure=False)


@contextmanager
def _cancelled_at_end(client: Client, futures: Any) -> Iterator[None]:
    """Cancel the futures that are not needed any more."""
    try:
        yield
    finally:
        if futures:
            with suppress(Exception):  # the cluster may be gone
                client.cancel(list(futures))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _awaited(future: Any) -> Any:
    """Return the result of a future, or raise the error of the worker."""
    try:
        error = future.exception()
        if error is None:
            return future.result()
    except (CancelledError, OSError, TimeoutError) as lost:  # on the way, not on the worker
        raise InputError(
            f"the Dask cluster is lost ({getattr(lost, 'reason', '') or _reason(lost)}); finished "
            "tasks are kept: continue with resume=True, there or elsewhere"
        ) from None
    raise error


def _result(future: Any, name: str) -> Any:
    """Return the result of a task, or raise an error that says what happened to it."""
    try:
        return _awaited(future)
    except KilledWorker:
        raise InputError(
            f"{name}: every worker that ran it has died (out of memory, or a crash in the code of "
            "a system): give workers more memory, or use smaller parts"
        ) from None
    except _TaskError as error:
        raise InputError(str(error)) from None
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{name} failed on a worker: {_reason(error)}") from error


# Called on a worker.


def _limit_threads() -> None:
    """Use as many threads as the worker has, not as many as the machine has."""
    os.environ.setdefault("HELDOUT_THREADS", str(get_worker().state.nthreads))


def _this_process() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


def _run_on_worker(payload: Payload, task: Task, sender: tuple[str, int]) -> bytes:
    if _this_process() != sender:  # a worker can also be a thread of the sender
        _limit_threads()
    with _one_at_a_time:
        try:
            payload.open()
        except (HeldoutError, OSError) as error:  # such as a file that is not there
            raise InputError(f"worker {get_worker().address}: {error}") from None
        return run_packed(payload, task)


def _is_importable() -> bool:
    return True


def _same(data: Any) -> Any:
    return data
