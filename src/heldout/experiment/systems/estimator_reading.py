"""Make estimator systems from Python objects, or from tables of a TOML file."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.predictions import MAJORITY, MEAN, RANDOM
from heldout.errors import HeldoutError, InputError
from heldout.experiment.schema import EstimatorTable, checked
from heldout.experiment.systems.estimators import EstimatorSystem, make_estimator
from heldout.experiment.systems.fits import first_line, seeded
from heldout.experiment.systems.optuna_estimators import SearchedEstimator, with_objects
from heldout.tune.listed import Listed
from heldout.tune.search import check_optuna, drawn_points
from heldout.tune.space import Axis, Space, given, parse_axis

if TYPE_CHECKING:
    from pathlib import Path

    from heldout.experiment.instances import PredictionTask
    from heldout.experiment.problems import Problems
    from heldout.measure.base import Measure

__all__ = ["baseline_systems", "estimator_systems", "points_of"]

_NEEDS_PROBABILITIES: Final = ("log-loss", "Brier", "ECE")


def baseline_systems(task: PredictionTask) -> tuple[EstimatorSystem, ...]:
    """Return the baselines: the majority class and random classes by share, or the mean."""
    from sklearn.dummy import (  # type: ignore[import-untyped] # slow to import
        DummyClassifier,
        DummyRegressor,
    )

    if task == "regression":
        return (EstimatorSystem(name=MEAN, estimator=DummyRegressor(), baseline=True),)
    most, drawn = (DummyClassifier(strategy=one) for one in ("most_frequent", "stratified"))
    return (
        EstimatorSystem(name=MAJORITY, estimator=most, baseline=True),
        EstimatorSystem(name=RANDOM, estimator=drawn, baseline=True),
    )


def estimator_systems(
    given: Any,
    task: PredictionTask,
    tune_for: Measure | None,
    problems: Problems,
    folder: Path | None = None,
) -> tuple[EstimatorSystem, ...]:
    """Make the systems; mistakes are added to `problems`.

    Parameters
    ----------
    given
        ``{name: estimator}`` or ``{name: (estimator, grid)}``, or a list of estimators, systems and
        tables ``{"name", "estimator", "parameters", "space", "search", "trials"}``.
    folder
        Where relative paths start; None: the systems come from Python.
    """
    if isinstance(given, Mapping):
        listed: list[tuple[str | None, Any]] = [(str(name), one) for name, one in given.items()]
    else:
        several = list(given) if isinstance(given, list | tuple) else [given]
        listed = [(None, one) for one in several]
    if not listed:
        problems.add("systems", "missing: name at least one system")
    found = []
    for at, (name, one) in enumerate(listed):
        with problems.at(f"systems[{at}]"):
            described, before = one, len(problems.found)
            if isinstance(one, Mapping):
                described = checked(EstimatorTable, one, problems, f"systems[{at}].")
            if len(problems.found) > before:
                continue
            system = _system(name, described, folder)
            _check(system, task, tune_for)
            found.append(system)
    return tuple(found)


def _system(name: str | None, given: Any, folder: Path | None) -> EstimatorSystem:
    if isinstance(given, EstimatorSystem):
        return given
    if isinstance(given, EstimatorTable):
        return _from_table(given, name or given.name, folder)
    if isinstance(given, str):
        return _from_table(EstimatorTable(estimator=given), name, folder)
    estimator, grid = given if isinstance(given, tuple) and len(given) == 2 else (given, {})
    if isinstance(estimator, str):
        return _from_table(EstimatorTable(estimator=estimator, space=grid), name, folder)
    own = name or type(estimator).__name__
    with _named(own):
        return EstimatorSystem(name=own, estimator=estimator, grid=points_of(grid))


class _named:  # noqa: N801 - used as a statement
    """Put the name of a system before the message of an error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HeldoutError):
            raise InputError(f"{self._name}: {error}") from None


def _from_table(
    table: EstimatorTable, given_name: str | None, folder: Path | None
) -> EstimatorSystem:
    made = hasattr(table.estimator, "get_params") and not isinstance(table.estimator, type)
    references = () if made else _references(table.estimator)
    own = type(table.estimator).__name__ if made else references[-1].rpartition(":")[2]
    name = given_name or own
    with _named(name):
        parameters = tuple((key, _unlisted(value)) for key, value in table.parameters.items())
        home = "" if folder is None else str(folder)
        searched = table.search in {"random", "optuna"}
        if not searched:
            drawn_points(None, table.search, table.trials)  # a grid has no trials
        system = EstimatorSystem(
            name=name,
            estimator=_with(table.estimator, parameters)
            if made
            else _made(references, home, parameters),
            grid=({},) if searched else points_of(_axes(table.space)),
            parameters=parameters,
            references=references,
            home=home,
        )
        return _searched(system, table) if searched else system


def _searched(system: EstimatorSystem, table: EstimatorTable) -> EstimatorSystem:
    """Return the system with random points, or with a search by Optuna."""
    space, objects = _space_of(table.space)
    found, trials = drawn_points(space, table.search, table.trials)
    if isinstance(found, Listed):
        return replace(system, grid=tuple(with_objects(point, objects) for point in found.points()))
    check_optuna()
    given_fields = {field.name: getattr(system, field.name) for field in fields(EstimatorSystem)}
    return SearchedEstimator(
        **given_fields | {"space": found, "trials": trials, "objects": objects}
    )


