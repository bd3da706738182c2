"""How large a difference between two systems is, in the units a reader can judge."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from heldout.errors import InputError
from heldout.infer.results import as_values, drop_noise
from heldout.infer.tests.paired import is_constant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

__all__ = ["Effects", "effect_sizes"]


class Effects(NamedTuple):
    """Effect sizes of first against second.

    Parameters
    ----------
    mean_difference
        Mean of first minus second.
    standardised
        Cohen's d_z: the mean difference in standard deviations of the differences; infinite
        when all differences are the same but not zero, 0 when all are zero.
    hedges
        The same by Hedges, without its bias in small samples.
    superiority
        Probability of superiority: the share of units that first wins, ties counted by half.
    wins, ties, losses
        Units on which first is better, the same, worse.
    n
        The number of units.
    """

    mean_difference: float
    standardised: float
    hedges: float
    superiority: float
    wins: int
    ties: int
    losses: int
    n: int


def effect_sizes(first: Iterable[float], second: Iterable[float]) -> Effects:
    """Effect sizes of two systems scored on the same units.

    Scores that agree within 1e-12 of their size are ties.

    Parameters
    ----------
    first, second
        Scores, one a unit, in the same order.

    Returns
    -------
    Effects
        Mean difference, standardised differences, probability of superiority, wins.

    References
    ----------
    Cohen (1988). Statistical Power Analysis for the Behavioral Sciences, 2nd ed., chapter 2
    (d_z). Hedges (1981). Distribution theory for Glass's estimator of effect size and related
    estimators. Journal of Educational Statistics 6(2). Grissom & Kim (2012). Effect Sizes for
    Research, 2nd ed., chapter 5 (probability of superiority of dependent groups).

    Examples
    --------
    >>> effects = effect_sizes([0.5, 0.4, 0.9, 0.1], [0.3, 0.4, 0.8, 0.2])
    >>> effects.wins, effects.ties, effects.losses, effects.superiority
    (2, 1, 1, 0.625)
    """
    one, two = as_values(first, "first"), as_values(second, "second")
    if len(one) != len(two):
        raise InputError(f"first has {len(one)} units, second {len(two)}: pair them by unit")
    differences = drop_noise(one, two)
    n = len(differences)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    ties = n - wins - losses
    standardised = _cohen_dz(differences)
    unbiased = standardised if math.isinf(standardised) else standardised * _hedges_factor(n - 1)
    superiority = (wins + ties / 2.0) / n
    mean = float(differences.mean())
    return Effects(mean, standardised, unbiased, superiority, wins, ties, losses, n)


def _cohen_dz(differences: Floats) -> float:
    mean = float(differences.mean())
    if is_constant(differences):
        return math.copysign(math.inf, mean) if mean else 0.0
    return mean / float(differences.std(ddof=1))


def _hedges_factor(freedom: int) -> float:
    """Hedges' exact factor, by logarithms so that it does not overflow."""
    if freedom == 1:
        return 0.0  # the gamma function in the denominator has its pole there
    logarithm = math.lgamma(freedom / 2.0) - math.lgamma((freedom - 1) / 2.0)
    return math.exp(logarithm) / math.sqrt(freedom / 2.0)
