"""Tasks on a Dask cluster: on this machine, or on whatever machines its workers run.

All that tasks share is delivered once to each worker, also to those that come later or take the
place of one that has died; a task is then a few words, and its result a line of the journal.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import threading
import uuid
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, Final

import dask.config
from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin, as_completed

from heldout.errors import HeldoutError, InputError
from heldout.experiment.execution.executors import local_processes, run_packed, unpack
from heldout.experiment.execution.payload import Payload, pack_payload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.execution.executors import Done
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import Settings
    from heldout.retrieve.shards import AnyIndex

__all__ = ["DaskExecutor", "open_dask", "workers_of"]

RETRIES: Final = 2
"""How often a task that fails is tried again, perhaps by another worker."""
_SECONDS_TO_CONNECT: Final = 20
_LARGEST: Final = 1 << 30
"""Bytes that go through the scheduler; what is larger must stand on storage that all see."""

_payloads: dict[str, Payload] = {}
"""On a worker: what was delivered, by the name of the run."""
_one_at_a_time = threading.Lock()
"""Systems of users need not stand being called by two threads of one process."""


@contextmanager
def open_dask(where: str | Client, memory: int | None = None) -> Iterator[Client]:
    """Connect to a cluster, or start one on this machine.

    Parameters
    ----------
    where
        The address of a scheduler (``tcp://HOST:PORT``, ``tls://HOST:PORT``), its scheduler file,
        ``local:N`` for N processes here, or a client that is connected already.
    memory
        Bytes that each of the processes here may take; one that takes more is ended.
    """
    if isinstance(where, Client):
        yield where
        return
    with ExitStack() as stack:
        count = local_processes(where)
        if count:
            gc.collect()  # as for a client of a cluster elsewhere
            cluster = stack.enter_context(_local(count, memory or 0))
            yield stack.enter_context(Client(cluster))
            return
        yield stack.enter_context(_connected(where))


def _local(count: int, memory: int) -> LocalCluster:
    # A worker that is near its limit would be paused, and the run would wait for ever.
    never = {f"distributed.worker.memory.{one}": False for one in ("target", "spill", "pause")}
    try:
        with dask.config.set(never), _uninterrupted():
            return LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                # Any free port, for this machine alone: another cluster may have the usual one.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
                memory_limit=memory,
            )
    except (OSError, RuntimeError, TimeoutError) as error:
        raise InputError(f"local:{count}: the processes cannot be started ({error})") from error


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back; threads and processes that are started here never hear of it.

    A terminal tells all processes at once. This one ends the others in good order.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # started later, it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connected(where: str) -> Client:
    given = {"address": where} if "://" in where else {"scheduler_file": where}
    # A client that could not connect is closed when it is collected. Collected while another one
    # starts, it would wait for a lock that the other one holds, for ever.
    gc.collect()
    try:
        return Client(**given, timeout=_SECONDS_TO_CONNECT)
    except Exception as error:  # noqa: BLE001 - any kind
        # Whatever answers there, or stands in that file, need not be a scheduler's.
        hint = ": does Dask's configuration name the certificates in distributed.comm.tls?"
        raise InputError(
            f"there is no Dask scheduler at {where} ({_reason(error)})"
            f"{hint if where.startswith('tls://') else ''}"
        ) from None


def workers_of(client: Client) -> list[str]:
    """The addresses of the workers that are there now."""
    return list(client.scheduler_info(n_workers=-1)["workers"])


class DaskExecutor:
    """The workers of a cluster.

    Parameters
    ----------
    client
        Connected to it.
    settings, index
        The experiment, and the index of built-in models.
    """

    cluster = True

    def __init__(self, client: Client, settings: Settings, index: AnyIndex | None) -> None:
        self._client, self._settings, self._index = client, settings, index
        self._name = ""

    def run_tasks(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Do the tasks; one that fails, or whose worker dies, is tried again."""
        if not tasks:
            return
        name = self._delivered()
        futures = {
            self._client.submit(
                _run_on_worker,
                name,
                task,
                key=f"{name}-{task.key}",
                pure=False,
                retries=RETRIES,
            ): task
            for task in tasks
        }
        try:
            for future in as_completed(list(futures)):
                task = futures[future]
                record, seconds = unpack(self._settings, task, _line(future, task))
                del futures[future]
                yield task, record, seconds
                future.release()
        finally:
            if futures:
                with suppress(Exception):  # the cluster may be gone, and with it the need
                    self._client.cancel(list(futures))

    def close(self) -> None:
        """Let the workers forget the experiment."""
        if self._name:
            with suppress(Exception):  # same
                self._client.unregister_worker_plugin(self._name)
            self._name = ""

    def _delivered(self) -> str:
        if not self._name:
            self._ask_for_heldout()
            payload = self._packed()
            name = f"heldout-{uuid.uuid4().hex[:12]}"
            try:
                self._client.register_plugin(_Delivery(name, payload), name=name)
            except Exception as error:
                raise _not_loaded(error) from error
            self._name = name
        return self._name

    def _ask_for_heldout(self) -> None:
        """A task that a worker cannot load would end it without a word, and then the next one."""
        try:
            self._client.run(_has_heldout)
        except Exception as error:
            raise _not_loaded(error) from error

    def _packed(self) -> Payload:
        """A payload that names files if all workers see them, or else has everything in it."""
        payload = pack_payload(self._settings, self._index)
        if self._settings.reads_files and not self._all_see(payload):
            payload = pack_payload(self._settings, self._index, sent=True)
        size = len(payload.content)
        if size > _LARGEST:
            raise InputError(
                f"collection and index are {size / 2**30:.1f} GB, too much to send: "
                "put them on storage that all workers see under the same path (heldout index -o), "
                "and give the paths"
            )
        return payload

    def _all_see(self, payload: Payload) -> bool:
        """Whether the workers that are there find the same files."""
        known = workers_of(self._client)
        asked = [
            self._client.submit(
                _sees, payload.digest, payload.content.tobytes(), pure=False, **place
            )
            for place in ([{"workers": [one]} for one in known] or [{}])
        ]
        try:
            # One after another: asked for all at once, they would complain of an interruption.
            return all(_result(one) for one in as_completed(asked))
        except Exception as error:
            raise _not_loaded(error) from error


def _not_loaded(error: Exception) -> InputError:
    if isinstance(error, InputError):
        return error
    return InputError(
        f"the workers cannot load the experiment ({_reason(error)}): install the "
        "same versions of heldout, and of all that your systems need, there"
    )


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _result(future: Any) -> Any:
    """What a worker has sent; its error is raised."""
    try:
        error = future.exception()
        if error is None:
            return future.result()
    except (CancelledError, OSError, TimeoutError) as lost:  # on the way, not on the worker
        raise InputError(
            f"the Dask cluster is lost ({getattr(lost, 'reason', '') or _reason(lost)}); what was "
            "finished before is kept: go on with --resume, there or elsewhere"
        ) from None
    raise error


def _line(future: Any, task: Task) -> bytes:
    """What a worker has sent; or why there is nothing."""
    try:
        line: bytes = _result(future)
    except KilledWorker:
        raise InputError(
            f"{task.key}: every worker that had it has died (out of memory, or a crash in the "
            "code of a system); what was finished before is kept"
        ) from None
    except _FailedError as error:
        raise InputError(str(error)) from None
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{task.key} failed on a worker: {_reason(error)}") from error
    return line


class _FailedError(Exception):
    """What a user can understand and change, as text."""


class _Delivery(WorkerPlugin):
    """Brings a payload to every worker, when it comes."""

    def __init__(self, name: str, payload: Payload) -> None:
        self.name, self.payload = name, payload
        self.sender = socket.gethostname(), os.getpid()

    def setup(self, worker: Any) -> None:
        _payloads[self.name] = self.payload
        if (socket.gethostname(), os.getpid()) != self.sender:
            # A worker has so many cores for itself, and not the whole machine.
            os.environ.setdefault("HELDOUT_THREADS", str(worker.state.nthreads))

    def teardown(self, worker: Any) -> None:
        del worker
        _payloads.pop(self.name, None)


def _run_on_worker(name: str, task: Task) -> bytes:
    with _one_at_a_time:
        try:
            return run_packed(_payloads[name], task)
        except HeldoutError as error:
            raise _FailedError(str(error)) from None


def _has_heldout() -> bool:
    return True  # it could be loaded


def _sees(digest: str, content: bytes) -> bool:
    import numpy as np

    try:
        with _one_at_a_time:
            Payload(digest, np.frombuffer(content, np.uint8)).open()
    except (HeldoutError, OSError):
        return False
    return True
