"""Predictions of one or more systems in several measures, with intervals, beside baselines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

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
from heldout.infer.prediction_intervals import prediction_interval
from heldout.measure.parse import parse_measures
from heldout.measure.prediction.classification import Confusion, majority_baseline, random_baseline
from heldout.measure.prediction.measures import confusion_value
from heldout.measure.prediction.names import (
    DEFAULT_CLASS_MEASURES,
    DEFAULT_NUMBER_MEASURES,
)
from heldout.measure.prediction.paired import (
    check_same_truth,
    crossing_groups,
    crossing_note,
    has_splits,
    repeated_value,
)
from heldout.measure.prediction.regression import mean_baseline
from heldout.measure.undefined import Number, Undefined
from heldout.notes import Note, distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.infer.results import Interval
    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["PredictionScores", "ScoreRow", "score_predictions"]


class ScoreRow(NamedTuple):
    """One system or baseline.

    Parameters
    ----------
    name
        Of the system; baselines have a name in parentheses.
    values
        One a measure.
    intervals
        One a measure; None where there is none.
    units
        How many.
    baseline
        Whether it is one.
    """

    name: str
    values: tuple[Number, ...]
    intervals: tuple[Interval | None, ...]
    units: int
    baseline: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PredictionScores:
    """Systems in several measures, baselines beside them.

    Parameters
    ----------
    task
        ``classification`` or ``regression``.
    measures
        What was measured.
    rows
        The systems, then the baselines.
    predictions
        What was scored, all with the same classes.
    positive
        The positive one of two classes; None for other numbers of classes, and for numbers.
    level
        Of the intervals.
    notes
        What a reader should know.
    about
        How the numbers were made, a clause each.
    undefined
        What precision, recall and F of a class count where they do not exist.
    """

    task: str
    measures: tuple[Measure, ...]
    rows: tuple[ScoreRow, ...]
    predictions: tuple[ClassPredictions, ...] | tuple[NumberPredictions, ...]
    positive: str | None
    level: float
    notes: tuple[Note, ...]
    about: tuple[str, ...] = ()
    undefined: float | None = None

    def value(self, system: str, measure: str) -> Number:
        """The value of a system in a measure."""
        names = [row.name for row in self.rows]
        if system not in names:
            raise InputError(f"no system {system!r}; there are {', '.join(names)}")
        wanted = parse_measures([measure], self.task, undefined=self.undefined)[0]
        if wanted not in self.measures:
            raise MeasureError(f"{wanted} was not measured; there are {_listed(self.measures)}")
        return self.rows[names.index(system)].values[self.measures.index(wanted)]


class _Intervals(NamedTuple):
    """How intervals are made."""

    level: float
    seed: int
    progress: Callable[[int, int], None] | None


def _listed(measures: Sequence[Measure]) -> str:
    return ", ".join(map(str, measures))


def score_predictions(
    predictions: Sequence[ClassPredictions] | Sequence[NumberPredictions],
    measures: Sequence[str] = (),
    *,
    positive: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    undefined: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PredictionScores:
    """Score predictions of one or more systems.

    Parameters
    ----------
    predictions
        Of classes or of numbers, one object a system.
    measures
        Their names; by default those that the predictions allow.
    positive
        The positive one of two classes, for measures that need one; by default the last.
    level
        Of the intervals: Wilson's for accuracy and error, DeLong's for the AUC of two classes, t
        for other means over units, the bootstrap for what is no mean and for units with weights or
        groups (which are drawn whole); over folds the corrected t.
    seed
        Of the bootstrap.
    undefined
        0: precision, recall and F of a class count 0 where they do not exist (it was never
        predicted), as with ``zero_division=0`` of scikit-learn; None: they are `Undefined` then.
    progress
        Called with the values that have their interval and the number of all, system by system.

    Examples
    --------
    >>> from heldout.data.predictions import NumberPredictions
    >>> one = NumberPredictions("A", ("a", "b"), np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    >>> scores = score_predictions([one], ["MAE", "R2"])
    >>> scores.value("A", "MAE"), scores.value("(mean)", "R2")
    (0.5, 0.0)
    """
    if not predictions:
        raise InputError("no predictions were given")
    check_same_truth(predictions)
    kinds = {type(one) for one in predictions}
    if len(kinds) > 1:
        raise InputError("predictions of classes and of numbers: score them apart")
    if isinstance(predictions[0], NumberPredictions):
        return _numbers(
            [one for one in predictions if isinstance(one, NumberPredictions)],
            measures,
            _Intervals(level, seed, progress),
        )
    classed = one_set_of_classes([one for one in predictions if isinstance(one, ClassPredictions)])
    made = _Intervals(level, seed, progress)
    return _classes(classed, measures, positive, made, undefined)


def _numbers(
    several: list[NumberPredictions], names: Sequence[str], made: _Intervals
) -> PredictionScores:
    measures = parse_measures(names or DEFAULT_NUMBER_MEASURES, "regression")
    rows = _rows(several, measures, None, made, asked=bool(names))
    first = several[0]
    base = replace(first, name=MEAN, predicted=mean_baseline(first.truth, first.weights))
    if MEAN not in [one.name for one in several]:
        values = _values(base, measures, None, asked=False)
        blank = (None,) * len(measures)
        rows.append(ScoreRow(MEAN, tuple(values), blank, unit_count(base), baseline=True))
    said = f"{MEAN} predicts the mean of the truth of these very units: what R2 compares with"
    own = MEAN not in [one.name for one in several]
    return PredictionScores(
        "regression",
        tuple(measures),
        tuple(rows),
        tuple(several),
        None,
        made.level,
        _notes(several),
        (*([said] if own else []), *_how_units_count(several)),
    )


def _classes(
    several: list[ClassPredictions],
    names: Sequence[str],
    positive: str | None,
    made: _Intervals,
    undefined: float | None,
) -> PredictionScores:
    wanted = names or DEFAULT_CLASS_MEASURES
    measures = parse_measures(wanted, "classification", undefined=undefined)
    classes = several[0].classes
    for measure in measures:
        if measure.parameters.get("class") and measure.parameters.get("class") not in classes:
            raise MeasureError(f"{measure}: there is no such class; there are {', '.join(classes)}")
    if positive is not None and positive not in classes:
        raise InputError(f"no class {positive!r} to be positive; there are {', '.join(classes)}")
    if len(classes) == 2:
        positive = classes[positive_number(classes, positive)]
    if not names:  # what no system has is not shown; what was asked for always is
        measures = [one for one in measures if any(_has(given, one) for given in several)]
    rows = _rows(several, measures, positive, made, asked=bool(names))
    first = several[0]
    truth = Confusion(classes, np.diag(np.bincount(first.truth, first.weights, len(classes))))
    for name, make in ((MAJORITY, majority_baseline), (RANDOM, random_baseline)):
        if name in [one.name for one in several]:
            continue  # an experiment has written what its own baselines predicted
        values = tuple(_baseline(one, make(truth), positive) for one in measures)
        blank = (None,) * len(measures)
        rows.append(ScoreRow(name, values, blank, len(first.units), baseline=True))
    said = (
        f"baselines: {MAJORITY} always predicts the class that is most frequent among these very "
        f"units, {RANDOM} draws classes by their shares (its expected counts)"
    )
    own = {MAJORITY, RANDOM} - {one.name for one in several}
    return PredictionScores(
        "classification",
        tuple(measures),
        tuple(rows),
        tuple(several),
        positive if len(classes) == 2 else None,
        made.level,
        _notes(several),
        (*([said] if own else []), *_how_units_count(several)),
        undefined,
    )


def _has(given: ClassPredictions, measure: Measure) -> bool:
    """Whether a measure is of a kind that these predictions allow."""
    if not measure.needs_scores:
        return given.predicted is not None
    return given.scores is not None and (given.probabilities or measure.family == "AUC")


def _baseline(measure: Measure, table: Confusion, positive: str | None) -> Number:
    if measure.family == "AUC" and np.count_nonzero(table.counts.sum(axis=1)) > 1:
        return 0.5  # the same score for every unit, or scores that know nothing
    return confusion_value(measure, table, positive)


def _notes(several: Sequence[Predictions]) -> tuple[Note, ...]:
    crossing = max(map(crossing_groups, several))
    return distinct(
        [
            *_other_units(several),
            *([crossing_note(crossing)] if crossing else []),
            *(note for one in several for note in one.notes),
        ]
    )


def _other_units(several: Sequence[Predictions]) -> list[Note]:
    """Systems that were scored on other units than the first cannot be read side by side."""
    others = [one for one in several[1:] if one.units != several[0].units]
    first = set(several[0].units) if others else set()
    return [
        Note(
            "other-units",
            f"{one.name} has other units than {several[0].name} ({len(one.units):,} and "
            f"{len(first):,}, {len(first & set(one.units)):,} in common): values side by side are "
            "not of the same data",
        )
        for one in others
        if set(one.units) != first
    ]


def _how_units_count(several: Sequence[Predictions]) -> list[str]:
    found = []
    if any(has_splits([one]) for one in several):
        found.append("values are means over the folds, and so are their intervals")
    elif any(one.repeats for one in several):
        found.append("values are means over the repeats")
    plain = [one for one in several if not has_splits([one])]
    if any(one.groups for one in plain):
        found.append("units have groups: intervals come from drawing whole groups")
    if any(one.weights is not None for one in plain):
        found.append("units have weights: intervals come from drawing units with their weights")
    return found


def _rows(
    several: Sequence[Predictions],
    measures: Sequence[Measure],
    positive: str | None,
    made: _Intervals,
    *,
    asked: bool,
) -> list[ScoreRow]:
    rows, done = [], 0
    for one in several:
        values = _values(one, measures, positive, asked=asked)
        found: list[Interval | None] = []
        for measure, value in zip(measures, values, strict=True):
            found.append(
                None
                if isinstance(value, Undefined)
                else prediction_interval(one, measure, positive, level=made.level, seed=made.seed)
            )
            done += 1
            if made.progress:
                made.progress(done, len(several) * len(measures))
        given = one.name in BASELINES
        rows.append(ScoreRow(one.name, tuple(values), tuple(found), unit_count(one), given))
    return rows


def _values(
    one: Predictions,
    measures: Sequence[Measure],
    positive: str | None,
    *,
    asked: bool,
) -> list[Number]:
    values: list[Number] = []
    for measure in measures:
        try:
            values.append(repeated_value(one, measure, positive))
        except InputError as error:
            # Asked for by name it is refused; among the usual ones it does not exist.
            if asked:
                raise InputError(f"{measure} of {one.name}: {error}") from None
            values.append(Undefined(str(error)))
    return values
