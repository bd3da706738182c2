"""The interval of a measure of predictions: the one that fits the measure and the units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.predictions import ClassPredictions, positive_number, unit_count
from heldout.errors import InputError
from heldout.infer.intervals.bounded import inside
from heldout.infer.intervals.folds import corrected_t
from heldout.infer.intervals.units import t_interval, wilson
from heldout.infer.scoring.many_units import scoring_of_many
from heldout.infer.scoring.predictions import group_numbers
from heldout.infer.scoring.resample_sums import (
    MANY_UNITS,
    affordable,
    bootstrap_sums,
    bootstrap_weights,
    sums_by_number,
)
from heldout.infer.scoring.resampled import SumScoring
from heldout.infer.tests.auc import delong_interval
from heldout.measure.prediction.paired import fold_scores, has_splits, same_sides
from heldout.measure.prediction.sums import unit_sums
from heldout.measure.prediction.weights import weighing
from heldout.measure.undefined import Undefined

if TYPE_CHECKING:
    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Ints
    from heldout.infer.results import Interval
    from heldout.infer.tests.corpus_level import Replicates
    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["prediction_interval"]

LOST: Final = 0.05
"""The share of undefined replicates above which there is no interval."""


def prediction_interval(
    one: Predictions,
    measure: Measure,
    positive: str | None = None,
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
    `heldout.infer.intervals.bounded`.

    Parameters
    ----------
    one
        The predictions of a system.
    measure
        Any measure; ECE has no interval, because resampling alone increases it.
    positive
        The positive class of two.
    level, seed
        Of the interval, and of the bootstrap.
    """
    if unit_count(one) < 2 or measure.family == "ECE":
        return None
    found = _plain_interval(one, measure, positive, level, seed)
    return None if found is None else inside(found, measure.range)


def _plain_interval(
    one: Predictions, measure: Measure, positive: str | None, level: float, seed: int
) -> Interval | None:
    if has_splits([one]):
        return _over_folds(one, measure, positive, level)
    plain = one.weights is None and not one.groups and not one.repeats
    if plain and measure.family in {"accuracy", "error"}:
        return wilson(int(measure.unit_values(one).sum()), len(one.units), level)
    if plain and measure.family == "AUC" and _two_classes(one):
        return _auc_interval(one, positive, level)
    if plain and measure.aggregate == "mean":
        return t_interval(measure.unit_values(one), level)
    return _bootstrap(one, measure, positive, level, seed)


def _two_classes(one: Predictions) -> bool:
    return isinstance(one, ClassPredictions) and len(one.classes) == 2


def _over_folds(
    one: Predictions, measure: Measure, positive: str | None, level: float
) -> Interval | None:
    try:
        found = fold_scores([one], measure, positive)
    except InputError:  # undefined in every fold, or a repeat without a training side
        return None
    if found.scores.dropped or len(found.scores.units) < len(set(same_sides(one).values())):
        return None
    interval = corrected_t(found.scores.values[:, 0], found.test_share, level)
    if interval.low == interval.high and measure.family in {"accuracy", "error"}:
        right = measure.unit_values(one)  # all folds are perfect: use the number of units
        if one.weights is None and len(set(right.tolist())) == 1:
            return wilson(int(right[0]) * unit_count(one), unit_count(one), level)
    return interval


def _auc_interval(one: Predictions, positive: str | None, level: float) -> Interval | None:
    if not isinstance(one, ClassPredictions) or one.scores is None:
        return None
    at = positive_number(one.classes, positive)
    flags = one.truth == at
    if min(int(flags.sum()), int((~flags).sum())) < 2:
        return None
    found = delong_interval(flags, one.scores[:, at], level)
    return None if isinstance(found, Undefined) else found


def _bootstrap(
    one: Predictions, measure: Measure, positive: str | None, level: float, seed: int
) -> Interval | None:
    numbers, names = group_numbers([one])
    if len(names) < 2:
        return None
    if len(one.units) > MANY_UNITS:
        found = _of_many(one, measure, positive, numbers, level, seed)
    else:
        found = _drawn(_replicates(one, measure, positive, numbers, seed), level)
    if found is None or found.low == found.high:
        return None  # all replicates are equal: an interval of no width would be misleading
    if not one.groups:
        return found
    return found._replace(method=f"{found.method} over {len(names):,} groups")


def _drawn(drawn: Replicates | None, level: float) -> Interval | None:
    if drawn is None or float(np.mean(~np.isfinite(drawn.scores))) > LOST:
        return None
    return drawn.interval(0, level)


def _of_many(
    one: Predictions,
    measure: Measure,
    positive: str | None,
    numbers: Ints,
    level: float,
    seed: int,
) -> Interval | None:
    """Return the interval for very many units: by kinds of units, or linearised."""
    scoring = scoring_of_many([one], measure, positive, numbers, seed=seed)
    if isinstance(scoring, SumScoring):
        return _drawn(scoring.drawn, level)
    return None if scoring is None else scoring.system(0, level)


def _replicates(
    one: Predictions,
    measure: Measure,
    positive: str | None,
    numbers: Ints,
    seed: int,
) -> Replicates | None:
    replicates = affordable(len(one.units))
    sums = unit_sums(one, measure, positive)
    if sums is not None:
        table = sums_by_number(sums.table, numbers)
        if not np.isfinite(table).all():
            return None
        return bootstrap_sums([table], sums.score, replicates=replicates, seed=seed)
    function = weighing(one, measure, positive)
    if function is None:
        return None
    return bootstrap_weights([function], numbers, replicates=replicates, seed=seed)
