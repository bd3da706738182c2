"""What tests and intervals give back, and what they all agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.data.notes import count_of
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

__all__ = [
    "Alternative",
    "Interval",
    "Outcome",
    "as_values",
    "check_alternative",
    "count_of",
    "drop_noise",
]

Alternative = Literal["two-sided", "greater", "less"]
"""The alternative: a difference either way, the first system better, the first system worse."""

TIE: Final = 1e-12
"""Differences smaller than this share of the scores are ties, everywhere."""


class Outcome(NamedTuple):
    """The outcome of a test.

    Parameters
    ----------
    test
        Its name, e.g. ``randomization``.
    p
        The p-value.
    statistic
        The observed statistic.
    alternative
        The alternative.
    n
        The number of units.
    method
        ``exact``, ``grid``, ``monte carlo``, or the distribution it was taken from (``t``, …).
    error
        How far p may be off: the bound of a grid p, the standard error of a Monte Carlo p; 0 else.
    detail
        One clause in words, e.g. "all 1,024 sign assignments" or "100,000 draws, seed 0".
    """

    test: str
    p: float
    statistic: float
    alternative: Alternative
    n: int
    method: str
    error: float = 0.0
    detail: str = ""


class Interval(NamedTuple):
    """An interval for a quantity.

    Parameters
    ----------
    estimate, low, high
        The estimate and its bounds.
    level
        The confidence level, e.g. 0.95.
    method
        How it was made, e.g. ``t`` or ``bootstrap BCa``.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str


def as_values(values: Iterable[float], what: str = "values", least: int = 2) -> Floats:
    """The values as an array of floats, refusing what no test can use."""
    array = np.asarray(list(values) if not isinstance(values, np.ndarray) else values, np.float64)
    if array.ndim != 1:
        raise InputError(f"{what}: expected one number a unit, got an array of shape {array.shape}")
    if len(array) < least:
        raise InputError(f"{what}: {len(array)} units, but at least {least} are needed")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise InputError(f"{what}: unit number {row + 1} is {array[row]}, not a finite number")
    return array


def drop_noise(first: Floats, second: Floats) -> Floats:
    """Differences of two score lists, exactly 0 where they are ties but for rounding."""
    difference = first - second
    scale = np.maximum(np.abs(first), np.abs(second))
    return np.where(np.abs(difference) <= TIE * scale, 0.0, difference)


def check_alternative(alternative: str) -> Alternative:
    """Refuse an unknown alternative."""
    if alternative not in get_args(Alternative):
        raise InputError(
            f"alternative={alternative!r}: expected one of {', '.join(get_args(Alternative))}"
        )
    return alternative  # type: ignore[return-value]
