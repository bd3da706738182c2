"""Estimators as plain values: to show their parameters, and to notice that they changed."""

from __future__ import annotations

import hashlib
import inspect
import math
import re
from typing import Any

import numpy as np

from heldout.experiment.systems.references import FILE_MODULE, qualified_name, source_hash

__all__ = ["described", "plain_value"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def plain_value(value: Any) -> Any:
    """Return a parameter as a JSON value that is short enough for a table.

    Examples
    --------
    >>> plain_value((1, 2)), plain_value(len), plain_value(0.5)
    ([1, 2], 'len', 0.5)
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, type) or inspect.isroutine(value):
        return value.__qualname__
    return " ".join(_ADDRESS.sub("", repr(value)).split())


def described(value: Any) -> Any:
    """Return a value as plain values: classes with a hash of their source, arrays by one of bytes.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> described(KNeighborsClassifier(3))["parameters"]["n_neighbors"]
    3
    """
    if value is None or isinstance(value, bool | int | str | float):
        return plain_value(value)
    if isinstance(value, dict):
        return {str(key): described(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [described(one) for one in value]
    return _object(value)


def _object(value: Any) -> dict[str, object]:
    if isinstance(value, np.ndarray):
        return {"array": hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}
    if isinstance(value, type) or inspect.isroutine(value):
        return {"name": _name(value), "source": _own_source(value)}
    if hasattr(value, "get_params"):
        return {
            "class": _name(value),
            "source": _own_source(type(value)),
            "parameters": described(value.get_params(deep=False)),
        }
    return {"class": _name(value), "value": plain_value(value)}


def _name(value: Any) -> str:
    """Return module and name; the folder of a file does not matter."""
    name = qualified_name(value)
    return name.partition(".")[2] if name.startswith(FILE_MODULE) else name


def _own_source(value: Any) -> str:
    """Return a hash of the source; empty for packages whose version is in the manifest."""
    home = str(getattr(value, "__module__", "")).partition(".")[0]
    return "" if home in {"sklearn", "numpy", "scipy", "builtins"} else source_hash(value)
