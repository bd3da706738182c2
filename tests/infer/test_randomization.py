"""Fisher's randomization test and its transforms: published numbers, counting, SciPy."""

import re
from fractions import Fraction
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_data import MAIZE, SAKAI, SIDES, A, B, share_as_extreme, smooth
from scipy import stats

from heldout.infer import randomization
from heldout.infer.lattice import chosen_chances, drawn_chances, find_lattice
from heldout.infer.randomization import (
    mcnemar_test,
    randomization_test,
    sign_test,
    wilcoxon_test,
)

VALIDATION = Path(__file__).parents[2] / "docs" / "validation.md"
sides = st.sampled_from(SIDES)
numbers = st.lists(
    st.one_of(
        st.floats(-5, 5, allow_subnormal=False).map(lambda x: round(x, 6)),
        st.integers(-3, 3).map(float),
    ),
    min_size=2,
    max_size=9,
)


def by_counting(values, side):
    signs = np.array(list(product((-1.0, 1.0), repeat=len(values))))
    tie = 1e-12 * np.abs(values).sum()
    return share_as_extreme(signs @ np.array(values), np.sum(values), side, tie=tie)


def test_published_p_values():
    outcome = randomization_test(B - A)  # ten folds, enumerated by hand
    assert outcome.p == 416 / 1024
    assert outcome.statistic == pytest.approx(0.07)
    assert (outcome.method, outcome.error, outcome.n) == ("exact", 0.0, 10)
    assert outcome.detail == "all 1,024 sign assignments"
    assert randomization_test(B - A, alternative="greater").p == 208 / 1024
    assert randomization_test(A - B, alternative="less").p == 208 / 1024
    assert randomization_test(MAIZE).p == 1726 / 32768
    assert randomization_test(MAIZE, alternative="greater").p == 863 / 32768
    assert randomization_test(SAKAI[:, 0] - SAKAI[:, 1]).p == 135 / 2048


@given(numbers, sides)
def test_enumeration_equals_counting(values, side):
    assert randomization_test(values, alternative=side).p == by_counting(values, side)


def test_convolution_equals_enumeration():
    values = np.random.default_rng(1).integers(-20, 25, 22) / 100
    noise = 1e-15 * np.arange(22)  # below the tie tolerance, and gone in the lattice
    sums = np.zeros(1)
    for value in values + noise:
        sums = np.concatenate([sums - value, sums + value])
    for side in SIDES:
        lattice = randomization_test(values, alternative=side)
        assert "lattice of step 0.01" in lattice.detail
        counted = share_as_extreme(sums, values.sum(), side, tie=1e-12 * np.abs(values).sum())
        assert lattice.p == pytest.approx(counted, rel=1e-12)


