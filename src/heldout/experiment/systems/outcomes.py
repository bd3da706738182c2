"""Outcomes: what is known of each system when all its tasks are done."""

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
"""Splits of the documents whose ranked lists are kept, where the splits are not folds."""


def listed_splits(settings: RankingSettings) -> int:
    """How many splits have their ranked lists kept, from the first on.

    Folds are kept all: together they hold out everything once. Of a bootstrap or of repeated
    hold-outs of the documents the lists of a few splits show what was ranked; those of a thousand
    would be tens of millions of rows, and no estimate needs them.
    """
    splits = settings.splits
    if settings.by != "document" or splits.partitions:
        return len(splits)
    return min(LISTED, len(splits))


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What was chosen for one split.

    Parameters
    ----------
    number
        The point.
    train
        Its mean on the train side, by the measure it was chosen by; NaN: there was no choice.
    surface
        The mean of every point there.
    """

    number: int
    train: float
    surface: Floats

    @classmethod
    def of(cls, choice: Choice) -> Chosen:
        """What a choice says."""
        return cls(choice.number, choice.mean, choice.means)

    @classmethod
    def none(cls) -> Chosen:
        """The only point: there was no choice."""
        return cls(0, float("nan"), np.full(1, np.nan))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value comes from; None where it comes from all folds together."""

    repeat: int
    fold: int | None = None
    other: int | None = None
    run: int | None = None

    @classmethod
    def of(cls, key: SplitKey) -> Place:
        """The place of a split."""
        return cls(key.repeat, key.fold, key.other, key.run)


@dataclass(frozen=True, slots=True, eq=False)
class FoldRow:
    """What was chosen for one split, and what it was worth, by the measure it was chosen by."""

    place: Place
    chosen: Chosen
    held_out: float


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """All that is known of one system.

    Parameters
    ----------
    folds
        One a split.
    final
        The choice on everything.
    """

    folds: tuple[FoldRow, ...]
    final: Chosen


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What some queries got where they, or the documents, were held out.

    Parameters
    ----------
    place
        Where.
    number
        The point; −1: several, one a fold.
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
    """All that is known of a system that ranks.

    Parameters
    ----------
    held_out
        One a split, or a repeat whose folds were merged.
    training
        Measures × queries on the data that the final value was chosen on; NaN: not known.
    estimates
        Where documents were held out: estimates of each measure, for each repeat.
    points
        Where queries were held out: measures × points × queries, the tuning measure last, if the
        values of a query depend on nothing but the point; None else.
    """

    held_out: tuple[HeldOut, ...]
    training: Floats
    estimates: tuple[tuple[Estimate, ...], ...] = ()
    points: Floats | None = None

    def per_query(self) -> Floats:
        """Measures × queries: the mean of what each query got where it was held out."""
        total = np.zeros_like(self.held_out[0].values)
        times = np.zeros(total.shape, np.int64)
        for one in self.held_out:
            there = np.isfinite(one.values)
            total += np.where(there, one.values, 0.0)
            times += there
        return np.where(times > 0, total / np.maximum(times, 1), np.nan)


class PredictedSide(NamedTuple):
    """What was predicted for one held-out side.

    Parameters
    ----------
    place
        Which.
    number
        The point.
    predictions
        Beside the truth.
    """

    place: Place
    number: int
    predictions: ClassPredictions | NumberPredictions


@dataclass(frozen=True, slots=True, eq=False)
class PredictedOutcome(Outcome):
    """All that is known of an estimator.

    Parameters
    ----------
    held_out
        One a split.
    notes
        What failed, and what was warned of.
    """

    held_out: tuple[PredictedSide, ...]
    notes: tuple[Note, ...] = ()
