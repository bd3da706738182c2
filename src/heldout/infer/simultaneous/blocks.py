"""Analysis of variance in randomised blocks: every unit is scored under every system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from heldout.errors import InputError
from heldout.infer.results import TIE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Floats

__all__ = [
    "Anova",
    "Source",
    "Sphericity",
    "Units",
    "anova",
    "anova_with_replicates",
    "as_scores",
    "f_tail",
    "sphericity",
]

Units = Literal["random", "fixed"]
"""Whether the units are a sample of those of interest, or the only ones of interest."""


class Source(NamedTuple):
    """A row of the table: a source of variation.

    Parameters
    ----------
    name
        ``systems``, ``blocks``, ``systems x blocks`` or ``residual``.
    sum_of_squares, df, mean_square
        Its share of the variation, degrees of freedom, and their ratio.
    f, p
        The F ratio and its upper tail; NaN for the row that others are compared with.
    partial_eta_squared, omega_squared
        Effect sizes: the share of variation explained (of this source and the error), and the
        less biased share of the total (Keren & Lewis 1979); NaN likewise.
    """

    name: str
    sum_of_squares: float
    df: int
    mean_square: float
    f: float
    p: float
    partial_eta_squared: float
    omega_squared: float


class Anova(NamedTuple):
    """A table of the analysis of variance.

    Parameters
    ----------
    systems, blocks
        The two factors.
    residual
        The variation that neither explains.
    interaction
        How much differences between systems vary by unit; None without replicates (it is then the
        residual).
    total
        The total sum of squares.
    """

    systems: Source
    blocks: Source
    residual: Source
    interaction: Source | None
    total: float

    @property
    def mse(self) -> float:
        """The mean square of the residual."""
        return self.residual.mean_square


class Sphericity(NamedTuple):
    """Whether the differences of all pairs of systems have equal variance, as the F test assumes.

    Parameters
    ----------
    w
        Mauchly's W: 1 for perfect sphericity, 0 if some contrast of the systems does not vary; NaN
        if none varies, or if there are fewer units than systems.
    chi2, df, p
        Its approximate distribution and tail.
    greenhouse_geisser, huynh_feldt
        Estimates of epsilon, by which both degrees of freedom of F are multiplied.
    corrected_p
        The p-value of the systems with the Greenhouse-Geisser correction.
    """

    w: float
    chi2: float
    df: int
    p: float
    greenhouse_geisser: float
    huynh_feldt: float
    corrected_p: float


def as_scores(scores: ArrayLike, dimensions: int = 2) -> Floats:
    """Return the scores as an array units x systems (x replicates); refuse invalid ones."""
    array = np.asarray(scores, np.float64)
    if array.ndim != dimensions:
        names = "units x systems" + (" x replicates" if dimensions == 3 else "")
        raise InputError(f"scores: expected an array {names}, got one of shape {array.shape}")
    for size, name in zip(array.shape, ("units", "systems", "replicates"), strict=False):
        if size < 2:
            raise InputError(f"scores: expected at least 2 {name}, found {size}")
    if not np.isfinite(array).all():
        row, column = (int(at) for at in np.argwhere(~np.isfinite(array))[0][:2])
        raise InputError(
            f"scores: unit number {row + 1} of system number {column + 1} is not a finite number; "
            "leave the unit out for all systems, or fill in a score"
        )
    return array


def _square_sum(values: Floats, scale: float) -> float:
    """Return the sum of squares, where rounding noise relative to the scores counts as 0."""
    return float(np.sum(np.where(np.abs(values) <= TIE * scale, 0.0, values) ** 2))


def f_tail(f: float, df: float, df_error: float) -> float:
    """Return the upper tail of F: 0 for an infinite F (no error), 1 for an undefined one."""
    from scipy.special import fdtrc  # slow to import

    if math.isnan(f):
        return 1.0
    return 0.0 if math.isinf(f) else float(fdtrc(df, df_error, f))


def _plain(name: str, squares: float, df: int) -> Source:
    """Return a source that is not tested."""
    return Source(name, squares, df, squares / df, *(4 * [math.nan]))


def _tested(source: Source, error: Source, total: float) -> Source:
    """Return a source with its F against an error; infinite without error, NaN for 0/0."""
    if error.mean_square > 0:
        f = source.mean_square / error.mean_square
    else:
        f = math.inf if source.mean_square > 0 else math.nan
    both = source.sum_of_squares + error.sum_of_squares
    eta = source.sum_of_squares / both if both > 0 else 0.0
    all_squares = total + error.mean_square
    gain = source.sum_of_squares - source.df * error.mean_square
    omega = gain / all_squares if all_squares > 0 else 0.0
    return source._replace(
        f=f, p=f_tail(f, source.df, error.df), partial_eta_squared=eta, omega_squared=omega
    )


def anova(scores: ArrayLike) -> Anova:
    """Return the two-way analysis of variance with one observation per cell.

    Parameters
    ----------
    scores
        Units x systems, complete.

    Returns
    -------
    Anova
        Systems and blocks, both against the residual. If the systems differ by constants only, the
        residual is 0 and F infinite with p = 0; if all are identical, F is NaN and p = 1.

    References
    ----------
    R. A. Fisher, The Design of Experiments (1935), chapter IV; effect sizes after G. Keren and
    C. Lewis, Partial omega squared for ANOVA designs, Educ. Psychol. Meas. 39 (1979) 119-128.

    Examples
    --------
    >>> table = anova([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]])
    >>> round(table.systems.f, 6), table.systems.df, table.residual.df
    (16.2, 2, 6)
    """
    values = as_scores(scores)
    units, systems = values.shape
    scale = float(np.abs(values).max())
    centred = values - values.mean()
    by_system, by_unit = centred.mean(0), centred.mean(1)
    residual = _plain(
        "residual",
        _square_sum(centred - by_system - by_unit[:, None], scale),
        (units - 1) * (systems - 1),
    )
    squares_systems = units * _square_sum(by_system, scale)
    squares_blocks = systems * _square_sum(by_unit, scale)
    total = squares_systems + squares_blocks + residual.sum_of_squares
    return Anova(
        _tested(_plain("systems", squares_systems, systems - 1), residual, total),
        _tested(_plain("blocks", squares_blocks, units - 1), residual, total),
        residual,
        None,
        total,
    )


def anova_with_replicates(scores: ArrayLike, units: Units = "random") -> Anova:
    """Return the two-way analysis of variance with replicates, and the interaction.

    Parameters
    ----------
    scores
        Units x systems x replicates (folds, shards, repetitions), complete.
    units
        ``random``: the units are a sample, and the claim is about new units; systems are tested
        against the interaction. ``fixed``: the claim is about these units only; systems are tested
        against the variation of the replicates, as by default in R and statsmodels.

    Returns
    -------
    Anova
        With the interaction of systems and blocks, tested against the variation of replicates.

    References
    ----------
    Montgomery, D. C., Design and Analysis of Experiments, chapters 5 and 13; for topics and shards
    Voorhees, E. M., Samarov, D. and Soboroff, I., Using replicates in information retrieval
    evaluation, ACM Trans. Inf. Syst. 36 (2017).
    """
    if units not in get_args(Units):
        raise InputError(f"units={units!r}: expected one of {', '.join(get_args(Units))}")
    values = as_scores(scores, 3)
    n, k, r = values.shape
    scale = float(np.abs(values).max())
    cells = values.mean(2)
    by_system, by_unit = (cells.mean(axis) - cells.mean() for axis in (0, 1))
    crossed = cells - cells.mean() - by_system - by_unit[:, None]
    residual = _plain("residual", _square_sum(values - cells[..., None], scale), n * k * (r - 1))
    interaction = _plain("systems x blocks", r * _square_sum(crossed, scale), (n - 1) * (k - 1))
    systems = _plain("systems", n * r * _square_sum(by_system, scale), k - 1)
    blocks = _plain("blocks", k * r * _square_sum(by_unit, scale), n - 1)
    total = sum(part.sum_of_squares for part in (residual, interaction, systems, blocks))
    return Anova(
        _tested(systems, interaction if units == "random" else residual, total),
        _tested(blocks, residual, total),
        residual,
        _tested(interaction, residual, total),
        total,
    )


def _contrast_variances(values: Floats) -> Floats:
    """Return the eigenvalues of the covariance of orthonormal contrasts of the systems."""
    k = values.shape[1]
    basis = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, : k - 1]]))[0][:, 1:]
    covariance = np.atleast_2d(np.cov(values @ basis, rowvar=False))
    variances: Floats = np.linalg.eigvalsh(covariance)
    # Variances below this are rounding noise.
    noise = (TIE * float(np.abs(values).max())) ** 2 + TIE * float(max(variances[-1], 0.0))
    return np.where(variances <= noise, 0.0, variances)


def _mauchly(variances: Floats, df: int) -> tuple[float, float, int, float]:
    """Return W, the chi-squared statistic, its degrees of freedom and p (Box's approximation)."""
    from scipy.special import chdtrc  # slow to import

    p = len(variances)
    freedom = p * (p + 1) // 2 - 1
    if p == 1:  # a single difference has a single variance
        return 1.0, 0.0, 0, 1.0
    if variances[-1] <= 0 or df < p:
        return math.nan, math.nan, freedom, math.nan
    if variances[0] <= 0:  # some contrast does not vary, others do
        return 0.0, math.inf, freedom, 0.0
    log_w = float(np.log(variances).sum() - p * np.log(variances.mean()))
    rho = 1 - (2 * p**2 + p + 2) / (6 * df * p)
    # The term before the last is 3 * systems here and in R, but 3 * p in Anderson (An Introduction
    # to Multivariate Statistical Analysis, 10.7); p-values differ by at most .0005.
    order = (p + 2) * (p - 1) * (p - 2) * (2 * p**3 + 6 * p**2 + 3 * (p + 1) + 2)
    second = order / (288 * (df * p * rho) ** 2)
    chi2 = max(-df * rho * log_w, 0.0)
    first, more = float(chdtrc(freedom, chi2)), float(chdtrc(freedom + 4, chi2))
    tail = min(max(first + second * (more - first), 0.0), 1.0)
    return math.exp(log_w), chi2, freedom, tail


def sphericity(scores: ArrayLike) -> Sphericity:
    """Return Mauchly's test of sphericity, and the corrections of F if it is violated.

    Parameters
    ----------
    scores
        Units x systems, complete.

    Returns
    -------
    Sphericity
        The test and both epsilons. Systems that differ by constants only count as spherical.

    References
    ----------
    J. W. Mauchly, Significance test for sphericity of a normal n-variate distribution, Ann. Math.
    Stat. 11 (1940) 204-209, its tail to the second order as in R's ``mauchly.test``; S. W.
    Greenhouse and S. Geisser, Psychometrika 24 (1959) 95-112; H. Huynh and L. S. Feldt, J. Educ.
    Stat. 1 (1976) 69-82.

    Examples
    --------
    >>> found = sphericity([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]])
    >>> 0.5 <= found.greenhouse_geisser <= found.huynh_feldt <= 1
    True
    """
    values = as_scores(scores)
    units, systems = values.shape
    p, df = systems - 1, units - 1
    variances = _contrast_variances(values)
    squares = float((variances**2).sum())
    epsilon = float(variances.sum()) ** 2 / (p * squares) if squares > 0 else 1.0
    room = p * (df - p * epsilon)
    huynh = min((units * p * epsilon - 2) / room, 1.0) if room > 0 else 1.0
    f = anova(values).systems.f
    corrected = f_tail(f, epsilon * p, epsilon * p * df)
    return Sphericity(*_mauchly(variances, df), epsilon, max(huynh, epsilon), corrected)
