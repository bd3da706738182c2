"""Gates: a new system shown to be no worse than the old one, or the same, within a margin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from heldout.errors import InputError
from heldout.infer.intervals import t_interval
from heldout.infer.paired import is_constant, t_test
from heldout.infer.power import power, smallest_n
from heldout.infer.results import Interval, Tail, as_values, drop_noise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

__all__ = ["Gate", "GateTest", "Verdict", "non_inferiority", "tost"]

Verdict = Literal["shown", "not shown", "worse", "better"]
"""Shown; undecided; shown to be worse, or better, by more than the margin."""

GateTest = Literal["t", "randomization"]
"""The test behind a gate."""


class Gate(NamedTuple):
    """The answer of a gate.

    Parameters
    ----------
    verdict
        ``shown``: the claim is. ``not shown``: undecided. ``worse``: shown to be worse by more
        than the margin; ``better`` is the other side of `tost`.
    p
        The p-value of the claim's opposite.
    margin
        The margin.
    interval
        The t interval of the mean difference at level 1 - 2·alpha: its bounds are those the two
        one-sided t tests at alpha compare with the margin.
    queries_needed
        When undecided: how many units would show the claim with power .8, were the observed
        difference and spread the true ones; None when none would, or nothing is left to decide.
    test
        The test.
    n
        The number of units.
    """

    verdict: Verdict
    p: float
    margin: float
    interval: Interval
    queries_needed: int | None
    test: GateTest
    n: int


def non_inferiority(
    differences: Iterable[float],
    margin: float,
    *,
    alpha: float = 0.05,
    test: GateTest = "t",
    wanted_power: float = 0.8,
) -> Gate:
    """Non-inferiority: the new system is not worse than the old by more than a margin.

    The null is that the mean difference is -margin or less; it is tested one-sided at alpha.
    The randomization test takes the differences plus the margin, whose null is that these are
    symmetric about zero.

    Parameters
    ----------
    differences
        New minus old, one a unit.
    margin
        The loss that would be accepted, more than zero, fixed before looking at the data.
    alpha
        The level of the one-sided test.
    test
        ``t`` or ``randomization``.
    wanted_power
        The power that `Gate.queries_needed` aims at.

    Returns
    -------
    Gate
        The verdict is ``shown``, ``not shown`` or ``worse``.

    References
    ----------
    Wellek (2010). Testing Statistical Hypotheses of Equivalence and Noninferiority, 2nd ed.
    Piaggio et al. (2012). Reporting of noninferiority and equivalence randomized trials. JAMA 308.

    Examples
    --------
    >>> gate = non_inferiority([0.01, -0.01, 0.0, 0.02, 0.01, 0.0, -0.01, 0.01], margin=0.02)
    >>> gate.verdict, round(gate.p, 5)
    ('shown', 0.0002)
    """
    values = _checked(differences, margin, alpha, test)
    p = _p_value(_shifted(values, margin), "greater", test)
    verdict: Verdict = "not shown"
    if p <= alpha:
        verdict = "shown"
    elif _p_value(_shifted(values, margin), "less", test) <= alpha:
        verdict = "worse"
    needed = None
    if verdict == "not shown":
        needed = _units_to_decide(values, (margin,), alpha, wanted_power)
    interval = t_interval(values, 1.0 - 2.0 * alpha)
    return Gate(verdict, p, margin, interval, needed, test, len(values))


def tost(
    differences: Iterable[float],
    margin: float,
    *,
    alpha: float = 0.05,
    test: GateTest = "t",
    wanted_power: float = 0.8,
) -> Gate:
    """Equivalence: two systems are the same within a margin, by two one-sided tests.

    The mean difference must be shown to be above -margin and below margin, each at alpha; p is
    the larger of the two.

    Parameters
    ----------
    differences
        New minus old, one a unit.
    margin
        The difference that would not matter, more than zero, fixed before looking at the data.
    alpha
        The level of each test, and of both together.
    test
        ``t`` or ``randomization``.
    wanted_power
        The power that `Gate.queries_needed` aims at, by the sum of both tests' risks: at most a
        little more than needed.

    Returns
    -------
    Gate
        The verdict is ``shown``, ``not shown``, ``worse`` or ``better``.

    References
    ----------
    Schuirmann (1987). A comparison of the two one-sided tests procedure and the power approach
    for assessing the equivalence of average bioavailability. Journal of Pharmacokinetics and
    Biopharmaceutics 15.
    """
    values = _checked(differences, margin, alpha, test)
    above = _p_value(_shifted(values, margin), "greater", test)
    below = _p_value(_shifted(values, -margin), "less", test)
    verdict: Verdict = "not shown"
    if max(above, below) <= alpha:
        verdict = "shown"
    elif _p_value(_shifted(values, margin), "less", test) <= alpha:
        verdict = "worse"
    elif _p_value(_shifted(values, -margin), "greater", test) <= alpha:
        verdict = "better"
    needed = None
    if verdict == "not shown":
        needed = _units_to_decide(values, (margin, -margin), alpha, wanted_power)
    interval = t_interval(values, 1.0 - 2.0 * alpha)
    return Gate(verdict, max(above, below), margin, interval, needed, test, len(values))


def _checked(differences: Iterable[float], margin: float, alpha: float, test: str) -> Floats:
    if not (math.isfinite(margin) and margin > 0):
        raise InputError(f"margin={margin}: expected the loss that would be accepted, above zero")
    if not 0.0 < alpha < 0.5:
        raise InputError(f"alpha={alpha}: expected between 0 and 0.5")
    if test not in get_args(GateTest):
        raise InputError(f"test={test!r}: expected one of {', '.join(get_args(GateTest))}")
    return as_values(differences, "differences")


def _shifted(values: Floats, by: float) -> Floats:
    """Differences from the edge of the margin; what lies on it but for rounding is a tie."""
    return drop_noise(values, np.full_like(values, -by))


def _p_value(shifted: Floats, tail: Tail, test: GateTest) -> float:
    if test == "t":
        return t_test(shifted, tail=tail).p
    from heldout.infer.randomization import randomization_test  # rarely needed

    return float(randomization_test(shifted, tail=tail).p)


def _units_to_decide(
    values: Floats, shifts: tuple[float, ...], alpha: float, wanted_power: float
) -> int | None:
    """Units at which all one-sided t tests succeed, the observed mean and spread being true.

    With a positive shift the mean plus it must be shown positive, with a negative one negative.
    """
    if is_constant(values):
        return None
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    distances = [math.copysign(1.0, shift) * (mean + shift) for shift in shifts]
    if min(distances) <= 0:
        return None

    def power_at(n: int) -> float:
        risks = [
            1.0 - power(deviation, n, distance, alpha=alpha, tail="greater")
            for distance in distances
        ]
        return 1.0 - sum(risks)

    needed = smallest_n(power_at, wanted_power)
    return None if needed is None else max(needed, len(values) + 1)
