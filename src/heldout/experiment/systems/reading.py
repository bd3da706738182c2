"""Make systems from texts, from tables of a TOML file, or from Python objects."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.data.files import file_stem
from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.models import ModelSystem
from heldout.experiment.systems.parameters import (
    SystemOptions,
    fixed_parameters,
    given_space,
    with_written,
    written_parameters,
)
from heldout.experiment.systems.references import load_reference, takes_sides
from heldout.experiment.systems.runs import RunSystem
from heldout.experiment.systems.text_forms import (
    FOLD_RUNS,
    FORMS,
    check_run_options,
    fold_runs_of_text,
    reranker,
)
from heldout.retrieve.fuse import METHODS
from heldout.retrieve.models import MODELS, Model
from heldout.tune.listed import Listed, read_names
from heldout.tune.search import drawn_points
from heldout.tune.space import Space, given

if TYPE_CHECKING:
    from heldout.experiment.systems.calls import CallSystem
    from heldout.tune.space import Value

__all__ = [
    "is_model_text",
    "kind_of",
    "run_paths",
    "system_of",
]

_MODEL: Final = re.compile(
    # A name does not begin or end with a space: otherwise matching could take exponential time.
    r"\s*(?:([^=()\s](?:[^=()]*[^=()\s])?)\s*=\s*)?([\w-]+)\s*(?:\((.*)\))?\s*",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(
    r"(?:([^=()]+)=)?((?:[^()]*\.py|[\w.]+):[A-Za-z_]\w*)\s*(?:\((.*)\))?", re.DOTALL
)
_SAID: Final = re.compile(r"(.*)\((\s*comparable\s*=[^()]*)\)", re.DOTALL)
"""A path, and what is said about its scores."""


def system_of(
    given_system: Any,
    name: str | None = None,
    options: SystemOptions | None = None,
    kind: str | None = None,
    *,
    folder: Path | None = None,
) -> System[Any]:
    """Make a system; see `System.of`.

    Parameters
    ----------
    folder
        Where relative paths in a text start.
    """
    options = options or SystemOptions()
    if isinstance(given_system, System):
        return _renamed(given_system, name)
    if isinstance(given_system, Model):
        fixed = {**dict(given_system.parameters), "k3": given_system.k3}
        space, trials = _drawn(given_space(options.space), options)
        made = ModelSystem(
            name=name or given_system.name,
            model=given_system.name,
            parameters=tuple(fixed.items()),
            space=space,
        )
        return _searched(made, trials)
    if isinstance(given_system, str):
        return _of_text(given_system, name, options, kind, folder)
    if isinstance(given_system, Run | os.PathLike):
        called = name or getattr(given_system, "name", None)
        return _of_runs({"run": given_system}, called, options)
    if isinstance(given_system, Mapping) and given_system:
        return _of_runs(given_system, name, options)
    return _of_call(given_system, name, options, kind)


def _renamed(system: System[Any], name: str | None) -> System[Any]:
    from dataclasses import replace

    return system if name is None else replace(system, name=name)


def _of_text(
    text: str, name: str | None, options: SystemOptions, kind: str | None, folder: Path | None
) -> System[Any]:
    """Make a system from ``bm25(k1=0.5:3:6)``, ``ranker.py:rank`` or ``runs/*.run``.

    A name can be put before it: ``NAME=``.
    """
    base = folder or Path()
    match = _MODEL.fullmatch(text)
    if match is not None and match[2] in MODELS and not os.path.exists(base / text):
        return _of_model(match[2], match[3] or "", name or match[1], options)
    if (
        match is not None
        and match[3] is not None
        and match[2] in METHODS
        and not os.path.exists(base / text)
    ):
        from heldout.experiment.systems.fusion_reading import fusion_of_text

        return fusion_of_text(match[2], match[3], name or match[1], options, folder)
    if match is not None and match[3] and match[2] in FORMS and not os.path.exists(base / text):
        return FORMS[match[2]](match[3], name or match[1], options, folder)
    folds = FOLD_RUNS.fullmatch(text.strip())
    if folds is not None and not os.path.exists(base / text):
        return fold_runs_of_text(folds, name, options, folder)
    reference = _REFERENCE.fullmatch(text.strip())
    if reference is not None:
        return _of_reference(reference, name, options, kind, folder)
    own, paths = _named_paths(text, base)
    said = _SAID.fullmatch(text.strip())
    if not paths and said is not None:
        own, paths = _named_paths(said[1].strip(), base)
        options = with_written(said[1], said[2], options)
    if not paths:
        raise InputError(
            f"{text!r} is not a model, a file or a function: write bm25(k1=0.5:3:6), a run or a "
            "pattern of runs, rrf(bm25.run, dense.run), vectors(docs.npy, queries.npy), "
            "rerank(first=bm25, function=file.py:name), or file.py:function; models are "
            f"{', '.join(MODELS)}"
        )
    return _of_runs({path: path for path in paths}, name or own, options)


def _of_reference(
    reference: re.Match[str],
    name: str | None,
    options: SystemOptions,
    kind: str | None,
    folder: Path | None,
) -> System[Any]:
    """Make a system from ``ranker.py:rank`` or ``ranker.py:rank(dims=50,100, seed=1)``."""
    own, place, arguments = reference.groups()
    called = name or own or _attribute(place)
    call = load_reference(place, folder, system=called)
    if arguments is not None:
        options = with_written(called, arguments, options)
    home = "" if folder is None else str(folder)
    return _of_call(call, called, options, kind, reference=place, home=home)


def _named_paths(text: str, base: Path) -> tuple[str | None, list[str]]:
    """Return the runs that a text names, and the name before the first ``=``, if there is one."""
    found = _paths_in(base, text)
    name, equals, rest = text.partition("=")
    # A name has no folders: runs/mu=*.run is a pattern without a match.
    if found or not equals or not rest.strip() or "/" in name:
        return None, found
    return name.strip(), _paths_in(base, rest.strip())


def _paths_in(base: Path, pattern: str) -> list[str]:
    return run_paths(pattern if base == Path() else str(base / pattern))


def run_paths(pattern: str) -> list[str]:
    """Return the files that match a path or a pattern, in the order of their names."""
    if os.path.isfile(pattern):
        return [pattern]
    return sorted(one for one in glob.glob(pattern) if Path(one).is_file())  # noqa: PTH207


def _attribute(reference: str) -> str:
    return reference.rpartition(":")[2]


def _of_model(model: str, arguments: str, name: str | None, options: SystemOptions) -> System[Any]:
    _refuse_comparable(options)
    written, axes = written_parameters(model, arguments)
    fixed: dict[str, Value] = {**fixed_parameters(options.parameters), **written}
    space = given_space(options.space)
    axes += [] if space is None else list(space.axes)
    drawn, trials = _drawn(Space(tuple(axes)) if axes else None, options)
    parameters = tuple(fixed.items())
    made = ModelSystem(name=name or model, model=model, parameters=parameters, space=drawn)
    return _searched(_checked_model(made), trials)


def _checked_model(system: ModelSystem) -> ModelSystem:
    twice = {key for key, _ in system.parameters} & {
        axis.name for axis in (system.space.axes if system.space else ())
    }
    if twice:
        raise InputError(f"{min(twice)} is both fixed and tuned: choose one of them")
    for axis in system.space.axes if system.space else ():
        if not axis.ordered:
            raise InputError(f"{axis.name}: parameters of a model are numbers, not {axis.values!r}")
    for key, value in system.parameters:
        if isinstance(value, str | bool):
            raise InputError(f"{system.model}: {key} = {value!r} is not a number")
    system.models()  # checks every value now, not in the middle of the run
    return system


def _of_runs(runs: Mapping[Any, Any], name: str | None, options: SystemOptions) -> System[Any]:
    check_run_options(name or "runs", options)
    listed = {
        str(key): os.fspath(one) if isinstance(one, os.PathLike) else one
        for key, one in runs.items()
    }
    for key, one in listed.items():
        if not isinstance(one, Run | str):
            raise InputError(f"{key}: expected a run or the path of one, not {type(one).__name__}")
        if isinstance(one, str) and not os.path.isfile(one):
            raise InputError(f"{one}: no such run file")
    labels = _labels(list(listed))
    order, points = read_names(labels)
    values = list(listed.values())
    space: Space | Listed | None = None
    if len(listed) > 1:
        space = points or Space((given("run", [labels[at] for at in order]),))
    return RunSystem(
        name=name or (labels[0] if space is None else "runs"),
        runs=tuple(values[at] for at in order),
        space=space,
        comparable=options.comparable,
    )


def _labels(names: list[str]) -> list[str]:
    """Return names of files without folder and extension, if these are unique."""
    for short in (
        [file_stem(name) for name in names],
        [Path(name).name for name in names],
    ):
        if len(set(short)) == len(short):
            return short
    # By characters, as they were written: functions for paths would normalize them.
    shared = os.path.commonprefix(names)  # noqa: RUF071 - cut after a separator below
    return [name[shared.rfind(os.sep) + 1 :] for name in names]


def _of_call(
    call: Any,
    name: str | None,
    options: SystemOptions,
    kind: str | None = None,
    *,
    reference: str = "",
    home: str = "",
) -> System[Any]:
    what: Any = kind or kind_of(call)
    described = name or getattr(call, "__name__", None) or type(call).__name__
    space, trials = _drawn(given_space(options.space), options)
    if options.first is not None:
        return reranker(call, described, options, reference=reference, home=home, kind=what)
    if options.learns is not None and what != "function":
        raise InputError(f"{described}: learns is only for functions")
    system = _call_class(what, options.learns)(
        name=described,
        call=call,
        kind=what,
        space=space,
        parameters=tuple(fixed_parameters(options.parameters).items()),
        comparable=options.comparable,
        reference=reference,
        home=home,
    )
    made = isinstance(call, type) or callable(call)
    if what != "function" and (space is not None or system.parameters) and not made:
        raise InputError(
            f"{described}: parameters need a class or a function that makes the {what}, not a "
            "finished object"
        )
    return _searched(system, trials)


def is_model_text(text: str) -> bool:
    """Return whether a text is a built-in model, with or without parameters."""
    match = _MODEL.fullmatch(text)
    return match is not None and match[1] is None and match[2] in MODELS


def _call_class(kind: str, learns: bool | None) -> type[CallSystem]:
    if kind == "transformer":
        from heldout.experiment.systems.transformers import TransformerSystem

        return TransformerSystem
    if learns is False:
        from heldout.experiment.systems.static_calls import FixedCallSystem

        return FixedCallSystem
    from heldout.experiment.systems.calls import CallSystem

    return CallSystem


def kind_of(call: Any) -> Any:
    """Return what is called: a function, an object, or a transformer."""
    if hasattr(call, "fit") and hasattr(call, "predict"):
        return "object"
    if hasattr(call, "transform"):
        return "transformer"
    if callable(call):
        return "function" if takes_sides(call) else "transformer"
    raise InputError(
        f"{call!r} is not a system: give a text such as bm25(k1=0.5:3:6), a Model, a Run, a "
        "function f(train, test, **parameters), an object with fit and predict, a PyTerrier "
        "transformer, or a function that makes one"
    )


def _drawn(space: Space | None, options: SystemOptions) -> tuple[Space | Listed | None, int]:
    return drawn_points(space, options.search, options.trials)


def _searched(system: System[Any], trials: int) -> System[Any]:
    if not trials:
        return system
    from heldout.experiment.systems.optuna_rankings import searched

    return searched(system, trials)


def _refuse_comparable(options: SystemOptions) -> None:
    if options.comparable is not None:
        raise InputError("comparable is only for functions, objects and runs")
