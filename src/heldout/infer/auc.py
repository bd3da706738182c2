"""DeLong's interval of an AUC and his test of two, on the same units."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.intervals import normal_quantile
from heldout.infer.multiplicity import adjust
from heldout.infer.results import Interval, Outcome, check_tail
from heldout.measure.delong import auc_covariance
from heldout.measure.undefined import Undefined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from heldout.infer.results import Tail

__all__ = ["AucClaim", "delong_claims", "delong_interval", "delong_test"]


def delong_interval(
    positive: ArrayLike,
    scores: ArrayLike,
    level: float = 0.95,
    *,
    scale: Literal["plain", "logit"] = "plain",
) -> Interval | Undefined:
    """DeLong's interval of an AUC.

    Parameters
    ----------
    positive
        1 or true for positive units.
    scores
        One a unit, higher for positive units.
    level
        The confidence level.
    scale
        ``plain``: AUC ± z·se, cut to [0, 1]; ``logit``: the same for the logarithm of the odds,
        better near 1.

    Returns
    -------
    Interval or Undefined
        Undefined where the scores divide the classes wholly: the variance is then 0, and the
        interval would be a point that nobody should believe.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988). Biometrics 44.
    """
    if scale not in {"plain", "logit"}:
        raise InputError(f"scale={scale!r}: expected plain or logit")
    found = auc_covariance(positive, scores)
    area, error = float(found.areas[0]), math.sqrt(float(found.covariance[0, 0]))
    if area in {0.0, 1.0}:
        return Undefined("the classes are wholly divided, so that no variance is seen")
    z = normal_quantile(level)
    if scale == "plain":
        low, high = max(0.0, area - z * error), min(1.0, area + z * error)
        return Interval(area, low, high, level, "DeLong")
    centre, half = math.log(area / (1 - area)), z * error / (area * (1 - area))
    low, high = (1 / (1 + math.exp(-(centre + way * half))) for way in (-1, 1))
    return Interval(area, low, high, level, "DeLong, logit")


def delong_test(
    positive: ArrayLike, first: ArrayLike, second: ArrayLike, *, tail: Tail = "two"
) -> Outcome:
    """DeLong's test of two AUCs on the same units.

    Parameters
    ----------
    positive
        1 or true for positive units.
    first, second
        The scores of two classifiers, one a unit.
    tail
        ``two``, or ``greater`` / ``less``: the first has the larger / smaller area.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988). Biometrics 44.

    Examples
    --------
    >>> outcome = delong_test([1, 1, 0, 0], [4, 2, 3, 1], [4, 2, 3, 1])
    >>> outcome.p, outcome.method
    (1.0, 'no variance')
    """
    side = check_tail(tail)
    found = auc_covariance(positive, np.column_stack([first, second]))
    gap = float(found.areas[0] - found.areas[1])
    table = found.covariance
    variance = float(table[0, 0] + table[1, 1] - 2 * table[0, 1])
    n = found.positives + found.negatives
    # Rounding leaves a trace where the components of the two are the same.
    if variance <= 1e-15 * float(table[0, 0] + table[1, 1] + 1e-15):
        return _without_variance(gap, side, n)
    statistic = gap / math.sqrt(variance)
    counts = f"{found.positives} positive and {found.negatives} negative units"
    return Outcome("delong", _normal_tail(statistic, side), statistic, side, n, "normal", 0, counts)


def _without_variance(gap: float, tail: Tail, n: int) -> Outcome:
    if abs(gap) <= 1e-12:
        detail = "the two areas are the same on every unit"
        return Outcome("delong", 1.0, 0.0, tail, n, "no variance", detail=detail)
    raise InputError(
        "the difference of the two areas shows no variance (the classes are wholly divided): "
        "DeLong's test does not exist; compare another measure"
    )


def _normal_tail(statistic: float, tail: Tail) -> float:
    from scipy.special import ndtr  # slow to import

    if tail == "two":
        return min(1.0, 2.0 * float(ndtr(-abs(statistic))))
    return float(ndtr(-statistic if tail == "greater" else statistic))


class AucClaim(NamedTuple):
    """Two areas on the same units.

    Parameters
    ----------
    first, second
        The systems; the difference is first minus second.
    areas
        Of the two.
    difference
        With DeLong's interval.
    outcome
        The test.
    adjusted
        Its p-value, adjusted for the number of comparisons by Holm.
    """

    first: str
    second: str
    areas: tuple[float, float]
    difference: Interval
    outcome: Outcome
    adjusted: float


def delong_claims(
    positive: ArrayLike,
    columns: Mapping[str, ArrayLike],
    *,
    baseline: str | None = None,
    alpha: float = 0.05,
) -> tuple[AucClaim, ...]:
    """Compare the areas of several systems on the same units.

    Parameters
    ----------
    positive
        1 or true for positive units.
    columns
        The scores of each system, one a unit.
    baseline
        Compare all others with this system; by default all pairs, of two the second with the first.
    alpha
        Intervals have level 1 - alpha; they are not adjusted.
    """
    names = list(columns)
    if baseline is not None and baseline not in names:
        raise InputError(f"no system {baseline!r}; there are {', '.join(names)}")
    if baseline is None:
        pairs = [(second, first) for first, second in combinations(names, 2)]
    else:
        pairs = [(name, baseline) for name in names if name != baseline]
    z = normal_quantile(1 - alpha)
    found = []
    for first, second in pairs:
        both = np.column_stack([columns[first], columns[second]])
        table = auc_covariance(positive, both)
        spread = table.covariance
        error = math.sqrt(max(0.0, float(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1])))
        areas = (float(table.areas[0]), float(table.areas[1]))
        gap = areas[0] - areas[1]
        between = Interval(gap, gap - z * error, gap + z * error, 1 - alpha, "DeLong")
        found.append((first, second, areas, between, delong_test(positive, both[:, 0], both[:, 1])))
    adjusted = adjust([one[4].p for one in found], "holm")
    return tuple(AucClaim(*one, float(p)) for one, p in zip(found, adjusted, strict=True))
