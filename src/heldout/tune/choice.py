"""Choose one of several points by its values on the training units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Flags, Floats

__all__ = ["Choice", "Rule", "choose", "complete_units"]

Rule = Literal["best", "one-se"]
"""The best mean, or the earliest (simplest) point within one standard error of it."""

TIE: Final = 1e-12
"""Relative differences between means below this count as ties."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The chosen point.

    Parameters
    ----------
    number
        Number of the chosen point.
    mean
        Its mean over the units.
    means
        The mean of every point; NaN for a point without values.
    se
        The standard error of the mean of the best point, over the units; NaN for a single unit.
    best
        The number of the best point; another one may be chosen under ``one-se``.
    units
        Number of units used, each counted as often as it was drawn.
    """

    number: int
    mean: float
    means: Floats
    se: float
    best: int
    units: int


def choose(
    values: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    rule: Rule = "best",
    higher_is_better: bool = True,
) -> Choice:
    """Choose a point by its mean over units.

    Parameters
    ----------
    values
        One row per point, one column per unit. NaN is an undefined value: a unit on which some
        point is undefined is left out for all points, so that all means are over the same units. A
        point without any value is never chosen.
    weights
        How often each unit counts (0: it is ignored); by default once.
    rule
        ``best``: the best mean. ``one-se``: the earliest point that is worse than the best by no
        more than one standard error of the mean of their paired differences over the units.
    higher_is_better
        Whether higher values are better.

    Returns
    -------
    Choice
        Ties (up to rounding) go to the earliest point.

    Examples
    --------
    >>> choose([[0.2, 0.4], [0.5, 0.3], [0.4, 0.4]]).number
    1
    >>> choose([[0.2, 0.4], [0.5, 0.3]], weights=[0, 1]).number
    0
    """
    table = as_table(values)
    if rule not in get_args(Rule):
        raise InputError(f"rule={rule!r}: expected one of {', '.join(get_args(Rule))}")
    counts = _as_weights(weights, table.shape[1])
    places = np.flatnonzero(counts)
    seen, counts = table[:, places], counts[places]
    kept = complete_units(seen)
    if not kept.any():
        raise InputError(_nothing_to_choose_by(len(places), seen))
    seen, counts = seen[:, kept], counts[kept]
    _refuse_infinite(seen, places[kept])
    means = _means(seen, counts)
    better = means if higher_is_better else -means
    best = _first_of_the_best(better)
    number = best if rule == "best" else _simplest(seen, counts, better, best)
    return Choice(
        number,
        float(means[number]),
        means,
        _standard_error(seen[best], counts),
        best,
        int(counts.sum()),
    )


def as_table(values: ArrayLike) -> Floats:
    """Return the values as an array with one row per point and one column per unit."""
    try:
        table = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"values: not a table of numbers ({error})") from None
    if table.ndim != 2 or not table.size:
        raise InputError(
            f"values: shape {table.shape}, expected one row per point and one column per unit"
        )
    return table


def _as_weights(weights: ArrayLike | None, units: int) -> NDArray[Any]:
    if weights is None:
        return np.ones(units, np.int64)
    found = np.asarray(weights)
    if found.shape != (units,):
        raise InputError(f"weights: shape {found.shape}, expected one for each of {units} units")
    if found.dtype.kind not in "iub" or (found.size and found.min() < 0):
        raise InputError("weights: expected non-negative integers (how often each unit counts)")
    return found.astype(np.int64)


def complete_units(values: Floats) -> Flags:
    """Return the units on which every point has a value, ignoring points without any value."""
    defined = ~np.isnan(values)
    has_values = defined.any(axis=1)
    if not has_values.any():
        return np.zeros(values.shape[1], np.bool_)
    found: Flags = np.logical_and.reduce(defined[has_values], axis=0)
    return found


def _nothing_to_choose_by(units: int, values: Floats) -> str:
    if not units:
        return "nothing to choose by: all weights are 0"
    if np.isnan(values).all():
        return f"nothing to choose by: no point has a value on any of {units} units"
    return (
        f"nothing to choose by: on each of {units} units some point is undefined; remove points "
        "that are undefined on many units"
    )


def _refuse_infinite(values: Floats, places: NDArray[Any]) -> None:
    endless = np.isinf(values)
    if endless.any():
        point, at = np.argwhere(endless)[0]
        raise InputError(
            f"values: point {point}, unit {places[at]} is {values[point, at]}: expected finite "
            "numbers, or NaN where a value is undefined"
        )


def _means(values: Floats, counts: NDArray[Any]) -> Floats:
    # Summed by NumPy itself: the summation order of BLAS depends on the number of threads.
    return (values * counts).sum(axis=1) / counts.sum()  # type: ignore[no-any-return]


def _first_of_the_best(better: Floats) -> int:
    """Return the first point that ties with the best; NaN never ties."""
    top = np.nanmax(better)
    scale = np.maximum(np.abs(better), abs(top))
    return int(np.argmax(top - better <= TIE * scale))


def _simplest(values: Floats, counts: NDArray[Any], better: Floats, best: int) -> int:
    """Return the earliest point within one standard error of the best."""
    for number in range(best):
        gap = better[best] - better[number]
        if gap <= _standard_error(values[best] - values[number], counts):
            return number
    return best


def _standard_error(values: Floats, counts: NDArray[Any]) -> float:
    """Return the standard error of the mean; a unit drawn twice counts as two draws."""
    total = int(counts.sum())
    if total < 2:
        return math.nan
    mean = (values * counts).sum() / total
    squares = (counts * (values - mean) ** 2).sum()
    return float(math.sqrt(squares / (total - 1) / total))
