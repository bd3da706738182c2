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
from contextlib import suppress
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
            found = None
            with suppress(Exception):  # deprecated names may raise anything
                found = getattr(module, name)
            if found is None or isinstance(found, ModuleType):
                continue
            path = f"{module.__name__}.{name}"
            yield from _documented(path, found)
            if inspect.isclass(found) and _belongs(found, package):
                for member in sorted(vars(found)):
                    if not member.startswith("_"):
                        static = inspect.getattr_static(found, member, None)
                        yield from _documented(f"{path}.{member}", static)


def _modules(name: str) -> Iterator[ModuleType]:
    """Yield a module and all public ones below it, in the order of their names."""
    try:
        module = importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a module may need packages that are not installed
        return
    yield module
    below = {one.name for one in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    for one in sorted(below):
        if not _SKIPPED.fullmatch(one):
            yield from _modules(f"{name}.{one}")


def _public_names(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted({str(name) for name in listed})
    package = module.__name__.partition(".")[0]
    members = vars(module).items()
    return sorted(
        name for name, found in members if not name.startswith("_") and _belongs(found, package)
    )


def _belongs(found: Any, package: str) -> bool:
    home = getattr(found, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] == package


def _documented(path: str, found: Any) -> Iterator[tuple[str, str]]:
    text = None
    with suppress(Exception):
        text = found.__doc__
    if not isinstance(text, str):
        return
    inherited = type(found).__doc__
    if not inspect.isclass(found) and isinstance(inherited, str) and inherited:
        text = "" if text.endswith(inherited) else text  # a value shows that of its type
    # SciPy draws some of its examples when it is imported, and marks them.
    text = _MAY_VARY.sub("", _ADDRESS.sub("", inspect.cleandoc(text))).strip()
    if text:
        yield path, text.encode(errors="replace").decode()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    printed = sys.stdout
    sys.stdout = sys.stderr  # modules may print when they are imported
    for package in sys.argv[1:]:
        for pair in docstrings(package):
            printed.write(json.dumps(pair) + "\n")
