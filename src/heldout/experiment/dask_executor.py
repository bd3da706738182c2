"""Jobs on a Dask cluster: on this machine, or on whatever machines its workers run.

All that jobs share is delivered once to each worker, also to those that come later or take the
place of one that has died; a job is then a few words, and its result a line of the journal.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import uuid
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin, as_completed

from heldout.errors import HeldoutError, InputError
from heldout.experiment.executors import do_packed, unpack
from heldout.experiment.kit import Kit, pack_kit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.config import Settings
    from heldout.experiment.estimator_settings import EstimatorSettings
    from heldout.experiment.executors import Done
    from heldout.experiment.jobs import Job
    from heldout.retrieve.shards import AnyIndex

__all__ = ["DaskExecutor", "open_dask"]

RETRIES: Final = 2
"""How often a job that fails is tried again, perhaps by another worker."""
_SECONDS_TO_CONNECT: Final = 20
_LARGEST: Final = 1 << 30
"""Bytes that go through the scheduler; what is larger must stand on storage that all see."""

_kits: dict[str, Kit] = {}
"""On a worker: what was delivered, by the name of the run."""
_one_at_a_time = threading.Lock()
"""Systems of users need not stand being called by two threads of one process."""


@contextmanager
def open_dask(where: str | Client, memory: int | None = None) -> Iterator[Client]:
    """Connect to a cluster, or start one on this machine.

    Parameters
    ----------
    where
        The address of a scheduler (``tcp://HOST:PORT``), its scheduler file, ``local:N`` for N
        processes here, or a client that is connected already.
    memory
        Bytes that the processes here may take together; a worker that takes more is ended.
    """
    if isinstance(where, Client):
        yield where
        return
    with ExitStack() as stack:
        local = re.fullmatch(r"local:([1-9]\d*)", where)
        if local is not None:
            cluster = LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
                memory_limit=(memory or 0) // int(local[1]),
            )
            stack.enter_context(cluster)
            yield stack.enter_context(Client(cluster))
            return
        yield stack.enter_context(_connected(where))


def _connected(where: str) -> Client:
    if "://" not in where and not os.path.isfile(where):  # noqa: PTH113 - any text
        raise InputError(
            f"{where!r} is no Dask cluster: give tcp://HOST:PORT, a scheduler file, or local:4 "
            "for four processes of this machine"
        )
    given = {"address": where} if "://" in where else {"scheduler_file": where}
    try:
        return Client(**given, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"there is no Dask scheduler at {where} ({error})") from None


class DaskExecutor:
    """The workers of a cluster.

    Parameters
    ----------
    client
        Connected to it.
    settings, index
        The experiment, and the index of built-in models.
    """

    models = True

    def __init__(
        self, client: Client, settings: Settings | EstimatorSettings, index: AnyIndex | None
    ) -> None:
        self._client, self._settings, self._index = client, settings, index
        self._name = ""

    def do(self, jobs: Sequence[Job]) -> Iterator[Done]:
        """Do the jobs; one that fails, or whose worker dies, is tried again."""
        if not jobs:
            return
        name = self._delivered()
        futures = {
            self._client.submit(
                _do_on_worker,
                name,
                job,
                key=f"{name}-{job.task.key}",
                pure=False,
                retries=RETRIES,
            ): job
            for job in jobs
        }
        try:
            for future in as_completed(list(futures)):
                record, seconds = unpack(_line(future, futures[future]))
                yield futures.pop(future), record, seconds
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
            kit = self._packed()
            name = f"heldout-{uuid.uuid4().hex[:12]}"
            try:
                self._client.register_plugin(_Delivery(name, kit), name=name)
            except Exception as error:
                raise InputError(
                    f"the workers cannot load heldout ({error}): install the same version there"
                ) from error
            self._name = name
        return self._name

    def _packed(self) -> Kit:
        """A kit that names files if all workers see them, or else has everything in it."""
        kit = pack_kit(self._settings, self._index)
        if _names_files(self._settings) and not self._all_see(kit):
            kit = pack_kit(self._settings, self._index, sent=True)
        if len(kit.content) > _LARGEST:
            raise InputError(
                f"collection and index are {len(kit.content) / 2**30:.1f} GB, too much to send: "
                "put them on storage that all workers see under the same path (heldout index -o), "
                "and give the paths"
            )
        return kit

    def _all_see(self, kit: Kit) -> bool:
        """Whether the workers that are there find the same files."""
        known = list(self._client.scheduler_info(n_workers=-1)["workers"])
        asked = [
            self._client.submit(_sees, kit.digest, kit.content.tobytes(), pure=False, **place)
            for place in ([{"workers": [one]} for one in known] or [{}])
        ]
        return all(self._client.gather(asked))


def _names_files(settings: Any) -> bool:
    """Whether something of an experiment is read from files again."""
    source = getattr(settings, "source", None)
    return source is not None or isinstance(getattr(settings, "index", None), str)


def _line(future: Any, job: Job) -> bytes:
    """What a worker has sent; or why there is nothing."""
    error = future.exception()
    if error is None:
        line: bytes = future.result()
        return line
    if isinstance(error, KilledWorker):
        raise InputError(
            f"{job.task.key}: every worker that had it has died (out of memory, or a crash in the "
            "code of a system); what was finished before is kept"
        ) from None
    if isinstance(error, _FailedError):
        raise InputError(str(error)) from None
    raise InputError(f"{job.task.key} failed on a worker: {type(error).__name__}: {error}")


class _FailedError(Exception):
    """What a user can understand and change, as text."""


class _Delivery(WorkerPlugin):
    """Brings a kit to every worker, when it comes."""

    def __init__(self, name: str, kit: Kit) -> None:
        self.name, self.kit = name, kit
        self.sender = socket.gethostname(), os.getpid()

    def setup(self, worker: Any) -> None:
        _kits[self.name] = self.kit
        if (socket.gethostname(), os.getpid()) != self.sender:
            # A worker has so many cores for itself, and not the whole machine.
            os.environ.setdefault("HELDOUT_THREADS", str(worker.state.nthreads))

    def teardown(self, worker: Any) -> None:
        del worker
        _kits.pop(self.name, None)


def _do_on_worker(name: str, job: Job) -> bytes:
    with _one_at_a_time:
        try:
            return do_packed(_kits[name], job)
        except HeldoutError as error:
            raise _FailedError(str(error)) from None


def _sees(digest: str, content: bytes) -> bool:
    import numpy as np

    try:
        with _one_at_a_time:
            Kit(digest, np.frombuffer(content, np.uint8)).open()
    except (HeldoutError, OSError):
        return False
    return True
