"""Scores of several systems for comparisons: per unit, per group of units, or per fold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.predictions import ClassPredictions
from heldout.data.scores import Scores, fingerprint
from heldout.errors import InputError, MeasureError
from heldout.measure.base import LackingError, Undefined
from heldout.measure.prediction.classes import undefined_hint
from heldout.notes import Note, named_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Floats
    from heldout.measure.base import Measure, Number

    Predictions = ClassPredictions | NumberPredictions


# The same data


def same_units(several: Sequence[Predictions]) -> bool:
    """Return whether all systems have the same units in the same order, each once."""
    first = several[0]
    return all(system.units == first.units and not system.repeats for system in several)


def _agreed(rows: Iterable[tuple[str, Any, Any]], words: str) -> dict[Any, Any]:
    """Return what systems say of each unit, from rows of system, unit and value."""
    known: dict[Any, tuple[Any, str]] = {}
    for name, unit, value in rows:
        before, other = known.setdefault(unit, (value, name))
        if before != value:
            raise InputError(words.format(unit, value, name, before, other))
    return {unit: value for unit, (value, _) in known.items()}


def _truths(several: Sequence[Predictions]) -> dict[str, Any]:
    rows: list[tuple[str, str, Any]] = []
    for system in several:
        truth = np.asarray(system.truth, np.float64)
        if isinstance(system, ClassPredictions):
            truth = np.array(system.classes, object)[system.truth]
        rows += zip([system.name] * len(truth), system.units, truth.tolist(), strict=True)
    return _agreed(rows, "the truth of unit {} is {} in {}, but {} in {}: are these the same data?")


def check_same_truth(several: Sequence[Predictions]) -> None:
    """Raise an error for duplicate system names and units with different truth."""
    first = several[0]
    for name, times in Counter(system.name for system in several).items():
        if times > 1:
            raise InputError(f"duplicate system name {name}: rename a file, or the system column")
    if not same_units(several) or any(
        getattr(system, "classes", ()) != getattr(first, "classes", ())
        or not np.array_equal(system.truth, first.truth)
        for system in several
    ):
        _truths(several)


def check_same_weights(several: Sequence[Predictions]) -> None:
    """Raise an error if a unit has different weights in different systems."""
    weighted = [system for system in several if system.weights is not None]
    if 0 < len(weighted) < len(several):
        raise InputError(
            f"only some of {named_few([system.name for system in several], len(several), 4)} have "
            "weights: give them for all systems, or for none"
        )
    rows: list[tuple[str, Any, Any]] = []
    for system in weighted:
        units = zip(system.units, system.repeats or system.units, strict=True)
        weights = np.asarray(system.weights).tolist()
        rows += zip([system.name] * len(weights), units, weights, strict=True)
    words = "unit {0[0]} has weight {3:g} in {4}, but {1:g} in {2}: each unit must have one weight"
    _agreed(rows, words)


def data_fingerprint(several: Sequence[Predictions]) -> str:
    """Return a short digest that changes with the units or their truth."""
    truths = _truths(several[-1:] if same_units(several) else several)
    return fingerprint([f"{unit}\t{truth}" for unit, truth in sorted(truths.items())])


# Units


def unit_scores(several: Sequence[Predictions], measure: Measure, data: str = "") -> Scores:
    """Return the value of each unit (or the mean over its group, if units have groups) per system.

    A unit that appears in several repeats counts with its mean over them. `data` is the result of
    `data_fingerprint`, if it is known.
    """
    check_same_truth(several)
    if measure.aggregate != "mean":
        raise MeasureError(f"{measure} is not a mean over units: compare it over folds")
    columns: list[Floats] = []
    for system in several:
        if system.weights is not None:
            raise InputError(
                f"{system.name}: units have weights, but tests use each unit once: remove the "
                "weight column to compare"
            )
        try:
            columns.append(measure.units(system).per_unit())
        except LackingError as error:
            raise MeasureError(f"{system.name}: {measure}: {error}") from None
    names = tuple(system.name for system in several)
    rest: dict[str, Any] = {
        "higher_is_better": measure.higher_is_better,
        "data": data or data_fingerprint(several),
        "unit": "instance",
        "range": measure.range,
    }
    if several[0].units and same_units(several):
        scores = Scores(str(measure), names, several[0].units, np.column_stack(columns), **rest)
    else:
        table = {
            system.name: _means(system.units, column)
            for system, column in zip(several, columns, strict=True)
        }
        scores = Scores.of(table, str(measure), **rest)
    return _by_group(scores, several) if any(system.groups for system in several) else scores


def _means(labels: Sequence[str], values: Floats) -> dict[str, Any]:
    """Return the mean of the rows with each label."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    codes = [numbers[label] for label in labels]
    sums = np.zeros((len(numbers), *values.shape[1:]))
    np.add.at(sums, codes, values)
    return dict(zip(numbers, (sums.T / np.bincount(codes)).T.tolist(), strict=True))


