"""Power of the default comparison of several systems, by simulation from a pilot.

The systems of the pilot are shifted to a common mean, one of them is made better than the others by
the planned difference, and units are drawn with replacement. Variances and correlations are those
of the pilot. The power is the share of the differences between the better system and the others
that the Romano-Wolf comparison detects.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.levels import alpha_of, check_fraction, check_level
from heldout.infer.power import queries_needed
from heldout.infer.simultaneous.pairwise import pair_columns
from heldout.infer.simultaneous.romano_wolf import pair_statistics, romano_wolf

if TYPE_CHECKING:
    from heldout.data.scores import Scores
    from heldout.data.words import Floats

__all__ = ["SeveralPower", "power_of_several", "units_for_several"]

REPLICATES: Final = 999
ROUNDS: Final = 3
MOST_UNITS: Final = 5_000
"""Units that are simulated at most."""


class SeveralPower(NamedTuple):
    """The power estimated by simulation.

    Parameters
    ----------
    n
        Units in each simulated comparison.
    difference
        The difference between one system and all others.
    power
        The share of these differences that is detected.
    error
        Its standard error over the simulations.
    systems
        The number of systems.
    simulations
        The number of simulated comparisons.
    """

    n: int
    difference: float
    power: float
    error: float
    systems: int
    simulations: int


def power_of_several(
    scores: Scores,
    *,
    n: int,
    difference: float,
    baseline: str | None = None,
    level: float = 0.95,
    simulations: int = 200,
    seed: int = 0,
) -> SeveralPower:
    """Return the power to detect one better system among several, with the default analysis.

    Parameters
    ----------
    scores
        A pilot of three or more systems.
    n
        Units to plan with.
    difference
        The difference between the better system and the others.
    baseline
        Compare all systems with this one, which all others are better than; by default all pairs
        are compared, and each simulation has another better system.
    level
        The confidence level; tests are at 1 - level.
    simulations, seed
        The number of samples of units, and the random seed.

    Examples
    --------
    >>> from heldout.data.scores import Scores
    >>> generator = np.random.default_rng(0)
    >>> columns = {name: generator.normal(0, 1, 30).tolist() for name in "ABC"}
    >>> found = power_of_several(Scores.of(columns), n=40, difference=3, simulations=10)
    >>> found.power, found.systems
    (1.0, 3)
    """
    check_level(level)
    _check(scores, n, difference, simulations)
    values = scores.values - scores.values.mean(0)
    base = None if baseline is None else scores.index(baseline)
    shares = np.empty(simulations)
    for number in range(simulations):
        generator = np.random.default_rng([seed, number])
        drawn = values[generator.integers(0, len(values), n)]
        shares[number] = _detected(drawn, difference, base, number, alpha_of(level))
    error = float(shares.std(ddof=1)) / math.sqrt(simulations) if simulations > 1 else math.nan
    systems = len(scores.systems)
    return SeveralPower(n, difference, float(shares.mean()), error, systems, simulations)


def _check(scores: Scores, n: int, difference: float, simulations: int) -> None:
    if len(scores.systems) < 3:
        raise InputError(
            f"{len(scores.systems)} systems: expected three or more; for two use power"
        )
    if n < 2:
        raise InputError(f"n={n}: expected at least 2 units")
    if not (math.isfinite(difference) and difference != 0):
        raise InputError(f"difference={difference:g}: expected a number other than 0")
    if simulations < 1:
        raise InputError(f"simulations={simulations}: expected a positive integer")


def _detected(
    drawn: Floats, difference: float, base: int | None, number: int, alpha: float
) -> float:
    """Return the share of the true differences that one comparison detects, with the right sign."""
    systems = drawn.shape[1]
    if base is None:
        better = np.arange(systems) == number % systems
        pairs = [(number % systems, other) for other in range(systems) if not better[other]]
    else:
        better = np.arange(systems) != base
        pairs = [(other, base) for other in range(systems) if other != base]
    shifted = drawn + difference * better
    p = romano_wolf(shifted, base, replicates=REPLICATES, seed=number).p
    first, second = np.array(pairs).T
    gaps = shifted[:, first].mean(0) - shifted[:, second].mean(0)
    right = (p[first, second] <= alpha) & (np.sign(gaps) == np.sign(difference))
    return float(right.mean())


def units_for_several(
    scores: Scores,
    difference: float,
    *,
    power: float = 0.8,
    baseline: str | None = None,
    level: float = 0.95,
    simulations: int = 200,
    seed: int = 0,
) -> SeveralPower | None:
    """Return the number of units that detects a difference among several systems, with its power.

    The number starts at that of a Bonferroni-corrected t test of a typical pair and is updated from
    the simulated power up to three times.

    Parameters
    ----------
    scores
        A pilot of three or more systems.
    difference
        The difference between the better system and the others.
    power
        The share of its differences to detect.
    baseline, level, simulations, seed
        As for `power_of_several`.

    Returns
    -------
    SeveralPower or None
        None if more than 5,000 units would be needed.
    """
    from scipy.special import ndtri  # slow to import

    check_fraction(power, "power", "0.8")
    _check(scores, 2, difference, simulations)
    systems = len(scores.systems)
    pairs = systems - 1 if baseline is not None else systems * (systems - 1) // 2
    alpha = alpha_of(level) / pairs
    n = queries_needed(_typical_sd(scores), difference, power=power, level=1 - alpha)
    critical, target = float(ndtri(1 - alpha / 2)), float(ndtri(power))
    result = None
    for _ in range(ROUNDS):
        if n > MOST_UNITS:
            return None
        result = power_of_several(
            scores,
            n=n,
            difference=difference,
            baseline=baseline,
            level=level,
            simulations=simulations,
            seed=seed,
        )
        if abs(result.power - power) <= result.error:
            break
        reached = float(ndtri(min(max(result.power, 0.02), 0.98)))
        # The power is close to that of a z test, whose argument grows with the square root of n.
        n = max(5, math.ceil(n * ((critical + target) / (critical + reached)) ** 2))
    return result


def _typical_sd(scores: Scores) -> float:
    """Return the median standard deviation of the differences, over pairs that vary."""
    columns = pair_columns(len(scores.systems), None)
    errors = pair_statistics(scores.values, *columns).error
    if not errors.any():
        raise InputError(
            "all differences are constant, so their deviation is unknown: use another pilot"
        )
    return float(np.median(errors[errors > 0])) * math.sqrt(len(scores.units))
