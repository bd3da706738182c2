"""What the tests of experiments share."""

import gc
import importlib.util
import multiprocessing
import sys

import pytest

IMPORTED = [
    "distributed",
    "heldout.experiment.prepare",
    "heldout.experiment.systems.build",
    "heldout.experiment.workers",
    "heldout.retrieve.search",
    "sklearn.neighbors",
]
"""What worker processes of the tests import: for seconds, unless they are forked with it."""
QUIET = {
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.profile.enabled": False,
}
"""A cluster that waits looks at itself 50 times a second: a tenth of a processor."""


@pytest.fixture(scope="session", autouse=True)
def _forked_dask_workers():
    """Fork Dask's workers from a server that has imported everything, as Dask's own tests do."""
    if sys.platform != "linux" or importlib.util.find_spec("distributed") is None:
        yield
        return
    import dask.config
    from distributed.utils import get_mp_context

    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"} | QUIET):
        get_mp_context()  # has a list of its own, which it sets once
        multiprocessing.set_forkserver_preload(IMPORTED)
        yield


@pytest.fixture(autouse=True)
def _no_half_made_clients(request):
    """Collect Dask clients that could not connect: later they would block one that starts."""
    yield
    if request.module.__name__ == "test_dask":
        gc.collect()
