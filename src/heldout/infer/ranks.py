"""Tests on the ranks of systems within each unit: for several data sets, or incomparable scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.infer.blocks import as_scores
from heldout.infer.results import TIE, check_fraction
from heldout.infer.tukey import critical_range

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Floats

__all__ = ["Friedman", "Nemenyi", "average_ranks", "friedman", "nemenyi"]


class Friedman(NamedTuple):
    """The outcome of Friedman's test.

    Parameters
    ----------
    test
        ``friedman``.
    statistic
        Chi-squared.
    df
        Its degrees of freedom.
    p
        The p-value.
    ranks
        The average rank of each system; 1 is the highest score.
    """

    test: str
    statistic: float
    df: tuple[int, ...]
    p: float
    ranks: tuple[float, ...]


class Nemenyi(NamedTuple):
    """Nemenyi's test: ranks that differ by the critical difference are significantly different.

    Parameters
    ----------
    critical_difference
        At the given level.
    level
        The confidence level, e.g. 0.95.
    ranks
        The average rank of each system; 1 is the highest score.
    """

    critical_difference: float
    level: float
    ranks: tuple[float, ...]


def average_ranks(scores: ArrayLike) -> Floats:
    """Return the ranks of the systems within each unit, 1 for the highest score, ties averaged.

    Examples
    --------
    >>> average_ranks([[0.3, 0.1, 0.3], [0.2, 0.5, 0.9]]).tolist()
    [[1.5, 3.0, 1.5], [3.0, 2.0, 1.0]]
    """
    values = as_scores(scores)
    systems = values.shape[1]
    order = np.argsort(-values, axis=1, kind="stable")
    falling = np.take_along_axis(values, order, axis=1)
    scale = np.maximum(np.abs(falling[:, :-1]), np.abs(falling[:, 1:]))
    edge = falling[:, :-1] - falling[:, 1:] > TIE * scale
    place = np.broadcast_to(np.arange(systems), values.shape)
    # First and last place of the run of ties that each value is in.
    starts = np.where(np.pad(edge, ((0, 0), (1, 0)), constant_values=True), place, 0)
    ends = np.where(np.pad(edge, ((0, 0), (0, 1)), constant_values=True), place, systems)
    first = np.maximum.accumulate(starts, axis=1)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks


def _chi_squared(ranks: Floats) -> float:
    """Return Friedman's statistic, whose denominator corrects for ties."""
    units, systems = ranks.shape
    between = float(((ranks.mean(0) - (systems + 1) / 2) ** 2).sum()) * units
    within = float(((ranks - (systems + 1) / 2) ** 2).sum()) / (units * (systems - 1))
    return between / within if within > 0 else 0.0


def friedman(scores: ArrayLike) -> Friedman:
    """Return Friedman's test of the hypothesis that no system ranks better than another.

    Parameters
    ----------
    scores
        Units x systems, complete.

    Returns
    -------
    Friedman
        Chi-squared, corrected for ties; 0 with p = 1 if all scores are tied.

    References
    ----------
    M. Friedman, The use of ranks to avoid the assumption of normality implicit in the analysis of
    variance, J. Am. Stat. Assoc. 32 (1937) 675-701.

    Examples
    --------
    >>> found = friedman([[1, 2, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3]])
    >>> round(found.statistic, 6), found.ranks
    (6.5, (3.0, 1.75, 1.25))
    """
    from scipy.special import chdtrc  # slow to import

    ranks = average_ranks(scores)
    statistic, df = _chi_squared(ranks), ranks.shape[1] - 1
    p = float(chdtrc(df, statistic))
    return Friedman("friedman", statistic, (df,), p, tuple(ranks.mean(0).tolist()))


def nemenyi(scores: ArrayLike, level: float = 0.95) -> Nemenyi:
    """Return Nemenyi's test of all pairs of average ranks.

    Parameters
    ----------
    scores
        Units x systems, complete; for machine learning, units are data sets.
    level
        The confidence level of the critical difference.

    Returns
    -------
    Nemenyi
        The critical difference.

    References
    ----------
    P. B. Nemenyi, Distribution-free multiple comparisons (Princeton 1963); J. Demšar, Statistical
    comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7 (2006) 1-30.
    """
    check_fraction(level)
    ranks = average_ranks(scores)
    units, systems = ranks.shape
    means = ranks.mean(0)
    # The range of k ranks is studentized by the standard error of one, hence √(k(k+1)/12n).
    error = math.sqrt(systems * (systems + 1) / (12 * units))
    critical = critical_range(1 - level, systems, math.inf) * error
    return Nemenyi(critical, level, tuple(means.tolist()))
