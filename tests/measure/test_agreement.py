"""Agreement of judges and of orders: published numbers, peers, all orders of ties."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from heldout.measure.agreement import alpha_of_confusion, cohen_kappa, confusion, mean_over_pairs
from heldout.measure.rank_correlation import PERSISTENCE, batch_correlations

X = np.nan
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers,
# twelve units, some not judged. Ordinal data: .815.
FOUR = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, X, X, X],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, X, 3],
    [X, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, X],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, X],
]
GRADES = [0, 1, 2, 3]
WEIGHTS = (None, "linear", "quadratic")


def test_published_alpha_and_kappa():
    ratings, grades = np.array(FOUR), range(1, 6)
    times = np.stack([(ratings == grade).sum(axis=0) for grade in grades], axis=1)
    times = times[times.sum(axis=1) > 1]
    shares = times / (times.sum(axis=1, keepdims=True) - 1)
    coincidences = shares.T @ times - np.diag(shares.sum(axis=0))
    assert alpha_of_confusion(coincidences / 2) == pytest.approx(0.815, abs=5e-4)
    # The same paper, section A: binary data of two observers.
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    counts = confusion(np.array(first), np.array(second), 2)
    assert alpha_of_confusion(counts) == pytest.approx(0.095, abs=5e-4)
    assert alpha_of_confusion(counts.T) == pytest.approx(float(alpha_of_confusion(counts)))
    # The table of two readers of 50 grant proposals that textbooks give for Cohen (1960).
    readers = np.array([[20, 5], [10, 15]])
    assert cohen_kappa(readers, [0, 1]) == pytest.approx(0.4)
    assert mean_over_pairs(readers, np.eye(2)) == 0.7


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40))
def test_kappa_equals_that_of_scikit_learn(judged):
    first, second = (np.array(one) for one in zip(*judged, strict=True))
    for weights in WEIGHTS:
        found = float(cohen_kappa(confusion(first, second, 4), GRADES, weights))
        if len({*first, *second}) == 1:
            assert np.isnan(found)
        else:
            expected = cohen_kappa_score(first, second, labels=GRADES, weights=weights)
            assert found == pytest.approx(expected)
    # Many matrices at once
    tables = np.stack([confusion(first, second, 4), confusion(first, second[::-1], 4)])
    for of_tables in (alpha_of_confusion, lambda one: cohen_kappa(one, GRADES, "linear")):
        expected = [of_tables(one) for one in tables]
        assert of_tables(tables) == pytest.approx(expected, nan_ok=True)


# Correlation of two orders


def correlation(name, *lists):
    """One correlation of one pair of lists."""
    return batch_correlations(*(np.array([one], float) for one in lists))[name].item()


def two_lists(longest, highest):
    """Two lists of the same length, with ties."""
    numbers = st.integers(0, highest)
    return st.integers(2, longest).flatmap(
        lambda n: st.tuples(*[st.lists(numbers, min_size=n, max_size=n)] * 2)
    )


def test_published_taus():
    """The example of the R package ircor (Urbano & Marrero 2017), with its published values."""
    x = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
    y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
    x_tied, y_tied = ([round(value * 5) / 5 for value in one] for one in (x, y))
    assert correlation("kendall", x, y) == pytest.approx(0.7777778, abs=5e-8)
    assert correlation("tau_ap", x, y) == pytest.approx(0.7491182, abs=5e-8)
    assert correlation("tau_ap", x, y_tied) == pytest.approx(0.6074515, abs=5e-8)
    assert correlation("kendall", x_tied, y_tied) == pytest.approx(0.75)


@settings(max_examples=60)
@given(two_lists(7, 4) | two_lists(60, 20))
def test_correlations_equal_those_of_scipy(lists):
    x, y = lists
    peers = {"kendall": stats.kendalltau, "spearman": stats.spearmanr, "pearson": stats.pearsonr}
    for name, theirs in peers.items():
        if len(set(x)) == 1 or len(set(y)) == 1:
            assert np.isnan(correlation(name, x, y))
        else:
            assert correlation(name, x, y) == pytest.approx(theirs(x, y).statistic), name
    assert not abs(correlation("pearson", np.divide(x, 3), np.divide(x, -7))) > 1  # by rounding


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


def naive_rbo(first, second, p=PERSISTENCE):
    """Equation 32 of Webber, Moffat and Zobel (2010) for rankings of the same items, with loops."""
    depths = range(1, len(first) + 1)
    shares = [len(set(first[:d]) & set(second[:d])) / d for d in depths]
    seen = sum(share * p**d for d, share in zip(depths, shares, strict=True))
    return (1 - p) / p * seen + shares[-1] * p ** len(first)


@settings(max_examples=40)
@given(two_lists(5, 3))
def test_of_ties_it_is_the_mean_over_all_orders(lists):
    both = [(a, b) for a in orders(lists[0]) for b in orders(lists[1])]
    for name, naive in (("tau_ap", naive_tau_ap), ("rbo", naive_rbo)):
        expected = np.mean([naive(*pair) for pair in both])
        assert correlation(name, *lists) == pytest.approx(expected), name


@given(two_lists(7, 4))
def test_rows_of_a_batch_are_single_correlations(lists):
    x, y = (np.array([one, one[::-1]], float) for one in lists)
    for name, values in batch_correlations(x, y).items():
        expected = [correlation(name, *row) for row in zip(x, y, strict=True)]
        assert values.tolist() == pytest.approx(expected, nan_ok=True)
