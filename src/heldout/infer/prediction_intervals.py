"""The interval of a measure of predictions: the one that fits the measure and the units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.predictions import ClassPredictions, unit_count
from heldout.errors import InputError, MeasureError
from heldout.infer.auc import area_interval, delong
from heldout.infer.bounded import inside
from heldout.infer.fold_intervals import corrected_t
from heldout.infer.intervals import t_interval, wilson
from heldout.infer.many_units import scoring_of_many
from heldout.infer.resample_sums import (
    MANY_UNITS,
    affordable,
    bootstrap_sums,
    bootstrap_weights,
    sums_by_number,
)
from heldout.infer.resampled import SumScoring
from heldout.infer.scored_predictions import group_numbers
from heldout.measure.base import Order, as_sums
from heldout.measure.prediction.folds import fold_scores, has_splits, same_sides

if TYPE_CHECKING:
    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Ints
    from heldout.infer.corpus_level import Replicates
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["prediction_interval"]

LOST: Final = 0.05
"""The share of undefined replicates above which there is no interval."""


def prediction_interval(
    predictions: Predictions,
    measure: Measure,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """Return the interval of a measure; None where there is no valid one.

    Over folds it is the corrected t interval (Wilson's over units for accuracy if all folds are
    perfect). On a hold-out set it is Wilson's for accuracy and error, DeLong's for the AUC of two
    classes, t for other means, else the percentile bootstrap of sums (of units for measures of
    order, of whole groups for grouped units). More than 100,000 units are not resampled one by one:
    if there are few kinds of units, the numbers per kind are; else the interval is t of the
    linearised score. Intervals are inside the range of the measure, see
    `heldout.infer.bounded`.

    Parameters
    ----------
    predictions
        The predictions of a system.
    measure
        Any measure; ECE has no interval, because resampling alone increases it.
    level, seed
        Of the interval, and of the bootstrap.
    """
    if unit_count(predictions) < 2 or measure.family == "ECE":
        return None
    interval = _plain_interval(predictions, measure, level, seed)
    return None if interval is None else inside(interval, measure.range)


def _plain_interval(
    predictions: Predictions, measure: Measure, level: float, seed: int
) -> Interval | None:
    if has_splits(predictions):
        return _over_folds(predictions, measure, level)
    plain = predictions.weights is None and not predictions.groups and not predictions.repeats
    if plain and measure.family in {"accuracy", "error"}:
        return wilson(
            int(measure.units(predictions).per_unit().sum()), len(predictions.units), level
        )
    if plain and measure.family == "AUC" and _two_classes(predictions):
        return _auc_interval(predictions, level)
    if plain and measure.aggregate == "mean":
        return t_interval(measure.units(predictions).per_unit(), level)
    return _bootstrap(predictions, measure, level, seed)


def _two_classes(predictions: Predictions) -> bool:
    return isinstance(predictions, ClassPredictions) and len(predictions.classes) == 2


def _over_folds(predictions: Predictions, measure: Measure, level: float) -> Interval | None:
    try:
        scores, share = fold_scores([predictions], measure)
    except InputError:  # undefined in every fold, or a repeat without a training side
        return None
    if scores.dropped or len(scores.units) < len(set(same_sides(predictions).values())):
        return None
    interval = corrected_t(scores.values[:, 0], share, level)
    if interval.low == interval.high and measure.family in {"accuracy", "error"}:
        right = measure.units(
            predictions
        ).per_unit()  # all folds are perfect: use the number of units
        if predictions.weights is None and len(set(right.tolist())) == 1:
            return wilson(int(right[0]) * unit_count(predictions), unit_count(predictions), level)
    return interval


def _auc_interval(predictions: Predictions, level: float) -> Interval | None:
    if not isinstance(predictions, ClassPredictions) or predictions.scores is None:
        return None
    column = predictions.class_number()
    flags = predictions.truth == column
    if min(int(flags.sum()), int((~flags).sum())) < 2:
        return None
    areas = delong(flags, predictions.scores[:, column])
    area, error = float(areas.value[0]), float(areas.error[0])
    # Where the scores separate the classes, the variance is unknown, not 0.
    return None if area in {0.0, 1.0} else area_interval(area, error, level)


def _bootstrap(
    predictions: Predictions, measure: Measure, level: float, seed: int
) -> Interval | None:
    numbers, names = group_numbers([predictions])
    if len(names) < 2:
        return None
    if len(predictions.units) > MANY_UNITS:
        interval = _of_many(predictions, measure, numbers, level, seed)
    else:
        interval = _drawn(_replicates(predictions, measure, numbers, seed), level)
    if interval is None or interval.low == interval.high:
        return None  # all replicates are equal: an interval of no width would be misleading
    if not predictions.groups:
        return interval
    return interval._replace(method=f"{interval.method} over {len(names):,} groups")


def _drawn(drawn: Replicates | None, level: float) -> Interval | None:
    if drawn is None or float(np.mean(~np.isfinite(drawn.scores))) > LOST:
        return None
    return drawn.interval(0, level)


def _of_many(
    predictions: Predictions,
    measure: Measure,
    numbers: Ints,
    level: float,
    seed: int,
) -> Interval | None:
    """Return the interval for very many units: by kinds of units, or linearised."""
    scoring = scoring_of_many([predictions], measure, numbers, seed=seed)
    if isinstance(scoring, SumScoring):
        return _drawn(scoring.drawn, level)
    return None if scoring is None else scoring.system(0, level)


def _replicates(
    predictions: Predictions,
    measure: Measure,
    numbers: Ints,
    seed: int,
) -> Replicates | None:
    replicates = affordable(len(predictions.units))
    try:
        units = measure.units(predictions)
    except MeasureError:
        return None
    if isinstance(units, Order):
        return bootstrap_weights([units.weighted], numbers, replicates=replicates, seed=seed)
    sums = as_sums(units)
    table = sums_by_number(sums.rows(), numbers)
    if not np.isfinite(table).all():
        return None
    return bootstrap_sums([table], sums.score, replicates=replicates, seed=seed)
