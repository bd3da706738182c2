"""Choose on the train side of every split, score on its held-out side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.notes import named_few
from heldout.errors import InputError
from heldout.tune.choice import TIE, Choice, Rule, as_table, choose, complete_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Floats, Ints
    from heldout.resample.split import Split, SplitKey, Splits
    from heldout.tune.listed import Listed
    from heldout.tune.space import Space

__all__ = ["Edge", "TunedFold", "TunedFolds", "cross_validate"]


@dataclass(frozen=True, slots=True, eq=False)
class TunedFold:
    """What was chosen on one train side, and what it is worth on the held-out side.

    Parameters
    ----------
    key
        Of the split.
    number
        The point that was chosen.
    train, held_out
        The mean of that point over the train units, which chose it, and over the held-out ones,
        which had no say; NaN if no held-out unit has a value.
    n_train, n_test
        How many units have a value there, each counted as often as it was drawn.
    surface
        The means of all points over the train units, for plots.
    se
        The standard error of the best of them.
    """

    key: SplitKey
    number: int
    train: float
    held_out: float
    n_train: int
    n_test: int
    surface: Floats
    se: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A parameter whose chosen value was at an end of its grid.

    Parameters
    ----------
    name, value
        The parameter and the value.
    side
        ``lowest`` or ``highest``.
    folds
        In how many splits.
    shipped
        Whether the final choice is there too.
    """

    name: str
    value: float | int | str | bool
    side: str
    folds: int
    shipped: bool


@dataclass(frozen=True, slots=True, eq=False)
class TunedFolds:
    """A system, tuned and scored over splits.

    Parameters
    ----------
    folds
        One a split.
    splits
        The splits themselves.
    units
        The value of every unit where it was held out, in the order of ``splits.ids``: the mean
        over the splits that held it out, so that the unit of any test is the unit and not unit ×
        fold. NaN for a unit without a value.
    optimistic
        The mean of the best point, chosen and scored on the very units that `mean` is taken over:
        what is reported when nothing is held out.
    final
        The choice on all units: the parameters to ship.
    chosen
        How often each point was chosen.
    undefined, never
        Units left out because some point has no value on them, and units never held out.
    edges
        Values at an end of their grid, if a space was given.
    rule, higher_is_better
        How it was chosen.
    """

    folds: tuple[TunedFold, ...]
    splits: Splits
    units: Floats
    optimistic: float
    final: Choice
    chosen: Ints
    undefined: tuple[str, ...]
    never: tuple[str, ...]
    edges: tuple[Edge, ...]
    rule: Rule
    higher_is_better: bool

    @property
    def mean(self) -> float:
        """The honest score: the mean over units of what each got where it was held out."""
        return float(np.nanmean(self.units))

    @property
    def fold_mean(self) -> float:
        """The mean over splits; another number than `mean` if they are not of one size."""
        return float(np.nanmean([fold.held_out for fold in self.folds]))

    @property
    def optimism(self) -> float:
        """By how much the optimistic score is too good, in the direction of the measure."""
        honest = self.mean
        gap = self.optimistic - honest if self.higher_is_better else honest - self.optimistic
        # Two sums of the same numbers in another order are the same.
        return gap if abs(gap) > TIE * max(abs(honest), abs(self.optimistic)) else 0.0

    def gather(self, values: ArrayLike) -> Floats:
        """What every unit got where it was held out, in another measure, under the same choices.

        Parameters
        ----------
        values
            One row a point, one column a unit, as for `cross_validate`.
        """
        table = as_table(values)
        if table.shape != (len(self.chosen), len(self.units)):
            raise InputError(
                f"values: shape {table.shape}, expected {(len(self.chosen), len(self.units))}"
            )
        numbers = [fold.number for fold in self.folds]
        return _gather(table, self.splits, numbers)


