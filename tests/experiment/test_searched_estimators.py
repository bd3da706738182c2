"""Random search and Optuna for estimators: on training data alone, recorded, the same anywhere."""

import json

import numpy as np
import polars as pl
import pytest
from estimator_data import NOISY, Fragile, Y
from experiment_data import table_bytes
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from heldout import Experiment, HoldOut, InputError, KFold, Results

pytest.importorskip("optuna", reason="needs the extra optuna")

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


def points(results, system, fold):
    """What was tried for a split, or for use."""
    return [json.loads(one) for one in of(results.surface, system, fold)["parameters"]]


class Tree(ClassifierMixin, BaseEstimator):
    """A tree with one parameter: a whole setting."""

    def __init__(self, setting=None, random_state=None):
        self.setting, self.random_state = setting, random_state

    def fit(self, rows, labels):
        self.tree_ = DecisionTreeClassifier(**self.setting, random_state=self.random_state)
        self.classes_ = self.tree_.fit(rows, labels).classes_
        return self

    def predict(self, rows):
        return self.tree_.predict(rows)

    def predict_proba(self, rows):
        return self.tree_.predict_proba(rows)


def test_each_search_is_a_grid_of_its_trials(tmp_path):
    """A grid of the same points gives the same means, choices and predictions, split by split."""
    results = classify({"tree": TREE}).run(tmp_path / "out")
    for fold in (0, 1, 2, None):
        tried = points(results, "tree", fold)
        assert len(tried) == TREE["trials"]
        for point in tried:
            assert 1 <= point["min_samples_leaf"] <= 40
            assert 1e-4 <= point["min_impurity_decrease"] <= 0.1
        again = classify({"tree": (Tree(), {"setting": tried})}).run()
        surfaces = [of(one.surface, "tree", fold)["mean"] for one in (results, again)]
        assert surfaces[0].equals(surfaces[1])
        if fold is None:
            assert results.summary[0]["ship"] == tried[again.summary[0]["ship_number"]]
            continue
        folds = [of(one.folds, "tree", fold)["train", "held_out"] for one in (results, again)]
        assert folds[0].equals(folds[1])
        (number,) = of(again.folds, "tree", fold)["number"]
        assert results.chosen("tree")[fold] == tried[number]
        assert of(results.held_out, "tree", fold).equals(of(again.held_out, "tree", fold))
    assert len(set(results.surface["parameters"])) > 2 * TREE["trials"]  # searches of their own
    assert "optuna" in results.manifest["versions"]
    assert str(Results.read(tmp_path / "out")) == str(results)
    assert "min_samples_leaf=" in str(results)


def test_a_random_search_is_a_grid_of_points_between_the_ends():
    results = classify({"tree": {**TREE, "search": "random", "trials": 5}}).run()
    tried = points(results, "tree", None)
    assert len(tried) == len({point["min_impurity_decrease"] for point in tried}) == 5
    assert all(1e-4 < point["min_impurity_decrease"] < 0.1 for point in tried)
    again = classify({"tree": (Tree(), {"setting": tried})}).run()
    assert results.surface.drop("parameters").equals(again.surface.drop("parameters"))
    assert results.held_out.equals(again.held_out)


@pytest.mark.parametrize("plan", [FOLDS, HoldOut(0.3, validation=0.3, stratify="labels")])
def test_what_is_held_out_touches_no_search(plan):
    fields = {"plan": plan} if plan is not FOLDS else {"plan": plan, "inner": 3}
    clean = Experiment(task="classification", data=(NOISY, Y), systems={"tree": TREE}, **fields)
    before, split = clean.run(), clean.check().splits[0]
    rows = np.where((split.test > 0)[:, None], 1e6, NOISY)
    after = clean.model_copy(update={"data": (rows, Y)}).run()
    for fold in (0, None) if plan is not FOLDS else (0,):
        mine, theirs = (of(one.surface, "tree", fold) for one in (before, after))
        assert mine.equals(theirs)
    assert not of(before.held_out, "tree", 0).equals(of(after.held_out, "tree", 0))


