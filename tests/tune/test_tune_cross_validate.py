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
from heldout.tune.space import Space, given, linear
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
    numbers = []
    for split, fold in zip(splits, found.folds, strict=True):
        seen = [at for at, times in enumerate(split.train) for _ in range(times)]
        held = [at for at, times in enumerate(split.test) for _ in range(times)]
        number = choose(values[:, seen], rule=rule).number
        numbers.append(number)
        assert fold.number == number
        assert fold.key == split.key
        assert fold.train == pytest.approx(statistics.fmean(values[number, seen]))
        assert fold.held_out == pytest.approx(statistics.fmean(values[number, held]))
        assert fold.surface == pytest.approx(values[:, seen].mean(axis=1))
        assert (fold.n_train, fold.n_test) == (len(seen), len(held))
        for at in held:
            got[IDS[at]].append(values[number, at])
    by_unit = [statistics.fmean(got[one]) if got[one] else math.nan for one in IDS]
    assert found.units == pytest.approx(by_unit, nan_ok=True)
    assert found.mean == pytest.approx(np.nanmean(by_unit))
    assert found.chosen.tolist() == [numbers.count(at) for at in range(7)]
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
    assert found.fold_mean == pytest.approx(0.61)
    assert found.mean == pytest.approx(0.61)


def test_folds_of_different_sizes_have_two_means():
    ids = ["a", "b", "c"]
    splits = GivenFolds({"a": 1, "b": 1, "c": 2}).splits(ids)
    found = cross_validate([[0.0, 0.0, 0.9]], splits)
    assert found.mean == pytest.approx(0.3)
    assert found.fold_mean == pytest.approx(0.45)


def test_noise_makes_the_optimistic_score_too_good():
    """200 systems that do not differ: the best one's score is luck, and held out it is gone."""
    values = np.random.default_rng(0).random((200, 50))
    found = cross_validate(values, KFold(10).splits(50))
    assert found.optimistic > 0.58
    assert abs(found.mean - 0.5) < 3 * math.sqrt(1 / 12 / 50)
    assert found.optimism == pytest.approx(found.optimistic - found.mean)


def test_optimism_of_errors_is_positive_too():
    values = np.random.default_rng(0).random((200, 50))
    found = cross_validate(values, KFold(10).splits(50), higher_is_better=False)
    assert found.optimistic < 0.42
    assert found.optimism == pytest.approx(found.mean - found.optimistic)
    assert found.optimism > 0.03


def test_with_one_point_nothing_is_optimistic():
    found = cross_validate(table(1), KFold(5).splits(IDS))
    assert found.optimism == 0  # though the two means are summed in different orders


def test_a_unit_held_out_in_every_repeat_has_one_value():
    found = cross_validate(table(), KFold(4, repeats=6).splits(IDS))
    assert found.units.shape == (len(IDS),)
    assert len(found.folds) == 24


def test_undefined_units_are_left_out_and_named():
    values = table()
    values[:, 3] = np.nan
    values[2, 5] = np.nan
    found = cross_validate(values, KFold(5).splits(IDS))
    assert found.undefined == ("q3", "q5")
    assert np.flatnonzero(np.isnan(found.units)).tolist() == [3, 5]
    without = [at for at in range(len(IDS)) if at not in {3, 5}]
    assert found.final.means == pytest.approx(values[:, without].mean(axis=1))
    assert found.final.units == 21
    assert sum(fold.n_test for fold in found.folds) == 21
    assert found.optimistic == pytest.approx(values[found.final.number, without].mean())


def test_units_never_held_out_are_named_and_the_optimistic_score_is_on_the_others():
    values = table()
    found = cross_validate(values, HeldOutIds(["q1", "q2", "q4"]).splits(IDS))
    assert set(found.never) == set(IDS) - {"q1", "q2", "q4"}
    assert found.optimistic == pytest.approx(values[:, [1, 2, 4]].mean(axis=1).max())
    assert found.final.units == len(IDS)


def test_units_are_paired_by_id():
    values = table()
    splits = KFold(5).splits(IDS)
    plain = cross_validate(values, splits)
    turned = cross_validate(values[:, ::-1], splits, units=IDS[::-1])
    assert turned.units.tolist() == plain.units.tolist()


def test_another_measure_can_be_gathered_under_the_same_choices():
    values = table()
    found = cross_validate(values, KFold(5, repeats=2).splits(IDS))
    assert found.gather(values) == pytest.approx(found.units)
    assert found.gather(1 - values) == pytest.approx(1 - found.units)
    with pytest.raises(InputError, match="shape"):
        found.gather(values[:3])


def test_edges_are_counted_by_parameter_and_side():
    # Point 5 is (k1 3, b .5), best on every unit: the highest of both axes.
    space = Space((given("k1", [1, 2, 3]), given("b", [0.3, 0.5])))
    values = np.full((6, len(IDS)), 0.1)
    values[5] = 0.9
    found = cross_validate(values, KFold(5).splits(IDS), space=space)
    assert [(one.name, one.value, one.side, one.folds, one.shipped) for one in found.edges] == [
        ("k1", 3, "highest", 5, True),
        ("b", 0.5, "highest", 5, True),
    ]
    middle = cross_validate(values[:3], KFold(5).splits(IDS), space=Space((linear("a", 0, 1, 3),)))
    assert [one.side for one in middle.edges] == ["lowest"]  # all equal: the earliest


def test_no_edge_inside_the_grid():
    values = np.full((3, len(IDS)), 0.1)
    values[1] = 0.9
    found = cross_validate(values, KFold(5).splits(IDS), space=Space((linear("a", 0, 1, 3),)))
    assert found.edges == ()


def test_wrong_input_is_refused():
    splits = KFold(5).splits(IDS)
    with pytest.raises(InputError, match="values for 3 units, but the splits have 23"):
        cross_validate([[1, 2, 3]], splits)
    with pytest.raises(InputError, match="the space has 2"):
        cross_validate(table(), splits, space=Space((given("a", [1, 2]),)))
    with pytest.raises(InputError, match=r"not in both the splits and the values \(q0, stranger\)"):
        cross_validate(table(), splits, units=["stranger", *IDS[1:]])
    with pytest.raises(InputError, match="duplicate id"):
        cross_validate(table(), splits, units=[IDS[1], *IDS[1:]])
    with pytest.raises(InputError, match="with 3 ids"):
        cross_validate(table(), splits, units=["a", "b", "c"])
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
