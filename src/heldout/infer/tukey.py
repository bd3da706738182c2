"""Tukey's HSD with the pooled error of a block design, and letters."""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from string import ascii_letters
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.blocks import anova, as_scores
from heldout.infer.results import TIE, check_fraction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Floats

    Columns = NDArray[np.integer[Any]]

__all__ = [
    "Pair",
    "compact_letters",
    "critical_range",
    "range_tail",
    "tukey_hsd",
]

_POINTS: Final = 100
_LEAST: Final = 1e-10
"""Smaller p-values would be SciPy's rounding errors: it subtracts from 1."""


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
    check_fraction(level)
    values = as_scores(scores)
    units, k = values.shape
    means, scale = values.mean(0), float(np.abs(values).max())
    error = anova(values).residual
    second, first = np.triu_indices(k, 1)
    gaps = means[first] - means[second]
    gaps = np.where(np.abs(gaps) <= TIE * scale, 0.0, gaps)
    deviation = math.sqrt(error.mean_square / units)
    # Without error a difference is infinitely large, unless it is 0.
    ratios = np.where(gaps == 0, 0.0, np.inf)
    if deviation > 0:
        ratios = np.abs(gaps) / deviation
    p = range_tail(ratios, k, error.df)
    width = critical_range(1 - level, k, error.df) * deviation
    rows = zip(first, second, gaps, gaps - width, gaps + width, p, strict=True)
    return [Pair(int(a), int(b), *map(float, rest)) for a, b, *rest in rows]


def range_tail(ratios: Floats, k: int, df: float) -> Floats:
    """Return the chance of a studentized range of k means beyond each ratio, 1e-10 at least.

    SciPy takes 10 ms for each, so that many are interpolated.
    """
    from scipy.stats import studentized_range

    tail = studentized_range(k, df).sf
    distinct, places = np.unique(ratios, return_inverse=True)
    with warnings.catch_warnings(action="ignore"):  # of errors beyond 1e-11, SciPy's aim
        if len(distinct) <= _POINTS:
            tails = tail(distinct)[places].reshape(ratios.shape)
        else:
            top = 8.0
            while tail(top) > _LEAST:
                top *= 1.25
            curve = np.polynomial.Chebyshev.interpolate(tail, _POINTS - 1, [0.0, top])
            tails = curve(np.minimum(ratios, top))
    return np.where(np.isinf(ratios), 0.0, np.clip(tails, _LEAST, 1.0))


@lru_cache(maxsize=256)
def critical_range(p: float, k: int, df: float) -> float:
    """Return the studentized range of k means that is exceeded with chance p."""
    from scipy.stats import studentized_range

    with warnings.catch_warnings(action="ignore"):
        return float(studentized_range.isf(p, k, df))


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
