"""What is compared, as a scoring that fits the measure and the data; intervals of one system."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from heldout.data.ids import respell
from heldout.data.predictions import (
    BASELINES,
    ClassPredictions,
    NumberPredictions,
    one_set_of_classes,
    unit_count,
)
from heldout.data.scores import Scores
from heldout.errors import Argument, InputError, MeasureError
from heldout.infer.analysis import REPLICATES, Analysis
from heldout.infer.draws import check_draws
from heldout.infer.intervals import inside
from heldout.infer.prediction_powered import TEST
from heldout.infer.resampling import MANY_UNITS, affordable, whole_units
from heldout.infer.scoring import BY_SWAPS, Area, Means, Order, Sums
from heldout.measure import base
from heldout.measure.evaluation import Evaluation
from heldout.measure.names import parse_measures
from heldout.measure.prediction.classes import undefined_hint
from heldout.measure.prediction.folds import (
    check_same_truth,
    check_same_weights,
    data_fingerprint,
    fold_scores,
    has_splits,
    same_units,
    unit_scores,
)
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Interval
    from heldout.infer.scoring import Scoring
    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

PREDICTIONS: Final = (ClassPredictions, NumberPredictions)
By = Literal["auto", "unit", "fold"]  # the unit of a test; auto is the fold if there are folds
GROUPS: Final = 1000  # parts of very many units that are drawn where a score is not smooth: medians
WEIGHED: Final = (
    "is a mean over weighted or grouped units: sums over them are resampled by swapping outputs "
    "between the systems"
)
OF_TEXTS: Final = (
    "is a function of sums over segments, which are resampled by swapping outputs between the "
    "systems, segment by segment"
)


def scored(
    given: Any,
    measure: Any,
    settings: Analysis,
    *,
    positive: str | None = None,
    by: By = "auto",
    undefined: float | None = None,
) -> Scoring:
    """Return systems ready to compare: scores or a table of them, an evaluation, predictions."""
    if isinstance(given, Evaluation):
        measure = _only_measure(given) if measure is None else given.measure(measure)
        if given.task == "text":
            return _of_texts(given, given.names, measure, settings.replicates, settings.seed)
        if given.task == "ranking":
            given, measure = given.scores(measure), None
        else:  # the predictions know their positive class, and the measure what it counts as 0
            given, positive, undefined = [given.data[name] for name in given.names], None, None
    if isinstance(given, list | tuple) and isinstance(next(iter(given), None), PREDICTIONS):
        given = PredictionSystems.of(given, settings.baseline)
    if isinstance(given, PredictionSystems):
        if settings.test_share is not None:
            raise InputError("test_share: predictions with folds have their own; leave it out")
        (measure,) = given.measures([] if measure is None else [measure], undefined)[:1]
        if positive is not None:
            systems = [replace(system, positive=positive) for system in given.systems]
            given = replace(given, systems=systems)
        return _of_predictions(given, measure, by, settings)
    _refuse_others(by, positive=positive, undefined=undefined)
    scores = as_scores(given, measure)
    _check_machine(scores, settings)
    return _means(scores, settings.test_share, settings)


def _refuse_others(by: str, **of_predictions: Any) -> None:
    """Refuse settings that say something about predictions alone."""
    if by not in get_args(By):
        raise InputError(f"expected one of {', '.join(get_args(By))}", argument="by", value=by)
    for name, value in of_predictions.items():
        if value is not None:
            raise InputError("is for predictions: leave it out", argument=name, value=value)


def as_scores(given: Any, measure: Any) -> Scores:
    """Return scores, or those of a table; refuse scores in another measure than the one named."""
    if not isinstance(given, Scores):
        return Scores.of(given, measure)
    if measure is not None and str(measure) != given.measure:
        raise InputError(f"these are scores in {given.measure}, not in {measure}")
    return given


def _only_measure(given: Evaluation) -> Measure:
    several = [measure for measure in given.measures if str(measure) != "Judged@10"]
    if len(several) != 1:
        listed = ", ".join(map(str, several))
        raise InputError(
            f"there are {len(several)} measures ({listed}): name one, such as "
            f"compare(evaluation, {str(several[0])!r})"
        )
    return several[0]


def _means(scores: Scores, share: float | None, settings: Analysis, **more: Any) -> Means:
    draws = settings.interval, settings.replicates, settings.seed
    return Means(scores, share, *draws, **more)


def system_interval(
    evaluation: Evaluation, system: str, measure: Measure, *, level: float = 0.95, seed: int = 0
) -> Interval | None:
    """Return the interval of a system's score, as in any comparison; None where none is valid."""
    check_draws(REPLICATES, seed)
    if isinstance(evaluation.value(system, measure), base.Undefined):
        return None
    try:
        if evaluation.task == "ranking":
            scores = evaluation.scores(measure)
            values = scores.values[:, [scores.index(system)]]
            scoring: Scoring = Means(replace(scores, systems=(system,), values=values))
        elif evaluation.task == "text":
            scoring = _of_texts(evaluation, (system,), measure, REPLICATES, seed)
        else:
            alone = PredictionSystems([evaluation.data[system]], "one system")
            scoring = _of_predictions(alone, measure, "auto", Analysis(seed=seed))
        interval = inside(scoring.system(0, level), measure.range)
    except (InputError, MeasureError):  # one unit, one unit of a class, infinite values
        return None
    folds = scoring.scores.notes if scoring.test_share is not None else ()
    if math.isnan(interval.low) or "undefined-fold" in {note.code for note in folds}:
        return None
    groups = getattr(evaluation.data[system], "groups", ()) if scoring.linearised else ()
    over = f" over {len(set(groups)):,} groups" if groups else ""
    return interval._replace(method=f"{interval.method}{over}")


