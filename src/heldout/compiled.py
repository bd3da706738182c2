"""Compiled loops: how they are compiled and cached, and the message shown meanwhile."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["announce", "bare_kernel", "inlined", "kernel", "part"]

_Function = TypeVar("_Function", bound="Callable[..., Any]")


def kernel(function: _Function) -> _Function:
    """Compile a function on its first call, without the interpreter lock, and cache the code."""
    return _cached(function, {"nogil": True, "error_model": "numpy"})


def bare_kernel(function: _Function) -> _Function:
    """Compile a function like `kernel`, but without counting references to arrays.

    Counting takes a fifth of the time of short loops over many arrays. Such a function cannot make
    arrays: its callers bring them.
    """
    return _cached(function, {"nogil": True, "error_model": "numpy", "_nrt": False})


def _cached(function: _Function, options: dict[str, Any]) -> _Function:
    import numba

    from heldout.compiled_cache import KernelCache

    compiled: Any = numba.njit(**options)(function)
    with suppress(RuntimeError):  # no folder can be written to: every process compiles
        compiled._cache = KernelCache(function)  # noqa: SLF001 - what cache=True does
    return cast("_Function", compiled)


def inlined(function: _Function) -> _Function:
    """Compile a function as a part of the kernels that call it.

    A compiled call would be optimised again in every caller, and users wait for compilation.
    """
    import numba

    compiled = numba.njit(inline="always", nogil=True, error_model="numpy")(function)
    return cast("_Function", compiled)


def part(function: _Function) -> _Function:
    """Compile a function that only kernels call, which takes less time.

    It is neither cached nor callable from Python, and does not count references to arrays: it can
    use arrays of its caller, but cannot make any.
    """
    import numba

    # The last three are options that Numba's types do not know of.
    options: Any = {
        "nogil": True,
        "error_model": "numpy",
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        "_nrt": False,
    }
    compiled: Any = numba.njit(**options)(function)
    template = compiled.get_call_template
    # A call with the constant 0 would be compiled beside the same call with an integer.
    plain: Any = numba.types.unliteral
    compiled.get_call_template = lambda types, names: template(
        tuple(map(plain, types)), {name: plain(kind) for name, kind in names.items()}
    )
    return cast("_Function", compiled)


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
    """Return whether a kernel was called before, or the cache has code for it."""
    files = getattr(function._cache, "files", None)  # noqa: SLF001 - set by `kernel`
    return bool(function.signatures) or (files is not None and files.ready())
