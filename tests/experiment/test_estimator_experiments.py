"""Estimators in an experiment: as bare scikit-learn loops do, and what those cannot say."""

import json
import warnings
from dataclasses import replace
from math import sqrt

import numpy as np
import polars as pl
import pytest
from scipy.stats import t
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from heldout import (
    Bootstrap,
    Experiment,
    HeldoutError,
    HoldOut,
    InputError,
    KFold,
    LeaveOneOut,
    compare,
)

# Rows with classes that are not easy to predict.
X, Y = load_iris(return_X_y=True)
NOISY = X + np.random.default_rng(1).normal(scale=1.5, size=X.shape)
BINARY = (NOISY[50:], Y[50:])
FOLDS = KFold(3, stratify="labels", seed=3)
THREE_SIDES = HoldOut(0.25, validation=0.25, repeats=3)
KNN = make_pipeline(StandardScaler(), KNeighborsClassifier())
GRID = {"kneighborsclassifier__n_neighbors": [1, 5, 15, 31]}


def classify(systems, data=(NOISY, Y), **fields):
    return Experiment(task="classification", data=data, systems=systems, **{"plan": FOLDS} | fields)


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails, warns or says strange things where it is told to."""

    def __init__(self, does="well", level=0):
        self.does, self.level = does, level

    def fit(self, rows, labels):
        del rows
        if self.does == "fail":
            raise RuntimeError("cannot do this\nnor that")
        if self.does == "warn":
            warnings.warn("hardly converged", UserWarning, stacklevel=1)
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows):
        return np.full(len(rows), "strange" if self.does == "stray" else self.classes_[self.level])

    def predict_proba(self, rows):
        return np.full((len(rows), 3), 0.5 if self.does == "more" else 1 / 3)


# ---- as bare loops ------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", [FOLDS, THREE_SIDES])
def test_choices_and_scores_are_those_of_bare_loops(plan):
    """By inner folds, or on the validation part; the best is fitted on the training side alone."""
    fields = {} if plan is THREE_SIDES else {"inner": 3, "seed": 8}
    experiment = classify({"k-NN": (KNN, GRID)}, plan=plan, **fields)
    splits, results = experiment.check().splits, experiment.run()
    means, total = results.folds.filter(system="k-NN")["train"].to_list(), 0
    folds = results.fold_predictions("k-NN")
    for number, (split, fold) in enumerate(zip(splits, folds, strict=True)):
        train, test = split.rows("train"), split.rows("test")
        if plan is THREE_SIDES:
            tried = np.concatenate([train, split.rows("validation")])
            pairs = [(np.arange(len(train)), np.arange(len(train), len(tried)))]
        else:
            tried, inner = train, split.inner(KFold(3, stratify="labels", seed=8))
            # The rows are in order: these are their places among the training rows.
            pairs = [
                [np.searchsorted(train, one.rows(side)) for side in ("train", "test")]
                for one in inner
            ]
        search = GridSearchCV(KNN, GRID, cv=pairs, refit=False).fit(NOISY[tried], Y[tried])
        assert results.chosen("k-NN")[number] == search.best_params_
        assert means[number] == pytest.approx(search.best_score_)
        model = KNN.set_params(**search.best_params_).fit(NOISY[train], Y[train])
        names = [fold.predictions.classes[code] for code in fold.predictions.predicted.tolist()]
        assert names == [str(label) for label in model.predict(NOISY[test]).tolist()]
        assert fold.predictions.scores == pytest.approx(model.predict_proba(NOISY[test]))
        total += search.cv_results_["mean_test_score"]
    if plan is THREE_SIDES:  # for use, by all validation parts
        overall = results.surface.filter(pl.col("repeat").is_null())["mean"]
        assert overall.to_list() == pytest.approx(total / 3)
        assert results.summary[0]["ship_number"] == overall.arg_max()


def test_untuned_scores_are_those_of_cross_val_score():
    two = NOISY, Y > 0
    systems = {"logistic": LogisticRegression(), "svm": LinearSVC(random_state=0)}
    results = classify(systems, two, plan=FOLDS, measures=["accuracy", "AUC"]).run()
    models = {**systems, "(majority class)": DummyClassifier(strategy="most_frequent")}
    for name, model in models.items():
        theirs = cross_val_score(model, *two, cv=FOLDS)
        assert results.split_values(name) == pytest.approx(theirs)
    # A row that was drawn several times is fitted several times.
    plan = Bootstrap(3)
    drawn = classify({"logistic": LogisticRegression()}, two, plan=plan)
    for split, score in zip(
        drawn.check().splits, drawn.run().split_values("logistic"), strict=True
    ):
        train, test = np.repeat(np.arange(150), split.train), split.test > 0
        model = LogisticRegression().fit(NOISY[train], two[1][train])
        assert score == pytest.approx(model.score(NOISY[test], two[1][test]))
    # The decision function of two classes counts for the last.
    theirs = cross_val_score(systems["svm"], *two, cv=FOLDS, scoring="roc_auc")
    assert results.split_values("svm", "AUC") == pytest.approx(theirs)


TREE = {
    "estimator": DecisionTreeClassifier(),
    "space": {"min_samples_leaf": "1:40:40", "min_impurity_decrease": "0.0001:0.1:4:log"},
    "search": "random",
    "trials": 6,
}


@pytest.mark.parametrize("plan", [HoldOut(0.3, stratify="labels"), KFold(2, repeats=2)])
def test_what_is_held_out_touches_no_choice_and_no_search(plan):
    """Held-out rows and labels are spoiled, split by split: choices and inner scores stay."""
    systems = {"k-NN": (KNN, {"kneighborsclassifier__n_neighbors": [1, 15]}), "tree": TREE}
    clean = classify(systems, plan=plan, inner=2)
    before, splits = clean.run(), clean.check().splits
    for split in splits:
        held = split.test > 0
        rows = np.where(held[:, None], 1e6, NOISY)
        # A stratified plan goes by the labels: others would be other folds.
        labels = Y if plan.stratify else np.where(held, 2 - Y, Y)
        after = classify(systems, (rows, labels), plan=plan, inner=2).run()
        where = {"fold": split.key.fold, "repeat": split.key.repeat}
        assert before.surface.filter(**where).equals(after.surface.filter(**where))
        choices = [
            one.folds.filter(pl.col("system").is_in([*systems]), **where) for one in (before, after)
        ]
        assert choices[0].select("number", "train").equals(choices[1].select("number", "train"))
        assert not choices[0]["held_out"].equals(choices[1]["held_out"])


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers every row that it was fitted on; predicts what its seed says."""

    seen: list = []  # noqa: RUF012 - shared by all copies, to be looked into

    def __init__(self, level=0, random_state=None):
        self.level, self.random_state = level, random_state

    def fit(self, rows, labels):
        Spy.seen.append(rows[:, 0].astype(int).tolist())
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows):
        return np.random.default_rng(self.random_state).choice(self.classes_, len(rows))


