"""The variance of AUC by DeLong, DeLong & Clarke-Pearson, in the time of a sort."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Flags, Floats

__all__ = ["AucCovariance", "auc_components", "auc_covariance"]


class AucCovariance(NamedTuple):
    """The AUCs of several classifiers on the same units, and their covariance.

    Parameters
    ----------
    areas
        One per classifier.
    covariance
        Covariance of the areas.
    positives, negatives
        Number of positive and of negative units.
    """

    areas: Floats
    covariance: Floats
    positives: int
    negatives: int


def auc_covariance(positive: ArrayLike, scores: ArrayLike) -> AucCovariance:
    """Compute AUCs and their covariance.

    Parameters
    ----------
    positive
        1 or true for positive units; at least two units of each class.
    scores
        One row per unit, one column per classifier.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988). Comparing the areas under two or more correlated
    receiver operating characteristic curves: a nonparametric approach. Biometrics 44.
    Sun & Xu (2014). Fast implementation of DeLong's algorithm. IEEE Signal Processing Letters 21
    (midranks instead of all pairs).
    """
    labels = np.asarray(positive)
    table = np.asarray(scores, np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if labels.ndim != 1 or table.ndim != 2 or len(labels) != len(table):
        raise InputError(f"labels of shape {labels.shape} for scores of shape {table.shape}")
    flags: Flags = labels.astype(np.bool_)
    if not (flags == labels).all():
        raise InputError("labels: expected 1 (positive) or 0 for each unit")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise InputError(f"scores: unit number {row + 1}, column {column + 1} is not finite")
    above, below = int(flags.sum()), int((~flags).sum())
    if above < 2 or below < 2:
        raise InputError(
            f"{above} positive and {below} negative units: two of each are needed for a variance"
        )
    parts = [_components(flags, column) for column in table.T]
    of_positives = np.array([one for one, _ in parts])
    of_negatives = np.array([other for _, other in parts])
    covariance = (
        np.atleast_2d(np.cov(of_positives)) / above + np.atleast_2d(np.cov(of_negatives)) / below
    )
    return AucCovariance(of_positives.mean(axis=1), covariance, above, below)


def auc_components(positive: Flags, scores: Floats) -> Floats:
    """Return, for each unit, the share of units of the other class that are ordered correctly.

    Their mean over the positive units is the area, as is the mean over the negative units.
    """
    found = np.empty(len(scores))
    found[positive], found[~positive] = _components(positive, scores)
    return found


def _components(flags: Flags, scores: Floats) -> tuple[Floats, Floats]:
    """Return the share of negatives below each positive unit, and the reverse."""
    positives, negatives = scores[flags], scores[~flags]
    ranks = _midranks(scores)
    beaten = (ranks[flags] - _midranks(positives)) / len(negatives)
    beating = 1.0 - (ranks[~flags] - _midranks(negatives)) / len(positives)
    return beaten, beating


def _midranks(values: Floats) -> Floats:
    """Return ranks from 1; ties get their mean rank."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    found: Floats = (last - (counts - 1) / 2.0)[codes]
    return found