def _check_machine(scores: Scores, settings: Analysis) -> None:
    """Refuse settings that are for human judgements alone."""
    if scores.machine is None:
        return
    other = [test for test in settings.tests if test != TEST]
    if other:
        raise InputError(
            f"{other[0]} uses human judgements alone: leave tests out, or leave machine out"
        )
    if settings.correction == "tukey":
        raise InputError(
            Argument("correction", "'tukey'"),
            " uses human judgements alone: use romano-wolf, holm, bonferroni or bh",
        )
    for name in ("interval", "test_share"):
        if value := getattr(settings, name):
            why = "does not go with machine judgements: leave it out"
            raise InputError(why, argument=name, value=value)
    if scores.choices and settings.correction == "romano-wolf":
        raise InputError(
            "romano-wolf does not include the selection of parameters in folds: leave correction "
            "out, or use holm"
        )


# Texts


def _of_texts(
    evaluation: Evaluation, names: Sequence[str], measure: Measure, replicates: int, seed: int
) -> Scoring:
    from heldout.measure.text.evaluate import segment_scores, segment_sums  # of one task

    for name in names:
        if isinstance(evaluation.value(name, measure), base.Undefined):
            raise InputError(f"{measure} of {name} is undefined and cannot be compared")
    every = dict(zip(evaluation.names, segment_sums(evaluation, measure), strict=True))
    numbers = np.arange(len(evaluation.units()))
    if len(numbers) < 2:
        raise InputError(f"expected at least 2 segments, found {len(numbers)}")
    systems = [whole_units(every[name], numbers) for name in names]
    return Sums(
        [system for system in systems if isinstance(system, base.Sums)],
        lambda values: segment_scores(evaluation, measure, values),
        affordable(len(numbers), replicates),
        replicates,
        seed,
        OF_TEXTS,
    )


# Predictions


