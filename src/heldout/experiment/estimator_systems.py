"""Any scikit-learn estimator or pipeline as a system: a name, points to try, fit, predict."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.errors import USER_FAULTS, InputError, cause_of
from heldout.experiment.estimator_words import described, plain_value
from heldout.experiment.system_settings import load_reference
from heldout.experiment.systems import System, reference_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.words import Floats, Ints

__all__ = ["EstimatorSystem", "Outcomes", "fit_predict", "points_of", "take_rows"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimatorSystem(System):
    """An estimator with the points to try.

    Parameters
    ----------
    estimator
        Anything with ``fit`` and ``predict``, and ``set_params`` if it is tuned; never fitted
        itself, only copies of it.
    grid
        Parameters to choose among, the simplest first; one empty point: nothing is tuned.
    baseline
        Whether it is a baseline that was added unasked.
    references
        What it was made of (``module:name``), if it was named so; several make a pipeline.
    home
        The folder that a relative reference starts from.
    """

    estimator: Any = field(repr=False)
    grid: tuple[Mapping[str, Any], ...] = ({},)
    baseline: bool = False
    references: tuple[str, ...] = ()
    home: str = ""

    def points(self) -> tuple[dict[str, Any], ...]:
        """The parameter values to choose from, in order: the earlier is the simpler."""
        return tuple(dict(point) for point in self.grid)

    def settings(self, number: int) -> dict[str, Any]:
        """All parameters at a point, as plain values that can be shown."""
        found = {**dict(self.parameters), **self.grid[number]}
        return {name: plain_value(value) for name, value in found.items()}

    def edges(self, number: int) -> tuple[str, ...]:
        """The parameters whose value is the lowest or highest of several numbers."""
        found = []
        for name, value in self.grid[number].items():
            tried = [point[name] for point in self.grid if name in point]
            numbers = {one for one in tried if _is_number(one)}
            if len(numbers) > 1 and all(map(_is_number, tried)):
                found += [name] if value in {min(numbers), max(numbers)} else []
        return tuple(found)

    def describe(self) -> dict[str, Any]:
        """What it is, as plain values; changes when the estimator does."""
        shown = [self.settings(number) for number in range(len(self.grid))]
        return {
            "name": self.name,
            "points": shown if self.tuned else [],
            "estimator": described(self.estimator),
            "grid": [described(dict(point)) for point in self.grid],
            "references": list(self.references),
            "source": self.source_hash(),
        }

    def loaded(self) -> tuple[str, ...]:
        """The files and modules that its references name."""
        return tuple(one.rpartition(":")[0] for one in self.references)

    def source_hash(self) -> str:
        """A hash of the files that it was made of; empty if it was made of none."""
        hashes = (reference_hash(one, self.home) for one in self.references)
        return " ".join(one for one in hashes if one)

    def misfits(self, by: str) -> Iterator[str]:
        """Why it cannot rank."""
        del by
        yield "an estimator predicts and does not rank: set task = 'classification' or 'regression'"

    def without_estimator(self) -> EstimatorSystem:
        """The same for another process: what has references is made anew there."""
        if not self.references:
            return self
        return replace(self, estimator=None, home=str(Path(self.home).resolve()))

    def made(self, version: str) -> Any:
        """The estimator; made of its references, once for each version, if it is not here."""
        if self.estimator is not None:
            return self.estimator
        return _made_before(self.references, self.home, self.parameters, version)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@lru_cache(maxsize=8)
def _made_before(
    references: tuple[str, ...], home: str, parameters: tuple[tuple[str, Any], ...], version: str
) -> Any:
    """An estimator that this process has made already, or a new one if its source has changed."""
    del version
    return make_estimator(references, home, parameters)


def make_estimator(
    references: tuple[str, ...], home: str, parameters: tuple[tuple[str, Any], ...]
) -> Any:
    """What references name: an estimator, or a pipeline of several.

    Parameters
    ----------
    references
        ``module:name`` or ``file.py:name`` of an estimator, a class, or a function that makes one.
    home
        The folder that a relative file starts from.
    parameters
        What to set.
    """
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped] # slow to import

    steps = [_step(one, home) for one in references]
    made = steps[0] if len(steps) == 1 else make_pipeline(*steps)
    return made.set_params(**dict(parameters)) if parameters else made


def _step(reference: str, home: str) -> Any:
    loaded = load_reference(reference, Path(home) if home else None)
    is_made = not isinstance(loaded, type) and (hasattr(loaded, "fit") or not callable(loaded))
    if is_made:
        return loaded
    try:
        return loaded()
    except USER_FAULTS as error:
        raise InputError(f"{reference}() failed ({cause_of(error)})") from error


def points_of(grid: Any) -> tuple[Mapping[str, Any], ...]:
    """All points of a grid as for ``GridSearchCV``: names with lists of values, or several such.

    The last parameter goes fastest; of points that do equally well the earliest is chosen.

    Examples
    --------
    >>> points_of({"n_neighbors": [1, 3], "p": [1, 2]})[1]
    {'n_neighbors': 1, 'p': 2}
    """
    several = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(several, list | tuple) or not all(isinstance(x, Mapping) for x in several):
        raise InputError(f"expected a grid such as {{'n_neighbors': [1, 5]}}, not {grid!r}")
    found: list[Mapping[str, Any]] = []
    for one in several:
        for key, values in one.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise InputError(f"{key}={values!r}, expected a list of values to try")
            if not len(values):
                raise InputError(f"there is no value of {key} to try")
        columns = [_python_values(values) for values in one.values()]
        found += [
            dict(zip(map(str, one), values, strict=True)) for values in itertools.product(*columns)
        ]
    return tuple(found) or ({},)


def _python_values(values: Any) -> list[Any]:
    return [value.item() if isinstance(value, np.generic) else value for value in values]


class Outcomes(NamedTuple):
    """What a fitted estimator says about some rows.

    Parameters
    ----------
    predicted
        Labels or numbers.
    scores
        One row a unit, one column a class that it was fitted on; None if it has none.
    classes
        Those classes, in the order of the columns.
    probabilities
        Whether the scores are probabilities.
    warned
        What was warned of, each once.
    """

    predicted: Any
    scores: Floats | None = None
    classes: tuple[Any, ...] = ()
    probabilities: bool = False
    warned: tuple[str, ...] = ()


def take_rows(table: Any, rows: Ints) -> Any:
    """Some rows of anything that has rows: an array, a sparse matrix, a frame or a list."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "shape"):
        return table[rows]
    return [table[at] for at in rows.tolist()]


