"""Differences between systems that were tuned in folds: the selected parameters vary, too.

The plain t interval treats the parameters that the folds selected as fixed. But any two training
sides share most of their units, so all folds tend to select the same, perhaps unlucky, parameters:
the errors of the folds are correlated, and the interval is too short (80-94 % coverage instead of
95 %, `benchmarks/fold_coverage.py`). The variance used here adds the variance over re-selections on
bootstrap samples of the units, which `heldout.tune.choice_variance` computes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.few_differ import added_variance
from heldout.infer.results import (
    Estimate,
    Interval,
    Outcome,
    check_alternative,
    do_not_vary,
    mean_estimate,
)
from heldout.infer.scoring import RETUNED, MeanScoring

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
    """Return the variance of a mean difference, including the selection of parameters.

    By the law of total variance: the variance over units, averaged over re-selections (but at least
    that of the actual selection), plus the variance over re-selections. If few units differ, it is
    enlarged (`heldout.infer.few_differ.added_variance`).

    Parameters
    ----------
    differences
        First minus second, one per unit.
    spread
        The variances over re-selections; None if neither system was tuned.

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
    over_units = float(differences.var(ddof=1)) / len(differences)
    added = float(added_variance(differences[:, None])[0])
    if spread is None:
        return over_units + added
    return max(over_units, spread.units) + added + spread.choices


def retuned_t_test(
    differences: Floats, spread: ChoiceSpread | None, *, alternative: Alternative = "two-sided"
) -> Outcome:
    """Test whether the mean difference is zero: t test with `retuned_variance`.

    Parameters
    ----------
    differences, spread
        As for `retuned_variance`.
    alternative
        The alternative.
    """
    side, n = check_alternative(alternative), len(differences)
    variance = retuned_variance(differences, spread)
    if do_not_vary(differences) and not (spread is not None and variance > 0):
        return mean_estimate(differences).outcomes("retuned-t", side, n)[0]
    mean = differences.mean(keepdims=True)
    estimate = Estimate(mean, np.sqrt([variance]), n - 1, RETUNED_INTERVAL)
    outcome = estimate.outcomes("retuned-t", side, n)[0]
    return outcome._replace(detail=f"{outcome.detail}, including re-tuning")


def retuned_interval(
    differences: Floats, spread: ChoiceSpread | None, level: float = 0.95
) -> Interval:
    """Return the interval that belongs to `retuned_t_test`.

    Parameters
    ----------
    differences, spread
        As for `retuned_variance`.
    level
        The confidence level.
    """
    from heldout.infer.intervals import t_quantile  # SciPy

    mean = float(differences.mean())
    half = t_quantile(level, len(differences) - 1) * math.sqrt(
        retuned_variance(differences, spread)
    )
    return Interval(mean, mean - half, mean + half, level, RETUNED_INTERVAL)


@dataclass(frozen=True, eq=False)
class RetunedScoring(MeanScoring):
    """Means over units, where some systems were tuned in folds; see `MeanScoring`."""

    tests: tuple[str, ...] = RETUNED
    why: str = (
        "Parameters were tuned in folds: the t test with re-tuning includes the variance of the "
        "selection (bootstrap of the training queries)"
    )

    def _spread(self, pair: tuple[int, int]) -> ChoiceSpread | None:
        names = self.scores.systems
        return self.scores.choice_spread(names[pair[0]], names[pair[1]])

    def outcome(self, test: str, pair: tuple[int, int], alternative: Alternative) -> Outcome:
        """Return any of the tests; ``retuned-t`` includes the selection of parameters."""
        if test == "retuned-t":
            return retuned_t_test(self.gaps(pair), self._spread(pair), alternative=alternative)
        return super().outcome(test, pair, alternative)

    def difference(self, pair: tuple[int, int], level: float) -> Interval:
        """Return the requested interval; by default t including the selection of parameters."""
        if self.interval:
            return super().difference(pair, level)
        return retuned_interval(self.gaps(pair), self._spread(pair), level)
