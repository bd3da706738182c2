"""Choosing again on drawn units: the same choices as `choose`, and spreads by plain loops."""

import numpy as np
import pytest

from heldout import Bootstrap, HoldOut, KFold, LeaveOneOut
from heldout.tune.choice import choose
from heldout.tune.choice_variance import Sides, TunedPoints, choice_spreads, draw_counts, rechoose

IDS = [f"q{n}" for n in range(17)]
PLANS = [KFold(4, repeats=2), LeaveOneOut(), Bootstrap(3), HoldOut(0.3)]


def table(seed=0, points=6):
    return np.random.default_rng(seed).random((points, len(IDS))).round(1)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("rule", ["best", "one-se"])
@pytest.mark.parametrize("higher", [True, False])
def test_the_choices_are_those_of_choose(plan, rule, higher):
    values, splits = table(), plan.splits(IDS)
    values[2, 5] = np.nan  # this query has no say
    values[4] = np.nan  # this point is never chosen
    counts = draw_counts(len(IDS), 8, seed=1)
    found = rechoose(values, Sides.of(splits), counts, rule=rule, higher_is_better=higher)
    for row, drawn in zip(found, counts, strict=True):
        for number, split in zip(row, splits, strict=True):
            weights = (drawn * split.train).astype(np.int64)
            expected = choose(values, weights, rule=rule, higher_is_better=higher).number
            assert number == expected


@pytest.mark.parametrize("plan", PLANS[:3])
def test_spreads_are_those_of_plain_loops(plan):
    splits = plan.splits(IDS)
    tuned, fixed = table(1), table(2, points=1)
    sides = Sides.of(splits)
    choices = rechoose(tuned, sides, draw_counts(len(IDS), 9, seed=4))
    systems = {"fixed": TunedPoints(fixed, None), "tuned": TunedPoints(tuned, choices)}
    means, errors = [], []
    for chosen in choices:
        gaps = []
        for unit in range(len(IDS)):
            times = [int(split.test[unit]) for split in splits]
            if sum(times):
                own = sum(t * tuned[c, unit] for t, c in zip(times, chosen, strict=True))
                gaps.append(own / sum(times) - fixed[0, unit])
        means.append(np.mean(gaps))
        errors.append(np.var(gaps, ddof=1) / len(gaps))
    spread = choice_spreads(systems, sides)["tuned", "fixed"]
    assert spread == pytest.approx((np.mean(errors), np.var(means, ddof=1)))


def test_two_fixed_systems_have_no_spread():
    fixed = TunedPoints(table(points=1), None)
    assert choice_spreads({"a": fixed, "b": fixed}, Sides.of(KFold(3).splits(IDS))) == {}


def test_units_are_shared_by_folds_and_not_by_one_hold_out():
    assert [Sides.of(plan.splits(IDS)).shared for plan in PLANS] == [True, True, True, False]
