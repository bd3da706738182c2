"""Workers do the items of `Work`: processes of this machine, or those of a Dask cluster.

A worker gets the experiment once (fields, paths and objects, not what they mean) and prepares it
itself. An item is then a few words, and its result a few arrays. Whatever fails in a worker comes
back as an `InputError`: other errors may not survive pickling, and would look like a dead worker.
"""

from __future__ import annotations

import gc
import os
import pickle
import queue
import signal
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, CancelledError, as_completed
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.data.parallel import threads
from heldout.errors import Argument, HeldoutError, InputError, MissingExtraError, cause_of, failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from distributed import Client

    from heldout.experiment.prepare import Prepared

    Function = Callable[..., "Arrays"]
    Items = Mapping[str, tuple[Any, ...]]
    Finished = Iterator[tuple[str, "Arrays"]]
    Run = Callable[[Function, Items, bool], Finished]  # see `Work.map`
    OnMessage = Callable[[str], None] | None

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""The result of an item: numbers, and texts as arrays; never objects."""

SECONDS: Final = "_seconds"  # the time that an item took, among its arrays
DEATHS: Final = 3  # worker processes that may die before a run gives up
_SAFE_PATH: Final = "PYTHONSAFEPATH"
_SECONDS_TO_CONNECT: Final = 20


def check_workers(workers: int, dask: Any) -> None:
    """Refuse workers that cannot be meant, before anything is read."""
    if workers < 1:
        raise InputError("expected a positive integer", argument="workers", value=workers)
    if dask is None:
        return
    if workers > 1:
        raise InputError("workers are processes here, dask is a cluster: give one of them")
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError(
            "a Dask cluster needs the package distributed: pip install '.[dask]' in a clone of "
            "heldout (or pip install distributed)"
        ) from error
    # Connecting to text that is not an address could take for ever.
    if not isinstance(dask, Client) and "://" not in str(dask) and not os.path.isfile(dask):
        raise InputError(
            f"{str(dask)!r} is not a Dask cluster: give tcp://HOST:PORT or a scheduler file; "
            "processes of this machine are ",
            Argument("workers", "4"),
        )


def open_workers(
    prepared: Prepared, workers: int, dask: Any, on_message: OnMessage
) -> AbstractContextManager[Run]:
    """Give a function that does items, in whatever order, as long as the workers live."""
    if dask is not None:
        return _cluster(prepared, dask, on_message)
    return _processes(prepared, workers)


# ---- processes of this machine -------------------------------------------------------------------


@contextmanager
def _processes(prepared: Prepared, workers: int) -> Iterator[Run]:
    """Give a function that does items in this process, or in others, which it starts."""
    executor: Any = None

    def run(function: Function, items: Items, calls: bool) -> Finished:
        nonlocal executor
        if workers == 1 or not calls or len(items) < 2:  # not worth starting processes
            for name, item in items.items():
                yield name, perform(prepared, function, name, item)
            return
        waiting = dict(items)
        for _ in range(DEATHS + 1):
            futures: dict[Any, str] = {}
            with _starting() as safe, suppress(BrokenExecutor):
                executor = executor or _start(prepared, workers, safe)
                for name, item in waiting.items():
                    futures[executor.submit(do_item, name, send(function, item))] = name
            for future in as_completed(futures):
                name = futures.pop(future)  # forgotten, with its arrays
                if not isinstance(future.exception(), BrokenExecutor):
                    del waiting[name]
                    yield name, future.result()
            if not waiting:
                return
            _end(executor)
            executor = None  # what a process that died had to do is done again
        raise InputError(
            f"worker processes have died {DEATHS + 1} times (killed, out of memory, or a crash in "
            "the code of a system): use fewer workers"
        )

    try:
        yield run
    finally:
        if executor is not None:
            _end(executor)


def _end(executor: Any) -> None:
    """End the processes, whatever they do."""
    with suppress(queue.Empty):  # loky looks up items that wait after it has forgotten them
        while True:
            executor._work_ids.get_nowait()  # noqa: SLF001
    executor.shutdown(kill_workers=True)


def _start(prepared: Prepared, workers: int, safe: str) -> Any:
    # Not joblib.Parallel, whose processes stay for the next run with modules of this one.
    from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

    share = str(max(threads() // workers, 1))
    libraries = "HELDOUT", "NUMBA_NUM", "OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM"
    limits = {f"{library}_THREADS": share for library in libraries}
    return ProcessPoolExecutor(
        workers,
        initializer=_begin,
        initargs=(pack(prepared), os.getpid(), safe),
        env={**limits, **os.environ},
    )


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


@contextmanager
def _cluster(prepared: Prepared, where: Any, on_message: OnMessage) -> Iterator[Run]:
    """Give a function that does items on a cluster: an address, a scheduler file, or a client."""
    import dask.config
    from distributed import Client

    with nullcontext(where) if isinstance(where, Client) else _connect(str(where)) as client:
        if on_message and not client.scheduler_info(n_workers=-1)["workers"]:
            on_message("the Dask cluster has no workers: waiting for the first one")
        packed = _packed_for(client, prepared)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            # The payload is the result of a task, which the scheduler keeps: it is made again if
            # the worker that has it dies. Of several copies of scattered data Dask keeps only one.
            payload = client.submit(_same, packed, pure=False)
            executor = client.get_executor(pure=False, retries=2)  # perhaps on another worker
            _senders.add(os.getpid())

            def run(function: Function, items: Items, _calls: bool) -> Finished:
                futures = {
                    executor.submit(_do_there, name, send(function, item), payload): name
                    for name, item in items.items()
                }
                for future in as_completed(futures):
                    name = futures.pop(future)  # the cluster can forget it
                    yield name, _result(future, name)

            try:
                yield run
            finally:
                with suppress(Exception):  # the cluster may be gone
                    executor.shutdown(wait=False)
                    payload.cancel()


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


def _connect(where: str) -> Client:
    from distributed import Client

    # A client that failed to connect is closed when it is garbage-collected. If that happens while
    # another client starts, it waits for ever for a lock that the other one holds.
    gc.collect()
    given = {"address" if "://" in where else "scheduler_file": where}
    try:
        return Client(**given, timeout=_SECONDS_TO_CONNECT)
    except Exception as error:  # noqa: BLE001 - whatever answers need not be a scheduler
        hint = ": does Dask's configuration name the certificates in distributed.comm.tls?"
        raise InputError(
            f"no Dask scheduler at {where} ({cause_of(error)})"
            f"{hint if where.startswith('tls://') else ''}"
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
        kept = f"the Dask cluster is lost ({cause_of(lost)}); finished splits are kept: continue "
        again = "with ", Argument("resume", "True"), ", there or elsewhere"
        raise InputError(kept, *again) from None
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
    contents = measures, prepared.experiment, make_manifest(prepared)
    try:
        return cloudpickle.dumps(contents)  # type: ignore[no-any-return]
    except Exception as error:  # a user's object can contain anything
        raise InputError(
            f"the systems or the data cannot be sent to other processes ({cause_of(error)}): use "
            "1 worker, or name the system by its file (ranker.py:rank)"
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

_senders: set[int] = set()  # this process, if it gives work to clusters: workers can be threads
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