@pytest.mark.parametrize("side", SIDES)
def test_grid_bounds_contain_the_exact_p(side, monkeypatch):
    for seed in range(3):
        values = smooth(26, seed)
        exact = randomization_test(values, alternative=side)
        with monkeypatch.context() as patch:
            patch.setattr(randomization, "MANY", 0)
            grid = randomization_test(values, alternative=side)
        assert (exact.method, grid.method) == ("exact", "grid")
        assert 0 < grid.error <= max(0.02 * grid.p, 1e-4)
        assert abs(grid.p - exact.p) <= grid.error * (1 + 1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_random_signs_are_near_the_exact_p(side, monkeypatch):
    for n in (30, 33, 300, 1000):  # tables of several sizes
        values = np.random.default_rng(n).integers(-3, 5, n) / 4
        exact = randomization_test(values, alternative=side)
        with monkeypatch.context() as patch:
            for limit in ("MANY", "MOST_WORK", "GRID_WORK"):
                patch.setattr(randomization, limit, 0)
            drawn = randomization_test(values, alternative=side, seed=n)
        assert (exact.method, drawn.method) == ("exact", "monte carlo")
        assert abs(drawn.p - exact.p) <= 4 * max(drawn.error, 1e-5), n
        assert drawn.detail == f"100,000 replicates, seed {n}"


def test_the_first_feasible_way_is_taken():
    ways = {12: "exact", 32: "exact", 50: "grid", 400: "monte carlo"}
    for n, method in ways.items():
        assert randomization_test(smooth(n), replicates=1000).method == method, n
    assert randomization_test(np.round(smooth(7000), 1), replicates=1000).method == "exact"


def test_special_cases():
    for side in SIDES:
        assert randomization_test(np.zeros(60), alternative=side).p == 1
    values = smooth(40)
    assert randomization_test(np.concatenate([values, -values])).p == 1
    assert randomization_test([0.25] * 8).p == 2 / 2**8
    assert randomization_test([0.25] * 1000).p == pytest.approx(2.0**-999, rel=1e-9)
    few = np.zeros(300)
    few[:5] = [0.1, 0.2, -0.05, 0.3, 0.15]
    assert randomization_test(few).detail == "all 2^300 sign assignments"


def test_seeds_matter_and_threads_do_not(monkeypatch):
    values = smooth(3000, 2, 0.005)
    found = []
    for threads, seed in (("1", 0), ("2", 0), ("5", 0), ("5", 2)):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        found.append(randomization_test(values, replicates=140_000, seed=seed))
    assert found[0] == found[1] == found[2]
    assert found[0].p != found[3].p


def test_millions_of_units_that_are_right_or_wrong_are_tested_exactly():
    first, second = np.random.default_rng(1).random((2, 2_000_000)) < 0.5
    outcome = mcnemar_test(first, second)
    won, lost = int((first & ~second).sum()), int((second & ~first).sum())
    assert outcome.method == "exact"
    assert outcome.p == pytest.approx(stats.binomtest(won, won + lost).pvalue, rel=1e-9)


# Lattices

small = st.lists(st.integers(-9, 9), min_size=2, max_size=9).filter(any)


@given(small, st.sampled_from([0.1, 0.25, 1.0, 1 / 3, 1e-4, 7e5]))
def test_multiples_of_a_step_are_found(cells, step):
    lattice = find_lattice(np.array(cells) * step)
    divisor = int(np.gcd.reduce(np.abs(cells)))
    assert lattice.step == pytest.approx(step * divisor, rel=1e-9)
    assert (lattice.cells * divisor).tolist() == cells


def test_real_numbers_lie_on_no_lattice_and_rounding_noise_hides_none():
    first, second = np.random.default_rng(3).integers(0, 10_001, (2, 500)) / 10_000
    assert find_lattice(first - second).step == pytest.approx(1e-4)
    for seed in range(20):
        assert find_lattice(np.random.default_rng(seed).normal(size=25)) is None


@given(small, st.lists(st.integers(-4, 4), min_size=2, max_size=5))
def test_chosen_and_drawn_sums_are_counted(weights, cells):
    sizes = np.abs(weights)
    sums = np.array(list(product((0, 1), repeat=len(sizes)))) @ sizes
    expected = np.bincount(sums, minlength=sizes.sum() + 1) / 2 ** len(sizes)
    assert chosen_chances(sizes, int(sizes.sum())).tolist() == expected.tolist()
    sums = np.array([sum(draw) for draw in product(cells, repeat=len(cells))])
    expected = np.bincount(sums - len(cells) * min(cells)) / len(sums)
    assert drawn_chances(np.array(cells)) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("size", [1, 3])
def test_far_tails_keep_their_relative_precision(size):
    """1,000 coins and one that is too small to matter: binomial tails, down to 2^-1000."""

    def tail(heads):
        return Fraction(sum(comb(1000, k) for k in range(heads, 1001)), 2**1000)

    for heads in (500, 560, 640, 900, 999, 1000):
        coins = np.repeat([size, -size], [heads, 1000 - heads])
        # The half is won or lost, and the sum is reached in the first case only.
        exact = tail(heads) if size == 1 else (tail(heads) + tail(heads + 1)) / 2
        values = coins if size == 1 else [*coins, 0.5]
        outcome = randomization_test(values, alternative="greater")
        assert outcome.p == pytest.approx(float(exact), rel=1e-9), heads


# The transforms


def test_wilcoxon_of_the_depression_scale():
    """Hollander & Wolfe (1973), 29 f., the example of R's wilcox.test: V = 40, p = .01953."""
    before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    outcome = wilcoxon_test(before - after, alternative="greater")
    assert (outcome.statistic, outcome.method) == (40.0, "exact")
    assert outcome.p == pytest.approx(0.01953125, abs=1e-15)
    assert outcome.detail == "9 differences ranked, 0 zeros dropped"


@pytest.mark.parametrize("side", SIDES)
def test_wilcoxon_agrees_with_scipy(side):
    for n in (2, 9, 30, 50, 51, 200):
        values = np.random.default_rng(n).normal(0.2, 1, n)
        theirs = stats.wilcoxon(values, alternative=side, method="exact")
        outcome = wilcoxon_test(values, alternative=side)
        assert outcome.method == "exact"
        assert outcome.p == pytest.approx(theirs.pvalue, rel=1e-11), n
    for digits in (1, 8):  # very many units, with ties and without
        values = np.random.default_rng(3).normal(0.03, 1, 1500).round(digits)
        theirs = stats.wilcoxon(values, alternative=side, method="asymptotic", correction=True)
        outcome = wilcoxon_test(values, alternative=side)
        assert outcome.method == "normal"
        assert outcome.p == pytest.approx(theirs.pvalue, rel=1e-10), digits


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9), sides)
def test_wilcoxon_with_ties_is_the_enumeration(values, side):
    kept = np.array([value for value in values if value], float)
    ranks = stats.rankdata(np.abs(kept)) * np.sign(kept)
    expected = by_counting(ranks, side) if len(kept) else 1
    assert wilcoxon_test(values, alternative=side).p == expected
    tenths = [value * 0.1 + 0.7 - 0.7 if value else 0.0 for value in values]
    assert wilcoxon_test(tenths, alternative=side).p == expected  # rounding does not undo ties


