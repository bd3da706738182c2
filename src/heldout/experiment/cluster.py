"""Workers of a Dask cluster.

The experiment is sent once to each worker, also to those that join later or replace one that died.
"""

from __future__ import annotations

import gc
import os
import socket
import threading
from concurrent.futures import CancelledError, as_completed
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import dask.config
from distributed import Client, KilledWorker, get_worker

from heldout.errors import InputError, cause_of
from heldout.experiment.workers import do_item, pack, send

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from heldout.experiment.prepare import Prepared
    from heldout.experiment.workers import Arrays, Finished, Function, Items

_SECONDS_TO_CONNECT: Final = 20


class Cluster:
    """The workers of a cluster, which is given by its address, its scheduler file, or a client."""

    cluster = True

    def __init__(self, where: Any, on_message: Callable[[str], None] | None) -> None:
        # Connecting to text that is not an address could take for ever.
        if not isinstance(where, Client) and "://" not in str(where) and not os.path.isfile(where):
            raise InputError(
                f"{str(where)!r} is not a Dask cluster: give tcp://HOST:PORT or a scheduler file; "
                "processes of this machine are workers=4 or --jobs 4"
            )
        self._where, self._on_message = where, on_message
        self._client: Any = None
        self._executor: Any = None
        self._payload: Any = None  # a future

    def open(self, stack: ExitStack) -> None:
        """Connect to the cluster until the end of the run."""
        given = isinstance(self._where, Client)
        self._client = self._where if given else stack.enter_context(_connect(str(self._where)))
        self._executor = self._client.get_executor(pure=False, retries=2)
        stack.callback(self._forget)
        if self._on_message and not self._client.scheduler_info(n_workers=-1)["workers"]:
            self._on_message("the Dask cluster has no workers: waiting for the first one")

    def run(self, prepared: Prepared, function: Function, items: Items) -> Finished:
        """Do the items; one that fails, or whose worker dies, is repeated, perhaps on another."""
        # The payload is the result of a task, which the scheduler keeps: it is made again if the
        # worker that has it dies. Scattered data would be lost: of several copies Dask keeps one.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            if self._payload is None:
                self._payload = self._client.submit(_same, self._packed(prepared), pure=False)
            this = _this_process()
            futures = {
                self._executor.submit(
                    _do_there, name, send(function, item), self._payload, this
                ): name
                for name, item in items.items()
            }
        for future in as_completed(futures):
            name = futures.pop(future)  # the cluster can forget it
            yield (name, *_result(future, name))

    def _packed(self, prepared: Prepared) -> bytes:
        packed = pack(prepared)
        size = len(packed) / 2**30
        if size > 1:  # all of it goes through the scheduler
            raise InputError(
                f"the experiment has {size:.1f} GB of data, too large to send: put them on storage "
                "that all workers reach under the same path, and give the paths"
            )
        try:
            # An item that a worker cannot import would kill it without a message.
            self._client.run(_same, None)
        except Exception as error:
            raise InputError(
                f"the workers cannot load the experiment ({cause_of(error)}): install the same "
                "versions of heldout, and of everything your systems need, there"
            ) from error
        return packed

    def _forget(self) -> None:
        """Cancel what is not needed any more, and remove the experiment from the cluster."""
        with suppress(Exception):  # the cluster may be gone
            self._executor.shutdown(wait=False)
            self._client.cancel([] if self._payload is None else [self._payload])


def _connect(where: str) -> Client:
    # A client that failed to connect is closed when it is garbage-collected. If that happens while
    # another client starts, it waits for ever for a lock that the other one holds.
    gc.collect()
    given = {"address": where} if "://" in where else {"scheduler_file": where}
    try:
        return Client(**given, timeout=_SECONDS_TO_CONNECT)
    except Exception as error:  # noqa: BLE001 - whatever answers need not be a scheduler
        hint = ": does Dask's configuration name the certificates in distributed.comm.tls?"
        raise InputError(
            f"no Dask scheduler at {where} ({cause_of(error)})"
            f"{hint if where.startswith('tls://') else ''}"
        ) from None


def _result(future: Any, name: str) -> tuple[Arrays, float]:
    """Return the result of an item, or raise an error that says what happened to it."""
    try:
        return future.result()  # type: ignore[no-any-return]
    except InputError as error:
        said = str(error)
    except KilledWorker:
        said = (
            f"{name}: every worker that ran it has died (out of memory, or a crash in the code of "
            "a system): give workers more memory, or use smaller parts"
        )
    except (CancelledError, OSError, TimeoutError) as lost:  # on the way, not on the worker
        said = (
            f"the Dask cluster is lost ({cause_of(lost)}); finished tasks are kept: continue with "
            "resume=True, there or elsewhere"
        )
    except Exception as error:  # noqa: BLE001 - of Dask, or what a worker could not send
        said = f"{name} failed on a worker: {cause_of(error)}"
    raise InputError(said)


def _this_process() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


# ---- on a worker ---------------------------------------------------------------------------------

_one_at_a_time = threading.Lock()
"""A user's system need not be thread-safe, and a worker can have several threads."""


def _do_there(
    name: str, sent: bytes, packed: bytes, sender: tuple[str, int]
) -> tuple[Arrays, float]:
    worker = get_worker()
    if _this_process() != sender:  # a worker can also be a thread of the sender
        # As many threads as the worker has, not as many as the machine has.
        os.environ.setdefault("HELDOUT_THREADS", str(worker.state.nthreads))
    with _one_at_a_time:
        return do_item(name, sent, packed, worker.address)


def _same(data: Any) -> Any:
    return data
