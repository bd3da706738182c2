"""Intervals over folds: definitions, and what they cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.infer.fold_intervals import (
    corrected_t,
    naive_z,
)
from heldout.infer.results import mean_estimate

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
        p = mean_estimate(np.array(scores) - interval.high, 1 / len(scores) + 0.25).p()
        assert p == pytest.approx(0.05)


def ridge_errors(inputs, targets, train, test):
    """Squared errors of a heavily fitted linear model."""
    x, y = inputs[train], targets[train]
    weights = np.linalg.solve(x.T @ x + 0.1 * np.eye(x.shape[1]), x.T @ y)
    return (targets[test] - inputs[test] @ weights) ** 2


def test_coverage_over_folds():
    # 40 units, 12 weights, 5 folds: naive z falls short of 95 %, corrected t comes closer.
    rng = np.random.default_rng(11)
    hits = np.zeros(2)
    repetitions = 200
    for _ in range(repetitions):
        inputs = rng.normal(size=(40, 12))
        targets = rng.normal(size=40)
        weights = np.linalg.solve(inputs.T @ inputs + 0.1 * np.eye(12), inputs.T @ targets)
        truth = 1 + float(weights @ weights)  # expected squared error of the whole model
        parts = np.array_split(rng.permutation(40), 5)
        plain = [
            ridge_errors(inputs, targets, np.setdiff1d(np.arange(40), part), part).mean()
            for part in parts
        ]
        for at, interval in enumerate((naive_z(plain), corrected_t(plain, 1 / 4))):
            hits[at] += interval.low <= truth <= interval.high
    naive, corrected = hits / repetitions
    assert naive < 0.85
    assert corrected > naive


@pytest.mark.parametrize("share", [0, -0.1, math.nan])
def test_bad_share(share):
    with pytest.raises(InputError, match="n_test / n_train"):
        corrected_t([0.1, 0.2], share)
