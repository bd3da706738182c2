"""Rank correlation: published numbers, SciPy, enumeration of ties, and naive loops."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from heldout.measure.rank_correlation import PERSISTENCE, batch_correlations

# The example of the R package ircor (Urbano & Marrero 2017, "The Treatment of Ties in AP
# Correlation"), with its published values.
X = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
Y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
X_TIED = [round(value * 5) / 5 for value in X]
Y_TIED = [round(value * 5) / 5 for value in Y]

small_lists = st.integers(2, 7).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
)


def correlation(name, *lists):
    """One correlation of one pair of lists."""
    return batch_correlations(*(np.array([one], float) for one in lists))[name].item()


def test_published_taus():
    assert correlation("kendall", X, Y) == pytest.approx(0.7777778, abs=5e-8)
    assert correlation("tau_ap", X, Y) == pytest.approx(0.7491182, abs=5e-8)
    assert correlation("tau_ap", X, Y_TIED) == pytest.approx(0.6074515, abs=5e-8)
    assert correlation("kendall", X_TIED, Y_TIED) == pytest.approx(0.75)


@settings(deadline=None, max_examples=60)
@given(small_lists)
def test_correlations_equal_those_of_scipy(lists):
    x, y = lists
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(correlation("kendall", x, y))
        assert np.isnan(correlation("spearman", x, y))
        return
    assert correlation("kendall", x, y) == pytest.approx(stats.kendalltau(x, y).statistic)
    assert correlation("spearman", x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert correlation("pearson", x, y) == pytest.approx(stats.pearsonr(x, y).statistic)


def test_long_lists_have_the_same_tau():
    generator = np.random.default_rng(1)
    x = generator.integers(0, 50, 1500)
    y = x + generator.integers(0, 30, 1500)
    signs = np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y))
    tied = [float((np.subtract.outer(one, one) != 0).sum()) for one in (x, y)]
    assert correlation("kendall", x, y) == pytest.approx(signs.sum() / np.sqrt(tied[0] * tied[1]))


def orders(scores):
    """All orders of items, best first, that agree with the scores."""
    groups = [
        list(permutations([item for item, value in enumerate(scores) if value == level]))
        for level in sorted(set(scores), reverse=True)
    ]
    return [[item for group in chosen for item in group] for chosen in product(*groups)]


def naive_tau_ap(true_order, order):
    """Equation of Yilmaz, Aslam and Robertson (2008): 2/(N-1) sum C(i)/(i-1) - 1."""
    place = {item: at for at, item in enumerate(true_order)}
    total = 0.0
    for at in range(1, len(order)):
        right = sum(place[above] < place[order[at]] for above in order[:at])
        total += right / at
    return 2 / (len(order) - 1) * total - 1


@settings(deadline=None, max_examples=40)
@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
    )
)
def test_tau_ap_is_the_mean_over_all_orders_of_ties(lists):
    truth, estimate = lists
    values = [naive_tau_ap(t, e) for t in orders(truth) for e in orders(estimate)]
    assert correlation("tau_ap", truth, estimate) == pytest.approx(np.mean(values))


def naive_rbo(first, second, p):
    """Equation 32 of Webber, Moffat and Zobel (2010) for rankings of the same items, with loops."""
    depths = range(1, len(first) + 1)
    shares = [len(set(first[:d]) & set(second[:d])) / d for d in depths]
    seen = sum(share * p**d for d, share in zip(depths, shares, strict=True))
    return (1 - p) / p * seen + shares[-1] * p ** len(first)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
    )
)
def test_overlap_is_equation_32_and_its_mean_over_all_orders_of_ties(lists):
    first, second = lists
    values = [naive_rbo(a, b, PERSISTENCE) for a in orders(first) for b in orders(second)]
    assert correlation("rbo", first, second) == pytest.approx(np.mean(values))


@settings(deadline=None, max_examples=40)
@given(small_lists)
def test_rows_of_a_batch_are_single_correlations(lists):
    x, y = (np.array([one, one[::-1]], float) for one in lists)
    for name, values in batch_correlations(x, y).items():
        expected = [correlation(name, *row) for row in zip(x, y, strict=True)]
        assert values.tolist() == pytest.approx(expected, nan_ok=True)


@settings(deadline=None, max_examples=30)
@given(small_lists)
def test_ranges(lists):
    assert -1 - 1e-12 <= correlation("tau_ap", *lists) <= 1 + 1e-12
    assert 0 <= correlation("rbo", *lists) <= 1 + 1e-12


def test_a_swap_at_the_top_costs_more_than_one_at_the_end():
    best = list(range(10, 0, -1))
    swaps = [[*best[:at], best[at + 1], best[at], *best[at + 2 :]] for at in range(9)]
    assert len({round(correlation("kendall", best, one), 12) for one in swaps}) == 1
    by_place = [correlation("tau_ap", best, one) for one in swaps]
    assert all(a < b for a, b in pairwise(by_place))