@dataclass(frozen=True)
class PredictionSystems:
    """Predictions of two or more systems, with what all measures share computed once."""

    systems: list[Any]  # one object per system, all with the same classes
    data: str  # the fingerprint of the data

    @classmethod
    def of(cls, predictions: Sequence[Any], baseline: str | None = None) -> PredictionSystems:
        """Return the systems to compare, without the baselines of an experiment if possible."""
        own = [system for system in predictions if system.name not in BASELINES]
        if len(own) > 1 and (baseline is None or baseline in {system.name for system in own}):
            predictions = own
        if len({type(system) for system in predictions}) > 1:
            raise InputError("classes and numbers are predicted: compare them separately")
        if len(predictions) < 2:
            raise InputError("one system cannot be compared: give at least two")
        spelled = predictions[0].units
        several = [
            replace(system, units=tuple(respell(system.units, spelled))) for system in predictions
        ]
        if isinstance(several[0], ClassPredictions):
            several = list(one_set_of_classes(several))
        check_same_truth(several)
        return cls(several, data_fingerprint(several))

    def measures(self, names: Sequence[Any] = (), undefined: float | None = None) -> list[Measure]:
        """Return measures by their names; by default accuracy or RMSE."""
        task, usual = "regression", "RMSE"
        if isinstance(self.systems[0], ClassPredictions):
            task, usual = "classification", "accuracy"
        return parse_measures(list(names) or [usual], task, undefined=undefined)

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """A digest of the predictions of each system, equal for equal predictions."""
        digests = []
        for system in self.systems:
            arrays = system.predicted, getattr(system, "scores", None)
            parts = [None if array is None else np.asarray(array).tobytes() for array in arrays]
            digests.append(hash((system.units, system.repeats, system.folds, *parts)))
        return tuple(digests)

    @cached_property
    def paired(self) -> tuple[list[Any], tuple[str, ...]]:
        """The systems on their common units, in the same order, and the units that are lost."""
        if same_units(self.systems):
            return self.systems, ()
        keys = [
            list(zip(system.units, system.repeats or system.units, strict=True))
            for system in self.systems
        ]
        common = set.intersection(*map(set, keys))
        order = [key for key in keys[0] if key in common]
        if not order:
            raise InputError(
                "the systems have no unit in common: check that their ids are the same"
            )
        places = [{key: row for row, key in enumerate(known)} for known in keys]
        paired = [
            system.select([place[key] for key in order])
            for system, place in zip(self.systems, places, strict=True)
        ]
        kept = {unit for unit, _ in order}
        lost = (unit for known in keys for unit, _ in known if unit not in kept)
        return paired, tuple(dict.fromkeys(lost))


def _of_predictions(
    given: PredictionSystems, measure: Measure, by: By, settings: Analysis
) -> Scoring:
    """Return the analysis that fits: over folds, or over units that are resampled or not."""
    systems = given.systems
    _refuse_others(by)
    having = [has_splits(system) for system in systems]
    if by == "auto" and any(having) and not all(having):
        with_folds, without = systems[having.index(True)], systems[having.index(False)]
        raise InputError(
            f"{with_folds.name} has folds, {without.name} has none: give folds for all systems, or "
            "compare over units with ",
            Argument("by", "'unit'"),
        )
    if by == "fold" or (by == "auto" and all(having)):
        scores, share = fold_scores(systems, measure)
        is_share = measure.family in {"accuracy", "error"} and systems[0].weights is None
        rows = unit_count(systems[0]) if is_share else 0
        scores = replace(scores, outputs=given.outputs)
        return _means(scores, share, settings, rows=rows, biased=measure.family == "ECE")
    notes: tuple[Note, ...] = ()
    if any(having):
        text = "the folds share training data, which a test over units ignores; a test over folds "
        notes = (Note("shared-training", f"{text}does not"),)
    plain = all(system.weights is None and not system.groups for system in systems)
    if plain and measure.aggregate == "mean":
        scores = unit_scores(systems, measure, given.data)
        scores = replace(scores, notes=(*scores.notes, *notes), outputs=given.outputs)
        return _means(scores, None, settings)
    return _resampled(given, measure, notes, settings)


