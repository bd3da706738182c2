"""Intervals of an evaluation of predictions: of every system in every measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from heldout.data.predictions import BASELINES, unit_count
from heldout.infer.prediction_intervals import prediction_interval
from heldout.measure.base import Undefined
from heldout.measure.prediction.evaluate import evaluate_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number
    from heldout.measure.evaluation import Evaluation

__all__ = ["ScoreRow", "ScoreTable", "score_predictions", "score_table"]


class ScoreRow(NamedTuple):
    """One system or baseline: its values and intervals, one per measure."""

    name: str
    values: tuple[Number, ...]
    intervals: tuple[Interval | None, ...]  # None where there is none
    units: int
    baseline: bool = False


class ScoreTable(NamedTuple):
    """An evaluation of predictions with intervals: systems, then baselines, which have none."""

    evaluation: Evaluation
    rows: tuple[ScoreRow, ...]
    level: float


def score_table(
    evaluation: Evaluation,
    *,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ScoreTable:
    """Return an evaluation of predictions with intervals.

    Wilson's interval for accuracy and error, DeLong's for the AUC of two classes, t for other means
    over units, the bootstrap for other measures and for weighted or grouped units (groups are
    resampled as a whole); over folds the corrected t.

    Parameters
    ----------
    evaluation
        The result of `heldout.evaluate` for predictions.
    level
        Of the intervals.
    seed
        Of the bootstrap.
    progress
        Called with the number of intervals computed so far and the number of all intervals.
    """
    rows, done = list[ScoreRow](), 0
    first = evaluation.data[evaluation.names[0]]
    for name, given in evaluation.data.items():
        values = tuple(evaluation.value(name, measure) for measure in evaluation.measures)
        if name in evaluation.baselines:
            none = (None,) * len(values)
            rows.append(ScoreRow(name, values, none, unit_count(first), baseline=True))
            continue
        intervals: list[Interval | None] = []
        for measure, value in zip(evaluation.measures, values, strict=True):
            is_undefined = isinstance(value, Undefined)
            intervals.append(
                None
                if is_undefined
                else prediction_interval(given, measure, level=level, seed=seed)
            )
            done += 1
            if progress:
                progress(done, len(evaluation.names) * len(evaluation.measures))
        row = ScoreRow(name, values, tuple(intervals), unit_count(given), name in BASELINES)
        rows.append(row)
    return ScoreTable(evaluation, tuple(rows), level)


def score_predictions(
    predictions: Sequence[ClassPredictions] | Sequence[NumberPredictions],
    measures: Sequence[str | Measure] = (),
    *,
    positive: str | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> ScoreTable:
    """Evaluate predictions and return the values with intervals."""
    evaluation = evaluate_predictions(predictions, measures, positive)
    return score_table(evaluation, level=level, seed=seed)
