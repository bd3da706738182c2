"""Public names of packages, imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["found_in"]


def found_in(package: str, homes: Mapping[str, str], name: str) -> Any:
    """Import a public name of a package; raise an `AttributeError` for any other.

    Parameters
    ----------
    package
        The package.
    homes
        The module of each public name.
    name
        The name.
    """
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return getattr(import_module(homes[name]), name)
