"""Power of the designs that experiments have: units, documents and folds.

Each design answers three questions: how much data is needed to detect a difference, which
difference an amount of data detects, and how much data an interval of a given width needs.

- `UnitDesign`: differences per query, instance or segment with a standard deviation; paired t test.
- `ScaledDesign`: a difference whose standard error decreases with a power of the amount of data (by
  default the square root) at constant degrees of freedom: documents with a fixed set of queries,
  and rows with a fixed number of folds (corrected resampled t test).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from heldout.errors import InputError
from heldout.infer.power import (
    MOST_UNITS,
    detectable_difference,
    power_of_shift,
    queries_needed,
    smallest_n,
    smallest_value,
)
from heldout.infer.results import Alternative, alpha_of, as_values, check_alternative, check_level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

__all__ = [
    "DOCUMENT_RATE",
    "Goal",
    "PowerDesign",
    "ScaledDesign",
    "UnitDesign",
    "fold_design",
]

DOCUMENT_RATE: Final = 0.25
"""The standard error of a difference decreases with this power of the number of documents.

Measured for nDCG@10 on four collections: 0 to .33 (`benchmarks/power_designs.py`). It is below the
square root because a measure depends on the few documents at the top of a list.
"""

FAR_BEYOND: Final = 100.0
"""Logarithms of ratios above this are treated as infinite."""


class Goal(NamedTuple):
    """The target of a plan.

    Parameters
    ----------
    power
        The probability that the test detects the difference.
    level
        The confidence level; the test is at 1 - level.
    alternative
        Of the test.
    """

    power: float = 0.8
    level: float = 0.95
    alternative: Alternative = "two-sided"

    def check(self) -> float:
        """Return the significance level; refuse an invalid goal."""
        check_alternative(self.alternative)
        check_level(self.level)
        alpha = alpha_of(self.level)
        if not alpha < self.power < 1:
            raise InputError(
                f"power={self.power}: expected a number between 1 - level ({alpha:g}) and 1"
            )
        return alpha

    def check_difference(self, delta: float) -> float:
        """Return the size of a difference; refuse one in the direction that is not tested."""
        if not math.isfinite(delta) or delta == 0:
            raise InputError(f"delta={delta}: expected a difference other than zero")
        if delta * {"less": -1, "greater": 1, "two-sided": delta}[self.alternative] < 0:
            raise InputError(
                f"delta={delta}: has the wrong sign for alternative={self.alternative!r}"
            )
        return abs(delta)

    @property
    def side(self) -> Alternative:
        """``two-sided`` or ``greater``: for ``less`` the signs are reversed."""
        return "two-sided" if self.alternative == "two-sided" else "greater"

    def signed(self, size: float) -> float:
        """Return a difference of this size, in the tested direction."""
        return -size if self.alternative == "less" else size


class PowerDesign(Protocol):
    """A design to plan with; amounts are numbers of units, documents or rows."""

    def needed(self, delta: float, goal: Goal) -> int:
        """Return the smallest amount that detects a true difference."""

    def detectable(self, n: int, goal: Goal) -> float:
        """Return the smallest true difference that an amount detects; NaN if there is none."""

    def for_width(self, half: float, level: float) -> int:
        """Return the smallest amount whose interval is expected to be no wider than ± half."""


@dataclass(frozen=True, slots=True)
class UnitDesign:
    """Differences of paired units, compared by their mean.

    Parameters
    ----------
    sd
        Their standard deviation.

    Examples
    --------
    >>> design = UnitDesign(0.15)
    >>> design.needed(0.02, Goal()), design.for_width(0.02, 0.95)
    (444, 219)
    """

    sd: float

    def needed(self, delta: float, goal: Goal) -> int:
        """Return the units that `queries_needed` gives."""
        return queries_needed(self.sd, delta, **goal._asdict())

    def detectable(self, n: int, goal: Goal) -> float:
        """Return the difference that `detectable_difference` gives."""
        return detectable_difference(self.sd, n, **goal._asdict())

    def for_width(self, half: float, level: float) -> int:
        """Return the units whose t interval, with this standard deviation, is narrow enough."""
        _check_width(half)
        check_level(level)
        units = smallest_n(lambda n: -_t(level, n - 1) * self.sd / math.sqrt(n), -half)
        return _reachable(units, f"an interval of ± {half:g}")


@dataclass(frozen=True, slots=True)
class ScaledDesign:
    """A difference whose standard error decreases with a power of the amount of data.

    Parameters
    ----------
    error
        The standard error of the difference.
    freedom
        Its degrees of freedom, which do not depend on the amount of data.
    size
        The amount of data that it was estimated from.
    rate
        The error decreases with this power of the amount: .5 is the square root.

    Examples
    --------
    >>> design = ScaledDesign(error=0.012, freedom=224, size=1400)
    >>> design.needed(0.02, Goal()), round(design.detectable(5600, Goal()), 4)
    (3991, 0.0169)
    """

    error: float
    freedom: int
    size: int
    rate: float = 0.5

    def __post_init__(self) -> None:
        if not (math.isfinite(self.error) and self.error > 0):
            raise InputError(f"error={self.error}: expected a standard error above zero")
        if not 0 < self.rate <= 1:
            raise InputError(f"rate={self.rate}: expected a power between 0 and 1, such as 0.5")
        if self.freedom < 1 or self.size < 1:
            raise InputError(
                f"freedom={self.freedom}, size={self.size}: expected positive integers"
            )

    def power(self, n: int, delta: float, goal: Goal) -> float:
        """Return the power to detect a true difference with an amount of data."""
        goal.check()
        shift = delta / self.error * (n / self.size) ** self.rate
        return power_of_shift(shift, self.freedom, alpha_of(goal.level), goal.alternative)

    def needed(self, delta: float, goal: Goal) -> int:
        """Return the amount at which the standard error is small enough for the power."""
        ratio = self._shift(goal) * self.error / goal.check_difference(delta)
        return _whole(self._amount(ratio), f"a difference of {delta:g}")

    def detectable(self, n: int, goal: Goal) -> float:
        """Return the difference that is large enough, in standard errors, for the power."""
        if n < 1:
            raise InputError(f"n={n}: expected a positive integer")
        return goal.signed(self._shift(goal) * self.error * (self.size / n) ** self.rate)

    def for_width(self, half: float, level: float) -> int:
        """Return the amount whose t interval is narrow enough."""
        _check_width(half)
        ratio = _t(check_level(level), self.freedom) * self.error / half
        return _whole(self._amount(ratio), f"an interval of ± {half:g}")

    def _amount(self, ratio: float) -> float:
        """Return the amount whose standard error is `ratio` times smaller."""
        logarithm = math.log(ratio) / self.rate
        return self.size * math.exp(logarithm) if logarithm < FAR_BEYOND else math.inf

    def _shift(self, goal: Goal) -> float:
        alpha = goal.check()
        return smallest_value(
            lambda shift: power_of_shift(shift, self.freedom, alpha, goal.side), goal.power
        )


def fold_design(differences: Iterable[float], test_share: float, size: int) -> ScaledDesign:
    """Return the design of a comparison over folds by the corrected resampled t test.

    More repeats of the same folds add little information. The plan is for more rows in the same
    number of folds; the variance of a fold's score is assumed to be inversely proportional to its
    rows.

    Parameters
    ----------
    differences
        First minus second, one per fold (of all repeats).
    test_share
        n_test / n_train.
    size
        The number of rows in all folds.

    References
    ----------
    Nadeau & Bengio (2003). Inference for the generalization error. Machine Learning 52(3).
    """
    from heldout.infer.paired import check_share  # SciPy

    values: Floats = as_values(differences, "differences")
    factor = 1.0 / len(values) + check_share(test_share)
    return ScaledDesign(math.sqrt(float(values.var(ddof=1)) * factor), len(values) - 1, size)


def _t(level: float, freedom: int) -> float:
    from heldout.infer.results import t_quantile

    return t_quantile(freedom, (1 - level) / 2)


def _check_width(half: float) -> None:
    if not (math.isfinite(half) and half > 0):
        raise InputError(f"half-width {half:g}: expected a number above 0")


def _whole(amount: float, what: str) -> int:
    return _reachable(math.ceil(amount * (1 - 1e-12)) if amount <= MOST_UNITS else None, what)


def _reachable(amount: int | None, what: Any) -> int:
    if amount is None:
        raise InputError(f"{what} needs more than {MOST_UNITS:,} units: choose a larger one")
    return amount