def test_fits_see_rows_of_their_training_side_alone_and_whole_groups():
    groups = np.arange(30) % 10
    data = {"X": np.arange(30.0)[:, None], "y": np.arange(30) % 2, "groups": groups}
    experiment = classify({"spy": (Spy(), {"level": [0, 1]})}, data, inner=3, plan=KFold(5))
    Spy.seen = []
    results = experiment.run()
    sides = [set(split.rows("train").tolist()) for split in experiment.check().splits]
    # Two points on 3 inner folds of 5 training sides and of all data, then one fit per split.
    assert len(Spy.seen) == 5 * 3 * 2 + 3 * 2 + 5
    for number, seen in enumerate(map(set, Spy.seen)):
        assert number >= 30 or seen < sides[number // 6]
        assert not {row % 10 for row in seen} & {row % 10 for row in set(range(30)) - seen}
    assert list(map(set, Spy.seen[-5:])) == sides
    for fold in results.fold_predictions("spy"):
        held = fold.predictions
        assert held.groups == tuple(str(int(unit) % 10) for unit in held.units)


def test_all_points_have_the_same_seed_and_runs_have_seeds_of_their_own():
    results = classify({"drawn": (Spy(), {"level": [0, 1, 2]})}).run()
    assert set(results.folds.filter(system="drawn")["number"]) == {0}
    assert results.surface["mean"].n_unique() > 1
    systems = {"drawn": Spy(random_state=0), "k-NN": KNeighborsClassifier()}
    results, again, other = (classify(systems, runs=3, seed=seed).run() for seed in (0, 0, 1))
    assert results.spread("drawn") > 0 == results.spread("k-NN")
    # The unit of a test is the fold, not fold × run.
    assert len(results.scores().units) == 3
    assert "sd over runs" in str(results)
    assert again.split_values("drawn") == results.split_values("drawn")
    assert other.split_values("drawn") != results.split_values("drawn")


# ---- searches -----------------------------------------------------------------------------------


def of(frame, system, fold):
    return frame.filter((pl.col("system") == system) & (pl.col("fold") == fold))


@pytest.mark.parametrize("search", ["random", "optuna"])
def test_searches_choose_the_best_of_their_trials(search):
    """And a fixed system with these parameters predicts the same for the fold."""
    if search == "optuna":
        pytest.importorskip("optuna", reason="needs the extra optuna")
    results = classify({"tree": TREE | {"search": search}}, inner=2).run()
    for fold in range(3):
        surface = of(results.surface, "tree", fold)
        tried = [json.loads(one) for one in surface["parameters"]]
        assert len(tried) == TREE["trials"]
        assert all(1 <= point["min_samples_leaf"] <= 40 for point in tried)
        best = tried[int(surface["mean"].round(9).arg_max())]
        assert results.chosen("tree")[fold] == best
        model = {"estimator": DecisionTreeClassifier(), "parameters": best}
        again = classify({"tree": model}).run()
        assert of(results.held_out, "tree", fold).equals(of(again.held_out, "tree", fold))


# ---- inference ----------------------------------------------------------------------------------


def test_the_majority_trap_of_leave_one_out():
    """Balanced classes: always wrong by leave-one-out, half wrong in truth."""
    data = np.zeros((40, 1)), ["a", "b"] * 20
    vote = {"vote": DummyClassifier(strategy="most_frequent")}
    fields = {"data": data, "measures": ["error"]}
    trapped = classify(vote, plan={"kind": "leave-one-out"}, **fields).run()
    assert trapped.estimate("vote")["value"] == 1.0
    assert trapped.estimate("vote")["interval"] == "Wilson"
    assert "wrong every time" in str(trapped)
    sound = classify(vote, plan={"folds": 10}, **fields).run()
    assert sound.estimate("vote")["value"] == 0.5
    assert "wrong every time" not in str(sound)


def test_repeated_folds_have_corrected_tests_and_intervals():
    systems = {"k-NN": KNeighborsClassifier(1), "logistic": LogisticRegression()}
    results = classify(systems, plan={"folds": 5, "repeats": 2}).run()
    values = [np.array(results.split_values(name)) for name in systems]
    test = results.compare().claims[0].outcomes[0]
    assert (test.test, results.unit) == ("corrected-t", "split")
    # The variance of a mean over 10 splits, each with a quarter as many test as training rows.
    gaps = values[1] - values[0]
    statistic = abs(gaps.mean()) / (gaps.std(ddof=1) * sqrt(1 / 10 + 1 / 4))
    assert test.p == pytest.approx(2 * t.sf(statistic, 9))
    half = t.ppf(0.975, 9) * values[0].std(ddof=1) * sqrt(1 / 10 + 1 / 4)
    interval, estimate = results.interval("k-NN"), results.estimate("k-NN")
    assert interval[1:3] == pytest.approx((values[0].mean() - half, values[0].mean() + half))
    assert (estimate["low"], estimate["high"]) == interval[1:3]


TWO = {"k-NN": KNN, "logistic": make_pipeline(StandardScaler(), LogisticRegression())}


@pytest.mark.parametrize(
    ("plan", "measure", "test", "interval"),
    [
        (HoldOut(0.5, stratify="labels"), "accuracy", "mcnemar", "Wilson"),
        (HoldOut(0.5, stratify="labels"), "AUC", "delong", "DeLong"),
        (LeaveOneOut(), "F1(macro)", "randomization", "bootstrap percentile"),
    ],
)
def test_a_hold_out_is_compared_row_by_row(plan, measure, test, interval):
    step = 3 if isinstance(plan, LeaveOneOut) else 1  # a fit for each row takes its time
    data = tuple(side[::step] for side in BINARY)
    results = classify(TWO, data, plan=plan, measures=[measure]).run()
    own = results.compare()
    given = [replace(results.predictions(name), folds=()) for name in TWO]
    theirs = compare(given, measure)
    assert own.claims[0].outcomes[0].test == test
    assert own.claims == theirs.claims
    estimate, mean = results.estimate("k-NN"), theirs.systems[0].mean
    assert estimate["interval"] == mean.method == interval
    assert [estimate[name] for name in ("value", "low", "high")] == pytest.approx(mean[:3])


def test_folds_can_be_compared_by_unit():
    """As the predictions of all folds together: the folds do not count."""
    results = classify(TWO).run()
    found = compare(results, by="unit")
    given = [replace(results.predictions(name), folds=()) for name in TWO]
    assert found.claims == compare(given, "accuracy").claims
    assert found.claims[0].outcomes[0].n == len(Y)
    assert "shared-training" in {note.code for note in found.warnings}
    assert results.compare().claims[0].outcomes[0].test == "corrected-t"


def test_a_measure_that_one_system_does_not_have():
    systems = {**TWO, "svm": LinearSVC()}
    results = classify(systems, measures=["accuracy", "log-loss"]).run()
    assert len(results.compare().claims) == 3
    # A classifier without probabilities has scores of its own, and no log loss.
    assert 0.5 < results.value("svm", "AUC") < 1
    with pytest.raises(HeldoutError, match="log-loss of svm does not exist"):
        results.value("svm", "log-loss")
    assert "log-loss is undefined for svm" in str(results)
    assert "not compared in log-loss" in str(results)
    # One system is compared with the first baseline, or with the one that is named.
    assert classify({"k-NN": KNN}).run().compare().scores.systems == ("(majority class)", "k-NN")
    named = classify({"k-NN": KNN}, baseline="(random by shares)").run()
    assert "(random by shares)" in named.compare().scores.systems


def test_regression_with_the_mean_beside_it():
    results = Experiment(
        task="regression",
        data=load_diabetes(return_X_y=True),
        systems={"ridge": (Ridge(), {"alpha": [0.01, 1.0, 1000]})},
        measures=["RMSE", "MAE"],
    ).run()
    for row in results.folds.filter(system="ridge").iter_rows(named=True):
        means = of(results.surface, "ridge", row["fold"]).filter(repeat=row["repeat"])["mean"]
        assert (row["number"], row["train"]) == (means.arg_min(), means.min())
    assert results.value("ridge", "RMSE") < results.value("(mean)", "RMSE")
    assert results.compare("MAE", systems=["(mean)", "ridge"]).claims[0].difference.estimate < 0


# ---- what fails ---------------------------------------------------------------------------------


def fragile(*does, search=None, **fields):
    table = {"estimator": Fragile(), "space": {"does": list(does), "level": [0, 1]}}
    return classify({"f": table | (search or {})}, **fields).run()


def test_a_point_that_fails_is_never_chosen_and_warnings_are_counted():
    drawn = {"search": "random", "trials": 4}
    for fields, times in (
        ({"inner": 3}, 3 * 4),  # on inner folds of 3 training sides and of all data
        ({"inner": 3, "search": drawn}, 3 * 4),
        ({"plan": THREE_SIDES}, 3),
    ):
        results = fragile("fail", "well", **fields)
        assert {point["does"] for point in results.chosen("f")} == {"well"}
        said = f"f: does=fail, level=0 failed on {times} fits and was not chosen there (first Run"
        assert said in str(results)
    results = fragile("warn", inner=3)
    # 2 settings on 3 inner folds of 3 training sides and of all data, and 3 held-out sides.
    times = 2 * 3 * 4 + 3
    assert f"f: UserWarning: hardly converged (on {times} fits)" in str(results)
    (note,) = (note for note in results.notes if note.code == "fit-warning")
    assert results.summary[0]["notes"] == [
        replace(note, text=note.text.removeprefix("f: ")).to_dict()
    ]


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (Fragile("fail"), r"f failed on split r0/f0: RuntimeError: cannot do this$"),
        (
            (Fragile(), {"does": ["fail", "fail"]}),
            "f, r0/f0: every parameter setting failed, the first with RuntimeError",
        ),
        (Fragile("stray"), "'strange', which is not a class"),
        (Fragile("more"), r"returned probabilities .* with the sum 1.5"),
    ],
)
def test_a_system_that_fails_is_named(system, message):
    with pytest.raises(InputError, match=message):
        classify({"f": system}, plan=FOLDS).run()


