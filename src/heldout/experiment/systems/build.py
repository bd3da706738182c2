"""Make systems from texts and Python objects, and link those that use others.

A text, ``NAME=HEAD(part, …, parameter=values, …)``, says what the arguments of `System.of` say.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.functions import function_system
from heldout.experiment.systems.fusions import fusion_system
from heldout.experiment.systems.models import model_system
from heldout.experiment.systems.references import load_reference
from heldout.experiment.systems.runs import fold_run_system, run_system
from heldout.retrieve.fuse import METHODS
from heldout.retrieve.models import MODELS, Model
from heldout.tune.run_names import run_paths
from heldout.tune.search import Search
from heldout.tune.space import Axis, Space, parse_axis, parse_value
from heldout.tune.space import given as axis_of

if TYPE_CHECKING:
    from pathlib import Path

    from heldout.tune.search import How

_REFERENCE: Final = re.compile(r"(?:.*\.py|[\w.]+):[^\W\d]\w*", re.DOTALL)
_COMMA: Final = re.compile(r",(?![^(]*\))")  # not in brackets: a part may be a call itself
_PARAMETER: Final = re.compile(r"\s*([^\W\d]\w*)\s*=")
_NO_COMMA: Final = re.compile(r"(?<=[^\s,(])\s+([^\W\d]\w*)\s*=")  # k1=0.9 b=0.4


@dataclass(frozen=True, eq=False)
class Given:
    """What is given with a system, as by `System.of`, and the folder where relative paths start."""

    name: str | None = None
    parts: tuple[Any, ...] = ()
    parameters: tuple[Axis, ...] = ()  # a fixed one has one value
    search: How | None = None
    trials: int | None = None
    comparable: bool | None = None
    learns: bool | None = None
    first: Any = None
    kind: str | None = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.name is not None and not isinstance(self.name, str):
            raise InputError("expected a text", argument="name", value=self.name)

    def only(self, called: str, *taken: str) -> None:
        """Refuse options that would have no effect."""
        options = {field.name for field in fields(self)} - {"name", "folder", *taken}
        unused = [name for name in sorted(options) if getattr(self, name) not in (None, ())]
        if unused:
            use = f"; it takes {', '.join(taken)}" if taken else ""
            raise InputError(f"{called}: {', '.join(unused)} would have no effect on it{use}")

    def searched(self) -> Search:
        """Return the points to try; fixed parameters come first."""
        axes = sorted(self.parameters, key=lambda axis: len(axis.values) > 1)
        return Search(Space(tuple(axes)), self.search or "grid", self.trials)

    def written(self, head: str, settings: Mapping[str, str]) -> Given:
        """Return it together with the settings that are written in brackets."""
        axes, said = list[Axis](), dict[str, Any]()
        for name, text in settings.items():
            if name not in {"comparable", "learns"}:
                axes.append(parse_axis(f"{name}={text}"))
                continue
            said[name] = parse_value(text)  # about the system, and not a parameter of it
            if not isinstance(said[name], bool):
                raise InputError(f"{head}: {name}={text}: expected true or false")
        return replace(self, parameters=(*axes, *self.parameters), **said)


def axes_of(
    parameters: Mapping[str, Any] | None, space: Mapping[str, Any] | None = None
) -> tuple[Axis, ...]:
    """Return fixed parameters and a space such as ``{"k1": "0.5:3:6", "b": [0.3, 0.75]}``."""
    axes = []
    for what, named in (("parameters", parameters), ("space", space)):
        if named is not None and not isinstance(named, Mapping):
            raise InputError(f"{what}: expected names with values, not {named!r}")
        for name, values in (named or {}).items():
            if what == "space" and isinstance(values, str):
                axes.append(parse_axis(f"{name}={values}"))
                continue
            listed = values.tolist() if hasattr(values, "tolist") else values  # of NumPy
            several = what == "space" and isinstance(listed, Sequence)
            axes.append(axis_of(str(name), listed if several else [listed]))
    return tuple(axes)


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
        own = axes_of({**dict(system.parameters), **k3})
        return model_system(system.name, replace(given, parameters=(*own, *given.parameters)))
    if isinstance(system, Run | os.PathLike):
        name = given.name or getattr(system, "name", None)
        return run_system({"run": system}, replace(given, name=name))
    if isinstance(system, Mapping) and system:
        return run_system(system, given)
    return function_system(system, given)


def _part(part: Any) -> System | str:
    """Return what is fused or reranked: a system, or the name of one or of a run file."""
    return os.fspath(part) if isinstance(part, str | os.PathLike) else build(part, Given())


def _of_text(text: str, given: Given) -> System:
    """Make a system of a text; what is no word of its own is the name or pattern of run files."""
    label, head, parts, settings = parse(text)
    own = replace(given, name=given.name or label or None, parts=(*given.parts, *parts))
    if parts and head not in METHODS and head != "vectors":
        raise InputError(
            f"{head}: {parts[0]!r} is not a parameter: write k1=0.9, k1=0.5:3:6 (from:to:count) or "
            "b=0.3,0.75"
        )
    if head == "rerank":
        first, head = settings.pop("first", ""), settings.pop("function", "")
        if not first or not _REFERENCE.fullmatch(head):
            raise InputError(
                f"rerank needs {'function' if first else 'first'}: write rerank(first=bm25, "
                "function=file.py:name, depth=100)"
            )
        own = replace(own, first=first)
    own = own.written(head, settings)
    if head in MODELS:
        return model_system(head, own)
    if head in METHODS:
        return fusion_system(head, tuple(map(_part, own.parts)), own)
    if head == "vectors":
        from heldout.experiment.systems.vectors import vector_system  # rarely needed

        return vector_system(own)
    if _REFERENCE.fullmatch(head):
        name = own.name or head.rpartition(":")[2]
        call = load_reference(head, own.folder, system=name)
        return function_system(call, replace(own, name=name), head)
    system = _of_files(label, head, own, given.name)
    if system is None:
        raise InputError(
            f"{text!r} is not a model, a file or a function: write bm25(k1=0.5:3:6), a run or a "
            "pattern of runs, rrf(bm25.run, dense.run), vectors(docs.npy, queries.npy), "
            "rerank(first=bm25, function=file.py:name), or file.py:function; models are "
            f"{', '.join(MODELS)}"
        )
    return system


def _of_files(label: str, head: str, given: Given, name: str | None) -> System | None:
    """Make a system of the run files that match, or of those of splits; None: there are none."""
    # What looks like a label can be the begin of a pattern: lambda=*.run(comparable=true).
    whole = {f"{label}={head}": name} if label else {}
    for pattern, called in {**whole, head: given.name}.items():
        paths = run_paths(str(given.folder / pattern) if given.folder else pattern)
        if paths:
            return run_system({path: path for path in paths}, replace(given, name=called))
    return fold_run_system(head, given) if re.search(r"\{\w*\}", head) else None


def parse(text: str) -> tuple[str, str, list[str], dict[str, str]]:
    """Return label, head, the parts in brackets, and the settings behind them as texts.

    The label of a path is a part of it. A comma in a list of values does not end a setting.

    >>> parse("dense = wsum(bm25.run, dense.run, norm=minmax, w=0,0.5,1)")
    ('dense', 'wsum', ['bm25.run', 'dense.run'], {'norm': 'minmax', 'w': '0,0.5,1'})
    """
    whole, _, inside = text.strip().partition("(")
    if not inside.endswith(")"):  # a path may have brackets
        whole, inside = text.strip(), ""
    label, _, head = (part.strip() for part in whole.partition("="))
    is_path = re.fullmatch(r"[\w-]+", head) is None and not {*"/{}"}.isdisjoint(label)
    if not label or not head or is_path:
        label, head = "", whole.strip()
    parts, settings, name = list[str](), dict[str, str](), ""
    for piece in _COMMA.split(inside[:-1]) if inside[:-1].strip() else ():
        setting = _PARAMETER.match(piece)
        if setting is None and name:
            settings[name] += f",{piece}"
        elif setting is None:
            parts.append(piece.strip())
        else:
            name = setting[1]
            if name in settings:
                raise InputError(f"{head}: {name} is given twice")
            settings[name] = piece[setting.end() :].strip()
        joined = _NO_COMMA.search(settings.get(name, ""))
        if joined is not None:
            raise InputError(
                f"{head}: {name}={settings[name]}: a comma is missing before {joined[1]}"
            )
    return label, head, parts, settings


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
    if isinstance(part, str) and part not in others:
        try:
            part = build(part, Given(part, folder=folder))
        except InputError as error:
            known = f" ({', '.join(others)})" if others else ""
            raise InputError(
                f"{system.name}: {part} is neither another system of this experiment{known} nor "
                f"one by itself: {error}"
            ) from error
    used = others[part] if isinstance(part, str) else others.get(part.name, part)
    if isinstance(part, System) and used.describe() != part.describe():
        raise InputError(f"{system.name}: two systems are called {part.name}: rename one of them")
    if used.name not in others and (used.search.tuned or not used.pools):
        raise InputError(
            f"{system.name}: what is tuned, or made by a function, must be a system of its own to "
            f"be a part: add it to the systems, such as part={used.name}, and use its name"
        )
    if used.parts or used.learns:
        why = "its ranking of a query can depend on the training side; write its run to a file"
        if not used.calls:
            why = "it is a fusion itself; name its parts"
        verb = "reranked" if system.calls else "fused"
        raise InputError(f"{system.name}: {used.name} cannot be {verb}: {why}")
    return used
