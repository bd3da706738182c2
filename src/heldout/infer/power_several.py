"""Power of the default comparison of several systems, by simulation from a pilot.

The systems of the pilot are shifted to a common mean, one of them is made better than the others by
the difference that is planned for, and units are drawn with replacement. How the systems vary and
depend on each other is that of the pilot. The power is the share of the differences between the
better system and the others that the Romano-Wolf comparison finds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.levels import alpha_of, check_level
from heldout.infer.power import queries_needed
from heldout.infer.simultaneous.romano_wolf import pair_statistics, romano_wolf

if TYPE_CHECKING:
    from heldout.data.scores import Scores
    from heldout.data.words import Floats

__all__ = ["SeveralPower", "power_of_several", "units_for_several"]

REPLICATES: Final = 999
ROUNDS: Final = 3
MOST_UNITS: Final = 5_000
"""More units are not simulated."""


class SeveralPower(NamedTuple):
    """The power that a simulation found.

    Parameters
    ----------
    n
        Units in each simulated comparison.
    difference
        By how much one system is better than all others.
    power
        The share of these differences that is found.
    error
        Its standard error over the simulations.
    systems
        How many systems are compared.
    simulations
        How many comparisons there were.
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
    """Return the power to find a system that is better than the others, with the default test.

    Parameters
    ----------
    scores
        A pilot of three or more systems.
    n
        Units to plan with.
    difference
        By how much one system is better.
    baseline
        All systems are compared with this one, and it is the others that are better; by default
        all pairs are compared, and the better system is another one in each simulation.
    level
        The confidence level; tests are at 1 - level.
    simulations, seed
        How many samples of units are drawn, and the random seed.

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
        shares[number] = _found(drawn, difference, base, number, alpha_of(level))
    error = float(shares.std(ddof=1)) / math.sqrt(simulations) if simulations > 1 else math.nan
    systems = len(scores.systems)
    return SeveralPower(n, difference, float(shares.mean()), error, systems, simulations)


def _check(scores: Scores, n: int, difference: float, simulations: int) -> None:
    if len(scores.systems) < 3:
        raise InputError(
            f"{len(scores.systems)} systems: this plan is for three or more; for two the formula "
            "or --simulate answers"
        )
    if n < 2:
        raise InputError(f"n={n}: a comparison needs at least 2 units")
    if not (math.isfinite(difference) and difference != 0):
        raise InputError(f"difference={difference:g}: expected a number other than 0")
    if simulations < 1:
        raise InputError(f"simulations={simulations}: expected a positive integer")


def _found(drawn: Floats, difference: float, base: int | None, number: int, alpha: float) -> float:
    """The share of the true differences that one comparison finds, with the right sign."""
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
    """Return how many units show a difference among several systems, with the power found there.

    The number starts at what Bonferroni's correction of the t test would need for the typical pair,
    and is corrected three times by what the simulation found.

    Parameters
    ----------
    scores
        A pilot of three or more systems.
    difference
        By how much one system is better than the others.
    power
        The share of its differences that is to be found.
    baseline, level, simulations, seed
        As for `power_of_several`.

    Returns
    -------
    SeveralPower or None
        None if more than 5,000 units would be needed.
    """
    from scipy.special import ndtri  # slow to import

    if not 0 < power < 1:
        raise InputError(f"power={power:g}: expected a number between 0 and 1")
    _check(scores, 2, difference, simulations)
    systems = len(scores.systems)
    pairs = systems - 1 if baseline is not None else systems * (systems - 1) // 2
    alpha = alpha_of(level) / pairs
    n = queries_needed(_typical_sd(scores), difference, power=power, level=1 - alpha)
    critical, target = float(ndtri(1 - alpha / 2)), float(ndtri(power))
    found = None
    for _ in range(ROUNDS):
        if n > MOST_UNITS:
            return None
        found = power_of_several(
            scores,
            n=n,
            difference=difference,
            baseline=baseline,
            level=level,
            simulations=simulations,
            seed=seed,
        )
        if abs(found.power - power) <= found.error:
            break
        reached = float(ndtri(min(max(found.power, 0.02), 0.98)))
        # Power is close to that of a z test, whose argument grows with the root of n.
        n = max(5, math.ceil(n * ((critical + target) / (critical + reached)) ** 2))
    return found


def _typical_sd(scores: Scores) -> float:
    """The median standard deviation of the differences of pairs that vary."""
    second, first = np.triu_indices(len(scores.systems), 1)
    errors = pair_statistics(scores.values, first, second).error
    if not errors.any():
        raise InputError("the differences do not vary: nothing is known about their spread")
    return float(np.median(errors[errors > 0])) * math.sqrt(len(scores.units))
