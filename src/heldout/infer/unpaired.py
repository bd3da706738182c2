"""Comparison of systems that were scored on different units: independent samples.

Where systems share their units, paired tests (`heldout.compare`) have far more power. For different
units there is Welch's t test, which does not assume equal variances, and a permutation test of the
same statistic, which is exact if the scores of both systems have the same distribution, and
asymptotically valid if only the means are equal.

References
----------
Welch (1947). The generalization of Student's problem when several different population variances
are involved. Biometrika 34. Janssen (1997). Studentized permutation tests for non-i.i.d. hypotheses
and the generalized Behrens-Fisher problem. Statistics & Probability Letters 36. Chung & Romano
(2013). Exact and asymptotically robust permutation tests. Annals of Statistics 41.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.intervals.bounded import UNBOUNDED, difference_inside
from heldout.infer.intervals.units import mean_interval
from heldout.infer.levels import alpha_of, check_level
from heldout.infer.results import (
    TIE,
    Alternative,
    Interval,
    Outcome,
    PValue,
    as_values,
    check_alternative,
    numeric_alternative,
)
from heldout.infer.simultaneous.multiplicity import adjust
from heldout.infer.tests.paired import t_tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.data.words import Flags, Floats

__all__ = [
    "UnpairedClaim",
    "UnpairedComparison",
    "compare_unpaired",
    "unpaired_permutation_test",
    "welch_interval",
    "welch_test",
]

ENUMERATED: Final = 20_000
"""Divisions of the units up to which all are enumerated."""

CELLS: Final = 1 << 22
"""Numbers permuted at a time."""


class _Moments(NamedTuple):
    """The difference of two means, its standard error and its degrees of freedom."""

    difference: float
    error: float
    freedom: float


def _moments(first: Floats, second: Floats) -> _Moments:
    shares = [float(one.var(ddof=1)) / len(one) for one in (first, second)]
    total = sum(shares)
    gap = float(first.mean() - second.mean())
    if total <= (TIE * max(abs(float(first.mean())), abs(float(second.mean())), 1e-300)) ** 2:
        return _Moments(gap, 0.0, math.nan)
    weights = [
        share * share / (len(one) - 1) for share, one in zip(shares, (first, second), strict=True)
    ]
    return _Moments(gap, math.sqrt(total), total * total / sum(weights))


def welch_test(
    first: Iterable[float], second: Iterable[float], *, alternative: Alternative = "two-sided"
) -> Outcome:
    """Return Welch's t test of two independent samples.

    Parameters
    ----------
    first, second
        Scores of two systems on different units, at least two each.
    alternative
        ``two-sided``, or ``greater`` / ``less``: the first has the larger / smaller mean.

    Examples
    --------
    >>> round(welch_test([1.0, 2.0, 3.0, 4.0], [2.0, 6.0, 4.0]).p, 4)
    0.3338
    """
    side = check_alternative(alternative)
    one, two = as_values(first, "first"), as_values(second, "second")
    moments, n = _moments(one, two), len(one) + len(two)
    if not moments.error:
        p = 1.0 if abs(moments.difference) <= TIE else 0.0
        if p == 0.0 and side != "two-sided":
            p = float((moments.difference > 0) != (side == "greater"))
        return Outcome("welch", p, moments.difference, side, n, "no variance")
    t = moments.difference / moments.error
    detail = f"{len(one):,} and {len(two):,} units, {moments.freedom:.1f} degrees of freedom"
    p = t_tail(t, moments.freedom, side)
    return Outcome("welch", p, t, side, n, "t", detail=detail)


def welch_interval(
    first: Iterable[float], second: Iterable[float], level: float = 0.95
) -> Interval:
    """Return Welch's interval for the difference of two means, first minus second."""
    from scipy.special import stdtrit  # slow to import

    check_level(level)
    moments = _moments(as_values(first, "first"), as_values(second, "second"))
    half = 0.0
    if moments.error:
        half = float(stdtrit(moments.freedom, (1 + level) / 2)) * moments.error
    gap = moments.difference
    return Interval(gap, gap - half, gap + half, level, "Welch")