def _by_group(scores: Scores, several: Sequence[Predictions]) -> Scores:
    """Average units over groups: groups are sampled, so groups are what is tested."""
    rows = (
        (system.name, unit, group)
        for system in several
        for unit, group in zip(system.units, system.groups, strict=False)
    )
    known = _agreed(rows, "unit {0} is in group {3}, but in group {1} in {2}")
    lost = [unit for unit in scores.units if unit not in known]
    if lost:
        raise InputError(f"unit {lost[0]} has no group: give groups for all units, or for none")
    means = _means([known[unit] for unit in scores.units], scores.values)
    text = f"the {len(scores.units):,} units are in {len(means):,} groups: each counts as its mean"
    return replace(
        scores,
        units=tuple(means),
        values=np.array(list(means.values())),
        notes=(*scores.notes, Note("grouped", text, "info")),
    )


# Folds


def split_names(system: Predictions) -> tuple[str, ...]:
    """Return the split of each row: its fold, its repeat, or ``repeat/fold``; empty if neither."""
    if system.repeats and system.folds:
        return tuple(map("/".join, zip(system.repeats, system.folds, strict=True)))
    return system.folds or system.repeats


def has_splits(system: Predictions) -> bool:
    """Return whether the rows come from several test sets of more than one unit.

    Leave-one-out does not, nor do runs on the same units, as with several seeds: the unit of
    analysis is then the unit.
    """
    names = split_names(system)
    different = len(set(names))
    if different < 2 or different == len(names):
        return False
    return bool(system.folds) or len(system.units) < len(set(system.units)) * different


def same_sides(system: Predictions) -> dict[str, str]:
    """Map each split to the first with the same units: other seeds are not other splits."""
    units: dict[str, set[str]] = {}
    for name, unit in zip(split_names(system), system.units, strict=True):
        units.setdefault(name, set()).add(unit)
    first: dict[frozenset[str], str] = {}
    return {name: first.setdefault(frozenset(held), name) for name, held in units.items()}


def crossing_notes(several: Iterable[Predictions]) -> list[Note]:
    """Return a warning about groups that have units in several folds of a repeat, if there are."""
    most = 0
    for system in several:
        folds: dict[tuple[str, str], set[str]] = {}
        repeats = system.repeats or system.groups
        for group, repeat, fold in zip(system.groups, repeats, system.folds, strict=False):
            folds.setdefault((group, repeat), set()).add(fold)
        most = max(most, len({group for (group, _), held in folds.items() if len(held) > 1}))
    groups = "1 group has" if most == 1 else f"{most:,} groups have"
    text = (
        f"{groups} units in several folds, so systems were tested on units similar to their "
        "training units: split by whole groups"
    )
    return [Note("crossing-groups", text)] if most else []


