"""Intervals beside adjusted p-values: adjusted alike, and never at odds without a word."""

import math
from itertools import permutations, product

import numpy as np
import pytest

from heldout import InputError, Scores, compare
from heldout.infer.intervals.units import t_interval
from heldout.infer.simultaneous.max_t import max_t
from heldout.infer.simultaneous.randomized_blocks import randomized_tukey
from heldout.infer.simultaneous.tukey import dunnett_blocks


def scores_of(values, **more):
    named = {
        f"s{column}": {f"q{row}": float(value) for row, value in enumerate(values[:, column])}
        for column in range(values.shape[1])
    }
    return Scores.of(named, "AP", **more)


def some_scores(seed, units, systems, lattice=False):
    generator = np.random.default_rng(seed)
    values = generator.normal(0.5, 0.2, (units, 1)) + generator.normal(0, 0.1, (units, systems))
    values += generator.normal(0, 0.08, systems)
    return np.round(values, 1) if lattice else values


def excludes_zero(interval):
    return not interval.low <= 0 <= interval.high


# Corrections whose interval and verdict come from one statistic.
DUAL = [
    ("tukey", {}),
    ("randomized-tukey", {}),
    ("dunnett", {"baseline": "s0"}),
    ("dunnett-t", {"baseline": "s0"}),
    ("bonferroni", {"tests": ["t"]}),
]


@pytest.mark.parametrize(("correction", "more"), DUAL, ids=[name for name, _ in DUAL])
@pytest.mark.parametrize("units", [6, 9, 30])
@pytest.mark.parametrize("lattice", [False, True])
def test_zero_is_outside_exactly_if_the_test_rejects(correction, more, units, lattice):
    verdicts = set()
    for seed in range(5):
        scores = scores_of(some_scores(seed, units, 4, lattice))
        result = compare(scores, correction=correction, replicates=999, **more)
        assert result.coverage == "simultaneous"
        for claim in result.claims:
            assert (claim.adjusted <= 0.05) == excludes_zero(claim.difference)
            verdicts.add(claim.adjusted <= 0.05)
    assert verdicts == {True, False} or units == 6


@pytest.mark.parametrize(
    ("correction", "more"),
    [("dunnett", {}), ("dunnett-t", {}), ("bonferroni", {"tests": ["t"]})],
)
@pytest.mark.parametrize("tail", ["greater", "less"])
@pytest.mark.parametrize("higher", [True, False])
def test_one_tail_has_one_bound_on_the_side_that_was_asked(correction, more, tail, higher):
    for seed in range(4):
        scores = scores_of(some_scores(seed, 20, 4), higher_is_better=higher)
        result = compare(
            scores, correction=correction, baseline="s0", alternative=tail, replicates=999, **more
        )
        from_below = (tail == "greater") == higher
        for claim in result.claims:
            gap = claim.difference
            assert math.isinf(gap.high) == from_below
            assert math.isinf(gap.low) != from_below
            assert (claim.adjusted <= 0.05) == excludes_zero(gap)


def largest_t(values, baseline):
    """All values of the largest |t| over sign assignments, one by one."""
    others = [column for column in range(values.shape[1]) if column != baseline]
    gaps = values[:, others] - values[:, [baseline]]
    found = []
    for signs in product((1.0, -1.0), repeat=len(values)):
        flipped = gaps * np.array(signs)[:, None]
        errors = flipped.std(axis=0, ddof=1) / math.sqrt(len(values))
        found.append(np.abs(flipped.mean(axis=0) / errors).max())
    return np.sort(found)[::-1]


def test_the_max_t_interval_is_a_t_interval_with_the_quantile_of_the_largest_t():
    values = some_scores(4, 9, 4)
    every = largest_t(values, 0)
    critical = every[math.floor(0.05 * len(every))]
    for claim in compare(scores_of(values), baseline="s0", correction="maxt").claims:
        gaps = values[:, int(claim.first[1:])] - values[:, 0]
        half = critical * gaps.std(ddof=1) / 3
        assert claim.difference.low == pytest.approx(gaps.mean() - half, abs=1e-9)
        assert claim.difference.high == pytest.approx(gaps.mean() + half, abs=1e-9)


def test_the_randomized_tukey_interval_is_the_quantile_of_the_range():
    values = some_scores(1, 4, 3)
    ranges = []
    for orders in product(list(permutations(range(3))), repeat=4):
        means = np.mean([row[list(order)] for row, order in zip(values, orders, strict=True)], 0)
        ranges.append(np.ptp(means))
    ranges = np.sort(ranges)[::-1]
    critical = ranges[math.floor(0.05 * len(ranges))]
    claim = compare(scores_of(values), correction="randomized-tukey").claims[0]
    assert claim.difference.high - claim.difference.estimate == pytest.approx(critical, abs=1e-9)


@pytest.mark.parametrize("units", [5, 40])
@pytest.mark.parametrize("test", [max_t, randomized_tukey])
def test_a_statistic_beyond_the_critical_one_is_significant(test, units):
    for values in (some_scores(2, units, 3), some_scores(2, units, 3, lattice=True)):
        null = test(values, replicates=999).null
        for alpha in (0.001, 0.05, 0.2, 0.5):
            critical = null.critical(alpha)
            if math.isinf(critical):
                assert null.p[0] > alpha
                continue
            assert null.p[null.values > critical].max(initial=0.0) <= alpha
            reached = null.values >= critical - null.noise - 1e-15
            assert null.p[reached].max() > alpha


