"""DeLong's standard errors of areas under ROC curves on the same units, as estimates.

DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or more correlated receiver
operating characteristic curves", Biometrics 44.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from heldout.infer.results import Estimate, Interval
from heldout.measure.prediction.order import auc_covariance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from heldout.data.words import Ints


def delong(
    positive: ArrayLike,
    scores: ArrayLike,
    first: Ints | None = None,
    second: Ints | None = None,
) -> Estimate:
    """Return the area of each column of scores, or the differences first minus second of columns.

    A difference of areas can have no variance, such as that of a classifier that separates the
    classes and one that gives all units the same score: then only the signs of units are evidence.

    >>> delong([1, 1, 0, 0], [[4, 4], [2, 2], [3, 3], [1, 1]], [0], [1]).p()
    array([1.])
    """
    areas, table, positives, negatives = auc_covariance(positive, scores)
    value, variance = areas, np.diag(table)
    if first is not None and second is not None:
        value = areas[first] - areas[second]
        both = variance[first] + variance[second]
        variance = both - 2 * table[first, second]
        # Where the components of both systems are equal, rounding leaves tiny numbers.
        variance = np.where(variance <= 1e-15 * (both + 1e-15), 0.0, variance)
        value = np.where((variance == 0) & (np.abs(value) <= 1e-12), 0.0, value)
    return Estimate(value, np.sqrt(variance), math.inf, "DeLong", positives + negatives)


def area_interval(area: float, error: float, level: float) -> Interval:
    """Return the interval of an area, on the logit scale where the plain one leaves [0, 1]."""
    (plain,) = Estimate(np.array(area), np.array(error), math.inf, "DeLong").interval(level)
    if plain.low >= 0.0 and plain.high <= 1.0:
        return plain
    centre, reach = math.log(area / (1 - area)), (plain.high - area) / (area * (1 - area))
    # The inverse logit by tanh, which does not overflow.
    low, high = (0.5 + math.tanh((centre + side * reach) / 2) / 2 for side in (-1, 1))
    return Interval(area, low, high, level, "DeLong, logit")