def _resampled(
    given: PredictionSystems,
    measure: Measure,
    notes: tuple[Note, ...],
    settings: Analysis,
) -> Scoring:
    """Return the analysis of scores that are not plain means over units."""
    systems, dropped = given.paired
    check_same_weights(systems)
    for system in systems:
        value = measure.compute(system)
        if isinstance(value, base.Undefined):
            raise MeasureError(
                f"{measure} of {system.name} is undefined ({value.reason}) and cannot be compared"
                f"{undefined_hint(measure, value.reason)}"
            )
    numbers, names = _group_numbers(systems)
    if grouped := len(names) < len(numbers):
        kind = "groups" if systems[0].groups else "units"
        text = f"the {len(numbers):,} rows are in {len(names):,} {kind}, which are resampled as a "
        notes = (*notes, Note("grouped", f"{text}whole", "info"))

    def describe(values: Floats) -> Scores:
        return Scores(
            str(measure),
            tuple(system.name for system in systems),
            names,
            values,
            higher_is_better=measure.higher_is_better is not False,
            dropped=dropped,
            data=given.data,
            notes=notes,
            unit="group" if grouped else "instance",
            range=measure.range,
            outputs=given.outputs,
        )

    draws = affordable(len(numbers), settings.replicates), settings.replicates, settings.seed
    if measure.aggregate == "order":
        return _of_order(systems, measure, numbers, describe, draws)
    tables = [whole_units(measure.units(system), numbers) for system in systems]
    sums = [table for table in tables if isinstance(table, base.Sums)]
    if not all(np.isfinite(each.table).all() for each in sums):
        raise MeasureError(f"{measure} is infinite for some units and cannot be compared")
    reason = WEIGHED if measure.aggregate == "mean" else BY_SWAPS
    return Sums(sums, describe, *draws, reason, biased=measure.family == "ECE")


def _of_order(
    systems: list[Any], measure: Measure, numbers: Ints, describe: Any, draws: tuple[int, int, int]
) -> Order:
    # Of a user's own measure of order it is not known whether it is smooth.
    smooth = measure.definition.own is None and measure.family != "median-AE"
    units, parts = len(set(numbers.tolist())), None
    if len(numbers) > MANY_UNITS and not smooth:
        # The jackknife of a median is wrong, however many units there are: parts are drawn.
        parts = np.random.default_rng(draws[2]).permutation(units) % min(GROUPS, units)
        numbers = parts[numbers]
    drawn = [whole_units(measure.units(system), numbers) for system in systems]
    orders = [order for order in drawn if isinstance(order, base.Order)]
    plain = units == len(numbers) and all(system.weights is None for system in systems)
    if not (plain and measure.family == "AUC" and len(systems[0].classes) == 2):
        return Order(orders, describe, *draws, parts=parts, smooth=smooth)
    column = systems[0].class_number()
    ranked = np.column_stack([system.scores[:, column] for system in systems])
    return Area(orders, describe, *draws, positive=systems[0].truth == column, ranked=ranked)


def _group_numbers(systems: Sequence[Predictions]) -> tuple[Ints, tuple[str, ...]]:
    """Return the group of each row, numbered from 0, and the names of the groups."""
    first = systems[0]
    for system in systems:
        if bool(system.groups) != bool(first.groups):
            raise InputError(
                f"{system.name} has {'groups' if system.groups else 'no groups'}, unlike "
                f"{first.name}: give groups for all systems, or for none"
            )
        for unit, own, other in zip(system.units, first.groups, system.groups, strict=False):
            if own != other:
                raise InputError(
                    f"unit {unit} is in group {own} of {first.name}, but in {other} of "
                    f"{system.name}"
                )
    if not first.groups and not first.repeats:
        return np.arange(len(first.units)), first.units  # each unit is a group
    labels = first.groups or first.units
    place = {name: number for number, name in enumerate(dict.fromkeys(labels))}
    return np.array([place[name] for name in labels], np.int64), tuple(place)