def test_mcnemar_exact_and_mid_p():
    """Fagerland, Lydersen & Laake (2013), table 1: 1 and 7 discordant, p .0703, mid-p .0391."""
    first = [1] * 1 + [0] * 7 + [1] * 1 + [0] * 12
    second = [0] * 1 + [1] * 7 + [1] * 1 + [0] * 12
    outcome = mcnemar_test(first, second)
    assert outcome.p == pytest.approx(0.0703125, abs=1e-15)
    assert outcome.detail == "1 of 8 discordant units won; mid-p 0.0390625"
    assert mcnemar_test(first, second, alternative="less").detail.endswith("mid-p 0.0195312")
    same = mcnemar_test(first, first)
    assert (same.p, same.detail) == (1, "0 of 0 discordant units won; mid-p 1")


@pytest.mark.parametrize("side", SIDES)
def test_sign_and_mcnemar_are_binomial(side):
    for wins, losses in product((0, 1, 7, 60), (0, 3, 40)):
        values = np.repeat([1.0, -0.5, 0.0], [wins, losses, 2])
        outcome = sign_test(values, alternative=side)
        expected = stats.binomtest(wins, wins + losses, 0.5, side).pvalue if wins + losses else 1
        assert outcome.p == pytest.approx(expected, rel=1e-12), (wins, losses)
        assert outcome.statistic == wins
        assert outcome.detail.endswith(", 2 ties")
        assert mcnemar_test(values > 0, values < 0, alternative=side).p == outcome.p


def test_the_documentation_states_the_size_of_mcnemars_tests():
    """By going through all outcomes of up to 100 discordant units; never above .05 if exact."""
    rejected = np.zeros((101, 2))  # the chances given so many discordant units: exact, mid-p
    for discordant in range(101):
        chances = stats.binom.pmf(np.arange(discordant + 1), discordant, 0.5)
        for won in range(discordant // 2 + 1):
            first = np.repeat([1, 0, 1], [won, discordant - won, 2])
            second = np.repeat([0, 1, 1], [won, discordant - won, 2])
            outcome = mcnemar_test(first, second)
            middle = float(re.search(r"mid-p (\S+)", outcome.detail).group(1))
            mirrored = 1 if 2 * won == discordant else 2
            rejected[discordant] += (
                mirrored * chances[won] * (np.array([outcome.p, middle]) <= 0.05)
            )
    assert rejected[:, 0].max() <= 0.05
    assert (rejected[:, 1] >= rejected[:, 0]).all()
    sizes = []
    for units, share in product((25, 50, 100), (0.1, 0.2, 0.4)):
        chances = stats.binom.pmf(np.arange(units + 1), units, share)
        sizes.append(chances @ rejected[: units + 1])
    extremes = [f"{size:.3f}".lstrip("0") for end in (np.min, np.max) for size in end(sizes, 0)]
    found = re.search(
        r"exact test .*? (\.\d+) to (\.\d+) for 25 to 100 .*?mid-p .*? (\.\d+) to (\.\d+)",
        VALIDATION.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found.group(1, 3, 2, 4) == tuple(extremes)
