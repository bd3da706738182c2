"""Workers do the items of `Work`: processes of this machine, or those of a Dask cluster.

A worker gets the experiment once (fields, paths and objects, not what they mean) and prepares it
itself. An item is then a few words, and its result a few arrays. Whatever fails in a worker comes
back as an `InputError`: other errors may not survive pickling, and would look like a dead worker.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, as_completed
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.data.parallel import threads
from heldout.errors import HeldoutError, InputError, MissingExtraError, cause_of, failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import ExitStack

    from distributed import Client

    from heldout.experiment.prepare import Prepared

    Function = Callable[..., "Arrays"]
    Items = Mapping[str, tuple[Any, ...]]
    Finished = Iterator[tuple[str, "Arrays"]]
    Pool: TypeAlias = "Processes | Cluster"

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""The result of an item: numbers, and texts as arrays; never objects."""

SECONDS: Final = "_seconds"
"""The time that an item took, among its arrays."""
DEATHS: Final = 3
"""Worker processes that may die before a run gives up."""
_SAFE_PATH: Final = "PYTHONSAFEPATH"
_SECONDS_TO_CONNECT: Final = 20


def make_pool(workers: int, dask: Any, on_message: Callable[[str], None] | None) -> Pool | None:
    """Return the workers of a run, not started; None: this process does everything."""
    if workers < 1:
        raise InputError(f"workers={workers}: expected a positive integer")
    if dask is None:
        return Processes(workers) if workers > 1 else None
    if workers > 1:
        raise InputError("workers are processes here, dask is a cluster: give one of them")
    try:
        return Cluster(dask, on_message)
    except ImportError as error:
        raise MissingExtraError(
            "a Dask cluster needs the package distributed: pip install '.[dask]' in a clone of "
            "heldout (or pip install distributed)"
        ) from error


