"""The embedded collection: documentation of NumPy, SciPy and scikit-learn.

A document is the docstring of an object. A query is the summary of an object, which is removed from
its own document. The object itself is relevant with grade 2, the objects named in its "See Also"
section with grade 1; "See Also" is removed from the documents. Objects with the same docstring are
one document, queries with the same text are one query.

All public modules of the packages are imported, which has many side effects: a separate process
does it, ``python -m heldout.data.pydocs NAME…``, and prints names and docstrings as JSON lines.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
import warnings
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.compiled import cache_folder
from heldout.data.collection import Collection
from heldout.data.export import export_collection
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PACKAGES: Final = {"numpy": "numpy", "scipy": "scipy", "scikit-learn": "sklearn"}
WORDS: Final = range(4, 41)  # of a query
VERSION: Final = 3  # of the rules in this module: other rules make another collection

_TEMPORARY: Final[list[TemporaryDirectory[str]]] = []  # removed when Python ends
_UNDERLINE = re.compile(r"^\s*(?:-{3,}|={3,})\s*$")
_SIGNATURE = re.compile(r"^[A-Za-z_][\w.]*\(.*", re.DOTALL)
_REFERENCE = re.compile(r"^(?::[\w:]+:)?`?~?([A-Za-z_][\w.]*)(?:\(\))?`?$")

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
            value = None
            with suppress(Exception):  # deprecated names may raise anything
                value = getattr(module, name)
            if value is None or isinstance(value, ModuleType):
                continue
            path = f"{module.__name__}.{name}"
            yield from _documented(path, value)
            if inspect.isclass(value) and _belongs(value, package):
                for member in sorted(vars(value)):
                    if not member.startswith("_"):
                        static = inspect.getattr_static(value, member, None)
                        yield from _documented(f"{path}.{member}", static)


def _modules(name: str) -> Iterator[ModuleType]:
    """Yield a module and all public ones below it, in the order of their names."""
    try:
        module = importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a module may need packages that are not installed
        return
    yield module
    below = {child.name for child in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    for child in sorted(below):
        if not _SKIPPED.fullmatch(child):
            yield from _modules(f"{name}.{child}")


def _public_names(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted({str(name) for name in listed})
    package = module.__name__.partition(".")[0]
    members = vars(module).items()
    return sorted(
        name for name, value in members if not name.startswith("_") and _belongs(value, package)
    )


def _belongs(value: Any, package: str) -> bool:
    home = getattr(value, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] == package


def _documented(path: str, value: Any) -> Iterator[tuple[str, str]]:
    text = None
    with suppress(Exception):
        text = value.__doc__
    if not isinstance(text, str):
        return
    inherited = type(value).__doc__
    if not inspect.isclass(value) and isinstance(inherited, str) and inherited:
        text = "" if text.endswith(inherited) else text  # a value shows that of its type
    # SciPy draws some of its examples when it is imported, and marks them.
    text = _MAY_VARY.sub("", _ADDRESS.sub("", inspect.cleandoc(text))).strip()
    if text:
        yield path, text.encode(errors="replace").decode()


def walk_docstrings(packages: Iterable[str]) -> list[tuple[str, str]]:
    """Return every public name of packages with its docstring, found by a separate process."""
    done = subprocess.run(  # noqa: S603 - this Python, our own script
        [sys.executable, "-P", "-W", "ignore", "-m", "heldout.data.pydocs", *packages],
        capture_output=True,
        check=False,
        # Some docstrings show sets, whose order depends on the hash seed.
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"},
    )
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise InputError(f"pydocs: the docstrings cannot be read ({''.join(last)})")
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


class Parts(NamedTuple):
    """The parts of a docstring."""

    summary: str  # the first paragraph after a signature, in one line
    rest: str  # without the summary and without "See Also"
    whole: str  # with the summary, but without "See Also"
    related: tuple[str, ...]  # the names in "See Also", as written


def parse_docstring(text: str) -> Parts:
    """Parse a docstring in NumPy's format."""
    lines, related = _without_see_also(text.splitlines())
    whole = "\n".join(lines).strip()
    head, summary, tail = _around_summary(whole)
    rest = "\n\n".join(part for part in (head, tail) if part)
    return Parts(" ".join(summary.split()), rest, whole, related)


def _without_see_also(lines: list[str]) -> tuple[list[str], tuple[str, ...]]:
    kept: list[str] = []
    related: list[str] = []
    inside = False
    for place, line in enumerate(lines):
        heading = place + 1 < len(lines) and bool(_UNDERLINE.match(lines[place + 1]))
        if heading and line.strip():
            inside = line.strip().lower() == "see also"
        if not inside:
            kept.append(line)
        elif not line[:1].isspace():  # names stand before the colon
            listed = re.split(r"\s:(?:\s|$)|:$|:\s", line, maxsplit=1)[0]
            matches = (_REFERENCE.match(name.strip().rstrip(".")) for name in listed.split(","))
            related += [match[1] for match in matches if match]
    return kept, tuple(dict.fromkeys(related))


