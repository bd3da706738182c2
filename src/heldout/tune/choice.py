"""Choose one of several points by its values on the training units."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Flags, Floats
    from heldout.tune import Rule

TIE: Final = 1e-12
"""Relative differences between means below this count as ties."""


class Choice(NamedTuple):
    """The number of the chosen point, its mean over the units, and the mean of every point."""

    number: int
    mean: float
    means: Floats  # NaN: a point without values


NO_CHOICE: Final = Choice(0, math.nan, np.full(1, math.nan))
"""There is only one point."""


def choose(
    values: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    rule: Rule = "best",
    higher_is_better: bool = True,
) -> Choice:
    """Choose a point by its mean over units (points × units); ties go to the earliest point.

    NaN is an undefined value: a unit on which some point is undefined is left out for all points,
    so that all means are over the same units. A point without any value is never chosen. The
    `weights` say how often each unit counts (0: it is ignored); by default once. The rule ``best``
    takes the best mean, ``one-se`` the earliest point that is worse than the best by no more than
    one standard error of the mean of their paired differences over the units.

    >>> choose([[0.2, 0.4], [0.5, 0.3], [0.4, 0.4]]).number
    1
    >>> choose([[0.2, 0.4], [0.5, 0.3]], weights=[0, 1]).number
    0
    """
    table = np.asarray(values, np.float64)
    counts = np.ones(table.shape[1], np.int64) if weights is None else np.asarray(weights)
    places = np.flatnonzero(counts)
    seen, counts = table[:, places], counts[places].astype(np.int64)
    kept = complete_units(seen)
    if not kept.any():
        why = f"no point has a value on any of {len(places)} units"
        if not np.isnan(seen).all():
            why = (
                f"on each of {len(places)} units some point is undefined; remove points that are "
                "undefined on many units"
            )
        raise InputError(f"nothing to choose by: {why}")
    seen, counts = seen[:, kept], counts[kept]
    infinite = np.argwhere(np.isinf(seen))
    if len(infinite):
        point, unit = infinite[0]
        raise InputError(
            f"values: point {point}, unit {places[kept][unit]} is {seen[point, unit]}: expected "
            "finite numbers, or NaN where a value is undefined"
        )
    # Summed by NumPy itself: the summation order of BLAS depends on the number of threads.
    means: Floats = (seen * counts).sum(axis=1) / counts.sum()
    better = means if higher_is_better else -means
    best = _first_of_the_best(better)
    number = best if rule == "best" else _simplest(seen, counts, better, best)
    return Choice(number, float(means[number]), means)


def complete_units(values: Floats) -> Flags:
    """Return the units on which every point has a value, ignoring points without any value."""
    defined = ~np.isnan(values)
    has_values: Flags = np.logical_or.reduce(defined, axis=1, keepdims=True)
    complete: Flags = np.logical_and.reduce(defined | ~has_values, axis=0) & has_values.any()
    return complete


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