def test_a_stopped_search_goes_on_to_the_same_bytes(folder):
    """Stopped amid the search of the second split, and resumed."""
    whole = Experiment.read(folder / "experiment.toml")
    tried = points(whole.run(folder / "whole"), "mine", None)
    assert all(0.5 <= one["power"] <= 3 and one["columns"] in ([0], [0, 1]) for one in tried)
    (folder / "trap").write_text("12")  # a search of a split: 4 trials, 2 inner folds
    with pytest.raises(KeyboardInterrupt):
        whole.run(folder / "stopped")
    (folder / "trap").write_text("100")
    whole.run(folder / "stopped", resume=True)
    # Four searches and three tests; the first search was not done again.
    assert (folder / "fits").stat().st_size == 13 + 3 * 8 + 3
    assert table_bytes(folder / "stopped") == table_bytes(folder / "whole")


def test_a_trial_that_fails_is_never_chosen_and_warnings_are_counted():
    def fragile(*does):
        table = {"estimator": Fragile(), "search": "optuna", "trials": 8}
        return classify({"f": {**table, "space": {"does": list(does), "level": [0, 1]}}}).run()

    results = fragile("fail", "well")
    assert {point["does"] for point in results.chosen("f")} == {"well"}
    assert "does=fail, level=0 failed on" in str(results)
    # 8 trials on 3 inner folds of 3 training sides and of all data, and 3 held-out sides.
    assert f"hardly converged (on {8 * 3 * 4 + 3} fits)" in str(fragile("warn"))
    with pytest.raises(InputError, match="f, r0/f0: every parameter setting failed, the first"):
        fragile("fail")


@pytest.mark.parametrize("search", ["random", "optuna"])
def test_values_of_any_kind(search, tmp_path):
    weights = [None, "balanced", {0: 1.0, 1: 2.0, 2: 1.0}]
    space = {"class_weight": weights, "C": [0.1, 1.0]}
    table = {"estimator": LogisticRegression(max_iter=500), "search": search, "trials": 4}
    results = classify({"l": {**table, "space": space}}, inner=2).run(tmp_path / "out")
    for point in results.chosen("l"):
        assert point["C"] in space["C"]
        assert point["class_weight"] in (None, "balanced", str(weights[2]))
    # Values at an end are said of numbers alone.
    assert set(results.folds.filter(system="l")["edges"]) == {"C"}
    other = {**table, "space": {**space, "class_weight": [None, "balanced", {0: 3.0}]}}
    with pytest.raises(InputError, match="another experiment"):
        classify({"l": other}, inner=2).run(tmp_path / "out", resume=True)


def test_fixed_parameters_of_an_object():
    table = {"estimator": KNeighborsClassifier(), "parameters": {"p": 1}}
    results = classify({"k": table}).run()
    theirs = classify({"k": KNeighborsClassifier(p=1)}).run()
    assert results.value("k", "accuracy") == theirs.value("k", "accuracy")
    assert results.chosen("k") == [{"p": 1}] * 3


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"search": "tpe"}, "search: should be 'grid', 'random' or 'optuna', not 'tpe'"),
        ({"trials": None}, "trials = None: expected a positive integer"),
        ({"trials": 0}, "trials: should be greater than or equal to 1, not 0"),
        ({"search": "grid"}, "trials is for search ="),
        ({"search": None}, "trials is for search ="),
        ({"space": {}}, "trials is the number of points drawn from a space"),
        ({"space": [{"max_depth": [1]}]}, "instead of several grids"),
        ({"estimator": None}, "Cannot clone object 'None'"),
    ],
)
def test_refused_before_anything_runs(table, complaint):
    with pytest.raises(InputError, match=complaint):
        classify({"tree": {**TREE, **table}}).check()
