"""Search with Optuna, the real package."""

import math

import numpy as np
import pytest

from heldout.tune.search import Search, proposed_points
from heldout.tune.space import Space, geometric, given, linear

SPACE = Space(
    (
        linear("b", 0.0, 1.0, 11),
        geometric("mu", 10.0, 1000.0, 5),
        given("stem", ["no", "yes"]),
        given("fixed", [7]),
    )
)


def hill(point):
    """Best at b .7, mu 200 with a stemmer."""
    distance = (point["b"] - 0.7) ** 2 + math.log10(point["mu"] / 200) ** 2
    return (point["stem"] == "yes") * 0.5 - distance


def tried(value, trials, seed=0, *, space=SPACE, higher=True):
    """Return the points tried; each one is asked for on three units."""

    def values(points):
        return np.array([[value(point) + shift for shift in (-0.1, 0.0, 0.1)] for point in points])

    search = Search(space, "optuna", trials)
    return proposed_points(search, values, seed=seed, higher_is_better=higher)


class TestOptuna:
    @pytest.fixture(autouse=True)
    def _needs_optuna(self):
        pytest.importorskip("optuna", reason="the extra optuna is not installed")

    def test_its_trials_are_seeded_and_in_order(self):
        asked = []
        points = tried(lambda point: asked.append(dict(point)) or hill(point), 30, 5)
        assert asked[::3] == [*points]
        assert points == tried(hill, 30, 5)
        assert points != tried(hill, 30, 6)

    def test_points_are_within_the_space(self):
        for point in tried(hill, 30):
            assert 0 <= point["b"] <= 1
            assert 10 <= point["mu"] <= 1000
            assert point["stem"] in {"no", "yes"}
            assert point["fixed"] == 7

    def test_it_learns_and_downhill_too(self):
        """After the random start, TPE proposes better points than chance does, on average."""
        points = tried(hill, 100)
        chance = np.mean([hill(point) for point in SPACE.sample(100)])
        assert np.mean([hill(point) for point in points[50:]]) > chance + 0.2
        assert tried(lambda point: -hill(point), 40, higher=False) == points[:40]

    def test_whole_numbers_stay_whole(self):
        space = Space((linear("k", 1, 9, 9), geometric("n", 1, 16, 5)))
        points = tried(lambda point: point["k"], 20, space=space)
        assert {type(value) for point in points for value in point.values()} == {int}

    def test_a_point_that_fails_does_not_end_the_search(self):
        def value(point):
            return math.nan if point["stem"] == "yes" else hill(point)

        points = tried(value, 20)
        assert len(points) == 20
        failed = [point["stem"] == "yes" for point in points]
        assert 0 < sum(failed) < 20

    def test_its_log_is_silent_and_left_as_it_was(self, capfd):
        import optuna

        before = optuna.logging.get_verbosity()
        tried(hill, 3)
        assert optuna.logging.get_verbosity() == before
        assert capfd.readouterr().err == ""
