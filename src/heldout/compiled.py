"""Compiled loops: how they are compiled and cached, and the message shown meanwhile.

Numba caches compiled code in ``__pycache__`` beside the source, or in the user's cache folder where
the installation is read-only (``NUMBA_CACHE_DIR`` names another folder).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["announce", "bare_kernel", "bare_part", "inlined", "kernel", "part"]

_Function = TypeVar("_Function", bound="Callable[..., Any]")


def kernel(function: _Function) -> _Function:
    """Compile a function on its first call, without the interpreter lock, and cache the code."""
    import numba

    compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return cast("_Function", compiled)


def bare_kernel(function: _Function) -> _Function:
    """Compile a function like `kernel`, but without counting references to arrays.

    Counting takes a fifth of the time of short loops over many arrays, and longer to compile. Such
    a function cannot make arrays: its callers bring them.
    """
    import numba

    options: Any = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
    return cast("_Function", numba.njit(**options)(function))


def bare_part(function: _Function) -> _Function:
    """Compile a function that only functions of `bare_kernel` call."""
    import numba

    options: Any = {
        "nogil": True,
        "error_model": "numpy",
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        "_nrt": False,
    }
    return cast("_Function", numba.njit(**options)(function))


def inlined(function: _Function) -> _Function:
    """Compile a function as a part of the kernels that call it.

    A compiled call would be optimised again in every caller, and users wait for compilation.
    """
    import numba

    compiled = numba.njit(inline="always", nogil=True, error_model="numpy")(function)
    return cast("_Function", compiled)


def part(function: _Function) -> _Function:
    """Compile a function that only kernels call: faster, as it is neither cached nor callable."""
    import numba

    # The last two are options that Numba's types do not know of.
    options: Any = {
        "nogil": True,
        "error_model": "numpy",
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }
    return cast("_Function", numba.njit(**options)(function))


def announce(what: str, *kernels: Callable[..., Any]) -> None:
    """Print on standard error that `kernels` are about to be compiled, unless they have been.

    Parameters
    ----------
    what
        The part of heldout they belong to, such as "the index builder".
    kernels
        Functions made by `kernel` that are about to be called.
    """
    if any(not _is_ready(one) for one in kernels):
        print(f"compiling {what} (once, takes a few seconds)", file=sys.stderr)  # noqa: T201


def _is_ready(function: Any) -> bool:
    """Return whether a kernel was called before, or the cache has up-to-date code for it."""
    if function.signatures:
        return True
    code = function.py_func.__code__
    folder = Path(function.stats.cache_path)
    source = Path(code.co_filename)
    cached = folder.glob(f"{source.stem}.{code.co_name}-{code.co_firstlineno}.*.nbi")
    return any(one.stat().st_mtime >= source.stat().st_mtime for one in cached)
