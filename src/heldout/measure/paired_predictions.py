"""Predictions of several systems as scores to compare: by unit, by group of units, or by fold."""

from __future__ import annotations

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
    from heldout.measure.predicted import PredictionMeasure

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["FoldScores", "check_same_truth", "data_fingerprint", "fold_scores", "unit_scores"]


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
        table[one.name] = dict(zip(one.units, terms.tolist(), strict=True))
    scores = Scores.of(
        table,
        str(measure),
        higher_is_better=measure.higher_is_better,
        data=data_fingerprint(several),
    )
    return _by_group(scores, several) if any(one.groups for one in several) else scores


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


def fold_scores(
    several: Sequence[Predictions], measure: PredictionMeasure, positive: str | None = None
) -> FoldScores:
    """The value of each fold for each system; any measure will do.

    Parameters
    ----------
    several
        Of the same units and folds.
    measure
        Any measure; a fold on which it is undefined for a system is left out for all, and named.
    positive
        The positive one of two classes.
    """
    check_same_truth(several)
    first = several[0]
    folds = dict(zip(first.units, first.folds, strict=False))
    if not folds:
        raise InputError(f"{first.name}: no column fold: without it there are no folds to compare")
    for one in several[1:]:
        if dict(zip(one.units, one.folds, strict=False)) != folds:
            raise InputError(
                f"{first.name} and {one.name} do not have the same units in the same folds: "
                "systems that are compared share the folds"
            )
    names = list(dict.fromkeys(folds.values()))
    if len(names) < 2:
        raise InputError("there is one fold only: compare by unit")
    table: dict[str, dict[str, float]] = {one.name: {} for one in several}
    notes = []
    for one in several:
        for name in names:
            rows = [at for at, fold in enumerate(one.folds) if fold == name]
            value = measure.value(one.select(rows), positive)
            if isinstance(value, Undefined):
                notes.append(f"{measure} of {one.name} is undefined in fold {name}: {value.reason}")
            else:
                table[one.name][name] = value
    sizes = np.array([list(folds.values()).count(name) for name in names])
    share = float(np.mean(sizes / (sizes.sum() - sizes)))
    scores = Scores.of(
        table,
        str(measure),
        higher_is_better=measure.higher_is_better,
        data=data_fingerprint(several),
        notes=tuple(notes),
    )
    return FoldScores(scores, share)
