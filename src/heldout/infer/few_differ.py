"""Differences of systems that are equal on most units: four more differing units are added.

References
----------
A. Agresti and B. A. Coull, Approximate is better than "exact" for interval estimation of binomial
proportions, Am. Stat. 52 (1998) 119-126.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.results import TIE

if TYPE_CHECKING:
    from heldout.data.words import Floats

__all__ = ["DIFFERING", "PSEUDO", "added_variance", "from_commonest"]

DIFFERING: Final = 10
"""Units that must differ from the commonest value: below, the variance is enlarged."""

PSEUDO: Final = 4
"""Units that are added then, as in the "plus four" interval of a proportion."""


def from_commonest(values: Floats) -> Floats:
    """Return the values minus the commonest one of each column, if most rows have it.

    Parameters
    ----------
    values
        Queries x quantities.
    """
    apart: Floats = values - np.median(values, 0)
    apart[np.abs(apart) <= TIE * np.abs(values).max(0)] = 0.0
    return apart


def added_variance(differences: Floats) -> Floats:
    """Return what four more differing units add to the variance of mean differences.

    It is 0 unless most units have the commonest difference and fewer than ten do not; see
    `heldout.infer.prediction_powered.combined_means`.

    Parameters
    ----------
    differences
        Units x pairs of systems.
    """
    apart = from_commonest(differences)
    differ = np.count_nonzero(apart, 0)
    few = (differ < DIFFERING) & (2 * differ < len(apart))
    square = (apart * apart).sum(0) / np.maximum(differ, 1)
    return np.where(few, PSEUDO * square / len(apart) ** 2, 0.0)
