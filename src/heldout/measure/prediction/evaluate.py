"""Evaluate predictions of one or more systems in several measures, next to baselines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.predictions import (
    BASELINES,
    MAJORITY,
    MEAN,
    RANDOM,
    ClassPredictions,
    NumberPredictions,
    one_set_of_classes,
    positive_number,
    unit_count,
)
from heldout.errors import InputError, MeasureError
from heldout.measure.base import Number, Undefined
from heldout.measure.evaluation import Evaluation
from heldout.measure.names import parse_measures
from heldout.measure.prediction.folds import (
    check_same_truth,
    crossing_notes,
    has_splits,
    repeated_value,
    unit_scores,
    unit_values,
)
from heldout.notes import Note, distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.measure.base import Measure, Task

    Predictions = ClassPredictions | NumberPredictions

DEFAULT_CLASS_MEASURES: Final = (
    *("accuracy", "balanced-accuracy", "F1(macro)", "MCC", "kappa"),
    *("AUC", "log-loss", "Brier", "ECE(bins=10)"),
)
DEFAULT_NUMBER_MEASURES: Final = ("RMSE", "MAE", "median-AE", "MAPE", "sMAPE", "R2")

__all__ = ["PredictionEvaluation", "SystemValues", "evaluate_predictions"]


class SystemValues(NamedTuple):
    """The values of one system or baseline.

    Parameters
    ----------
    name
        Name of the system; names of baselines are in parentheses.
    values
        One per measure.
    units
        Number of units.
    baseline
        Whether it is a baseline.
    """

    name: str
    values: tuple[Number, ...]
    units: int
    baseline: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PredictionEvaluation(Evaluation):
    """The values of systems and baselines in several measures.

    Parameters
    ----------
    task
        ``classification`` or ``regression``.
    measures
        The measures.
    rows
        The systems, then the baselines.
    predictions
        The evaluated predictions, all with the same classes.
    positive
        The positive class of two; None for more classes and for numbers.
    notes
        Warnings.
    about
        How the numbers were computed, one clause each.
    undefined
        Value that undefined measures of predicted classes count as.
    """

    task: Task
    measures: tuple[Measure, ...]
    rows: tuple[SystemValues, ...]
    predictions: tuple[Predictions, ...]
    positive: str | None
    notes: tuple[Note, ...]
    about: tuple[str, ...] = ()
    undefined: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(one.name for one in self.predictions)

    @property
    def baselines(self) -> tuple[str, ...]:
        """The names of the baselines, which `value` accepts, too."""
        return tuple(row.name for row in self.rows[len(self.predictions) :])

    def units(self, system: str | int = 0) -> tuple[str, ...]:
        """Return the units of a system; a baseline has those of all systems."""
        number = self._system(system)
        return self.predictions[number if number < len(self.predictions) else 0].units

    def scores(self, measure: str | Measure | int = 0) -> Scores:
        """Return scores per unit for `heldout.compare`; the measure must be a mean over units."""
        return unit_scores(self.predictions, self.measures[self._measure(measure)])

    def _value(self, system: int, measure: int) -> Number:
        return self.rows[system].values[measure]

    def _per_unit(self, system: int, measure: int) -> Floats:
        if system >= len(self.predictions):
            raise InputError(
                f"{self.rows[system].name} is a baseline and has no values per unit: choose one of "
                f"{', '.join(self.names)}"
            )
        return unit_values(self.predictions[system], self.measures[measure])

    def _system(self, system: str | int) -> int:
        if system in self.baselines:
            return len(self.predictions) + self.baselines.index(str(system))
        if isinstance(system, str) and system not in self.names:
            there = ", ".join((*self.names, *self.baselines))
            raise InputError(f"no system {system!r}; there are {there}")
        return Evaluation._system(self, system)  # noqa: SLF001 - super() and slots do not go together

    def _parsed(self, measure: str | Measure) -> Measure:
        return parse_measures([measure], self.task, undefined=self.undefined)[0]


def evaluate_predictions(
    predictions: Sequence[ClassPredictions] | Sequence[NumberPredictions],
    measures: Sequence[str | Measure] = (),
    *,
    positive: str | None = None,
    undefined: float | None = None,
) -> PredictionEvaluation:
    """Evaluate predictions of one or more systems.

    Parameters
    ----------
    predictions
        Predictions of classes or of numbers, one object per system.
    measures
        By default all measures that the predictions allow.
    positive
        The positive class of two, for measures that need one; by default the last.
    undefined
        0: precision, recall, F, specificity and FP rate of a class, MCC and kappa count as 0 where
        they are undefined (for example, if a class was never predicted), as with
        ``zero_division=0`` in scikit-learn; None: they are `Undefined`.

    Examples
    --------
    >>> one = NumberPredictions("A", ("a", "b"), np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    >>> found = evaluate_predictions([one], ["MAE", "R2"])
    >>> found.value("A", "MAE"), found.value("(mean)", "R2")
    (0.5, 0.0)
    """
    if not predictions:
        raise InputError("no predictions given")
    check_same_truth(predictions)
    kinds = {type(one) for one in predictions}
    if len(kinds) > 1:
        raise InputError("predictions of both classes and numbers: score them separately")
    if isinstance(predictions[0], NumberPredictions):
        return _numbers(
            [one for one in predictions if isinstance(one, NumberPredictions)], measures
        )
    classed = one_set_of_classes([one for one in predictions if isinstance(one, ClassPredictions)])
    return _classes(classed, measures, positive, undefined)


def _numbers(
    several: list[NumberPredictions], names: Sequence[str | Measure]
) -> PredictionEvaluation:
    measures = parse_measures(names or DEFAULT_NUMBER_MEASURES, "regression")
    rows = _rows(several, measures, asked=bool(names))
    first = several[0]
    mean = float(np.average(first.truth, weights=first.weights))
    base = replace(first, name=MEAN, predicted=np.full(len(first.truth), mean))
    own = MEAN not in [one.name for one in several]
    if own:
        values = _values(base, measures, asked=False)
        rows.append(SystemValues(MEAN, tuple(values), unit_count(base), baseline=True))
    said = f"{MEAN} predicts the mean of the truth of these units, the reference point of R2"
    return PredictionEvaluation(
        "regression",
        tuple(measures),
        tuple(rows),
        tuple(several),
        None,
        _notes(several),
        (*([said] if own else []), *_how_units_count(several)),
    )


def _classes(
    several: list[ClassPredictions],
    names: Sequence[str | Measure],
    positive: str | None,
    undefined: float | None,
) -> PredictionEvaluation:
    wanted = names or DEFAULT_CLASS_MEASURES
    measures = parse_measures(wanted, "classification", undefined=undefined)
    classes = several[0].classes
    for measure in measures:
        named = measure.parameters.get("class")
        if named and named not in classes:
            raise MeasureError(f"{measure}: no such class; there are {', '.join(classes)}")
    if positive is not None and positive not in classes:
        raise InputError(f"positive={positive!r}: no such class; there are {', '.join(classes)}")
    if len(classes) == 2:
        positive = classes[positive_number(classes, positive)]
    if not names:  # hide default measures that no system has, but never requested ones
        measures = [one for one in measures if any(_has(given, one) for given in several)]
    several = [replace(one, positive=positive) for one in several]
    rows = _rows(several, measures, asked=bool(names))
    first = several[0]
    for base in _baselines(first):
        if base.name in [one.name for one in several]:
            continue  # an experiment has stored the predictions of its own baselines
        values = tuple(_baseline_value(one, base) for one in measures)
        rows.append(SystemValues(base.name, values, len(first.units), baseline=True))
    said = (
        f"baselines: {MAJORITY} always predicts the most frequent class of these units, "
        f"{RANDOM} draws classes in proportion to their frequency (expected counts); its "
        "probabilities are these frequencies"
    )
    own = {MAJORITY, RANDOM} - {one.name for one in several}
    return PredictionEvaluation(
        "classification",
        tuple(measures),
        tuple(rows),
        tuple(several),
        positive if len(classes) == 2 else None,
        distinct([*_notes(several), *_reversed(several, positive)]),
        (*([said] if own else []), *_variants(measures, classes), *_how_units_count(several)),
        undefined,
    )


def _rows(
    several: Sequence[Predictions],
    measures: Sequence[Measure],
    *,
    asked: bool,
) -> list[SystemValues]:
    return [
        SystemValues(
            one.name,
            tuple(_values(one, measures, asked=asked)),
            unit_count(one),
            one.name in BASELINES,
        )
        for one in several
    ]


def _has(given: ClassPredictions, measure: Measure) -> bool:
    """Return whether a measure can be computed from these predictions."""
    if not measure.needs_scores:
        return given.predicted is not None
    return given.scores is not None and (given.probabilities or measure.family == "AUC")


def _variants(measures: Sequence[Measure], classes: Sequence[str]) -> list[str]:
    """Say which AUC this is: there are several of three or more classes."""
    if len(classes) < 3:
        return []
    found = []
    for measure in measures:
        if measure.family == "AUC":
            average = measure.parameters["average"]
            found.append(f"{measure}: one class against the rest (ovr), {average} average")
    return found


def _baselines(first: ClassPredictions) -> list[ClassPredictions]:
    """Return the majority class for all units, and random classes as they are expected.

    A unit of the random baseline is a cell of the expected confusion matrix, with its count as its
    weight: the expectation does not depend on a seed.
    """
    size = len(first.classes)
    counts = np.bincount(first.truth, first.weights, size).astype(np.float64)
    shares = counts / counts.sum()
    majority = replace(
        first,
        name=MAJORITY,
        predicted=np.full(len(first.truth), int(np.argmax(counts))),
        scores=np.tile(shares, (len(first.truth), 1)),
        probabilities=False,
    )
    true, guessed = np.divmod(np.flatnonzero(np.outer(counts, counts)), size)
    random = ClassPredictions(
        RANDOM,
        tuple(map(str, range(len(true)))),
        first.classes,
        true,
        guessed,
        scores=np.tile(shares, (len(true), 1)),
        probabilities=True,
        weights=np.outer(counts, shares)[true, guessed],
        positive=first.positive,
    )
    return [majority, random]


def _baseline_value(measure: Measure, base: ClassPredictions) -> Number:
    needs = measure.needs_scores
    if needs and measure.family not in {"AUC", "log-loss", "Brier"}:
        return Undefined("there are predictions but no scores")
    if measure.definition.own is not None:
        return Undefined("it cannot be computed from a confusion matrix")
    value = measure.compute(base)
    if isinstance(value, Undefined) and needs and measure.family != "AUC":
        return Undefined("there are predictions but no scores")
    return value


def _notes(several: Sequence[Predictions]) -> tuple[Note, ...]:
    return distinct(
        [
            *_other_units(several),
            *crossing_notes(several),
            *(note for one in several for note in one.notes),
        ]
    )


def _reversed(several: Sequence[ClassPredictions], positive: str | None) -> list[Note]:
    """Warn about scores that are higher for the units predicted not to be in their class."""
    classes = several[0].classes
    if len(classes) != 2 or positive is None:
        return []
    at = positive_number(classes, positive)
    found = []
    for one in several:
        if one.scores is None or one.predicted is None:
            continue
        chosen = one.predicted == at
        if not 0 < np.count_nonzero(chosen) < len(chosen):
            continue
        scores = one.scores[:, at]
        if float(scores[chosen].mean()) < float(scores[~chosen].mean()):
            text = (
                f"{one.name}: units predicted as {positive} have lower scores for {positive} than "
                f"the others; if the scores are for {classes[1 - at]}, make it the positive class "
                f"(positive={classes[1 - at]!r}, on the command line --positive)"
            )
            found.append(Note("reversed-scores", text))
    return found


def _other_units(several: Sequence[Predictions]) -> list[Note]:
    """Warn about systems that were scored on other units than the first."""
    others = [one for one in several[1:] if one.units != several[0].units]
    first = set(several[0].units) if others else set()
    return [
        Note(
            "other-units",
            f"{one.name} and {several[0].name} have different units ({len(one.units):,} and "
            f"{len(first):,}, {len(first & set(one.units)):,} in common): their values are not "
            "comparable",
        )
        for one in others
        if set(one.units) != first
    ]


def _how_units_count(several: Sequence[Predictions]) -> list[str]:
    found = []
    if any(has_splits(one) for one in several):
        found.append("values and intervals are means over the folds")
    elif any(one.repeats for one in several):
        found.append("values are means over the repeats")
    plain = [one for one in several if not has_splits(one)]
    if any(one.groups for one in plain):
        found.append("units have groups: intervals resample whole groups")
    if any(one.weights is not None for one in plain):
        found.append("units have weights: intervals resample units with their weights")
    return found


def _values(
    one: Predictions,
    measures: Sequence[Measure],
    *,
    asked: bool,
) -> list[Number]:
    values: list[Number] = []
    for measure in measures:
        try:
            values.append(repeated_value(one, measure))
        except InputError as error:
            # A measure requested by name raises an error; a default measure is undefined.
            if asked:
                raise InputError(f"{measure} of {one.name}: {error}") from None
            values.append(Undefined(str(error)))
    return values
