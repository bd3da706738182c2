"""Power of the default comparison of several systems."""

from __future__ import annotations

import numpy as np
import pytest

from heldout.data.scores import Scores
from heldout.errors import InputError
from heldout.infer.power import power as power_of_two
from heldout.infer.power_several import power_of_several, units_for_several


def pilot(units=60, systems=3, seed=1):
    generator = np.random.default_rng(seed)
    values = generator.normal(0, 1, (units, 1)) + generator.normal(0, 1, (units, systems))
    return Scores.of({f"s{at}": values[:, at].tolist() for at in range(systems)}, "AP")


def test_power_lies_between_that_of_bonferroni_and_that_of_one_comparison():
    scores = pilot()
    values = scores.values
    gaps = [values[:, a] - values[:, b] for a, b in ((1, 0), (2, 0), (2, 1))]
    deviations = [gap.std(ddof=0) for gap in gaps]  # of the population that is drawn from
    found = power_of_several(scores, n=40, difference=0.8, simulations=150)
    most = np.mean([power_of_two(sd, 40, 0.8) for sd in deviations])
    least = np.mean([power_of_two(sd, 40, 0.8, level=1 - 0.05 / 3) for sd in deviations])
    assert least - 3 * found.error - 0.03 <= found.power <= most + 3 * found.error


def test_power_grows_with_units_and_with_a_baseline():
    scores = pilot(systems=5)
    few, many = (
        power_of_several(scores, n=n, difference=0.7, simulations=60).power for n in (25, 60)
    )
    assert few < many
    one = power_of_several(scores, n=25, difference=0.7, baseline="s0", simulations=60)
    assert one.power > few


def test_units_that_are_needed_have_the_power():
    scores = pilot()
    found = units_for_several(scores, 0.9, simulations=100)
    assert found.power == pytest.approx(0.8, abs=0.1)
    assert units_for_several(scores, 0.01, simulations=5) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_of_several(pilot(systems=2), n=20, difference=1), "three or more"),
        (lambda: power_of_several(pilot(), n=1, difference=1), "at least 2 units"),
        (lambda: power_of_several(pilot(), n=9, difference=0), "other than 0"),
        (lambda: power_of_several(pilot(), n=9, difference=1, simulations=0), "positive integer"),
        (lambda: units_for_several(pilot(), 1, power=1), "between 0 and 1"),
        (
            lambda: units_for_several(Scores.of({n: [1.0, 2.0] for n in "ABC"}, "AP"), 1),
            "are constant",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
