"""The true size of McNemar's tests, by going through all outcomes."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

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
