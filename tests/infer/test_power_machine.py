"""Plans with machine judgements, and random samples of queries."""

import numpy as np
import pytest
from scipy import stats

from heldout.infer.power import detectable_difference, queries_needed
from heldout.infer.power_designs import Goal
from heldout.infer.power_machine import MachineDesign, machine_design
from heldout.infer.prediction_powered import combined_means


def test_a_machine_without_correlation_changes_nothing():
    design = MachineDesign(0.2, 0.0, 500)
    assert design.needed(0.05, Goal()) == queries_needed(0.2, 0.05)
    assert design.detectable(60, Goal()) == pytest.approx(detectable_difference(0.2, 60))


def test_the_power_of_the_combined_test_is_as_planned():
    """2,000 draws from normal differences: standard error of the power .009."""
    correlation, total = 0.7, 400
    n = MachineDesign(1.0, correlation, total).needed(0.35, Goal())
    assert 30 < n < 45  # 67 without the machine
    generator = np.random.default_rng(0)
    human = generator.normal(0.35, 1, (total, 2000))
    noise = generator.normal(0, 1, human.shape)
    machine = 2 + correlation * human + np.sqrt(1 - correlation**2) * noise
    means = combined_means(human[:n], machine[:n], machine[n:])
    rejected = np.abs(means.mean / means.error) > stats.t.ppf(0.975, n - 1)
    assert rejected.mean() == pytest.approx(0.8, abs=0.05)


def test_more_queries_never_need_a_larger_difference_and_all_human_is_the_t_test():
    design = MachineDesign(0.3, 0.8, 100)
    found = [design.detectable(n, Goal()) for n in range(5, 150, 5)]
    assert sorted(found, reverse=True) == found
    assert found[-1] == pytest.approx(detectable_difference(0.3, 145))
    assert design.for_width(0.05, 0.95) == MachineDesign(0.3, 0.0, 100).for_width(0.05, 0.95)


def test_the_correlation_of_a_pilot_is_adjusted_and_not_negative():
    generator = np.random.default_rng(1)
    human = generator.normal(size=30)
    machine = human + generator.normal(size=30)
    plain = np.corrcoef(human, machine)[0, 1]
    design = machine_design(human, machine, 70)
    assert design.correlation == pytest.approx(np.sqrt(1 - (1 - plain**2) * 29 / 28))
    assert design.total == 100
    assert machine_design(human, -machine, 70).correlation == 0
    assert machine_design(human, np.ones(30), 70).correlation == 0
