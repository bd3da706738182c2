"""The true size of McNemar's tests, and the units they need, by going through all outcomes."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from heldout.infer.power import Design, Goal, smallest_n
from heldout.infer.randomization import mcnemar_test

METHODS = Path(__file__).parents[2] / "docs" / "methods.md"


def p_values(discordant):
    """Exact and mid-p of every split of so many discordant units."""
    found = []
    for won in range(discordant + 1):
        first = [1] * won + [0] * (discordant - won)
        second = [1 - value for value in first]
        outcome = mcnemar_test([*first, 1, 1], [*second, 1, 1])
        middle = float(re.search(r"mid-p (\S+)", outcome.detail).group(1))
        found.append((outcome.p, middle))
    return np.array(found)


@pytest.fixture(scope="module")
def rejected():
    """The chance to reject at .05 given 0, 1, … 100 discordant units, exact and mid-p."""
    rates = []
    for discordant in range(101):
        chance = binom.pmf(np.arange(discordant + 1), discordant, 0.5)
        rates.append(chance @ (p_values(discordant) <= 0.05))
    return np.array(rates)


def size(rejected, units, share):
    """The chance to reject if each unit is discordant with this probability."""
    return binom.pmf(np.arange(units + 1), units, share) @ rejected[: units + 1]


def test_the_exact_test_never_exceeds_its_level(rejected):
    assert rejected[:, 0].max() <= 0.05
    assert (rejected[:, 1] >= rejected[:, 0]).all()


def test_the_documentation_states_the_sizes(rejected):
    rows = re.findall(
        r"^\| (\d+) \| (\d+) % \| (\.\d+) \| (\.\d+) \|$", METHODS.read_text(), re.MULTILINE
    )
    assert len(rows) == 9
    for units, share, exact, middle in rows:
        found = size(rejected, int(units), float(share) / 100)
        assert [f"{value:.3f}".lstrip("0") for value in found] == [exact, middle]


def exact_power(n, discordant, delta, goal):
    """The power of the exact test if the systems differ by delta on this share of the units."""
    units = np.arange(n + 1)
    tail = (1 - goal.level) / (2 if goal.alternative == "two-sided" else 1)
    wins = binom.isf(tail * (1 + 1e-12), units, 0.5) + 1  # the fewest that are significant
    share = (discordant + delta) / 2 / discordant
    rejected = binom.sf(wins - 1, units, share)
    if goal.alternative == "two-sided":
        rejected += binom.cdf(units - wins, units, share)
    return binom.pmf(units, n, discordant) @ rejected


@pytest.mark.parametrize("discordant", [0.1, 0.2, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("goal", [Goal(), Goal(0.9, 0.99), Goal(0.8, 0.95, "greater")])
@pytest.mark.parametrize(("part", "most"), [(0.2, 0.02), (0.35, 0.02), (0.5, 0.02), (0.8, 0.05)])
def test_plans_for_successes_and_failures_are_those_of_the_exact_test(discordant, goal, part, most):
    """Within 2 %, or two units, unless one system wins on nearly all units that differ."""
    delta = part * discordant
    planned = Design.of_shares(discordant).needed(delta, goal)
    n = smallest_n(lambda n: exact_power(n, discordant, delta, goal) >= goal.power)
    while exact_power(n - 1, discordant, delta, goal) >= goal.power:
        n -= 1  # the power has steps: it goes up and down as units are added
    assert planned == pytest.approx(n, rel=most, abs=100 * most)
