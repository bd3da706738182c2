"""Estimators in an experiment: as bare scikit-learn loops do, and what those cannot say."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from heldout import (
    Experiment,
    HoldOut,
    InputError,
    KFold,
    LeaveOneOut,
    read_class_predictions,
)
from heldout.errors import MeasureError
from heldout.experiment.problems import ExperimentError
from heldout.infer.compare import compare
from heldout.infer.intervals import corrected_t
from heldout.infer.randomization import mcnemar_test
from heldout.infer.results import mean_estimate
from heldout.infer.scored_inputs import system_interval
from heldout.measure.base import Undefined
from heldout.measure.prediction.evaluate import evaluate_predictions
from heldout.report.experiment import json_results, results_text

X, Y = load_iris(return_X_y=True)
NOISY = X + np.random.default_rng(1).normal(scale=1.5, size=X.shape)
FOLDS = KFold(5, stratify="labels", seed=3)
KNN = make_pipeline(StandardScaler(), KNeighborsClassifier())
GRID = {"kneighborsclassifier__n_neighbors": [1, 5, 15, 31]}


def classify(systems, data=(NOISY, Y), **fields):
    return Experiment(task="classification", data=data, systems=systems, **fields)


def test_nested_folds_give_the_scores_of_bare_loops():
    experiment = classify({"k-NN": (KNN, GRID)}, plan=FOLDS, inner=3, seed=8)
    settings, results = experiment.check(), experiment.run()
    means = results.folds.filter(pl.col("system") == "k-NN")["train"].to_list()
    folds = zip(
        settings.splits,
        results.fold_predictions("k-NN"),
        results.chosen("k-NN"),
        means,
        strict=True,
    )
    for split, fold, chosen, mean in folds:
        train, test = split.rows("train"), split.rows("test")
        place = {row: at for at, row in enumerate(train.tolist())}
        pairs = [
            tuple([place[row] for row in one.rows(side).tolist()] for side in ("train", "test"))
            for one in split.inner(KFold(3, stratify="labels", seed=8))
        ]
        search = GridSearchCV(KNN, GRID, cv=pairs).fit(NOISY[train], Y[train])
        assert chosen == search.best_params_
        assert mean == pytest.approx(search.best_score_)
        names = [fold.predictions.classes[at] for at in fold.predictions.predicted.tolist()]
        assert names == [str(one) for one in search.predict(NOISY[test]).tolist()]
        assert fold.predictions.scores == pytest.approx(search.predict_proba(NOISY[test]))


def test_untuned_scores_are_those_of_cross_val_score():
    results = classify({"logistic": LogisticRegression()}, plan=FOLDS).run()
    theirs = cross_val_score(LogisticRegression(), NOISY, Y, cv=FOLDS)
    assert results.split_values("logistic") == pytest.approx(theirs)
    majority = cross_val_score(DummyClassifier(strategy="most_frequent"), NOISY, Y, cv=FOLDS)
    assert results.split_values("(majority class)") == pytest.approx(majority)


def test_the_majority_trap_of_leave_one_out():
    """Balanced classes: always wrong by leave-one-out, half wrong in truth."""
    data = np.zeros((40, 1)), ["a", "b"] * 20
    vote = {"vote": DummyClassifier(strategy="most_frequent")}
    fields = {"data": data, "measures": ["error"]}
    trapped = classify(vote, plan={"kind": "leave-one-out"}, **fields).run()
    assert trapped.estimate("vote")["value"] == 1.0
    assert trapped.estimate("vote")["interval"] == "Wilson"
    assert "wrong every time" in results_text(trapped)
    sound = classify(vote, plan={"folds": 10}, **fields).run()
    assert sound.estimate("vote")["value"] == 0.5
    assert "wrong every time" not in results_text(sound)


@pytest.mark.parametrize(
    "plan",
    [HoldOut(0.3, stratify="labels"), KFold(2, repeats=2)],
)
def test_what_is_held_out_touches_no_choice(plan):
    """Held-out rows and labels are spoiled, split by split: choices and inner scores stay."""
    systems = {"k-NN": (KNN, {"kneighborsclassifier__n_neighbors": [1, 15]})}
    clean = classify(systems, plan=plan, inner=2)
    before, splits = clean.run(), clean.check().splits
    for split in splits:
        held = split.test > 0
        rows = np.where(held[:, None], 1e6, NOISY)
        # A stratified plan goes by the labels: others would be other folds.
        labels = Y if plan.stratify else np.where(held, 2 - Y, Y)
        after = classify(systems, data=(rows, labels), plan=plan, inner=2).run()
        where = (pl.col("system") == "k-NN") & (pl.col("fold") == split.key.fold)
        where &= pl.col("repeat") == split.key.repeat
        for column in ("number", "train"):
            mine, theirs = (one.folds.filter(where)[column].to_list() for one in (before, after))
            assert mine == theirs
        assert before.surface.filter(where).equals(after.surface.filter(where))


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers every row that it was fitted on."""

    seen: list = []  # noqa: RUF012 - shared by all copies, to be looked into

    def __init__(self, level=0):
        self.level = level

    def fit(self, rows, labels):
        Spy.seen.append((rows[:, 0].astype(int).tolist(), self.level))
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows):
        return np.full(len(rows), self.classes_[self.level])