def fit_predict(
    estimator: Any,
    point: Mapping[str, Any],
    seed: int,
    seen: tuple[Any, Any],
    held_out: Any,
    *,
    reseed: bool = False,
    scored: bool = True,
) -> Outcomes:
    """Fit a copy of the estimator on what is seen, and predict what is held out.

    Parameters
    ----------
    estimator, point
        Which, with which parameters.
    seed
        For every ``random_state`` that is None; for all of them if `reseed`.
    seen
        X and y of the train side.
    held_out
        X of the test side.
    reseed
        Whether a seed that was set on the estimator gives way, for repeated runs.
    scored
        Whether scores of classes are wanted beside the predictions.
    """
    model = seeded(estimator, point, seed, reseed=reseed)
    # One thread: sums of several depend on their number, and with it the bytes of the results.
    with warnings.catch_warnings(record=True) as caught, _threads().limit(limits=1):
        warnings.simplefilter("always")
        model.fit(*seen)
        found = _predict(model, held_out, scored=scored)
    warned = (f"{one.category.__name__}: {first_line(one.message)}" for one in caught)
    return found._replace(warned=tuple(sorted(set(warned))))


def seeded(estimator: Any, point: Mapping[str, Any], seed: int, *, reseed: bool) -> Any:
    """A fresh copy with its parameters and seeds."""
    from sklearn.base import clone  # type: ignore[import-untyped] # slow to import

    model = clone(estimator)
    if point:
        model.set_params(**point)
    states = {
        name: seed
        for name, value in model.get_params().items()
        if (name == "random_state" or name.endswith("__random_state")) and (value is None or reseed)
    }
    return model.set_params(**states) if states else model


def _predict(model: Any, held_out: Any, *, scored: bool) -> Outcomes:
    predicted = model.predict(held_out)
    for method in ("predict_proba", "decision_function") if scored else ():
        if hasattr(model, method) and hasattr(model, "classes_"):
            scores = np.asarray(getattr(model, method)(held_out), np.float64)
            classes = tuple(np.asarray(model.classes_).tolist())
            if scores.ndim == 1 and len(classes) == 2:
                scores = np.column_stack([-scores, scores])
            if scores.shape == (len(predicted), len(classes)):
                return Outcomes(predicted, scores, classes, method == "predict_proba")
    return Outcomes(predicted)


@lru_cache(maxsize=1)
def _threads() -> Any:
    """The thread pools of this process; to look for them takes longer than many a fit."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped] # scikit-learn's

    return ThreadpoolController()


def first_line(error: object) -> str:
    """The first line of what an error says."""
    if isinstance(error, SystemExit):
        return cause_of(error)
    return str(error).strip().partition("\n")[0]
