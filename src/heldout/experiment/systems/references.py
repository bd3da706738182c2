"""The code of users: load it from ``file.py:name``, describe it, and notice that it changed."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import math
import re
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import HeldoutError, InputError, failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILE_MODULE: Final = "heldout_experiment_"  # begins the names of modules loaded from a file
# Packages whose code need not be hashed: their versions are in the manifest.
_VERSIONED: Final = ("heldout", "sklearn", "numpy", "scipy", "builtins")
_INSTALLED: Final = re.compile(r"[/\\](site|dist)-packages[/\\]")
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


@contextmanager
def users_code(called: str) -> Iterator[None]:
    """Turn whatever a user's code raises, also SystemExit, into an error that names the code."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except HeldoutError as error:
        raise InputError(f"{called}: {error}") from error
    except BaseException as error:
        raise InputError(failure(called, error)) from error


def load_reference(reference: str, folder: Path | None = None, *, system: str = "") -> Any:
    """Return the object that ``file.py:name``, seen from a folder, or ``module:name`` names."""
    place, _, attribute = reference.rpartition(":")
    path, of_system = (folder or Path()) / place, f"{system}: " if system else ""
    is_file = place.endswith(".py")
    if is_file and not path.is_file():
        raise InputError(f"{of_system}{path}: no such file")
    with users_code(f"{of_system}{place}"):
        if is_file:
            import cloudpickle  # type: ignore[import-untyped] # rarely needed

            name = f"{FILE_MODULE}{re.sub(r'[^0-9A-Za-z]', '_', str(path.resolve()))}"
            spec: Any = importlib.util.spec_from_file_location(name, path)
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            cloudpickle.register_pickle_by_value(module)  # a worker cannot import it by this name
        else:
            module = importlib.import_module(place)
    if not hasattr(module, attribute):
        raise InputError(f"{of_system}{place} has no {attribute!r}")
    return getattr(module, attribute)


def qualified_name(call: Any) -> str:
    """Return the module and name of a function, or of a class or that of an object."""
    named = call if hasattr(call, "__qualname__") else type(call)
    if named.__module__.startswith(FILE_MODULE):
        return str(named.__qualname__)
    return f"{named.__module__}.{named.__qualname__}"


def source_of(call: Any, reference: str = "", folder: Path | None = None) -> str:
    """Return a hash that changes with the code of a user; empty: its source is unknown.

    Code that was loaded by a reference has a file, which is hashed with all modules of the user's
    own that it imports. Of other code, the source of the function or class is hashed.
    """
    place, files = reference.rpartition(":")[0], list[Path]()
    if place.endswith(".py"):
        files = [((folder or Path()) / place).resolve()]
    elif place:
        files = list(_own_files(place.split(".")))
    if files:
        return hashlib.sha256(b"".join(map(Path.read_bytes, _with_imports(files)))).hexdigest()
    try:
        text = inspect.getsource(call if hasattr(call, "__qualname__") else type(call))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


def _with_imports(files: list[Path]) -> list[Path]:
    """Return files and the user's own files that they import, and that these import."""
    for file in files:  # it grows
        try:
            nodes = list(ast.walk(ast.parse(file.read_bytes())))
        except (SyntaxError, ValueError):
            continue
        for node in nodes:
            level, module = getattr(node, "level", 0), getattr(node, "module", None)
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                names = ".".join(filter(None, (module, alias.name))).split(".")
                own = _files_in(file.parents[level - 1], names) if level else _own_files(names)
                # ``from a import b`` may mean the module ``a.b``.
                files += [other for other in own if other not in files]
    return files


def _own_files(names: Sequence[str]) -> Iterator[Path]:
    """Yield the files of a module and of the packages it is in, if it is not an installed one."""
    spec = None
    with suppress(ImportError, ValueError):  # ValueError: __main__ in a notebook
        if names[0] not in {*_VERSIONED, *sys.stdlib_module_names}:
            spec = importlib.util.find_spec(names[0])
    place = str(spec.origin) if spec is not None and spec.has_location else ""
    if spec is None or _INSTALLED.search(place):
        return
    if place.endswith(".py"):
        yield Path(place).resolve()
    for folder in spec.submodule_search_locations or ():
        yield from _files_in(Path(folder), names[1:])


def _files_in(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield the files of a module and of the packages it is in, seen from a folder."""
    for name in names:
        folder /= name
        for file in (folder / "__init__.py", folder.with_name(f"{name}.py")):
            if file.is_file():
                yield file.resolve()


def plain_value(value: Any) -> Any:
    """Return a parameter as a JSON value that is short enough for a table.

    >>> plain_value((1, 2)), plain_value(len), plain_value(0.5)
    ([1, 2], 'len', 0.5)
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, type) or inspect.isroutine(value):
        return value.__qualname__
    return " ".join(_ADDRESS.sub("", repr(value)).split())


def described(value: Any) -> Any:
    """Return a value as plain values: classes with a hash of their source, arrays by one of bytes.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> described(KNeighborsClassifier(3))["parameters"]["n_neighbors"]
    3
    """
    if isinstance(value, dict):
        return {str(key): described(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, np.ndarray):
        return {"array": hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}
    code = value if isinstance(value, type) or inspect.isroutine(value) else type(value)
    package = str(getattr(code, "__module__", "")).partition(".")[0]
    if package == "builtins":
        return plain_value(value)
    record = {"name": qualified_name(value)} if code is value else {"class": qualified_name(value)}
    record["source"] = "" if package in _VERSIONED else source_of(code)
    if hasattr(value, "get_params") and code is not value:
        return {**record, "parameters": described(value.get_params(deep=False))}
    return record if code is value else {**record, "value": plain_value(value)}
