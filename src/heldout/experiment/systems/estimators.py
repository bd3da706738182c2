"""scikit-learn estimators and pipelines as systems: parameter settings, and copies to fit."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from heldout.data.predictions import MAJORITY, MEAN, RANDOM
from heldout.errors import HeldoutError, InputError, cause_of
from heldout.experiment.problems import Table, checked
from heldout.experiment.systems.references import described, load_reference, plain_value, source_of
from heldout.tune.search import How, Search
from heldout.tune.space import Space, given, parse_axis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from heldout.experiment.problems import Problems
    from heldout.measure.base import Measure
    from heldout.tune.space import Axis, Point


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimator:
    """An estimator with the parameter settings to try; only copies of it are fitted."""

    parts: ClassVar[tuple[()]] = ()
    learns: ClassVar[bool] = True
    calls: ClassVar[bool] = True

    name: str
    estimator: Any = field(repr=False)
    search: Search = field(default_factory=Search)
    # Values that are neither numbers nor texts: the search has their positions instead.
    objects: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)  # parameters that it already has
    references: tuple[str, ...] = ()  # what it was loaded from (``module:name``)
    home: Path | None = None
    baseline: bool = False

    def parameters(self, point: Point) -> dict[str, Any]:
        """Return the parameters of a point of the search."""
        return {
            name: self.objects[name][int(value)] if name in self.objects else value
            for name, value in point.items()
        }

    def shown(self, point: Point) -> dict[str, Any]:
        """Return all parameters of a point of the search, as plain values."""
        every = {**self.fixed, **self.parameters(point)}
        return {name: plain_value(value) for name, value in every.items()}

    def copy(self, point: Point, seed: int = 0, *, reseed: bool = False) -> Any:
        """Return a copy to fit; the seed is for ``random_state``s of None, or all (`reseed`)."""
        from sklearn.base import clone  # type: ignore[import-untyped] # slow to import

        model = clone(self.estimator).set_params(**self.parameters(point))
        states = {
            name: seed
            for name, value in model.get_params().items()
            if f"__{name}".endswith("__random_state") and (value is None or reseed)
        }
        return model.set_params(**states)

    def edges(self, point: Point) -> tuple[str, ...]:
        """Return the parameters whose value is the lowest or highest number that was tried."""
        return self.search.edges(point)

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values; they change when the estimator does."""
        search, axes = self.search, self.search.space.axes
        values = {axis.name: self.objects.get(axis.name, axis.values) for axis in axes}
        sources = [source_of(None, reference, self.home) for reference in self.references]
        record = {
            "name": self.name,
            "points": list(map(self.shown, search.points)) if search.tuned else [],
            "estimator": described(self.estimator),
            "values": described(values),
            "references": list(self.references),
            "source": " ".join(filter(None, sources)),
        }
        if search.how == "optuna":
            space = {axis.name: axis.scale for axis in axes}
            record |= {"search": "optuna", "trials": search.trials, "space": space}
        return record


@contextmanager
def one_thread() -> Iterator[set[str]]:
    """Fit and predict inside with one thread; the set has the warnings afterwards."""
    warned: set[str] = set()
    # One thread: sums depend on the number of threads, and so would the bytes of the results.
    with warnings.catch_warnings(record=True) as caught, _threads(len(sys.modules)).limit(limits=1):
        warnings.simplefilter("always")
        yield warned
    for warning in caught:
        said = str(warning.message).strip().partition("\n")[0]
        warned.add(f"{warning.category.__name__}: {said}")


@lru_cache(maxsize=1)
def _threads(_modules: int) -> Any:
    """Return the thread pools of this process; finding them takes longer than many fits.

    They are looked for again when modules were imported meanwhile, which can bring their own.
    """
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped] # scikit-learn's

    return ThreadpoolController()


def baselines(task: str) -> tuple[Estimator, ...]:
    """Return the baselines: the majority class and random classes by share, or the mean."""
    # slow to import
    from sklearn.dummy import DummyClassifier, DummyRegressor  # type: ignore[import-untyped]

    models = {MEAN: DummyRegressor()}
    if task == "classification":
        strategies = {MAJORITY: "most_frequent", RANDOM: "stratified"}
        models = {name: DummyClassifier(strategy=how) for name, how in strategies.items()}
    return tuple(Estimator(name=own, estimator=models[own], baseline=True) for own in models)


# From what was given


class EstimatorTable(Table):
    """A scikit-learn estimator, or several references that make a pipeline."""

    name: str | None = None
    estimator: Any
    parameters: dict[str, Any] = Field(default_factory=dict)
    space: Any = Field(default_factory=dict)
    search: How | None = None
    trials: Annotated[int, Field(ge=1)] | None = None


