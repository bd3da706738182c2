"""Distributions of studentized maxima: Tukey's range and Dunnett's many-to-one maximum.

Both are mixtures. Given the estimated standard deviation s (true value 1), the tail of the maximum
at w = q s is a single integral R(w) over one normal variable; the tail at q is the mean of R(q s)
over the chi distribution of s. Both integrands decay like a Gaussian, or faster, in their variable
(the position z, and u = log s). For such integrands the trapezoidal rule converges faster than any
power of its step (Trefethen & Weideman 2014), so no adaptive quadrature is needed.

R depends only on the number of systems. For the range it is tabulated once per number of systems
as a piecewise polynomial of R(w) exp(w²/4), which varies slowly even where R itself is 1e-100:
thousands of values cost about thirty table lookups each, and small tails keep their relative
precision.

References
----------
Trefethen & Weideman (2014). The exponentially convergent trapezoidal rule. SIAM Review 56.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from heldout.data.words import Floats
    from heldout.infer.results import Alternative

__all__ = [
    "critical_dunnett",
    "critical_range",
    "dunnett_isf",
    "dunnett_sf",
    "forget_tables",
    "studentized_range_isf",
    "studentized_range_sf",
]

LAST: Final = 38.0
"""Ranges above this many standard deviations have a tail below 1e-150, taken as 0."""

PANEL: Final = 0.5
"""Width of a panel of the table of R."""

DEGREE: Final = 14
"""Degree of the polynomial on a panel."""

Z_STEP: Final = 0.1
"""Step over the normal variable; at a tenth of a standard deviation only rounding is left."""

LEFT_OUT: Final = 60.0
"""The chi density is integrated down to exp(-60) of its peak on either side."""

CHUNK: Final = 1 << 19
"""Values in memory at a time."""


class Mixture(NamedTuple):
    """Values of s = (chi / root df) and their probabilities."""

    scale: Floats
    weight: Floats


@lru_cache(maxsize=64)
def _mixture(df: float, k: int) -> Mixture:
    """Return nodes and weights for a mean over s.

    In u = log s the density is exp(df (u - expm1(2u)/2)) up to a constant, with its peak at 0. The
    weights are normalized to sum to 1, because the constant is inaccurate for large df. For few
    degrees of freedom the steepness of R, which grows with the number of systems, sets the step.
    """
    if math.isinf(df):
        return Mixture(np.ones(1), np.ones(1))
    reach = LEFT_OUT / df
    low = -min(reach + 0.5, math.sqrt(reach) + reach)
    high = min(math.sqrt(reach), 0.5 * math.log1p(2 * reach) + 0.5)
    step = min(0.5 / math.sqrt(2 * df), 0.2 / math.log2(k + 2))
    u = np.arange(math.floor(low / step), math.ceil(high / step) + 1) * step
    weight = np.exp(df * (u - np.expm1(2 * u) / 2))
    return Mixture(np.exp(u), weight / weight.sum())


def _mean_over_scale(
    q: Floats, tail_at: Callable[[Floats], Floats], mixture: Mixture, chunk: int
) -> Floats:
    """Return the mean of tail_at(q s) over s, in chunks that bound the memory."""
    means = np.empty_like(q)
    rows = max(1, chunk // len(mixture.scale))
    for begin in range(0, len(q), rows):
        part = slice(begin, begin + rows)
        means[part] = tail_at(q[part, None] * mixture.scale) @ mixture.weight
    return np.minimum(means, 1.0)


def _range_tail(w: Floats, k: int) -> Floats:
    """Return P(range of k normals > w) exp(w²/4), to full relative precision.

    k ∫ φ(z) [Φ(z)^(k-1) - (Φ(z) - Φ(z-w))^(k-1)] dz, where z is the largest of the k. All terms are
    positive, so a small tail is not the difference of two numbers near 1.
    """
    from scipy.special import log_ndtr, ndtr  # slow to import

    z = np.arange(-9.0, LAST / 2 + 9.0, Z_STEP)
    log_below = log_ndtr(z)
    # The logarithm of the density of the largest, since φ(z) exp(w²/4) may overflow.
    log_largest = math.log(k * Z_STEP / math.sqrt(2 * math.pi)) - z**2 / 2 + (k - 1) * log_below
    with np.errstate(divide="ignore"):  # z far below w: the share is 1 up to rounding
        share = np.minimum(ndtr(z - w[:, None]) / np.exp(log_below), 1.0)
        outside = -np.expm1((k - 1) * np.log1p(-share))
    return np.asarray((np.exp(log_largest + (w**2 / 4)[:, None]) * outside).sum(1))


@lru_cache(maxsize=16)
def _range_table(k: int) -> Floats:
    """Return the coefficients of R(w) exp(w²/4) per panel, highest power first, x in [-1, 1]."""
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    panels = round(LAST / PANEL)
    w = PANEL * (np.arange(panels)[:, None] + (nodes + 1) / 2)
    values = _range_tail(w.ravel(), k).reshape(w.shape)
    chebyshev = np.polynomial.chebyshev.chebvander(nodes, DEGREE)
    coefficients = np.linalg.solve(chebyshev, values.T)
    powers = np.stack([_as_powers(column) for column in coefficients.T], axis=1)
    return np.ascontiguousarray(powers[::-1])


def forget_tables() -> None:
    """Clear all tables, to time a first call."""
    _mixture.cache_clear()
    _range_table.cache_clear()
    critical_range.cache_clear()
    critical_dunnett.cache_clear()


def _as_powers(chebyshev: Floats) -> Floats:
    powers = np.asarray(np.polynomial.chebyshev.cheb2poly(chebyshev), np.float64)
    return np.pad(powers, (0, len(chebyshev) - len(powers)))


def _tabulated_tail(w: Floats, table: Floats) -> Floats:
    """Return R(w) from the table; 0 beyond its end."""
    inside = np.minimum(w, LAST)
    panel = np.minimum((inside / PANEL).astype(np.intp), table.shape[1] - 1)
    x = 2 * (inside / PANEL - panel) - 1
    value = table[0][panel]
    for row in table[1:]:
        value *= x
        value += row[panel]
    value *= np.exp(-(inside**2) / 4)
    return np.where(w < LAST, value, 0.0)


def _check(k: float, df: float, least: int, what: str) -> tuple[int, float]:
    if k != int(k) or k < least:
        raise InputError(f"k={k}: expected an integer number of {what}, at least {least}")
    if not df >= 1:
        raise InputError(f"df={df}: expected at least 1 degree of freedom, or inf")
    return int(k), float(df)


def studentized_range_sf(q: ArrayLike, k: int, df: float) -> Floats:
    """Return the upper tail of the studentized range: P(Q > q).

    Parameters
    ----------
    q
        One value or many; below 0 the tail is 1.
    k
        The number of means, at least 2.
    df
        Degrees of freedom of the standard deviation; ``inf`` when it is known.

    Returns
    -------
    ndarray
        The tail for each q, in the shape of `q`. The absolute error is below 1e-12, the relative
        error below 1e-8 down to tails of 1e-15.

    References
    ----------
    J. W. Tukey, The problem of multiple comparisons (1953); the integral as in M. D. Copenhaver
    and B. Holland, Computation of the distribution of the maximum studentized range statistic,
    J. Stat. Comput. Simul. 30 (1988) 1-15.

    Examples
    --------
    >>> round(float(studentized_range_sf(3.5, 4, 20)), 10)
    0.0949584505
    """
    k, df = _check(k, df, 2, "means")
    values = np.asarray(q, np.float64)
    if np.isnan(values).any():
        raise InputError("q: found nan, expected finite numbers or inf")
    table = _range_table(k)
    flat = np.maximum(values.ravel(), 0.0)
    tails = _mean_over_scale(flat, lambda w: _tabulated_tail(w, table), _mixture(df, k), CHUNK)
    return np.where(flat == 0, 1.0, tails).reshape(values.shape)


def studentized_range_isf(p: ArrayLike, k: int, df: float) -> Floats:
    """Return the q whose upper tail is p: the inverse of `studentized_range_sf`.

    Parameters
    ----------
    p
        Tails, above 1e-14 and up to 1.
    k, df
        As in `studentized_range_sf`.

    Returns
    -------
    ndarray
        The quantile for each p, in the shape of `p`.

    Examples
    --------
    >>> round(float(studentized_range_isf(0.05, 3, 38)), 8)
    3.4490209
    """
    k, df = _check(k, df, 2, "means")
    tails = _check_tails(p)
    quantiles = _solve(lambda q: studentized_range_sf(q, k, df), tails.ravel(), 0.0)
    return quantiles.reshape(tails.shape)


def _check_tails(p: ArrayLike) -> Floats:
    tails = np.asarray(p, np.float64)
    if not ((tails > 1e-14) & (tails <= 1)).all():
        raise InputError("p: expected probabilities above 1e-14 and up to 1")
    return tails


def _solve(tail_at: Callable[[Floats], Floats], p: Floats, low: float) -> Floats:
    """Return where a decreasing function equals p, by bisection, which always converges."""
    below, above = np.full(p.shape, low), np.full(p.shape, 8.0)
    while (high := tail_at(above) > p).any():
        above = np.where(high, 4 * above, above)
    for _ in range(200):
        middle = (below + above) / 2
        if ((middle <= below) | (middle >= above) | (above - below <= 1e-14 * above)).all():
            break
        high = tail_at(middle) > p
        below, above = np.where(high, middle, below), np.where(high, above, middle)
    solution: Floats = (below + above) / 2
    return solution


def _dunnett_tail(w: Floats, comparisons: int, alternative: Alternative) -> Floats:
    """Return P(max over i of (Z_i - Z_0)/√2 > w), or of its size, for standard normal Z."""
    from scipy.special import ndtr  # slow to import

    z = np.arange(-9.0, 9.0 + Z_STEP, Z_STEP)
    density = np.exp(-(z**2) / 2) * (Z_STEP / math.sqrt(2 * math.pi))
    reach = math.sqrt(2) * np.clip(w, -LAST, LAST)[..., None]
    outside = ndtr(z - reach)
    if alternative == "two-sided":
        outside = np.minimum(outside + ndtr(-z - reach), 1.0)
    with np.errstate(divide="ignore"):  # log 0 where the probability is 1
        inside = comparisons * np.log1p(-outside)
    tail: Floats = -np.expm1(inside) @ density
    return tail


def dunnett_sf(
    t: ArrayLike, comparisons: int, df: float, alternative: Alternative = "two-sided"
) -> Floats:
    """Return the upper tail of Dunnett's maximum: P(max T > t), all correlations 1/2.

    Parameters
    ----------
    t
        One value or many.
    comparisons
        The number of systems compared with the baseline.
    df
        Degrees of freedom of the standard deviation; ``inf`` when it is known.
    alternative
        ``two-sided``: the largest absolute value; ``greater`` or ``less``: the largest value, for t
        with the sign for which large values are evidence for the alternative.

    Returns
    -------
    ndarray
        The tail for each t, in the shape of `t`.

    References
    ----------
    C. W. Dunnett, A multiple comparison procedure for comparing several treatments with a control,
    J. Am. Stat. Assoc. 50 (1955) 1096-1121.

    Examples
    --------
    >>> round(float(dunnett_sf(2.54, 3, 20)), 3)
    0.05
    """
    comparisons, df = _check(comparisons, df, 1, "comparisons")
    values = np.asarray(t, np.float64)
    flat = np.maximum(values.ravel(), 0.0) if alternative == "two-sided" else values.ravel()
    mixture = _mixture(df, comparisons + 1)
    tails = _mean_over_scale(
        flat, lambda w: _dunnett_tail(w, comparisons, alternative), mixture, CHUNK // 64
    )
    return tails.reshape(values.shape)


def dunnett_isf(
    p: ArrayLike, comparisons: int, df: float, alternative: Alternative = "two-sided"
) -> Floats:
    """Return the critical value with upper tail p: the inverse of `dunnett_sf` for p up to 1/2.

    Examples
    --------
    >>> round(float(dunnett_isf(0.05, 1, 10)), 6)  # one comparison: Student's t
    2.228139
    """
    comparisons, df = _check(comparisons, df, 1, "comparisons")
    tails = _check_tails(p)
    quantiles = _solve(lambda t: dunnett_sf(t, comparisons, df, alternative), tails.ravel(), 0.0)
    return quantiles.reshape(tails.shape)


@lru_cache(maxsize=256)
def critical_range(p: float, k: int, df: float) -> float:
    """Return one `studentized_range_isf`, and keep it: it takes half the time of a comparison."""
    return float(studentized_range_isf(p, k, df))


@lru_cache(maxsize=256)
def critical_dunnett(p: float, comparisons: int, df: float, alternative: Alternative) -> float:
    """Return one `dunnett_isf`, and keep it, for the other measures of a comparison."""
    return float(dunnett_isf(p, comparisons, df, alternative))
