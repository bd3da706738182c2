"""Search a space at random or with Optuna."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import InputError, MissingExtraError
from heldout.tune.choice import choose
from heldout.tune.listed import Listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heldout.data.words import Floats
    from heldout.tune.choice import Choice, Rule
    from heldout.tune.space import Axis, Point, Space

    Objective = Callable[[Point], Any]

__all__ = ["Trials", "check_optuna", "drawn_points", "search_optuna"]


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """The points tried by a search.

    Parameters
    ----------
    points
        In the order in which they were tried.
    choice
        The chosen point, by the same rule as everywhere.
    """

    points: tuple[Point, ...]
    choice: Choice

    @property
    def best(self) -> Point:
        """The chosen point."""
        return self.points[self.choice.number]


def search_optuna(
    objective: Objective,
    space: Space,
    budget: int,
    seed: int = 0,
    *,
    rule: Rule = "best",
    higher_is_better: bool = True,
) -> Trials:
    """Try points that the TPE sampler of Optuna proposes, each based on the results so far.

    Parameters
    ----------
    objective
        Function of a point (``{name: value}``) that returns a number, or one per unit (always the
        same units in the same order). It must use the training data only. The sampler sees the
        mean over the units; a point with an undefined mean is reported to it as failed.
    space
        Linear and geometric axes are sampled between their ends, given values as they are.
    budget
        Number of points to try; the same point may be proposed again.
    seed
        Random seed of the sampler.
    rule, higher_is_better
        As for `choose`.
    """
    import optuna  # an extra, and slow to import

    points, rows = [], []
    with _quiet(optuna):
        direction = "maximize" if higher_is_better else "minimize"
        sampler = optuna.samplers.TPESampler(seed=seed)
        study = optuna.create_study(direction=direction, sampler=sampler)
        for _ in range(budget):
            trial = study.ask()
            point = {axis.name: _suggest(trial, axis) for axis in space.axes}
            row = np.atleast_1d(np.asarray(objective(dict(point)), np.float64))
            points.append(point)
            rows.append(row)
            _tell(optuna, study, trial, row)
    choice = choose(np.stack(rows), rule=rule, higher_is_better=higher_is_better)
    return Trials(tuple(points), choice)


def check_optuna() -> None:
    """Raise an error if Optuna is not installed."""
    if find_spec("optuna") is None:
        raise MissingExtraError(
            "this search needs Optuna: pip install '.[optuna]' in a clone of heldout (or pip "
            "install optuna)"
        )


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Silence Optuna's log messages."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _suggest(trial: Any, axis: Axis) -> Any:
    if axis.scale == "given" or len(axis.values) == 1:
        return trial.suggest_categorical(axis.name, list(axis.values))
    ends = axis.values[0], axis.values[-1]
    suggest = trial.suggest_int if axis.whole else trial.suggest_float
    return suggest(axis.name, *ends, log=axis.scale == "geometric")


def _tell(optuna: Any, study: Any, trial: Any, row: Floats) -> None:
    defined = row[~np.isnan(row)]
    mean = float(defined.mean()) if len(defined) else math.nan
    if math.isfinite(mean):
        study.tell(trial, mean)
    else:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)


_SEARCHES: Final = ("grid", "random", "optuna")


def drawn_points(
    space: Space | None, search: str | None, trials: int | None
) -> tuple[Space | Listed | None, int]:
    """Return the points to try, and the number of points that Optuna proposes instead (0: none)."""
    if search not in (None, *_SEARCHES):
        raise InputError(f"search = {search!r}: expected one of {', '.join(_SEARCHES)}")
    if search in (None, "grid"):
        if trials is not None:
            raise InputError('trials is for search = "random" or "optuna": a grid tries all points')
        return space, 0
    if space is None:
        raise InputError("trials is the number of points drawn from a space: give a space, too")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise InputError(f"trials = {trials!r}: expected a positive integer")
    return (Listed(space.sample(trials)), 0) if search == "random" else (space, trials)
