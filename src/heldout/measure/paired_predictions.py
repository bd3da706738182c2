"""Predictions of several systems as scores to compare: by unit, by group of units, or by fold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.data.notes import named_few
from heldout.data.predictions import ClassPredictions
from heldout.data.scores import Scores, fingerprint
from heldout.errors import InputError
from heldout.measure.undefined import Undefined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Floats
    from heldout.measure.predicted import PredictionMeasure
    from heldout.measure.undefined import Number

    Predictions = ClassPredictions | NumberPredictions

__all__ = [
    "FoldScores",
    "check_same_truth",
    "data_fingerprint",
    "fold_scores",
    "has_splits",
    "is_runs",
    "repeated_value",
    "split_names",
    "unit_scores",
]


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
    first: dict[str, tuple[object, str]] = {}
    for one in several:
        for at, unit in enumerate(one.units):
            place = one.places[at] if one.places else f"{one.name}, unit {unit}"
            truth = _truth(one, at)
            known, where = first.setdefault(unit, (truth, place))
            if known != truth:
                raise InputError(
                    f"{place}: the truth of unit {unit} is {truth}, but {known} in {where}: are "
                    "these the same data?"
                )


def data_fingerprint(several: Sequence[Predictions]) -> str:
    """A short text that changes with the units or their truth."""
    known = {unit: str(_truth(one, at)) for one in several for at, unit in enumerate(one.units)}
    return fingerprint([f"{unit}\t{truth}" for unit, truth in sorted(known.items())])


def _refuse_weights(several: Sequence[Predictions]) -> None:
    for one in several:
        if one.weights is not None:
            raise InputError(
                f"{one.name}: units have weights, and the tests take each unit once: leave the "
                "column out to compare"
            )


def unit_scores(several: Sequence[Predictions], measure: PredictionMeasure) -> Scores:
    """The value of each unit for each system; the mean over its group, if units have groups.

    A unit that stands in several repeats counts by its mean over them.

    Parameters
    ----------
    several
        Of the same units, paired by id.
    measure
        One that is a mean over units.
    """
    check_same_truth(several)
    _refuse_weights(several)
    table = {}
    for one in several:
        terms = measure.terms(one)
        endless = np.flatnonzero(~np.isfinite(terms)).tolist()
        if endless:
            where = [one.places[at] if one.places else one.units[at] for at in endless]
            raise InputError(
                f"{measure} of {one.name} is infinite: probability 0 for the true class "
                f"({named_few(where, len(where), 3)})"
            )
        table[one.name] = _over_repeats(one, terms)
    scores = Scores.of(
        table,
        str(measure),
        higher_is_better=measure.higher_is_better,
        data=data_fingerprint(several),
    )
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
    note = f"the {len(scores.units):,} units are of {len(names):,} groups: each counts by its mean"
    return replace(
        scores,
        units=tuple(names),
        values=sums / np.bincount(codes)[:, None],
        notes=(*scores.notes, note),
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


def fold_scores(
    several: Sequence[Predictions], measure: PredictionMeasure, positive: str | None = None
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
    names = list(dict.fromkeys(split_names(several[0])))
    if len(names) < 2:
        raise InputError("there is one fold only: compare by unit")
    share = float(np.mean(_test_shares(several[0], names)))
    table: dict[str, dict[str, float]] = {one.name: {} for one in several}
    notes = []
    for one in several:
        rows: dict[str, list[int]] = {name: [] for name in names}
        for at, name in enumerate(split_names(one)):
            rows[name].append(at)
        for name in names:
            value = measure.value(one.select(rows[name]), positive)
            if isinstance(value, Undefined):
                notes.append(f"{measure} of {one.name} is undefined in fold {name}: {value.reason}")
            else:
                table[one.name][name] = value
    if not all(table.values()):
        raise InputError(f"{measure} is undefined in every fold: {notes[0]}")
    scores = Scores.of(
        table,
        str(measure),
        higher_is_better=measure.higher_is_better,
        data=data_fingerprint(several),
        notes=tuple(notes),
    )
    return FoldScores(scores, share)


def repeated_value(
    one: Predictions, measure: PredictionMeasure, positive: str | None = None
) -> Number:
    """The value of a system: of all its units; with repeats the mean over them."""
    if not one.repeats:
        return measure.value(one, positive)
    rows: dict[str, list[int]] = {}
    for at, repeat in enumerate(one.repeats):
        rows.setdefault(repeat, []).append(at)
    total = 0.0
    for repeat, part in rows.items():
        value = measure.value(one.select(part), positive)
        if isinstance(value, Undefined):
            return Undefined(f"in repeat {repeat}: {value.reason}")
        total += value
    return total / len(rows)
