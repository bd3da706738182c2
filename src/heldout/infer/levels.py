"""Confidence levels: 0.95 is that of intervals, and of tests at the significance level 0.05."""

from __future__ import annotations

from typing import Final

from heldout.errors import InputError

__all__ = ["DIGITS", "alpha_of", "check_fraction", "check_level", "level_of"]

DIGITS: Final = 15
"""Decimals that 1 - level is rounded to: 1 - 0.95 is not exactly 0.05, but a p-value may be."""


def check_level(level: float, *, one_sided: bool = False, name: str = "level=") -> float:
    """Refuse a number that is not a confidence level; below 0.5 it is probably alpha.

    Parameters
    ----------
    level
        Such as 0.95.
    one_sided
        Whether it is the level of a one-sided bound; two bounds at level 0.5 leave no interval.
    name
        How messages name the level.

    Examples
    --------
    >>> check_level(0.05)
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: level=0.05: did you mean 0.95?
    """
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise InputError(f"{name}{level}: expected a number between 0.5 and 1, such as 0.95")
    if level < 0.5:
        raise InputError(f"{name}{level:g}: did you mean {level_of(level):g}?")
    if one_sided and level == 0.5:
        raise InputError(f"{name}{level:g}: expected above 0.5 for a one-sided test")
    return float(level)


def check_fraction(value: float, name: str = "level", example: str = "0.95") -> float:
    """Refuse a number that is not between 0 and 1.

    For levels inside an analysis, which may be below 0.5: those of users go through `check_level`.

    Examples
    --------
    >>> check_fraction(95)
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: level=95: expected a number between 0 and 1, such as 0.95
    """
    if not 0.0 < value < 1.0:
        raise InputError(f"{name}={value}: expected a number between 0 and 1, such as {example}")
    return value


def alpha_of(level: float) -> float:
    """Return the significance level of tests at a confidence level: 0.05 for 0.95.

    Examples
    --------
    >>> 1 - 0.95 == 0.05, alpha_of(0.95) == 0.05
    (False, True)
    """
    return round(1.0 - level, DIGITS)


def level_of(alpha: float) -> float:
    """Return the confidence level of a significance level: 0.95 for 0.05."""
    return round(1.0 - alpha, DIGITS)
