"""Compiled loops: Numba's options for them, where their code is kept, and the message meanwhile."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_ELSEWHERE: Final[dict[Callable[..., Any], subprocess.Popen[bytes]]] = {}
# Nothing calls compiled functions by their address: no function for that is compiled.
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: _Function) -> _Function:
    """Compile a function on its first call, without the interpreter lock, and keep the code."""
    return _kept(function, **_OPTIONS)


def bare_kernel(function: _Function) -> _Function:
    """Compile a function that makes no arrays: counting references takes a fifth of its time."""
    return _kept(function, **_OPTIONS, _nrt=False)


def part(function: _Function) -> _Function:
    """Compile a function that only kernels call, and that makes no arrays: this is quicker."""
    import numba

    options: Any = {**_OPTIONS, "no_cpython_wrapper": True, "_nrt": False}
    return cast("_Function", numba.njit(**options)(function))


def _kept(function: _Function, **options: Any) -> _Function:
    """Compile a function and keep its code in a folder, if one can be written to."""
    import numba

    folder = _folder()
    usual = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
    try:
        compiled = numba.njit(**options, cache=bool(folder))(function)
    finally:
        numba.config.CACHE_DIR = usual  # type: ignore[attr-defined]
    return cast("_Function", compiled)


def cache_folder() -> Path:
    """Return ``HELDOUT_CACHE``, or the usual cache folder of the platform; it may not exist."""
    if own := os.environ.get("HELDOUT_CACHE"):
        return Path(own)
    home = Path(os.sep, os.path.expanduser("~"))  # noqa: PTH111 - a user may have no home: then /~
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
        return Path(local, "heldout", "Cache")
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "heldout"
    given = os.environ.get("XDG_CACHE_HOME", "")  # XDG says that a relative path must be ignored
    return Path(given if given.startswith("/") else home / ".cache", "heldout")


@cache
def _folder() -> str:
    """Return the folder for compiled code; an empty text if it cannot be written to."""
    # Numba would miss changes in other files than that of a function: each state has a folder.
    import llvmlite.binding as llvm  # type: ignore[import-untyped]
    import numba

    from heldout import __version__

    versions = (__version__, numba.__version__, llvm.get_host_cpu_name())
    digest = blake2b(repr(versions).encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("kernels/*.py")):
        digest.update(path.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR") or cache_folder()
    folder = Path(base) / f"compiled-{digest.hexdigest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as trial:
            trial.write(bytes(1 << 20))  # Numba would fail on a full disk
    except OSError:
        return ""
    return str(folder)


def announce(what: str, *kernels: Callable[..., Any]) -> None:
    """Print on standard error that kernels of `what` are to be compiled, unless they have been."""
    if all(map(_is_ready, kernels)):
        return
    print(f"compiling {what} (once, takes a few seconds)", file=sys.stderr)  # noqa: T201
    for function in kernels:
        if function in _ELSEWHERE:
            _ELSEWHERE.pop(function).wait()


def compile_elsewhere(function: Callable[..., Any], module: str) -> None:
    """Start ``python -m module``, which calls a kernel; `announce` waits for it."""
    from heldout.data.parallel import threads

    if threads() > 1 and sys.executable and _folder() and not _is_ready(function):
        import subprocess

        command, none = [sys.executable, "-P", "-m", module], subprocess.DEVNULL
        with suppress(OSError):
            process = subprocess.Popen(command, stdin=none, stdout=none, stderr=none)  # noqa: S603
            _ELSEWHERE[function] = process


def _is_ready(function: Any) -> bool:
    """Return whether a kernel was called before, its code is kept, or nothing is compiled."""
    if not hasattr(function, "signatures"):  # NUMBA_DISABLE_JIT
        return True
    folder, name = function.stats.cache_path, function.py_func.__qualname__
    return bool(function.signatures or (folder and [*Path(folder).glob(f"*.{name}-*.nbi")]))