class Processes:
    """Processes of this machine, which share its cores; they are started for the first items."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._prepared: Any = None
        self._executor: Any = None

    def open(self, stack: ExitStack, prepared: Prepared) -> None:
        """Let the end of the run end the processes."""
        self._prepared = prepared
        stack.callback(self._close)

    def run(self, function: Function, items: Items) -> Finished:
        """Do the items in any order; those of a process that dies are done again."""
        waiting = dict(items)
        for _ in range(DEATHS + 1):
            futures: dict[Any, str] = {}
            with _starting() as safe, suppress(BrokenExecutor):
                self._executor = self._executor or self._start(safe)
                for name, item in waiting.items():
                    futures[self._executor.submit(do_item, name, send(function, item))] = name
            for future in as_completed(futures):
                name = futures.pop(future)  # forgotten, with its arrays
                if not isinstance(future.exception(), BrokenExecutor):
                    del waiting[name]
                    yield name, future.result()
            if not waiting:
                return
            self._close()
        raise InputError(
            f"worker processes have died {DEATHS + 1} times (killed, out of memory, or a crash in "
            "the code of a system): use fewer workers"
        )

    def _start(self, safe: str) -> Any:
        # Not joblib.Parallel, whose processes stay for the next run with modules of this one.
        from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

        share = str(max(threads() // self._workers, 1))
        libraries = "HELDOUT", "NUMBA_NUM", "OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM"
        limits = {f"{library}_THREADS": share for library in libraries}
        return ProcessPoolExecutor(
            self._workers,
            initializer=_begin,
            initargs=(pack(self._prepared), os.getpid(), safe),
            env={**limits, **os.environ},
        )

    def _close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(kill_workers=True)  # whatever they do
            self._executor = None


@contextmanager
def _starting() -> Iterator[str]:
    """Start Python processes that import no module of the current folder, and ignore Ctrl-C.

    It may be a folder of someone's data: a ``joblib.py`` in it would run. Code of users that starts
    Python must find its modules as ever: workers set the variable to what it was, which is yielded.
    """
    before = os.environ.get(_SAFE_PATH, "")
    os.environ[_SAFE_PATH] = "1"
    if sys.platform != "win32":
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # when it starts, it unblocks the signal
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # we end them
    try:
        yield before
    finally:
        os.environ[_SAFE_PATH] = before
        if sys.platform != "win32":
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


# ---- a Dask cluster -----------------------------------------------------------------------------


class Cluster:
    """The workers of a cluster, which is given by its address, its scheduler file, or a client."""

    def __init__(self, where: Any, on_message: Callable[[str], None] | None) -> None:
        from distributed import Client

        # Connecting to text that is not an address could take for ever.
        if not isinstance(where, Client) and "://" not in str(where) and not os.path.isfile(where):
            raise InputError(
                f"{str(where)!r} is not a Dask cluster: give tcp://HOST:PORT or a scheduler file; "
                "processes of this machine are workers=4 or --jobs 4"
            )
        self._where, self._on_message = where, on_message
        self._executor: Any = None
        self._payload: Any = None  # a future

    def open(self, stack: ExitStack, prepared: Prepared) -> None:
        """Connect to the cluster, and send it the experiment, until the end of the run."""
        import dask.config

        address = isinstance(self._where, str | os.PathLike)
        client = stack.enter_context(_connect(self._where)) if address else self._where
        if self._on_message and not client.scheduler_info(n_workers=-1)["workers"]:
            self._on_message("the Dask cluster has no workers: waiting for the first one")
        packed = _packed_for(client, prepared)
        threshold = "distributed.admin.large-graph-warning-threshold"
        stack.enter_context(dask.config.set({threshold: "1 TB"}))
        stack.callback(self._forget)
        # The payload is the result of a task, which the scheduler keeps: it is made again if the
        # worker that has it dies. Scattered data would be lost: of several copies Dask keeps one.
        self._payload = client.submit(_same, packed, pure=False)
        self._executor = client.get_executor(pure=False, retries=2)
        _senders.add(os.getpid())

    def run(self, function: Function, items: Items) -> Finished:
        """Do the items; one that fails, or whose worker dies, is repeated, perhaps on another."""
        futures = {
            self._executor.submit(_do_there, name, send(function, item), self._payload): name
            for name, item in items.items()
        }
        for future in as_completed(futures):
            name = futures.pop(future)  # the cluster can forget it
            yield name, _result(future, name)

    def _forget(self) -> None:
        """Cancel what is not needed any more, and remove the experiment from the cluster."""
        with suppress(Exception):  # the cluster may be gone
            self._executor.shutdown(wait=False)
            self._payload.cancel()


def _packed_for(client: Client, prepared: Prepared) -> bytes:
    packed = pack(prepared)
    size = len(packed) / 2**30
    if size > 1:  # all of it goes through the scheduler
        raise InputError(
            f"the experiment has {size:.1f} GB of data, too large to send: put them on storage "
            "that all workers reach under the same path, and give the paths"
        )
    try:
        # An item that a worker cannot import would kill it without a message.
        client.run(_same, None)
    except Exception as error:
        raise InputError(
            f"the workers cannot load the experiment ({cause_of(error)}): install the same "
            "versions of heldout, and of everything your systems need, there"
        ) from error
    return packed


def _connect(where: str | os.PathLike[str]) -> Client:
    from distributed import Client

    # A client that failed to connect is closed when it is garbage-collected. If that happens while
    # another client starts, it waits for ever for a lock that the other one holds.
    gc.collect()
    given = {"address" if "://" in str(where) else "scheduler_file": str(where)}
    try:
        return Client(**given, timeout=_SECONDS_TO_CONNECT)
    except Exception as error:  # noqa: BLE001 - whatever answers need not be a scheduler
        hint = ": does Dask's configuration name the certificates in distributed.comm.tls?"
        raise InputError(
            f"no Dask scheduler at {where} ({cause_of(error)})"
            f"{hint if str(where).startswith('tls://') else ''}"
        ) from None


def _result(future: Any, name: str) -> Arrays:
    """Return the result of an item, or raise an error that says what happened to it."""
    from distributed import KilledWorker

    try:
        return future.result()  # type: ignore[no-any-return]
    except InputError:
        raise
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


# ---- what a worker gets and does -----------------------------------------------------------------


def perform(prepared: Prepared, function: Function, name: str, item: tuple[Any, ...]) -> Arrays:
    """Return the arrays of an item, with the seconds that it took."""
    begin = time.perf_counter()
    try:
        arrays = function(prepared, *item)
    except SystemExit as error:  # of a user's code: it must not end the run without a message
        raise InputError(failure(name, error)) from None
    return {**arrays, SECONDS: np.array(time.perf_counter() - begin)}


def pack(prepared: Prepared) -> bytes:
    """Return what a worker needs to prepare the experiment, and to see that it is the same."""
    import cloudpickle  # type: ignore[import-untyped] # pickles functions by value

    from heldout.experiment.manifest import make_manifest
    from heldout.experiment.systems.references import FILE_MODULE

    # A measure of the user's own is only known by its name in this process, unless it has a file.
    measures = [
        measure
        for measure in (*prepared.measures, prepared.tune_for)
        if not str(getattr(measure.definition.own, "__module__", "")).startswith(FILE_MODULE)
    ]
    index = getattr(prepared, "index_path", None)
    contents = measures, prepared.experiment, index, make_manifest(prepared)
    try:
        return cloudpickle.dumps(contents)  # type: ignore[no-any-return]
    except Exception as error:  # a user's object can contain anything
        raise InputError(
            f"the systems or the data cannot be sent to other processes "
            f"({type(error).__name__}: {error}): use 1 worker, or name the system by its file "
            "(ranker.py:rank)"
        ) from error


def send(function: Function, item: tuple[Any, ...]) -> bytes:
    """Return what a worker needs to do an item, which can have values of a user's own class."""
    import cloudpickle

    return cloudpickle.dumps((function, item))  # type: ignore[no-any-return]


