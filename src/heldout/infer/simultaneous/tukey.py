"""Tukey's HSD with the pooled error of a block design, and letters."""

from __future__ import annotations

import math
from string import ascii_letters
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

import numpy as np

from heldout.errors import InputError
from heldout.infer.levels import check_fraction
from heldout.infer.results import TIE
from heldout.infer.simultaneous.blocks import anova, anova_with_replicates, as_scores
from heldout.infer.simultaneous.studentized import (
    critical_range,
    studentized_range_sf,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Floats
    from heldout.infer.simultaneous.blocks import Source

    Columns = NDArray[np.integer[Any]]

__all__ = [
    "ErrorTerm",
    "Pair",
    "compact_letters",
    "tukey_hsd",
    "tukey_hsd_replicates",
    "tukey_kramer",
]

ErrorTerm = Literal["additive", "interaction", "within"]
"""The error term when there are replicates; see `tukey_hsd_replicates`."""


class Pair(NamedTuple):
    """A comparison of two systems.

    Parameters
    ----------
    first, second
        Their columns.
    difference
        The mean of the first minus the mean of the second.
    low, high
        The simultaneous confidence interval of the difference.
    p
        The p-value, adjusted for the whole family.
    """

    first: int
    second: int
    difference: float
    low: float
    high: float
    p: float


def _ratios(differences: Floats, errors: Floats | float) -> Floats:
    """Return differences over their standard error; infinite, or 0 for 0, without error."""
    errors = np.broadcast_to(np.asarray(errors, np.float64), differences.shape)
    unlike = np.where(differences == 0, 0.0, np.copysign(np.inf, differences))
    return np.divide(differences, errors, out=unlike, where=errors > 0)


def _differences(means: Floats, first: Columns, second: Columns, scale: float) -> Floats:
    gaps = means[first] - means[second]
    return np.where(np.abs(gaps) <= TIE * scale, 0.0, gaps)


def _all_pairs(
    means: Floats, scale: float, error: Source, per_mean: float, level: float
) -> list[Pair]:
    """Return Tukey's comparisons of all pairs, for means of `per_mean` observations."""
    check_fraction(level)
    k = len(means)
    second, first = np.triu_indices(k, 1)
    gaps = _differences(means, first, second, scale)
    deviation = math.sqrt(error.mean_square / per_mean)
    p = studentized_range_sf(np.abs(_ratios(gaps, deviation)), k, error.df)
    width = critical_range(1 - level, k, error.df) * deviation
    rows = zip(first, second, gaps, gaps - width, gaps + width, p, strict=True)
    return [Pair(int(a), int(b), *map(float, rest)) for a, b, *rest in rows]


def tukey_hsd(scores: ArrayLike, level: float = 0.95) -> list[Pair]:
    """Return Tukey's honestly significant differences with the residual error of the blocks.

    Parameters
    ----------
    scores
        Units x systems, complete.
    level
        The simultaneous confidence level of all intervals.

    Returns
    -------
    list of Pair
        Every later system minus every earlier one, ordered as in R's ``TukeyHSD``. The half-width
        of the intervals is Q(k, (b-1)(k-1)) √(MSE / b) with the residual mean square MSE of
        `anova`: unlike in one-way procedures, differences between units are removed. Systems that
        differ by a constant have p = 0, identical systems p = 1.

    References
    ----------
    J. W. Tukey, The problem of multiple comparisons (1953); for topics by systems B. A. Carterette,
    Multiple testing in statistical analysis of systems-based information retrieval experiments,
    ACM Trans. Inf. Syst. 30 (2012).

    Examples
    --------
    >>> for pair in tukey_hsd([[1, 2, 4], [2, 4, 5], [3, 3, 6], [1, 4, 4]]):
    ...     print(pair.first, pair.second, round(pair.difference, 4), round(pair.p, 4))
    1 0 1.5 0.0659
    2 0 3.0 0.0031
    2 1 1.5 0.0659
    """
    values = as_scores(scores)
    scale = float(np.abs(values).max())
    return _all_pairs(values.mean(0), scale, anova(values).residual, len(values), level)


def tukey_hsd_replicates(
    scores: ArrayLike, level: float = 0.95, error: ErrorTerm = "additive"
) -> list[Pair]:
    """Return Tukey's honestly significant differences with several observations per cell.

    Parameters
    ----------
    scores
        Units x systems x replicates, complete.
    level
        The simultaneous confidence level of all intervals.
    error
        ``additive``: the residual of the model units + systems, interaction included;
        ``interaction``: the mean square of systems x units, for claims about new units;
        ``within``: the variation of the replicates, for claims about these units only.

    Returns
    -------
    list of Pair
        As `tukey_hsd` gives them.
    """
    if error not in get_args(ErrorTerm):
        raise InputError(f"error={error!r}: expected one of {', '.join(get_args(ErrorTerm))}")
    values = as_scores(scores, 3)
    table = anova_with_replicates(values)
    within, crossed = table.residual, cast("Source", table.interaction)
    squares, df = within.sum_of_squares + crossed.sum_of_squares, within.df + crossed.df
    pooled = within._replace(sum_of_squares=squares, df=df, mean_square=squares / df)
    chosen = {"additive": pooled, "interaction": crossed, "within": within}[error]
    means, scale = values.mean((0, 2)), float(np.abs(values).max())
    return _all_pairs(means, scale, chosen, values.shape[0] * values.shape[2], level)


def tukey_kramer(
    values: ArrayLike, systems: Sequence[int], units: Sequence[int], level: float = 0.95
) -> list[Pair]:
    """Return Tukey's comparisons in the additive model for unequal numbers of observations.

    Parameters
    ----------
    values
        One number per observation.
    systems, units
        The system and the unit of each observation, numbered from 0.
    level
        The simultaneous confidence level of all intervals.

    Returns
    -------
    list of Pair
        Differences of the least-squares means, each with its own standard error (Kramer's
        extension, conservative); equal to `tukey_hsd_replicates` for equal numbers.

    References
    ----------
    C. Y. Kramer, Extension of multiple range tests to group correlated adjusted means, Biometrics
    13 (1957) 13-18.
    """
    check_fraction(level)
    y = np.asarray(values, np.float64)
    k, design = _design(y, np.asarray(systems), np.asarray(units))
    inverse = np.linalg.pinv(design.T @ design)
    effects = inverse @ (design.T @ y)
    df = len(y) - design.shape[1]
    residual = y - design @ effects
    scale = float(np.abs(y).max())
    mse = float((np.where(np.abs(residual) <= TIE * scale, 0.0, residual) ** 2).sum()) / df
    second, first = np.triu_indices(k, 1)
    gaps = _differences(np.append(0.0, effects[: k - 1]), first, second, scale)
    # Systems are columns 0 to k - 2 of the design, the first system being the reference.
    cover = np.pad(inverse[: k - 1, : k - 1], ((1, 0), (1, 0)))
    spread = cover[first, first] + cover[second, second] - 2 * cover[first, second]
    deviation = np.sqrt(mse * spread / 2)
    p = studentized_range_sf(np.abs(_ratios(gaps, deviation)), k, df)
    width = critical_range(1 - level, k, df) * deviation
    rows = zip(first, second, gaps, gaps - width, gaps + width, p, strict=True)
    return [Pair(int(a), int(b), *map(float, rest)) for a, b, *rest in rows]


def _design(y: Floats, systems: Columns, units: Columns) -> tuple[int, Floats]:
    """Return the number of systems, and indicators of all systems but the first and all units."""
    if not (y.ndim == 1 and y.shape == systems.shape == units.shape):
        raise InputError(
            f"values, systems, units: expected lists of one length, got shapes {y.shape}, "
            f"{systems.shape}, {units.shape}"
        )
    if not np.isfinite(y).all():
        raise InputError(f"values: number {int(np.argmin(np.isfinite(y))) + 1} is not finite")
    names = np.unique(systems)
    if len(names) < 2 or not np.array_equal(names, np.arange(len(names))):
        raise InputError("systems: expected consecutive numbers from 0, at least 2 systems")
    blocks = np.unique(units)
    design = np.concatenate(
        [systems[:, None] == names[1:], units[:, None] == blocks], axis=1
    ).astype(np.float64)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise InputError("systems, units: some systems are not connected by common units")
    if len(y) <= design.shape[1]:
        raise InputError(f"values: {len(y)} observations are too few to estimate the error")
    return len(names), design


def compact_letters(
    n_systems: int,
    different_pairs: Iterable[tuple[int, int]],
    order: Sequence[int] | None = None,
) -> list[str]:
    """Return letters such that systems are different exactly if they share none.

    Parameters
    ----------
    n_systems
        The number of systems.
    different_pairs
        The significantly different pairs.
    order
        The systems in the order of display: the first systems get the first letters.

    Returns
    -------
    list of str
        The letters of each system. After z comes A, after Z a1.

    References
    ----------
    H.-P. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons,
    J. Comput. Graph. Stat. 13 (2004) 456-466: insert and absorb.

    Examples
    --------
    >>> compact_letters(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    listed = list(range(n_systems)) if order is None else [int(at) for at in order]
    if sorted(listed) != list(range(n_systems)):
        raise InputError(f"order: expected every system from 0 to {n_systems - 1} once")
    place = {system: at for at, system in enumerate(listed)}
    columns = [(1 << n_systems) - 1] if n_systems else []
    for one, other in different_pairs:
        if one not in place or other not in place or one == other:
            raise InputError(
                f"different_pairs: ({one}, {other}) is not a pair of {n_systems} systems"
            )
        columns = _insert(columns, 1 << place[one], 1 << place[other])
    members = sorted([at for at in range(n_systems) if column >> at & 1] for column in columns)
    letters = [""] * n_systems
    for number, column in enumerate(members):
        for at in column:
            letters[listed[at]] += _letter(number)
    return letters


def _insert(columns: list[int], one: int, other: int) -> list[int]:
    """Separate two systems (bits) that share a column; drop columns that are within others."""
    kept = [column for column in columns if not (column & one and column & other)]
    parted = [column for column in columns if column & one and column & other]
    new = [column & ~bit for column in parted for bit in (one, other)]
    # Only new columns can lie within another one: the old ones were absorbed before.
    for at, column in enumerate(new):
        rest = kept + new[at + 1 :]
        if not any(column & ~wider == 0 for wider in rest):
            kept.append(column)
    return kept


def _letter(number: int) -> str:
    turn, at = divmod(number, len(ascii_letters))
    return ascii_letters[at] + (str(turn) if turn else "")