def _around_summary(text: str) -> tuple[str, str, str]:
    """Return the text before the summary (a signature), the summary, and the text after it."""
    paragraphs = re.split(r"\n\s*\n", text)
    number = 0
    while number < len(paragraphs) - 1 and _SIGNATURE.match(paragraphs[number].strip()):
        number += 1
    summary = paragraphs[number]
    if any(_UNDERLINE.match(line) for line in summary.splitlines()):
        return text, "", ""  # a section without a summary
    before = "\n\n".join(paragraphs[:number]).strip()
    after = "\n\n".join(paragraphs[number + 1 :]).strip()
    return before, summary.strip(), after


def build_pydocs(named: Iterable[tuple[str, str]], name: str = "pydocs") -> Collection:
    """Build the collection from pairs of dotted name and docstring."""
    objects = _share(named)
    parts = {key: parse_docstring(text) for key, (text, _) in objects.items()}
    home = {alias: key for key, (_, aliases) in objects.items() for alias in aliases}
    related = {
        key: sorted(_resolve(objects[key][1], part.related, home) - {key})
        for key, part in parts.items()
    }
    asking = _queries(parts, related)
    # An object whose docstring is a summary alone, used as a query, has no document.
    documents = {
        key: text
        for key, part in parts.items()
        if (text := part.rest if part.summary.casefold() in asking else part.whole)
    }
    queries, qrels = {}, {}
    for asked in asking.values():
        own = [key for key in asked if key in documents]
        others = {other for key in asked for other in related[key] if other in documents}
        queries[own[0]] = parts[own[0]].summary
        qrels[own[0]] = dict.fromkeys(own, 2) | dict.fromkeys(sorted(others.difference(own)), 1)
    return Collection(documents, queries, qrels, name=name)


def _queries(parts: Mapping[str, Parts], related: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the summaries used as queries, with all objects that have them."""
    same: dict[str, list[str]] = {}
    for key, part in parts.items():
        if len(part.summary.split()) in WORDS:
            same.setdefault(part.summary.casefold(), []).append(key)
    return {  # one of the objects has more text than its summary, and names related objects
        summary: objects
        for summary, objects in same.items()
        if any(parts[key].rest and related[key] for key in objects)
    }


def _share(named: Iterable[tuple[str, str]]) -> dict[str, tuple[str, list[str]]]:
    """Return objects by id, with docstring and all their names; the shortest name is the id."""
    by_text: dict[str, list[str]] = {}
    for name, text in named:
        by_text.setdefault(text, []).append(name)
    objects = {}
    for text, names in by_text.items():
        ordered = sorted(set(names), key=lambda name: (name.count("."), len(name), name))
        objects[ordered[0]] = (text, ordered)
    return dict(sorted(objects.items()))


def _resolve(names: list[str], related: Iterable[str], home: Mapping[str, str]) -> set[str]:
    """Return the objects that names refer to, looked up in the innermost module first."""
    objects = set()
    for wanted in related:
        for name in names:
            parents = name.split(".")[:-1]
            tried = [".".join([*parents[:depth], wanted]) for depth in range(len(parents), -1, -1)]
            known = next((path for path in tried if path in home), None)
            if known is not None:
                objects.add(home[known])
                break
    return objects


def pydocs_folder() -> tuple[str, Path, tuple[Note, ...]]:
    """Return name and folder of the collection, built once from the installed packages."""
    versions = (f"{package}-{metadata.version(package)}" for package in PACKAGES)
    name = "-".join(["pydocs", *versions])
    python = f"py{sys.version_info[0]}.{sys.version_info[1]}"
    folder = cache_folder() / f"{name}-{python}-v{VERSION}"
    notes: tuple[Note, ...] = ()
    if not folder.is_dir():
        built = build_pydocs(walk_docstrings(PACKAGES.values()), name=name)
        try:
            export_collection(built, folder)
        except InputError as error:
            if not folder.is_dir():  # written by a faster process
                text = f"pydocs cannot be cached, so that it is built each time: {error}"
                notes = (Note("no-cache", text, "info", 1),)
                _TEMPORARY.append(TemporaryDirectory())
                folder = Path(_TEMPORARY[-1].name)
                export_collection(built, folder)
    return name, folder, notes


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    printed = sys.stdout
    sys.stdout = sys.stderr  # modules may print when they are imported
    for package in sys.argv[1:]:
        for pair in docstrings(package):
            printed.write(json.dumps(pair) + "\n")
