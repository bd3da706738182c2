"""Evaluate estimators: choose on the training data, fit all of them, predict what is held out.

In words: every point is tried on inner folds of the training side of a split or, if the plan has a
validation part, fitted on the training side and tried on that part (`tuning`). The best point is
fitted on the whole training side and predicts the held-out side, which plays no part in the choice.
Parameters to use are chosen in the same way, by inner folds of all data or by all validation parts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError, cause_of
from heldout.experiment.instances import defined_value
from heldout.experiment.outcomes import ALL, FoldRow, PredictedOutcome, PredictedSide
from heldout.experiment.systems.estimators import one_thread
from heldout.experiment.systems.functions import call_seed
from heldout.experiment.tuning import WHOLE, Evaluation, Units, name_of, system_of, tune
from heldout.measure.base import Undefined
from heldout.notes import Note, count_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.prepare import PreparedPredictions
    from heldout.experiment.systems.estimators import Estimator
    from heldout.experiment.tuning import Fold
    from heldout.experiment.work import Work
    from heldout.experiment.workers import Arrays
    from heldout.measure.base import Number
    from heldout.resample.split import Splits
    from heldout.tune.space import Point


def evaluate(prepared: PreparedPredictions, work: Work) -> list[PredictedOutcome]:
    """Evaluate all systems."""
    outcomes = [_evaluate(Evaluation(system, prepared, work)) for system in prepared.systems]
    _inner_folds.cache_clear()  # it would keep the data
    return outcomes


def _evaluate(run: Evaluation) -> PredictedOutcome:
    system, prepared = run.system, run.prepared
    tuned = tune(run, _try_point, _fold_units)
    items = {
        f"test/{name_of(prepared, number)}": (number, tuned.point(number))
        for number in range(len(prepared.splits))
    }
    tests = list(run.map(_test_item, items).values())
    rows, held_out = [], []
    for number, arrays in enumerate(tests):
        key, choice = prepared.splits.key(number), tuned.choices[number]
        predictions = prepared.data.predictions(system.name, arrays)
        value = defined_value(prepared.tune_for, predictions)
        rows.append(FoldRow(key, choice, _number(value)))
        held_out.append(PredictedSide(key, choice.number, predictions))
    # With a validation part, the fits for use are those of all splits, if the points are the same.
    again = prepared.splits.validates and system.search.how != "optuna"
    fits = [own for number, own in tuned.tried.items() if number != ALL or not again]
    texts = (text for own in (*fits, *tests) for text in own["warned"].ravel().tolist())
    warned = Counter(line for text in texts for line in text.split("\n") if line)
    notes = [*_failures(system, tuned.points, fits)]
    for line, times in sorted(warned.items()):
        notes.append(Note("fit-warning", f"{line} (on {count_of(times, 'fit')})"))
    shown = tuple(map(system.shown, tuned.points))
    return PredictedOutcome(shown, tuned.choices, tuple(rows), tuple(held_out), tuple(notes))


def _failures(system: Estimator, points: Sequence[Point], fits: Sequence[Arrays]) -> Iterator[Note]:
    """Yield a note for each point that failed somewhere."""
    failed: dict[int, list[str]] = defaultdict(list)
    for own in fits:
        for number, reasons in zip(own["points"].tolist(), own["failed"].tolist(), strict=True):
            failed[number] += filter(None, reasons)
    for number, reasons in sorted(failed.items()):
        if reasons:
            point = system.parameters(points[number])
            shown = ", ".join(f"{name}={value}" for name, value in point.items())
            times = count_of(len(reasons), "fit")
            text = f"{shown} failed on {times} and was not chosen there (first {reasons[0]})"
            yield Note("failed-fits", text)


# ---- fits ----------------------------------------------------------------------------------------


def _fold_units(prepared: PreparedPredictions, number: int, tried: Arrays) -> Units:
    """Return points × folds; a point that failed on a fold has no value on any of them."""
    del number
    failed = tried["failed"] != ""
    where = "validation parts" if prepared.splits.validates else "inner folds"
    values = np.where(failed.any(axis=1, keepdims=True), np.nan, tried["value"])
    why = f"{prepared.tune_for} is undefined on all {where}: set tune_for to another measure"
    if failed.any():
        why = f"every parameter setting failed, the first with {tried['failed'][failed][0]}"
    return Units(values, None, why)


def _try_point(
    prepared: PreparedPredictions,
    name: str,
    fold: Fold,
    points: Sequence[Point],
    of_parts: Sequence[Point],
) -> Arrays:
    """Return the value of a point on a fold by the tuning measure, or why it failed."""
    del of_parts
    (point,) = points  # one per item: it may take long
    measure, value, failed, warned = prepared.tune_for, np.nan, "", ""
    side = "validation" if fold[1] == WHOLE else "test"
    try:
        # For some estimators, scores need a second pass over the rows.
        arrays = _predicted(prepared, name, fold, side, point, scored=measure.needs_scores)
        value = _number(measure.compute(prepared.data.predictions(name, arrays)))
        warned = str(arrays["warned"])
    except Exception as error:  # noqa: BLE001 - any estimator may fail in any way
        failed = _first_line(error)
    tried = {"value": value, "failed": failed, "warned": warned}
    return {kind: np.array([[result]]) for kind, result in tried.items()}


def _test_item(prepared: PreparedPredictions, name: str, number: int, point: Point) -> Arrays:
    """Return the predictions for a held-out side, and the warnings of the fit."""
    try:
        return _predicted(prepared, name, (number, WHOLE), "test", point, scored=True)
    except Exception as error:
        where = name_of(prepared, number)
        raise InputError(f"{name} failed on split {where}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return cause_of(error).partition("\n")[0]


def _predicted(
    prepared: PreparedPredictions, name: str, fold: Fold, side: str, point: Point, *, scored: bool
) -> Arrays:
    """Fit the training side of a fold; return what is predicted for another side."""
    system, data, (number, inner) = system_of(prepared, name), prepared.data, fold
    split = prepared.splits[number] if inner == WHOLE else _inner_folds(prepared, number)[inner]
    # A row drawn several times is fitted several times and predicted once.
    train, asked = split.rows("train"), np.flatnonzero(split.weights(side))
    # The same seed for all points, so that they are compared under the same random numbers.
    seed = call_seed(prepared.experiment.seed, name, name_of(prepared, number), inner)
    with one_thread() as warned:
        model = system.copy(point, seed, reseed=number != ALL and prepared.splits.runs > 1)
        model.fit(data.rows(train), data.y[train])
        arrays = data.predicted(model, asked, scored=scored)
    return {**arrays, "warned": np.array("\n".join(sorted(warned)))}


@lru_cache(maxsize=1)
def _inner_folds(prepared: PreparedPredictions, number: int) -> Splits:
    """Return the inner folds of a training side, or of all data; all points are tried on them."""
    split, experiment = None if number == ALL else prepared.splits[number], prepared.experiment
    return prepared.data.inner_folds(split, experiment.inner or 0, experiment.seed)


def _number(value: Number) -> float:
    return np.nan if isinstance(value, Undefined) else value
