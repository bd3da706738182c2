"""Outcomes: the results of each system, combined from the records of its tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.experiment.documents.estimate import Estimate
    from heldout.experiment.documents.ranked_lists import Lists
    from heldout.experiment.settings import RankingSettings
    from heldout.notes import Note
    from heldout.resample.split import SplitKey
    from heldout.tune.choice import Choice

    Floats = NDArray[np.float64]

__all__ = [
    "Chosen",
    "FoldRow",
    "HeldOut",
    "Outcome",
    "Place",
    "PredictedOutcome",
    "PredictedSide",
    "RankedOutcome",
    "listed_splits",
]

LISTED: Final = 20
"""Number of splits of the documents whose ranked lists are kept, if they are not folds."""


def listed_splits(settings: RankingSettings) -> int:
    """Return the number of splits whose ranked lists are kept, from the first on.

    All folds are kept: together they hold out every document once. For a bootstrap or repeated
    hold-outs of documents, a few splits show what was ranked; the lists of a thousand would be
    tens of millions of rows, and no estimate needs them.
    """
    splits = settings.splits
    if settings.by != "document" or splits.partitions:
        return len(splits)
    return min(LISTED, len(splits))


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The choice for one split.

    Parameters
    ----------
    number
        The point.
    train
        Its mean on the training side by the tuning measure; NaN: there was no choice.
    surface
        The mean of every point on the training side.
    held_out
        The mean of every point on the held-out side, to show it; None: unknown.
    """

    number: int
    train: float
    surface: Floats
    held_out: Floats | None = None

    @classmethod
    def of(cls, choice: Choice) -> Chosen:
        """Return the outcome of a choice."""
        return cls(choice.number, choice.mean, choice.means)

    @classmethod
    def none(cls) -> Chosen:
        """Return the only point of a system that is not tuned."""
        return cls(0, float("nan"), np.full(1, np.nan))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value comes from; fold is None if it comes from all folds together."""

    repeat: int
    fold: int | None = None
    other: int | None = None
    run: int | None = None

    @classmethod
    def of(cls, key: SplitKey) -> Place:
        """Return the place of a split."""
        return cls(key.repeat, key.fold, key.other, key.run)


@dataclass(frozen=True, slots=True, eq=False)
class FoldRow:
    """The choice for one split, and its held-out score by the tuning measure."""

    place: Place
    chosen: Chosen
    held_out: float


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The outcome of one system.

    Parameters
    ----------
    folds
        One per split.
    final
        The choice on all data.
    """

    folds: tuple[FoldRow, ...]
    final: Chosen


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The values of some queries where they, or the documents, were held out.

    Parameters
    ----------
    place
        Where they were held out.
    number
        The point; −1: several, one per fold.
    values
        Measures × queries; NaN: not held out here, or undefined.
    lists
        The top of their ranked lists.
    """

    place: Place
    number: int
    values: Floats
    lists: Lists


@dataclass(frozen=True, slots=True, eq=False)
class RankedOutcome(Outcome):
    """The outcome of a system that ranks.

    Parameters
    ----------
    held_out
        One per split, or one per repeat whose folds were merged.
    training
        Measures × queries on the data that the final point was chosen on; NaN: unknown.
    estimates
        If documents were held out: the estimates of each measure, for each repeat.
    points
        If queries were held out and their values depend on the point alone: measures × points ×
        queries, the tuning measure last; otherwise None.
    """

    held_out: tuple[HeldOut, ...]
    training: Floats
    estimates: tuple[tuple[Estimate, ...], ...] = ()
    points: Floats | None = None

    def per_query(self) -> Floats:
        """Return measures × queries: the mean value of each query where it was held out."""
        total = np.zeros_like(self.held_out[0].values)
        times = np.zeros(total.shape, np.int64)
        for one in self.held_out:
            there = np.isfinite(one.values)
            total += np.where(there, one.values, 0.0)
            times += there
        return np.where(times > 0, total / np.maximum(times, 1), np.nan)


class PredictedSide(NamedTuple):
    """The predictions for one held-out side.

    Parameters
    ----------
    place
        Which side.
    number
        The point.
    predictions
        The predictions with the true values.
    """

    place: Place
    number: int
    predictions: ClassPredictions | NumberPredictions


@dataclass(frozen=True, slots=True, eq=False)
class PredictedOutcome(Outcome):
    """The outcome of an estimator.

    Parameters
    ----------
    held_out
        One per split.
    notes
        Failures and warnings of fits.
    """

    held_out: tuple[PredictedSide, ...]
    notes: tuple[Note, ...] = ()
