"""Lattices are found where they are, and tails of their sums are exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.infer import lattice
from heldout.infer.lattice import chosen_chances, drawn_tail, find_lattice, signed_tail

small = st.lists(st.integers(-9, 9), min_size=2, max_size=9).filter(any)


def signed_by_counting(weights, at_least):
    sums = [
        sum(s * w for s, w in zip(signs, weights, strict=True))
        for signs in product((-1, 1), repeat=len(weights))
    ]
    return Fraction(sum(s >= at_least for s in sums), len(sums))


@given(small, st.sampled_from([0.1, 0.25, 1.0, 1 / 3, 1e-4, 7e5]))
def test_multiples_of_a_step_are_found(cells, step):
    found = find_lattice(np.array(cells) * step)
    divisor = int(np.gcd.reduce(np.abs(cells)))
    assert found is not None
    assert found.step == pytest.approx(step * divisor, rel=1e-9)
    assert (found.cells * divisor).tolist() == cells


def test_rounding_noise_of_differences_does_not_hide_a_lattice():
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 10_001, (2, 500)) / 10_000
    found = find_lattice(first - second)
    assert found is not None
    assert found.step == pytest.approx(1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_real_numbers_lie_on_no_lattice(seed):
    assert find_lattice(np.random.default_rng(seed).normal(size=25)) is None


@given(small, st.integers(-40, 40))
def test_signed_tail_by_shifting_equals_counting(weights, at_least):
    assert signed_tail(np.array(weights), at_least) == pytest.approx(
        float(signed_by_counting(weights, at_least)), abs=1e-15
    )


@given(small, st.integers(-40, 40))
def test_signed_tail_by_transform_equals_counting(weights, at_least):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "_spectrum_cost", lambda _: 0.0)
        found = signed_tail(np.array(weights), at_least)
    assert found == pytest.approx(float(signed_by_counting(weights, at_least)), abs=1e-14)


@pytest.mark.parametrize("heads", [500, 560, 640, 900, 999, 1000])
def test_far_tails_keep_their_relative_precision(heads):
    """1,000 coins: the tail of the binomial distribution, down to 2^-1000."""
    exact = Fraction(sum(comb(1000, k) for k in range(heads, 1001)), 2**1000)
    coins = np.ones(1000, np.int64)
    assert signed_tail(coins, 2 * heads - 1000) == pytest.approx(float(exact), rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=5), st.integers(-25, 25))
def test_drawn_tail_equals_counting(cells, at_least):
    sums = [sum(draw) for draw in product(cells, repeat=len(cells))]
    expected = sum(s >= at_least for s in sums) / len(sums)
    assert drawn_tail(np.array(cells), at_least) == pytest.approx(expected, abs=1e-14)


def test_far_tails_of_draws_keep_their_relative_precision():
    """200 draws from one 1 and 199 zeros: at least 30 ones, a binomial tail."""
    cells = np.zeros(200, np.int64)
    cells[0] = 1
    exact = sum(
        comb(200, k) * Fraction(1, 200) ** k * Fraction(199, 200) ** (200 - k)
        for k in range(30, 201)
    )
    assert drawn_tail(cells, 30) == pytest.approx(float(exact), rel=1e-9)


def chances_by_halving(weights):
    """The whole distribution, every weight halving what came before."""
    chances = np.zeros(int(weights.sum()) + 1)
    chances[0], top = 1.0, 1
    for weight in np.sort(weights).tolist():
        moved = 0.5 * chances[:top]
        chances *= 0.5
        chances[weight : top + weight] += moved
        top += weight
    return chances


@pytest.mark.parametrize(("count", "largest"), [(1, 5), (9, 3), (60, 900), (300, 40), (1100, 12)])
def test_the_ends_of_the_distribution_are_the_same_to_the_last_bit(count, largest):
    weights = np.random.default_rng([count, largest]).integers(0, largest, count)
    whole = chances_by_halving(weights)
    total = len(whole) - 1
    for most in (0, 1, total // 3, total // 2, total):
        low = chosen_chances(weights, most)
        assert low.tolist() == whole[: most + 1].tolist()
        assert low[::-1].tolist() == whole[total - most :].tolist()


def test_a_tail_is_the_sum_over_the_upper_end_to_the_last_bit():
    source = np.random.default_rng(7)
    for _ in range(40):
        weights = source.integers(1, 2000, source.integers(20, 60))
        whole, total = chances_by_halving(weights), int(weights.sum())
        for at_least in source.integers(-total, total + 1, 5).tolist():
            first = -((-at_least - total) // 2)
            assert signed_tail(weights, at_least) == min(1.0, float(whole[first:].sum()))