def test_fits_see_rows_of_their_train_side_alone():
    rows = np.arange(30.0)[:, None]
    labels = np.arange(30) % 2
    Spy.seen = []
    experiment = classify(
        {"spy": (Spy(), {"level": [0, 1]})}, data=(rows, labels), inner=3, plan={"folds": 5}
    )
    experiment.run()
    trains = [set(split.rows("train").tolist()) for split in experiment.check().splits]
    # 5 splits x 3 inner folds x 2 points, the same on everything, then one fit a split.
    assert len(Spy.seen) == 5 * 3 * 2 + 3 * 2 + 5
    for at in range(30):
        assert set(Spy.seen[at][0]) < trains[at // 6]
    assert [set(seen) for seen, _ in Spy.seen[-5:]] == trains


def test_repeated_folds_are_compared_by_the_corrected_test():
    systems = {"k-NN": KNeighborsClassifier(1), "logistic": LogisticRegression()}
    results = classify(systems, plan={"folds": 5, "repeats": 2}).run()
    share = results.manifest["settings"]["test_share"]
    assert share == pytest.approx(0.25)
    comparison = results.compare()
    gaps = np.subtract(results.split_values("logistic"), results.split_values("k-NN"))
    assert comparison.claims[0].outcomes[0].test == "corrected-t"
    assert comparison.claims[0].outcomes[0].p == pytest.approx(mean_estimate(gaps, 0.1 + 0.25).p())
    interval = results.interval("k-NN")
    assert interval == corrected_t(np.array(results.split_values("k-NN")), share)
    found = results.estimate("k-NN")
    assert (found["low"], found["high"]) == (interval.low, interval.high)


def test_one_hold_out_is_compared_by_mcnemar_with_wilson_intervals():
    systems = {"k-NN": KNeighborsClassifier(1), "logistic": LogisticRegression()}
    results = classify(systems, plan={"kind": "holdout", "test": 1 / 3}).run()
    comparison = results.compare()
    first, second = (results.fold_predictions(name)[0].predictions for name in ("k-NN", "logistic"))
    right = [(one.predicted == one.truth).astype(float) for one in (second, first)]
    assert comparison.claims[0].outcomes[0].test == "mcnemar"
    assert comparison.claims[0].outcomes[0].p == mcnemar_test(*right).p
    assert comparison.systems[0].mean.method == "Wilson"
    assert results.estimate("k-NN")["interval"] == "Wilson"


BINARY = (NOISY[50:], Y[50:])
TWO = {"k-NN": KNN, "logistic": make_pipeline(StandardScaler(), LogisticRegression())}


@pytest.mark.parametrize("plan", [HoldOut(0.5, stratify="labels"), LeaveOneOut()])
@pytest.mark.parametrize(
    ("measure", "test", "interval"),
    [("F1(macro)", "randomization", "bootstrap percentile"), ("AUC", "delong", "DeLong")],
)
def test_scores_that_are_no_means_are_compared_over_units(plan, measure, test, interval):
    step = 3 if isinstance(plan, LeaveOneOut) else 1  # a fit for each row takes its time
    data = tuple(side[::step] for side in BINARY)
    results = classify(TWO, data, plan=plan, measures=[measure]).run()
    given = [results.predictions(name) for name in TWO]
    given = [replace(one, folds=()) for one in given]
    claim = results.compare().claims[0]
    assert claim.outcomes[0].test == test
    assert claim == compare(given, measure).claims[0]
    estimate = results.estimate("k-NN")
    found = evaluate_predictions(given, [measure])
    assert estimate["value"] == pytest.approx(found.value("k-NN", 0))
    own = system_interval(found, "k-NN", found.measures[0])
    assert estimate["interval"] == interval == own.method
    assert (estimate["low"], estimate["high"]) == (own.low, own.high)


def test_rows_of_a_group_are_swapped_and_drawn_together_on_a_hold_out():
    # Of different sizes, so that the mean over groups is not the mean over rows.
    groups = [str(int(at**0.5)) for at in range(len(BINARY[1]))]
    data = {"X": BINARY[0], "y": BINARY[1], "groups": groups}
    results = classify(TWO, data, plan={"kind": "holdout", "test": 0.5}).run()
    claim = results.compare().claims[0]
    assert claim.outcomes[0].test == "randomization"
    assert claim.outcomes[0].n == len(set(results.fold_predictions("k-NN")[0].predictions.groups))
    gap = results.value("logistic") - results.value("k-NN")
    assert claim.difference.estimate == pytest.approx(gap)


def test_three_systems_have_an_analysis_of_variance():
    systems = {
        "k-NN": KNeighborsClassifier(1),
        "logistic": LogisticRegression(),
        "svm": LinearSVC(),
    }
    results = classify(systems, plan=FOLDS, measures=["accuracy", "log-loss"]).run()
    comparison = results.compare()
    assert comparison.anova is not None
    assert len(comparison.claims) == 3
    tukey = results.compare(correction="tukey", systems=["k-NN", "logistic", "(majority class)"])
    assert tukey.analysis.correction == "tukey"
    # A classifier without probabilities has scores of its own, and no log loss.
    assert 0.5 < results.value("svm", "AUC") < 1
    with pytest.raises(MeasureError, match="log-loss of svm does not exist"):
        results.value("svm", "log-loss")
    assert results.estimate("svm", "log-loss")["value"] is None
    text = results_text(results)
    assert "log-loss is undefined for svm" in text
    assert "not compared in log-loss" in text


def test_one_system_is_compared_with_the_first_baseline():
    results = classify({"k-NN": KNN}, plan=FOLDS).run()
    assert results.compare().scores.systems == ("(majority class)", "k-NN")
    named = classify({"k-NN": KNN}, plan=FOLDS, baseline="(random by shares)").run()
    assert "(random by shares)" in named.compare().scores.systems


def test_the_decision_function_of_two_classes_counts_for_the_last():
    two = Y > 0
    results = classify({"svm": LinearSVC(random_state=0)}, data=(NOISY, two), plan=FOLDS).run()
    theirs = cross_val_score(LinearSVC(random_state=0), NOISY, two, cv=FOLDS, scoring="roc_auc")
    assert results.split_values("svm", "AUC") == pytest.approx(theirs)


def test_runs_with_seeds_of_their_own_spread():
    forest = {"forest": RandomForestClassifier(3, random_state=0), "k-NN": KNeighborsClassifier()}
    experiment = classify(forest, plan=KFold(3, stratify="labels"), runs=3)
    results = experiment.run()
    assert results.spread("forest") > 0
    assert results.spread("k-NN") == 0
    # The unit of a test is the fold, not fold x run.
    assert len(results.scores().units) == 3
    assert "sd over runs" in results_text(results)
    assert experiment.run().split_values("forest") == results.split_values("forest")
    other = classify(forest, plan=KFold(3, stratify="labels"), runs=3, seed=1).run()
    assert other.split_values("forest") != results.split_values("forest")


class Bare(ClassifierMixin, BaseEstimator):
    """Without scores of any kind."""

    def fit(self, rows, labels):
        self.classes_ = np.unique(labels)
        self.middle_ = np.median(rows[:, 0])
        return self

    def predict(self, rows):
        return self.classes_[(rows[:, 0] > self.middle_).astype(int)]


def test_kept_predictions_are_scored_and_compared_as_the_experiment_does(tmp_path):
    """Probabilities, other scores, none; runs on the same folds; baselines once."""
    systems = {"k-NN": KNN, "SVM": LinearSVC(), "bare": Bare()}
    plan = KFold(4, stratify="labels", seed=1)
    results = classify(systems, BINARY, plan=plan, runs=2).run(tmp_path / "kept")
    read = read_class_predictions(tmp_path / "kept" / "predictions.parquet")
    kinds = {one.name: (one.scores is not None, one.probabilities) for one in read}
    assert kinds["k-NN"] == (True, True)
    assert kinds["SVM"] == (True, False)
    assert kinds["bare"] == (False, False)
    scores = evaluate_predictions(read, ["accuracy", "F1(macro)", "AUC"])
    assert list(scores.data) == list(results.systems)
    for name in scores.names:
        for measure in scores.measures:
            value = scores.value(name, measure)
            if isinstance(value, Undefined):
                continue
            assert value == pytest.approx(results.value(name, str(measure)), rel=1e-12)
            own = results.interval(name, str(measure))
            interval = system_interval(scores, name, measure)
            assert interval[1:3] == pytest.approx(own[1:3], rel=1e-9)
    found = compare(read, "F1(macro)")
    own = results.compare("F1(macro)")
    assert [one.adjusted for one in found.claims] == pytest.approx(
        [one.adjusted for one in own.claims]
    )


def test_regression_with_the_mean_beside_it():
    results = Experiment(
        task="regression",
        data=load_diabetes(return_X_y=True),
        systems={"ridge": (Ridge(), {"alpha": [0.01, 1.0]})},
        measures=["RMSE", "MAE"],
    ).run()
    assert results.systems == ("ridge", "(mean)")
    assert results.value("ridge", "RMSE") < results.value("(mean)", "RMSE")
    assert results.value("(mean)", "R2") < 0.01
    assert results.compare("MAE", systems=["(mean)", "ridge"]).claims[0].difference.estimate < 0
    pooled = results.predictions("ridge")
    assert len(pooled.units) == 442
    assert evaluate_predictions([pooled], ["RMSE"]).value("ridge", "RMSE") > 0


def test_a_label_that_was_not_seen_in_training():
    labels = ["a"] * 10 + ["b"] * 10 + ["rare"]
    rows = np.arange(21.0)[:, None]
    results = classify(
        {"k-NN": KNeighborsClassifier(1)}, data=(rows, labels), plan=LeaveOneOut()
    ).run()
    last = next(
        fold for fold in results.fold_predictions("k-NN") if fold.predictions.units == ("20",)
    )
    assert last.predictions.scores[0, 2] == 0
    assert "Warning: class rare is held out in a split without it" in results_text(results)


def test_groups_stay_together():
    data = {"X": X, "y": Y, "groups": np.arange(150) % 10, "ids": [f"row {n}" for n in range(150)]}
    tuned = {"spy": (Spy(), {"level": [0, 1]})}
    results = classify({"k-NN": KNN}, data=data, plan=KFold(5)).run()
    for fold in results.fold_predictions("k-NN"):
        assert len({int(unit.split()[1]) % 10 for unit in fold.predictions.units}) == 2
        assert set(fold.predictions.groups) == {
            str(int(unit.split()[1]) % 10) for unit in fold.predictions.units
        }
    # The inner folds keep them together too.
    settings = classify(tuned, data=data, inner=4, plan={"folds": 5}).check()
    for inner in settings.inner_splits(settings.splits[0]):
        seen, tried = ({row % 10 for row in inner.rows(side)} for side in ("train", "test"))
        assert not seen & tried


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails, warns or says strange things where it is told to."""

    def __init__(self, does="well"):
        self.does = does

    def fit(self, rows, labels):  # noqa: ARG002 - scikit-learn's call
        if self.does == "fail":
            raise RuntimeError("cannot do this\nnor that")
        if self.does == "warn":
            import warnings

            warnings.warn("hardly converged", UserWarning, stacklevel=1)
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows):
        return np.full(len(rows), "strange" if self.does == "stray" else self.classes_[0])

    def predict_proba(self, rows):
        return np.full((len(rows), 3), 0.5 if self.does == "more" else 1 / 3)


def test_a_point_that_fails_is_never_chosen_and_a_system_that_fails_is_named():
    results = classify({"f": (Fragile(), {"does": ["fail", "well"]})}, plan=FOLDS).run()
    assert all(point == {"does": "well"} for point in results.chosen("f"))
    text = results_text(results)
    assert "f: does=fail failed on 30 fits and was not chosen there (first RuntimeError" in text
    with pytest.raises(InputError, match=r"f failed on split r0/f0: RuntimeError: cannot do this$"):
        classify({"f": Fragile("fail")}, plan=FOLDS).run()
    with pytest.raises(
        InputError, match="every parameter setting failed, the first with RuntimeError"
    ):
        classify({"f": (Fragile(), [{"does": ["fail"]}] * 2)}, plan=FOLDS).run()
    with pytest.raises(InputError, match="'strange', which is not a class"):
        classify({"f": Fragile("stray")}, plan=FOLDS).run()
    with pytest.raises(InputError, match=r"probabilities with the sum 1.5, not 1"):
        classify({"f": Fragile("more")}, plan=FOLDS).run()


def test_what_is_warned_of_is_said_with_the_results():
    results = classify({"f": Fragile("warn")}, plan=FOLDS).run()
    assert "f: UserWarning: hardly converged (on 5 fits)" in results_text(results)
    assert "hardly converged" in json_results(results)
    (note,) = (note for note in results.notes if note.code == "fit-warning")
    assert results.summary[0]["notes"] == [
        replace(note, text=note.text.removeprefix("f: ")).to_dict()
    ]


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({}, "name at least one system"),
        ({"x": 3}, "int has no fit"),
        ({"x": KNeighborsClassifier}, r"add \(\)"),
        ({"x": (KNN, {"k": [1]})}, "no parameter 'k'"),
        ({"x": (KNN, {"kneighborsclassifier__n_neighbors": 3})}, "expected a list"),
        ({"x": (KNN, {"kneighborsclassifier__n_neighbors": []})}, "no value"),
        ({"x": (KNN, {"kneighborsclassifier__n_neighbors": [1, -2]})}, "Got -2 instead"),
        ({"x": Ridge()}, "predicts numbers"),
        ({"(majority class)": KNN}, "2 systems are called"),
        ({"x": "sklearn.neighbors:Nothing"}, "has no 'Nothing'"),
        ({"x": "KNeighborsClassifier"}, 'expected "module:name"'),
        ({"x": {"estimator": "sklearn.svm:LinearSVC", "parameters": {"c": 1}}}, "Invalid param"),
        ({"x": {"estimator": "sklearn.svm:LinearSVC", "spaces": {}}}, "did you mean space"),
    ],
)
def test_bad_systems_are_refused_before_anything_runs(systems, message):
    with pytest.raises(ExperimentError, match=message):
        classify(systems, plan=FOLDS).check()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"data": (X, np.ones(150, int))}, "one class, 1"),
        ({"data": (X, Y[:9])}, "expected one value for 150 rows"),
        ({"data": (X, [None, *Y[1:]])}, "row 0 has no class"),
        ({"data": {"X": X, "y": Y, "ids": [1]}}, "1 ids for 150 rows"),
        ({"data": {"X": X, "y": Y, "ids": [1] * 150}}, "appears twice"),
        ({"data": {"X": X, "y": Y, "groups": [1]}}, "1 groups for 150 rows"),
        ({"data": {"X": X}}, "data.y: is missing"),
        ({"data": 3}, "int: expected a table"),
        ({"data": None}, "missing: give"),
        ({"measures": ["nDCG@10"]}, "unknown measure"),
        ({"measures": ["recall(class=z)"]}, "unknown class 'z'"),
        ({"measures": []}, "not a list of measures"),
        ({"plan": {"folds": 5, "groups": "a"}}, "give groups with the data"),
        ({"plan": {"folds": 500}}, "500 folds but only 150"),
        ({"plan": {"folds": 5}, "inner": 1}, "inner: expected at least 2, not 1"),
        ({"inner": 149}, "149 folds but only 135"),
        ({"rule": "worst"}, "unknown rule"),
        ({"baseline": "z"}, "unknown system 'z'"),
        ({"task": "generation"}, "not ranking, classification or regression"),
        ({"task": "regression", "data": (X, ["a"] * 150)}, "expected finite numbers"),
        ({"depth": 3}, "unknown field"),
    ],
)
def test_bad_settings_are_refused_before_anything_runs(fields, message):
    given = {"task": "classification", "data": (X, Y), "systems": {"x": (KNN, GRID)}, **fields}
    with pytest.raises(ExperimentError, match=message):
        Experiment(**given).check()


def test_nothing_is_chosen_by_scores_that_are_not_there():
    svm = {"svm": (LinearSVC(), {"C": [0.1, 1.0]})}
    with pytest.raises(ExperimentError, match="no predict_proba, so log-loss cannot be used"):
        classify(svm, tune_for="log-loss").check()
    classify(svm, tune_for="AUC").check()


def test_a_target_of_zero_has_no_percentage_error():
    data = {"X": np.ones((20, 1)), "y": np.arange(20.0), "ids": [f"u{n}" for n in range(20)]}
    with pytest.raises(ExperimentError, match="u0"):
        Experiment(task="regression", data=data, systems=Ridge(), measures=["MAPE"]).check()


def test_a_train_side_of_one_class_is_refused():
    rows, labels = np.zeros((4, 1)), ["a", "a", "b", "b"]
    plan = {"kind": "test-set", "ids": ["2", "3"]}
    with pytest.raises(ExperimentError, match="all training rows have the same class, a"):
        classify({"k": KNeighborsClassifier(1)}, data=(rows, labels), plan=plan).check()
