"""Public names of packages, imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Lazy = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


def lazy_names(package: str, modules: Mapping[str, str]) -> Lazy:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package, by names per module."""
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name]}")
        return module if name == homes[name] else getattr(module, name)

    return sorted(homes), find, lambda: [*sorted(homes), "__version__"]
