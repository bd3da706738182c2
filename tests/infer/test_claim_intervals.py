"""Intervals beside adjusted p-values: adjusted alike, and never at odds without a word."""

import math

import numpy as np
import pytest

from heldout import InputError, Scores, compare
from heldout.infer.intervals import t_interval


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
        assert result.analysis.coverage == "simultaneous"
        for claim in result.claims:
            assert (claim.adjusted <= 0.05) == excludes_zero(claim.difference)
            verdicts.add(claim.adjusted <= 0.05)
    assert verdicts == {True, False} or units == 6


@pytest.mark.parametrize("tail", ["greater", "less"])
@pytest.mark.parametrize("higher", [True, False])
def test_one_tail_has_one_bound_on_the_side_that_was_asked(tail, higher):
    for seed in range(4):
        scores = scores_of(some_scores(seed, 20, 4), higher_is_better=higher)
        result = compare(
            scores, correction="bonferroni", tests=["t"], baseline="s0", alternative=tail
        )
        from_below = (tail == "greater") == higher
        for claim in result.claims:
            gap = claim.difference
            assert math.isinf(gap.high) == from_below
            assert math.isinf(gap.low) != from_below
            assert (claim.adjusted <= 0.05) == excludes_zero(gap)


@pytest.mark.parametrize("lattice", [False, True])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_romano_wolf_excludes_zero_only_if_it_rejects(level, lattice):
    for seed in range(4):
        values = some_scores(seed, 30, 4, lattice)
        result = compare(scores_of(values), level=level, replicates=999)
        smallest = min(claim.adjusted for claim in result.claims)
        for claim in result.claims:
            # Of the strongest pair, the first step is the only one.
            if excludes_zero(claim.difference):
                assert claim.adjusted <= result.alpha
            assert claim.adjusted > smallest or (
                (claim.adjusted <= result.alpha) == excludes_zero(claim.difference)
            )


@pytest.mark.parametrize(("level", "z"), [(0.95, 1.959963985), (0.9, 1.644853627)])
def test_the_plain_z_interval_over_folds_by_name(level, z):
    folds = [0.2, 0.3, 0.1, 0.4, 1, 0.8, 0.3, 0.1, 0, 0.9]
    other = [0.5, 0.3, 0.1, 0.4, 1, 0.9, 0.1, 0.2, 0.5, 0.8]
    values = np.column_stack([folds, other])
    gaps = values[:, 1] - values[:, 0]
    found = compare(scores_of(values), test_share=1 / 9, interval="z", level=level)
    half = z * gaps.std() / math.sqrt(10)
    bounds = found.claims[0].difference[1:3]
    assert bounds == pytest.approx((0.07 - half, 0.07 + half), abs=1e-9)
    default = compare(scores_of(values), test_share=1 / 9, level=level).claims[0].difference
    assert default.low < bounds[0] < bounds[1] < default.high
    note = [one.text for one in found.warnings if one.code == "folds-independent"][-1]
    assert note.startswith("the z interval treats folds as independent")
    with pytest.raises(InputError, match="pass test_share"):
        compare(scores_of(values), interval="z")


@pytest.mark.parametrize("units", [3, 5, 6])
@pytest.mark.parametrize("settings", [{"tests": ["t"]}, {"interval": "percentile"}, {}])
def test_without_variance_there_is_no_interval_before_the_signs_decide(units, settings):
    values = np.column_stack([np.full(units, 0.25), np.full(units, 0.5)])
    (claim,) = compare(scores_of(values, range=(0.0, 1.0)), **settings).claims
    assert claim.adjusted == 2.0 ** (1 - units)
    bounds = (0.25, 0.25) if units == 6 else (-1, 1)  # all possible differences
    assert claim.difference[1:3] == bounds


@pytest.mark.parametrize("correction", ["bonferroni", "holm"])
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


def test_corrections_without_intervals_leave_them_unadjusted_and_say_so():
    values = some_scores(3, 15, 4)
    result = compare(scores_of(values), correction="bh")
    gap = t_interval(values[:, 1] - values[:, 0])
    assert result.analysis.coverage == "unadjusted"
    assert result.claims[0].difference.low == pytest.approx(gap.low)
    assert any("unadjusted" in one.text for one in result.warnings)


@pytest.mark.parametrize("kind", ["t", "percentile", "bca"])
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
    generator = np.random.default_rng(1)
    truth, rounds, covered = np.array([0.0, 0.3, -0.2, 0.0]), 200, 0
    for _ in range(rounds):
        values = generator.normal(size=(25, 1)) + generator.normal(size=(25, 4)) + truth
        claims = compare(scores_of(values), correction="tukey", tests=["t"]).claims
        covered += all(
            claim.difference.low
            <= truth[int(claim.first[1])] - truth[int(claim.second[1])]
            <= claim.difference.high
            for claim in claims
        )
    assert 0.92 <= covered / rounds <= 0.98  # two standard errors are .03


def test_one_tail_at_an_even_chance_is_refused():
    with pytest.raises(InputError, match=r"above 0\.5"):
        compare(scores_of(some_scores(0, 10, 2)), alternative="greater", level=0.5)
