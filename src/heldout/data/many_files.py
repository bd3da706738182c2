"""The same work on each of many files: in threads, or in forked processes if it is much."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeVar

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
    children = [_fork(task, items[first::workers]) for first in range(workers)]
    try:
        for number, item in enumerate(items):
            result = _receive(children[number % workers][1])
            yield task(item) if result is None else result[0]
    finally:
        for _, results in children:
            results.close()  # a child that writes more than is wanted ends there
        for child, _ in children:
            os.waitpid(child, 0)


def _fork(task: Callable[[Any], object], items: Sequence[Any]) -> tuple[int, BinaryIO]:
    """Start a process that works on some items; return its number and the stream of its results."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, os.fdopen(reading, "rb")
    try:
        os.close(reading)
        os.environ["HELDOUT_THREADS"] = "1"
        with os.fdopen(writing, "wb") as results:
            for item in items:
                _send(task, item, results)
    finally:
        os._exit(0)  # nothing of what the other process has opened or registered is touched


def _send(task: Callable[[Any], object], item: Any, results: BinaryIO) -> None:
    try:
        result = (task(item),)
    except Exception:  # noqa: BLE001 - the other process will meet it again
        result = None
    pickle.dump(result, results)
    results.flush()


def _receive(results: BinaryIO) -> tuple[Any] | None:
    """Return the next result; None if it failed, or if the system has ended the process."""
    try:
        received: tuple[Any] | None = pickle.load(results)  # noqa: S301 - from our own process
    except (EOFError, pickle.UnpicklingError):
        return None
    return received
