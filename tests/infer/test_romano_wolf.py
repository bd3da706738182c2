"""Romano-Wolf step-down by the bootstrap-t, against a plain and slow implementation."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from inference_data import SIDES, codes, excludes_zero, scores_of
from scipy import stats

from heldout import compare
from heldout.data.scores import MachineScores
from heldout.infer import romano_wolf as module
from heldout.infer.romano_wolf import draw_weights, replicates_made, romano_wolf


def some_scores(seed, units, systems, lattice=False):
    generator = np.random.default_rng(seed)
    values = generator.normal(0, 1, (units, 1)) + generator.exponential(1, (units, systems))
    values += np.linspace(0, 0.8, systems)
    return np.round(values * 2) / 2 if lattice else values


EVIDENCE = {"two-sided": abs, "greater": lambda t: t, "less": lambda t: -t}


def possible(gaps):
    """The largest t of differences that are 0 on as many units: all others alike."""
    alike = np.where(gaps != 0, 1.0, 0.0)
    if len(gaps) < 15 or alike.std() == 0:
        return math.inf
    return alike.mean() / (alike.std(ddof=1) / math.sqrt(len(gaps)))


def slow_counts(values, pairs, samples, observed, alternative):
    """Step-down counts, one replicate and one pair after the other."""
    n, evidence = len(values), EVIDENCE[alternative]
    counts = dict.fromkeys(pairs, 0)
    for sample in samples:
        statistics = {}
        for pair in pairs:
            gaps = values[:, pair[0]] - values[:, pair[1]]
            drawn = gaps[sample]
            mean = drawn.mean() - gaps.mean()
            if np.ptp(drawn) < 1e-9:
                extreme = evidence(math.copysign(math.inf, mean))
                statistics[pair] = extreme if n < 15 and abs(mean) > 1e-9 else 0.0
            else:
                t = mean / (drawn.std(ddof=1) / math.sqrt(n))
                t = max(-possible(gaps), min(t, possible(gaps)))
                statistics[pair] = evidence(t)
        for pair in pairs:
            up_to = [other for other in pairs if observed[other] <= observed[pair]]
            counts[pair] += max(statistics[other] for other in up_to) >= observed[pair] - 1e-9
    return counts


def slow_p(values, pairs, samples, alternative="two-sided"):
    """Adjusted p-values: (c + 1) / (B + 1), none smaller than that of a larger statistic."""
    observed = {}
    for pair in pairs:
        gaps = values[:, pair[0]] - values[:, pair[1]]
        observed[pair] = EVIDENCE[alternative](stats.ttest_1samp(gaps, 0).statistic)
    counts = slow_counts(values, pairs, samples, observed, alternative)
    if alternative != "two-sided":
        # Half of what the absolute statistics give is the least.
        both = slow_counts(values, pairs, samples, observed, "two-sided")
        counts = {pair: max(counts[pair], (both[pair] - 1) / 2) for pair in pairs}
    p, largest = {}, 0.0
    for pair in sorted(pairs, key=lambda pair: -observed[pair]):
        largest = max(largest, (counts[pair] + 1) / (len(samples) + 1))
        p[pair] = largest
    return p


def recorded_samples(monkeypatch):
    """The units that `romano_wolf` draws, a row a replicate."""
    seen = []

    def record(generator, units, count):
        weights = draw_weights(generator, units, count)
        times = np.round(weights.T * units).astype(int)
        seen.extend(np.repeat(np.arange(units), row) for row in times)
        return weights

    monkeypatch.setattr(module, "draw_weights", record)
    return seen


def near_copies():
    """Three systems, and two that differ from the first on few units, by very unequal amounts."""
    values = some_scores(11, 30, 5)
    values[:, 2] += 0.8
    values[:, 3:] = values[:, :1]
    values[:4, 3] += [1e-6, 1e-5, 1e-3, -1e-2]
    values[10:13, 4] += [2e-6, 1e-4, 1e-2]
    return values


def lattices_and_others():
    for units in (6, 16, 24):
        yield from (some_scores(units, units, 4, lattice) for lattice in (False, True))
    yield near_copies()


def test_all_pairs_equal_the_slow_implementation(monkeypatch):
    samples = recorded_samples(monkeypatch)
    for values in lattices_and_others():
        samples.clear()
        found = romano_wolf(values, replicates=199, seed=3)
        assert len(samples) == 199
        expected = slow_p(values, list(combinations(range(values.shape[1]), 2)), samples)
        for pair, p in expected.items():
            assert found.p[pair] == pytest.approx(p, abs=1e-12), pair


def test_a_baseline_equals_the_slow_implementation(monkeypatch):
    values, samples = some_scores(5, 18, 4), recorded_samples(monkeypatch)
    for alternative in SIDES:
        samples.clear()
        found = romano_wolf(values, 1, alternative=alternative, replicates=199)
        expected = slow_p(values, [(0, 1), (2, 1), (3, 1)], samples, alternative)
        for pair, p in expected.items():
            assert found.p[pair] == pytest.approx(p, abs=1e-12), (alternative, pair)
        assert math.isnan(found.p[0, 2])


@pytest.mark.parametrize("single", [10**8, 0])
def test_near_copies_hide_no_difference(monkeypatch, single):
    """They cannot be significant themselves, and do not keep other pairs from it."""
    monkeypatch.setattr(module, "SINGLE", single)
    found = romano_wolf(near_copies(), replicates=1999)
    assert found.p[2, 0] < 0.05
    assert min(found.p[3, 0], found.p[4, 3]) > 0.5


def test_no_t_exceeds_the_largest_possible_one():
    generator = np.random.default_rng(20)
    for differ in range(1, 20):
        values = np.zeros((20, 3))
        values[:differ, 1] = 0.25  # the largest: all alike
        values[:differ, 2] = generator.exponential(1, differ)
        pairs = np.array([[1, 2], [0, 0]])
        t, limit = module.pair_statistics(values, *pairs).t, module.largest_t(values, *pairs)
        assert t[0] == pytest.approx(limit[0])
        assert t[1] <= limit[1] * (1 + 1e-12)


def test_replicates_are_the_bootstrap():
    """All 3,125 resamples of five units give the p-values that replicates estimate."""
    values = some_scores(7, 5, 3)
    samples = [np.array(one) for one in product(range(5), repeat=5)]
    exact = slow_p(values, list(combinations(range(3), 2)), samples)
    found = romano_wolf(values, replicates=40_000)
    for pair, p in exact.items():
        assert found.p[pair] == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 40_000) + 1e-3)


def test_single_precision_blocks_and_threads_change_nothing(monkeypatch):
    values = some_scores(1, 30, 6)
    whole = romano_wolf(values, replicates=2000).p
    monkeypatch.setattr(module, "SINGLE", 0)
    np.testing.assert_allclose(romano_wolf(values, replicates=2000).p, whole, atol=2e-3)
    monkeypatch.undo()
    monkeypatch.setattr(module, "PAIR_BLOCK", 1)
    np.testing.assert_array_equal(romano_wolf(values, replicates=2000).p, whole)
    monkeypatch.setenv("HELDOUT_THREADS", "1")
    np.testing.assert_array_equal(romano_wolf(values, replicates=2000).p, whole)
    assert (romano_wolf(values, replicates=2000, seed=1).p != whole).any()
    assert len(np.unique(romano_wolf(values, replicates=9000).null)) > 8990  # no piece twice


def test_a_statistic_beyond_the_critical_one_is_significant():
    for units, lattice in product((20, 40), (False, True)):
        found = romano_wolf(some_scores(2, units, 3, lattice), replicates=999)
        p = np.arange(2, 1001) / 1000  # of the largest statistics
        for alpha in (0.001, 0.05, 0.2, 0.5):
            critical = found.critical(alpha)
            assert p[found.null > critical].max(initial=0.0) <= alpha
            if math.isfinite(critical):
                assert p[found.null >= critical - found.noise - 1e-15].max() > alpha
            else:
                assert p[0] > alpha


def test_very_many_units_take_the_normal_limit(monkeypatch):
    values = some_scores(3, 400, 3)
    drawn = romano_wolf(values, replicates=20_000)
    monkeypatch.setattr(module, "NORMAL", 300)
    limit = romano_wolf(values, replicates=20_000)
    np.testing.assert_allclose(limit.p, drawn.p, atol=0.02)
    assert limit.critical(0.05) == pytest.approx(drawn.critical(0.05), rel=0.03)


def test_many_pairs_are_tested_at_once():
    values = some_scores(0, 60, 90)
    seen = []
    result = compare(
        scores_of(values), replicates=200, progress=lambda done, of: seen.append((done, of))
    )
    assert seen[-1] == (4005, 4005)
    assert result.analysis.tests == ("t",)
    assert {"many-pairs", "no-letters"} <= {note.code for note in result.warnings}
    for claim in result.claims[::500]:
        gaps = values[:, int(claim.first[1:])] - values[:, int(claim.second[1:])]
        assert claim.outcomes[0].p == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)
        assert claim.outcomes[0].detail == "59 degrees of freedom"


def test_constant_differences_and_copies():
    values = some_scores(1, 20, 3)
    with_copies = np.column_stack([values, values[:, 0], values[:, 0] + 0.25])
    found = romano_wolf(with_copies, replicates=999)
    assert found.p[0, 3] == 1
    assert found.p[0, 4] == pytest.approx(10 * 2.0**-19)
    assert romano_wolf(with_copies[:4], replicates=999).p[0, 4] == 1  # 10 pairs x 2^-3
    assert romano_wolf(with_copies, 0, alternative="less", replicates=999).p[4, 0] == 1
    result = compare(scores_of(with_copies[:4]), replicates=999)
    claim = next(one for one in result.claims if (one.first, one.second) == ("s4", "s0"))
    assert math.isinf(claim.difference.low)
    for units, seed in product((2, 3), range(3)):
        for claim in compare(scores_of(some_scores(seed, units, 3)), replicates=999).claims:
            assert claim.adjusted > 0.05
            assert math.isinf(claim.difference.low)
            assert math.isinf(claim.difference.high)
    # Without any variance the signs decide.
    values = np.arange(6.0)[:, None] + np.array([0, 1, 1])
    flat = MachineScores(np.ones((6, 3)), np.ones((9, 3)))
    for machine, (side, p) in product((None, flat), (("greater", 2 * 2.0**-6), ("less", 1))):
        found = romano_wolf(values, 0, machine=machine, alternative=side, replicates=99)
        assert found.p[0].tolist() == [1, p, p]


# In a comparison


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_intervals_are_t_intervals_with_one_critical_value(level):
    """0 is excluded only if the step-down test rejects; of the strongest pair exactly then."""
    for seed, lattice in product(range(3), (False, True)):
        values = some_scores(seed, 25, 4, lattice)
        result = compare(scores_of(values), level=level, replicates=999)
        smallest, halves = min(claim.adjusted for claim in result.claims), set()
        for claim in result.claims:
            gaps = values[:, int(claim.first[1:])] - values[:, int(claim.second[1:])]
            assert claim.difference.estimate == pytest.approx(gaps.mean())
            half = claim.difference.high - claim.difference.estimate
            if claim.difference.method == "Romano-Wolf":  # not widened for few differing units
                halves.add(round(half / (gaps.std(ddof=1) / 5), 8))
            rejected = claim.adjusted <= result.alpha
            assert rejected or not excludes_zero(claim.difference)
            assert claim.adjusted > smallest or rejected == excludes_zero(claim.difference)
        assert len(halves) == 1
    one_sided = compare(
        scores_of(values), level=level, baseline="s0", alternative="greater", replicates=999
    )
    for claim in one_sided.claims:
        assert math.isinf(claim.difference.high)
        assert claim.adjusted <= one_sided.alpha or claim.difference.low <= 0


@pytest.mark.parametrize("settings", [{}, {"baseline": "s0"}])
def test_it_is_the_default_for_three_systems(settings):
    result = compare(scores_of(some_scores(0, 20, 3)), replicates=999, **settings)
    assert result.analysis.correction == "romano-wolf"
    count = 2 if settings else 3
    assert f"familywise error rate without assuming equal variances over {count}" in (
        result.analysis.why
    )
    assert result.correction_detail == "999 replicates, seed 0"
    for claim in result.claims:
        error = math.sqrt(claim.adjusted * (1 - claim.adjusted) / 999)
        assert claim.adjusted_error == pytest.approx(error)
    assert {claim.difference.method for claim in result.claims} == {"Romano-Wolf"}
    assert "few-resampled" not in codes(result.warnings)
    few = compare(scores_of(some_scores(0, 14, 3)), replicates=999, **settings)
    assert "few-resampled" in codes(few.warnings)
    # Fewer replicates where there is much to do.
    made = [replicates_made(*case, 50) for case in ((100_000, 6), (100_000, 124_750), (500, 9))]
    assert made == [100_000, 10_000, 500]
