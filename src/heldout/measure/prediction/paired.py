"""Predictions of several systems as scores to compare: by unit, by group of units, or by fold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.notes import named_few
from heldout.data.predictions import ClassPredictions
from heldout.data.scores import Scores, fingerprint
from heldout.errors import InputError
from heldout.measure.prediction.undefined_hint import undefined_hint
from heldout.measure.undefined import Undefined
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Floats
    from heldout.measure.base import Measure
    from heldout.measure.undefined import Number

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
"""Units from which on Polars sorts them."""


class FoldScores(NamedTuple):
    """Scores by fold, and what a test over folds must know.

    Parameters
    ----------
    scores
        One unit a fold.
    test_share
        n_test / n_train of a fold, on average.
    """

    scores: Scores
    test_share: float


def _truth(one: Predictions, at: int) -> object:
    return one.classes[one.truth[at]] if isinstance(one, ClassPredictions) else float(one.truth[at])


def check_same_truth(several: Sequence[Predictions]) -> None:
    """Refuse systems of one name, and units on whose truth systems do not agree."""
    names = [one.name for one in several]
    again = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if again is not None:
        raise InputError(f"two systems are named {again}: rename a file, or the system column")
    if all(_has_truth_of(one, several[0]) for one in several):
        return
    first: dict[str, tuple[object, Predictions, int]] = {}
    for one in several:
        for at, unit in enumerate(one.units):
            truth = _truth(one, at)
            known, other, there = first.setdefault(unit, (truth, one, at))
            if known != truth:
                raise InputError(
                    f"{_place(one, at)}: the truth of unit {unit} is {truth}, but {known} in "
                    f"{_place(other, there)}: are these the same data?"
                )


def _place(one: Predictions, at: int) -> str:
    return one.places[at] if one.places else f"{one.name}, unit {one.units[at]}"


def same_units(several: Sequence[Predictions]) -> bool:
    """Whether all have the same units in the same order, each once."""
    first = several[0]
    return not any(one.repeats for one in several) and all(
        one.units == first.units for one in several
    )


def _has_truth_of(one: Predictions, first: Predictions) -> bool:
    """Whether the truth is surely the same: the same units in the same order."""
    if not same_units([first, one]):
        return False
    classes = one.classes if isinstance(one, ClassPredictions) else ()
    others = first.classes if isinstance(first, ClassPredictions) else ()
    return classes == others and np.array_equal(one.truth, first.truth)


def data_fingerprint(several: Sequence[Predictions]) -> str:
    """A short text that changes with the units or their truth."""
    if same_units(several):  # then the truth is that of the last, as it is below
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
                f"{one.name}: units have weights, and the tests take each unit once: leave the "
                "column out to compare"
            )


def unit_scores(several: Sequence[Predictions], measure: Measure, data: str = "") -> Scores:
    """The value of each unit for each system; the mean over its group, if units have groups.

    A unit that stands in several repeats counts by its mean over them.

    Parameters
    ----------
    several
        Of the same units, paired by id.
    measure
        One that is a mean over units.
    data
        What `data_fingerprint` gives, if it is known.
    """
    check_same_truth(several)
    _refuse_weights(several)
    columns = []
    for one in several:
        terms = measure.unit_values(one)
        endless = np.flatnonzero(~np.isfinite(terms)).tolist()
        if endless:
            where = [one.places[at] if one.places else one.units[at] for at in endless]
            raise InputError(
                f"{measure} of {one.name} is infinite: probability 0 for the true class "
                f"({named_few(where, len(where), 3)})"
            )
        columns.append(terms)
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


def _over_repeats(one: Predictions, terms: Floats) -> dict[str, float]:
    """The value of each unit; its mean, if it stands in several repeats: it is one unit still."""
    if not one.repeats:
        return dict(zip(one.units, terms.tolist(), strict=True))
    sums: dict[str, float] = {}
    counts = Counter(one.units)
    for unit, term in zip(one.units, terms.tolist(), strict=True):
        sums[unit] = sums.get(unit, 0.0) + term
    return {unit: total / counts[unit] for unit, total in sums.items()}


def _by_group(scores: Scores, several: Sequence[Predictions]) -> Scores:
    """Units of a group are alike: the group is what is drawn, so it is what is tested."""
    known: dict[str, str] = {}
    for one in several:
        for unit, group in zip(one.units, one.groups, strict=False):
            if known.setdefault(unit, group) != group:
                raise InputError(
                    f"unit {unit} is of group {known[unit]}, but of {group} in {one.name}"
                )
    lost = [unit for unit in scores.units if unit not in known]
    if lost:
        raise InputError(f"no group for unit {lost[0]}: give groups for all units, or for none")
    names = list(dict.fromkeys(known[unit] for unit in scores.units))
    codes = np.array([names.index(known[unit]) for unit in scores.units])
    sums = np.zeros((len(names), len(scores.systems)))
    np.add.at(sums, codes, scores.values)
    text = f"the {len(scores.units):,} units are of {len(names):,} groups: each counts by its mean"
    return replace(
        scores,
        units=tuple(names),
        values=sums / np.bincount(codes)[:, None],
        notes=(*scores.notes, Note("grouped", text, "info")),
    )


def split_names(one: Predictions) -> tuple[str, ...]:
    """The test side of each row: its fold, its repeat, or ``repeat/fold``; empty if neither."""
    if one.repeats and one.folds:
        return tuple(
            f"{repeat}/{fold}" for repeat, fold in zip(one.repeats, one.folds, strict=True)
        )
    return one.folds or one.repeats


def has_splits(several: Sequence[Predictions]) -> bool:
    """Whether the rows come from several test sides of more than one unit.

    Leave-one-out has none, nor have runs of one and the same hold-out: there the unit is the unit.
    """
    return all(_has_splits(one) for one in several)


def _has_splits(one: Predictions) -> bool:
    names = split_names(one)
    different = len(set(names))
    if different < 2 or different == len(names):
        return False
    return bool(one.folds) or not is_runs(one)


def is_runs(one: Predictions) -> bool:
    """Whether the repeats are runs on the same units, as with several seeds."""
    if not one.repeats or one.folds or len(set(one.repeats)) < 2:
        return False
    return len(one.units) == len(set(one.units)) * len(set(one.repeats))


def _test_shares(first: Predictions, names: Sequence[str]) -> list[float]:
    """n_test / n_train of each split: what the others of its repeat hold was its training side."""
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
            f"{first.name}: {names[rest.index(min(rest))]} holds all units and leaves no training "
            "side: give each repeat its folds (column fold), or compare by unit"
        )
    return [sizes[name] / left for name, left in zip(names, rest, strict=True)]


def _check_same_splits(several: Sequence[Predictions]) -> None:
    first = several[0]
    what = "repeats and folds" if first.repeats and first.folds else "folds"
    known = set(zip(first.units, split_names(first), strict=False))
    if not known:
        raise InputError(
            f"{first.name}: no column fold or repeat: without it there are no folds to compare"
        )
    for one in several[1:]:
        if set(zip(one.units, split_names(one), strict=False)) != known:
            raise InputError(
                f"{first.name} and {one.name} do not have the same units in the same {what}: "
                "systems that are compared share the folds"
            )


def check_same_weights(several: Sequence[Predictions]) -> None:
    """Refuse weights of one unit that differ between systems: then their scores differ by them."""
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
                    f"{one.name}: a unit has one weight"
                )


def _rows_of(one: Predictions) -> list[tuple[str, str]]:
    return list(zip(one.units, one.repeats or ("",) * len(one.units), strict=True))


def crossing_note(count: int) -> Note:
    """What groups in several folds mean."""
    groups = "1 group has" if count == 1 else f"{count:,} groups have"
    text = (
        f"{groups} units in several folds, so that a system was tested on units like those it had "
        "learned from: folds of whole groups would tell"
    )
    return Note("crossing-groups", text)


def fold_scores(
    several: Sequence[Predictions], measure: Measure, positive: str | None = None
) -> FoldScores:
    """The value of each fold (of each repeat) for each system; any measure will do.

    Parameters
    ----------
    several
        Of the same units, repeats and folds.
    measure
        Any measure; a fold on which it is undefined for a system is left out for all, and named.
    positive
        The positive one of two classes.
    """
    check_same_truth(several)
    _check_same_splits(several)
    check_same_weights(several)
    names = list(dict.fromkeys(split_names(several[0])))
    if len(names) < 2:
        raise InputError("there is one fold only: compare by unit")
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
            value = measure.compute(one.select(rows[name]), positive)
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
        text = "repeats with the same folds are runs: each fold counts by its mean over them"
        notes.append(Note("runs", text, "info"))
        if len(set(same.values())) < 2:
            raise InputError("there is one fold only: compare by unit")
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
    """For each split the first with the same units: runs with other seeds are no other splits."""
    units: dict[str, set[str]] = {}
    for name, unit in zip(split_names(one), one.units, strict=True):
        units.setdefault(name, set()).add(unit)
    first: dict[frozenset[str], str] = {}
    return {name: first.setdefault(frozenset(held), name) for name, held in units.items()}


def _over_runs(values: dict[str, float], same: dict[str, str]) -> dict[str, float]:
    """The mean over the runs of each split; a split that lacks one is left out."""
    wanted, found = Counter(same.values()), dict[str, list[float]]()
    for name, value in values.items():
        found.setdefault(same[name], []).append(value)
    return {name: float(np.mean(runs)) for name, runs in found.items() if len(runs) == wanted[name]}


def repeated_value(one: Predictions, measure: Measure, positive: str | None = None) -> Number:
    """The value of a system: of all its units; the mean over folds or repeats, if there are any.

    Over folds it is what intervals and tests over folds are about, and what scikit-learn's
    ``cross_val_score`` averages to.
    """
    folded = has_splits([one])
    marks = split_names(one) if folded else one.repeats
    if not marks:
        return measure.compute(one, positive)
    rows: dict[str, list[int]] = {}
    for at, mark in enumerate(marks):
        rows.setdefault(mark, []).append(at)
    total = 0.0
    for mark, part in rows.items():
        value = measure.compute(one.select(part), positive)
        if isinstance(value, Undefined):
            return Undefined(f"in {'fold' if folded else 'repeat'} {mark}: {value.reason}")
        total += value
    return total / len(rows)


def crossing_groups(one: Predictions) -> int:
    """How many groups have units in several folds of a repeat."""
    if not one.groups or not one.folds:
        return 0
    repeats = one.repeats or ("",) * len(one.units)
    folds: dict[tuple[str, str], set[str]] = {}
    for group, repeat, fold in zip(one.groups, repeats, one.folds, strict=True):
        folds.setdefault((group, repeat), set()).add(fold)
    return len({group for (group, _), held in folds.items() if len(held) > 1})
