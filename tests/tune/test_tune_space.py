"""Axes, their spelling, grids, samples and edges."""

import itertools
import math

import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.tune.search import Search
from heldout.tune.space import Axis, Space, geometric, given, linear, parse_axis


def space_of(texts):
    return Space(tuple(map(parse_axis, texts)))


def test_linear_steps_are_equal_and_without_noise():
    assert linear("x", 0.1, 0.9, 9).values == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def test_geometric_ratios_are_equal():
    values = geometric("mu", 100, 5000, 9).values
    ratios = [b / a for a, b in itertools.pairwise(values)]
    assert values[0] == 100
    assert values[-1] == 5000
    assert ratios == pytest.approx([50 ** (1 / 8)] * 8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k1=0.5:3:11", linear("k1", 0.5, 3, 11)),
        ("mu=100:5000:9:log", geometric("mu", 100, 5000, 9)),
        ("b=0.3,0.5,0.75", given("b", [0.3, 0.5, 0.75])),
        (" b = 0.3 , 0.5 ", given("b", [0.3, 0.5])),
        ("stem=none,english", given("stem", ["none", "english"])),
        ("idf=true,false", given("idf", [True, False])),
        ("x=-1:1:3", linear("x", -1, 1, 3)),
        ("b=0.75", given("b", [0.75])),
    ],
)
def test_an_axis_is_read_as_written(text, expected):
    assert parse_axis(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("k1", "not a parameter with values"),
        ("=1:2:3", "not a parameter with values"),
        ("k1=", "not a parameter with values"),
        ("k1=1:2", "from:to:count"),
        ("k1=1:2:3:lin", "from:to:count"),
        ("k1=1:2:3:log:5", "from:to:count"),
        ("k1=1:2:x", "from:to:count"),
        ("k1=1:2:2.5", "from:to:count"),
        ("k1=2:1:3", "the first must be the lower"),
        ("k1=1:2:1", "an integer of at least 2"),
        ("k1=a:b:3", "two finite numbers"),
        ("k1=0:inf:3", "two finite numbers"),
        ("mu=0:100:3:log", "above 0"),
        ("b=0.3,,0.5", "empty"),
        ("b=0.3,0.30", "duplicate value"),
        ("b=0.3,nan", "not a finite number"),
    ],
)
def test_a_wrong_axis_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        parse_axis(text)


def test_the_last_axis_is_fastest():
    space = space_of(["a=1,2", "b=x,y,z"])
    points = [tuple(point.values()) for point in space.points()]
    assert points[:4] == [(1, "x"), (1, "y"), (1, "z"), (2, "x")]
    assert len(points) == len(space) == 6


def test_a_space_without_axes_is_one_point():
    assert Space().points() == ({},)
    assert len(Space()) == 1
    assert Search().edges({}) == ()


def test_a_parameter_cannot_stand_twice():
    with pytest.raises(InputError, match="duplicate parameter k1"):
        space_of(["k1=1,2", "k1=3,4"])


def test_edges_are_at_the_lowest_and_highest_value():
    space = space_of(["k1=1,2,3", "b=0.9,0.1,0.5", "stem=yes,no", "fixed=7"])
    edges = {tuple(point.values())[:2]: Search(space).edges(point) for point in space.points()}
    assert edges[2, 0.5] == ()
    assert edges[1, 0.5] == ("k1",)
    assert edges[2, 0.1] == ("b",)  # by value, wherever it stands in the list
    assert edges[3, 0.9] == ("k1", "b")


def test_edges_of_random_points_are_those_of_what_was_drawn():
    search = Search(Space((linear("a", 0.0, 1.0, 3),)), "random", 4)
    values = sorted(point["a"] for point in search.points)
    assert [len(search.edges({"a": value})) for value in values] == [1, 0, 0, 1]
    assert 0 < values[0] < values[-1] < 1


def test_a_sample_is_seeded_within_the_ends_and_begins_like_a_shorter_one():
    space = Space(
        (linear("a", 0.0, 1.0, 3), geometric("m", 10.0, 1000.0, 3), given("s", ["x", "y"]))
    )
    drawn = space.sample(200, seed=4)
    assert drawn == space.sample(200, seed=4)
    assert drawn[:50] == space.sample(50, seed=4)
    assert drawn != space.sample(200, seed=5)
    assert all(0 <= point["a"] <= 1 and 10 <= point["m"] <= 1000 for point in drawn)
    assert {point["s"] for point in drawn} == {"x", "y"}
    assert len({point["a"] for point in drawn}) == 200  # not three values of a grid
    # Half of the draws are below the geometric middle.
    below = sum(point["m"] < 100 for point in drawn)
    assert abs(below - 100) < 4 * math.sqrt(200) / 2


def test_whole_numbers_are_drawn_as_such_ends_included():
    drawn = [point["k"] for point in Space((linear("k", 1, 5, 5),)).sample(99)]
    assert sorted(drawn) == [1, 2, 3, 4, 5]  # all there are, once each
    assert all(isinstance(value, int) for value in drawn)


def test_the_ends_of_whole_numbers_are_drawn_as_often_as_the_others():
    space = Space((linear("k", 1, 5, 5),))
    drawn = [space.sample(1, seed)[0]["k"] for seed in range(1000)]
    for value in range(1, 6):
        assert abs(drawn.count(value) - 200) < 4 * math.sqrt(1000 * 0.2 * 0.8)


@hypothesis_given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 80))
def test_a_sample_of_given_values_never_repeats(sizes, count):
    space = Space(tuple(given(f"p{number}", range(size)) for number, size in enumerate(sizes)))
    drawn = [tuple(point.values()) for point in space.sample(count)]
    assert len(drawn) == len(set(drawn)) == min(count, len(space))


def test_true_is_another_value_than_one():
    assert Axis("a", (1, True)).values == (1, True)
    with pytest.raises(InputError, match="duplicate value"):
        Axis("a", (1, 1.0))


def test_spaces_beyond_all_measure_are_refused():
    with pytest.raises(InputError, match="at most 10,000"):
        parse_axis("k1=0:1:100000000")
    many = tuple(given(name, range(1000)) for name in "abc")
    with pytest.raises(InputError, match="1,000,000,000 points"):
        Space(many)
