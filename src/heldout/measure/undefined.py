"""Undefined: the value of a measure whose formula divides by 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Number", "Undefined", "defined_or", "mean_of", "ratio"]


@dataclass(frozen=True, slots=True)
class Undefined:
    """A value that is undefined, with the reason; never 0 and never NaN.

    Parameters
    ----------
    reason
        Why the value is undefined.

    Examples
    --------
    >>> print(Undefined("no unit was predicted positive"))
    —
    """

    reason: str

    def __str__(self) -> str:
        return "—"


Number = float | Undefined
"""The value of a measure, which may be undefined."""


def defined_or(value: Number, other: float | None) -> Number:
    """Return a value, or `other` if the value is undefined and `other` is given."""
    return other if isinstance(value, Undefined) and other is not None else value


def ratio(above: float, below: float, reason: str) -> Number:
    """Return a quotient; undefined where the divisor is 0."""
    return float(above) / float(below) if below else Undefined(reason)


def mean_of(
    values: Sequence[Number], names: Sequence[str], weights: Sequence[float] | None = None
) -> Number:
    """Return the mean over classes; undefined if a class with weight is undefined."""
    shares = [1.0] * len(values) if weights is None else [float(one) for one in weights]
    total = 0.0
    for value, name, share in zip(values, names, shares, strict=True):
        if not share:
            continue
        if isinstance(value, Undefined):
            return Undefined(f"class {name}: {value.reason}")
        total += share * value
    return ratio(total, sum(shares), "no class has units")
