"""Tune on the training data of every split and score on its held-out data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.tune.choice import Choice, Rule, as_table, choose, complete_units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Floats
    from heldout.resample.split import Split, SplitKey, Splits

__all__ = ["TunedFold", "TunedFolds", "cross_validate"]


@dataclass(frozen=True, slots=True, eq=False)
class TunedFold:
    """The point selected on the training data of one split, and its scores.

    Parameters
    ----------
    key
        Key of the split.
    number
        Number of the selected point.
    train, held_out
        Mean of that point over the training units, on which it was selected, and over the held-out
        units, which were not used; NaN if no held-out unit has a value.
    surface
        Means of all points over the training units, for plots.
    """

    key: SplitKey
    number: int
    train: float
    held_out: float
    surface: Floats


@dataclass(frozen=True, slots=True, eq=False)
class TunedFolds:
    """A system tuned and scored over splits.

    Parameters
    ----------
    folds
        One per split.
    units
        The held-out value of every unit, in the order of the splits: the mean over the splits
        that held it out, so that tests treat the unit, not unit × fold, as the unit of analysis.
        NaN for a unit without a value.
    optimistic
        Mean of the best point when it is selected and scored on the same units as `mean`: the score
        reported when nothing is held out.
    final
        The selection on all units: the selected parameters.
    """

    folds: tuple[TunedFold, ...]
    units: Floats
    optimistic: float
    final: Choice

    @property
    def mean(self) -> float:
        """The held-out score: the mean over units of their held-out values."""
        return float(np.nanmean(self.units))


def cross_validate(
    values: ArrayLike,
    splits: Splits,
    *,
    rule: Rule = "best",
    higher_is_better: bool = True,
) -> TunedFolds:
    """Select a point on the training data of every split and score it on the held-out data.

    There is no inner cross-validation: with a table of values nothing is fitted, so the mean over
    inner folds equals the mean over the training data (up to fold sizes that differ by one) and
    selects the same point. A system that is fitted needs inner folds: split its training data with
    `Split.inner`, fit and score there, and pass the values of the inner held-out units to `choose`.

    Parameters
    ----------
    values
        One row per point, one column per unit, in the order of the splits; NaN is an undefined
        value. A unit on which some point is undefined is left out for all points.
    splits
        Splits of those units, by queries, documents or instances; validation data are not used.
    rule, higher_is_better
        As for `choose`.

    Examples
    --------
    >>> from heldout.resample.plans import KFold
    >>> splits = KFold(2).splits(["a", "b", "c", "d"])
    >>> tuned = cross_validate([[0.2, 0.1, 0.3, 0.2], [0.5, 0.6, 0.4, 0.9]], splits)
    >>> [fold.number for fold in tuned.folds], round(tuned.mean, 2), round(tuned.optimistic, 2)
    ([1, 1], 0.6, 0.6)
    """
    table = as_table(values)
    if table.shape[1] != len(splits.ids):
        raise InputError(
            f"values for {table.shape[1]} units, but the splits have {len(splits.ids)}: give one "
            "column per unit"
        )
    _refuse_infinite(table, splits)
    kept = complete_units(table)
    if not kept.any():
        raise InputError("nothing to choose by: no unit has a value at every point")
    folds = tuple(_fold(table, split, kept, rule, higher_is_better) for split in splits)
    numbers = [fold.number for fold in folds]
    held_out = _gather(np.where(kept, table, np.nan), splits, numbers)
    defined = ~np.isnan(held_out)
    if not defined.any():
        raise InputError("no held-out unit has a value at every point")
    final = choose(table, kept.astype(np.int64), rule=rule, higher_is_better=higher_is_better)
    same = choose(table, defined.astype(np.int64), rule=rule, higher_is_better=higher_is_better)
    return TunedFolds(folds, held_out, same.mean, final)


def _refuse_infinite(table: Floats, splits: Splits) -> None:
    endless = np.isinf(table)
    if endless.any():
        point, at = np.argwhere(endless)[0]
        raise InputError(
            f"values: point {point}, {splits.unit} {splits.ids[at]} is {table[point, at]}: "
            "expected finite numbers, or NaN where a value is undefined"
        )


def _fold(
    table: Floats, split: Split, kept: NDArray[np.bool_], rule: Rule, higher: bool
) -> TunedFold:
    """Select on the training data; of the held-out data only the selected row is read."""
    if split.documents is not None:
        raise InputError(
            f"split {split.key} holds out queries and documents: values per query do not show "
            "which documents they come from; split queries or documents only"
        )
    seen = np.where(kept, split.train, 0)
    if not seen.any():
        raise InputError(
            f"split {split.key}: no training unit has a value at every point; use fewer "
            "or larger folds"
        )
    choice = choose(table, seen, rule=rule, higher_is_better=higher)
    tested = np.where(kept, split.test, 0)
    return TunedFold(
        split.key,
        choice.number,
        choice.mean,
        _weighted_mean(table[choice.number], tested),
        choice.means,
    )


def _weighted_mean(values: Floats, weights: NDArray[np.int64]) -> float:
    places = np.flatnonzero(weights)
    if not len(places):
        return math.nan
    return float((values[places] * weights[places]).sum() / weights[places].sum())


def _gather(table: Floats, splits: Splits, numbers: list[int]) -> Floats:
    """Return the mean value of each unit over the splits that hold it out."""
    total = np.zeros(table.shape[1])
    times = np.zeros(table.shape[1], np.int64)
    for split, number in zip(splits, numbers, strict=True):
        places = np.flatnonzero(split.test)
        total[places] += table[number, places] * split.test[places]
        times[places] += split.test[places]
    found = np.full(len(total), np.nan)
    np.divide(total, times, out=found, where=times > 0)
    return found
