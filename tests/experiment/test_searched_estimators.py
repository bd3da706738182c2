"""Random search and Optuna for estimators: on train sides alone, recorded, the same anywhere."""

import json

import numpy as np
import polars as pl
import pytest
from experiment_data import table_bytes
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from heldout import Experiment, InputError, KFold, Results
from heldout.experiment.experiment import JOURNAL
from heldout.experiment.problems import ExperimentError
from heldout.report.experiment import results_text
from heldout.tune.space import Space, parse_axis

pytest.importorskip("optuna", reason="needs the extra optuna")

X, Y = load_iris(return_X_y=True)
NOISY = X + np.random.default_rng(1).normal(scale=1.5, size=X.shape)
FOLDS = KFold(3, stratify="labels", seed=3)
TREE = {
    "estimator": DecisionTreeClassifier(),
    "space": {"min_samples_leaf": "1:40:40", "min_impurity_decrease": "0.0001:0.1:4:log"},
    "search": "optuna",
    "trials": 6,
}
TOML = """
task = "classification"
inner = 2
seed = 4
[data]
file = "rows.csv"
target = "label"
[plan]
folds = 3
[[systems]]
name = "mine"
estimator = "own.py:Own"
space = {power = "0.5:3:4", columns = [[0], [0, 1]]}
search = "optuna"
trials = 4
"""
OWN = """
from pathlib import Path
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

HERE = Path(__file__).parent

class Own(ClassifierMixin, BaseEstimator):
    def __init__(self, power=1.0, columns=(0,)):
        self.power, self.columns = power, columns

    def fit(self, rows, labels):
        if (HERE / "trap").exists():
            with (HERE / "fits").open("a") as file:
                file.write("x")
            if (HERE / "fits").stat().st_size > int((HERE / "trap").read_text()):
                raise KeyboardInterrupt
        self.model_ = KNeighborsClassifier(p=self.power).fit(self._part(rows), labels)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, rows):
        return self.model_.predict(self._part(rows))

    def _part(self, rows):
        return getattr(rows, "to_numpy", lambda: rows)()[:, list(self.columns)]
"""


def classify(systems, data=(NOISY, Y), **fields):
    given = {"plan": FOLDS, "inner": 3, **fields}
    return Experiment(task="classification", data=data, systems=systems, **given)


def of(frame, system, fold):
    where = pl.col("fold").is_null() if fold is None else pl.col("fold") == fold
    return frame.filter((pl.col("system") == system) & where)


@pytest.fixture
def folder(tmp_path):
    """An experiment in a file, with an estimator of its own."""
    frame = pl.DataFrame(NOISY, schema=["a", "b", "c", "d"])
    frame.with_columns(label=pl.Series(Y.astype(str))).write_csv(tmp_path / "rows.csv")
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "experiment.toml").write_text(TOML)
    return tmp_path


def test_each_search_is_a_grid_of_its_trials(tmp_path):
    """A grid of the same points gives the same means, choices and predictions, split by split."""
    results = classify({"tree": TREE}).run(tmp_path / "out")
    for fold in (0, 1, 2, None):
        trials = of(results.surface, "tree", fold)
        assert trials.height == TREE["trials"]
        points = [json.loads(one) for one in trials["parameters"]]
        assert all(
            1 <= one["min_samples_leaf"] <= 40 and 1e-4 <= one["min_impurity_decrease"] <= 0.1
            for one in points
        )
        grid = [{name: [value] for name, value in one.items()} for one in points]
        again = classify({"tree": (TREE["estimator"], grid)}).run()
        theirs = of(again.surface, "tree", fold)
        columns = ["parameters", "mean"]
        assert trials.select(columns).equals(theirs.select(columns))
        if fold is None:
            assert results.summary[0]["ship"] == again.summary[0]["ship"]
            continue
        columns = ["parameters", "train", "held_out"]
        mine, same = (of(one.folds, "tree", fold).select(columns) for one in (results, again))
        assert mine.equals(same)
        assert of(results.held_out, "tree", fold).equals(of(again.held_out, "tree", fold))
    assert len(set(results.surface["parameters"])) > 2 * TREE["trials"]  # searches of their own
    assert "optuna" in results.manifest["versions"]
    read = Results.read(tmp_path / "out")
    assert results_text(read) == results_text(results)
    assert "min_samples_leaf=" in results_text(read)


def test_what_is_held_out_touches_no_search():
    clean = classify({"tree": TREE})
    before, split = clean.run(), clean.check().splits[0]
    rows = np.where((split.test > 0)[:, None], 1e6, NOISY)
    after = classify({"tree": TREE}, data=(rows, Y)).run()
    mine, theirs = (of(one.surface, "tree", 0) for one in (before, after))
    assert mine.equals(theirs)
    assert not of(before.held_out, "tree", 0).equals(of(after.held_out, "tree", 0))