_packed: list[bytes] = []
"""In a worker process: the experiment, which `_begin` was given."""


@lru_cache(maxsize=1)
def _prepared(packed: bytes) -> Prepared:
    from heldout.experiment.manifest import reopened

    _, *contents = pickle.loads(packed)  # noqa: S301 - pickled by this run
    return reopened(*contents)


def do_item(name: str, sent: bytes, packed: bytes = b"", worker: str = "") -> Arrays:
    """Do an item in a worker, which is named if it cannot prepare the experiment."""
    where = worker and f"worker {worker}: "
    try:
        prepared = _prepared(packed or _packed[0])
        where = ""
        function, item = pickle.loads(sent)  # noqa: S301 - pickled by this run
        return perform(prepared, function, name, item)
    except HeldoutError as error:
        said = f"{where}{error}"
    except BaseException as error:  # noqa: BLE001 - whatever it is, the run must hear of it
        said = f"{where}{name} failed on a worker: {cause_of(error)}"
    # Raised out here, because an error that is being handled would be pickled, too.
    raise InputError(said)


def _begin(packed: bytes, parent: int, safe: str) -> None:
    """Do this first in a worker process; whatever can fail waits for the first item."""
    from joblib.externals.loky import process_executor

    _packed[:] = [packed]
    os.environ[_SAFE_PATH] = safe
    # What an experiment remembers is not a leak; a new process would prepare it again.
    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize  # noqa: SLF001
    if sys.platform != "win32":  # on Windows, the parent's id does not change when it ends
        signal.signal(signal.SIGINT, lambda *_: None)  # processes started here do not inherit it
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent was killed; it would wait for more work for ever."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


# ---- in a worker of a cluster -------------------------------------------------------------------

_senders: set[int] = set()
"""This process, if it gives work to clusters: a worker can also be a thread of it."""
_one_at_a_time = threading.Lock()
"""A user's system need not be thread-safe, and a worker can have several threads."""


def _do_there(name: str, sent: bytes, packed: bytes) -> Arrays:
    from distributed import get_worker

    worker = get_worker()
    if os.getpid() not in _senders:
        # As many threads as the worker has, not as many as the machine has.
        os.environ.setdefault("HELDOUT_THREADS", str(worker.state.nthreads))
    with _one_at_a_time:
        return do_item(name, sent, packed, worker.address)


def _same(data: Any) -> Any:
    return data
