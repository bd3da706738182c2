"""Bootstrap-shift and bootstrap intervals: published numbers, counting, and SciPy."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from inference_data import SIDES, A, B, share_as_extreme, smooth
from scipy import stats

from heldout import InputError
from heldout.infer import bootstrap
from heldout.infer.bootstrap import bootstrap_interval, shift_p_of_replicates, shift_test


def test_ten_folds():
    """Exact over all 10^10 draws, recentred by the observed mean."""
    assert shift_test(B - A, alternative="greater").p == pytest.approx(0.1424221852, abs=5e-11)
    assert shift_test(A - B, alternative="less").p == pytest.approx(0.1424221852, abs=5e-11)
    outcome = shift_test(B - A)
    assert outcome.p == pytest.approx(0.2805329481, abs=5e-11)
    assert (outcome.test, outcome.method, outcome.n) == ("bootstrap-shift", "exact", 10)
    assert outcome.detail == "all 10,000,000,000 resamples"


def test_replicates_as_taught():
    """Ten replicates, as taught: average .12, shifted values >= .07: 3/10."""
    replicates = [0.10, 0.04, 0.21, 0.20, 0.13, 0.09, 0.22, 0.07, 0.03, 0.11]
    assert shift_p_of_replicates(replicates, 0.07) == 0.3
    assert shift_p_of_replicates([-t for t in replicates], -0.07, "less") == 0.3
    assert shift_p_of_replicates(replicates, 0.07, "two-sided") == 0.5
    with pytest.raises(InputError, match="observed=nan"):
        shift_p_of_replicates(replicates, math.nan)


@given(
    st.lists(st.floats(-5, 5).map(lambda x: round(x, 3)), min_size=2, max_size=5),
    st.sampled_from(SIDES),
)
def test_enumeration_equals_counting(values, side):
    assume(np.ptp(values) > 0)
    total = np.sum(values)
    sums = np.array([sum(draw) for draw in product(values, repeat=len(values))])
    tie = 1e-12 * np.abs(values).sum()
    expected = share_as_extreme(sums, total, side, center=total, tie=tie)
    assert shift_test(values, alternative=side).p == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("side", SIDES)
def test_all_ways_agree(side, monkeypatch):
    """Convolution with enumeration, and drawn resamples with both."""
    values = np.random.default_rng(4).integers(-5, 9, 11) / 10
    few = shift_test(values, alternative=side)
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "FEW", 2)
        many = shift_test(values, alternative=side)
    assert "lattice of step 0.1" in many.detail
    assert many.p == pytest.approx(few.p, rel=1e-10)
    for n in (9, 12, 60, 400):
        values = np.random.default_rng(n).integers(-6, 8, n) / 10
        exact = shift_test(values, alternative=side)
        with monkeypatch.context() as patch:
            patch.setattr(bootstrap, "FEW", 0)
            patch.setattr(bootstrap, "MOST_CELLS", 0)
            drawn = shift_test(values, alternative=side)
        assert (exact.method, drawn.method) == ("exact", "monte carlo")
        assert abs(drawn.p - exact.p) <= 4 * max(drawn.error, 1e-5), n
    drawn = shift_test(smooth(50), replicates=2000, seed=3)
    assert (drawn.method, drawn.detail) == ("monte carlo", "2,000 replicates, seed 3")


def test_differences_without_variance_have_the_p_of_the_randomization_test():
    for side in SIDES:
        assert shift_test(np.zeros(30), alternative=side).p == 1.0
    outcome = shift_test([0.25] * 6)
    assert (outcome.p, outcome.statistic, outcome.method) == (2**-5, 0.25, "no variance")
    assert shift_test([0.2] * 6, alternative="greater").p == 2**-6
    assert shift_test([0.2] * 6, alternative="less").p == 1


def test_threads_do_not_matter(monkeypatch):
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        found.append(shift_test(smooth(500, 2, 0.01), replicates=30_000))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("kind", "theirs"), [("percentile", "percentile"), ("bca", "BCa")])
def test_intervals_agree_with_scipy(kind, theirs):
    values = np.random.default_rng(8).exponential(0.3, 40)
    ours = bootstrap_interval(values, kind=kind, level=0.9)
    other = stats.bootstrap(
        (values,),
        np.mean,
        method=theirs,
        confidence_level=0.9,
        n_resamples=40_000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    width = other.high - other.low
    assert ours.low == pytest.approx(other.low, abs=0.04 * width)
    assert ours.high == pytest.approx(other.high, abs=0.04 * width)
    assert (ours.estimate, ours.level) == (pytest.approx(values.mean()), 0.9)
    flat = bootstrap_interval([0.3] * 5, kind=kind)
    assert (flat.low, flat.high) == (pytest.approx(0.3), pytest.approx(0.3))