def test_a_stopped_search_goes_on_to_the_same_bytes(folder):
    """Stopped amid the search of the second split, and resumed."""
    whole = Experiment.read(folder / "experiment.toml")
    results = whole.run(folder / "whole")
    points = [json.loads(one) for one in of(results.surface, "mine", None)["parameters"]]
    assert all(0.5 <= one["power"] <= 3 and one["columns"] in ([0], [0, 1]) for one in points)
    (folder / "trap").write_text("12")  # a search of a split: 4 trials, 2 inner folds, 1 test
    with pytest.raises(KeyboardInterrupt):
        whole.run(folder / "stopped")
    lines = (folder / "stopped" / JOURNAL).read_bytes().splitlines()
    assert len(lines) == 2  # the experiment, and the first search
    (folder / "trap").unlink()
    whole.run(folder / "stopped", resume=True)
    assert table_bytes(folder / "stopped") == table_bytes(folder / "whole")


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails, or warns, at some values."""

    def __init__(self, does="well"):
        self.does = does

    def fit(self, rows, labels):
        del rows
        if self.does == "fail":
            raise RuntimeError("cannot do this\nnor that")
        if self.does == "warn":
            import warnings

            warnings.warn("hardly converged", UserWarning, stacklevel=1)
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows):
        return np.full(len(rows), self.classes_[0])


def test_a_trial_that_fails_is_never_chosen_and_warnings_are_counted():
    table = {"estimator": Fragile(), "search": "optuna", "trials": 8}
    results = classify({"f": {**table, "space": {"does": ["fail", "well"]}}}).run()
    assert all(point == {"does": "well"} for point in results.chosen("f"))
    assert "does=fail failed on" in results_text(results)
    warned = classify({"f": {**table, "space": {"does": ["warn"]}}}).run()
    # 8 trials on 3 inner folds of 3 train sides and of everything, and 3 held-out sides.
    assert f"hardly converged (on {8 * 3 * 4 + 3} fits)" in results_text(warned)
    with pytest.raises(
        InputError, match=r"f/search/r0/f0: every parameter setting failed, the first with Run"
    ):
        classify({"f": {**table, "space": {"does": ["fail"]}}}).run()


def test_random_search_draws_between_the_ends():
    table = {**TREE, "search": "random", "trials": 5}
    (system, *_) = classify({"tree": table}).check().systems
    axes = [f"{name}={values}" for name, values in TREE["space"].items()]
    assert system.points() == Space(tuple(map(parse_axis, axes))).sample(5)
    results = classify({"tree": table}).run()
    assert of(results.surface, "tree", None).height == 5
    grid = [{name: [value] for name, value in one.items()} for one in system.points()]
    again = classify({"tree": (TREE["estimator"], grid)}).run()
    assert results.surface.equals(again.surface)
    assert results.held_out.equals(again.held_out)


@pytest.mark.parametrize("search", ["random", "optuna"])
def test_values_of_any_kind(search):
    weights = [None, "balanced", {0: 1.0, 1: 2.0, 2: 1.0}]
    space = {"class_weight": weights, "C": [0.1, 1.0]}
    table = {"estimator": LogisticRegression(max_iter=500), "space": space, "search": search}
    results = classify({"l": {**table, "trials": 4}}, inner=2).run()
    for point in results.chosen("l"):
        assert point["C"] in space["C"]
        assert point["class_weight"] in (None, "balanced", str(weights[2]))
    other = {**table, "space": {**space, "class_weight": [None, "balanced", {0: 3.0}]}}
    keys = [classify({"l": {**one, "trials": 4}}).check().systems[0] for one in (table, other)]
    assert keys[0].describe() != keys[1].describe()
    # Values at an end are said of numbers alone.
    assert set(results.folds.filter(pl.col("system") == "l")["edges"]) == {"C"}


def test_fixed_parameters_of_an_object():
    table = {"estimator": KNeighborsClassifier(), "parameters": {"p": 1}}
    results = classify({"k": table}).run()
    theirs = classify({"k": KNeighborsClassifier(p=1)}).run()
    assert results.value("k", "accuracy") == theirs.value("k", "accuracy")


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"search": "tpe"}, "search: unknown search 'tpe': expected one of grid, random, optuna"),
        ({"trials": None}, "trials = None: expected a positive integer"),
        ({"trials": 0}, "trials: expected at least 1, not 0"),
        ({"search": "grid"}, "trials is for search ="),
        ({"search": None}, "trials is for search ="),
        ({"space": {}}, "trials is the number of points drawn from a space"),
        ({"space": [{"max_depth": [1]}]}, "one table of names and values"),
        ({"space": {"max_depth": 3}}, "expected a list of values"),
        ({"space": {"depth": [1, 2]}}, "no parameter 'depth'"),
        ({"space": {"max_depth": "-3:3:7"}}, "Got -3 instead"),
        ({"parameters": {"depth": 1}}, "Invalid parameter 'depth'"),
        ({"estimator": DecisionTreeClassifier}, "expected|estimator is missing"),
    ],
)
def test_refused_before_anything_runs(table, complaint):
    with pytest.raises(ExperimentError, match=complaint):
        classify({"tree": {**TREE, **table}}).check()
