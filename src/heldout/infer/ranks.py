"""Tests on the ranks of systems within each unit: for several data sets, or incomparable scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.infer.results import TIE, alpha_of
from heldout.infer.tukey import critical_range

if TYPE_CHECKING:
    from heldout.data.words import Floats


class Friedman(NamedTuple):
    """Friedman's test of the hypothesis that no system ranks better than another."""

    test: str
    statistic: float  # chi-squared, corrected for ties
    df: tuple[int, ...]
    p: float
    ranks: tuple[float, ...]  # the average rank of each system; 1 is the highest score


class Nemenyi(NamedTuple):
    """Average ranks that differ by the critical difference are significantly different."""

    critical_difference: float
    level: float
    ranks: tuple[float, ...]


def average_ranks(values: Floats) -> Floats:
    """Return the ranks of the systems within each unit, 1 for the highest score, ties averaged."""
    order = np.argsort(-values, axis=1, kind="stable")
    falling = np.take_along_axis(values, order, axis=1)
    scale = np.maximum(np.abs(falling[:, :-1]), np.abs(falling[:, 1:]))
    begins = np.ones(values.shape, bool)  # a run of ties; each row begins one
    begins[:, 1:] = falling[:, :-1] - falling[:, 1:] > TIE * scale
    run = np.cumsum(begins) - 1
    places = np.tile(np.arange(1.0, values.shape[1] + 1), len(values))
    mean_places = np.bincount(run, places) / np.bincount(run)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, mean_places[run].reshape(values.shape), axis=1)
    return ranks


def friedman(values: Floats) -> Friedman:
    """Return Friedman's test: J. Am. Stat. Assoc. 32 (1937) 675-701; p = 1 if all are tied."""
    from scipy.special import chdtrc  # slow to import

    ranks = average_ranks(values)
    units, systems = ranks.shape
    middle, df = (systems + 1) / 2, systems - 1
    between = float(((ranks.mean(0) - middle) ** 2).sum()) * units
    within = float(((ranks - middle) ** 2).sum()) / (units * df)
    statistic = between / within if within > 0 else 0.0
    p = float(chdtrc(df, statistic))
    return Friedman("friedman", statistic, (df,), p, tuple(ranks.mean(0).tolist()))


def nemenyi(values: Floats, level: float = 0.95) -> Nemenyi:
    """Return Nemenyi's test of all pairs: J. Demšar, J. Mach. Learn. Res. 7 (2006) 1-30."""
    units, systems = values.shape
    # The range of k ranks is studentized by the standard error of one, hence √(k(k+1)/12n).
    error = math.sqrt(systems * (systems + 1) / (12 * units))
    critical = critical_range(alpha_of(level), systems, math.inf) * error
    return Nemenyi(critical, level, tuple(average_ranks(values).mean(0).tolist()))
