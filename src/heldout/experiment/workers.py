"""Workers: processes of this machine that do the items of `Work`; for others see `cluster`.

A worker gets the experiment once (fields, paths and objects, not what they mean) and prepares it
itself. An item is then a few words, and its result a few arrays. Whatever fails in a worker comes
back as an `InputError`: other errors may not survive pickling, and would look like a dead worker.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from numpy.typing import NDArray

from heldout.data.parallel import threads
from heldout.errors import HeldoutError, InputError, MissingExtraError, cause_of, failure

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from contextlib import ExitStack

    from heldout.experiment.cluster import Cluster
    from heldout.experiment.prepare import Prepared

    Function = Callable[..., "Arrays"]
    Items = Mapping[str, tuple[Any, ...]]
    Finished = Generator[tuple[str, "Arrays", float], None, None]
    Pool: TypeAlias = "Processes | Cluster"

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""The result of an item: numbers, and texts as arrays; never objects."""

DEATHS: Final = 3
"""Worker processes that may die before a run gives up."""
_SAFE_PATH: Final = "PYTHONSAFEPATH"


def make_pool(workers: int, dask: Any, on_message: Callable[[str], None] | None) -> Pool | None:
    """Return the workers of a run, not started; None: this process does everything."""
    if workers < 1:
        raise InputError(f"workers={workers}: expected a positive integer")
    if dask is None:
        return Processes(workers) if workers > 1 else None
    if workers > 1:
        raise InputError("workers are processes here, dask is a cluster: give one of them")
    try:
        from heldout.experiment.cluster import Cluster
    except ImportError as error:
        raise MissingExtraError(
            "a Dask cluster needs the package distributed: pip install '.[dask]' in a clone of "
            "heldout (or pip install distributed)"
        ) from error
    return Cluster(dask, on_message)


class Processes:
    """Processes of this machine, started for the first items."""

    cluster = False  # they share the cores of this process

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor: Any = None

    def open(self, stack: ExitStack) -> None:
        """Let the end of the run end the processes."""
        stack.callback(self._close)

    def run(self, prepared: Prepared, function: Function, items: Items) -> Finished:
        """Do the items in any order; those of a process that dies are done again."""
        waiting = dict(items)
        for _ in range(DEATHS + 1):
            self._executor = self._executor or self._start(prepared)
            futures: dict[Any, str] = {}
            try:
                with _starting(), suppress(BrokenExecutor):
                    for name, item in waiting.items():
                        futures[self._executor.submit(do_item, name, send(function, item))] = name
            except UnboundLocalError as error:  # of loky, if a process cannot be started
                raise error.__context__ or error from None
            for future in as_completed(futures):
                name = futures.pop(future)  # forgotten, with its arrays
                if not isinstance(future.exception(), BrokenExecutor):
                    del waiting[name]
                    yield (name, *future.result())
            if not waiting:
                return
            self._close()
        raise InputError(
            f"worker processes have died {DEATHS + 1} times (killed, out of memory, or a crash in "
            "the code of a system): use fewer workers"
        )

    def _start(self, prepared: Prepared) -> Any:
        # Not joblib.Parallel, whose processes stay for the next run with modules of this one.
        from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

        packed, share = pack(prepared), str(max(threads() // self._workers, 1))
        libraries = "HELDOUT", "NUMBA_NUM", "OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "BLIS_NUM"
        limits = {f"{library}_THREADS": share for library in libraries}
        with _starting() as safe:
            return ProcessPoolExecutor(
                self._workers,
                initializer=_begin,
                initargs=(packed, os.getpid(), safe),
                env={**limits, **os.environ, _SAFE_PATH: "1"},
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


# ---- what a worker gets and does -----------------------------------------------------------------


def perform(
    prepared: Prepared, function: Function, name: str, item: tuple[Any, ...]
) -> tuple[Arrays, float]:
    """Return the arrays of an item, and the seconds that it took."""
    begin = time.perf_counter()
    try:
        arrays = function(prepared, *item)
    except SystemExit as error:  # of a user's code: it must not end the run without a message
        raise InputError(failure(name, error)) from None
    return arrays, time.perf_counter() - begin


# ---- what a worker gets and does -----------------------------------------------------------------


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


def do_item(name: str, sent: bytes, packed: bytes = b"", worker: str = "") -> tuple[Arrays, float]:
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
