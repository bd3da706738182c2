"""Power with human and machine judgements: how many human queries a difference needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from heldout.errors import InputError
from heldout.infer.power import MOST_UNITS, power_of_shift, smallest_n, smallest_value
from heldout.infer.results import t_quantile

if TYPE_CHECKING:
    from heldout.data.words import Floats
    from heldout.infer.power_designs import Goal

__all__ = ["MachineDesign", "machine_design"]


@dataclass(frozen=True, slots=True)
class MachineDesign:
    """Differences of queries with human judgements, helped by a machine that judges all queries.

    With n human queries of `total`, the variance of the combined difference is
    sd² ((1 - r²) / n + r² / total), where r is the correlation of the differences under both
    judgements: human queries reduce the first part only. Beyond `total`, all queries have human
    judgements and the machine adds nothing.

    Parameters
    ----------
    sd
        Standard deviation of the differences under human judgements.
    correlation
        Their correlation with those under machine judgements; 0 for a negative one.
    total
        The number of queries that the machine has judged, those with human judgements included.

    Examples
    --------
    >>> from heldout.infer.power_designs import Goal
    >>> [MachineDesign(0.15, r, 1000).needed(0.03, Goal()) for r in (0.0, 0.5, 0.8)]
    [199, 157, 84]
    """

    sd: float
    correlation: float
    total: int

    def error(self, n: int) -> float:
        """Return the standard error of the combined difference with n human queries."""
        shared = self.correlation**2
        if n >= self.total:
            return self.sd / math.sqrt(n)
        return self.sd * math.sqrt((1 - shared) / n + shared / self.total)

    def needed(self, delta: float, goal: Goal) -> int:
        """Return the smallest number of human queries that detects a true difference."""
        alpha, size = goal.check(), goal.check_difference(delta)

        def power_at(n: int) -> float:
            return power_of_shift(size / self.error(n), n - 1, alpha, goal.side)

        number = smallest_n(power_at, goal.power)
        if number is None:
            raise InputError(
                f"delta={delta}: needs more than {MOST_UNITS:,} queries; choose a larger difference"
            )
        return number

    def detectable(self, n: int, goal: Goal) -> float:
        """Return the smallest true difference that n human queries detect."""
        alpha = goal.check()
        if n < 2:
            raise InputError(f"n={n}: expected at least 2 queries")
        shift = smallest_value(
            lambda size: power_of_shift(size, n - 1, alpha, goal.side), goal.power
        )
        return goal.signed(shift * self.error(n))

    def for_width(self, half: float, level: float) -> int:
        """Return the smallest number of human queries whose interval is no wider than ± half."""
        if not (math.isfinite(half) and half > 0):
            raise InputError(f"half_width={half}: expected a positive number")
        number = smallest_n(lambda n: -t_quantile(n - 1, (1 - level) / 2) * self.error(n), -half)
        if number is None:
            raise InputError(f"half_width={half}: needs more than {MOST_UNITS:,} queries")
        return number


def machine_design(human: Floats, machine: Floats, extra: int) -> MachineDesign:
    """Return the design of a pilot.

    Parameters
    ----------
    human, machine
        Differences of the pilot's queries under both judgements.
    extra
        The number of further queries that the machine has judged.
    """
    n = len(human)
    sd = float(human.std(ddof=1))
    covariance = float(np.cov(human, machine)[0, 1])
    spread = sd * float(machine.std(ddof=1))
    plain = max(0.0, covariance / spread) if spread > 0 else 0.0
    # A small pilot overstates the correlation: R² adjusted for its degrees of freedom.
    adjusted = 1 - (1 - plain**2) * (n - 1) / (n - 2) if n > 2 else 0.0
    return MachineDesign(sd, math.sqrt(max(0.0, adjusted)), n + extra)
