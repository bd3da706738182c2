"""Evaluate estimators: choose on the training data, fit all of them, predict what is held out.

In words: every point is tried on inner folds of the training side of a split or, if the plan has a
validation part, fitted on the training side and tried on that part. The best point is fitted on the
whole training side and predicts the held-out side, which plays no part in the choice. Parameters to
use are chosen in the same way, by inner folds of all data or by all validation parts.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.errors import InputError, cause_of
from heldout.experiment.instances import defined_value
from heldout.experiment.outcomes import Chosen, FoldRow, Place, PredictedOutcome, PredictedSide
from heldout.experiment.sides import ALL, name_of
from heldout.experiment.systems.estimators import one_thread
from heldout.experiment.systems.functions import call_seed
from heldout.measure.base import Undefined
from heldout.notes import Note, count_of
from heldout.tune.choice import NO_CHOICE, choose
from heldout.tune.search import numbered, tried_points

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.words import Floats
    from heldout.experiment.prepare import PreparedPredictions
    from heldout.experiment.systems.estimators import Estimator
    from heldout.experiment.work import Work
    from heldout.experiment.workers import Arrays
    from heldout.measure.base import Number
    from heldout.resample.split import Splits
    from heldout.tune.choice import Choice
    from heldout.tune.space import Point

    Fold = tuple[int, int]  # the numbers of a split and of an inner fold of its training side

WHOLE: Final = -1
"""In place of the number of an inner fold: a point is fitted on the whole training side."""


def evaluate_predictions(prepared: PreparedPredictions, work: Work) -> list[PredictedOutcome]:
    """Evaluate all systems."""
    outcomes = [_evaluate(system, prepared, work) for system in prepared.systems]
    _inner_folds.cache_clear()  # it would keep the data
    return outcomes


def _evaluate(system: Estimator, prepared: PreparedPredictions, work: Work) -> PredictedOutcome:
    points, chosen, fits = _tuned(system, prepared, work)
    items = {
        f"{system.name}/test/{name_of(prepared, n)}": (system.name, n, points[chosen[n].number])
        for n in range(len(prepared.splits))
    }
    tests = list(work.map(_test_item, items).values())
    folds, held_out = [], []
    for number, (split, arrays) in enumerate(zip(prepared.splits, tests, strict=True)):
        choice, place = chosen[number], Place.of(split.key)
        predictions = prepared.data.predictions(system.name, arrays)
        value = defined_value(prepared.tune_for, predictions)
        folds.append(FoldRow(place, choice, _number(value)))
        held_out.append(PredictedSide(place, choice.number, predictions))
    notes = (*_failures(system, points, fits), *_warnings([*fits, *tests]))
    shown = tuple(map(system.shown, points))
    return PredictedOutcome(shown, tuple(folds), chosen[ALL], tuple(held_out), notes)


def _failures(system: Estimator, points: Sequence[Point], fits: Sequence[Arrays]) -> Iterator[Note]:
    """Yield a note for each point that failed somewhere."""
    failed: dict[int, list[str]] = defaultdict(list)
    for own in fits:
        for number, reasons in zip(own["rows"].tolist(), own["failed"].tolist(), strict=True):
            failed[number] += filter(None, reasons)
    for number, reasons in sorted(failed.items()):
        if reasons:
            point = system.parameters(points[number])
            shown = ", ".join(f"{name}={value}" for name, value in point.items())
            times = count_of(len(reasons), "fit")
            text = f"{shown} failed on {times} and was not chosen there (first {reasons[0]})"
            yield Note("failed-fits", text)


def _warnings(fits: Sequence[Arrays]) -> Iterator[Note]:
    """Yield a note for each warning, with the number of its fits."""
    texts = (text for own in fits for text in own["warned"].ravel().tolist())
    warned = Counter(line for text in texts for line in text.split("\n") if line)
    for line, times in sorted(warned.items()):
        yield Note("fit-warning", f"{line} (on {count_of(times, 'fit')})")


# ---- choose --------------------------------------------------------------------------------------


def _tuned(
    system: Estimator, prepared: PreparedPredictions, work: Work
) -> tuple[tuple[Point, ...], dict[int, Chosen], list[Arrays]]:
    """Return all points, the choice for each split and for use, and the results of all fits."""
    name, search, numbers = system.name, system.search, [*range(len(prepared.splits)), ALL]
    if not search.tuned:
        return search.points, dict.fromkeys(numbers, Chosen(*NO_CHOICE)), []
    if search.how == "optuna":
        items = {f"{name}/search/{name_of(prepared, n)}": (name, n) for n in numbers}
        fits = dict(zip(numbers, work.map(_search_item, items).values(), strict=True))
        points, rows = numbered({n: json.loads(str(fits[n]["points"])) for n in numbers})
    else:
        fits = _gridded(system, prepared, work, numbers)
        points, rows = search.points, {n: [*range(len(search.points))] for n in numbers}
    chosen = {}
    for number, own in fits.items():
        choice = _choose(system, prepared, number, own)
        surface = np.full(len(points), np.nan)
        surface[rows[number]] = choice.means
        chosen[number] = Chosen(rows[number][choice.number], choice.mean, surface)
        own["rows"] = np.array(rows[number])
    if prepared.validates and search.how != "optuna":
        del fits[ALL]  # the same as those of all splits
    return points, chosen, list(fits.values())


def _gridded(
    system: Estimator, prepared: PreparedPredictions, work: Work, numbers: Sequence[int]
) -> dict[int, Arrays]:
    """Try all points for each split; return points × folds of each."""
    places, folds = range(len(system.search.points)), {n: _folds(prepared, n) for n in numbers}

    def label(fold: Fold, place: int) -> str:
        return f"{system.name}/tune/{name_of(prepared, fold[0])}/i{fold[1]}/p{place}"

    items = {
        label(fold, place): (system.name, fold, system.search.points[place])
        for own in folds.values()
        for fold in own
        for place in places
    }
    done = work.map(_try_item, items)
    return {
        number: _joined([[done[label(fold, place)] for fold in own] for place in places])
        for number, own in folds.items()
    }


def _folds(prepared: PreparedPredictions, number: int) -> list[Fold]:
    """Return what points are tried on for a split, or for use."""
    if prepared.validates:
        # For use, all validation parts: choosing on all data would use the test parts.
        return [(n, WHOLE) for n in (range(len(prepared.splits)) if number == ALL else [number])]
    return [(number, inner) for inner in range(prepared.experiment.inner or 0)]


def _joined(tries: Sequence[Sequence[Arrays]]) -> Arrays:
    """Return points × folds; a point that failed on a fold has no value on any of them."""
    fits = {name: np.array([[own[name] for own in row] for row in tries]) for name in tries[0][0]}
    fits["value"][(fits["failed"] != "").any(axis=1)] = np.nan
    return fits


def _choose(system: Estimator, prepared: PreparedPredictions, number: int, fits: Arrays) -> Choice:
    """Choose for a split, or for use, by what came out of points × folds."""
    if not np.isfinite(fits["value"]).any():
        reasons = fits["failed"][fits["failed"] != ""].tolist()
        where = "validation parts" if prepared.validates else "inner folds"
        why = f"{prepared.tune_for} is undefined on all {where}: set tune_for to another measure"
        if reasons:
            why = f"every parameter setting failed, the first with {reasons[0]}"
        raise InputError(f"{system.name}, {name_of(prepared, number)}: {why}")
    rule, better = prepared.experiment.rule, prepared.higher_is_better
    return choose(fits["value"], rule=rule, higher_is_better=better)


# ---- items ---------------------------------------------------------------------------------------


def _search_item(prepared: PreparedPredictions, name: str, number: int) -> Arrays:
    """Search for one split; return the points, and what came out of points × folds."""
    folds = _folds(prepared, number)
    tries: list[list[Arrays]] = []

    def values_of(points: Sequence[Point]) -> Floats:
        tries.extend([_try_item(prepared, name, fold, point) for fold in folds] for point in points)
        return _joined(tries[-len(points) :])["value"]

    points, _ = tried_points(
        _system(prepared, name).search,
        values_of,
        seed=call_seed(prepared.experiment.seed, "search", name, name_of(prepared, number)),
        higher_is_better=prepared.higher_is_better,
    )
    return {"points": np.array(json.dumps(points)), **_joined(tries)}


def _try_item(prepared: PreparedPredictions, name: str, fold: Fold, point: Point) -> Arrays:
    """Return the value of a point on a fold by the tuning measure, or why it failed."""
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
    return {kind: np.array(result) for kind, result in tried.items()}


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
    system, data, (number, inner) = _system(prepared, name), prepared.data, fold
    whole = inner == WHOLE
    split = prepared.splits[number] if whole else _inner_folds(prepared, number)[inner]
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
    split = None if number == ALL else prepared.splits[number]
    return prepared.data.inner_folds(
        split, prepared.experiment.inner or 0, prepared.experiment.seed
    )


def _system(prepared: PreparedPredictions, name: str) -> Estimator:
    return next(system for system in prepared.systems if system.name == name)


def _number(value: Number) -> float:
    return np.nan if isinstance(value, Undefined) else value
