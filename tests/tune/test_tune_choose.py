"""The choice of a point: a slow loop, ties, undefined values, one standard error, chosen again."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from heldout import Bootstrap, HoldOut, InputError, KFold, LeaveOneOut
from heldout.tune.choice import choose
from heldout.tune.choice_variance import Sides, TunedPoints, choice_spreads, draw_counts, rechoose

IDS = [f"q{number}" for number in range(23)]
RULES = ("best", "one-se")


def slow_choice(values, weights, *, rule, higher):
    """The same by loops over repeated rows: every draw of a unit is a row of its own."""
    points = [
        [value for value, times in zip(row, weights, strict=True) for _ in range(times)]
        for row in values
    ]
    means = [statistics.fmean(point) for point in points]
    signed = means if higher else [-mean for mean in means]
    best = signed.index(max(signed))
    if rule == "best":
        return best, means
    for number in range(best):
        gaps = [a - b for a, b in zip(points[best], points[number], strict=True)]
        error = statistics.stdev(gaps) / math.sqrt(len(gaps))
        if abs(statistics.fmean(gaps)) <= error:
            return number, means
    return best, means


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_brute_force(rule, higher):
    generator = np.random.default_rng(1)
    numbers = set()
    for _ in range(100):
        values = generator.random((6, 9)) + np.linspace(0, 0.2, 6)[:, None]
        weights = generator.integers(0, 4, 9)
        weights[0] = 2
        found = choose(values, weights, rule=rule, higher_is_better=higher)
        number, means = slow_choice(values, weights, rule=rule, higher=higher)
        assert found.number == number
        assert found.means == pytest.approx(means)
        assert found.mean == pytest.approx(means[number])
        numbers.add(number)
    assert len(numbers) > 3  # the cases differ


ABOVE = 0.1 + 0.2  # 0.30000000000000004
NAN = math.nan


def test_ties_and_undefined_values():
    assert ABOVE > 0.3
    for values, higher, number in (
        ([[0.3, 0.3], [ABOVE, ABOVE]], True, 0),  # ties go to the earlier point, rounded or not
        ([[ABOVE, ABOVE], [0.3, 0.3]], False, 0),
        ([[0.3, 0.3], [0.3 + 1e-9, 0.3]], True, 1),
        ([[1e9], [1e9 + 1e-5]], True, 0),  # large values tie by their size
        ([[1e9], [1e9 + 1]], True, 1),
        # The second point has a value on the easy unit only: its own mean would be the best.
        ([[0.9, 0.2, 0.3], [0.8, NAN, 0.1]], True, 0),
        # A point without any value is never chosen.
        ([[NAN] * 3, [0.1, 0.2, 0.3], [0.3, 0.2, 0.2]], True, 2),
    ):
        assert choose(values, higher_is_better=higher).number == number, values
    assert choose([[0.9, 0.2, 0.3], [0.8, NAN, 0.1]]).means == pytest.approx([0.6, 0.45])
    found = choose([[NAN] * 3, [0.1, 0.2, 0.3], [0.3, 0.2, 0.2]], rule="one-se")
    assert found.number == 1
    assert math.isnan(found.means[0])


def test_one_se_takes_the_simplest_that_may_be_as_good():
    # Point 1 is worse by .01 on average; the differences vary by more than that.
    noisy = [[0.1, 0.1, 0.1, 0.1], [0.5, 0.2, 0.7, 0.4], [0.4, 0.4, 0.5, 0.54]]
    assert [choose(noisy, rule=rule).number for rule in RULES] == [2, 1]
    # Worse by as little, but on every unit: that is no chance.
    steady = [[0.1, 0.1, 0.1, 0.1], [0.49, 0.19, 0.69, 0.40], [0.5, 0.2, 0.7, 0.41]]
    assert choose(steady, rule="one-se").number == 2
    # One unit has no standard error, and the best is taken.
    assert choose([[0.1], [0.2]], rule="one-se").number == 1


@given(
    hnp.arrays(np.float64, (4, 7), elements=st.floats(-5, 5)),
    hnp.arrays(np.int32, 7, elements=st.integers(0, 3)),
    st.sampled_from(RULES),
)
def test_units_of_weight_0_have_no_say_whatever_their_values_are(values, weights, rule):
    weights[3] = 1
    clean = choose(values, weights, rule=rule)
    for poison in (np.nan, np.inf, -np.inf, 1e300):  # such as the values of held-out units
        found = choose(np.where(weights > 0, values, poison), weights, rule=rule)
        assert found.number == clean.number
        assert found.means.tolist() == clean.means.tolist()


def test_what_cannot_be_chosen_by_is_refused():
    for values, weights, said in (
        ([[0.1, 0.2]], [0, 0], "no point has a value on any of 0 units"),
        ([[NAN, NAN]], None, "no point has a value"),
        ([[NAN, 1], [1, NAN]], None, "some point is undefined"),
        ([[0.1, math.inf]], None, "point 0, unit 1 is inf"),
    ):
        with pytest.raises(InputError, match=said):
            choose(values, weights)


# Choosing again on drawn units

PLANS = [KFold(4, repeats=2), LeaveOneOut(), Bootstrap(3), HoldOut(0.3)]


def table(seed=0, points=6):
    return np.random.default_rng(seed).random((points, len(IDS))).round(1)


@pytest.mark.parametrize("plan", PLANS)
def test_choices_on_drawn_units_are_those_of_choose(plan):
    values, splits = table(), plan.splits(IDS)
    values[2, 5] = np.nan  # this query has no say
    values[4] = np.nan  # this point is never chosen
    counts = draw_counts(len(IDS), 8, seed=1)
    assert (counts.sum(axis=1) == len(IDS)).all()
    for rule in RULES:
        for higher in (True, False):
            how = {"rule": rule, "higher_is_better": higher}
            found = rechoose(values, Sides.of(splits), counts, **how)
            for row, drawn in zip(found, counts, strict=True):
                expected = [choose(values, drawn * split.train, **how).number for split in splits]
                assert row.tolist() == expected, how


@pytest.mark.parametrize("plan", [*PLANS, Bootstrap(3, side="test")])
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
    both_fixed = {"a": systems["fixed"], "b": systems["fixed"]}
    assert choice_spreads(both_fixed, sides) == {}


def test_units_are_shared_by_folds_and_not_by_one_hold_out():
    assert [Sides.of(plan.splits(IDS)).shared for plan in PLANS] == [True, True, True, False]
