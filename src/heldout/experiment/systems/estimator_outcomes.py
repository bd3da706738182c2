"""From the fits of an estimator to its outcome."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.experiment.execution.tasks import EVERYTHING
from heldout.experiment.instances import Predicted, defined_value
from heldout.experiment.systems.nested import TUNE
from heldout.experiment.systems.outcomes import FoldRow, Outcome, Place
from heldout.measure.undefined import Undefined
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.experiment.settings import PredictionSettings
    from heldout.experiment.systems.estimators import EstimatorSystem
    from heldout.experiment.systems.records import Record

__all__ = ["PredictedOutcome", "PredictedSide", "collect_fits"]


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


def collect_fits(
    system: EstimatorSystem, settings: PredictionSettings, records: Mapping[str, Record]
) -> PredictedOutcome:
    """Put together what the fits of an estimator have found."""
    chosen = system.choices(settings, records)
    folds, held_out = [], []
    for task in system.tasks(settings):
        if task.kind == TUNE or task.split == EVERYTHING:
            continue
        record: Any = records[task.key]
        split = settings.splits[task.split]
        found = Predicted(record.predicted, record.scores, record.probabilities)
        rows = np.flatnonzero(split.test)
        predictions = settings.data.predictions(system.name, rows, found)
        value = defined_value(settings.tune_for, predictions)
        worth = np.nan if isinstance(value, Undefined) else value
        place = Place.of(split.key)
        folds.append(FoldRow(place, chosen[task.split], worth))
        held_out.append(PredictedSide(place, chosen[task.split].number, predictions))
    notes = _notes(system, settings, records)
    return PredictedOutcome(tuple(folds), chosen[EVERYTHING], tuple(held_out), notes)


def _notes(
    system: EstimatorSystem, settings: PredictionSettings, records: Mapping[str, Record]
) -> tuple[Note, ...]:
    """What failed, and what was warned of, each with how often."""
    failed: dict[int, list[str]] = {}
    warned: Counter[str] = Counter()
    for point, reason in system.failures(settings, records):
        failed.setdefault(point, []).append(reason)
    for task in system.tasks(settings):
        record: Any = records[task.key]
        warned.update(record.warned)
    notes = []
    for point, reasons in sorted(failed.items()):
        tried = ", ".join(f"{key}={value}" for key, value in system.points()[point].items())
        times = _times(len(reasons))
        text = f"{tried} failed on {times} and was not chosen there (first {reasons[0]})"
        notes.append(Note("failed-fits", text))
    notes += [
        Note("fit-warning", f"{text} (on {_times(count)})")
        for text, count in sorted(warned.items())
    ]
    return tuple(notes)


def _times(count: int) -> str:
    return "1 fit" if count == 1 else f"{count:,} fits"
