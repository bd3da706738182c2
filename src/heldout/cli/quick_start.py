"""What makes a small evaluation start sooner."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Final

__all__ = ["collect_garbage_rarely", "import_numpy_without_threads"]

_THREADS: Final = "OPENBLAS_NUM_THREADS"


def collect_garbage_rarely() -> None:
    """Look for garbage less often: imports make many objects, and hardly any of them is garbage.

    With Python's own threshold of 700 new objects this is a tenth of the time to start. Looking
    through all objects at the end is another twentieth.
    """
    atexit.register(gc.freeze)
    gc.set_threshold(max(50_000, gc.get_threshold()[0]), *gc.get_threshold()[1:])


def import_numpy_without_threads() -> None:
    """Import NumPy without threads for products of matrices, for commands that compute none.

    Starting these threads is a quarter of the time to import NumPy.
    """
    if "numpy" in sys.modules or _THREADS in os.environ:
        return
    os.environ[_THREADS] = "1"
    try:
        import numpy  # noqa: F401, ICN001
    finally:
        del os.environ[_THREADS]