def _by_split(
    system: Predictions, marks: Sequence[str], measure: Measure
) -> Iterator[tuple[str, Number]]:
    """Yield the value of a measure for the rows with each mark."""
    rows: dict[str, list[int]] = {}
    for row, mark in enumerate(marks):
        rows.setdefault(mark, []).append(row)
    for mark, some in rows.items():
        yield mark, measure.compute(system.select(some))


def repeated_value(system: Predictions, measure: Measure) -> Number:
    """Return the value of a system over all units, or the mean over folds or repeats if it has any.

    The mean over folds is what intervals and tests over folds refer to, and what averaging
    scikit-learn's ``cross_val_score`` gives.
    """
    what, marks = "fold", split_names(system)
    if not has_splits(system):
        what, marks = "repeat", system.repeats
    if not marks:
        return measure.compute(system)
    values = []
    for mark, value in _by_split(system, marks, measure):
        if isinstance(value, Undefined):
            return Undefined(f"in {what} {mark}: {value.reason}")
        values.append(value)
    return sum(values) / len(values)


def fold_scores(several: Sequence[Predictions], measure: Measure) -> tuple[Scores, float]:
    """Return the value of each fold (of each repeat) for each system, and n_test / n_train.

    A fold on which the measure is undefined for some system is left out for all, with a note.
    """
    check_same_truth(several)
    _check_same_splits(several)
    check_same_weights(several)
    same = same_sides(several[0])
    times = Counter(same.values())
    if len(times) < 2:
        raise InputError("there is only one fold: compare by unit")
    share = _test_share(several[0])
    notes = crossing_notes(several[:1])
    table = {}
    for system in several:
        values: dict[str, list[float]] = {}
        for split, value in _by_split(system, split_names(system), measure):
            if isinstance(value, Undefined):
                text = f"{measure} of {system.name} is undefined in fold {split}: {value.reason}"
                text += undefined_hint(measure, value.reason)
                notes.append(Note("undefined-fold", text))
            else:
                values.setdefault(same[split], []).append(value)
        whole = {side: runs for side, runs in values.items() if len(runs) == times[side]}
        table[system.name] = {side: float(np.mean(runs)) for side, runs in whole.items()}
    if not all(table.values()):
        raise InputError(f"{measure} is undefined in every fold: {notes[0]}")
    if len(times) < len(same):
        text = "repeats with the same folds are averaged: each fold counts as its mean over them"
        notes.append(Note("runs", text, "info"))
    scores = Scores.of(
        table,
        str(measure),
        higher_is_better=bool(measure.higher_is_better),
        data=data_fingerprint(several),
        notes=tuple(notes),
        unit="fold",
        range=measure.range,
    )
    return scores, share


def _check_same_splits(several: Sequence[Predictions]) -> None:
    first = several[0]
    what = "repeats and folds" if first.repeats and first.folds else "folds"
    known = set(zip(first.units, split_names(first), strict=False))
    if not known:
        raise InputError(f"{first.name}: no column fold or repeat: it is needed to compare by fold")
    for system in several[1:]:
        if set(zip(system.units, split_names(system), strict=False)) != known:
            raise InputError(
                f"{first.name} and {system.name} do not have the same units in the same {what}: "
                "compared systems must share the folds"
            )


def _test_share(system: Predictions) -> float:
    """Return the mean of n_test / n_train: the other folds of a repeat are the training data."""
    splits = split_names(system)
    tested = Counter(splits)
    units = dict.fromkeys(splits, len(set(system.units)))
    if system.repeats and system.folds:
        sizes = Counter(system.repeats)
        units = {split: sizes[repeat] for split, repeat in zip(splits, system.repeats, strict=True)}
    for split, size in tested.items():
        if size >= units[split]:
            raise InputError(
                f"{system.name}: {split} contains all units, so it has no training data: give each "
                "repeat its folds (column fold), or compare by unit"
            )
    return float(np.mean([size / (units[split] - size) for split, size in tested.items()]))
