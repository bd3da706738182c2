"""Effect sizes of the difference between two systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.infer.results import do_not_vary, drop_noise

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints

__all__ = ["Effects", "pair_effects"]

BLOCK: Final = 1 << 20
"""Differences in memory at a time."""


class Effects(NamedTuple):
    """Effect sizes of first against second.

    Parameters
    ----------
    mean_difference
        Mean of first minus second.
    standardised
        Cohen's d_z: the mean difference in standard deviations of the differences; infinite
        when all differences are the same but not zero, 0 when all are zero.
    superiority
        Probability of superiority: the share of units that the first wins, ties counting half.
    wins, ties, losses
        Units on which the first is better, equal, worse.
    n
        The number of units.

    References
    ----------
    Cohen (1988). Statistical Power Analysis for the Behavioral Sciences, 2nd ed., chapter 2
    (d_z). Grissom & Kim (2012). Effect Sizes for Research, 2nd ed., chapter 5 (probability of
    superiority of dependent groups).
    """

    mean_difference: float
    standardised: float
    superiority: float
    wins: int
    ties: int
    losses: int
    n: int


def pair_effects(values: Floats, first: Ints, second: Ints) -> list[Effects]:
    """Return effect sizes of many pairs of systems.

    Parameters
    ----------
    values
        Units x systems.
    first, second
        The columns of each pair.
    """
    size = max(1, BLOCK // len(values))
    effects: list[Effects] = []
    for start in range(0, len(first), size):
        part = slice(start, start + size)
        effects += _effects(drop_noise(values[:, first[part]], values[:, second[part]]))
    return effects


def _effects(differences: Floats) -> list[Effects]:
    """Return effect sizes of differences, one row per unit and one column per pair."""
    n = len(differences)
    wins, losses = (differences > 0).sum(0), (differences < 0).sum(0)
    ties = n - wins - losses
    mean = differences.mean(0)
    standardised = _cohen_dz(differences, mean)
    superiority = (wins + ties / 2.0) / n
    columns = (mean, standardised, superiority, wins, ties, losses)
    return [
        Effects._make((*row, n))
        for row in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _cohen_dz(differences: Floats, mean: Floats) -> Floats:
    constant = do_not_vary(differences)
    deviation = np.where(constant, 1.0, differences.std(0, ddof=1))
    limit = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    return np.where(constant, limit, mean / deviation)
