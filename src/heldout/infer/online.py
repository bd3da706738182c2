"""Online testing: p-values that come one after the other, without end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["lord_levels"]


def lord_levels(
    p_values: Sequence[float], *, alpha: float = 0.05, initial: float | None = None
) -> list[float]:
    """Test levels of LORD++ for p-values in the order they came.

    Parameters
    ----------
    p_values
        In order.
    alpha
        The false discovery rate wanted.
    initial
        The wealth before the first discovery, at most alpha; alpha / 2 by default.

    Returns
    -------
    list of float
        One level a p-value; it is a discovery when it is at most its level. A level depends on
        earlier p-values only.

    References
    ----------
    Ramdas, Yang, Wainwright & Jordan (2017). Online control of the false discovery rate with
    decaying memory. NeurIPS 30. Javanmard & Montanari (2018). Online rules for control of false
    discovery rate and false discovery exceedance. Annals of Statistics 46(2), equation 31 (the
    sequence that spends the wealth).
    """
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha={alpha}: expected between 0 and 1")
    wealth = alpha / 2.0 if initial is None else initial
    if not 0.0 < wealth <= alpha:
        raise InputError(f"initial={wealth}: expected more than 0 and at most alpha ({alpha})")
    levels: list[float] = []
    discoveries: list[int] = []
    for time, p in enumerate(p_values, start=1):
        level = wealth * _spend(time)
        for number, found in enumerate(discoveries):
            # The first discovery gives back what the initial wealth had not already lent.
            level += (alpha - wealth if number == 0 else alpha) * _spend(time - found)
        levels.append(level)
        if p <= level:
            discoveries.append(time)
    return levels


def _spend(time: int) -> float:
    """The share of the wealth spent on the time-th test; the shares sum to 1."""
    return 0.07720838 * math.log(max(time, 2)) / (time * math.exp(math.sqrt(math.log(time))))
