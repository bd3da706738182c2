"""Measures of probabilities: log loss, Brier score, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError, MeasureError
from heldout.measure.undefined import Number, Undefined

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Flags, Floats, Ints

__all__ = [
    "CalibrationBin",
    "brier",
    "brier_terms",
    "calibration_bins",
    "calibration_error",
    "log_loss",
    "log_loss_terms",
]

SUM_TOLERANCE: Final = 1e-6
"""Tolerance for sums of probabilities: files hold few digits."""


class CalibrationBin(NamedTuple):
    """Units with similar probabilities.

    Parameters
    ----------
    low, high
        The bin contains probabilities above `low` (the first one also 0) up to `high`.
    units
        Number of units.
    confidence
        The mean of their probabilities.
    accuracy
        The share of correct units.
    """

    low: float
    high: float
    units: int
    confidence: float
    accuracy: float


def check_probabilities(probabilities: ArrayLike, units: int) -> Floats:
    """Raise an error unless each unit has a probability distribution over the classes."""
    table = np.asarray(probabilities, np.float64)
    if table.ndim != 2 or len(table) != units:
        raise InputError(f"probabilities: shape {table.shape}, expected {units} rows")
    wrong = ~((table >= 0) & (table <= 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InputError(
            f"probabilities: unit number {row + 1}, class number {column + 1} is "
            f"{table[row, column]:g}, not between 0 and 1"
        )
    sums = table.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if len(off):
        raise InputError(
            f"probabilities: the row of unit number {off[0] + 1} sums to {sums[off[0]]:g}, not 1"
        )
    return table


def log_loss_terms(truth: Ints, probabilities: Floats) -> Floats:
    """Return minus the log probability of each unit's true class; infinite for probability 0."""
    codes = np.asarray(truth)
    table = check_probabilities(probabilities, len(codes))
    with np.errstate(divide="ignore"):
        found: Floats = -np.log(table[np.arange(len(codes)), codes])
    return found + 0.0  # turn -0.0 into 0.0


def log_loss(truth: Ints, probabilities: Floats, weights: ArrayLike | None = None) -> Number:
    """Return the mean of minus the log probability of the true class.

    A probability of 0 for a true class makes it infinite, which is reported as undefined; values
    are not clipped (scikit-learn clips, so that such a unit contributes 36).

    Parameters
    ----------
    truth
        The number of the class of each unit.
    probabilities
        One row per unit, one column per class.
    weights
        One per unit; by default 1.

    Examples
    --------
    >>> round(log_loss([0, 1], [[0.8, 0.2], [0.4, 0.6]]), 4)
    0.367
    """
    terms = log_loss_terms(truth, probabilities)
    endless = int(np.isinf(terms).sum())
    if endless:
        units = "unit has" if endless == 1 else "units have"
        return Undefined(f"infinite: {endless} {units} probability 0 for the true class")
    return float(np.average(terms, weights=None if weights is None else np.asarray(weights)))


def brier_terms(truth: Ints, probabilities: Floats) -> Floats:
    """Return the squared error of each unit's probabilities; half of it for two classes."""
    codes = np.asarray(truth)
    table = check_probabilities(probabilities, len(codes))
    sure = np.zeros_like(table)
    sure[np.arange(len(codes)), codes] = 1.0
    squares: Floats = ((table - sure) ** 2).sum(axis=1)
    return squares / 2 if table.shape[1] == 2 else squares


def brier(truth: Ints, probabilities: Floats, weights: ArrayLike | None = None) -> float:
    """Return the Brier score: (p - y)² for two classes (0 to 1), Σ(p - y)² for more (0 to 2).

    Parameters
    ----------
    truth, probabilities, weights
        As for `log_loss`.

    Examples
    --------
    >>> round(brier([0, 1], [[0.8, 0.2], [0.4, 0.6]]), 4)
    0.1
    """
    terms = brier_terms(truth, probabilities)
    return float(np.average(terms, weights=None if weights is None else np.asarray(weights)))


def calibration_bins(
    confidence: ArrayLike, right: ArrayLike, bins: int = 10
) -> tuple[CalibrationBin, ...]:
    """Compute mean confidence and accuracy in bins of equal width; empty bins are left out.

    Parameters
    ----------
    confidence
        A probability for each unit: of the predicted class, or of the positive class.
    right
        Whether the prediction is correct, or the unit is positive.
    bins
        Number of bins.
    """
    values = np.asarray(confidence, np.float64)
    hits: Flags = np.asarray(right, np.bool_)
    if values.ndim != 1 or values.shape != hits.shape or not len(values):
        raise InputError(f"{values.shape} probabilities for {hits.shape} outcomes")
    if not ((values >= 0) & (values <= 1)).all():
        raise InputError("confidence: expected probabilities between 0 and 1")
    if not isinstance(bins, int) or bins < 1:
        raise MeasureError(f"bins={bins!r}: expected a positive integer")
    edges = np.linspace(0, 1, bins + 1)
    # A bin includes its upper edge, as in Guo et al. (2017).
    places = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, bins - 1)
    found = []
    for at in np.unique(places).tolist():
        inside = places == at
        found.append(
            CalibrationBin(
                float(edges[at]),
                float(edges[at + 1]),
                int(inside.sum()),
                float(values[inside].mean()),
                float(hits[inside].mean()),
            )
        )
    return tuple(found)


def calibration_error(truth: Ints, probabilities: Floats, bins: int = 10) -> float:
    """Return the expected calibration error (ECE) of the most probable class.

    The mean over bins, weighted by their units, of the distance between confidence and accuracy. It
    depends on the bins, which are part of its name, and is biased upwards for few units per bin.

    Parameters
    ----------
    truth, probabilities
        As for `log_loss`.
    bins
        As for `calibration_bins`.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger (2017). On calibration of modern neural networks. ICML.

    Examples
    --------
    >>> round(calibration_error([0, 1], [[0.8, 0.2], [0.4, 0.6]]), 4)
    0.3
    """
    codes = np.asarray(truth)
    table = check_probabilities(probabilities, len(codes))
    top = np.argmax(table, axis=1)
    found = calibration_bins(table.max(axis=1), top == codes, bins)
    gaps = [one.units * abs(one.confidence - one.accuracy) for one in found]
    return float(sum(gaps) / len(codes))
