"""Online testing: p-values that come one after the other, without end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heldout.errors import InputError
from heldout.infer.levels import alpha_of, check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["lord_levels"]


def lord_levels(
    p_values: Sequence[float], *, level: float = 0.95, initial: float | None = None
) -> list[float]:
    """Test levels of LORD++ for p-values in the order they came.

    Parameters
    ----------
    p_values
        In order.
    level
        The false discovery rate wanted is 1 - level.
    initial
        The wealth before the first discovery, at most 1 - level; half of it by default.

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
    alpha = alpha_of(check_level(level))
    wealth = alpha / 2.0 if initial is None else initial
    if not 0.0 < wealth <= alpha:
        raise InputError(f"initial={wealth}: expected more than 0 and at most 1 - level ({alpha})")
    levels: list[float] = []
    discoveries: list[int] = []
    for time, p in enumerate(p_values, start=1):
        own = wealth * _spend(time)
        for number, found in enumerate(discoveries):
            # The first discovery gives back what the initial wealth had not already lent.
            own += (alpha - wealth if number == 0 else alpha) * _spend(time - found)
        levels.append(own)
        if p <= own:
            discoveries.append(time)
    return levels


def _spend(time: int) -> float:
    """The share of the wealth spent on the time-th test; the shares sum to 1."""
    return 0.07720838 * math.log(max(time, 2)) / (time * math.exp(math.sqrt(math.log(time))))
