"""Lattices are found where they are, and distributions of their sums are exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.infer.lattice import chosen_chances, drawn_chances, find_lattice
from heldout.infer.randomization import randomization_test

small = st.lists(st.integers(-9, 9), min_size=2, max_size=9).filter(any)


@given(small, st.sampled_from([0.1, 0.25, 1.0, 1 / 3, 1e-4, 7e5]))
def test_multiples_of_a_step_are_found(cells, step):
    lattice = find_lattice(np.array(cells) * step)
    divisor = int(np.gcd.reduce(np.abs(cells)))
    assert lattice is not None
    assert lattice.step == pytest.approx(step * divisor, rel=1e-9)
    assert (lattice.cells * divisor).tolist() == cells


def test_rounding_noise_of_differences_does_not_hide_a_lattice():
    first, second = np.random.default_rng(3).integers(0, 10_001, (2, 500)) / 10_000
    lattice = find_lattice(first - second)
    assert lattice is not None
    assert lattice.step == pytest.approx(1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_real_numbers_lie_on_no_lattice(seed):
    assert find_lattice(np.random.default_rng(seed).normal(size=25)) is None


@given(small)
def test_chosen_sums_are_counted(weights):
    sizes = np.abs(weights)
    sums = np.array(list(product((0, 1), repeat=len(sizes)))) @ sizes
    expected = np.bincount(sums, minlength=sizes.sum() + 1) / 2 ** len(sizes)
    assert chosen_chances(sizes, int(sizes.sum())).tolist() == expected.tolist()


@pytest.mark.parametrize("heads", [500, 560, 640, 900, 999, 1000])
@pytest.mark.parametrize("size", [1, 3])
def test_far_tails_keep_their_relative_precision(heads, size):
    """1,000 coins and one that is too small to matter: binomial tails, down to 2^-1000."""
    exact = Fraction(sum(comb(1000, k) for k in range(heads, 1001)), 2**1000)
    coins = np.repeat([size, -size], [heads, 1000 - heads])
    outcome = randomization_test([*coins, 0.5] if size == 3 else coins, alternative="greater")
    if size == 3:  # the half is won or lost, and the sum is reached in the first case only
        after = Fraction(sum(comb(1000, k) for k in range(heads + 1, 1001)), 2**1000)
        exact = (exact + after) / 2
    assert outcome.p == pytest.approx(float(exact), rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=5))
def test_drawn_sums_are_counted(cells):
    sums = np.array([sum(draw) for draw in product(cells, repeat=len(cells))])
    expected = np.bincount(sums - len(cells) * min(cells)) / len(sums)
    assert drawn_chances(np.array(cells)) == pytest.approx(expected, rel=1e-13)


def test_far_tails_of_draws_keep_their_relative_precision():
    """200 draws from one 1 and 199 zeros: at least 30 ones, a binomial tail."""
    cells = np.zeros(200, np.int64)
    cells[0] = 1
    exact = sum(
        comb(200, k) * Fraction(1, 200) ** k * Fraction(199, 200) ** (200 - k)
        for k in range(30, 201)
    )
    assert drawn_chances(cells)[30:].sum() == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("count", "largest"), [(1, 5), (9, 3), (60, 900), (300, 40), (1100, 12)])
def test_the_ends_of_the_distribution_are_the_same_to_the_last_bit(count, largest):
    weights = np.random.default_rng([count, largest]).integers(0, largest, count)
    whole, total = np.ones(1), int(weights.sum())
    for weight in np.sort(weights).tolist():  # every weight halves what came before
        half = 0.5 * whole
        whole = np.concatenate([half, np.zeros(weight)]) + np.concatenate([np.zeros(weight), half])
    for most in (0, 1, total // 3, total // 2, total):
        low = chosen_chances(weights, most)
        assert low.tolist() == whole[: most + 1].tolist()
        assert low[::-1].tolist() == whole[total - most :].tolist()
