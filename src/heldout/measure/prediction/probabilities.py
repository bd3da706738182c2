"""Measures of probabilities of classes: log loss, Brier score, calibration."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from heldout.measure.base import AtLeastOne, LackingError, Means, Sums, measure, quotient

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.predictions import ClassPredictions
    from heldout.data.words import Flags, Floats, Ints

loss = partial(measure, task="classification", higher_is_better=False, needs="probabilities")
by_scores = partial(measure, task="classification", needs="scores")


def scores_of(given: ClassPredictions) -> Floats:
    """Return the scores of the classes; raise an error if there are none."""
    if given.scores is None:
        raise LackingError("there are predictions but no scores")
    return given.scores


def _probabilities(given: ClassPredictions) -> Floats:
    if given.scores is None or not given.probabilities:
        raise LackingError("there are no probabilities")
    return given.scores


@loss("log-loss", bounds=(0.0, math.inf))
def log_loss(given: ClassPredictions) -> Means:
    """Mean of minus the log probability of the true class; not clipped, unlike scikit-learn.

    Formula: -1/n Σ log p(y)
    """
    chosen = _probabilities(given)[np.arange(len(given.truth)), given.truth]
    impossible = np.count_nonzero(chosen == 0)
    if impossible:
        units = "unit has" if impossible == 1 else "units have"
        raise LackingError(f"infinite: {impossible} {units} probability 0 for the true class")
    return Means(-np.log(chosen) + 0.0)  # turn -0.0 into 0.0


@loss("Brier", aliases=("brier_score_loss",), bounds=(0.0, 2.0))
def brier(given: ClassPredictions) -> Means:
    """Mean squared error of the probabilities: (p - y)² for two classes, Σ(p - y)² for more.

    Formula: 1/n Σ Σ_c (p_c - [y = c])²; half of it for two classes
    """
    table = _probabilities(given)
    sure = np.zeros_like(table)
    sure[np.arange(len(table)), given.truth] = 1.0
    squares: Floats = ((table - sure) ** 2).sum(axis=1)
    return Means(squares / 2 if table.shape[1] == 2 else squares)


@loss("ECE", shown=("bins",))
def calibration_error(given: ClassPredictions, *, bins: AtLeastOne = 10) -> Sums:
    """Expected calibration error of the most probable class, in bins of equal width (Guo 2017).

    Formula: Σ_bins (units in bin / n) · |accuracy - mean probability|
    """
    scores = _probabilities(given)
    sure: Floats = scores.max(axis=1)
    table = np.zeros((len(sure), bins + 1))
    right = scores.argmax(axis=1) == given.truth
    table[np.arange(len(sure)), _bin_of(sure, bins)] = sure - right
    table[:, -1] = 1.0
    return Sums(table, lambda sums: quotient(np.abs(sums[:, :-1]).sum(axis=1), sums[:, -1]))


def _bin_of(confidence: Floats, bins: int) -> Ints:
    """Return the bin of each probability; a bin includes its upper edge."""
    places = np.searchsorted(np.linspace(0, 1, bins + 1), confidence, side="left") - 1
    return np.clip(places, 0, bins - 1)


def calibration_bins(
    confidence: Floats, right: Flags, bins: int = 10
) -> Iterator[tuple[float, float, int, float, float]]:
    """Yield the ends of each bin that has units, their number, mean confidence and accuracy."""
    places, edges = _bin_of(confidence, bins), np.linspace(0, 1, bins + 1)
    for place in np.unique(places).tolist():
        inside = places == place
        means = float(confidence[inside].mean()), float(right[inside].mean())
        yield float(edges[place]), float(edges[place + 1]), int(inside.sum()), *means


@by_scores("top-k-accuracy", aliases=("top_k_accuracy_score",), shown=("k",))
def top_k_accuracy(given: ClassPredictions, *, k: AtLeastOne = 2) -> Means:
    """Share of units whose class is among the k highest scores.

    Formula: Σ [y among the k highest scores] / n
    """
    scores, truth = scores_of(given), given.truth
    # Of equal scores those of later classes count as higher, as in scikit-learn; of two the first.
    if len(given.classes) == 2:
        scores, truth = scores[:, ::-1], 1 - truth
    best = np.argsort(scores, axis=1, kind="stable")[:, ::-1][:, :k]
    return Means((best == truth[:, None]).any(axis=1).astype(np.float64))
