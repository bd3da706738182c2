"""Planning, against published sizes, an integral and its own inverse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from heldout.errors import InputError
from heldout.infer.power import (
    FAR,
    detectable_difference,
    pilot_sd,
    power,
    queries_needed,
)
from heldout.infer.results import mean_estimate

effects = st.floats(0.05, 3)
targets = st.floats(0.3, 0.99)
tails = st.sampled_from(["two-sided", "greater"])


@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_small_medium_and_large_effects(effect, pairs):
    # The sizes that Cohen's (1988) small, medium and large effect need at power .8, as G*Power
    # and R's power.t.test(type = "paired") give them.
    assert queries_needed(1, effect) == pairs


@pytest.mark.parametrize("n", [2, 5, 25, 50, 400])
@pytest.mark.parametrize("tail", ["two-sided", "greater", "less"])
def test_against_an_integral_over_the_standard_deviation(tail, n):
    # t = (Z + shift) / s is beyond c where Z is beyond c s - shift, whatever s.
    s = np.linspace(0, 8, 40_001)
    chances = stats.chi.pdf(s, n - 1, scale=1 / math.sqrt(n - 1))
    for effect in (-0.4, 0.0, 0.1, 0.3, 1.0):
        shift = effect * math.sqrt(n)
        for alpha in (0.01, 0.05):
            c = stats.t.isf(alpha / 2 if tail == "two-sided" else alpha, n - 1)
            above, below = stats.norm.sf(c * s - shift), stats.norm.cdf(-c * s - shift)
            claimed = {"two-sided": above + below, "greater": above, "less": below}[tail]
            expected = integrate.simpson(claimed * chances, x=s)
            ours = power(0.2, n, 0.2 * effect, level=1 - alpha, alternative=tail)
            assert ours == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("tail", "n", "effect", "alpha", "expected"),
    [
        ("two-sided", 2, 1.0, 0.01, 0.0186131321),
        ("two-sided", 5, -0.4, 0.05, 0.1076635665),
        ("two-sided", 25, 0.3, 0.05, 0.3019530752),
        ("two-sided", 50, 0.3, 0.05, 0.5476570390),
        ("two-sided", 400, 0.1, 0.01, 0.2795662346),
        ("greater", 5, 1.0, 0.05, 0.5797373589),
        ("greater", 50, -0.4, 0.05, 0.0000046013),
        ("less", 25, -0.4, 0.01, 0.3305776287),
        ("less", 400, 0.1, 0.05, 0.0001355426),
    ],
)
def test_against_values_of_statsmodels(tail, n, effect, alpha, expected):
    # statsmodels 0.15.0: TTestPower().power(effect, n, alpha, alternative)
    found = power(0.2, n, 0.2 * effect, level=1 - alpha, alternative=tail)
    assert found == pytest.approx(expected, abs=1e-9)


def test_simulated():
    rng = np.random.default_rng(3)
    draws = rng.normal(0.08, 0.2, (4000, 50))
    found = np.mean(mean_estimate(draws.T).p() <= 0.05)
    assert found == pytest.approx(power(0.2, 50, 0.08), abs=0.02)


@given(effects, targets, tails)
def test_queries_needed_is_the_smallest(effect, target, tail):
    n = queries_needed(1, effect, power=target, alternative=tail)
    assert power(1, n, effect, alternative=tail) >= target
    if n > 2:
        assert power(1, n - 1, effect, alternative=tail) < target


@given(st.integers(2, 5000), targets, tails)
def test_detectable_difference_has_the_power(n, target, tail):
    delta = detectable_difference(0.3, n, power=target, alternative=tail)
    assert power(0.3, n, delta, alternative=tail) == pytest.approx(target, abs=1e-9)


def test_less_mirrors_greater():
    assert detectable_difference(0.2, 50, alternative="less") == -detectable_difference(
        0.2, 50, alternative="greater"
    )
    assert queries_needed(0.2, -0.05, alternative="less") == queries_needed(
        0.2, 0.05, alternative="greater"
    )


@given(st.integers(2, 10**7), st.floats(-60, 60), st.sampled_from(["two-sided", "greater", "less"]))
def test_power_is_a_probability(n, shift, tail):
    assert 0 <= power(1, n, shift / math.sqrt(n), alternative=tail) <= 1


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("alpha", [1e-6, 1e-9, 1e-12])
def test_far_out_the_denominator_alone_decides(n, alpha):
    # t = (Z + shift) / (chi / sqrt(n - 1)), and Z is nothing beside a large shift.
    critical = stats.t.isf(alpha / 2, n - 1)
    shift = stats.chi.ppf(0.8, n - 1) / math.sqrt(n - 1) * critical
    expected = shift / math.sqrt(n)
    assert detectable_difference(1, n, level=1 - alpha) == pytest.approx(expected, rel=1 / shift)


@pytest.mark.parametrize("n", [2, 3, 30])
def test_power_has_no_step_where_the_formula_changes(n):
    for alpha in (1e-3, 1e-8):
        below, above = (
            power(1, n, FAR * f / math.sqrt(n), level=1 - alpha) for f in (1 - 1e-9, 1 + 1e-9)
        )
        assert below == pytest.approx(above, abs=1e-7)


def test_pilot():
    assert pilot_sd([0.1, 0.3, 0.2]) == pytest.approx(0.1)
    # chi-square with two degrees of freedom: lower 20 % point is -2 ln .8.
    bound = 0.1 * math.sqrt(2 / (-2 * math.log(0.8)))
    assert pilot_sd([0.1, 0.3, 0.2], level=0.8) == pytest.approx(bound)
    with pytest.raises(InputError, match="all are equal"):
        pilot_sd([0.1, 0.1, 0.1])


def test_errors():
    with pytest.raises(InputError, match="sd=0"):
        power(0, 10, 0.1)
    with pytest.raises(InputError, match="n=1"):
        power(1, 1, 0.1)
    with pytest.raises(InputError, match="n=1"):
        detectable_difference(1, 1)
    with pytest.raises(InputError, match="delta=nan"):
        power(1, 10, math.nan)
    with pytest.raises(InputError, match="other than zero"):
        queries_needed(1, 0)
    with pytest.raises(InputError, match="has the wrong sign"):
        queries_needed(1, -0.1, alternative="greater")
    with pytest.raises(InputError, match="more than 100,000,000 queries"):
        queries_needed(1, 1e-6)
    with pytest.raises(InputError, match=r"power=0\.01"):
        detectable_difference(1, 10, power=0.01)
    with pytest.raises(InputError, match="level=5"):
        power(1, 10, 0.1, level=5)
