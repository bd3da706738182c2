"""Several systems on the same units (blocks): analysis of variance, Tukey's HSD, Friedman."""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.infer.results import TIE, Estimate, Interval, alpha_of

if TYPE_CHECKING:
    from heldout.data.words import Floats

POINTS: Final = 100  # at which the studentized range is evaluated if there are more pairs
LEAST: Final = 1e-10  # smaller p-values would be SciPy's rounding errors: it subtracts from 1


class Source(NamedTuple):
    """A row of the table: a source of variation. What is not tested has no F, p and effect size."""

    name: str
    sum_of_squares: float
    df: int
    mean_square: float
    f: float = math.nan
    p: float = math.nan
    partial_eta_squared: float = math.nan

    def tested(self, error: Source) -> Source:
        """Return the source with its F against an error; infinite without error, NaN for 0/0."""
        if error.mean_square > 0:
            f = self.mean_square / error.mean_square
        else:
            f = math.inf if self.mean_square > 0 else math.nan
        both = self.sum_of_squares + error.sum_of_squares
        eta = self.sum_of_squares / both if both > 0 else 0.0
        return self._replace(f=f, p=_f_tail(f, self.df, error.df), partial_eta_squared=eta)


class Anova(NamedTuple):
    """A table of the analysis of variance."""

    systems: Source
    blocks: Source
    residual: Source
    total: float  # sum of squares


class Sphericity(NamedTuple):
    """Whether the differences of all pairs have equal variance, as the F test assumes."""

    greenhouse_geisser: float  # epsilon, by which both degrees of freedom are multiplied; 1 if so
    corrected_p: float


def anova(values: Floats) -> Anova:
    """Return the two-way analysis of variance with one observation per cell (Fisher 1935, IV).

    Systems and blocks are tested against the residual. If the systems differ by constants only, the
    residual is 0 and F infinite with p = 0; if all are identical, F is NaN and p = 1.
    """
    units, systems = values.shape
    noise = TIE * float(np.abs(values).max())

    def source(name: str, deviations: Floats, times: int, df: int) -> Source:
        squares = times * float(np.sum(np.where(np.abs(deviations) <= noise, 0, deviations) ** 2))
        return Source(name, squares, df, squares / df)

    centred = values - values.mean()
    by_system, by_unit = centred.mean(0), centred.mean(1)
    rest = centred - by_system - by_unit[:, None]
    residual = source("residual", rest, 1, (units - 1) * (systems - 1))
    factor = source("systems", by_system, units, systems - 1)
    blocks = source("blocks", by_unit, systems, units - 1)
    total = factor.sum_of_squares + blocks.sum_of_squares + residual.sum_of_squares
    return Anova(factor.tested(residual), blocks.tested(residual), residual, total)


def _f_tail(f: float, df: float, df_error: float) -> float:
    """Return the upper tail of F: 0 for an infinite F (no error), 1 for an undefined one."""
    from scipy.special import fdtrc  # slow to import

    if math.isnan(f):
        return 1.0
    return 0.0 if math.isinf(f) else float(fdtrc(df, df_error, f))


def sphericity(values: Floats) -> Sphericity:
    """Return how far the differences are from sphericity (1 if they are constants), and p for it.

    S. W. Greenhouse and S. Geisser, Psychometrika 24 (1959) 95-112.
    """
    units, systems = values.shape
    # Eigenvalues of the covariance of orthonormal contrasts of the systems.
    spanned = np.column_stack([np.ones(systems), np.eye(systems)[:, : systems - 1]])
    contrasts = values @ np.linalg.qr(spanned)[0][:, 1:]
    variances = np.linalg.eigvalsh(np.atleast_2d(np.cov(contrasts, rowvar=False)))
    # Variances below this are rounding noise.
    noise = (TIE * float(np.abs(values).max())) ** 2 + TIE * float(max(variances[-1], 0.0))
    variances = np.where(variances <= noise, 0.0, variances)
    df, squares = systems - 1, float((variances**2).sum())
    epsilon = float(variances.sum()) ** 2 / (df * squares) if squares > 0 else 1.0
    f = anova(values).systems.f
    return Sphericity(epsilon, _f_tail(f, epsilon * df, epsilon * df * (units - 1)))


def tukey_hsd(values: Floats, level: float = 0.95) -> tuple[list[Interval], Floats]:
    """Return Tukey's honestly significant differences with the residual error of the blocks.

    Intervals and p of every later minus every earlier system, ordered as in R's ``TukeyHSD``.
    Unlike in one-way procedures, differences between units are removed (B. A. Carterette, ACM
    Trans. Inf. Syst. 30, 2012). If all systems differ by constants, p is that of `Estimate` times
    the number of pairs.
    """
    units, systems = values.shape
    residual, means = anova(values).residual, values.mean(0)
    second, first = np.triu_indices(systems, 1)
    gaps = means[first] - means[second]
    gaps = np.where(np.abs(gaps) <= TIE * float(np.abs(values).max()), 0.0, gaps)
    error = np.full(len(gaps), math.sqrt(residual.mean_square / units))
    estimate = Estimate(gaps, error, units - 1, "Tukey")
    if residual.mean_square > 0:
        p = range_tail(np.abs(estimate.t), systems, residual.df)
    else:
        p = np.minimum(1.0, len(gaps) * estimate.p())
    critical = critical_range(alpha_of(level), systems, residual.df)
    return estimate.interval(level, critical=critical), p


def range_tail(ratios: Floats, systems: int, df: float) -> Floats:
    """Return the chance of a studentized range of k means beyond each ratio, 1e-10 at least."""
    from scipy.stats import studentized_range

    distinct, places = np.unique(ratios, return_inverse=True)
    if len(distinct) <= POINTS:
        with warnings.catch_warnings(action="ignore"):  # of errors beyond 1e-11, SciPy's aim
            tails = studentized_range.sf(distinct, systems, df)[places].reshape(ratios.shape)
    else:
        curve = _tail_curve(systems, df)
        tails = curve(np.minimum(ratios, curve.domain[1]))
    return np.asarray(np.clip(tails, LEAST, 1.0))


@lru_cache(maxsize=16)
def _tail_curve(systems: int, df: float) -> np.polynomial.Chebyshev:
    """Return the upper tail of the studentized range, interpolated: SciPy takes 10 ms a value."""
    from scipy.stats import studentized_range

    tail = studentized_range(systems, df).sf
    with warnings.catch_warnings(action="ignore"):
        top = 8.0
        while tail(top) > LEAST:
            top *= 1.25
        return np.polynomial.Chebyshev.interpolate(tail, POINTS - 1, [0.0, top])


@lru_cache(maxsize=256)
def critical_range(p: float, systems: int, df: float) -> float:
    """Return the studentized range of k means that is exceeded with chance p."""
    from scipy.stats import studentized_range

    with warnings.catch_warnings(action="ignore"):
        return float(studentized_range.isf(p, systems, df))


# By the ranks of systems within each unit: for several data sets, or incomparable scores


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
