"""The variance of AUC by DeLong, DeLong & Clarke-Pearson (1988), in the time of a sort.

References
----------
DeLong, DeLong & Clarke-Pearson (1988). Comparing the areas under two or more correlated receiver
operating characteristic curves: a nonparametric approach. Biometrics 44.
Sun & Xu (2014). Fast implementation of DeLong's algorithm. IEEE Signal Processing Letters 21
(midranks instead of all pairs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.measure.prediction.order import Ties, labelled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Flags, Floats


class AucCovariance(NamedTuple):
    """The AUCs of several classifiers on the same units, and their covariance."""

    areas: Floats
    covariance: Floats
    positives: int
    negatives: int


def auc_covariance(positive: ArrayLike, scores: ArrayLike) -> AucCovariance:
    """Return AUCs and their covariance; scores have one row per unit, one column per classifier."""
    columns = np.atleast_2d(np.asarray(scores, np.float64).T)
    checked = [labelled(positive, column) for column in columns]
    flags = checked[0][0]
    above, below = int(flags.sum()), int((~flags).sum())
    if above < 2 or below < 2:
        raise InputError(
            f"{above} positive and {below} negative units: two of each are needed for a variance"
        )
    shares = np.array([auc_components(flags, values) for _, values in checked])
    covariance = np.cov(shares[:, flags]) / above + np.cov(shares[:, ~flags]) / below
    return AucCovariance(shares[:, flags].mean(axis=1), np.atleast_2d(covariance), above, below)


def auc_components(positive: Flags, scores: Floats) -> Floats:
    """Return, for each unit, the share of units of the other class that are ordered correctly.

    Their mean over the positive units is the area, as is the mean over the negative units.
    """
    sides = np.stack([~positive, positive]).astype(np.float64)
    below = Ties.of(scores).midranks(sides) / sides.sum(axis=1, keepdims=True)
    shares: Floats = np.where(positive, below[0], 1.0 - below[1])
    return shares
