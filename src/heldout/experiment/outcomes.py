"""Outcomes: what a system chose in each split, and what it did on the held-out data.

The engines (`rankings`, `predictions`) make them; `results` turns them into tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.words import Floats
    from heldout.experiment.documents.estimates import Estimate
    from heldout.experiment.documents.lists import Lists
    from heldout.notes import Note
    from heldout.resample.split import SplitKey
    from heldout.tune.space import Point


class Chosen(NamedTuple):
    """The point chosen for one split, by its number among the points of the outcome."""

    number: int
    train: float  # its mean on the data it was chosen on, by the tuning measure; NaN: no choice
    surface: Floats  # the mean of every point there
    held_out: Floats | None = None  # the mean of every point on the held-out side, if it is known


class Place(NamedTuple):
    """Where a value comes from; fold is None if it comes from all folds together."""

    repeat: int
    fold: int | None = None
    other: int | None = None
    run: int | None = None

    @classmethod
    def of(cls, key: SplitKey) -> Place:
        """Return the place of a split."""
        return cls(key.repeat, key.fold, key.other, key.run)


class FoldRow(NamedTuple):
    """The choice for one split, and its held-out score by the tuning measure."""

    place: Place
    chosen: Chosen
    held_out: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of one system."""

    points: tuple[Point, ...]  # all that were tried anywhere: a search tries others in each split
    folds: tuple[FoldRow, ...]  # one per split
    final: Chosen  # the choice for use, on all data


class HeldOut(NamedTuple):
    """The values of some queries where they, or the documents, were held out."""

    place: Place
    number: int  # the point; −1: several, one per fold
    values: Floats  # measures × queries; NaN: not held out here, or undefined
    lists: Lists  # the top of their ranked lists


@dataclass(frozen=True, eq=False)
class RankedOutcome(Outcome):
    """The outcome of a system that ranks."""

    held_out: tuple[HeldOut, ...]  # one per split, or per repeat whose folds were merged
    training: Floats  # measures × queries on the data of the final choice; NaN: unknown
    estimates: tuple[tuple[Estimate, ...], ...] = ()  # of new documents: per repeat and measure
    # If queries were held out and values depend on the point alone: measures × points × queries,
    # the tuning measure last.
    table: Floats | None = None

    def per_query(self) -> Floats:
        """Return measures × queries: the mean value of each query where it was held out."""
        return mean_where_defined(np.stack([side.values for side in self.held_out]))


def mean_where_defined(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the first axis; NaN where nothing is defined."""
    there = np.isfinite(values)
    times = there.sum(axis=0)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.where(times > 0, total / np.maximum(times, 1), np.nan)


class PredictedSide(NamedTuple):
    """The predictions for one held-out side, with the true values."""

    place: Place
    number: int  # the point
    predictions: ClassPredictions | NumberPredictions


@dataclass(frozen=True, eq=False)
class PredictedOutcome(Outcome):
    """The outcome of an estimator; its notes are about failures and warnings of fits."""

    held_out: tuple[PredictedSide, ...]
    notes: tuple[Note, ...] = ()
