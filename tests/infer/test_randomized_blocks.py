"""Permutation tests for many systems, against brute force and published exact values."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy import stats

from heldout.errors import InputError
from heldout.infer.simultaneous import randomized_blocks
from heldout.infer.simultaneous.max_t import dunnett, max_t
from heldout.infer.simultaneous.randomized_blocks import randomized_tukey

# T. Sakai, Laboratory Experiments in Information Retrieval, table 5.1.
SAKAI = (
    np.array(
        [
            [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
            [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
            [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
        ]
    ).T
    / 10
)
EXACT = {(0, 1): 0.3037641620, (0, 2): 0.1065872956, (1, 2): 0.8915998653}


def brute_tukey(scores):
    """Every permutation of every unit, as the definition says."""
    units, systems = scores.shape
    means = scores.mean(0)
    gaps = np.abs(means[:, None] - means)
    counts = np.zeros((systems, systems))
    every = list(product(permutations(range(systems)), repeat=units))
    for orders in every:
        sums = sum(row[list(order)] for row, order in zip(scores, orders, strict=True)) / units
        counts += np.ptp(sums) >= gaps - 1e-12
    return counts / len(every)


def brute_max_t(scores, baseline, step_down, tail):
    """Every sign assignment, with Student's t itself."""
    units, systems = scores.shape
    pairs = (
        list(combinations(range(systems), 2))
        if baseline is None
        else [(at, baseline) for at in range(systems) if at != baseline]
    )
    gaps = np.array([scores[:, one] - scores[:, other] for one, other in pairs])

    def statistic(values):
        with np.errstate(divide="ignore"):
            t = values.mean(1) / values.std(1, ddof=1)
        return {"two-sided": np.abs(t), "greater": t, "less": -t}[tail]

    observed = statistic(gaps)
    order = np.argsort(-observed)
    counts = np.zeros(len(pairs))
    for signs in product((1, -1), repeat=units):
        drawn = statistic(gaps * signs)[order]
        for at in range(len(pairs)):
            rivals = drawn[at:] if step_down else drawn
            counts[at] += rivals.max() >= observed[order[at]] - 1e-9
    adjusted = np.maximum.accumulate(counts / 2**units)
    return {pairs[at]: p for at, p in zip(order, adjusted, strict=True)}


def test_sakai_exact():
    found = randomized_tukey(SAKAI)
    assert found.method == "exact"
    assert found.detail == "all 6^20 permutations, by convolution"
    for pair, p in EXACT.items():
        assert found[pair] == pytest.approx(p, abs=5e-11)
        assert found[pair[::-1]] == found[pair]


def test_sakai_monte_carlo():
    found = randomized_tukey(SAKAI, method="monte carlo")
    assert found.method == "monte carlo"
    assert found.detail == "100,000 replicates, seed 0"
    for pair, p in EXACT.items():
        assert found[pair] == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 1e5))
    assert found[0, 1] * 100_001 == pytest.approx(round(found[0, 1] * 100_001))


@pytest.mark.parametrize("shape", [(2, 2), (5, 2), (3, 3), (4, 3), (2, 4)])
@pytest.mark.parametrize("lattice", [True, False])
def test_brute_force(shape, lattice):
    scores = np.random.default_rng(shape).random(shape)
    scores = np.round(scores, 1) if lattice else scores
    found = randomized_tukey(scores)
    assert found.method == "exact"
    np.testing.assert_allclose(found.p, brute_tukey(scores), rtol=1e-12)


@pytest.mark.parametrize("shape", [(4, 2), (4, 3), (3, 4)])
def test_convolution_is_enumeration(shape, monkeypatch):
    scores = np.random.default_rng(shape).integers(0, 6, shape) / 5
    listed = randomized_tukey(scores)
    monkeypatch.setattr(randomized_blocks, "ENUMERATED", 1)
    convolved = randomized_tukey(scores)
    assert "convolution" in convolved.detail
    np.testing.assert_allclose(convolved.p, listed.p, rtol=1e-12)


def test_two_systems_are_fishers_randomization():
    # Exact over all 2^10 signs, 416/1024
    first = [0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9]
    second = [0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8]
    scores = np.column_stack([first, second])
    assert randomized_tukey(scores)[0, 1] == pytest.approx(416 / 1024, abs=1e-12)
    # One comparison: t orders the assignments as the mean does.
    assert max_t(scores)[0, 1] == pytest.approx(416 / 1024, abs=1e-12)
    assert max_t(scores, 0, alternative="greater")[1, 0] == pytest.approx(208 / 1024, abs=1e-12)


@pytest.mark.parametrize("systems", [3, 5, 6, 9])
def test_drawn_is_near_exact(systems):
    scores = np.random.default_rng(1).random((3, systems))[:, :systems]
    scores[:, 0] += 0.3
    found = randomized_tukey(scores, method="monte carlo", replicates=40_000, seed=3)
    drawn = np.random.default_rng(2).permuted(np.tile(scores, (40_000, 1, 1)), axis=2).mean(1)
    gap = abs(scores[:, 0].mean() - scores[:, 1].mean())
    share = (np.ptp(drawn, axis=1) >= gap - 1e-12).mean()
    assert found[0, 1] == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize("baseline", [None, 0, 2])
