"""Search over Python functions: grid, random, or with the samplers of Optuna."""

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

__all__ = [
    "SAMPLERS",
    "Trials",
    "check_optuna",
    "drawn_points",
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
"""Names of samplers and their classes in ``optuna.samplers``."""


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """The points tried by a search.

    Parameters
    ----------
    points
        In the order in which they were tried.
    values
        One row per point, one column per unit (one column if the objective returns one number).
    choice
        The chosen point, by the same rule as everywhere.
    how
        Description of the search, with its seed.
    """

    points: tuple[Point, ...]
    values: Floats
    choice: Choice
    how: str

    @property
    def best(self) -> Point:
        """The chosen point."""
        return self.points[self.choice.number]


def search_grid(
    objective: Objective, space: Space, *, rule: Rule = "best", higher_is_better: bool = True
) -> Trials:
    """Try every point of a space.

    Parameters
    ----------
    objective
        Function of a point (``{name: value}``) that returns a number, or one per unit (always the
        same units in the same order). It must use the training data only.
    space
        The points to try.
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
    """Try points sampled at random.

    Parameters
    ----------
    objective, rule, higher_is_better
        As for `search_grid`.
    space
        Sampled as described in `Space.sample`.
    budget
        Number of points to try; fewer if the space has fewer.
    seed
        Random seed.

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
    """Try points that a sampler of Optuna proposes, each based on the results so far.

    Parameters
    ----------
    objective, rule, higher_is_better
        As for `search_grid`. The sampler sees the mean over the units; a point with an undefined
        mean is reported to it as failed.
    space
        Linear and geometric axes are sampled between their ends, given values as they are.
    budget
        Number of points to try; the same point may be proposed again.
    seed
        Random seed of the sampler; ignored if `sampler` is an object, which has its own.
    sampler
        ``tpe``, ``random``, ``qmc``, ``cmaes`` or ``gp`` (the last two need extra packages), or a
        sampler of Optuna.
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
        raise InputError(f"budget={budget!r}: expected a positive integer")
    return budget


def _row(result: Any, point: Point) -> Floats:
    """Return the result of an objective as one row."""
    try:
        # NumPy would convert None, from a function without a return statement, to NaN.
        row = np.atleast_1d(np.asarray([] if result is None else result, np.float64))
    except (TypeError, ValueError):
        row = np.empty((0, 0))
    if row.ndim != 1 or not len(row):
        raise InputError(
            f"the objective returned {result!r} at {point}: expected a number, or one per unit"
        )
    return row


def _trials(
    points: tuple[Point, ...], rows: list[Floats], rule: Rule, higher_is_better: bool, how: str
) -> Trials:
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1:
        raise InputError(
            f"the objective returned {sizes[0]} values at one point and {sizes[-1]} at another: "
            "expected one per unit, NaN where undefined"
        )
    values = np.stack(rows)
    choice = choose(values, rule=rule, higher_is_better=higher_is_better)
    return Trials(points, values, choice, how)


def check_optuna() -> None:
    """Raise an error if Optuna is not installed."""
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
        "this search needs Optuna: pip install '.[optuna]' in a clone of heldout (or pip install "
        "optuna)"
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
    except ImportError as error:  # some packages are imported on first use
        raise _lacks(sampler, error) from None


def _lacks(sampler: Any, error: ImportError) -> MissingExtraError:
    package = error.name or "the package that Optuna names"
    return MissingExtraError(f"the sampler {sampler} needs another package: pip install {package}")


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
    space: Space | None, search: str | None, trials: int | None, sample: int | None = None
) -> tuple[Space | Listed | None, int]:
    """Return the points to try, and the number of points that Optuna proposes instead (0: none)."""
    if search not in (None, *_SEARCHES):
        raise InputError(f"search = {search!r}: expected one of {', '.join(_SEARCHES)}")
    named = "trials" if sample is None else "sample"
    if sample is not None:  # a random search, as 0.1 called it
        if search is not None or trials is not None:
            raise InputError('sample is search = "random" with trials: give only one of them')
        search, trials = "random", sample
    if search in (None, "grid"):
        if trials is not None:
            raise InputError('trials is for search = "random" or "optuna": a grid tries all points')
        return space, 0
    if space is None:
        raise InputError(f"{named} is the number of points drawn from a space: give a space, too")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise InputError(f"{named} = {trials!r}: expected a positive integer")
    return (Listed(space.sample(trials)), 0) if search == "random" else (space, trials)
