"""Make systems from texts and Python objects, and link those that use others."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.functions import function_system
from heldout.experiment.systems.fusions import fusion_system
from heldout.experiment.systems.models import model_system
from heldout.experiment.systems.references import load_reference
from heldout.experiment.systems.runs import fold_run_system, run_system
from heldout.experiment.systems.spec import Given, arguments, axes_of, not_a_parameter, parse
from heldout.retrieve.fuse import METHODS
from heldout.retrieve.models import MODELS, Model
from heldout.tune.run_names import run_paths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_REFERENCE: Final = re.compile(r"(?:.*\.py|[\w.]+):[^\W\d]\w*", re.DOTALL)


def build(system: Any, given: Given) -> System:
    """Make a system; see `System.of`. An option that would have no effect is refused."""
    if isinstance(system, System):
        given.only(system.name)
        return system if given.name is None else replace(system, name=given.name)
    if given.first is not None:
        given = replace(given, first=_part(given.first))
    if isinstance(system, str):
        return _of_text(system, given)
    if isinstance(system, Model):
        k3 = {"k3": system.k3} if math.isfinite(system.k3) else {}
        own = axes_of({**dict(system.parameters), **k3}, None)
        every = {axis.name: axis for axis in (*own, *given.parameters)}
        return model_system(system.name, replace(given, parameters=tuple(every.values())))
    if isinstance(system, Run | os.PathLike):
        name = given.name or getattr(system, "name", None)
        return run_system({"run": system}, replace(given, name=name))
    if isinstance(system, Mapping) and system:
        return run_system(system, given)
    return function_system(system, given)


def _of_text(text: str, given: Given) -> System:
    """Make a system of a text; the name of a file, or a pattern of files, is that of runs."""
    system = _of_files(text.strip(), given)
    if system is not None:
        return system
    label, head, inside = parse(text)
    parts, parameters = arguments(head, inside)
    named = replace(given, name=given.name or label)
    if head in METHODS or head == "vectors":
        return _of_parts(head, replace(named, parts=(*given.parts, *parts)), parameters)
    if parts:
        raise not_a_parameter(head, parts[0])
    if head == "rerank" or _REFERENCE.fullmatch(head):
        return _of_reference(head, named, parameters)
    named = named.written(head, parameters)
    if head in MODELS:
        return model_system(head, named)
    if re.search(r"\{\w*\}", head):
        return fold_run_system(head, named)
    # What looks like a label can be the begin of a pattern: lambda=*.run(comparable=true).
    whole = text.strip().removesuffix(f"({inside})").strip()
    system = _of_files(whole, replace(named, name=given.name)) or _of_files(head, named)
    if system is None:
        raise InputError(
            f"{text!r} is not a model, a file or a function: write bm25(k1=0.5:3:6), a run or a "
            "pattern of runs, rrf(bm25.run, dense.run), vectors(docs.npy, queries.npy), "
            "rerank(first=bm25, function=file.py:name), or file.py:function; models are "
            f"{', '.join(MODELS)}"
        )
    return system


def _of_parts(head: str, given: Given, parameters: Mapping[str, str]) -> System:
    given = given.written(head, parameters)
    if head in METHODS:
        return fusion_system(head, tuple(map(_part, given.parts)), given)
    from heldout.experiment.systems.vectors import vector_system  # rarely needed

    return vector_system(given)


def _of_reference(head: str, given: Given, parameters: dict[str, str]) -> System:
    """Make a system of ``rank.py:f``, or of ``rerank(first=bm25, function=rank.py:f)``."""
    reference, first = head, given.first
    if head == "rerank":
        first, reference = parameters.pop("first", ""), parameters.pop("function", "")
        if not first or not _REFERENCE.fullmatch(reference):
            raise InputError(
                f"rerank needs {'function' if first else 'first'}: write rerank(first=bm25, "
                "function=file.py:name, depth=100)"
            )
    name = given.name or reference.rpartition(":")[2]
    call = load_reference(reference, given.folder, system=name)
    given = replace(given, name=name, first=first).written(head, parameters)
    return function_system(call, given, reference)


def _of_files(pattern: str, given: Given) -> System | None:
    """Make a system of the runs that match; None: no file does."""
    paths = _paths(pattern, given.folder)
    return run_system({path: path for path in paths}, given) if paths else None


def _part(part: Any) -> System | str:
    """Return what is fused or reranked: a system, or the name of one or of a run file."""
    return os.fspath(part) if isinstance(part, str | os.PathLike) else build(part, Given())


def _paths(pattern: str, folder: Path | None) -> list[str]:
    return run_paths(str(folder / pattern) if folder else pattern)


# ---- systems that use others --------------------------------------------------------------------


def link(systems: Sequence[System], folder: Path | None) -> tuple[System, ...]:
    """Return the systems of an experiment, with the systems and run files that parts name."""
    linked = []
    for system in systems:
        others = {other.name: other for other in systems if other.name != system.name}
        parts = tuple(_linked(system, part, others, folder) for part in system.parts)
        linked.append(replace(system, parts=parts) if parts else system)
    return tuple(linked)


def _linked(
    system: System, part: System | str, others: Mapping[str, System], folder: Path | None
) -> System:
    if isinstance(part, str):
        part = others.get(part) or _unlisted(system, part, others, folder)
    used = others.get(part.name, part)
    if used is not part and used.describe() != part.describe():
        raise InputError(f"{system.name}: two systems are called {part.name}: rename one of them")
    if part.name not in others and (part.search.tuned or not part.pools):
        raise InputError(
            f"{system.name}: what is tuned, or made by a function, must be a system of its own to "
            f"be a part: add {part.name} to the systems, and name it"
        )
    if used.parts or used.learns:
        why = "its ranking of a query can depend on the training side; write its run to a file"
        if not used.calls:
            why = "it is a fusion itself; name its parts"
        verb = "reranked" if system.calls else "fused"
        raise InputError(f"{system.name}: {used.name} cannot be {verb}: {why}")
    return used


def _unlisted(
    system: System, part: str, others: Mapping[str, System], folder: Path | None
) -> System:
    """Return a part that is not a system of the experiment: a model to rerank, or a run file."""
    paths = _paths(part, folder)
    if system.calls and parse(part)[1] in MODELS:
        return build(part, Given())
    if len(paths) == 1:
        return run_system({part: paths[0]}, Given(part))
    if paths:
        raise InputError(
            f"{system.name}: {part} matches {len(paths)} runs: make it a system of its own, such "
            f"as --system 'part={part}', and name part"
        )
    known = f" ({', '.join(others)})" if others else ""
    raise InputError(
        f"{system.name}: {part} is neither another system of this experiment{known} nor a run file"
    )
