"""Make fusion systems from ``wsum(bm25.run, dense.run, norm=minmax, w=0:1:11)`` and from parts."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.fusions import FusionSystem
from heldout.experiment.systems.parameters import (
    SystemOptions,
    fixed_parameters,
    given_space,
    written_parameters,
)
from heldout.experiment.systems.runs import RunSystem
from heldout.retrieve.fuse import Fusion
from heldout.tune.listed import Listed
from heldout.tune.search import drawn_points
from heldout.tune.space import Axis, Space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["fusion_of_parts", "fusion_of_text", "split_parts"]

_PARAMETER: Final = re.compile(r"[^\W\d]\w*\s*=")


def split_parts(text: str) -> tuple[list[str], str]:
    """Return the parts in brackets, and the parameters behind them.

    Examples
    --------
    >>> split_parts("bm25.run, dense, norm=minmax, w=0,0.5,1")
    (['bm25.run', 'dense'], 'norm=minmax, w=0,0.5,1')
    """
    parts: list[str] = []
    rest = text.strip()
    while rest and not _PARAMETER.match(rest):
        part, _, rest = (one.strip() for one in rest.partition(","))
        parts.append(part)
    return parts, rest


def fusion_of_text(
    how: str, text: str, name: str | None, options: SystemOptions, folder: Path | None
) -> System[Any]:
    """Make a fusion from its method and from what is in brackets behind it."""
    if options.comparable is not None:
        raise InputError("comparable is only for functions, objects and runs")
    parts, written = split_parts(text)
    fixed, axes = written_parameters(how, written)
    home = "" if folder is None else str(folder)
    return fusion_of_parts(how, parts, options, name, fixed=fixed, axes=axes, home=home)


def fusion_of_parts(
    how: str,
    parts: Sequence[Any],
    options: SystemOptions,
    name: str | None = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    axes: Sequence[Axis] = (),
    home: str = "",
) -> System[Any]:
    """Make a fusion; see `System.fusion`.

    Parameters
    ----------
    parts
        Runs, systems, paths of runs, or names of other systems of the experiment.
    options
        Parameters, a space, and how it is searched.
    fixed, axes
        Further parameters: those that stay as they are, and those to tune.
    home
        The folder that relative paths start from.
    """
    Fusion(how)  # refuses an unknown method
    space = given_space(options.space)
    axes = [*axes, *(() if space is None else space.axes)]
    fixed = {**fixed_parameters(options.parameters), **(fixed or {})}
    both = {axis.name for axis in axes} & set(fixed)
    if both:
        raise InputError(f"{min(both)} is both fixed and tuned: choose one of them")
    listed = _parts(how, parts)
    drawn, trials = _space(axes, len(listed), options)
    made = FusionSystem(
        name=name or how,
        how=how,
        parts=listed,
        home=home,
        parameters=tuple(fixed.items()),
        space=drawn,
    )
    made.fusions()  # checks every value now, not in the middle of the run
    if not trials:
        return made
    from heldout.experiment.systems.optuna_rankings import searched

    return searched(made, trials)


def _parts(how: str, parts: Sequence[Any]) -> tuple[System[Any] | str, ...]:
    listed = tuple(_part(one) for one in parts)
    twice = [one for at, one in enumerate(listed) if isinstance(one, str) and one in listed[:at]]
    if twice:
        raise InputError(f"{how}: {twice[0]} is given twice: leave one out")
    if len(listed) < 2:
        raise InputError(
            f"{how} fuses two or more parts, got {len(listed)}: write {how}(bm25.run, dense.run)"
        )
    return listed


def _part(given: Any) -> System[Any] | str:
    if isinstance(given, Run):
        return RunSystem(name=given.name, runs=(given,))
    if isinstance(given, System):
        return given
    if isinstance(given, str | os.PathLike) and os.fspath(given):
        return str(os.fspath(given))
    raise InputError(
        f"{given!r} cannot be fused: give a Run, the path of a run, or the name of another system"
    )


def _space(
    axes: Sequence[Axis], parts: int, options: SystemOptions
) -> tuple[Space | Listed | None, int]:
    """Return the points to try; with three or more parts, ``w`` is the weight of every one."""
    asked = options.search, options.trials
    shared = next((axis for axis in axes if axis.name == "w"), None)
    if shared is None or parts == 2:
        return drawn_points(Space(tuple(axes)) if axes else None, *asked)
    names = [f"w{at + 1}" for at in range(parts)]
    others = [axis for axis in axes if axis is not shared]
    every = [Axis(name, shared.values, shared.scale) for name in names]
    space, trials = drawn_points(Space((*every, *others)), *asked)
    if trials:
        return space, trials
    if isinstance(space, Listed):  # drawn at random
        return Listed(tuple(_scaled(row, names) for row in space.points())), 0
    rows = [row for row in (space or Space()).points() if abs(_total(row, names) - 1) < 1e-9]
    if not rows:
        raise InputError(
            f"w: no {parts} of its values add up to 1; write w=0:1:5, or w1=…, w2=…, …"
        )
    return Listed(tuple(rows)), 0


def _total(row: Mapping[str, Any], names: Sequence[str]) -> float:
    return float(sum(row[name] for name in names))


def _scaled(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Scale weights to a sum of 1; only their ratios matter."""
    total = _total(row, names) or 1.0
    return {key: round(one / total, 4) if key in names else one for key, one in row.items()}
