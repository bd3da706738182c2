"""Search for systems that are Python functions: at random, or with the samplers of Optuna."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import InputError, MissingExtraError
from heldout.tune.choice import choose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heldout.data.words import Floats
    from heldout.tune.choice import Choice, Rule
    from heldout.tune.space import Axis, Point, Space

    Objective = Callable[[Point], Any]

__all__ = [
    "SAMPLERS",
    "Trials",
    "check_optuna",
    "search_grid",
    "search_optuna",
    "search_random",
]

SAMPLERS: Final = {
    "tpe": "TPESampler",
    "random": "RandomSampler",
    "qmc": "QMCSampler",
    "cmaes": "CmaEsSampler",
    "gp": "GPSampler",
}
"""Names of samplers, and the class of ``optuna.samplers`` each stands for."""


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """The points that were tried.

    Parameters
    ----------
    points
        In the order in which they were tried.
    values
        One row a point, one column a unit (a single column if the objective gives one number).
    choice
        By the same rule as everywhere.
    how
        The search in words, with its seed.
    """

    points: tuple[Point, ...]
    values: Floats
    choice: Choice
    how: str

    @property
    def best(self) -> Point:
        """The point that was chosen."""
        return self.points[self.choice.number]


def search_grid(
    objective: Objective, space: Space, *, rule: Rule = "best", higher_is_better: bool = True
) -> Trials:
    """Try every point of a space.

    Parameters
    ----------
    objective
        Takes a point (``{name: value}``) and gives a number, or one for each unit (always the same
        ones in the same order). It must see the train side alone.
    space
        What to try.
    rule, higher_is_better
        As for `choose`.

    Examples
    --------
    >>> from heldout.tune.space import Space, linear
    >>> search_grid(lambda point: -abs(point["b"] - 0.3), Space((linear("b", 0, 1, 11),))).best
    {'b': 0.3}
    """
    points = space.points()
    rows = [_row(objective(dict(point)), point) for point in points]
    return _trials(points, rows, rule, higher_is_better, f"grid of {len(points)} points")


def search_random(
    objective: Objective,
    space: Space,
    budget: int,
    seed: int = 0,
    *,
    rule: Rule = "best",
    higher_is_better: bool = True,
) -> Trials:
    """Try points drawn at random.

    Parameters
    ----------
    objective, rule, higher_is_better
        As for `search_grid`.
    space
        Drawn from as `Space.sample` says.
    budget
        How many points to try; fewer if there are not so many.
    seed
        Decides the points.

    References
    ----------
    Bergstra & Bengio (2012). Random search for hyper-parameter optimization. JMLR 13.
    """
    points = space.sample(_checked(budget), seed)
    rows = [_row(objective(dict(point)), point) for point in points]
    how = f"random search, {len(points)} points, seed {seed}"
    return _trials(points, rows, rule, higher_is_better, how)


def search_optuna(
    objective: Objective,
    space: Space,
    budget: int,
    seed: int = 0,
    sampler: Any = "tpe",
    *,
    rule: Rule = "best",
    higher_is_better: bool = True,
) -> Trials:
    """Try points that a sampler of Optuna proposes, each in the light of those before it.

    Parameters
    ----------
    objective, rule, higher_is_better
        As for `search_grid`; the sampler sees the mean over the units. A point whose mean is
        undefined is told to it as failed.
    space
        Linear and geometric axes are proposed between their ends, given values as they are.
    budget
        How many points to try; the same point may be proposed again.
    seed
        Of the sampler; unused if `sampler` is an object, which has its own.
    sampler
        ``tpe``, ``random``, ``qmc``, ``cmaes`` or ``gp`` (the last two need packages of their
        own), or a sampler of Optuna.
    """
    optuna = _optuna()
    points, rows = [], []
    with _quiet(optuna):
        direction = "maximize" if higher_is_better else "minimize"
        study = optuna.create_study(direction=direction, sampler=_sampler(optuna, sampler, seed))
        for _ in range(_checked(budget)):
            trial = _ask(study, sampler)
            point = {axis.name: _suggest(trial, axis) for axis in space.axes}
            row = _row(objective(dict(point)), point)
            points.append(point)
            rows.append(row)
            _tell(optuna, study, trial, row)
    name = sampler if isinstance(sampler, str) else type(sampler).__name__
    how = f"Optuna {optuna.__version__}, {name}, {budget} points, seed {seed}"
    return _trials(tuple(points), rows, rule, higher_is_better, how)


def _checked(budget: int) -> int:
    if not isinstance(budget, int) or isinstance(budget, bool) or budget < 1:
        raise InputError(f"budget={budget!r}: expected a whole number of points from 1 on")
    return budget


def _row(result: Any, point: Point) -> Floats:
    """What an objective gave, as one row."""
    try:
        # NumPy would take None, of a function that forgot to return, for NaN.
        row = np.atleast_1d(np.asarray([] if result is None else result, np.float64))
    except (TypeError, ValueError):
        row = np.empty((0, 0))
    if row.ndim != 1 or not len(row):
        raise InputError(
            f"the objective gave {result!r} at {point}: expected a number, or one for each unit"
        )
    return row


def _trials(
    points: tuple[Point, ...], rows: list[Floats], rule: Rule, higher_is_better: bool, how: str
) -> Trials:
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        raise InputError(
            f"the objective gave {sizes[0]} values at one point and {sizes[-1]} at another: one "
            "for each unit is expected, NaN where it is undefined"
        )
    values = np.stack(rows)
    choice = choose(values, rule=rule, higher_is_better=higher_is_better)
    return Trials(points, values, choice, how)


def check_optuna() -> None:
    """Refuse a search by Optuna where it is not installed."""
    if find_spec("optuna") is None:
        raise _without_optuna()


def _optuna() -> Any:
    try:
        import optuna  # an extra, and slow to import
    except ImportError:
        raise _without_optuna() from None
    return optuna


def _without_optuna() -> MissingExtraError:
    return MissingExtraError(
        "this search needs a package: pip install 'heldout[optuna]' (or pip install optuna)"
    )


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without a line on standard error for every study."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _sampler(optuna: Any, sampler: Any, seed: int) -> Any:
    if not isinstance(sampler, str):
        return sampler
    if sampler not in SAMPLERS:
        raise InputError(
            f"unknown sampler {sampler!r}: expected one of {', '.join(SAMPLERS)}, or a sampler of "
            "Optuna"
        )
    try:
        return getattr(optuna.samplers, SAMPLERS[sampler])(seed=seed)
    except ImportError as error:
        raise _lacks(sampler, error) from None


def _ask(study: Any, sampler: Any) -> Any:
    try:
        return study.ask()
    except ImportError as error:  # some packages are imported when they are first needed
        raise _lacks(sampler, error) from None


def _lacks(sampler: Any, error: ImportError) -> MissingExtraError:
    package = error.name or "the package that Optuna names"
    return MissingExtraError(f"the sampler {sampler} needs a package: pip install {package}")


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