def unpaired_permutation_test(
    first: Iterable[float],
    second: Iterable[float],
    *,
    alternative: Alternative = "two-sided",
    replicates: int = 100_000,
    seed: int = 0,
) -> Outcome:
    """Return the permutation test of Welch's statistic for two independent samples.

    Units are reassigned to the systems: in all ways if there are few, else at random.

    Parameters
    ----------
    first, second
        Scores of two systems on different units, at least two each.
    alternative
        As for `welch_test`.
    replicates, seed
        Of random divisions.

    Examples
    --------
    >>> found = unpaired_permutation_test([1.0, 2.0, 3.0, 4.0], [2.5, 6.0, 4.5])
    >>> found.method, found.detail
    ('exact', 'all 35 divisions of the units')
    """
    side = check_alternative(alternative)
    one, two = as_values(first, "first"), as_values(second, "second")
    if replicates < 100:
        raise InputError(f"replicates={replicates}: expected at least 100")
    together = np.concatenate([one, two])
    scale = float(np.abs(together).max()) or 1.0
    together = together / scale
    m, n = len(one), len(together)
    observed = float(_statistics(together[None, :m], together[None, m:])[0])
    ways = math.comb(n, m)
    if ways <= ENUMERATED:
        members = np.array(list(combinations(range(n), m)))
        chosen: Flags = np.zeros((ways, n), np.bool_)
        np.put_along_axis(chosen, members, True, axis=1)
        copies = np.broadcast_to(together, (ways, n))
        drawn = _statistics(copies[chosen].reshape(ways, m), copies[~chosen].reshape(ways, n - m))
        p = float(_extreme(drawn, observed, side).mean())
        detail = f"all {ways:,} divisions of the units"
        return Outcome("permutation", p, observed, side, n, "exact", detail=detail)
    generator = np.random.default_rng(seed)
    count, step = 0, max(1, CELLS // n)
    for begin in range(0, replicates, step):
        rows = np.tile(together, (min(step, replicates - begin), 1))
        generator.permuted(rows, axis=1, out=rows)
        count += int(_extreme(_statistics(rows[:, :m], rows[:, m:]), observed, side).sum())
    p_value = PValue.monte_carlo(count, replicates, seed, "random divisions")
    return p_value.outcome("permutation", observed, side, n)


def _statistics(first: Floats, second: Floats) -> Floats:
    """Return Welch's t of each row; infinite where only the means differ."""
    variance = first.var(axis=1, ddof=1) / first.shape[1]
    variance = variance + second.var(axis=1, ddof=1) / second.shape[1]
    gap = first.mean(axis=1) - second.mean(axis=1)
    gap = np.where(np.abs(gap) <= TIE, 0.0, gap)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = gap / np.sqrt(np.where(variance <= TIE * TIE, 0.0, variance))
    return np.where(np.isnan(t), 0.0, t)


def _extreme(drawn: Floats, observed: float, side: Alternative) -> Flags:
    tolerance = 0.0 if math.isinf(observed) else 1e-9 * max(1.0, abs(observed))
    if side == "greater":
        return drawn >= observed - tolerance
    if side == "less":
        return drawn <= observed + tolerance
    return np.abs(drawn) >= abs(observed) - tolerance


class UnpairedClaim(NamedTuple):
    """The comparison of two systems.

    Parameters
    ----------
    first, second
        The systems; the difference is first minus second.
    difference
        With Welch's interval; several intervals are simultaneous (Bonferroni).
    outcomes
        Welch's test, which gives the verdict, and the permutation test.
    adjusted
        The p-value that decides, adjusted for the number of comparisons.
    """

    first: str
    second: str
    difference: Interval
    outcomes: tuple[Outcome, ...]
    adjusted: float


class UnpairedComparison(NamedTuple):
    """The comparison of systems on different units.

    Parameters
    ----------
    measure
        What was measured.
    systems
        Name, mean with its interval, and number of units of each.
    claims
        One per pair.
    level, alternative, correction
        Of tests and intervals.
    """

    measure: str
    systems: tuple[tuple[str, Interval, int], ...]
    claims: tuple[UnpairedClaim, ...]
    level: float
    alternative: Alternative
    correction: str


def compare_unpaired(
    table: Mapping[str, Mapping[Any, float]] | Mapping[str, Sequence[float]],
    measure: str = "score",
    *,
    baseline: str | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    correction: str = "holm",
    higher_is_better: bool = True,
    ends: tuple[float, float] = UNBOUNDED,
    replicates: int = 100_000,
    seed: int = 0,
) -> UnpairedComparison:
    """Compare systems that were scored on different units.

    Parameters
    ----------
    table
        The scores of each system by unit id, or as a list if there are no ids. Systems that share
        a unit are refused: paired tests have more power.
    measure
        What was measured.
    baseline
        Compare all others with this system; by default all pairs, each with those before it.
    alternative
        ``greater``: the first is better.
    level
        Of intervals and tests.
    correction
        How p-values of several comparisons are adjusted: ``holm``, ``hochberg``, ``hommel``,
        ``bonferroni``, ``bh``, ``by``.
    higher_is_better
        The direction of the measure.
    ends
        The range of the measure, which contains all intervals.
    replicates, seed
        Of the permutation test.

    Examples
    --------
    >>> found = compare_unpaired({"A": [0.1, 0.4, 0.3, 0.2], "B": [0.6, 0.8, 0.7]})
    >>> claim = found.claims[0]
    >>> claim.first, round(claim.difference.estimate, 2), round(claim.adjusted, 4)
    ('B', 0.45, 0.0036)
    """
    side = check_alternative(alternative)
    check_level(level, one_sided=side != "two-sided")
    values = _separate(table)
    names = list(values)
    if len(names) < 2:
        raise InputError("one system cannot be compared: give at least two")
    if baseline is not None and baseline not in values:
        raise InputError(f"unknown baseline {baseline!r}: expected one of {', '.join(names)}")
    pairs = [(two, one) for one, two in combinations(names, 2)]
    if baseline is not None:
        pairs = [(name, baseline) for name in names if name != baseline]
    numeric = numeric_alternative(side, higher_is_better=higher_is_better)
    outcomes = [
        tuple(
            one._replace(alternative=side)
            for one in (
                welch_test(values[first], values[second], alternative=numeric),
                unpaired_permutation_test(
                    values[first],
                    values[second],
                    alternative=numeric,
                    replicates=replicates,
                    seed=seed,
                ),
            )
        )
        for first, second in pairs
    ]
    adjusted = adjust([tests[0].p for tests in outcomes], correction)
    alpha = alpha_of(level) / len(pairs)
    wide = 1 - alpha if side == "two-sided" else 1 - 2 * alpha
    claims = []
    for number, (first, second) in enumerate(pairs):
        interval = welch_interval(values[first], values[second], wide)._replace(level=level)
        if numeric == "greater":
            interval = interval._replace(high=math.inf)
        elif numeric == "less":
            interval = interval._replace(low=-math.inf)
        interval = difference_inside(interval, ends)
        claims.append(
            UnpairedClaim(first, second, interval, outcomes[number], float(adjusted[number]))
        )
    systems = []
    for name, column in values.items():
        mean = mean_interval(column, level, ends)
        if mean is not None:  # None only for a single unit
            systems.append((name, mean, len(column)))
    used = correction if len(pairs) > 1 else ""
    return UnpairedComparison(measure, tuple(systems), tuple(claims), level, side, used)


def _separate(table: Mapping[str, Any]) -> dict[str, Floats]:
    """Return the values of each system; refuse systems that share units."""
    values: dict[str, Floats] = {}
    owner: dict[str, str] = {}
    for name, given in table.items():
        if hasattr(given, "items"):
            for unit in given:
                other = owner.setdefault(str(unit), str(name))
                if other != str(name):
                    raise InputError(
                        f"unit {unit} has scores of {other} and of {name}: compare systems that "
                        "share units with paired tests (heldout.compare), which have more power"
                    )
        scores = list(given.values()) if hasattr(given, "items") else given
        values[str(name)] = as_values(scores, f"scores of {name}")
    return values