def _space_of(described: Any) -> tuple[Space | None, dict[str, list[Any]]]:
    """Return a space, and the values in it that are neither numbers nor texts.

    The space has the positions of these values, as texts, because texts have no order.
    """
    if not isinstance(described, Mapping):
        raise InputError("space: a search takes one table of names and values, not several grids")
    axes: list[Axis] = []
    objects: dict[str, list[Any]] = {}
    for name, values in described.items():
        if isinstance(values, str):
            axes.append(parse_axis(f"{name}={values}"))
            continue
        points_of({name: values})  # refuses anything but a list
        listed = [_unlisted(one) for one in _python_values(values)]
        if not all(isinstance(one, int | float | str) for one in listed):
            objects[name] = listed
            listed = [str(at) for at in range(len(listed))]
        axes.append(given(name, listed))
    return Space(tuple(axes)) if axes else None, objects


def _references(given: Any) -> tuple[str, ...]:
    """Return one reference, or the several references of a pipeline."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not listed:
        raise InputError('estimator is missing: give "sklearn.svm:LinearSVC", or a list of such')
    for one in listed:
        if not isinstance(one, str) or not all(one.rpartition(":")[::2]):
            raise InputError(f'estimator = {one!r}: expected "module:name" or "file.py:name"')
    return tuple(listed)


def _with(estimator: Any, parameters: tuple[tuple[str, Any], ...]) -> Any:
    """Return a copy of an estimator with parameters set."""
    from sklearn.base import clone  # type: ignore[import-untyped] # slow to import

    try:
        return clone(estimator).set_params(**dict(parameters)) if parameters else estimator
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(first_line(error)) from error


def _made(references: tuple[str, ...], home: str, parameters: tuple[tuple[str, Any], ...]) -> Any:
    try:
        return make_estimator(references, home, parameters)
    except (HeldoutError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # set_params and make_pipeline explain in their own words what is wrong.
        raise InputError(first_line(error)) from error


def _unlisted(value: Any) -> Any:
    """Return lists as tuples: TOML has no tuples, and scikit-learn wants them (``ngram_range``)."""
    return tuple(map(_unlisted, value)) if isinstance(value, list) else value


def _axes(space: Any) -> Any:
    """Return a grid in which ``"1:9:5"`` is expanded to numbers from 1 to 9."""
    if not isinstance(space, Mapping):
        return space
    return {
        key: parse_axis(f"{key}={values}").values
        if isinstance(values, str)
        else list(map(_unlisted, values))
        if isinstance(values, Sequence)
        else values
        for key, values in space.items()
    }


def _check(system: EstimatorSystem, task: PredictionTask, tune_for: Measure | None) -> None:
    """Refuse estimators that would fail in the middle of the run."""
    estimator, name = system.estimator, system.name
    if isinstance(estimator, type):
        raise InputError(f"{name}: expected an object, not a class: add ()")
    for needed in ("fit", "predict"):
        if not hasattr(estimator, needed):
            raise InputError(
                f"{name}: {type(estimator).__name__} has no {needed}: expected an estimator or "
                "pipeline, or a pair of one and a grid"
            )
    if not hasattr(estimator, "get_params"):
        raise InputError(
            f"{name}: {type(estimator).__name__} has no get_params, so it cannot be copied for "
            "each fold: derive it from sklearn.base.BaseEstimator"
        )
    _check_points(system)
    _check_kind(system, task)
    if tune_for is not None and system.tuned and tune_for.needs_scores:
        methods = ["predict_proba"]
        methods += [] if tune_for.family in _NEEDS_PROBABILITIES else ["decision_function"]
        first = seeded(estimator, system.examples()[0], 0, reseed=False)
        if not any(hasattr(first, method) for method in methods):
            raise InputError(
                f"{name} has no {' or '.join(methods)}, so {tune_for} cannot be used for tuning: "
                "set tune_for to another measure"
            )


def _hint(key: str, known: Mapping[str, Any]) -> str:
    """Return a hint at similar names; a pipeline has too many parameters to list them."""
    ends = [one for one in known if one.rpartition("__")[2] == key.rpartition("__")[2]]
    close = ends or difflib.get_close_matches(key, list(known), 3)
    return f"; did you mean {' or '.join(close)}?" if close else "; see get_params() for all"


def _check_points(system: EstimatorSystem) -> None:
    known = system.estimator.get_params()
    for point in system.examples():
        for key in point:
            if key not in known:
                raise InputError(f"{system.name}: no parameter {key!r}{_hint(key, known)}")
        try:
            model = seeded(system.estimator, point, 0, reseed=False)
            for part in (model, *model.get_params().values()):
                # scikit-learn checks values when it fits; this makes it check them now.
                if hasattr(part, "_parameter_constraints") and not isinstance(part, type):
                    part._validate_params()  # noqa: SLF001 - there is no public way
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise InputError(f"{system.name}: {first_line(error)}") from error


def _check_kind(system: EstimatorSystem, task: PredictionTask) -> None:
    from sklearn.base import is_classifier, is_regressor  # slow to import

    if not hasattr(system.estimator, "__sklearn_tags__") and not hasattr(
        system.estimator, "_estimator_type"
    ):
        return
    other = is_regressor if task == "classification" else is_classifier
    if other(system.estimator):
        words = {"classification": "predicts numbers", "regression": "predicts classes"}
        raise InputError(f"{system.name} {words[task]}: it does not fit task = {task!r}")


def points_of(grid: Any) -> tuple[Mapping[str, Any], ...]:
    """Return all points of a grid as for ``GridSearchCV``: names with lists of values, or several.

    The last parameter varies fastest. Of equally good points, the earliest is chosen.

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
                raise InputError(f"{key}: no values to try")
        columns = [_python_values(values) for values in one.values()]
        found += [
            dict(zip(map(str, one), values, strict=True)) for values in itertools.product(*columns)
        ]
    return tuple(found) or ({},)


def _python_values(values: Any) -> list[Any]:
    return [value.item() if isinstance(value, np.generic) else value for value in values]
