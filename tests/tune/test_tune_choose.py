"""The choice of a point: a slow loop, ties, undefined values, one standard error."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from heldout.errors import InputError
from heldout.resample.plans import Bootstrap, GivenFolds, KFold, LeaveOneOut
from heldout.tune.choice import choose

IDS = [f"q{number}" for number in range(23)]


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
@pytest.mark.parametrize("rule", ["best", "one-se"])
def test_brute_force(rule, higher):
    generator = np.random.default_rng(1)
    numbers = set()
    for _ in range(200):
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


def test_ties_go_to_the_earlier_point_even_when_rounding_speaks_against_it():
    above = 0.1 + 0.2  # 0.30000000000000004
    assert above > 0.3
    assert choose([[0.3, 0.3], [above, above]]).number == 0
    assert choose([[above, above], [0.3, 0.3]], higher_is_better=False).number == 0
    assert choose([[0.3, 0.3], [0.3 + 1e-9, 0.3]]).number == 1


def test_large_values_tie_by_their_size():
    assert choose([[1e9], [1e9 + 1e-5]]).number == 0
    assert choose([[1e9], [1e9 + 1]]).number == 1


def test_a_unit_that_some_point_lacks_counts_for_none():
    # The second point has a value on the easy unit only: its own mean would be the best.
    values = [[0.9, 0.2, 0.3], [0.8, math.nan, 0.1]]
    found = choose(values)
    assert found.number == 0
    assert found.means == pytest.approx([0.6, 0.45])


def test_a_point_without_any_value_is_never_chosen():
    for rule in ("best", "one-se"):
        found = choose([[math.nan] * 3, [0.1, 0.2, 0.3], [0.3, 0.2, 0.2]], rule=rule)
        assert found.number in {1, 2}
        assert math.isnan(found.means[0])


def test_one_se_takes_the_simplest_that_may_be_as_good():
    # Point 1 is worse by .01 on average; the differences vary by more than that.
    noisy = [[0.1, 0.1, 0.1, 0.1], [0.5, 0.2, 0.7, 0.4], [0.4, 0.4, 0.5, 0.54]]
    assert choose(noisy).number == 2
    assert choose(noisy, rule="one-se").number == 1
    # Worse by as little, but on every unit: that is no chance.
    steady = [[0.1, 0.1, 0.1, 0.1], [0.49, 0.19, 0.69, 0.40], [0.5, 0.2, 0.7, 0.41]]
    assert choose(steady, rule="one-se").number == 2


def test_one_unit_has_no_standard_error_and_the_best_is_taken():
    assert choose([[0.1], [0.2]], rule="one-se").number == 1


@given(
    hnp.arrays(np.float64, (4, 7), elements=st.floats(-5, 5)),
    hnp.arrays(np.int32, 7, elements=st.integers(0, 3)),
    st.sampled_from(["best", "one-se"]),
)
def test_units_of_weight_0_have_no_say_whatever_their_values_are(values, weights, rule):
    weights[3] = 1
    clean = choose(values, weights, rule=rule)
    for poison in (np.nan, np.inf, -np.inf, 1e300):
        poisoned = np.where(weights > 0, values, poison)
        found = choose(poisoned, weights, rule=rule)
        assert found.number == clean.number
        assert found.means.tolist() == clean.means.tolist()


@pytest.mark.parametrize(
    ("values", "weights", "said"),
    [
        ([[0.1, 0.2]], [0, 0], "no point has a value on any of 0 units"),
        ([[math.nan, math.nan]], None, "no point has a value"),
        ([[math.nan, 1], [1, math.nan]], None, "some point is undefined"),
        ([[0.1, math.inf]], None, "point 0, unit 1 is inf"),
    ],
)
def test_what_cannot_be_chosen_by_is_refused(values, weights, said):
    with pytest.raises(InputError, match=said):
        choose(values, weights)


PLANS = [
    KFold(4, repeats=3, seed=2),
    LeaveOneOut(),
    Bootstrap(40, seed=1),
    Bootstrap(40, side="test"),
    GivenFolds({name: number % 3 for number, name in enumerate(IDS)}),
]


@pytest.mark.parametrize("rule", ["best", "one-se"])
@pytest.mark.parametrize("plan", PLANS, ids=repr)
def test_held_out_values_have_no_say_in_the_choice(plan, rule):
    """By loops, and with a held-out side that would turn every choice around."""
    generator = np.random.default_rng(0)
    values = generator.random(len(IDS)) * 0.5 + 0.5 * generator.random((7, len(IDS)))
    splits = plan.splits(IDS)
    for split in splits:
        choice = choose(values, split.train, rule=rule)
        number, means = slow_choice(values.tolist(), split.train, rule=rule, higher=True)
        assert (choice.number, choice.means) == (number, pytest.approx(means))
        tempting = values.copy()
        tempting[int(np.argmin(choice.means))][split.train == 0] = 1e6
        again = choose(tempting, split.train, rule=rule)
        assert again.number == choice.number
        assert again.means.tolist() == choice.means.tolist()
