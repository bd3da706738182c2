"""Predictions to compare: the analysis that fits the measure and the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from heldout.data.ids import respell
from heldout.data.predictions import (
    BASELINES,
    ClassPredictions,
    one_set_of_classes,
)
from heldout.data.scores import Scores
from heldout.errors import InputError, MeasureError
from heldout.infer.many_units import scoring_of_many
from heldout.infer.resample_sums import MANY_UNITS, affordable, sums_by_number
from heldout.infer.resampled import AreaScoring, OrderScoring, SumScoring
from heldout.infer.scoring import Scored, mean_scored
from heldout.measure.base import Order, Undefined, as_sums
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

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Ints
    from heldout.infer.analysis import Analysis
    from heldout.infer.linearised import LinearScoring
    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["By", "PredictionSystems", "group_numbers", "scored_predictions"]

By = Literal["auto", "unit", "fold"]
"""The unit of a test; ``auto`` is the fold if there are folds."""


WEIGHED: Final = (
    "is a mean over weighted or grouped units: sums over them are resampled by swapping outputs "
    "between the systems"
)


@dataclass(frozen=True)
class PredictionSystems:
    """Predictions of two or more systems, with what all measures share computed once.

    Parameters
    ----------
    systems
        One object per system, all with the same classes.
    """

    systems: list[Any]

    @classmethod
    def of(cls, predictions: Sequence[Any], baseline: str | None = None) -> PredictionSystems:
        """Return the systems to compare, without the baselines of an experiment if possible.

        Parameters
        ----------
        predictions
            One object per system.
        baseline
            The system that the others are compared with.
        """
        several = _alike(_own_systems(predictions, baseline))
        if len(several) < 2:
            raise InputError("one system cannot be compared: give at least two")
        check_same_truth(several)
        return cls(several)

    @property
    def task(self) -> str:
        """``classification`` or ``regression``."""
        return "classification" if isinstance(self.systems[0], ClassPredictions) else "regression"

    def measures(self, names: Sequence[Any] = (), undefined: float | None = None) -> list[Measure]:
        """Return measures by their names; by default accuracy or RMSE."""
        usual = "accuracy" if self.task == "classification" else "RMSE"
        return parse_measures(list(names) or [usual], self.task, undefined=undefined)

    @cached_property
    def data(self) -> str:
        """The fingerprint of the data."""
        return data_fingerprint(self.systems)

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """A digest of the predictions of each system."""
        return tuple(map(_digest, self.systems))

    @cached_property
    def paired(self) -> _Paired:
        """The systems on their common units."""
        return _pair(self.systems, self.data)


def scored_predictions(
    given: PredictionSystems,
    measure: Measure,
    settings: Analysis,
    *,
    positive: str | None = None,
    by: By = "auto",
) -> Scored:
    """Return the analysis of predictions, paired by unit, that fits the measure and the data.

    Folds (of a cross-validation, perhaps repeated) are compared by the corrected resampled t test
    for every measure. On a hold-out set, means over units are compared by the tests of means
    (McNemar's test for accuracy); F1, MCC, kappa, RMSE, R² and the like, and all measures of
    grouped or weighted units, by swapping outputs and resampling sums; the AUC of two classes by
    DeLong's test; other measures of order by the bootstrap. More than 100,000 units are not
    resampled one by one: if there are few kinds of units, the numbers per kind are resampled; else
    the score is linearised and compared by a t test.

    Parameters
    ----------
    given
        The systems.
    measure
        Any measure of predictions.
    settings
        How to compare.
    positive
        The positive class of two.
    by
        ``fold``, ``unit``, or ``auto``: folds if there are any.
    """
    if positive is not None:
        systems = [replace(system, positive=positive) for system in given.systems]
        given = PredictionSystems(systems)
    found = _scored(given, measure, settings, by)
    return found._replace(scores=replace(found.scores, outputs=given.outputs))


def _scored(
    given: PredictionSystems,
    measure: Measure,
    settings: Analysis,
    by: By,
) -> Scored:
    systems = given.systems
    if by == "fold" or (by == "auto" and _all_have_splits(systems)):
        scores, share = fold_scores(systems, measure)
        return mean_scored(scores, settings._replace(test_share=share))
    notes = _fold_notes(systems)
    plain = all(system.weights is None and not system.groups for system in systems)
    if plain and measure.aggregate == "mean":
        scores = unit_scores(systems, measure, given.data)
        return mean_scored(replace(scores, notes=(*scores.notes, *notes)), settings)
    return _resampled(given.paired, measure, notes, settings)


def _digest(system: Any) -> int:
    """Return a number that is equal for systems with the same predictions."""
    arrays = (system.predicted, getattr(system, "scores", None))
    parts = [None if array is None else np.asarray(array).tobytes() for array in arrays]
    return hash((system.units, system.repeats, system.folds, *parts))


def _own_systems(predictions: Sequence[Any], baseline: str | None) -> Sequence[Any]:
    """Return the systems without the baselines of an experiment, unless these are needed."""
    own = [system for system in predictions if system.name not in BASELINES]
    known = {system.name for system in own}
    return own if len(own) > 1 and (baseline is None or baseline in known) else predictions


def _all_have_splits(systems: Sequence[Predictions]) -> bool:
    """Return whether there are folds; refuse folds of only some systems."""
    having = [has_splits(system) for system in systems]
    if any(having) and not all(having):
        with_folds, without = systems[having.index(True)], systems[having.index(False)]
        raise InputError(
            f"{with_folds.name} has folds, {without.name} has none: give folds for all systems, or "
            'compare over units with by="unit"'
        )
    return all(having)


def _alike(predictions: Sequence[Any]) -> list[Any]:
    if len({type(system) for system in predictions}) > 1:
        raise InputError("classes and numbers are predicted: compare them separately")
    predictions = [
        replace(one, units=tuple(respell(one.units, predictions[0].units))) for one in predictions
    ]
    if predictions and isinstance(predictions[0], ClassPredictions):
        return list(one_set_of_classes(predictions))
    return list(predictions)


def _fold_notes(systems: Sequence[Predictions]) -> list[Note]:
    if not any(has_splits(system) for system in systems):
        return []
    text = (
        "the folds share training data, which a test over units ignores; a test over folds does not"
    )
    return [Note("shared-training", text)]


class _Paired(NamedTuple):
    """Systems on their common units, in the same order."""

    systems: list[Any]
    dropped: tuple[str, ...]
    data: str


def _pair(systems: list[Any], data: str) -> _Paired:
    if same_units(systems):
        return _Paired(systems, (), data)
    keys = [
        list(zip(system.units, system.repeats or system.units, strict=True)) for system in systems
    ]
    common = set.intersection(*map(set, keys))
    order = [key for key in keys[0] if key in common]
    if not order:
        raise InputError("the systems have no unit in common: check that their ids are the same")
    paired = []
    for system, system_keys in zip(systems, keys, strict=True):
        place = {key: at for at, key in enumerate(system_keys)}
        paired.append(system.select([place[key] for key in order]))
    kept = {unit for unit, _ in order}
    lost = dict.fromkeys(
        unit for system_keys in keys for unit, _ in system_keys if unit not in kept
    )
    return _Paired(paired, tuple(lost), data)


def _resampled(
    paired: _Paired,
    measure: Measure,
    notes: list[Note],
    settings: Analysis,
) -> Scored:
    """Return the analysis of scores that are not plain means over units."""
    systems = paired.systems
    check_same_weights(systems)
    for system in systems:
        value = measure.compute(system)
        if isinstance(value, Undefined):
            raise MeasureError(
                f"{measure} of {system.name} is undefined ({value.reason}) and cannot be compared"
                f"{undefined_hint(measure, value.reason)}"
            )
    numbers, names = group_numbers(systems)
    grouped = len(names) < len(systems[0].units)
    if grouped:
        kind = "groups" if systems[0].groups else "units"
        rows = len(systems[0].units)
        text = f"the {rows:,} rows are in {len(names):,} {kind}, which are resampled as a whole"
        notes = [*notes, Note("grouped", text, "info")]
    scoring = _scoring(systems, measure, numbers, grouped, settings)
    scores = Scores(
        str(measure),
        tuple(system.name for system in systems),
        names,
        scoring.values,
        higher_is_better=measure.higher_is_better is not False,
        dropped=paired.dropped,
        data=paired.data,
        notes=tuple(notes),
        unit="group" if grouped else "instance",
        range=measure.range,
    )
    return Scored(scores, scoring)


def group_numbers(systems: Sequence[Predictions]) -> tuple[Ints, tuple[str, ...]]:
    """Return the group of each row, numbered from 0, and the names of the groups."""
    for system in systems:
        if bool(system.groups) != bool(systems[0].groups):
            raise InputError(
                f"{system.name} has {'groups' if system.groups else 'no groups'}, unlike "
                f"{systems[0].name}: give groups for all systems, or for none"
            )
        if system.groups != systems[0].groups:
            row = next(
                n
                for n, pair in enumerate(zip(system.groups, systems[0].groups, strict=True))
                if pair[0] != pair[1]
            )
            raise InputError(
                f"unit {system.units[row]} is in group {systems[0].groups[row]} of "
                f"{systems[0].name}, but in {system.groups[row]} of {system.name}"
            )
    if not systems[0].groups and not systems[0].repeats:
        return np.arange(len(systems[0].units)), systems[0].units  # each unit is a group
    labels = systems[0].groups or systems[0].units
    place = {name: number for number, name in enumerate(dict.fromkeys(labels))}
    return np.array([place[name] for name in labels], np.int64), tuple(place)


def _scoring(
    systems: list[Any],
    measure: Measure,
    numbers: Ints,
    grouped: bool,
    settings: Analysis,
) -> SumScoring | OrderScoring | AreaScoring | LinearScoring:
    plain = not grouped and all(system.weights is None for system in systems)
    is_area = plain and measure.family == "AUC" and len(systems[0].classes) == 2
    if len(numbers) > MANY_UNITS and not is_area:
        many = scoring_of_many(
            systems, measure, numbers, replicates=settings.replicates, seed=settings.seed
        )
        if many is not None:
            return many
    if is_area:
        column = systems[0].class_number()
        flags = systems[0].truth == column
        return AreaScoring(flags, np.column_stack([system.scores[:, column] for system in systems]))
    units = [measure.units(system) for system in systems]
    functions = [one.weighted for one in units if isinstance(one, Order)]
    if functions:
        # Of a user's own measure of order it is not known whether it is smooth.
        smooth = measure.definition.own is None and measure.family != "median-AE"
        return OrderScoring(functions, numbers, seed=settings.seed, smooth=smooth)
    sums = [as_sums(one) for one in units if not isinstance(one, Order)]
    tables = [sums_by_number(one.rows(), numbers) for one in sums]
    if not all(np.isfinite(table).all() for table in tables):
        raise MeasureError(f"{measure} is infinite for some units and cannot be compared")
    bootstraps = affordable(len(tables[0]))
    scoring = SumScoring(tables, sums[0].score, settings.replicates, bootstraps, settings.seed)
    return replace(scoring, why=WEIGHED) if measure.aggregate == "mean" else scoring