def _tuples(value: Any) -> Any:
    """Return lists as tuples: TOML has no tuples, and scikit-learn wants them (``ngram_range``)."""
    if isinstance(value, Mapping):
        return {name: _tuples(item) for name, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def estimators_of(
    systems: Any, task: str, tune_for: Measure | None, problems: Problems, home: Path | None
) -> tuple[Estimator, ...]:
    """Make systems from estimators, pairs of one and a grid, or tables, by name or in a list."""
    several = systems if isinstance(systems, Mapping | list | tuple) else [systems]
    named = several.items() if isinstance(several, Mapping) else ((None, item) for item in several)
    estimators = []
    for number, (name, item) in enumerate(named):
        if isinstance(item, Mapping):
            fields = _tuples(item)
        else:
            pair = item if isinstance(item, tuple) and len(item) == 2 else (item, {})
            fields = dict(zip(("estimator", "space"), pair, strict=True))
        table = checked(EstimatorTable, fields, problems, f"systems[{number}].")
        if table is not None:
            with problems.at(f"systems[{number}]"):
                estimators.append(_estimator(table, name or table.name, task, tune_for, home))
    if not several:
        problems.add("systems", "missing: name at least one system")
    return tuple(estimators)


def _estimator(
    table: EstimatorTable, name: str | None, task: str, tune_for: Measure | None, home: Path | None
) -> Estimator:
    """Make a system; refuse what would fail in the middle of the run."""
    # slow to import
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]

    steps = table.estimator if isinstance(table.estimator, list | tuple) else [table.estimator]
    references = tuple(step for step in steps if isinstance(step, str))
    name = name or (references or [type(table.estimator).__name__])[-1].rpartition(":")[2]
    try:
        steps = [_loaded(step, home) if isinstance(step, str) else step for step in steps]
        estimator = clone(steps[0] if len(steps) == 1 else make_pipeline(*steps))
        search, objects = _search(table)
        system = Estimator(
            name=name,
            estimator=estimator.set_params(**table.parameters),
            search=search,
            objects=objects,
            fixed=table.parameters,
            references=references,
            home=home,
        )
        # scikit-learn refuses what it cannot copy, and parameters that it does not know.
        model = system.copy({axis.name: axis.values[0] for axis in search.space.axes})
        _check_model(model, task, tune_for if search.tuned else None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said = str(error) if isinstance(error, HeldoutError) else cause_of(error)
        raise InputError(f"{name}: {' '.join(said.split())}") from error
    return system


def _loaded(reference: str, home: Path | None) -> Any:
    """Return the estimator that is named, or that the class or function makes."""
    if not all(reference.rpartition(":")[::2]):
        raise InputError(f'estimator = {reference!r}: expected "module:name" or "file.py:name"')
    named = load_reference(reference, home)
    return named() if isinstance(named, type) or not hasattr(named, "fit") else named


def _check_model(model: Any, task: str, tune_for: Measure | None) -> None:
    """Refuse a model that does not predict what the task or the measure to tune for needs."""
    from sklearn.base import is_classifier, is_regressor  # slow to import

    kind = type(model).__name__
    if not hasattr(model, "predict"):
        raise InputError(f"{kind} has no predict: expected an estimator or a pipeline")
    if (is_classifier if task == "regression" else is_regressor)(model):
        predicts = "classes" if task == "regression" else "numbers"
        raise InputError(f"{kind} predicts {predicts}: it does not fit task = {task!r}")
    if tune_for is None or not tune_for.needs_scores:
        return
    enough = ["predict_proba", "decision_function"]
    if tune_for.definition.needs == "probabilities":
        enough.pop()
    if not any(hasattr(model, method) for method in enough):
        raise InputError(
            f"{kind} has no {' or '.join(enough)}, so {tune_for} cannot be used for tuning: "
            "set tune_for to another measure"
        )


def _search(table: EstimatorTable) -> tuple[Search, dict[str, Sequence[Any]]]:
    """Return a search, and values that a space does not take: it has their positions instead."""
    if not isinstance(table.space, Mapping):
        raise InputError(
            f"expected one grid such as {{'n_neighbors': [1, 5]}}, not {table.space!r}; instead of "
            "several grids, give one with all values, or several systems"
        )
    axes: list[Axis] = []
    objects: dict[str, Sequence[Any]] = {}
    for name, tried in table.space.items():
        if isinstance(tried, str):
            axes.append(parse_axis(f"{name}={tried}"))
            continue
        if not isinstance(tried, Sequence | np.ndarray):
            raise InputError(f"{name}={tried!r}, expected a list of values to try")
        values = [value.item() if isinstance(value, np.generic) else value for value in tried]
        try:
            axes.append(given(str(name), values))
        except InputError:  # None, an object, or a value twice
            objects[name] = values  # positions are texts, which have no order, and so no ends
            axes.append(given(str(name), map(str, range(len(values)))))
    return Search(Space(tuple(axes)), table.search or "grid", table.trials), objects