OF_NUMBERS = {"task": "regression", "systems": Ridge()}
SVM = {"svm": (LinearSVC(), {"C": [0.1, 1.0]})}
ONE_CLASS = (np.zeros((4, 1)), ["a", "a", "b", "b"])
FROM_0 = {"X": np.ones((20, 1)), "y": np.arange(20.0), "ids": [f"u{n}" for n in range(20)]}
LINEAR = "sklearn.svm:LinearSVC"
OF_SYSTEMS = [
    (3, "does not seem to be a scikit-learn estimator"),
    (KNeighborsClassifier, "instead of a class"),
    ((KNN, {"k": [1]}), "x: ValueError: Invalid parameter 'k'"),
    (StandardScaler(), "StandardScaler has no predict"),
    (Ridge(), "predicts numbers"),
    ({"estimator": LINEAR, "parameters": {"c": 1}}, "Invalid param"),
    (TREE | {"search": "tpe"}, "search: should be 'grid', 'random' or 'optuna', not 'tpe'"),
    (TREE | {"trials": None}, "trials = None: expected a positive integer"),
    (TREE | {"space": {}}, "trials is the number of points drawn from a space"),
]
OF_DATA = [
    ((X, np.ones(150, int)), "expected several classes, found 1"),
    ((X, Y[:9]), "expected one value for 150 rows"),
    ({"X": X, "y": Y, "ids": [1] * 150}, "appears twice"),
    (3, "int: expected a table"),
]
OF_FIELDS = [
    ({"systems": {"(majority class)": KNN}}, "2 systems are called"),
    ({"measures": ["recall(class=z)"]}, "unknown class 'z'"),
    ({"plan": {"folds": 5, "groups": "a"}}, "give groups with the data"),
    ({"inner": 149}, "149 folds but only 135"),
    ({"plan": HoldOut(0.2, validation=0.2), "inner": 3}, "validation part"),
    ({"task": "regression", "data": (X, ["a"] * 150)}, "expected finite numbers"),
    ({**OF_NUMBERS, "data": FROM_0, "measures": ["MAPE"]}, "u0"),
    ({"systems": SVM, "tune_for": "log-loss"}, "no predict_proba, so log-loss cannot be used"),
    (
        {"data": ONE_CLASS, "plan": {"kind": "test-set", "ids": ["2", "3"]}},
        "all training rows have the same class, a",
    ),
]


def test_what_cannot_be_is_refused_before_anything_runs():
    cases = [({"systems": {"x": system}}, message) for system, message in OF_SYSTEMS]
    cases += [({"data": data}, message) for data, message in OF_DATA]
    for fields, message in cases + OF_FIELDS:
        given = {"task": "classification", "data": (X, Y), "systems": {"x": (KNN, GRID)}, **fields}
        with pytest.raises(InputError) as error:
            Experiment(**given).check()
        assert message in str(error.value), (fields, message)
    # A decision function is enough to tune for an order.
    classify(SVM, tune_for="AUC").check()
