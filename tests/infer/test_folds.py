"""Intervals over folds: definitions, and what they cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.infer.intervals.folds import (
    conservative_z,
    corrected_t,
    naive_z,
    nested_cv,
    nested_term,
)
from heldout.infer.tests.paired import corrected_t_test

Z = 1.959963984540054
folds = st.lists(st.floats(0, 1).map(lambda x: round(x, 6)), min_size=2, max_size=30)


def test_naive_z_by_hand():
    scores = [0.5, 0.7, 0.6, 0.8]
    half = Z * math.sqrt(0.05 / 4) / 2
    assert naive_z(scores)[:3] == pytest.approx((0.65, 0.65 - half, 0.65 + half))


@given(folds)
def test_naive_is_narrower_than_corrected(scores):
    naive, corrected = naive_z(scores), corrected_t(scores, 1 / 9)
    assert corrected.low <= naive.low + 1e-12
    assert naive.low <= naive.estimate <= naive.high <= corrected.high + 1e-12


@given(folds)
def test_corrected_interval_and_test_agree(scores):
    interval = corrected_t(scores, 0.25)
    if np.ptp(scores) > 1e-3:
        assert corrected_t_test(np.array(scores) - interval.high, 0.25).p == pytest.approx(0.05)


def test_conservative_z_by_hand():
    interval = conservative_z([0.6, 0.8], [(0.5, 0.7), (0.6, 0.5)])
    half = Z * math.sqrt((0.04 + 0.01) / 4)
    assert interval[:3] == pytest.approx((0.7, 0.7 - half, 0.7 + half))


def test_nested_term_by_hand():
    term = nested_term([1, 2, 3], [1, 2, 2, 3])
    assert term == pytest.approx((0, (2 / 3) / 4))
    assert nested_term([4], [1, 3]).a == pytest.approx(4)


class TestNestedCV:
    errors = np.array([0.0, 1.0] * 50)  # variance 25/99
    least = math.sqrt(25 / 99) / 10

    def half(self, a, b, **options):
        interval = nested_cv(self.errors, [(a, b)] * 5, n=100, folds=5, **options)
        return (interval.high - interval.low) / 2 / Z

    def test_mean_squared_error(self):
        assert self.half(0.007, 0.002) == pytest.approx(math.sqrt(0.005 * 4 / 5))

    def test_bounds(self):
        assert self.half(0.001, 0.005) == pytest.approx(self.least)
        assert self.half(9.0, 0.0) == pytest.approx(self.least * math.sqrt(5))

    def test_bias(self):
        plain = nested_cv(self.errors, [(0.007, 0.002)], 100, 5)
        debiased = nested_cv(self.errors, [(0.007, 0.002)], 100, 5, cv_mean=0.45)
        assert plain.estimate == pytest.approx(0.5)
        assert debiased.estimate == pytest.approx(0.5 - 1.6 * 0.05)

    def test_errors(self):
        with pytest.raises(InputError, match="3 <= folds <= n"):
            nested_cv([0, 1], [(0, 0)], 100, 2)
        with pytest.raises(InputError, match="cannot be negative"):
            nested_cv([0, 1], [(0, -1)], 100, 5)
        with pytest.raises(InputError, match="one or more rows"):
            nested_cv([0, 1], [], 100, 5)


def ridge_errors(inputs, targets, train, test):
    """Squared errors of a heavily fitted linear model."""
    x, y = inputs[train], targets[train]
    weights = np.linalg.solve(x.T @ x + 0.1 * np.eye(x.shape[1]), x.T @ y)
    return (targets[test] - inputs[test] @ weights) ** 2


def nested_interval(inputs, targets, k, rng):
    """One repetition of the algorithm of Bates et al., and the naive interval of its folds."""
    parts = np.array_split(rng.permutation(len(targets)), k)
    inner, terms, plain = [], [], []
    for out in range(k):
        others = [parts[i] for i in range(k) if i != out]
        errors = np.concatenate(
            [
                ridge_errors(
                    inputs,
                    targets,
                    np.concatenate([p for i, p in enumerate(others) if i != left]),
                    others[left],
                )
                for left in range(k - 1)
            ]
        )
        outer = ridge_errors(inputs, targets, np.concatenate(others), parts[out])
        inner.append(errors)
        plain.append(outer.mean())
        terms.append(nested_term(errors, outer))
    nested = nested_cv(np.concatenate(inner), terms, len(targets), k, cv_mean=float(np.mean(plain)))
    return nested, naive_z(plain), corrected_t(plain, 1 / (k - 1))


def test_coverage_over_folds():
    # 40 units, 12 weights, 5 folds: naive z falls short of 95 %, the corrected ones come closer.
    rng = np.random.default_rng(11)
    hits = np.zeros(3)
    repetitions = 200
    for _ in range(repetitions):
        inputs = rng.normal(size=(40, 12))
        targets = rng.normal(size=40)
        weights = np.linalg.solve(inputs.T @ inputs + 0.1 * np.eye(12), inputs.T @ targets)
        truth = 1 + float(weights @ weights)  # expected squared error of the whole model
        for at, interval in enumerate(nested_interval(inputs, targets, 5, rng)):
            hits[at] += interval.low <= truth <= interval.high
    nested, naive, corrected = hits / repetitions
    assert naive < 0.85
    assert corrected > naive
    assert nested > naive


def test_conservative_z_covers():
    # Scores of disjoint halves of 100 units, each the mean of its units: variance twice too large.
    rng = np.random.default_rng(12)
    hits = 0
    for _ in range(500):
        units = rng.normal(0.4, 0.1, 100)
        cuts = [rng.permutation(100) for _ in range(10)]
        pairs = [(units[cut[:50]].mean(), units[cut[50:]].mean()) for cut in cuts]
        interval = conservative_z([units.mean()], pairs)
        hits += interval.low <= 0.4 <= interval.high
    assert hits / 500 >= 0.95


@pytest.mark.parametrize("share", [0, -0.1, math.nan])
def test_bad_share(share):
    with pytest.raises(InputError, match="n_test / n_train"):
        corrected_t([0.1, 0.2], share)


def test_bad_pairs():
    with pytest.raises(InputError, match="pairs: expected one or more rows"):
        conservative_z([0.1], [(0.1, 0.2, 0.3)])  # type: ignore[list-item]
    with pytest.raises(InputError, match="not a finite number"):
        conservative_z([0.1], [(0.1, math.nan)])
