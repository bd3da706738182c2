"""What the tests of experiments share."""

import gc

import pytest


@pytest.fixture(autouse=True)
def _no_half_made_clients(request):
    """Collect Dask clients that could not connect: later they would block one that starts."""
    if "dask" in request.module.__name__:
        gc.collect()
