"""Axes and their spelling, grids, samples, edges, and searches with Optuna (the real package)."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from heldout import InputError
from heldout.tune.search import Search, proposed_points
from heldout.tune.space import Axis, Space, geometric, given, linear, parse_axis


def space_of(texts):
    return Space(tuple(map(parse_axis, texts)))


def test_an_axis_is_read_as_written():
    tenths = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    for text, scale, values in (
        ("k1=0.1:0.9:9", "linear", tenths),  # without the noise of equal steps
        ("x=-1:1:3", "linear", (-1, 0, 1)),
        ("mu=100:10000:3:log", "geometric", (100, 1000, 10_000)),
        (" b = 0.3 , 0.5 ", "given", (0.3, 0.5)),
        ("stem=none,english", "given", ("none", "english")),
        ("idf=true,false", "given", (True, False)),
        ("b=0.75", "given", (0.75,)),
        ("n=1_000,2000", "given", ("1_000", 2000)),  # a number in Python, not in the name of a file
    ):
        axis = parse_axis(text)
        assert (axis.scale, axis.values) == (scale, values), text
    ratios = [b / a for a, b in itertools.pairwise(geometric("mu", 100, 5000, 9).values)]
    assert ratios == pytest.approx([50 ** (1 / 8)] * 8)
    assert Axis("a", (1, True)).values == (1, True)  # true is another value than one


def test_a_wrong_axis_or_space_is_refused():
    for text, said in (
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
        ("b=1,1.0", "duplicate value"),
        ("b=0.3,nan", "not a finite number"),
        ("k1=0:1:100000000", "at most 10,000"),
    ):
        with pytest.raises(InputError, match=said):
            parse_axis(text)
    with pytest.raises(InputError, match="duplicate parameter k1"):
        space_of(["k1=1,2", "k1=3,4"])
    with pytest.raises(InputError, match="1,000,000,000 points"):
        Space(tuple(given(name, range(1000)) for name in "abc"))
    for options, said in (
        ({"how": "best"}, "expected one of grid, random, optuna"),
        ({"trials": 5}, "a grid tries all points"),
        ({"how": "random", "trials": 0}, "expected a positive integer"),
    ):
        with pytest.raises(InputError, match=said):
            Search(space_of(["k1=1,2"]), **options)
    with pytest.raises(InputError, match="give a space, too"):
        Search(Space(), "random", 3)


def test_the_last_axis_is_fastest():
    space = space_of(["a=1,2", "b=x,y,z"])
    points = [tuple(point.values()) for point in space.points()]
    assert points[:4] == [(1, "x"), (1, "y"), (1, "z"), (2, "x")]
    assert len(points) == len(space) == 6
    assert Space().points() == ({},)  # a space without axes is one point
    assert Search().edges({}) == ()


def test_edges_are_at_the_lowest_and_highest_value():
    space = space_of(["k1=1,2,3", "b=0.9,0.1,0.5", "stem=yes,no", "fixed=7"])
    edges = {tuple(point.values())[:2]: Search(space).edges(point) for point in space.points()}
    assert edges[2, 0.5] == ()
    assert edges[1, 0.5] == ("k1",)
    assert edges[2, 0.1] == ("b",)  # by value, wherever it is in the list
    assert edges[3, 0.9] == ("k1", "b")
    # Edges of random points are those of what was drawn.
    search = Search(Space((linear("a", 0.0, 1.0, 3),)), "random", 4)
    values = sorted(point["a"] for point in search.points)
    assert [len(search.edges({"a": value})) for value in values] == [1, 0, 0, 1]
    assert 0 < values[0] < values[-1] < 1


def test_a_sample_is_seeded_within_the_ends_and_begins_like_a_shorter_one():
    axes = (linear("a", 0.0, 1.0, 3), geometric("m", 10.0, 1000.0, 3), given("s", ["x", "y"]))
    drawn = Space(axes).sample(200, seed=4)
    assert drawn[:50] == Space(axes).sample(50, seed=4)
    assert drawn != Space(axes).sample(200, seed=5)
    assert all(0 <= point["a"] <= 1 and 10 <= point["m"] <= 1000 for point in drawn)
    assert {point["s"] for point in drawn} == {"x", "y"}
    assert len({point["a"] for point in drawn}) == 200  # not three values of a grid
    # Half of the draws are below the geometric middle.
    below = sum(point["m"] < 100 for point in drawn)
    assert abs(below - 100) < 4 * math.sqrt(200) / 2


def test_integers_are_drawn_equally_often_ends_included():
    space = Space((linear("k", 1, 5, 5),))
    assert sorted(point["k"] for point in space.sample(99)) == [1, 2, 3, 4, 5]  # once each
    drawn = [space.sample(1, seed)[0]["k"] for seed in range(1000)]
    assert {type(value) for value in drawn} == {int}
    for value in range(1, 6):
        assert abs(drawn.count(value) - 200) < 4 * math.sqrt(1000 * 0.2 * 0.8)


@hypothesis_given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 80))
def test_a_sample_of_given_values_never_repeats(sizes, count):
    space = Space(tuple(given(f"p{number}", range(size)) for number, size in enumerate(sizes)))
    drawn = [tuple(point.values()) for point in space.sample(count)]
    assert len(drawn) == len(set(drawn)) == min(count, len(space))


# Optuna

LARGE = space_of(["b=0.0:1.0:11", "mu=10.0:1000.0:5:log", "stem=no,yes", "fixed=7"])


def hill(point):
    """Best at b .7, mu 200 with a stemmer."""
    distance = (point["b"] - 0.7) ** 2 + math.log10(point["mu"] / 200) ** 2
    return (point["stem"] == "yes") * 0.5 - distance


def tried(value, trials, seed=0, *, space=LARGE, higher=True):
    """The points tried; each one is asked for on three units."""
    pytest.importorskip("optuna", reason="the extra optuna is not installed")

    def values(points):
        return np.array([[value(point) + shift for shift in (-0.1, 0.0, 0.1)] for point in points])

    search = Search(space, "optuna", trials)
    return proposed_points(search, values, seed=seed, higher_is_better=higher)


def test_trials_are_seeded_in_order_and_within_the_space():
    asked = []
    points = tried(lambda point: asked.append(dict(point)) or hill(point), 30, 5)
    assert asked[::3] == [*points]
    assert points == tried(hill, 30, 5)
    assert points != tried(hill, 30, 6)
    for point in points:
        assert 0 <= point["b"] <= 1
        assert 10 <= point["mu"] <= 1000
        assert point["stem"] in {"no", "yes"}
        assert point["fixed"] == 7
    # The first ones are random; half of them are below the geometric middle.
    below = sum(point["mu"] < 100 for seed in range(12) for point in tried(hill, 10, seed))
    assert abs(below - 60) < 4 * math.sqrt(120) / 2
    integers = space_of(["k=1:9:9", "n=1:16:5:log"])
    points = tried(lambda point: point["k"], 20, space=integers)
    assert {type(value) for point in points for value in point.values()} == {int}


def test_trials_learn_and_downhill_too():
    """After the random start, TPE proposes better points than chance does, on average."""
    points = tried(hill, 100)
    chance = np.mean([hill(point) for point in LARGE.sample(100)])
    assert np.mean([hill(point) for point in points[50:]]) > chance + 0.2
    assert tried(lambda point: -hill(point), 40, higher=False) == points[:40]


def test_a_point_that_fails_does_not_end_the_search():
    points = tried(lambda point: math.nan if point["stem"] == "yes" else hill(point), 20)
    assert len(points) == 20
    assert 0 < sum(point["stem"] == "yes" for point in points) < 20


def test_the_log_of_optuna_is_silent_and_left_as_it_was(capfd):
    optuna = pytest.importorskip("optuna", reason="the extra optuna is not installed")
    before = optuna.logging.get_verbosity()
    for level in (optuna.logging.INFO, optuna.logging.ERROR):
        optuna.logging.set_verbosity(level)
        tried(hill, 3)
        assert optuna.logging.get_verbosity() == level
    optuna.logging.set_verbosity(before)
    assert capfd.readouterr().err == ""