def cross_validate(
    values: ArrayLike,
    splits: Splits,
    *,
    rule: Rule = "best",
    higher_is_better: bool = True,
    units: Sequence[str] | None = None,
    space: Space | Listed | None = None,
) -> TunedFolds:
    """Choose a point on the train side of every split and score it on the held-out side.

    There is no inner k-fold: with a table of values nothing is fitted, so the mean of the means of
    inner folds is the mean over the train side again (but for folds that differ in size by one),
    and chooses the same point. A system that is fitted needs one: split its train side with
    `Split.inner`, fit and score there, and give `choose` the values of the inner held-out units.

    Parameters
    ----------
    values
        One row a point, one column a unit; NaN is an undefined value. A unit that is undefined for
        some point is left out for all; it stands in `TunedFolds.undefined`.
    splits
        Splits of those units, by queries, documents or instances; a validation side has no say.
    rule, higher_is_better
        As for `choose`.
    units
        The ids of the columns, if they are not those of ``splits.ids`` in that order.
    space
        The grid, to point out values at its edge.

    Examples
    --------
    >>> from heldout.resample.plans import KFold
    >>> splits = KFold(2).splits(["a", "b", "c", "d"])
    >>> tuned = cross_validate([[0.2, 0.1, 0.3, 0.2], [0.5, 0.6, 0.4, 0.9]], splits)
    >>> [fold.number for fold in tuned.folds], round(tuned.mean, 2), round(tuned.optimistic, 2)
    ([1, 1], 0.6, 0.6)
    """
    table = _in_order(as_table(values), splits, units)
    _refuse_infinite(table, splits)
    if space is not None and len(space) != len(table):
        raise InputError(f"values of {len(table)} points, but the space has {len(space)}")
    kept = complete_units(table)
    if not kept.any():
        raise InputError("no unit has a value at every point: there is nothing to choose by")
    folds = tuple(_fold(table, split, kept, rule, higher_is_better) for split in splits)
    numbers = [fold.number for fold in folds]
    held_out = _gather(np.where(kept, table, np.nan), splits, numbers)
    defined = ~np.isnan(held_out)
    if not defined.any():
        raise InputError("no held-out unit has a value: the splits hold out nothing that counts")
    final = choose(table, kept.astype(np.int64), rule=rule, higher_is_better=higher_is_better)
    same = choose(table, defined.astype(np.int64), rule=rule, higher_is_better=higher_is_better)
    return TunedFolds(
        folds,
        splits,
        held_out,
        same.mean,
        final,
        np.bincount(numbers, minlength=len(table)),
        _named(splits, ~kept),
        _named(splits, kept & ~defined),
        _edges(space, numbers, final.number) if space is not None else (),
        rule,
        higher_is_better,
    )


def _in_order(table: Floats, splits: Splits, units: Sequence[str] | None) -> Floats:
    """Columns in the order of the splits: units are paired by id."""
    ids = list(splits.ids)
    if units is None:
        if table.shape[1] != len(ids):
            raise InputError(
                f"values of {table.shape[1]} units, but the splits divide {len(ids)}: give a "
                "column for each, or name the columns with units"
            )
        return table
    if table.shape[1] != len(units):
        raise InputError(f"values of {table.shape[1]} units with {len(units)} ids")
    places = {str(unit): at for at, unit in enumerate(units)}
    if len(places) < len(units):
        raise InputError("units: an id stands twice")
    strange = sorted(places.keys() ^ set(ids))
    if strange:
        raise InputError(
            f"units: {len(strange)} ids are in the splits or in the values, not in both "
            f"({named_few(strange, len(strange))})"
        )
    return table[:, [places[one] for one in ids]]


def _refuse_infinite(table: Floats, splits: Splits) -> None:
    endless = np.isinf(table)
    if endless.any():
        point, at = np.argwhere(endless)[0]
        raise InputError(
            f"values: point {point}, {splits.unit} {splits.ids[at]} is {table[point, at]}, which "
            "no mean can hold: give a finite floor, or NaN where a value is undefined"
        )


def _fold(
    table: Floats, split: Split, kept: NDArray[np.bool_], rule: Rule, higher: bool
) -> TunedFold:
    """Choose on the train side; nothing but the chosen row is looked at on the other."""
    if split.documents is not None:
        raise InputError(
            f"split {split.key} holds out queries and documents: values for each query cannot "
            "say which documents they come from; split queries or documents alone"
        )
    seen = np.where(kept, split.train, 0)
    if not seen.any():
        raise InputError(
            f"split {split.key}: no unit of the train side has a value at every point; take fewer "
            "or larger folds"
        )
    choice = choose(table, seen, rule=rule, higher_is_better=higher)
    tested = np.where(kept, split.test, 0)
    return TunedFold(
        split.key,
        choice.number,
        choice.mean,
        _weighted_mean(table[choice.number], tested),
        choice.units,
        int(tested.sum()),
        choice.means,
        choice.se,
    )


def _weighted_mean(values: Floats, weights: NDArray[np.int64]) -> float:
    places = np.flatnonzero(weights)
    if not len(places):
        return math.nan
    return float((values[places] * weights[places]).sum() / weights[places].sum())


def _gather(table: Floats, splits: Splits, numbers: list[int]) -> Floats:
    """For each unit the mean, over the splits that hold it out, of the point chosen there."""
    total = np.zeros(table.shape[1])
    times = np.zeros(table.shape[1], np.int64)
    for split, number in zip(splits, numbers, strict=True):
        places = np.flatnonzero(split.test)
        total[places] += table[number, places] * split.test[places]
        times[places] += split.test[places]
    found = np.full(len(total), np.nan)
    np.divide(total, times, out=found, where=times > 0)
    return found


def _named(splits: Splits, flags: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(splits.ids[at] for at in np.flatnonzero(flags).tolist())


def _edges(space: Space | Listed, numbers: list[int], final: int) -> tuple[Edge, ...]:
    """Ends of axes that were chosen, by axis; the lowest first."""
    found = []
    for axis in space.axes:
        chosen = [space.point(number)[axis.name] for number in numbers]
        shipped = space.point(final)[axis.name]
        for side in ("lowest", "highest"):
            there = [value for value in chosen if axis.at_edge(value) == side]
            ships = axis.at_edge(shipped) == side
            if there or ships:
                value = there[0] if there else shipped
                found.append(Edge(axis.name, value, side, len(there), ships))
    return tuple(found)
