"""Effect sizes, by their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import compare

scores = st.lists(st.tuples(*[st.integers(0, 10)] * 2), min_size=2, max_size=30)


def claim_of(first, second):
    (claim,) = compare({"second": list(second), "first": list(first)}, tests=["t"]).claims
    return claim


def effect_sizes(first, second):
    return claim_of(first, second).effects


def test_the_ten_folds():
    # By hand, from the definitions.
    first = [0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9]
    second = [0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8]
    effects = effect_sizes(first, second)
    assert effects.mean_difference == pytest.approx(-0.07)
    assert effects.standardised == pytest.approx(-1.10526 / math.sqrt(10), abs=1e-5)
    assert (effects.wins, effects.ties, effects.losses, effects.n) == (2, 4, 4, 10)
    assert effects.superiority == pytest.approx(0.4)


def test_rounding_is_a_tie():
    effects = effect_sizes([0.1 + 0.2, 0.5], [0.3, 0.4])
    assert (effects.wins, effects.ties) == (1, 1)


@given(scores)
def test_swapped_systems(pairs):
    first, second = np.array(pairs, float).T
    one, other = effect_sizes(first, second), effect_sizes(second, first)
    assert one.mean_difference == pytest.approx(-other.mean_difference)
    assert one.standardised == pytest.approx(-other.standardised)
    assert one.superiority == pytest.approx(1 - other.superiority)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)


@given(scores)
def test_standardised_is_t_by_the_root_of_n(pairs):
    first, second = np.array(pairs, float).T
    claim = claim_of(first, second)
    expected = claim.effects.standardised * math.sqrt(len(pairs))
    assert claim.outcomes[0].statistic == pytest.approx(expected)


def test_no_variance():
    assert effect_sizes([1.0, 2], [1, 2])[1:3] == (0, 0.5)
    assert effect_sizes([2, 3], [1, 2])[1:3] == (math.inf, 1)
