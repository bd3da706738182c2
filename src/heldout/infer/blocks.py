"""Analysis of variance in randomised blocks: every unit is scored under every system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

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
    "anova",
    "as_scores",
    "f_tail",
    "sphericity",
]


class Source(NamedTuple):
    """A row of the table: a source of variation.

    Parameters
    ----------
    name
        ``systems``, ``blocks`` or ``residual``.
    sum_of_squares, df, mean_square
        Its share of the variation, degrees of freedom, and their ratio.
    f, p
        The F ratio and its upper tail; NaN for the row that others are compared with.
    partial_eta_squared
        Effect size: the share of variation explained, of this source and the error; NaN likewise.
    """

    name: str
    sum_of_squares: float
    df: int
    mean_square: float
    f: float
    p: float
    partial_eta_squared: float


class Anova(NamedTuple):
    """A table of the analysis of variance.

    Parameters
    ----------
    systems, blocks
        The two factors.
    residual
        The variation that neither explains.
    total
        The total sum of squares.
    """

    systems: Source
    blocks: Source
    residual: Source
    total: float

    @property
    def mse(self) -> float:
        """The mean square of the residual."""
        return self.residual.mean_square


class Sphericity(NamedTuple):
    """Whether the differences of all pairs of systems have equal variance, as the F test assumes.

    Parameters
    ----------
    greenhouse_geisser
        The estimate of epsilon, by which both degrees of freedom of F are multiplied; 1 for perfect
        sphericity.
    corrected_p
        The p-value of the systems with the Greenhouse-Geisser correction.
    """

    greenhouse_geisser: float
    corrected_p: float


def as_scores(scores: ArrayLike) -> Floats:
    """Return the scores as an array units x systems; refuse invalid ones."""
    array = np.asarray(scores, np.float64)
    if array.ndim != 2:
        raise InputError(f"scores: expected units x systems, got an array of shape {array.shape}")
    for size, name in zip(array.shape, ("units", "systems"), strict=True):
        if size < 2:
            raise InputError(f"scores: expected at least 2 {name}, found {size}")
    if not np.isfinite(array).all():
        row, column = (int(at) for at in np.argwhere(~np.isfinite(array))[0])
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
    return Source(name, squares, df, squares / df, *(3 * [math.nan]))


def _tested(source: Source, error: Source) -> Source:
    """Return a source with its F against an error; infinite without error, NaN for 0/0."""
    if error.mean_square > 0:
        f = source.mean_square / error.mean_square
    else:
        f = math.inf if source.mean_square > 0 else math.nan
    both = source.sum_of_squares + error.sum_of_squares
    eta = source.sum_of_squares / both if both > 0 else 0.0
    return source._replace(f=f, p=f_tail(f, source.df, error.df), partial_eta_squared=eta)


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
    R. A. Fisher, The Design of Experiments (1935), chapter IV.

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
        _tested(_plain("systems", squares_systems, systems - 1), residual),
        _tested(_plain("blocks", squares_blocks, units - 1), residual),
        residual,
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


def sphericity(scores: ArrayLike) -> Sphericity:
    """Return how far the differences are from sphericity, and the p-value corrected for it.

    Parameters
    ----------
    scores
        Units x systems, complete.

    Returns
    -------
    Sphericity
        Systems that differ by constants only count as spherical.

    References
    ----------
    S. W. Greenhouse and S. Geisser, Psychometrika 24 (1959) 95-112.

    Examples
    --------
    >>> found = sphericity([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]])
    >>> 0.5 <= found.greenhouse_geisser <= 1
    True
    """
    values = as_scores(scores)
    units, systems = values.shape
    p, df = systems - 1, units - 1
    variances = _contrast_variances(values)
    squares = float((variances**2).sum())
    epsilon = float(variances.sum()) ** 2 / (p * squares) if squares > 0 else 1.0
    f = anova(values).systems.f
    return Sphericity(epsilon, f_tail(f, epsilon * p, epsilon * p * df))
