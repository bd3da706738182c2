"""References such as ``file.py:name``: load the code, and notice that it changed."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError, cause_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FILE_MODULE",
    "load_reference",
    "qualified_name",
    "reference_hash",
    "source_hash",
    "takes_sides",
]

FILE_MODULE: Final = "heldout_experiment_"
"""The prefix of modules loaded from a file; the rest of the name is its path."""


def load_reference(reference: str, folder: Path | None = None, *, system: str = "") -> Any:
    """Return the object that ``file.py:name`` or ``package.module:name`` names.

    Parameters
    ----------
    folder
        Where a relative file starts.
    system
        The name of the system, for messages.
    """
    try:
        return _loaded(reference, folder)
    except InputError as error:
        raise InputError(f"{system}: {error}" if system else str(error)) from error.__cause__


def _loaded(reference: str, folder: Path | None) -> Any:
    place, _, attribute = reference.rpartition(":")
    module = _load_file(place, folder) if place.endswith(".py") else _load_module(place)
    if not hasattr(module, attribute):
        raise InputError(f"{place} has no {attribute!r}")
    return getattr(module, attribute)


def _load_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(f"{name} cannot be imported ({error})") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"{name} cannot be imported ({cause_of(error)})") from error


def _load_file(place: str, folder: Path | None) -> Any:
    path = (folder or Path()) / place
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file")
    name = f"{FILE_MODULE}{re.sub(r'[^0-9A-Za-z]', '_', str(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        raise InputError(f"{path} cannot be run ({cause_of(error)})") from error
    return module


def reference_hash(reference: str, home: str) -> str:
    """Return a hash of the file of a reference such as ``ranker.py:rank``; empty: not a file."""
    place = reference.rpartition(":")[0]
    if not place.endswith(".py"):
        return ""
    return hashlib.sha256((Path(home) / place).read_bytes()).hexdigest()


def qualified_name(call: Any) -> str:
    """Return the module and name of a function or class, or of the class of an object."""
    named: Callable[..., Any] = call if hasattr(call, "__qualname__") else type(call)
    return f"{named.__module__}.{named.__qualname__}"


def source_hash(call: Any) -> str:
    """Return a hash of the source, which changes with the function; empty if there is none."""
    try:
        text = inspect.getsource(call if hasattr(call, "__qualname__") else type(call))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


def takes_sides(call: Callable[..., Any]) -> bool:
    """Return whether a function takes a train and a test side: two arguments without defaults.

    Examples
    --------
    >>> def rank(train, test, power=1.0): ...
    >>> def make(power=1.0, depth=100): ...
    >>> takes_sides(rank), takes_sides(make)
    (True, False)
    """
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        return True  # compiled functions have no signature
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return True
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [one for one in parameters if one.kind in placed and one.default is one.empty]
    return len(required) >= 2
