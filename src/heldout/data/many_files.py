"""The same work on each of many files: in threads, or in forked processes if it is much."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, TypeVar

from heldout.data.parallel import stream_threads, threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["stream_files", "stream_forked"]

_R = TypeVar("_R")

_LARGE: Final = 16 << 20  # larger files are read one after the other, each by all threads
_SMALL: Final = 1 << 20  # bytes of files that are read before a thread would start
_WORTH: Final = 16 << 20  # bytes of files that are worth a process


def stream_files(
    task: Callable[[Any], _R], items: Sequence[Any], *, forked: bool = True
) -> Iterator[_R]:
    """Run `task` on each item and yield the results in the order of the items.

    Parameters
    ----------
    items
        Paths; objects in memory are allowed, too.
    forked
        Whether other processes may be used: the task does nothing but return its result.
    """
    paths = [item for item in items if isinstance(item, str | os.PathLike)]
    sizes = [os.path.getsize(path) for path in paths if os.path.isfile(path)]  # noqa: PTH113, PTH202
    whole = sum(sizes) if len(sizes) == len(items) else None  # unknown for objects and pipes
    if max(sizes, default=0) > _LARGE or (whole is not None and whole < _SMALL):
        return map(task, items)
    workers = min(threads(), len(items), (whole or 0) // _WORTH)
    if forked and workers > 1 and _alone():
        return stream_forked(task, items, workers)
    return stream_threads(task, items)


def _alone() -> bool:
    """Return whether this process has one thread only, of any library; unknown outside Linux.

    Another thread might hold a lock, for which a forked process would wait forever.
    """
    try:
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - pathlib is slow to import
    except OSError:
        return False


def stream_forked(task: Callable[[Any], _R], items: Sequence[Any], workers: int) -> Iterator[_R]:
    """Run `task` on each item in forked processes; yield the results in the order of the items.

    Threads that make many short calls of NumPy mostly wait for the interpreter lock. What fails in
    another process is done again here, so that the error is the same.
    """
    from concurrent.futures import ProcessPoolExecutor  # slow to import
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # A forked process gets the task with its memory: it need not be pickled.
    pool = ProcessPoolExecutor(workers, get_context("fork"), _keep, (task,))
    try:
        futures = [pool.submit(_attempt, item) for item in items]
        for item, future in zip(items, futures, strict=True):
            try:
                result = future.result()
            except BrokenProcessPool:  # the system has ended a process
                result = None
            yield task(item) if result is None else result[0]
    finally:
        pool.shutdown(cancel_futures=True)


_kept: list[Callable[[Any], Any]] = []
"""The task of this process, if it is one of those that `stream_forked` makes."""


def _keep(task: Callable[[Any], Any]) -> None:
    os.environ["HELDOUT_THREADS"] = "1"
    _kept.append(task)


def _attempt(item: Any) -> tuple[Any] | None:
    """Return the result in a tuple; None if the task fails, which the other process will see."""
    try:
        return (_kept[-1](item),)
    except Exception:  # noqa: BLE001
        return None
