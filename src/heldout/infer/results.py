"""The results of tests and intervals, and conventions that all of them share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

import numpy as np

from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

__all__ = [
    "Alternative",
    "Interval",
    "Outcome",
    "PValue",
    "as_values",
    "check_alternative",
    "count_of",
    "drop_noise",
    "numeric_alternative",
]

Alternative = Literal["two-sided", "greater", "less"]
"""The alternative: any difference, the first system better, the first system worse."""

TIE: Final = 1e-12
"""Differences smaller than this, relative to the scores, are ties in all tests."""


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
        ``exact``, ``grid``, ``monte carlo``, or the reference distribution (``t``, …).
    error
        The error of p: a bound for ``grid``, the standard error for ``monte carlo``, else 0.
    detail
        A phrase, e.g. "all 1,024 sign assignments" or "100,000 replicates, seed 0".
    """

    test: str
    p: float
    statistic: float
    alternative: Alternative
    n: int
    method: str
    error: float = 0.0
    detail: str = ""


class PValue(NamedTuple):
    """A p-value and how it was computed; the parameters are those of `Outcome`."""

    p: float
    method: str
    error: float = 0.0
    detail: str = ""

    @classmethod
    def monte_carlo(
        cls, count: int, replicates: int, seed: int, drawn: str = "replicates"
    ) -> PValue:
        """Return (c + 1) / (B + 1) with its standard error.

        The observed data count as one more replicate: c / B could be 0 and would reject too often
        (Phipson & Smyth 2010).

        Parameters
        ----------
        count
            c, the replicates at least as extreme as the observed value.
        replicates, seed
            B and the random seed.
        drawn
            What the replicates are called in the detail.
        """
        p = (count + 1) / (replicates + 1)
        error = math.sqrt(p * (1 - p) / replicates)
        return cls(p, "monte carlo", error, f"{replicates:,} {drawn}, seed {seed}")

    def outcome(self, test: str, statistic: float, alternative: Alternative, n: int) -> Outcome:
        """Return the outcome of the test that this is the p-value of."""
        return Outcome(test, self.p, statistic, alternative, n, *self[1:])


class Interval(NamedTuple):
    """An interval for a quantity.

    Parameters
    ----------
    estimate, low, high
        The estimate and its bounds.
    level
        The confidence level, e.g. 0.95.
    method
        The method, e.g. ``t`` or ``bootstrap BCa``.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str


def as_values(values: Iterable[float], what: str = "values", least: int = 2) -> Floats:
    """Return the values as an array of floats; refuse too few, missing or infinite values."""
    array = np.asarray(list(values) if not isinstance(values, np.ndarray) else values, np.float64)
    if array.ndim != 1:
        raise InputError(
            f"{what}: expected one number per unit, got an array of shape {array.shape}"
        )
    if len(array) < least:
        raise InputError(f"{what}: expected at least {least} units, found {len(array)}")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise InputError(f"{what}: unit number {row + 1} is {array[row]}, not a finite number")
    return array


def drop_noise(first: Floats, second: Floats) -> Floats:
    """Return the differences of two lists of scores, exactly 0 where they are rounding noise."""
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


def numeric_alternative(alternative: Alternative, *, higher_is_better: bool) -> Alternative:
    """Return the alternative in terms of numbers: better means less where lower is better.

    Examples
    --------
    >>> numeric_alternative("greater", higher_is_better=False)
    'less'
    """
    if higher_is_better or alternative == "two-sided":
        return alternative
    return "less" if alternative == "greater" else "greater"
