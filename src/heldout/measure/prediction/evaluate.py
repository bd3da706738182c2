"""Evaluate predictions of one or more systems in several measures, next to baselines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from heldout.data.predictions import (
    MAJORITY,
    MEAN,
    RANDOM,
    ClassPredictions,
    NumberPredictions,
    one_set_of_classes,
    positive_number,
)
from heldout.errors import InputError, MeasureError
from heldout.measure.evaluation import Evaluation
from heldout.measure.names import parse_measures
from heldout.measure.prediction.folds import check_same_truth, crossing_notes, has_splits
from heldout.notes import Note, distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

DEFAULT_CLASS_MEASURES: Final = (
    *("accuracy", "balanced-accuracy", "F1(macro)", "MCC", "kappa"),
    *("AUC", "log-loss", "Brier", "ECE(bins=10)"),
)
DEFAULT_NUMBER_MEASURES: Final = ("RMSE", "MAE", "median-AE", "MAPE", "sMAPE", "R2")
_OF_NUMBERS: Final = (
    f"{MEAN} predicts the mean of the truth of these units, the reference point of R2"
)
_OF_CLASSES: Final = (
    f"baselines: {MAJORITY} always predicts the most frequent class of these units, {RANDOM} draws "
    "classes in proportion to their frequency (expected counts); its probabilities are these "
    "frequencies"
)


def evaluate_predictions(
    predictions: Sequence[ClassPredictions] | Sequence[NumberPredictions],
    measures: Iterable[str | Measure] | None = None,
    positive: str | None = None,
    undefined: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Evaluate predictions; by default in all usual measures that they allow.

    With `undefined` 0, precision, recall and F of a class, MCC and kappa count as 0 where they are
    undefined (a class was never predicted), as with ``zero_division=0`` in scikit-learn.
    """
    if not predictions:
        raise InputError("no predictions given")
    check_same_truth(predictions)
    if len({type(system) for system in predictions}) > 1:
        raise InputError("predictions of both classes and numbers: score them separately")
    several: list[Predictions] = [*predictions]
    names, first = list(measures or ()), predictions[0]
    defaults = {} if undefined is None else {"undefined": undefined}
    baselines: list[Predictions] = []
    if isinstance(first, NumberPredictions):
        wanted = parse_measures(names or DEFAULT_NUMBER_MEASURES, "regression")
        mean = float(np.average(first.truth, weights=first.weights))
        baselines.append(replace(first, name=MEAN, predicted=np.full(len(first.truth), mean)))
        about, notes = [_OF_NUMBERS], _notes(several)
    else:
        wanted = parse_measures(names or DEFAULT_CLASS_MEASURES, "classification", **defaults)
        classed = one_set_of_classes(cast("Sequence[ClassPredictions]", predictions))
        classes = classed[0].classes
        if positive is not None or len(classes) == 2:
            positive = classes[positive_number(classes, positive)]
        classed = [replace(system, positive=positive) for system in classed]
        for measure in wanted:
            if measure.parameters.get("class") not in (None, *classes):
                raise MeasureError(f"{measure}: no such class; there are {', '.join(classes)}")
        if not names:  # hide default measures that no system has, but never requested ones
            wanted = [measure for measure in wanted if any(_has(own, measure) for own in classed)]
        several, baselines = [*classed], [*_class_baselines(classed[0])]
        areas = [measure for measure in wanted if measure.family == "AUC" and len(classes) > 2]
        how = "one class against the rest (ovr)"  # there are several of three or more classes
        about = [f"{measure}: {how}, {measure.parameters['average']} average" for measure in areas]
        about.insert(0, _OF_CLASSES)
        notes = [*_notes(several), *(note for system in classed for note in _reversed(system))]
    data = {system.name: system for system in several}
    # An experiment has stored the predictions of its own baselines.
    own = {system.name: system for system in baselines if system.name not in data}
    return Evaluation(
        "regression" if isinstance(first, NumberPredictions) else "classification",
        tuple(wanted),
        data | own,
        tuple(own),
        distinct(notes),
        (*(about if own else about[1:]), *_how_units_count(several)),
        defaults=defaults,
    ).compute(progress)


def _has(given: ClassPredictions, measure: Measure) -> bool:
    """Return whether a measure can be computed from these predictions."""
    if not measure.needs_scores:
        return given.predicted is not None
    return given.scores is not None and (given.probabilities or measure.family == "AUC")


def _class_baselines(first: ClassPredictions) -> list[ClassPredictions]:
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
        tuple(
            f"{first.classes[row]} → {first.classes[other]}"
            for row, other in zip(true.tolist(), guessed.tolist(), strict=True)
        ),
        first.classes,
        true,
        guessed,
        scores=np.tile(shares, (len(true), 1)),
        probabilities=True,
        weights=np.outer(counts, shares)[true, guessed],
        positive=first.positive,
    )
    return [majority, random]


def _notes(several: Sequence[Predictions]) -> list[Note]:
    own = (note for system in several for note in system.notes)
    return [*_other_units(several), *crossing_notes(several), *own]


def _other_units(several: Sequence[Predictions]) -> list[Note]:
    """Warn about systems that were scored on other units than the first."""
    others = [system for system in several[1:] if system.units != several[0].units]
    first = set(several[0].units) if others else set()
    return [
        Note(
            "other-units",
            f"{system.name} and {several[0].name} have different units ({len(system.units):,} and "
            f"{len(first):,}, {len(first & set(system.units)):,} in common): their values are not "
            "comparable",
        )
        for system in others
        if set(system.units) != first
    ]


def _reversed(given: ClassPredictions) -> list[Note]:
    """Warn about scores that are higher for the units predicted not to be in their class."""
    if given.scores is None or given.predicted is None or len(given.classes) != 2:
        return []
    column = given.class_number()
    chosen, scores = given.predicted == column, given.scores[:, column]
    if chosen.all() or not chosen.any() or scores[chosen].mean() >= scores[~chosen].mean():
        return []
    positive, other = given.classes[column], given.classes[1 - column]
    text = (
        f"{given.name}: units predicted as {positive} have lower scores for {positive} than the "
        f"others; if the scores are for {other}, make it the positive class"
    )
    return [Note("reversed-scores", text)]


def _how_units_count(several: Sequence[Predictions]) -> list[str]:
    words = []
    if any(has_splits(system) for system in several):
        words.append("values and intervals are means over the folds")
    elif any(system.repeats for system in several):
        words.append("values are means over the repeats")
    plain = [system for system in several if not has_splits(system)]
    if any(system.groups for system in plain):
        words.append("units have groups: intervals resample whole groups")
    if any(system.weights is not None for system in plain):
        words.append("units have weights: intervals resample units with their weights")
    return words
