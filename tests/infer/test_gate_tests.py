"""Gates: verdicts, their intervals, and how many units would decide."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heldout.errors import InputError
from heldout.infer.gate_tests import non_inferiority, tost
from heldout.infer.power import power
from heldout.infer.tests.paired import t_test

RNG = np.random.default_rng(9)
STANDARD = RNG.normal(size=40)
STANDARD = (STANDARD - STANDARD.mean()) / STANDARD.std(ddof=1)
values = st.lists(st.floats(-1, 1).map(lambda x: round(x, 4)), min_size=2, max_size=40)


def with_mean(mean, sd=0.1):
    return mean + sd * STANDARD


@pytest.mark.parametrize(
    ("mean", "verdict"), [(0.0, "shown"), (-0.045, "not shown"), (-0.1, "worse"), (0.1, "shown")]
)
def test_non_inferiority(mean, verdict):
    gate = non_inferiority(with_mean(mean), 0.05, test="t")
    assert (gate.verdict, gate.margin, gate.n) == (verdict, 0.05, 40)
    assert gate.p == pytest.approx(t_test(with_mean(mean) + 0.05, alternative="greater").p)


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(0.0, "shown"), (-0.045, "not shown"), (0.045, "not shown"), (-0.1, "worse"), (0.1, "better")],
)
def test_tost(mean, verdict):
    assert tost(with_mean(mean), 0.05).verdict == verdict


@pytest.mark.parametrize(
    ("mean", "p"),
    [(-0.02, 0.03260064858190), (0.0, 0.00151371124969), (0.03, 0.10670474826957)],
)
def test_tost_is_the_larger_of_two_t_tests(mean, p):
    # statsmodels 0.15.0: ttost_paired(differences, zeros, -0.05, 0.05)
    differences = with_mean(mean)
    below = stats.ttest_1samp(differences, -0.05, alternative="greater").pvalue
    above = stats.ttest_1samp(differences, 0.05, alternative="less").pvalue
    found = tost(differences, 0.05, test="t").p
    assert (found, found) == pytest.approx((p, max(below, above)), rel=1e-9)


few = st.lists(st.floats(-1, 1).map(lambda x: round(x, 2)), min_size=2, max_size=10)
TESTS = {
    "t": (values, {"test": "t"}),
    "randomization": (few, {"test": "randomization"}),
    "corrected-t": (values, {"test": "corrected-t", "test_share": 1 / 9}),
}


@pytest.mark.parametrize("test", TESTS)
@given(data=st.data(), margin=st.sampled_from([0.01, 0.1, 0.5]))
def test_verdict_is_the_interval_against_the_margin(test, data, margin):
    lists, settings = TESTS[test]
    differences = data.draw(lists)
    gate = non_inferiority(differences, margin, **settings)
    low, high = gate.interval.low + margin, gate.interval.high + margin
    if min(abs(low), abs(high)) > 1e-9:
        expected = "shown" if low > 0 else "worse" if high < 0 else "not shown"
        assert gate.verdict == expected
    both = tost(differences, margin, **settings)
    assert both.p >= gate.p
    assert both.verdict != "shown" or gate.verdict == "shown"


def test_units_that_would_decide():
    gate = non_inferiority(with_mean(-0.04), 0.05)
    n = gate.queries_needed
    assert gate.verdict == "not shown"
    assert n is not None
    assert (
        power(0.1, n, 0.01, alternative="greater")
        >= 0.8
        > power(0.1, n - 1, 0.01, alternative="greater")
    )
    twice = np.tile(with_mean(-0.04), -(-n // 40))
    assert non_inferiority(twice, 0.05).verdict == "shown"


def test_units_that_would_decide_by_randomization_are_enough_for_it():
    gate = non_inferiority([0.001, 0.002], 0.01)
    assert (gate.verdict, gate.test) == ("not shown", "randomization")
    assert gate.queries_needed == 5  # four units that agree have p = 1/16


def test_units_that_would_decide_equivalence():
    gate = tost(with_mean(0.0, 0.2), 0.05)
    assert gate.verdict == "not shown"
    # Chow, Shao & Wang (2008), section 3.1.2: (z(.95) + z(.9))² (sd / margin)², here 137.03.
    assert gate.queries_needed == pytest.approx(137.03, abs=3)


@pytest.mark.parametrize("mean", [-0.06, -0.055])
def test_no_number_of_units_decides_beyond_the_margin(mean):
    gate = non_inferiority(with_mean(mean), 0.05)
    assert (gate.verdict, gate.queries_needed) == ("not shown", None)


def test_constant_differences():
    assert non_inferiority([0.0] * 5, 0.01).verdict == "shown"
    assert non_inferiority([-0.02] * 5, 0.01).verdict == "worse"
    edge = non_inferiority([0.1 - 0.11] * 5, 0.01)
    assert (edge.verdict, edge.p, edge.queries_needed) == ("not shown", 1, None)


def test_randomization():
    # Darwin's maize less 10, margin 10: Fisher's 863/32768, one-tailed.
    maize = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])
    gate = non_inferiority(maize - 10, 10, test="randomization")
    assert gate.p == pytest.approx(863 / 32768, abs=1e-12)
    assert (gate.verdict, gate.test) == ("shown", "randomization")
    assert tost(with_mean(0.0), 0.05, test="randomization").verdict == "shown"


def test_the_randomization_test_is_taken_where_it_is_exact():
    lattice = np.round(with_mean(0.0, 0.3), 1)  # P@10: convolution, though there are 40 units
    assert non_inferiority(lattice, 0.02)[5:] == ("randomization", 40, "exact")
    assert tost(with_mean(0.0)[:12], 0.2)[5:] == ("randomization", 12, "exact")
    assert non_inferiority(with_mean(0.0), 0.02)[5:] == ("t", 40, "t")


def test_folds_are_gated_by_the_corrected_t_test():
    # Witten, Frank & Hall (2011), section 5.5: the variance is multiplied by 1/k + n_test/n_train.
    folds = np.array([0.02, -0.01, 0.03, 0.0, 0.01, 0.02, -0.02, 0.04, 0.0, 0.01])
    gate = non_inferiority(folds, 0.02, test_share=1 / 9)
    t = (folds.mean() + 0.02) / np.sqrt(folds.var(ddof=1) * (1 / 10 + 1 / 9))
    assert gate.p == pytest.approx(stats.t.sf(t, 9), rel=1e-12)
    assert (gate.test, gate.verdict) == ("corrected-t", "shown")
    assert gate.p > non_inferiority(folds, 0.02, test="t").p
    undecided = non_inferiority(folds - 0.02, 0.02, test_share=1 / 9)
    assert (undecided.verdict, undecided.queries_needed) == ("not shown", None)


@pytest.mark.parametrize("test", ["t", "randomization"])
def test_size_at_the_edge_of_the_margin(test):
    rng = np.random.default_rng(10)
    draws = rng.normal(-0.05, 0.1, (2000, 15))
    shown = np.mean([non_inferiority(row, 0.05, test=test).verdict == "shown" for row in draws])
    assert shown == pytest.approx(0.05, abs=0.015)


def test_errors():
    with pytest.raises(InputError, match="margin=0"):
        non_inferiority([0.1, 0.2], 0)
    with pytest.raises(InputError, match=r"level=0\.3: did you mean 0\.7"):
        tost([0.1, 0.2], 0.1, level=0.3)
    with pytest.raises(InputError, match="test='z'"):
        tost([0.1, 0.2], 0.1, test="z")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="over folds use corrected-t"):
        tost([0.1, 0.2], 0.1, test="t", test_share=0.1)
    with pytest.raises(InputError, match="test_share=n_test/n_train"):
        non_inferiority([0.1, 0.2], 0.1, test="corrected-t")
