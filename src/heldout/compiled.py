"""Compiled loops: how they are compiled and cached, and the message shown meanwhile."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "announce",
    "bare_kernel",
    "compile_elsewhere",
    "kernel",
    "part",
    "separate_part",
]

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_KNOWN_NUMBA: Final = (0, 68)
"""The version whose inside `heldout.compiled_parts` relies on."""


def kernel(function: _Function) -> _Function:
    """Compile a function on its first call, without the interpreter lock, and cache the code."""
    return _cached(function, {})


def bare_kernel(function: _Function) -> _Function:
    """Compile a function like `kernel`, but without counting references to arrays.

    Counting takes a fifth of the time of short loops over many arrays. Such a function cannot make
    arrays: its callers bring them.
    """
    return _cached(function, {"_nrt": False})


def _cached(function: _Function, options: dict[str, Any]) -> _Function:
    import numba

    from heldout.compiled_cache import KernelCache

    # Nothing calls kernels by their address: no function for that is compiled.
    usual: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(**usual, **_compiler("KernelCompiler"), **options)(function)
    with suppress(RuntimeError):  # no folder can be written to: every process compiles
        compiled._cache = KernelCache(function)  # noqa: SLF001 - what cache=True does
    return cast("_Function", compiled)


def _compiler(name: str) -> dict[str, Any]:
    """Return the option for a compiler of `heldout.compiled_parts`.

    They rely on the inside of Numba. Other versions compile in their own way, which takes longer.
    """
    import numba

    if numba.version_info.short != _KNOWN_NUMBA:
        return {}
    from heldout import compiled_parts

    return {"pipeline_class": getattr(compiled_parts, name)}


def part(function: _Function) -> _Function:
    """Compile a function that only kernels call, which takes less time.

    It is neither cached nor callable from Python, and does not count references to arrays: it can
    use arrays of its caller, but cannot make any. An array that it writes to must not overlap with
    others that it gets, so that the processor need not read these again.
    """
    import numba

    # The last three are options that Numba's types do not know of.
    options: Any = {
        "nogil": True,
        "error_model": "numpy",
        **_compiler("PartCompiler"),
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


def separate_part(function: _Function) -> _Function:
    """Compile a function like `part`, but never merge it with the kernel that calls it.

    In a long kernel, registers do not suffice for the loops of all of its parts: search for short
    lists took a third more time with merged loops.
    """
    vars(function)["separate"] = True  # for `heldout.compiled_parts`
    return part(function)


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


def compile_elsewhere(module: str, argument: str, *kernels: Callable[..., Any]) -> None:
    """Start to compile kernels in another process, unless the cache has them or there is one core.

    Where they are called first, this process waits for the other one, and compiles them itself if
    that failed.

    Parameters
    ----------
    module, argument
        What the other process runs: ``python -P -m module argument``. It calls the kernels with
        arguments of the types that they are always called with.
    kernels
        The functions, made by `kernel` or `bare_kernel`.
    """
    from heldout.data.parallel import threads

    missing = [_files(one) for one in kernels if not _is_ready(one)]
    caches = [one for one in missing if one is not None]
    if not caches or threads() < 2 or not sys.executable:
        return
    import subprocess

    command, quiet = [sys.executable, "-P", "-m", module, argument], subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)  # noqa: S603
    except OSError:
        return
    for one in caches:
        one.wait_for(process)


def _is_ready(function: Any) -> bool:
    """Return whether a kernel was called before, or the cache has code for it."""
    files = _files(function)
    return bool(function.signatures) or (files is not None and files.ready())


def _files(function: Any) -> Any:
    """Return the cached files of a kernel; None if no folder can be written to."""
    return getattr(function._cache, "files", None)  # noqa: SLF001 - set by `kernel`
