"""Tuning over splits: against slow loops, without peeking, and with the unit as the unit."""

import math
import statistics

import numpy as np
import pytest

from heldout.data.collection import Collection
from heldout.errors import InputError
from heldout.resample.combined import TwoWay
from heldout.resample.given import GivenFolds
from heldout.resample.holdout import TestSet as HeldOutIds
from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut
from heldout.tune.choice import choose
from heldout.tune.tuned_folds import cross_validate

IDS = [f"q{number}" for number in range(23)]

PLANS = [
    KFold(5),
    KFold(4, repeats=3, seed=2),
    LeaveOneOut(),
    Bootstrap(40, seed=1),
    Bootstrap(40, side="test"),
    GivenFolds({one: at % 3 for at, one in enumerate(IDS)}),
]


def table(points=7, seed=0):
    generator = np.random.default_rng(seed)
    return generator.random(len(IDS)) * 0.5 + 0.5 * generator.random((points, len(IDS)))


@pytest.mark.parametrize("rule", ["best", "one-se"])
@pytest.mark.parametrize("plan", PLANS, ids=repr)
def test_brute_force(plan, rule):
    values = table()
    splits = plan.splits(IDS)
    found = cross_validate(values, splits, rule=rule)
    got = {one: [] for one in IDS}
    for split, fold in zip(splits, found.folds, strict=True):
        seen = [at for at, times in enumerate(split.train) for _ in range(times)]
        held = [at for at, times in enumerate(split.test) for _ in range(times)]
        number = choose(values[:, seen], rule=rule).number
        assert fold.number == number
        assert fold.key == split.key
        assert fold.train == pytest.approx(statistics.fmean(values[number, seen]))
        assert fold.held_out == pytest.approx(statistics.fmean(values[number, held]))
        assert fold.surface == pytest.approx(values[:, seen].mean(axis=1))
        for at in held:
            got[IDS[at]].append(values[number, at])
    by_unit = [statistics.fmean(got[one]) if got[one] else math.nan for one in IDS]
    assert found.units == pytest.approx(by_unit, nan_ok=True)
    assert found.mean == pytest.approx(np.nanmean(by_unit))
    assert found.final.number == choose(values, rule=rule).number


@pytest.mark.parametrize("rule", ["best", "one-se"])
@pytest.mark.parametrize("plan", PLANS, ids=repr)
def test_held_out_values_have_no_say_in_the_choice(plan, rule):
    """The held-out side is replaced by what would turn every choice around."""
    values = table()
    splits = plan.splits(IDS)
    clean = cross_validate(values, splits, rule=rule)
    for split, fold in zip(splits, clean.folds, strict=True):
        for poison in (np.nan, np.inf):
            poisoned = np.where(split.train > 0, values, poison)
            assert choose(poisoned, split.train, rule=rule).number == fold.number
        # Through the whole function: the worst point shines on the held-out side.
        tempting = values.copy()
        tempting[int(np.argmin(fold.surface))][split.train == 0] = 1e6
        again = cross_validate(tempting, splits, rule=rule)
        same = next(one for one in again.folds if one.key == split.key)
        assert same.number == fold.number
        assert same.surface.tolist() == fold.surface.tolist()


def test_the_poison_would_be_seen_by_a_choice_that_peeks():
    values = table()
    split = KFold(5).splits(IDS)[0]
    number = choose(values, split.train).number
    tempting = values.copy()
    tempting[(number + 1) % 7][split.train == 0] = 1e6
    assert choose(tempting).number != number


def test_folds_of_80_50_70_55_50_average_to_61():
    """method: held-out folds with P@10 .80 .50 .70 .55 .50 average to .61."""
    scores = [0.80, 0.50, 0.70, 0.55, 0.50]
    ids = [f"q{at}" for at in range(10)]
    values = [[score + shift for score in scores for shift in (-0.1, 0.1)]]
    splits = GivenFolds({one: at // 2 for at, one in enumerate(ids)}).splits(ids)
    found = cross_validate(values, splits)
    assert [fold.held_out for fold in found.folds] == pytest.approx(scores)
    assert found.mean == pytest.approx(0.61)


def test_noise_makes_the_optimistic_score_too_good():
    """200 systems that do not differ: the best one's score is luck, and held out it is gone."""
    values = np.random.default_rng(0).random((200, 50))
    found = cross_validate(values, KFold(10).splits(50))
    assert found.optimistic > 0.58
    assert abs(found.mean - 0.5) < 3 * math.sqrt(1 / 12 / 50)


def test_a_unit_held_out_in_every_repeat_has_one_value():
    found = cross_validate(table(), KFold(4, repeats=6).splits(IDS))
    assert found.units.shape == (len(IDS),)
    assert len(found.folds) == 24


def test_undefined_units_are_left_out():
    values = table()
    values[:, 3] = np.nan
    values[2, 5] = np.nan
    found = cross_validate(values, KFold(5).splits(IDS))
    assert np.flatnonzero(np.isnan(found.units)).tolist() == [3, 5]
    without = [at for at in range(len(IDS)) if at not in {3, 5}]
    assert found.final.means == pytest.approx(values[:, without].mean(axis=1))
    assert found.final.units == 21
    assert found.optimistic == pytest.approx(values[found.final.number, without].mean())


def test_the_optimistic_score_is_on_units_that_were_held_out():
    values = table()
    found = cross_validate(values, HeldOutIds(["q1", "q2", "q4"]).splits(IDS))
    assert found.optimistic == pytest.approx(values[:, [1, 2, 4]].mean(axis=1).max())
    assert found.final.units == len(IDS)


def test_wrong_input_is_refused():
    splits = KFold(5).splits(IDS)
    with pytest.raises(InputError, match="values for 3 units, but the splits have 23"):
        cross_validate([[1, 2, 3]], splits)
    with pytest.raises(InputError, match="query q4 is inf"):
        cross_validate(np.where(np.arange(23) == 4, np.inf, table()), splits)
    with pytest.raises(InputError, match="nothing to choose by"):
        cross_validate(np.full((2, 23), np.nan), splits)


def test_a_train_side_without_values_is_named():
    values = table()
    splits = GivenFolds({one: int(one == "q0") for one in IDS}).splits(IDS)
    values[:, 1:] = np.nan
    with pytest.raises(InputError, match="r0/f1: no training unit"):
        cross_validate(values, splits)


def test_queries_and_documents_held_out_together_are_refused():
    judged = {one: {"a": 1, "b": 1} for one in IDS}
    found = Collection({"a": "x", "b": "y"}, {one: one for one in IDS}, judged)
    splits = TwoWay(KFold(2), KFold(2)).splits(found)
    with pytest.raises(InputError, match="which documents they come from"):
        cross_validate(table(), splits)