def test_too_few_units_give_no_interval():
    result = compare(scores_of(some_scores(0, 4, 3)), baseline="s0", correction="maxt")
    assert all(math.isinf(claim.difference.low) for claim in result.claims)
    assert all(math.isinf(claim.difference.high) for claim in result.claims)


def test_dunnett_shows_its_own_intervals():
    values = some_scores(3, 15, 4)
    result = compare(scores_of(values), baseline="s0", correction="dunnett-t")
    found = [(claim.difference.low, claim.difference.high) for claim in result.claims]
    assert found == [(pair.low, pair.high) for pair in dunnett_blocks(values, 0)]


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "hochberg"])
def test_stepwise_corrections_get_bonferroni_intervals(correction):
    values = some_scores(3, 15, 4)
    claim = compare(scores_of(values), correction=correction).claims[0]
    gap = t_interval(values[:, 1] - values[:, 0], 1 - 0.05 / 6)
    assert (claim.difference.low, claim.difference.high) == pytest.approx((gap.low, gap.high))
    assert claim.difference.method == "t, Bonferroni"
    assert claim.difference.level == 0.95
    one = compare(scores_of(values), correction=correction, baseline="s0", alternative="greater")
    bound = t_interval(values[:, 1] - values[:, 0], 1 - 2 * 0.05 / 3).low
    assert one.claims[0].difference.low == pytest.approx(bound)


@pytest.mark.parametrize("correction", ["bh", "by", "nemenyi"])
def test_corrections_without_intervals_leave_them_unadjusted_and_say_so(correction):
    values = some_scores(3, 15, 4)
    result = compare(scores_of(values), correction=correction)
    gap = t_interval(values[:, 1] - values[:, 0])
    assert result.coverage == "unadjusted"
    assert result.claims[0].difference.low == pytest.approx(gap.low)
    assert any("unadjusted" in one.text for one in result.warnings)


@pytest.mark.parametrize("kind", ["t", "percentile", "bca", "randomization"])
def test_an_interval_that_was_asked_for_is_widened_for_the_family(kind):
    scores = scores_of(some_scores(3, 20, 4))
    alone = compare(scores_of(some_scores(3, 20, 4)[:, :2]), interval=kind, replicates=5000)
    many = compare(scores, interval=kind, replicates=5000)
    one, other = alone.claims[0].difference, many.claims[0].difference
    assert other.low < one.low < one.high < other.high
    assert other.method.endswith(", Bonferroni")


def with_p(base, wanted):
    """Differences of the shape of `base` whose paired t test has this p."""
    from scipy.stats import t

    base = base - base.mean()
    quantile = t.isf(wanted / 2, len(base) - 1)
    return base + quantile * base.std(ddof=1) / math.sqrt(len(base))


def test_a_step_that_goes_beyond_the_intervals_is_explained():
    generator = np.random.default_rng(0)
    first, second = (with_p(generator.normal(size=20), p) for p in (0.001, 0.04))
    values = np.column_stack([np.zeros(20), first, second])
    result = compare(scores_of(values), baseline="s0", correction="holm", tests=["t"])
    late = result.claims[1]
    assert late.adjusted == pytest.approx(0.04)
    assert not excludes_zero(late.difference)
    assert any(one.text.startswith("s2 - s0: significant although") for one in result.warnings)
    single = compare(scores_of(values), baseline="s0", correction="bonferroni", tests=["t"])
    assert not any("although" in one.text or "disagree" in one.text for one in single.warnings)


def test_a_test_and_an_interval_of_different_kinds_are_explained():
    gaps = np.array([0.01] * 15 + [-0.9] * 3)
    result = compare(scores_of(np.column_stack([np.full(18, 0.95), 0.95 + gaps])), tests=["sign"])
    assert result.claims[0].adjusted < 0.05
    assert any("sign is not about the mean, the interval is" in one.text for one in result.warnings)


def test_simultaneous_intervals_cover_all_differences_at_once():
    generator = np.random.default_rng(11)
    truth, rounds = np.array([0.0, 0.3, -0.2, 0.0]), 200
    covered = {"maxt": 0, "randomized-tukey": 0}
    for seed in range(rounds):
        values = generator.normal(size=(25, 1)) + generator.normal(size=(25, 4)) + truth
        for how in covered:
            base = "s0" if how == "maxt" else None
            claims = compare(
                scores_of(values),
                baseline=base,
                correction=how,
                tests=["t"],
                replicates=499,
                seed=seed,
            ).claims
            covered[how] += all(
                claim.difference.low
                <= truth[int(claim.first[1])] - truth[int(claim.second[1])]
                <= claim.difference.high
                for claim in claims
            )
    # 200 rounds: two standard errors are .03. Permuting scores as they are, with their true
    # differences, makes the randomized Tukey interval a little wide.
    assert 0.92 <= covered["maxt"] / rounds <= 0.98
    assert 0.925 <= covered["randomized-tukey"] / rounds <= 1


def test_one_tail_at_an_even_chance_is_refused():
    with pytest.raises(InputError, match=r"above 0\.5"):
        compare(scores_of(some_scores(0, 10, 2)), alternative="greater", level=0.5)
