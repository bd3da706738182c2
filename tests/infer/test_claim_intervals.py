"""Intervals of differences: adjusted as their p-values are, and with the errors of the design."""

import math

import numpy as np
import pytest
from inference_data import A, B, codes, excludes_zero, scores_of
from scipy import stats

from heldout import InputError, Scores, compare
from heldout.data.scores import ChoiceSpread
from heldout.infer.intervals import t_interval
from heldout.infer.results import mean_estimate
from heldout.infer.scoring import Means


def some_scores(seed, units, systems, lattice=False):
    generator = np.random.default_rng(seed)
    values = generator.normal(0.5, 0.2, (units, 1)) + generator.normal(0, 0.1, (units, systems))
    values += generator.normal(0, 0.08, systems)
    return np.round(values, 1) if lattice else values


@pytest.mark.parametrize("settings", [{"correction": "tukey"}, {"tests": ["t"]}])
def test_zero_is_outside_exactly_if_the_test_rejects(settings):
    """Of corrections whose interval and verdict come from one statistic."""
    settings = {"correction": "bonferroni", "replicates": 999} | settings
    verdicts = set()
    for units, lattice in ((6, False), (9, True), (30, False), (30, True)):
        for seed in range(3):
            result = compare(scores_of(some_scores(seed, units, 4, lattice)), **settings)
            assert result.analysis.coverage == "simultaneous"
            for claim in result.claims:
                assert (claim.adjusted <= 0.05) == excludes_zero(claim.difference)
                verdicts.add(claim.adjusted <= 0.05)
    assert verdicts == {True, False}


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("side", ["greater", "less"])
def test_one_tail_has_one_bound_on_the_side_that_was_asked(side, higher):
    settings = {"correction": "bonferroni", "tests": ["t"], "baseline": "s0", "alternative": side}
    for seed in range(4):
        result = compare(scores_of(some_scores(seed, 20, 4), higher_is_better=higher), **settings)
        from_below = (side == "greater") == higher
        for claim in result.claims:
            gap = claim.difference
            assert math.isinf(gap.high) == from_below
            assert math.isinf(gap.low) != from_below
            assert (claim.adjusted <= 0.05) == excludes_zero(gap)


@pytest.mark.parametrize(("level", "z"), [(0.95, 1.959963985), (0.9, 1.644853627)])
def test_the_plain_z_interval_over_folds_by_name(level, z):
    folds, gaps = {"test_share": 1 / 9, "level": level}, B - A
    found = compare({"A": A, "B": B}, interval="z", **folds)
    half = z * gaps.std() / math.sqrt(10)
    bounds = found.claims[0].difference[1:3]
    assert bounds == pytest.approx((0.07 - half, 0.07 + half), abs=1e-9)
    default = compare({"A": A, "B": B}, **folds).claims[0].difference
    assert default.low < bounds[0] < bounds[1] < default.high
    note = [one.text for one in found.warnings if one.code == "folds-independent"][-1]
    assert note.startswith("the z interval treats folds as independent")
    with pytest.raises(InputError, match="pass test_share"):
        compare({"A": A, "B": B}, interval="z")


@pytest.mark.parametrize("settings", [{"tests": ["t"]}, {"interval": "percentile"}, {}])
def test_without_variance_there_is_no_interval_before_the_signs_decide(settings):
    for units in (3, 5, 6):
        values = np.column_stack([np.full(units, 0.25), np.full(units, 0.5)])
        (claim,) = compare(scores_of(values, range=(0.0, 1.0)), **settings).claims
        assert claim.adjusted == 2.0 ** (1 - units)
        bounds = (0.25, 0.25) if units == 6 else (-1, 1)  # all possible differences
        assert claim.difference[1:3] == bounds
    for side, p in (("greater", 2.0**-6), ("less", 1)):
        claims = compare(scores_of(values), alternative=side, **settings).claims
        assert claims[0].adjusted == p


def test_which_intervals_are_widened_for_the_family():
    values = some_scores(3, 15, 4)
    gaps = values[:, 1] - values[:, 0]
    for correction in ("bonferroni", "holm"):
        claim = compare(scores_of(values), correction=correction).claims[0]
        assert claim.difference[1:3] == pytest.approx(t_interval(gaps, 1 - 0.05 / 6)[1:3])
        assert (claim.difference.method, claim.difference.level) == ("t, Bonferroni", 0.95)
        sided = {"baseline": "s0", "alternative": "greater"}
        one = compare(scores_of(values), correction=correction, **sided).claims[0]
        assert one.difference.low == pytest.approx(t_interval(gaps, 1 - 2 * 0.05 / 3).low)
    result = compare(scores_of(values), correction="bh")
    assert result.analysis.coverage == "unadjusted"
    assert result.claims[0].difference.low == pytest.approx(t_interval(gaps).low)
    assert "unadjusted-intervals" in codes(result.warnings)
    for kind in ("t", "percentile", "bca"):  # asked for
        both = [
            compare(scores_of(values[:, :count]), interval=kind, replicates=5000).claims[0]
            for count in (2, 4)
        ]
        one, other = (claim.difference for claim in both)
        assert other.low < one.low < one.high < other.high
        assert other.method.endswith(", Bonferroni")


