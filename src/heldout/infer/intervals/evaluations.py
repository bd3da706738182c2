"""Intervals of an evaluation of predictions: of every system in every measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from heldout.infer.intervals.predictions import prediction_interval
from heldout.measure.base import Undefined
from heldout.measure.prediction.evaluate import evaluate_predictions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number
    from heldout.measure.prediction.evaluate import PredictionEvaluation

__all__ = ["ScoreRow", "ScoreTable", "score_predictions", "score_table"]


class ScoreRow(NamedTuple):
    """One system or baseline.

    Parameters
    ----------
    name
        The name; those of baselines are in parentheses.
    values
        One per measure.
    intervals
        One per measure; None where there is none.
    units
        The number of units.
    baseline
        Whether it is a baseline.
    """

    name: str
    values: tuple[Number, ...]
    intervals: tuple[Interval | None, ...]
    units: int
    baseline: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """An evaluation of predictions with intervals.

    Parameters
    ----------
    evaluation
        The values.
    rows
        The systems, then the baselines, which have no intervals.
    level
        Of the intervals.
    """

    evaluation: PredictionEvaluation
    rows: tuple[ScoreRow, ...]
    level: float


def score_table(
    evaluation: PredictionEvaluation,
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
    for at, row in enumerate(evaluation.rows):
        intervals: list[Interval | None] = [None] * len(row.values)
        given = evaluation.predictions[at : at + 1]  # baselines have no predictions
        for number, (measure, value) in enumerate(
            zip(evaluation.measures, row.values, strict=True)
        ):
            if given and not isinstance(value, Undefined):
                intervals[number] = prediction_interval(given[0], measure, level=level, seed=seed)
            done += bool(given)
            if progress and given:
                progress(done, len(evaluation.predictions) * len(evaluation.measures))
        rows.append(ScoreRow(row.name, row.values, tuple(intervals), row.units, row.baseline))
    return ScoreTable(evaluation, tuple(rows), level)


def score_predictions(
    predictions: Sequence[ClassPredictions] | Sequence[NumberPredictions],
    measures: Sequence[str | Measure] = (),
    *,
    positive: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    undefined: float | None = None,
) -> ScoreTable:
    """Evaluate predictions and return the values with intervals.

    Parameters
    ----------
    predictions, measures, positive, undefined
        As for `heldout.evaluate`.
    level, seed
        As for `score_table`.

    Examples
    --------
    >>> import numpy as np
    >>> from heldout import NumberPredictions
    >>> truth = np.array([1.0, 3.0, 2.0])
    >>> one = NumberPredictions("A", ("a", "b", "c"), truth, truth + [0.5, 1.0, 1.5])
    >>> score_predictions([one], ["MAE"]).rows[0].intervals[0].method
    't, bounded'
    """
    evaluation = evaluate_predictions(predictions, measures, positive=positive, undefined=undefined)
    return score_table(evaluation, level=level, seed=seed)
