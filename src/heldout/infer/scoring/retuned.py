"""Differences between systems that were tuned in folds: units vary, and so do the choices.

A t interval takes the parameters that the folds selected as given. They were selected on nearly the
same units, so that the folds err together, and such intervals are too short.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from heldout.infer.results import Interval, Outcome, check_alternative
from heldout.infer.scoring.base import RETUNED, MeanScoring
from heldout.infer.tests.paired import is_constant, t_tail, without_variance

if TYPE_CHECKING:
    from heldout.data.scores import ChoiceSpread
    from heldout.data.words import Floats
    from heldout.infer.results import Alternative

__all__ = [
    "RETUNED_INTERVAL",
    "RetunedScoring",
    "retuned_interval",
    "retuned_t_test",
    "retuned_variance",
]

RETUNED_INTERVAL: Final = "t with re-tuning"


def retuned_variance(differences: Floats, spread: ChoiceSpread | None) -> float:
    """Return the variance of a mean difference, with what the choices add.

    By the law of total variance: the variance over units, averaged over choices that could as well
    have been made (but never less than under the actual ones), plus the variance over the choices.

    Parameters
    ----------
    differences
        First minus second, one per unit.
    spread
        What choosing again has shown; None: neither system was tuned.

    Examples
    --------
    >>> import numpy as np
    >>> from heldout.data.scores import ChoiceSpread
    >>> values = np.array([0.1, 0.3, 0.2, 0.2])
    >>> round(retuned_variance(values, None), 6)
    0.001667
    >>> round(retuned_variance(values, ChoiceSpread(0.001, 0.002)), 6)
    0.003667
    """
    own = float(differences.var(ddof=1)) / len(differences)
    return own if spread is None else max(own, spread.units) + spread.choices


def retuned_t_test(
    differences: Floats, spread: ChoiceSpread | None, *, alternative: Alternative = "two-sided"
) -> Outcome:
    """Test whether the mean difference is zero, by t with `retuned_variance`.

    Parameters
    ----------
    differences, spread
        As for `retuned_variance`.
    alternative
        The alternative.
    """
    side, n = check_alternative(alternative), len(differences)
    variance = retuned_variance(differences, spread)
    if is_constant(differences) and not (spread is not None and variance > 0):
        return without_variance("retuned-t", differences, side)
    statistic = float(differences.mean()) / math.sqrt(variance)
    detail = f"{n - 1} degree{'s' if n > 2 else ''} of freedom, parameters selected again"
    p = t_tail(statistic, n - 1, side)
    return Outcome("retuned-t", p, statistic, side, n, "t", detail=detail)


def retuned_interval(
    differences: Floats, spread: ChoiceSpread | None, level: float = 0.95
) -> Interval:
    """Return the interval that `retuned_t_test` inverts.

    Parameters
    ----------
    differences, spread
        As for `retuned_variance`.
    level
        The confidence level.
    """
    from heldout.infer.intervals.units import t_quantile  # SciPy

    mean = float(differences.mean())
    half = t_quantile(level, len(differences) - 1) * math.sqrt(
        retuned_variance(differences, spread)
    )
    return Interval(mean, mean - half, mean + half, level, RETUNED_INTERVAL)


@dataclass(frozen=True, eq=False)
class RetunedScoring(MeanScoring):
    """Means over units of systems some of which were tuned in folds; see `MeanScoring`."""

    tests: tuple[str, ...] = RETUNED
    why: str = (
        "Parameters were selected in folds of nearly the same queries: the t test with re-tuning "
        "includes how much the selection varies (bootstrap of the training queries)"
    )

    def _spread(self, pair: tuple[int, int]) -> ChoiceSpread | None:
        names = self.scores.systems
        return self.scores.choice_spread(names[pair[0]], names[pair[1]])

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Any of the tests; ``retuned-t`` includes the choices."""
        if test == "retuned-t":
            return retuned_t_test(self.gaps(pair), self._spread(pair), alternative=alternative)
        return super().outcome(test, pair, alternative)

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """The interval that was asked for; by default t with what the choices add."""
        if self.interval:
            return super().difference(pair, level)
        return retuned_interval(self.gaps(pair), self._spread(pair), level)
