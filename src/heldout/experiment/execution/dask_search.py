"""The parts of an index searched on a Dask cluster: each worker maps those it is given."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from heldout.errors import HeldoutError, InputError, MissingExtraError
from heldout.experiment.execution.executors import local_processes
from heldout.experiment.execution.memory import check_machine
from heldout.experiment.execution.resources import check_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heldout.retrieve.parts import EachPart, Part

__all__ = ["parts_on_dask"]

_R = TypeVar("_R")


@contextmanager
def parts_on_dask(where: Any) -> Iterator[EachPart]:
    """Do what is to be done for each part of an index on the workers of a cluster.

    The index must stand on storage that all workers see under the same path. What is asked for is
    sent once to each worker, a part by its name alone, and arrays come back.

    Parameters
    ----------
    where
        The address of a scheduler (``tcp://HOST:PORT``), its scheduler file, ``local:N`` for N
        processes here, or a client that is connected already.
    """
    try:
        from heldout.experiment.execution.dask_executor import RETRIES, open_dask
    except ImportError as error:
        raise MissingExtraError(
            "a Dask cluster needs the package distributed: pip install 'heldout[dask]'"
        ) from error
    from distributed import as_completed

    check_cluster(where)
    check_machine(local_processes(where))
    with open_dask(where) as client:

        def each(work: Callable[[Part], _R], parts: Sequence[Part], /) -> Iterator[_R]:
            places = [part.place() for part in parts]
            sent = _send(client, work)
            futures = client.map(_search_part, places, work=sent, pure=False, retries=RETRIES)
            try:
                for future in as_completed(futures):
                    yield _result(future)
                    future.release()
            finally:
                with suppress(Exception):  # the cluster may be gone, and with it the need
                    client.cancel([*futures, sent])

        yield each


def _send(client: Any, work: Any) -> Any:
    """What a task gives that any worker can do again.

    Data that are scattered would be lost with the worker that has them: of copies on several, Dask
    keeps one.
    """
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        return client.submit(_same, work, pure=False)


def _same(work: Any) -> Any:
    return work


def _search_part(place: tuple[str, int, str], work: Callable[[Part], Any]) -> Any:
    """On a worker; what a user can change comes back as text."""
    from distributed import get_worker

    from heldout.retrieve.shards import open_part

    # A worker has so many cores for itself, and not the whole machine.
    os.environ.setdefault("HELDOUT_THREADS", str(get_worker().state.nthreads))
    try:
        part = open_part(*place)
        found = work(part)
    except HeldoutError as error:
        return None, str(error)
    part.index.release()
    return found, ""


def _result(future: Any) -> Any:
    from distributed import KilledWorker

    error = future.exception()
    if isinstance(error, KilledWorker):
        raise InputError(
            "every worker that had a part of the index has died (out of memory?): give workers "
            "more, or cut the index into more parts"
        )
    if error is not None:
        raise InputError(f"a part failed on a worker: {type(error).__name__}: {error}")
    found, reason = future.result()
    if reason:
        raise InputError(f"a worker says: {reason}")
    return found
