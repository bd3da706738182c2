"""Which parameter settings are tried: all of a grid, some at random, or those Optuna proposes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from heldout.errors import InputError, MissingExtraError
from heldout.tune.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from heldout.data.words import Floats
    from heldout.tune.space import Axis, Point

How = Literal["grid", "random", "optuna"]


@dataclass(frozen=True, eq=False)
class Search:
    """The parameter settings of a system, and how they are searched.

    A fixed parameter is an axis with one value, so that a point has all parameters of a system.
    """

    space: Space = field(default_factory=Space)
    how: How = "grid"
    trials: int | None = None

    def __post_init__(self) -> None:
        if self.how not in get_args(How):
            raise InputError(f"search = {self.how!r}: expected one of {', '.join(get_args(How))}")
        if self.how == "grid":
            if self.trials is not None:
                raise InputError(
                    'trials is for search = "random" or "optuna": a grid tries all points'
                )
            return
        if all(len(axis.values) == 1 for axis in self.space.axes):
            raise InputError("trials is the number of points drawn from a space: give a space, too")
        if isinstance(self.trials, bool) or not isinstance(self.trials, int) or self.trials < 1:
            raise InputError(f"trials = {self.trials!r}: expected a positive integer")
        if self.how == "optuna" and find_spec("optuna") is None:
            raise MissingExtraError(
                "this search needs Optuna: pip install '.[optuna]' in a clone of heldout (or pip "
                "install optuna)"
            )

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """All points that will be tried, the simplest first; none if each depends on the last."""
        if self.how == "optuna":
            return ()
        return self.space.points() if self.trials is None else self.space.sample(self.trials)

    @property
    def tuned(self) -> bool:
        """Whether there is anything to choose."""
        return self.how == "optuna" or len(self.points) > 1

    def edges(self, point: Point) -> tuple[str, ...]:
        """Return the parameters whose value is the lowest or highest that was tried."""
        space = Space.listed(self.points) if self.how == "random" else self.space
        return tuple(axis.name for axis in space.axes if axis.at_edge(point[axis.name]))


def proposed_points(
    search: Search,
    values_of: Callable[[Sequence[Point]], Floats],
    *,
    seed: int,
    higher_is_better: bool,
) -> list[Point]:
    """Return the points that Optuna proposes by the values of earlier ones, points × units.

    It sees the mean over the units; a point whose mean is undefined has failed.
    """
    import optuna  # an extra, and slow to import

    tuned = [axis for axis in search.space.axes if len(axis.values) > 1]
    fixed = {axis.name: axis.values[0] for axis in search.space.axes if axis not in tuned}
    points: list[Point] = []
    with _quiet(optuna):
        direction = "maximize" if higher_is_better else "minimize"
        sampler = optuna.samplers.TPESampler(seed=seed)
        study = optuna.create_study(direction=direction, sampler=sampler)
        for _ in range(search.trials or 0):
            trial = study.ask()
            points.append({**fixed, **{axis.name: _suggest(trial, axis) for axis in tuned}})
            values = values_of(points[-1:])
            defined = values[~np.isnan(values)]
            if len(defined) and np.isfinite(defined.mean()):
                study.tell(trial, float(defined.mean()))
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return points


def numbered(
    tried: Mapping[int, Sequence[Point]],
) -> tuple[tuple[Point, ...], dict[int, list[int]]]:
    """Return the distinct points of several searches, and the numbers of those of each search."""
    every = {json.dumps(point): point for points in tried.values() for point in points}
    numbers = {text: number for number, text in enumerate(every)}
    rows = {n: [numbers[json.dumps(point)] for point in points] for n, points in tried.items()}
    return tuple(every.values()), rows


def _suggest(trial: Any, axis: Axis) -> Any:
    if axis.scale == "given":
        return trial.suggest_categorical(axis.name, list(axis.values))
    suggest = trial.suggest_int if axis.whole else trial.suggest_float
    return suggest(axis.name, axis.values[0], axis.values[-1], log=axis.scale == "geometric")


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Silence Optuna's log messages."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
