"""Threads for work that NumPy does outside the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sized
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

_T = TypeVar("_T")
_R = TypeVar("_R")


def threads() -> int:
    """Return how many threads to use: ``HELDOUT_THREADS``, or the cores that we may use."""
    wanted = os.environ.get("HELDOUT_THREADS", "")
    if wanted.isdigit() and int(wanted):
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def stream_threads(
    task: Callable[[_T], _R], items: Iterable[_T], workers: int | None = None, ahead: int = 4
) -> Iterator[_R]:
    """Yield the results of threads in order; `ahead` of them per thread may wait to be taken."""
    wanted = threads() if workers is None else workers
    if isinstance(items, Sized):
        wanted = min(wanted, len(items))
    if wanted <= 1:
        yield from map(task, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to import

    with ThreadPoolExecutor(wanted) as pool:
        waiting: deque[Future[_R]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(task, item))
                if len(waiting) > ahead * wanted:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def run_threads(
    task: Callable[[_T], _R], items: Iterable[_T], workers: int | None = None
) -> list[_R]:
    """Run `task` on each item in `threads` threads; results are in the order of the items."""
    return list(stream_threads(task, list(items), workers))


def run_stretches(task: Callable[[tuple[int, int]], object], count: int, pieces: int = 8) -> None:
    """Run `task` on ranges (first, last) of the numbers below `count`, `pieces` per thread."""
    workers = threads()
    parts = min(count, pieces * workers) if workers > 1 else min(count, 1)
    cuts = [count * part // max(parts, 1) for part in range(parts + 1)]
    run_threads(task, pairwise(cuts))
