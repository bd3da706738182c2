"""Scores of several systems for comparisons: per unit, per group of units, or per fold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.predictions import ClassPredictions
from heldout.data.scores import Scores, fingerprint
from heldout.errors import InputError, MeasureError
from heldout.measure.base import LackingError, Undefined
from heldout.measure.prediction.classes import undefined_hint
from heldout.notes import Note, named_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Floats
    from heldout.measure.base import Measure, Number

    Predictions = ClassPredictions | NumberPredictions

__all__ = [
    "FoldScores",
    "check_same_truth",
    "check_same_weights",
    "crossing_groups",
    "crossing_note",
    "data_fingerprint",
    "fold_scores",
    "has_splits",
    "is_runs",
    "repeated_value",
    "same_sides",
    "same_units",
    "split_names",
    "unit_scores",
]

MANY: Final = 100_000
"""Number of units from which on Polars is used for sorting."""


class FoldScores(NamedTuple):
    """Scores per fold, and what a test over folds needs.

    Parameters
    ----------
    scores
        Scores with one unit per fold.
    test_share
        Mean of n_test / n_train over folds.
    """

    scores: Scores
    test_share: float


def _truth(one: Predictions, at: int) -> object:
    return one.classes[one.truth[at]] if isinstance(one, ClassPredictions) else float(one.truth[at])


def check_same_truth(several: Sequence[Predictions]) -> None:
    """Raise an error for duplicate system names and units with different truth."""
    names = [one.name for one in several]
    again = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if again is not None:
        raise InputError(f"duplicate system name {again}: rename a file, or the system column")
    if all(_has_truth_of(one, several[0]) for one in several):
        return
    first: dict[str, tuple[object, str]] = {}
    for one in several:
        for at, unit in enumerate(one.units):
            truth = _truth(one, at)
            known, name = first.setdefault(unit, (truth, one.name))
            if known != truth:
                raise InputError(
                    f"the truth of unit {unit} is {truth} in {one.name}, but {known} in {name}: "
                    "are these the same data?"
                )


def same_units(several: Sequence[Predictions]) -> bool:
    """Return whether all systems have the same units in the same order, each once."""
    first = several[0]
    return not any(one.repeats for one in several) and all(
        one.units == first.units for one in several
    )


def _has_truth_of(one: Predictions, first: Predictions) -> bool:
    """Return whether the truth must be the same: the same units in the same order."""
    if not same_units([first, one]):
        return False
    classes = one.classes if isinstance(one, ClassPredictions) else ()
    others = first.classes if isinstance(first, ClassPredictions) else ()
    return classes == others and np.array_equal(one.truth, first.truth)


def data_fingerprint(several: Sequence[Predictions]) -> str:
    """Return a short digest that changes with the units or their truth."""
    if same_units(several):  # then the truth is that of the last system, as below
        units: Sequence[str] = several[-1].units
        truth = list(_written_truth(several[-1]))
    else:
        known = {
            unit: truth
            for one in several
            for unit, truth in zip(one.units, _written_truth(one), strict=True)
        }
        units, truth = list(known), list(known.values())
    if len(units) < MANY:
        pairs = sorted(zip(units, truth, strict=True))
        return fingerprint([f"{unit}\t{said}" for unit, said in pairs])
    import polars as pl  # slow to import

    table = pl.DataFrame({"unit": units, "truth": truth}).sort("unit")
    return fingerprint(table.select(pl.format("{}\t{}", "unit", "truth")).to_series().to_list())


def _written_truth(one: Predictions) -> Iterable[str]:
    if isinstance(one, ClassPredictions):
        return map(one.classes.__getitem__, np.asarray(one.truth).tolist())
    return map(str, np.asarray(one.truth, np.float64).tolist())


def _refuse_weights(several: Sequence[Predictions]) -> None:
    for one in several:
        if one.weights is not None:
            raise InputError(
                f"{one.name}: units have weights, but tests use each unit once: remove the weight "
                "column to compare"
            )


def unit_scores(several: Sequence[Predictions], measure: Measure, data: str = "") -> Scores:
    """Return the value of each unit (or the mean over its group, if units have groups) per system.

    A unit that appears in several repeats counts with its mean over them.

    Parameters
    ----------
    several
        Systems with the same units, paired by id.
    measure
        A measure that is a mean over units.
    data
        The result of `data_fingerprint`, if known.
    """
    check_same_truth(several)
    _refuse_weights(several)
    columns = [unit_values(one, measure) for one in several]
    names = tuple(one.name for one in several)
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
            one.name: _over_repeats(one, column)
            for one, column in zip(several, columns, strict=True)
        }
        scores = Scores.of(table, str(measure), **rest)
    return _by_group(scores, several) if any(one.groups for one in several) else scores


def unit_values(one: Predictions, measure: Measure) -> Floats:
    """Return the value of each unit, if the measure is a mean over units."""
    if measure.aggregate != "mean":
        raise MeasureError(f"{measure} is not a mean over units: compare it over folds")
    try:
        values: Floats = measure.units(one).per_unit()
    except LackingError as error:
        raise MeasureError(f"{one.name}: {measure}: {error}") from None
    return values


def _over_repeats(one: Predictions, terms: Floats) -> dict[str, float]:
    """Return the value of each unit: its mean, if it appears in several repeats."""
    if not one.repeats:
        return dict(zip(one.units, terms.tolist(), strict=True))
    sums: dict[str, float] = {}
    counts = Counter(one.units)
    for unit, term in zip(one.units, terms.tolist(), strict=True):
        sums[unit] = sums.get(unit, 0.0) + term
    return {unit: total / counts[unit] for unit, total in sums.items()}


def _by_group(scores: Scores, several: Sequence[Predictions]) -> Scores:
    """Average units over groups: groups are sampled, so groups are what is tested."""
    known: dict[str, str] = {}
    for one in several:
        for unit, group in zip(one.units, one.groups, strict=False):
            if known.setdefault(unit, group) != group:
                raise InputError(
                    f"unit {unit} is in group {known[unit]}, but in group {group} in {one.name}"
                )
    lost = [unit for unit in scores.units if unit not in known]
    if lost:
        raise InputError(f"unit {lost[0]} has no group: give groups for all units, or for none")
    names = list(dict.fromkeys(known[unit] for unit in scores.units))
    codes = np.array([names.index(known[unit]) for unit in scores.units])
    sums = np.zeros((len(names), len(scores.systems)))
    np.add.at(sums, codes, scores.values)
    text = f"the {len(scores.units):,} units are in {len(names):,} groups: each counts as its mean"
    return replace(
        scores,
        units=tuple(names),
        values=sums / np.bincount(codes)[:, None],
        notes=(*scores.notes, Note("grouped", text, "info")),
    )


def split_names(one: Predictions) -> tuple[str, ...]:
    """Return the split of each row: its fold, its repeat, or ``repeat/fold``; empty if neither."""
    if one.repeats and one.folds:
        return tuple(
            f"{repeat}/{fold}" for repeat, fold in zip(one.repeats, one.folds, strict=True)
        )
    return one.folds or one.repeats


def has_splits(several: Sequence[Predictions]) -> bool:
    """Return whether the rows come from several test sets of more than one unit.

    Leave-one-out does not, nor do runs on one hold-out set: the unit of analysis is then the unit.
    """
    return all(_has_splits(one) for one in several)


def _has_splits(one: Predictions) -> bool:
    names = split_names(one)
    different = len(set(names))
    if different < 2 or different == len(names):
        return False
    return bool(one.folds) or not is_runs(one)


def is_runs(one: Predictions) -> bool:
    """Return whether the repeats are runs on the same units, as with several seeds."""
    if not one.repeats or one.folds or len(set(one.repeats)) < 2:
        return False
    return len(one.units) == len(set(one.units)) * len(set(one.repeats))


def _test_shares(first: Predictions, names: Sequence[str]) -> list[float]:
    """Return n_test / n_train of each split: the other folds of a repeat are the training data."""
    splits = split_names(first)
    sizes = Counter(splits)
    if first.repeats and first.folds:
        whole = Counter(first.repeats)
        repeat_of = dict(zip(splits, first.repeats, strict=True))
        rest = [whole[repeat_of[name]] - sizes[name] for name in names]
    else:
        rest = [len(set(first.units)) - sizes[name] for name in names]
    if min(rest) < 1:
        raise InputError(
            f"{first.name}: {names[rest.index(min(rest))]} contains all units, so it has no "
            "training data: give each repeat its folds (column fold), or compare by unit"
        )
    return [sizes[name] / left for name, left in zip(names, rest, strict=True)]


def _check_same_splits(several: Sequence[Predictions]) -> None:
    first = several[0]
    what = "repeats and folds" if first.repeats and first.folds else "folds"
    known = set(zip(first.units, split_names(first), strict=False))
    if not known:
        raise InputError(f"{first.name}: no column fold or repeat: it is needed to compare by fold")
    for one in several[1:]:
        if set(zip(one.units, split_names(one), strict=False)) != known:
            raise InputError(
                f"{first.name} and {one.name} do not have the same units in the same {what}: "
                "compared systems must share the folds"
            )


def check_same_weights(several: Sequence[Predictions]) -> None:
    """Raise an error if a unit has different weights in different systems."""
    first = several[0]
    if any((one.weights is None) != (first.weights is None) for one in several):
        raise InputError(
            f"only some of {named_few([one.name for one in several], len(several), 4)} have "
            "weights: give them for all systems, or for none"
        )
    if first.weights is None:
        return
    known = dict(zip(_rows_of(first), first.weights.tolist(), strict=True))
    for one in several[1:]:
        for key, weight in zip(
            _rows_of(one), one.weights.tolist() if one.weights is not None else (), strict=True
        ):
            if known.get(key, weight) != weight:
                raise InputError(
                    f"unit {key[0]} has weight {known[key]:g} in {first.name}, but {weight:g} in "
                    f"{one.name}: each unit must have one weight"
                )


def _rows_of(one: Predictions) -> list[tuple[str, str]]:
    return list(zip(one.units, one.repeats or ("",) * len(one.units), strict=True))


def crossing_note(count: int) -> Note:
    """Return a warning about groups that are in several folds."""
    groups = "1 group has" if count == 1 else f"{count:,} groups have"
    text = (
        f"{groups} units in several folds, so systems were tested on units similar to their "
        "training units: split by whole groups"
    )
    return Note("crossing-groups", text)


def fold_scores(several: Sequence[Predictions], measure: Measure) -> FoldScores:
    """Return the value of each fold (of each repeat) for each system, in any measure.

    Parameters
    ----------
    several
        Systems with the same units, repeats and folds.
    measure
        Any measure; a fold on which it is undefined for some system is left out for all, with a
        note.
    """
    check_same_truth(several)
    _check_same_splits(several)
    check_same_weights(several)
    names = list(dict.fromkeys(split_names(several[0])))
    if len(names) < 2:
        raise InputError("there is only one fold: compare by unit")
    share = float(np.mean(_test_shares(several[0], names)))
    table: dict[str, dict[str, float]] = {one.name: {} for one in several}
    notes = []
    crossing = crossing_groups(several[0])
    if crossing:
        notes.append(crossing_note(crossing))
    for one in several:
        rows: dict[str, list[int]] = {name: [] for name in names}
        for at, name in enumerate(split_names(one)):
            rows[name].append(at)
        for name in names:
            value = measure.compute(one.select(rows[name]))
            if isinstance(value, Undefined):
                text = f"{measure} of {one.name} is undefined in fold {name}: {value.reason}"
                text += undefined_hint(measure, value.reason)
                notes.append(Note("undefined-fold", text))
            else:
                table[one.name][name] = value
    if not all(table.values()):
        raise InputError(f"{measure} is undefined in every fold: {notes[0]}")
    same = same_sides(several[0])
    if len(set(same.values())) < len(names):
        table = {system: _over_runs(values, same) for system, values in table.items()}
        text = "repeats with the same folds are averaged: each fold counts as its mean over them"
        notes.append(Note("runs", text, "info"))
        if len(set(same.values())) < 2:
            raise InputError("there is only one fold: compare by unit")
    scores = Scores.of(
        table,
        str(measure),
        higher_is_better=bool(measure.higher_is_better),
        data=data_fingerprint(several),
        notes=tuple(notes),
        unit="fold",
        range=measure.range,
    )
    return FoldScores(scores, share)


def same_sides(one: Predictions) -> dict[str, str]:
    """Map each split to the first with the same units: other seeds are not other splits."""
    units: dict[str, set[str]] = {}
    for name, unit in zip(split_names(one), one.units, strict=True):
        units.setdefault(name, set()).add(unit)
    first: dict[frozenset[str], str] = {}
    return {name: first.setdefault(frozenset(held), name) for name, held in units.items()}


def _over_runs(values: dict[str, float], same: dict[str, str]) -> dict[str, float]:
    """Return the mean over the runs of each split; incomplete splits are left out."""
    wanted, found = Counter(same.values()), dict[str, list[float]]()
    for name, value in values.items():
        found.setdefault(same[name], []).append(value)
    return {name: float(np.mean(runs)) for name, runs in found.items() if len(runs) == wanted[name]}


def repeated_value(one: Predictions, measure: Measure) -> Number:
    """Return the value of a system over all units, or the mean over folds or repeats if it has any.

    The mean over folds is what intervals and tests over folds refer to, and what averaging
    scikit-learn's ``cross_val_score`` gives.
    """
    folded = has_splits([one])
    marks = split_names(one) if folded else one.repeats
    if not marks:
        return measure.compute(one)
    rows: dict[str, list[int]] = {}
    for at, mark in enumerate(marks):
        rows.setdefault(mark, []).append(at)
    total = 0.0
    for mark, part in rows.items():
        value = measure.compute(one.select(part))
        if isinstance(value, Undefined):
            return Undefined(f"in {'fold' if folded else 'repeat'} {mark}: {value.reason}")
        total += value
    return total / len(rows)


def crossing_groups(one: Predictions) -> int:
    """Return the number of groups with units in several folds of a repeat."""
    if not one.groups or not one.folds:
        return 0
    repeats = one.repeats or ("",) * len(one.units)
    folds: dict[tuple[str, str], set[str]] = {}
    for group, repeat, fold in zip(one.groups, repeats, one.folds, strict=True):
        folds.setdefault((group, repeat), set()).add(fold)
    return len({group for (group, _), held in folds.items() if len(held) > 1})
