"""Any scikit-learn estimator or pipeline as a system: a name, points to try, fit, predict."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints

__all__ = ["EstimatorSystem", "Outcomes", "fit_predict", "systems_of", "take_rows"]


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorSystem:
    """An estimator with the points to try.

    Parameters
    ----------
    name
        Of the system.
    estimator
        Anything with ``fit`` and ``predict``, and ``set_params`` if it is tuned; never fitted
        itself, only copies of it.
    points
        Parameters to choose among, the simplest first; one empty point: nothing is tuned.
    baseline
        Whether it is a baseline that was added unasked.
    """

    name: str
    estimator: Any
    points: tuple[Mapping[str, Any], ...] = ({},)
    baseline: bool = False

    @property
    def tuned(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.points) > 1


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
    """

    predicted: Any
    scores: Floats | None = None
    classes: tuple[Any, ...] = ()
    probabilities: bool = False


def systems_of(given: Mapping[str, Any] | Sequence[EstimatorSystem]) -> list[EstimatorSystem]:
    """Make systems of ``{name: estimator}`` or ``{name: (estimator, grid)}``.

    A grid is as for scikit-learn's ``GridSearchCV``: ``{"step__param": [values]}``, or a list of
    such. The last parameter goes fastest; of points that do equally well the earliest is chosen.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> grid = {"n_neighbors": [1, 3], "p": [1, 2]}
    >>> [system] = systems_of({"k-NN": (KNeighborsClassifier(), grid)})
    >>> system.points[1]
    {'n_neighbors': 1, 'p': 2}
    """
    if not isinstance(given, Mapping):
        found = list(given)
    else:
        found = [_system(str(name), one) for name, one in given.items()]
    if not found:
        raise InputError("no estimator was given")
    for system in found:
        _check(system)
    names = [system.name for system in found]
    again = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if again is not None:
        raise InputError(f"two systems are named {again}")
    return found


def _system(name: str, given: Any) -> EstimatorSystem:
    if isinstance(given, EstimatorSystem):
        return given
    if not isinstance(given, tuple):
        return EstimatorSystem(name, given)
    if len(given) != 2:
        raise InputError(f"{name}: expected an estimator, or a pair of estimator and grid")
    return EstimatorSystem(name, given[0], _points(name, given[1]))


def _points(name: str, grid: Any) -> tuple[Mapping[str, Any], ...]:
    several = [grid] if isinstance(grid, Mapping) else list(grid)
    found: list[Mapping[str, Any]] = []
    for one in several:
        for key, values in one.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise InputError(f"{name}: {key}={values!r}, expected a list of values to try")
            if not len(values):
                raise InputError(f"{name}: there is no value of {key} to try")
        found += [
            dict(zip(one, values, strict=True)) for values in itertools.product(*one.values())
        ]
    return tuple(found) or ({},)


def _check(system: EstimatorSystem) -> None:
    for needed in ("fit", "predict"):
        if not hasattr(system.estimator, needed):
            raise InputError(
                f"{system.name}: {type(system.estimator).__name__} has no {needed}: expected an "
                "estimator or pipeline, or a pair of one and a grid"
            )
    if isinstance(system.estimator, type):
        raise InputError(f"{system.name}: a class, expected an object: add ()")
    known = system.estimator.get_params() if hasattr(system.estimator, "get_params") else {}
    for point in system.points:
        for key in point:
            if key not in known:
                raise InputError(
                    f"{system.name}: no parameter {key!r}; there are {', '.join(sorted(known))}"
                )


def take_rows(table: Any, rows: Ints) -> Any:
    """Some rows of anything that has rows: an array, a sparse matrix, a frame or a list."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "shape"):
        return table[rows]
    return [table[at] for at in rows.tolist()]


def fit_predict(
    system: EstimatorSystem,
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
    system, point
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
    from sklearn.base import clone  # type: ignore[import-untyped] # slow to import

    model = clone(system.estimator).set_params(**point)
    states = {
        name: seed
        for name, value in model.get_params().items()
        if (name == "random_state" or name.endswith("__random_state")) and (value is None or reseed)
    }
    model.set_params(**states)
    model.fit(*seen)
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
