"""Tune on the training data of every split and score on its held-out data."""

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
    n_train, n_test
        Number of units with a value in each, each counted as often as it was drawn.
    surface
        Means of all points over the training units, for plots.
    se
        Standard error of the best of these means.
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
    """A parameter whose selected value is at the edge of its grid.

    Parameters
    ----------
    name, value
        The parameter and the value.
    side
        ``lowest`` or ``highest``.
    folds
        Number of splits in which it was selected.
    shipped
        Whether it was also selected on all units.
    """

    name: str
    value: float | int | str | bool
    side: str
    folds: int
    shipped: bool


@dataclass(frozen=True, slots=True, eq=False)
class TunedFolds:
    """A system tuned and scored over splits.

    Parameters
    ----------
    folds
        One per split.
    splits
        The splits themselves.
    units
        The held-out value of every unit, in the order of ``splits.ids``: the mean over the splits
        that held it out, so that tests treat the unit, not unit × fold, as the unit of analysis.
        NaN for a unit without a value.
    optimistic
        Mean of the best point when it is selected and scored on the same units as `mean`: the score
        reported when nothing is held out.
    final
        The selection on all units: the selected parameters.
    chosen
        How often each point was selected.
    undefined, never
        Units left out because some point is undefined on them, and units that were never held out.
    edges
        Selected values at the edge of the grid, if a space was given.
    rule, higher_is_better
        How points were selected.
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
        """The held-out score: the mean over units of their held-out values."""
        return float(np.nanmean(self.units))

    @property
    def fold_mean(self) -> float:
        """The mean over splits; differs from `mean` if splits have different sizes."""
        return float(np.nanmean([fold.held_out for fold in self.folds]))

    @property
    def optimism(self) -> float:
        """How much better the optimistic score is than the held-out one."""
        honest = self.mean
        gap = self.optimistic - honest if self.higher_is_better else honest - self.optimistic
        # Sums of the same numbers in different orders count as equal.
        return gap if abs(gap) > TIE * max(abs(honest), abs(self.optimistic)) else 0.0

    def gather(self, values: ArrayLike) -> Floats:
        """Return the held-out value of every unit in another measure, for the same selections.

        Parameters
        ----------
        values
            One row per point, one column per unit, as for `cross_validate`.
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
    """Select a point on the training data of every split and score it on the held-out data.

    There is no inner cross-validation: with a table of values nothing is fitted, so the mean over
    inner folds equals the mean over the training data (up to fold sizes that differ by one) and
    selects the same point. A system that is fitted needs inner folds: split its training data with
    `Split.inner`, fit and score there, and pass the values of the inner held-out units to `choose`.

    Parameters
    ----------
    values
        One row per point, one column per unit; NaN is an undefined value. A unit on which some
        point is undefined is left out for all and listed in `TunedFolds.undefined`.
    splits
        Splits of those units, by queries, documents or instances; validation data are not used.
    rule, higher_is_better
        As for `choose`.
    units
        Ids of the columns, if they differ from ``splits.ids`` or its order.
    space
        The grid, to report selected values at its edge.

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
        raise InputError(f"values for {len(table)} points, but the space has {len(space)}")
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
    """Return the columns in the order of the splits: units are paired by id."""
    ids = list(splits.ids)
    if units is None:
        if table.shape[1] != len(ids):
            raise InputError(
                f"values for {table.shape[1]} units, but the splits have {len(ids)}: give one "
                "column per unit, or name the columns with units="
            )
        return table
    if table.shape[1] != len(units):
        raise InputError(f"values for {table.shape[1]} units, but {len(units)} ids in units")
    places = {str(unit): at for at, unit in enumerate(units)}
    if len(places) < len(units):
        raise InputError("units: duplicate id")
    strange = sorted(places.keys() ^ set(ids))
    if strange:
        raise InputError(
            f"units: {len(strange)} ids are not in both the splits and the values "
            f"({named_few(strange, len(strange))})"
        )
    return table[:, [places[unit_id] for unit_id in ids]]


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


def _named(splits: Splits, flags: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(splits.ids[at] for at in np.flatnonzero(flags).tolist())


def _edges(space: Space | Listed, numbers: list[int], final: int) -> tuple[Edge, ...]:
    """Return the edges of axes that were selected, by axis, the lowest first."""
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