def with_p(base, wanted):
    """Differences of the shape of `base` whose paired t test has this p."""
    base = base - base.mean()
    quantile = stats.t.isf(wanted / 2, len(base) - 1)
    return base + quantile * base.std(ddof=1) / math.sqrt(len(base))


def test_tests_and_intervals_that_disagree_are_explained():
    generator = np.random.default_rng(0)
    first, second = (with_p(generator.normal(size=20), p) for p in (0.001, 0.04))
    values = scores_of(np.column_stack([np.zeros(20), first, second]))
    result = compare(values, baseline="s0", correction="holm", tests=["t"])
    late = result.claims[1]
    assert late.adjusted == pytest.approx(0.04)
    assert not excludes_zero(late.difference)
    (note,) = [one for one in result.warnings if one.code == "stepwise"]
    assert note.text.startswith("s2 - s0: significant although")
    single = compare(values, baseline="s0", correction="bonferroni", tests=["t"])
    assert not {"stepwise", "disagreement"} & set(codes(single.warnings))
    # Significant beside an interval with 0, and not significant beside one without.
    for gaps, significant in (([0.01] * 15 + [-0.9] * 3, True), ([-0.01] * 8 + [0.4] * 10, False)):
        scores = {"A": np.full(18, 0.5), "B": 0.5 + np.array(gaps)}
        result = compare(scores, tests=["sign"])
        (claim,) = result.claims
        assert (claim.adjusted < 0.05) == significant != excludes_zero(claim.difference)
        (note,) = [one for one in result.warnings if one.code == "disagreement"]
        assert "sign is not about the mean, the interval is" in note.text


# Systems tuned in folds: the interval, the test and the verdict are one method

GAPS = np.random.default_rng(5).normal(0.1, 0.3, 30)
SPREAD = ChoiceSpread(0.001, 0.004)


def tuned_scores(systems=2, choices=None):
    values = np.random.default_rng(1).random((30, systems))
    names = tuple("ABCD"[:systems])
    return Scores("AP", names, tuple(map(str, range(30))), values, choices=choices or {})


def tuned(gaps, spread):
    """The scoring of two systems that were tuned in folds."""
    values = np.column_stack([gaps, np.zeros(len(gaps))])
    units = tuple(map(str, range(len(gaps))))
    return Means(Scores("AP", ("A", "B"), units, values, choices={("A", "B"): spread}))


def test_the_variance_of_tuned_systems():
    other = {("C", "D"): ChoiceSpread(0.0, 0.0)}  # no choice in this pair
    values = np.column_stack([GAPS, np.zeros(30)])
    scoring = Means(Scores("AP", ("A", "B"), tuple(map(str, range(30))), values, choices=other))
    assert scoring.difference((0, 1), 0.95)[:3] == pytest.approx(t_interval(GAPS)[:3])
    assert scoring.estimate((0, 1)).p() == pytest.approx(mean_estimate(GAPS).p())
    own = GAPS.var(ddof=1) / 30
    # Never below that of the units.
    for spread, expected in ((ChoiceSpread(own / 2, 0.0), 1), (ChoiceSpread(2 * own, own), 3)):
        error = tuned(GAPS, spread).estimate((0, 1)).error[0]
        assert error**2 == pytest.approx(expected * own)
    few = np.r_[np.full(3, 0.2), np.zeros(27)]  # as if four more differed
    error = tuned(few, ChoiceSpread(0.0, 0.01)).estimate((0, 1)).error[0]
    assert error**2 == pytest.approx(few.var(ddof=1) / 30 + 4 * 0.2**2 / 30**2 + 0.01)
    for spread in (ChoiceSpread(0.0, 0.0), SPREAD):
        assert tuned(np.zeros(10), spread).estimate((0, 1)).p() == 1


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_of_tuned_systems_inverts_the_test(level):
    interval = tuned(GAPS, SPREAD).difference((0, 1), level)
    assert interval.method == "t with re-tuning"
    for bound in interval[1:3]:
        outcome = tuned(GAPS - bound, SPREAD).outcome("retuned-t", (0, 1), "two-sided")
        assert outcome.p == pytest.approx(1 - level)
        assert outcome.detail == "29 degrees of freedom, including re-tuning"


def test_tuned_systems_are_compared_by_it():
    found = compare(tuned_scores(choices={("B", "A"): SPREAD}))
    claim = found.claims[0]
    assert [one.test for one in claim.outcomes] == ["retuned-t", "randomization"]
    assert claim.difference.method == "t with re-tuning"
    assert claim.difference.high - claim.difference.low > 0.25
    assert "shared-choices" not in codes(found.warnings)
    turned = compare(tuned_scores(choices={("A", "B"): SPREAD})).claims[0]
    assert turned.difference == claim.difference
    found = compare(tuned_scores(4, {("B", "A"): SPREAD}))
    assert found.analysis.correction == "holm"
    widths = {
        (one.first, one.second): one.difference.high - one.difference.low for one in found.claims
    }
    assert max(widths, key=widths.get) == ("B", "A")
    for options in ({"tests": ["t"]}, {"correction": "tukey"}):
        found = compare(tuned_scores(3, {("B", "A"): SPREAD}), **options)
        assert codes(found.warnings).count("shared-choices") == 1
    with pytest.raises(InputError, match="tuned in folds"):
        compare(tuned_scores(), tests=["retuned-t"])
