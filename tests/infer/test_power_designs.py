"""Plans for units, documents and folds: against formulas and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import heldout
from heldout import ClassPredictions, InputError, Scores
from heldout.infer.compared_inputs import PredictionOptions, scored_of, scored_systems
from heldout.infer.engine import CompareSettings
from heldout.infer.intervals import corrected_t
from heldout.infer.power import power, queries_needed
from heldout.infer.power_designs import (
    Goal,
    ScaledDesign,
    UnitDesign,
    fold_design,
)
from heldout.infer.power_pilot import REPLICATES, scored_power

SETTINGS = CompareSettings(replicates=REPLICATES)
ALTERNATIVES = ("two-sided", "greater", "less")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_scaled_designs_follow_the_noncentral_t(alternative):
    design, goal = ScaledDesign(0.02, 9, 500), Goal(alternative=alternative)
    for n, delta in ((500, 0.05), (2000, 0.02), (100, -0.03)):
        shift = delta / 0.02 * math.sqrt(n / 500)
        tail = 0.025 if alternative == "two-sided" else 0.05
        critical = stats.t.isf(tail, 9)
        above, below = stats.nct.sf(critical, 9, shift), stats.nct.cdf(-critical, 9, shift)
        expected = {"two-sided": above + below, "greater": above, "less": below}[alternative]
        assert design.power(n, delta, goal) == pytest.approx(expected, abs=1e-7)


def test_scaled_designs_against_simulation():
    """A normal estimate and a chi-squared variance with fixed freedom, as t has them."""
    generator = np.random.default_rng(3)
    design, n, delta = ScaledDesign(0.02, 9, 500), 1500, 0.035
    error = 0.02 * math.sqrt(500 / n)
    estimates = generator.normal(delta, error, 40_000)
    errors = error * np.sqrt(generator.chisquare(9, 40_000) / 9)
    shown = float((np.abs(estimates / errors) > stats.t.isf(0.025, 9)).mean())
    assert design.power(n, delta, Goal()) == pytest.approx(shown, abs=4 * 0.5 / 200)


@given(
    error=st.floats(0.001, 1),
    freedom=st.integers(1, 500),
    size=st.integers(50, 10_000),
    factor=st.floats(0.5, 5),
    alternative=st.sampled_from(ALTERNATIVES),
)
def test_needed_and_detectable_are_each_other_s_inverse(error, freedom, size, factor, alternative):
    design, goal = ScaledDesign(error, freedom, size), Goal(alternative=alternative)
    delta = goal.signed(factor * error)
    n = design.needed(delta, goal)
    assert design.power(n, delta, goal) >= 0.8 - 1e-9
    assert n == 1 or design.power(n - 1, delta, goal) < 0.8
    assert abs(design.detectable(n, goal)) <= abs(delta) * (1 + 1e-9)
    assert design.needed(delta / 2, goal) >= n
    assert abs(design.detectable(4 * n, goal)) == pytest.approx(abs(design.detectable(n, goal)) / 2)


@pytest.mark.parametrize("design", [UnitDesign(0.15), ScaledDesign(0.02, 30, 700)])
def test_an_interval_that_is_as_narrow_as_asked(design):
    n = design.for_width(0.011, 0.9)

    def half(n):
        if isinstance(design, UnitDesign):
            return stats.t.isf(0.05, n - 1) * 0.15 / math.sqrt(n)
        return stats.t.isf(0.05, 30) * 0.02 * math.sqrt(700 / n)

    assert half(n) <= 0.011 < half(n - 1)


def test_units_are_planned_for_as_before():
    assert UnitDesign(0.15).needed(0.02, Goal()) == queries_needed(0.15, 0.02)


def test_a_slower_rate_needs_more():
    root, slow = ScaledDesign(0.02, 30, 100), ScaledDesign(0.02, 30, 100, 0.25)
    assert slow.for_width(0.01, 0.95) == pytest.approx(
        root.for_width(0.01, 0.95) ** 2 / 100, abs=40
    )
    assert slow.detectable(1600, Goal()) == pytest.approx(slow.detectable(100, Goal()) / 2)
    with pytest.raises(InputError, match="rate=0"):
        ScaledDesign(0.02, 30, 100, 0.0)


def test_folds_have_the_standard_error_of_their_interval():
    gaps = [0.04, 0.01, 0.06, 0.01, 0.05]
    interval, design = corrected_t(gaps, 0.25), fold_design(gaps, 0.25, 300)
    half = stats.t.isf(0.025, 4) * design.error
    assert (interval.high - interval.low) / 2 == pytest.approx(half)
    assert (design.freedom, design.size) == (4, 300)
    assert design.for_width(half, 0.95) == 300


def test_impossible_plans_are_refused():
    with pytest.raises(InputError, match="has the wrong sign"):
        ScaledDesign(0.1, 5, 10).needed(0.1, Goal(alternative="less"))
    with pytest.raises(InputError, match="other than zero"):
        ScaledDesign(0.1, 5, 10).needed(0.0, Goal())
    with pytest.raises(InputError, match="power=1"):
        ScaledDesign(0.1, 5, 10).needed(0.1, Goal(power=1.0))
    with pytest.raises(InputError, match="more than 100,000,000"):
        ScaledDesign(0.1, 5, 10).needed(1e-9, Goal())
    with pytest.raises(InputError, match="above 0"):
        UnitDesign(0.1).for_width(0, 0.95)


def test_simulated_power_of_means_is_that_of_the_formula():
    """A large normal pilot: the t test on samples of it has the power of the noncentral t."""
    gaps = stats.norm.ppf((np.arange(4000) + 0.5) / 4000) * 0.2 + 0.08
    table = {"A": np.zeros(4000).tolist(), "B": gaps.tolist()}
    found = pilot_power(Scores.of(table), None, n=50, test="t", simulations=600)
    assert found.difference == pytest.approx(0.08)
    assert found.power == pytest.approx(power(0.2, 50, 0.08), abs=4 * 0.02)
    assert found.error == pytest.approx(math.sqrt(found.power * (1 - found.power) / 600))


def pilot_power(pair, measure, n, **more):
    return scored_power(scored_of(pair, measure, SETTINGS, PredictionOptions()), n, **more)


def predictions(n=60):
    generator = np.random.default_rng(5)
    truth = np.arange(n) % 2
    return [
        ClassPredictions(
            name,
            tuple(map(str, range(n))),
            ("a", "b"),
            truth,
            np.where(generator.random(n) < right, truth, 1 - truth),
        )
        for name, right in (("A", 0.65), ("B", 0.85))
    ]


def test_simulated_power_of_f1_is_that_of_comparing_samples():
    """The same samples, drawn and compared through the front door."""
    pair = predictions()
    found = pilot_power(pair, "F1(macro)", n=30, simulations=25, seed=4)
    shown = 0
    for number in range(25):
        rows = np.random.default_rng([4, number]).integers(0, 60, 30).tolist()
        ids = tuple(map(str, range(30)))
        drawn = [
            ClassPredictions(one.name, ids, one.classes, one.truth[rows], one.predicted[rows])
            for one in pair
        ]
        p = heldout.compare(drawn, "F1(macro)", replicates=999, seed=number).claims[0].adjusted
        shown += p <= 0.05
    assert found.test == "randomization"
    assert found.power == shown / 25


def test_simulated_power_rises_with_units_and_follows_the_linearised_score():
    pair = predictions()
    few, more, most = (
        pilot_power(pair, "F1(macro)", n=n, simulations=150).power for n in (20, 60, 200)
    )
    assert few < more < most
    values = heldout.compare(pair, "F1(macro)").scores.values
    gaps = values[:, 1] - values[:, 0]
    assert more == pytest.approx(power(gaps.std(ddof=1), 60, gaps.mean()), abs=0.12)


def test_simulation_from_texts_and_refusals():
    references = ["a b c d", "a b e f", "d e f g", "y z a b"] * 3
    systems = {"A": ["a b c d", "x", "y", "y z a c"] * 3, "B": references}
    scored = scored_systems(references, systems, "BLEU", SETTINGS, PredictionOptions())
    assert scored_power(scored, 24, simulations=10).power > 0.9
    with pytest.raises(InputError, match="at least 2 units"):
        scored_power(scored, 1)
    alone = scored_systems(references, {"A": references}, "BLEU", SETTINGS, PredictionOptions())
    with pytest.raises(InputError, match="pilot of two"):
        scored_power(alone, 10)
