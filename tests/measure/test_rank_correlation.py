"""Rank correlation: published numbers, SciPy, enumeration of ties, and naive loops."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from heldout.errors import InputError
from heldout.measure.rank_correlation import (
    batch_correlations,
    kendall_tau,
    pearson,
    rbo,
    spearman,
    tau_ap,
)

# The example of the R package ircor (Urbano & Marrero 2017, "The Treatment of Ties in AP
# Correlation"), with its published values.
X = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
Y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
X_TIED = [round(value * 5) / 5 for value in X]
Y_TIED = [round(value * 5) / 5 for value in Y]

# The example of the software of Corsi & Urbano (2024), "The Treatment of Ties in Rank-Biased
# Overlap": red (blue green) yellow pink / (blue red) white (yellow black purple) green.
FIRST = {"red": 5, "blue": 4, "green": 4, "yellow": 3, "pink": 2}
SECOND = {"blue": 9, "red": 9, "white": 8, "yellow": 7, "black": 7, "purple": 7, "green": 6}

small_lists = st.integers(2, 7).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
)


def test_published_taus():
    assert kendall_tau(X, Y) == pytest.approx(0.7777778, abs=5e-8)
    assert tau_ap(X, Y) == pytest.approx(0.7491182, abs=5e-8)
    assert tau_ap(X, Y_TIED) == pytest.approx(0.6074515, abs=5e-8)
    assert kendall_tau(X_TIED, Y_TIED) == pytest.approx(0.75)


def test_published_overlap_of_tied_rankings():
    assert rbo(FIRST, SECOND, 0.95) == pytest.approx(0.6922853, abs=5e-8)
    assert rbo(SECOND, FIRST, 0.95) == pytest.approx(0.6922853, abs=5e-8)


@settings(deadline=None, max_examples=60)
@given(small_lists)
def test_correlations_equal_those_of_scipy(lists):
    x, y = lists
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert np.isnan(kendall_tau(x, y))
        assert np.isnan(spearman(x, y))
        return
    assert kendall_tau(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)


def test_long_lists_have_the_same_tau():
    generator = np.random.default_rng(1)
    x = generator.integers(0, 50, 1500)
    y = x + generator.integers(0, 30, 1500)
    signs = np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y))
    tied = [float((np.subtract.outer(one, one) != 0).sum()) for one in (x, y)]
    assert kendall_tau(x, y) == pytest.approx(signs.sum() / np.sqrt(tied[0] * tied[1]))


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
    assert tau_ap(truth, estimate) == pytest.approx(np.mean(values))


def naive_rbo(first, second, p):
    """Equation 32 of Webber, Moffat and Zobel (2010), with loops."""
    short, long = sorted((list(first), list(second)), key=len)
    s, length = len(short), len(long)
    common = [len(set(short[:d]) & set(long[:d])) for d in range(length + 1)]
    seen = sum(common[d] / d * p**d for d in range(1, length + 1))
    beyond = sum(common[s] * (d - s) / (s * d) * p**d for d in range(s + 1, length + 1))
    tail = ((common[length] - common[s]) / length + common[s] / s) * p**length
    return (1 - p) / p * (seen + beyond) + tail


@settings(deadline=None, max_examples=60)
@given(
    st.permutations(list("abcdefg")),
    st.permutations(list("cdefghi")),
    st.integers(1, 7),
    st.integers(1, 7),
    st.sampled_from([0.5, 0.9, 0.98]),
)
def test_overlap_without_ties_is_equation_32(first, second, m, n, p):
    first, second = first[:m], second[:n]
    expected = naive_rbo(first, second, p)
    assert rbo(first, second, p) == pytest.approx(expected)
    scored = [{item: -at for at, item in enumerate(one)} for one in (first, second)]
    assert rbo(*scored, p) == pytest.approx(expected)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
    )
)
def test_tied_overlap_is_the_mean_over_all_orders_of_ties(lists):
    first, second = lists
    values = [naive_rbo(a, b, 0.8) for a in orders(first) for b in orders(second)]
    assert rbo(dict(enumerate(first)), dict(enumerate(second)), 0.8) == pytest.approx(
        np.mean(values)
    )


@settings(deadline=None, max_examples=40)
@given(small_lists)
def test_rows_of_a_batch_are_single_correlations(lists):
    x, y = (np.array([one, one[::-1]], float) for one in lists)
    found = batch_correlations(x, y, 0.7)
    for row in range(2):
        one, other = x[row], y[row]
        expected = {
            "kendall": kendall_tau(one, other),
            "tau_ap": tau_ap(one, other),
            "rbo": rbo(dict(enumerate(one)), dict(enumerate(other)), 0.7),
            "spearman": spearman(one, other),
            "pearson": pearson(one, other),
        }
        assert {name: values[row] for name, values in found.items()} == pytest.approx(
            expected, nan_ok=True
        )


@settings(deadline=None, max_examples=30)
@given(small_lists)
def test_ranges_and_identity(lists):
    x, y = lists
    assert -1 - 1e-12 <= tau_ap(x, y) <= 1 + 1e-12
    one, other = dict(enumerate(x)), dict(enumerate(y))
    assert 0 <= rbo(one, other) <= 1 + 1e-12


def test_a_swap_at_the_top_costs_more_than_one_at_the_end():
    best = list(range(10, 0, -1))
    swaps = [[*best[:at], best[at + 1], best[at], *best[at + 2 :]] for at in range(9)]
    assert len({round(kendall_tau(best, one), 12) for one in swaps}) == 1
    assert all(a < b for a, b in pairwise(tau_ap(best, one) for one in swaps))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kendall_tau([1], [1]), "at least 2 items"),
        (lambda: pearson([1, 2], [1, 2, 3]), "same items"),
        (lambda: spearman([1, np.nan], [1, 2]), "finite"),
        (lambda: rbo(["a"], ["a"], 1.0), "p=1.0"),
        (lambda: rbo(["a", "a"], ["a"]), "twice"),
        (lambda: rbo([], ["a"]), "at least 1 item"),
        (lambda: rbo({"a": np.inf}, ["a"]), "finite"),
    ],
)
def test_wrong_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()
