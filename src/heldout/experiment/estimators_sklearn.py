"""Cross-validate estimators: the same folds for all, each tuned on the train side alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from heldout.data.ids import as_id
from heldout.data.predictions import ClassPredictions, NumberPredictions, class_order
from heldout.errors import InputError
from heldout.experiment.estimator_results import EstimatorFold, EstimatorResults
from heldout.experiment.estimator_systems import (
    EstimatorSystem,
    Outcomes,
    fit_predict,
    systems_of,
    take_rows,
)
from heldout.infer.prediction_scores import MAJORITY, MEAN, RANDOM
from heldout.measure.predicted import PredictionMeasure, parse_prediction_measures
from heldout.measure.undefined import Undefined
from heldout.resample.plans import KFold
from heldout.tune.choose import choose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from heldout.data.words import Ints
    from heldout.resample.plan import Plan
    from heldout.resample.split import Split

__all__ = ["cross_validate_estimators"]

Task = Literal["classification", "regression"]


def cross_validate_estimators(
    X: Any,  # noqa: N803 - scikit-learn's name
    y: ArrayLike,
    estimators: Mapping[str, Any] | Sequence[EstimatorSystem],
    *,
    plan: Plan | None = None,
    inner: Plan | None = None,
    task: Task = "classification",
    measure: str = "",
    groups: ArrayLike | None = None,
    ids: Iterable[Any] | None = None,
    seed: int = 0,
) -> EstimatorResults:
    """Fit estimators on the train side of every split and predict the held-out side.

    Parameters
    ----------
    X, y
        The data: arrays, sparse matrices, frames or lists (texts); one row a unit.
    estimators
        ``{name: estimator}`` or ``{name: (estimator, {"step__param": [values]})}``; one that has
        several points is tuned inside each train side.
    plan
        The outer splits; by default 10 folds, stratified by class.
    inner
        The splits of a train side that points are chosen on; by default 5 folds, likewise.
    task
        ``classification`` or ``regression``.
    measure
        What points are chosen by, and the first that is reported; by default ``accuracy`` or
        ``MSE``.
    groups
        Rows of a group stay on one side.
    ids
        The ids of the rows; by default their numbers.
    seed
        For estimators whose ``random_state`` is None. With `RepeatedRuns` as plan every run has
        a seed of its own.

    Returns
    -------
    EstimatorResults
        With the baselines (majority class, random by shares; the mean) beside the systems.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"n_neighbors": [1, 5, 9]}
    >>> results = cross_validate_estimators(X, y, {"k-NN": (KNeighborsClassifier(), grid)})
    >>> round(results.mean("k-NN"), 2), round(results.mean("(majority class)"), 2)
    (0.97, 0.33)
    """
    if task not in {"classification", "regression"}:
        raise InputError(f"task={task!r}: expected classification or regression")
    classify = task == "classification"
    usual = KFold(10, stratify="labels", seed=seed) if classify else KFold(10, seed=seed)
    inside = KFold(5, stratify="labels", seed=seed) if classify else KFold(5, seed=seed)
    data = _Data(X, y, task, ids)
    chosen_by = parse_prediction_measures(task, [measure or ("accuracy" if classify else "MSE")])[0]
    systems = [*systems_of(estimators), *_baselines(task)]
    splits = (plan or usual).splits(
        data.ids, "instance", labels=data.labels if classify else None, groups=groups
    )
    worker = _Worker(data, chosen_by, inner or inside, seed)
    folds = tuple(worker.fold(system, split) for split in splits for system in systems)
    return EstimatorResults(task, chosen_by, tuple(systems), folds, splits)


def _baselines(task: Task) -> list[EstimatorSystem]:
    from sklearn.dummy import (  # type: ignore[import-untyped] # slow to import
        DummyClassifier,
        DummyRegressor,
    )

    if task == "regression":
        return [EstimatorSystem(MEAN, DummyRegressor(), baseline=True)]
    return [
        EstimatorSystem(MAJORITY, DummyClassifier(strategy="most_frequent"), baseline=True),
        EstimatorSystem(RANDOM, DummyClassifier(strategy="stratified"), baseline=True),
    ]


class _Data:
    """Rows with their truth, in the forms that estimators and measures take."""

    def __init__(self, table: Any, y: ArrayLike, task: Task, ids: Iterable[Any] | None) -> None:
        self.table = table
        self.y = np.asarray(y)
        self.task = task
        rows = int(table.shape[0]) if hasattr(table, "shape") else len(table)
        if self.y.ndim != 1 or len(self.y) != rows:
            raise InputError(f"y has shape {self.y.shape}, expected one value for {rows} rows")
        self.ids = tuple(map(as_id, range(rows) if ids is None else ids))
        if len(self.ids) != rows:
            raise InputError(f"{len(self.ids)} ids for {rows} rows")
        self.labels: list[str] = []
        self.classes: tuple[str, ...] = ()
        if task == "classification":
            self.labels = [str(one) for one in self.y.tolist()]
            self.classes = class_order(self.labels)
            self.codes = self._codes(self.y)
            if len(self.classes) < 2:
                raise InputError(f"all rows are of one class, {self.classes[0]}")
        else:
            self._check_numbers()

    def _check_numbers(self) -> None:
        if self.y.dtype.kind not in "iuf" or not np.isfinite(self.y).all():
            raise InputError("y: expected finite numbers for regression")

    def _codes(self, labels: Any) -> Ints:
        number = {name: at for at, name in enumerate(self.classes)}
        return np.array([number[str(one)] for one in np.asarray(labels).tolist()], np.int64)

    def seen(self, rows: Ints) -> tuple[Any, Any]:
        return take_rows(self.table, rows), self.y[rows]

    def predictions(
        self, name: str, rows: Ints, found: Outcomes, notes: tuple[str, ...] = ()
    ) -> ClassPredictions | NumberPredictions:
        units = tuple(self.ids[at] for at in rows.tolist())
        if self.task == "regression":
            guess = np.asarray(found.predicted, np.float64).ravel()
            return NumberPredictions(
                name, units, self.y[rows].astype(np.float64), guess, notes=notes
            )
        scores = None
        if found.scores is not None:
            places = self._codes(np.array(found.classes))
            absent = len(places) < len(self.classes)
            if found.probabilities or not absent:
                scores = np.zeros((len(units), len(self.classes)))
                scores[:, places] = found.scores
        return ClassPredictions(
            name,
            units,
            self.classes,
            self.codes[rows],
            self._codes(found.predicted),
            scores,
            found.probabilities,
            notes=notes,
        )


class _Worker:
    """Tune, fit and predict on one split."""

    def __init__(self, data: _Data, measure: PredictionMeasure, inner: Plan, seed: int) -> None:
        self.data = data
        self.measure = measure
        self.inner = inner
        self.seed = seed

    def fold(self, system: EstimatorSystem, split: Split) -> EstimatorFold:
        """What a system does on a split."""
        number, by = self._choose(system, split) if system.tuned else (0, None)
        train, test = split.rows("train"), np.flatnonzero(split.test)
        notes = self._unseen(train, test)
        try:
            found = self._fit(system, number, split, (train, test))
        except Exception as error:
            # Any estimator may fail in any way; the reason stands beside the place.
            raise InputError(
                f"{system.name} failed on split {split.key}: {type(error).__name__}: "
                f"{_first_line(error)}"
            ) from error
        return EstimatorFold(
            system.name,
            split.key,
            number,
            by,
            len(train),
            len(test),
            self.data.predictions(system.name, test, found, notes),
        )

    def _fit(
        self,
        system: EstimatorSystem,
        number: int,
        split: Split,
        sides: tuple[Ints, Ints],
        *,
        scored: bool = True,
    ) -> Outcomes:
        key, (train, test) = split.key, sides
        word = [self.seed, key.repeat, key.fold, key.run or 0]
        state = int(np.random.SeedSequence(word).generate_state(1)[0])
        return fit_predict(
            system,
            system.points[number],
            state,
            self.data.seen(train),
            take_rows(self.data.table, test),
            reseed=key.run is not None,
            scored=scored,
        )

    def _unseen(self, train: Ints, test: Ints) -> tuple[str, ...]:
        if self.data.task == "regression":
            return ()
        unseen = sorted(set(self.data.codes[test].tolist()) - set(self.data.codes[train].tolist()))
        names = ", ".join(self.data.classes[at] for at in unseen)
        return (f"class {names} is held out and was not seen in training",) if unseen else ()

    def _choose(self, system: EstimatorSystem, split: Split) -> tuple[int, float]:
        """The point with the best mean over inner folds; one that fails is never chosen."""
        splits = list(split.inner(self.inner))
        values = np.full((len(system.points), len(splits)), np.nan)
        failures: dict[int, str] = {}
        scored = self.measure.needs_scores  # a second pass over the rows, for some estimators
        for column, inside in enumerate(splits):
            train, test = inside.rows("train"), np.flatnonzero(inside.test)
            for number in range(len(system.points)):
                if number in failures:
                    continue
                try:
                    found = self._fit(system, number, split, (train, test), scored=scored)
                except Exception as error:  # noqa: BLE001 - any estimator may fail in any way
                    failures[number] = f"{type(error).__name__}: {_first_line(error)}"
                    values[number] = np.nan
                    continue
                value = self.measure.value(self.data.predictions(system.name, test, found))
                if not isinstance(value, Undefined):
                    values[number, column] = value
        if len(failures) == len(system.points):
            raise InputError(
                f"{system.name}, split {split.key}: every point failed, the first with "
                f"{failures[0]}"
            )
        choice = choose(values, higher_is_better=self.measure.higher_is_better)
        return choice.number, choice.mean


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
