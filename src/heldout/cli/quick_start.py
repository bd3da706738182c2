"""What makes a small evaluation start sooner."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import Final

__all__ = ["collect_garbage_rarely", "import_numpy_quickly"]

_THREADS: Final = "OPENBLAS_NUM_THREADS"


def collect_garbage_rarely() -> None:
    """Look for garbage less often: imports make many objects, and hardly any of them is garbage.

    With Python's own threshold of 700 new objects this is a tenth of the time to start. Looking
    through all objects at the end is another twentieth.
    """
    atexit.register(gc.freeze)
    gc.set_threshold(max(50_000, gc.get_threshold()[0]), *gc.get_threshold()[1:])


def import_numpy_quickly() -> None:
    """Import NumPy without what small evaluations do not need.

    Starting threads for products of matrices is a quarter of the time to import it. Removing the
    indentation of its docstrings, which nobody reads here, is a seventh.
    """
    if "numpy" in sys.modules:
        return
    import inspect  # both are imported by NumPy
    import textwrap

    given = os.environ.get(_THREADS)
    os.environ[_THREADS] = given or "1"
    cleaners = [(inspect, "cleandoc", inspect.cleandoc), (textwrap, "dedent", textwrap.dedent)]
    for module, name, _ in cleaners:
        setattr(module, name, str)
    try:
        import numpy  # noqa: F401, ICN001
    finally:
        for module, name, function in cleaners:
            setattr(module, name, function)
        if given is None:
            del os.environ[_THREADS]
