"""Confidence levels: 0.95 is that of intervals, and of tests at the significance level 0.05."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DIGITS", "alpha_of", "check_level", "level_of", "refuse_old_names"]

DIGITS: Final = 15
"""So many decimals of 1 - level count: 1 - 0.95 is not quite 0.05, and p-values may be 0.05."""

P = ParamSpec("P")
R = TypeVar("R")


def check_level(level: float, *, one_sided: bool = False, name: str = "level=") -> float:
    """Refuse what is not a confidence level; below 0.5 it was meant the other way round.

    Parameters
    ----------
    level
        Such as 0.95.
    one_sided
        Whether two such bounds make an interval, so that 0.5 would leave nothing of it.
    name
        What the level is called where it was given.

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
        raise InputError(f"{name}{level:g}: expected more than 0.5 for one side")
    return float(level)


def alpha_of(level: float) -> float:
    """The significance level of tests at a confidence level: 0.05 for 0.95.

    Examples
    --------
    >>> 1 - 0.95 == 0.05, alpha_of(0.95) == 0.05
    (False, True)
    """
    return round(1.0 - level, DIGITS)


def level_of(alpha: float) -> float:
    """The confidence level that belongs to a significance level: 0.95 for 0.05."""
    return round(1.0 - alpha, DIGITS)


def refuse_old_names(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function that had ``alpha`` and ``tail`` say what they are called now."""

    @wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> R:
        if "alpha" in named:
            raise InputError("alpha was renamed to level: level=0.95 is alpha=0.05")
        if "tail" in named:
            raise InputError(
                'tail was renamed to alternative: "two-sided" (it was "two"), "greater" or "less"'
            )
        return function(*args, **named)

    return called
