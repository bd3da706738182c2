"""Search with Optuna, the real package."""

import math

import numpy as np
import pytest

from heldout.tune.search import search_optuna
from heldout.tune.space import Space, geometric, given, linear

SPACE = Space(
    (linear("b", 0.0, 1.0, 11), geometric("mu", 10.0, 1000.0, 5), given("stem", ["no", "yes"]))
)


def hill(point):
    """Best at b .7, mu 200 with a stemmer."""
    distance = (point["b"] - 0.7) ** 2 + math.log10(point["mu"] / 200) ** 2
    return (point["stem"] == "yes") * 0.5 - distance


def by_unit(point):
    return [hill(point) + shift for shift in (-0.1, 0.0, 0.1)]


class TestOptuna:
    @pytest.fixture(autouse=True)
    def _needs_optuna(self):
        pytest.importorskip("optuna", reason="the extra optuna is not installed")

    def test_its_trials_are_seeded_and_in_order(self):
        seen = []
        found = search_optuna(lambda point: seen.append(dict(point)) or hill(point), SPACE, 30, 5)
        assert list(found.points) == seen
        assert found.points == search_optuna(hill, SPACE, 30, seed=5).points
        assert found.points != search_optuna(hill, SPACE, 30, seed=6).points
        assert found.best == max(found.points, key=hill)

    def test_points_are_within_the_space(self):
        for point in search_optuna(by_unit, SPACE, 30).points:
            assert 0 <= point["b"] <= 1
            assert 10 <= point["mu"] <= 1000
            assert point["stem"] in {"no", "yes"}

    def test_it_learns(self):
        """After the random start, TPE proposes better points than chance does, on average."""
        learnt = np.mean([hill(point) for point in search_optuna(hill, SPACE, 100).points[50:]])
        chance = np.mean([hill(point) for point in SPACE.sample(100)])
        assert learnt > chance + 0.2

    def test_it_learns_downhill_too(self):
        options = {"seed": 0, "higher_is_better": False}
        down = search_optuna(lambda point: -hill(point), SPACE, 40, **options)
        assert down.points == search_optuna(hill, SPACE, 40, seed=0).points

    def test_whole_numbers_stay_whole(self):
        space = Space((linear("k", 1, 9, 9), geometric("n", 1, 16, 5)))
        for point in search_optuna(lambda point: point["k"], space, 20).points:
            assert isinstance(point["k"], int)
            assert isinstance(point["n"], int)

    def test_a_point_that_fails_is_left_out_and_the_search_goes_on(self):
        found = search_optuna(
            lambda point: math.nan if point["stem"] == "yes" else hill(point), SPACE, 20
        )
        assert len(found.points) == 20
        assert found.best["stem"] == "no"

    def test_its_log_is_silent_and_left_as_it_was(self, capfd):
        import optuna

        before = optuna.logging.get_verbosity()
        search_optuna(hill, SPACE, 3)
        assert optuna.logging.get_verbosity() == before
        assert capfd.readouterr().err == ""
