"""Make systems from ``vectors(…)``, ``rerank(…)`` and ``folds/{fold}.run``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.parameters import (
    SystemOptions,
    fixed_parameters,
    given_space,
    with_written,
)
from heldout.experiment.systems.references import load_reference
from heldout.experiment.systems.runs import RunSystem
from heldout.tune.search import drawn_points

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.tune.listed import Listed
    from heldout.tune.space import Space

__all__ = [
    "FOLD_RUNS",
    "FORMS",
    "RerankText",
    "check_run_options",
    "fold_runs_of_text",
    "parse_rerank",
    "parse_vectors",
    "reranker",
    "split_outside_brackets",
    "vectors_of",
]

FOLD_RUNS: Final = re.compile(r"(?:([^=(){}/]+)=)?([^(){}]*\{\w*\}[^()]*)(?:\((.*)\))?", re.DOTALL)
"""A name, a path with a field such as ``{fold}``, and parameters."""
_PARAMETER: Final = re.compile(r"\s*([^\W\d]\w*)\s*=")


class RerankText(NamedTuple):
    """What is in the brackets of ``rerank(first=bm25, function=rank.py:f, depth=100)``."""

    first: str
    function: str
    parameters: str


def parse_rerank(text: str) -> RerankText:
    """Return the first stage, the function, and the parameters.

    Examples
    --------
    >>> parse_rerank("first=bm25(k1=0.9, b=0.4), depth=50,100, function=rank.py:f")
    RerankText(first='bm25(k1=0.9, b=0.4)', function='rank.py:f', parameters='depth=50,100')
    """
    named: dict[str, str] = {}
    for part in split_outside_brackets(text):
        match = _PARAMETER.match(part)
        if match is None:
            raise InputError(
                f"rerank: {part.strip()!r} is not a parameter: write "
                "rerank(first=bm25, function=file.py:name, depth=100)"
            )
        if match[1] in named:
            raise InputError(f"rerank: {match[1]} is given twice")
        named[match[1]] = part[match.end() :].strip()
    for needed in ("first", "function"):
        if not named.get(needed):
            raise InputError(
                f"rerank needs {needed}: write rerank(first=bm25, function=file.py:name, depth=100)"
            )
    first, function = named.pop("first"), named.pop("function")
    parameters = ", ".join(f"{name}={value}" for name, value in named.items())
    return RerankText(first, function, parameters)


def split_outside_brackets(text: str) -> Iterator[str]:
    """Yield the parameters of a text; a comma inside brackets, or in a list, does not end one."""
    depth = begin = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth and _PARAMETER.match(text, at + 1):
            yield text[begin:at]
            begin = at + 1
    if text[begin:].strip():
        yield text[begin:]


def parse_vectors(text: str) -> tuple[str, str, str]:
    """Return the two files of ``vectors(docs.npy, queries.npy, metric=ip)``, and the parameters.

    Examples
    --------
    >>> parse_vectors("docs.npy, queries.npy, metric=ip")
    ('docs.npy', 'queries.npy', 'metric=ip')
    """
    files, parameters = [], text.strip()
    while parameters and not _PARAMETER.match(parameters):
        first, _, parameters = (part.strip() for part in parameters.partition(","))
        files.append(first)
    if len(files) != 2 or not all(files):
        raise InputError(
            f"vectors needs two files, got {len(files)}: write "
            "vectors(docs.npy, queries.npy, metric=cosine)"
        )
    return files[0], files[1], parameters


def vectors_of_text(
    text: str, name: str | None, options: SystemOptions, folder: Path | None
) -> System[Any]:
    """Make a system from ``vectors(docs.npy, queries.npy, metric=cosine)``."""
    _refuse_comparable(options)
    documents, queries, written = parse_vectors(text)
    return vectors_of(documents, queries, name, with_written("vectors", written, options), folder)


def vectors_of(
    documents: Any,
    queries: Any,
    name: str | None,
    options: SystemOptions,
    folder: Path | None = None,
) -> System[Any]:
    """Make a system that ranks by vectors; see `System.vectors`."""
    from heldout.experiment.systems.vectors import VectorSystem, vector_pair

    space, trials = _drawn(options)
    if trials:
        raise InputError(f'{name or "vectors"}: search = "optuna" does not work with vectors')
    made = VectorSystem(
        name=name or "vectors",
        call=vector_pair(documents, queries, folder),
        space=space,
        parameters=tuple(fixed_parameters(options.parameters).items()),
    )
    return made.checked()


def reranker_of_text(
    text: str, name: str | None, options: SystemOptions, folder: Path | None
) -> System[Any]:
    """Make a system from ``rerank(first=bm25, function=rank.py:f, depth=50,100)``."""
    from heldout.experiment.systems.reading import kind_of  # it makes systems of these texts

    first, function, written = parse_rerank(text)
    if ":" not in function:
        raise InputError(f"rerank: function={function}: expected file.py:name or module:name")
    called = name or function.rpartition(":")[2]
    call = load_reference(function, folder, system=called)
    options = with_written("rerank", written, options)._replace(first=first)
    home = "" if folder is None else str(folder)
    return reranker(call, called, options, reference=function, home=home, kind=kind_of(call))


def fold_runs_of_text(
    match: re.Match[str], name: str | None, options: SystemOptions, folder: Path | None
) -> System[Any]:
    """Make a system from ``folds/{fold}.run`` or ``folds/{fold}.run(comparable=true)``."""
    own, pattern, written = match.groups()
    options = with_written(pattern, written or "", options)
    check_run_options(pattern, options)
    from heldout.experiment.systems.fold_runs import FoldRunSystem, fold_run_path

    pattern = pattern.strip()
    path = fold_run_path(pattern, folder)
    called = name or own or Path(pattern.partition("{")[0]).name.strip("-_.") or "runs"
    return FoldRunSystem(name=called, pattern=path, comparable=options.comparable)


def check_run_options(called: str, options: SystemOptions) -> None:
    """Refuse parameters and a search of run files: theirs are read from the file names."""
    if options.parameters or options.space is not None:
        raise InputError(f"{called}: runs have no parameters but comparable")
    if options.search is not None or options.trials is not None:
        raise InputError(f"{called}: runs have no search: every file is one setting")


def reranker(
    call: Any,
    name: str,
    options: SystemOptions,
    *,
    reference: str,
    home: str,
    kind: str = "function",
) -> System[Any]:
    """Make a system of a function that reranks; see `System.of`."""
    from heldout.experiment.systems.rerankers import RerankSystem

    function = callable(call) and not isinstance(call, type)
    if kind == "object" or (kind == "function" and not function):
        raise InputError(
            f"{name}: a reranker is a function f(train, test, candidates, **parameters), or a "
            "PyTerrier transformer"
        )
    what: Any = kind
    space, trials = _drawn(options)
    if trials:
        raise InputError(f'{name}: search = "optuna" does not work with rerankers: use random')
    first = options.first
    if isinstance(first, Run):
        first = RunSystem(name=first.name, runs=(first,))
    elif not isinstance(first, System):
        first = os.fspath(first)
    made = RerankSystem(
        name=name,
        call=call,
        kind=what,
        space=space,
        parameters=tuple(fixed_parameters(options.parameters).items()),
        comparable=options.comparable,
        reference=reference,
        home=home,
        first=first,
    )
    return made.checked()


def _drawn(options: SystemOptions) -> tuple[Space | Listed | None, int]:
    space = given_space(options.space)
    return drawn_points(space, options.search, options.trials)


def _refuse_comparable(options: SystemOptions) -> None:
    if options.comparable is not None:
        raise InputError("comparable is only for functions, objects and runs")


FORMS: Final = {"vectors": vectors_of_text, "rerank": reranker_of_text}
"""Texts such as ``vectors(…)``, by the word before the brackets."""