@pytest.mark.parametrize("step_down", [True, False])
def test_max_t_brute_force(baseline, step_down):
    scores = np.random.default_rng(6).normal(size=(7, 4)) + np.arange(4) / 2
    found = max_t(scores, baseline, step_down=step_down)
    assert found.method == "exact"
    assert found.detail == "all 128 sign assignments"
    for pair, p in brute_max_t(scores, baseline, step_down, "two-sided").items():
        assert found[pair] == pytest.approx(p)
        assert found[pair[::-1]] == pytest.approx(p)


@pytest.mark.parametrize("tail", ["greater", "less"])
def test_one_tail_brute_force(tail):
    scores = np.random.default_rng(8).normal(size=(6, 3)) + np.array([0, 0.5, -0.5])
    single = dunnett(scores, 0, alternative=tail)
    for pair, p in brute_max_t(scores, 0, False, tail).items():
        assert single[pair] == pytest.approx(p)
    assert math.isnan(single[1, 2])
    assert single[1, 1] == 1


def test_max_t_drawn_is_near_exact():
    scores = np.random.default_rng(6).normal(size=(10, 5)) + np.arange(5) / 3
    for baseline in (None, 0):
        exact = max_t(scores, baseline)
        drawn = max_t(scores, baseline, method="monte carlo", seed=5)
        np.testing.assert_allclose(drawn.p, exact.p, atol=4 * 0.5 / math.sqrt(1e5))
        assert 0 < drawn.error < 0.002


def test_step_down_is_never_weaker():
    scores = np.random.default_rng(4).normal(size=(12, 6)) + np.arange(6) / 3
    down, single = max_t(scores), max_t(scores, step_down=False)
    assert (down.p <= single.p).all()
    assert (down.p < single.p).any()


def test_max_t_is_no_smaller_than_the_raw_p():
    scores = np.random.default_rng(4).normal(size=(10, 3))
    found = max_t(scores)
    for one, other in combinations(range(3), 2):
        alone = max_t(scores[:, [one, other]])[0, 1]
        assert found[one, other] >= alone - 1e-12


@pytest.mark.parametrize("systems", [4, 8])
@pytest.mark.parametrize(
    "test",
    [
        lambda scores: randomized_tukey(scores, replicates=30_000, seed=9),
        lambda scores: max_t(scores, replicates=30_000, seed=9),
        lambda scores: dunnett(scores, 1, replicates=30_000, seed=9),
    ],
)
def test_threads_do_not_matter(test, systems, monkeypatch):
    scores = np.random.default_rng(0).random((60, systems))
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        found.append(test(scores))
    assert found[0].method == "monte carlo"
    for other in found[1:]:
        assert np.array_equal(other.p, found[0].p, equal_nan=True)


def test_seeds_matter():
    scores = np.random.default_rng(0).random((40, 3))
    one, other = (randomized_tukey(scores, replicates=5000, seed=seed) for seed in (0, 1))
    assert not np.array_equal(one.p, other.p)


@pytest.mark.parametrize("units", [3, 30])
def test_copies(units):
    column = np.random.default_rng(0).random(units)
    scores = np.column_stack([column, column, column + np.random.default_rng(1).random(units)])
    for found in (randomized_tukey(scores, replicates=999), max_t(scores, replicates=999)):
        assert found[0, 1] == 1
    for tail in ("two-sided", "greater", "less"):
        assert dunnett(scores, 0, alternative=tail, replicates=999)[1, 0] == 1
    same = np.column_stack([column] * 3)
    assert (randomized_tukey(same, replicates=999).p == 1).all()
    assert (max_t(same, replicates=999).p == 1).all()


def test_shift_and_scale():
    scores = np.round(np.random.default_rng(3).random((25, 3)), 2)
    moved = 3 + 7 * scores + np.arange(25)[:, None]
    for test in (randomized_tukey, max_t):
        one, other = (test(values, replicates=4000) for values in (scores, moved))
        np.testing.assert_allclose(one.p, other.p, rtol=1e-9)


def test_holds_its_level():
    generator = np.random.default_rng(12)
    least = [[], []]
    for _ in range(300):
        scores = generator.normal(size=(12, 4)) + generator.normal(size=(12, 1))
        least[0].append(randomized_tukey(scores, replicates=999).p.min())
        least[1].append(max_t(scores, method="exact").p.min())
    for smallest in least:
        alarms = sum(p <= 0.05 for p in smallest)
        assert stats.binomtest(alarms, 300, 0.05).pvalue > 0.001


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: randomized_tukey([[1], [2]]), "found 1"),
        (lambda: randomized_tukey([[1, 2]]), "found 1"),
        (lambda: max_t([[1, 2], [math.nan, 3]]), "unit number 2 of system number 1"),
        (lambda: randomized_tukey([[1, 2], [2, 3]], replicates=0), "replicates=0"),
        (lambda: max_t([[1, 2], [2, 3]], seed=-1), "seed=-1"),
        (lambda: max_t([[1, 2], [2, 3]], 2), "baseline=2"),
        (lambda: max_t([[1, 2], [2, 3]], alternative="less"), "name a baseline"),
        (lambda: max_t([[1, 2], [2, 3]], method="grid"), "method='grid'"),
        (lambda: max_t(np.eye(40), method="exact"), "too many to enumerate"),
        (
            lambda: randomized_tukey(np.random.default_rng(0).random((30, 4)), method="exact"),
            "not on a coarse lattice",
        ),
    ],
)
def test_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()
