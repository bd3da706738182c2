"""Print the docstring of every public name of packages, as JSON lines.

It imports every public module of the packages, which has many side effects. Therefore it runs as a
separate process, and needs nothing but Python: ``python -P docstrings.py NAME…``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# Tests are not documentation, vendored packages document something else, and distutils exists only
# in some versions of Python.
_SKIPPED = re.compile(
    "conftest|setup|tests?|estimator_checks|cython_special|distutils|externals|_.*"
)
_MAY_VARY = re.compile(r"^.*# may vary *\n?", re.MULTILINE)
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def docstrings(package: str) -> Iterator[tuple[str, str]]:
    """Yield every public dotted name of a package with the docstring of what it names."""
    for module in _modules(package):
        for name in _public_names(module):
            found = _member(module, name)
            if found is None or isinstance(found, ModuleType):
                continue
            path = f"{module.__name__}.{name}"
            yield from _documented(path, found)
            if inspect.isclass(found) and _belongs(found, package):
                for member in sorted(vars(found)):
                    if not member.startswith("_"):
                        yield from _documented(f"{path}.{member}", _member(found, member))


def _modules(name: str) -> Iterator[ModuleType]:
    """Yield a module and all public ones below it, in the order of their names."""
    module = _import(name)
    if module is None:
        return
    yield module
    below = {one.name for one in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    for one in sorted(below):
        if not _SKIPPED.fullmatch(one):
            yield from _modules(f"{name}.{one}")


def _import(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a module may need packages that are not installed
        return None


def _public_names(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted({str(name) for name in listed})
    package = module.__name__.partition(".")[0]
    return sorted(
        name
        for name, found in vars(module).items()
        if not name.startswith("_") and _belongs(found, package)
    )


def _belongs(found: Any, package: str) -> bool:
    home = getattr(found, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] == package


def _member(owner: Any, name: str) -> Any:
    try:
        return (
            inspect.getattr_static(owner, name) if inspect.isclass(owner) else getattr(owner, name)
        )
    except Exception:  # noqa: BLE001 - deprecated names may raise anything
        return None


def _documented(path: str, found: Any) -> Iterator[tuple[str, str]]:
    try:
        text = found.__doc__
    except Exception:  # noqa: BLE001 - as above
        return
    if not isinstance(text, str) or (not inspect.isclass(found) and _of_type(found, text)):
        return
    # SciPy draws some of its examples when it is imported, and marks them.
    text = _MAY_VARY.sub("", _ADDRESS.sub("", inspect.cleandoc(text))).strip()
    if text:
        yield path, text.encode(errors="replace").decode()


def _of_type(found: Any, text: str) -> bool:
    """Return whether a value only shows the docstring of its type."""
    inherited = type(found).__doc__
    return isinstance(inherited, str) and bool(inherited) and text.endswith(inherited)


def main(packages: list[str]) -> None:
    """Print the docstrings of packages."""
    warnings.simplefilter("ignore")
    printed = sys.stdout
    sys.stdout = sys.stderr  # modules may print when they are imported
    for package in packages:
        for path, text in docstrings(package):
            printed.write(json.dumps([path, text]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
