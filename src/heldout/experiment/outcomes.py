"""Outcomes: what a system chose in each split, and what it did on the held-out data.

The engines (`rankings`, `predictions`) make them; `results` turns them into tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.words import Floats
    from heldout.experiment.documents.estimates import Estimate
    from heldout.experiment.documents.lists import Lists
    from heldout.notes import Note
    from heldout.resample.split import SplitKey
    from heldout.tune.choice import Choice
    from heldout.tune.space import Point

ALL: Final = -1  # in place of the number of a split: parameters are chosen on all data, for use


class FoldRow(NamedTuple):
    """The choice for one split, and its held-out score by the tuning measure."""

    key: SplitKey
    choice: Choice
    score: float
    scores: Floats | None = None  # of every point, if it is known


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of one system."""

    points: tuple[Point, ...]  # all that were tried anywhere: a search tries others in each split
    choices: Mapping[int, Choice]  # of these points, by the number of the split; `ALL`: for use
    folds: tuple[FoldRow, ...]  # one per split


class HeldOut(NamedTuple):
    """The values of some queries where they, or the documents, were held out."""

    key: SplitKey  # of a split, or without a fold: of all folds of the documents
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
    # All held-out documents by repeat, whole lists: for systems that it is a part of.
    pooled: Mapping[int, Lists] = field(default_factory=dict)

    def per_query(self) -> Floats:
        """Return measures × queries: the mean value of each query where it was held out."""
        return mean_where_defined(np.stack([side.values for side in self.held_out]))


def mean_where_defined(values: Floats, axis: int = 0, weights: Any = 1) -> Floats:
    """Return the mean over an axis; NaN where nothing is defined."""
    there = np.isfinite(values) * weights
    times = there.sum(axis=axis)
    total = (np.where(there > 0, values, 0.0) * weights).sum(axis=axis)
    return np.where(times > 0, total / np.maximum(times, 1), np.nan)


class PredictedSide(NamedTuple):
    """The predictions for one held-out side, with the true values."""

    key: SplitKey
    number: int  # the point
    predictions: ClassPredictions | NumberPredictions


@dataclass(frozen=True, eq=False)
class PredictedOutcome(Outcome):
    """The outcome of an estimator; its notes are about failures and warnings of fits."""

    held_out: tuple[PredictedSide, ...]
    notes: tuple[Note, ...] = ()
