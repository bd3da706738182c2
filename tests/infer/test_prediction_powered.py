"""Estimates from human and machine judgements: by properties, by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from heldout.errors import InputError
from heldout.infer.prediction_powered import combine_judgements, combined_means


def sample(seed, n=30, more=90, noise=0.3):
    generator = np.random.default_rng(seed)
    true = generator.beta(2, 3, n + more)
    machine = np.clip(true + generator.normal(0.1, noise, n + more), 0, 1)
    return true[:n], machine[:n], machine[n:]


def naive(human, machine, extra):
    """The cross-fitted estimate and its variances, query by query."""
    n, more = len(human), len(extra)
    weights, left_out = [], []
    for query in range(n):
        y, f = np.delete(human, query), np.delete(machine, query)
        weight = np.cov(y, f)[0, 1] / f.var(ddof=1) / (1 + n / more)
        weights.append(min(max(weight, 0), 1))
        left_out.append(y.mean() - weights[-1] * (f.mean() - extra.mean()))
    weights, left_out = np.array(weights), np.array(left_out)
    residuals = human - weights * (machine - extra.mean())
    jackknife = (n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()
    own = max(residuals.var(ddof=1) / n, jackknife)
    variance = own + weights.mean() ** 2 * extra.var(ddof=1) / more
    return residuals.mean(), variance**0.5


@pytest.mark.parametrize("seed", range(6))
def test_cross_fitted_estimates_equal_a_loop_over_queries(seed):
    human, machine, extra = sample(seed, n=12, more=40)
    result = combine_judgements(human, machine, extra)
    mean, error = naive(human, machine, extra)
    assert result.combined.estimate == pytest.approx(mean, abs=1e-12)
    half = stats.t.ppf(0.975, 11) * error
    assert result.combined.high == pytest.approx(mean + half, abs=1e-12)
    assert result.test.p == pytest.approx(2 * stats.t.sf(abs(mean / error), 11), abs=1e-12)
    assert result.effective == pytest.approx(human.var(ddof=1) / error**2, rel=1e-9)


@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_shifts_of_the_human_values_shift_the_estimate_and_those_of_the_machine_do_not(a, b, seed):
    human, machine, extra = sample(seed)
    plain = combine_judgements(human, machine, extra).combined
    shifted = combine_judgements(human + a, machine + b, extra + b).combined
    assert shifted.estimate == pytest.approx(plain.estimate + a, abs=1e-8)
    assert shifted.high - shifted.low == pytest.approx(plain.high - plain.low, abs=1e-8)


def test_a_machine_without_information_leaves_the_human_estimate():
    human, _, _ = sample(0)
    for machine in (np.full(30, 0.5), -human):
        result = combine_judgements(human, machine, np.full(90, 0.5))
        assert result.weight == 0
        assert result.combined.estimate == pytest.approx(human.mean())
        assert result.human.low == pytest.approx(
            stats.ttest_1samp(human, 0).confidence_interval().low
        )


def test_no_difference_at_all_is_not_significant_and_a_constant_one_is():
    none, machine = np.zeros(20), np.linspace(0, 1, 20)
    assert combine_judgements(none, machine, machine).test.p == 1
    constant = combine_judgements(none + 0.1, none, none)
    assert (constant.test.p, constant.combined.low) == (2**-19, pytest.approx(0.1))
    assert combine_judgements(none + 0.1, none, none, alternative="less").test.p == 1


@pytest.mark.parametrize(("differ", "added"), [(0, 4), (3, 4), (9, 4), (10, 0)])
def test_four_queries_are_added_if_few_differ_from_the_commonest_value(differ, added):
    human, flat = np.full(40, 0.25), np.full(60, 0.5)
    human[:differ] += 0.1
    extra = flat + 0.1 * (np.arange(60) == 7)  # says how large a difference is if there is none
    error = combined_means(human[:, None], flat[:40, None], extra[:, None]).estimate.error[0]
    assert error**2 == pytest.approx(human.var(ddof=1) / 40 + added * 0.1**2 / 40**2)


def test_intervals_of_rare_differences_cover():
    """2,000 draws of 25 queries, of which 1.5 differ; without more variance 77 % are covered."""
    generator = np.random.default_rng(3)
    true = 0.1 * (generator.random((125, 2000)) < 0.06) * generator.choice([-1, 1, 1], (125, 2000))
    estimate = combined_means(true[:25], true[:25], true[25:]).estimate
    covered = np.abs(estimate.value - 0.002) <= stats.t.ppf(0.975, 24) * estimate.error
    assert covered.mean() > 0.945


def test_many_means_at_once_are_the_single_ones():
    parts = [sample(seed) for seed in range(4)]
    columns = [np.stack(one, 1) for one in zip(*parts, strict=True)]
    means = combined_means(*columns)
    for at, part in enumerate(parts):
        single = combine_judgements(*part)
        assert means.estimate.value[at] == pytest.approx(single.combined.estimate, abs=1e-14)
        assert means.weight[at] == pytest.approx(single.weight, abs=1e-14)


def test_intervals_cover_and_are_shorter_with_a_good_machine():
    """2,000 draws of 25 queries; the standard error of a coverage of 95 % is .005."""
    generator = np.random.default_rng(8)
    true = generator.beta(1, 2, (125, 2000))
    machine = np.clip(true + generator.normal(0.2, 0.15, true.shape), 0, 1)
    value, error, *_ = combined_means(true[:25], machine[:25], machine[25:]).estimate
    covered = np.abs(value - 1 / 3) <= stats.t.ppf(0.975, 24) * error
    assert 0.935 < covered.mean() < 0.975
    assert value.var() < 0.75 * true[:25].mean(0).var()
    assert abs(value.mean() - 1 / 3) < 4 * value.std() / 2000**0.5


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (([0.1, 0.2], [0.1, 0.2], [0.1, 0.2]), "human: expected at least 3"),
        (([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.1]), "extra: expected at least 2"),
    ],
)
def test_too_few_values_are_refused(parts, words):
    with pytest.raises(InputError, match=words):
        combine_judgements(*parts)
