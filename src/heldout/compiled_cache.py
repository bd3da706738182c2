"""The cache of compiled loops: one file for each loop, its types, and what it was compiled from.

Numba's own cache looks at the source file of a loop alone, and would load code with old versions of
functions and constants from other files. It also keeps an index that several processes overwrite.
Here the name of a file is a digest of everything that the code depends on, and each file is written
beside its place and then moved there, so that readers see complete files or none.

Files are where Numba puts them: in ``__pycache__`` beside the source or, if that cannot be written,
in the user's cache folder; ``NUMBA_CACHE_DIR`` names another folder.
"""

from __future__ import annotations

import os
import pickle
import platform
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from heldout import __version__

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

__all__ = ["KernelCache", "code_digest", "environment"]

_COMPILER: Final = 2
"""To be raised where `heldout.compiled` compiles the same functions to other code."""


class KernelCache(FunctionCache):
    """The cache of one loop, in the place of Numba's.

    Parameters
    ----------
    function
        The loop, not compiled.

    Raises
    ------
    RuntimeError
        If no folder can be written to.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call] # Numba has no types
        self.files = _Files(Path(self._cache_path), function)
        self._cache_file: Any = self.files


class _Files:
    """The files of one loop; Numba calls `load`, `save` and `flush`."""

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self._folder = folder
        self._function = function
        self._name = f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")
        self._compiling: subprocess.Popen[bytes] | None = None

    def wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a process that compiles this loop before it is compiled here."""
        self._compiling = process

    def ready(self) -> bool:
        """Return whether there is code for any types."""
        return any(self._folder.glob(f"{self._prefix()}-*.nbc"))

    def load(self, key: tuple[Any, ...]) -> Any:
        """Return the code for a key (types and processor); None if there is none."""
        found = self._read(key)
        if found is None and self._compiling is not None:
            self._compiling.wait()
            self._compiling = None
            found = self._read(key)
        return found

    def _read(self, key: tuple[Any, ...]) -> Any:
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        try:
            stored, code = pickle.loads(content)  # noqa: S301 - as Numba does, from its own folder
        except Exception:  # noqa: BLE001 - a damaged file can raise anything: compile again
            return None
        return code if stored == repr(key) else None

    def save(self, key: tuple[Any, ...], code: Any) -> None:
        """Write the code for a key; a folder that is full or gone only means no cache."""
        path = self._path(key)
        aside = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
        try:
            aside.write_bytes(dumps((repr(key), code)))  # type: ignore[no-untyped-call]
            os.replace(aside, path)  # noqa: PTH105
        except OSError:
            aside.unlink(missing_ok=True)
            return
        self._remove_old()

    def flush(self) -> None:
        """Forget nothing: files are never read under a wrong name."""

    def _prefix(self) -> str:
        return f"{self._name}-{environment()}-{code_digest(self._function)}"

    def _path(self, key: tuple[Any, ...]) -> Path:
        return self._folder / f"{self._prefix()}-{_digest([repr(key).encode()])}.nbc"

    def _remove_old(self) -> None:
        """Remove code of earlier versions of this loop for the same environment."""
        present = self._prefix()
        for other in self._folder.glob(f"{self._name}-{environment()}-*.nbc"):
            if not other.name.startswith(present):
                other.unlink(missing_ok=True)


def environment() -> str:
    """Return a digest of what compiles and runs the code: versions, processor and options."""
    codegen = numba.core.registry.cpu_target.target_context.codegen()
    config: Any = numba.config
    options = (config.BOUNDSCHECK, config.OPT, config.LOOP_VECTORIZE)
    versions = (__version__, _COMPILER, numba.__version__, _version_of("llvmlite"), np.__version__)
    python = (platform.python_implementation(), platform.python_version())
    return _digest([repr((versions, python, codegen.magic_tuple(), options)).encode()])


_version_of = cache(version)  # reading it takes a millisecond, for each loop that is loaded


def code_digest(function: Callable[..., Any]) -> str:
    """Return a digest of a function, the compiled functions that it calls, and their constants."""
    return _digest(_content(function, set()))


def _content(function: Callable[..., Any], seen: set[Any]) -> Iterator[bytes]:
    seen.add(function)
    names: set[str] = set()
    yield from _code_content(function.__code__, names)
    for name in sorted(names & function.__globals__.keys()):
        value = function.__globals__[name]
        called = getattr(value, "py_func", None)
        if called is None:
            yield f"{name}={_described(value)}".encode()
        elif called not in seen:
            yield from _content(called, seen)


def _code_content(code: CodeType, names: set[str]) -> Iterator[bytes]:
    names.update(code.co_names)
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_content(constant, names)
        else:
            yield _described(constant).encode()


def _described(value: Any) -> str:
    """Return a text that changes if the value does, and is the same in every process."""
    if isinstance(value, frozenset):
        return repr(sorted(map(repr, value)))
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(value, type):  # of records, the fields
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    named = getattr(value, "__qualname__", None)
    return repr(value) if named is None else f"{value.__module__}.{named}"


def _digest(parts: Any) -> str:
    digest = blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
