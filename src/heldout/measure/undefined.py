"""Undefined: what a measure is when its formula divides by nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Number", "Undefined", "defined_or", "mean_of", "ratio"]


@dataclass(frozen=True, slots=True)
class Undefined:
    """A value that does not exist, with the reason; never 0 and never NaN.

    Parameters
    ----------
    reason
        Why there is none.

    Examples
    --------
    >>> print(Undefined("nothing was predicted positive"))
    —
    """

    reason: str

    def __str__(self) -> str:
        return "—"


Number = float | Undefined
"""A value of a measure, which may not exist."""


def defined_or(value: Number, other: float | None) -> Number:
    """A value; where it does not exist another one, if there is any."""
    return other if isinstance(value, Undefined) and other is not None else value


def ratio(above: float, below: float, reason: str) -> Number:
    """A quotient; undefined where the divisor is 0."""
    return float(above) / float(below) if below else Undefined(reason)


def mean_of(
    values: Sequence[Number], names: Sequence[str], weights: Sequence[float] | None = None
) -> Number:
    """The mean over classes; undefined if it is for any class that has weight."""
    shares = [1.0] * len(values) if weights is None else [float(one) for one in weights]
    total = 0.0
    for value, name, share in zip(values, names, shares, strict=True):
        if not share:
            continue
        if isinstance(value, Undefined):
            return Undefined(f"class {name}: {value.reason}")
        total += share * value
    return ratio(total, sum(shares), "no class has any unit")
