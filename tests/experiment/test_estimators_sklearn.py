"""Estimators on held-out data: the same as bare scikit-learn loops, and what they cannot say."""

import numpy as np
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

from heldout import HoldOut, InputError, KFold, LeaveOneOut, RepeatedRuns, score_predictions
from heldout.errors import MeasureError
from heldout.experiment.estimators_sklearn import cross_validate_estimators
from heldout.infer.folds import corrected_t
from heldout.infer.paired import corrected_t_test, mcnemar_test
from heldout.report.estimators import estimators_text

X, Y = load_iris(return_X_y=True)
NOISY = X + np.random.default_rng(1).normal(scale=1.5, size=X.shape)
FOLDS = KFold(5, stratify="labels", seed=3)
KNN = make_pipeline(StandardScaler(), KNeighborsClassifier())
GRID = {"kneighborsclassifier__n_neighbors": [1, 5, 15, 31]}


def test_nested_folds_give_the_scores_of_bare_loops():
    inner = KFold(3, stratify="labels", seed=8)
    results = cross_validate_estimators(NOISY, Y, {"k-NN": (KNN, GRID)}, plan=FOLDS, inner=inner)
    for split, fold in zip(results.splits, results.of("k-NN"), strict=True):
        train, test = split.rows("train"), split.rows("test")
        place = {row: at for at, row in enumerate(train.tolist())}
        pairs = [
            tuple([place[row] for row in one.rows(side).tolist()] for side in ("train", "test"))
            for one in split.inner(inner)
        ]
        search = GridSearchCV(KNN, GRID, cv=pairs).fit(NOISY[train], Y[train])
        assert results.systems[0].points[fold.number] == search.best_params_
        assert fold.chosen_by == pytest.approx(search.best_score_)
        theirs = search.predict(NOISY[test])
        names = [fold.predictions.classes[at] for at in fold.predictions.predicted.tolist()]
        assert names == [str(one) for one in theirs.tolist()]
        assert fold.predictions.scores == pytest.approx(search.predict_proba(NOISY[test]))


def test_untuned_scores_are_those_of_cross_val_score():
    results = cross_validate_estimators(NOISY, Y, {"logistic": LogisticRegression()}, plan=FOLDS)
    theirs = cross_val_score(LogisticRegression(), NOISY, Y, cv=FOLDS)
    assert results.values("logistic") == pytest.approx(theirs)
    majority = cross_val_score(DummyClassifier(strategy="most_frequent"), NOISY, Y, cv=FOLDS)
    assert results.values("(majority class)") == pytest.approx(majority)


def test_the_majority_trap_of_leave_one_out():
    """Balanced classes: always wrong by leave-one-out, half wrong in truth (method §2)."""
    labels = ["a", "b"] * 20
    rows = np.zeros((40, 1))
    vote = {"vote": DummyClassifier(strategy="most_frequent")}
    trapped = cross_validate_estimators(rows, labels, vote, plan=LeaveOneOut())
    assert trapped.mean("vote", "error") == 1.0
    sound = cross_validate_estimators(rows, labels, vote, plan=KFold(10, stratify="labels"))
    assert sound.mean("vote", "error") == 0.5


def test_repeated_folds_are_compared_by_the_corrected_test():
    systems = {"k-NN": KNeighborsClassifier(1), "logistic": LogisticRegression()}
    plan = KFold(5, repeats=2, stratify="labels")
    results = cross_validate_estimators(NOISY, Y, systems, plan=plan)
    assert results.test_share == pytest.approx(0.25)
    comparison = results.compare()
    gaps = np.subtract(results.values("logistic"), results.values("k-NN"))
    assert comparison.claims[0].outcomes[0].test == "corrected-t"
    assert comparison.claims[0].outcomes[0].p == pytest.approx(corrected_t_test(gaps, 0.25).p)
    interval = results.interval("k-NN")
    assert interval == corrected_t(np.array(results.values("k-NN")), results.test_share)


def test_one_hold_out_is_compared_by_mcnemar_with_wilson_intervals():
    systems = {"k-NN": KNeighborsClassifier(1), "logistic": LogisticRegression()}
    results = cross_validate_estimators(NOISY, Y, systems, plan=HoldOut(1 / 3, stratify="labels"))
    comparison = results.compare()
    first, second = (results.of(name)[0].predictions for name in ("k-NN", "logistic"))
    right = [(one.predicted == one.truth).astype(float) for one in (second, first)]
    assert comparison.claims[0].outcomes[0].test == "mcnemar"
    assert comparison.claims[0].outcomes[0].p == mcnemar_test(*right).p
    assert comparison.systems[0].mean.method == "Wilson"
    assert results.interval("k-NN").method == "Wilson"


def test_three_systems_have_an_analysis_of_variance():
    systems = {
        "k-NN": KNeighborsClassifier(1),
        "logistic": LogisticRegression(),
        "svm": LinearSVC(),
    }
    results = cross_validate_estimators(NOISY, Y, systems, plan=FOLDS)
    comparison = results.compare()
    assert comparison.anova is not None
    assert comparison.fold_f is not None
    assert len(comparison.claims) == 3
    tukey = results.compare(correction="tukey", systems=["k-NN", "logistic", "(majority class)"])
    assert tukey.advice.correction == "tukey"
    # A classifier without probabilities has scores of its own, and no log loss.
    assert 0.5 < results.mean("svm", "AUC") < 1
    with pytest.raises(MeasureError, match="log-loss of svm does not exist"):
        results.mean("svm", "log-loss")


def test_the_decision_function_of_two_classes_counts_for_the_last():
    two = Y > 0
    results = cross_validate_estimators(NOISY, two, {"svm": LinearSVC(random_state=0)}, plan=FOLDS)
    theirs = cross_val_score(LinearSVC(random_state=0), NOISY, two, cv=FOLDS, scoring="roc_auc")
    assert results.values("svm", "AUC") == pytest.approx(theirs)


def test_runs_with_seeds_of_their_own_spread():
    forest = {"forest": RandomForestClassifier(3, random_state=0), "k-NN": KNeighborsClassifier()}
    results = cross_validate_estimators(
        NOISY, Y, forest, plan=RepeatedRuns(KFold(3, stratify="labels"), 3)
    )
    assert results.spread("forest") > 0
    assert results.spread("k-NN") == 0
    # The unit of a test is the fold, not fold x run.
    assert len(results.scores().units) == 3
    assert "sd over runs" in estimators_text(results)
    again = cross_validate_estimators(
        NOISY, Y, forest, plan=RepeatedRuns(KFold(3, stratify="labels"), 3)
    )
    assert again.values("forest") == results.values("forest")


def test_regression_with_the_mean_beside_it():
    rows, target = load_diabetes(return_X_y=True)
    results = cross_validate_estimators(
        rows, target, {"ridge": (Ridge(), {"alpha": [0.01, 1.0]})}, task="regression"
    )
    assert results.names == ("ridge", "(mean)")
    assert results.mean("ridge", "RMSE") < results.mean("(mean)", "RMSE")
    assert results.mean("(mean)", "R2") < 0.01
    assert results.compare("MAE", systems=["(mean)", "ridge"]).claims[0].difference.estimate < 0
    pooled = results.predictions("ridge")
    assert len(pooled.units) == 442
    assert score_predictions([pooled], ["RMSE"]).value("ridge", "RMSE") > 0


def test_a_label_that_was_not_seen_in_training():
    labels = ["a"] * 10 + ["b"] * 10 + ["rare"]
    rows = np.arange(21.0)[:, None]
    results = cross_validate_estimators(
        rows, labels, {"k-NN": KNeighborsClassifier(1)}, plan=LeaveOneOut()
    )
    last = next(fold for fold in results.of("k-NN") if fold.predictions.units == ("20",))
    assert last.predictions.notes == ("class rare is held out and was not seen in training",)
    assert last.predictions.scores[0, 2] == 0
    assert "not seen in training" in estimators_text(results)


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails where it is told to."""

    def __init__(self, fails=False):
        self.fails = fails

    def fit(self, rows, labels):  # noqa: ARG002 - scikit-learn's call
        if self.fails:
            raise RuntimeError("cannot do this")
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows):
        return np.full(len(rows), self.classes_[0])


def test_a_point_that_fails_is_never_chosen_and_a_system_that_fails_is_named():
    tried = {"fragile": (Fragile(), {"fails": [True, False]})}
    results = cross_validate_estimators(X, Y, tried, plan=FOLDS)
    assert all(point == {"fails": False} for point in results.chosen("fragile"))
    with pytest.raises(InputError, match="fragile failed on split r0/f0: RuntimeError: cannot"):
        cross_validate_estimators(X, Y, {"fragile": Fragile(fails=True)}, plan=FOLDS)
    tried = {"fragile": (Fragile(), [{"fails": [True]}, {"fails": [True]}])}
    with pytest.raises(InputError, match="every point failed"):
        cross_validate_estimators(X, Y, tried, plan=FOLDS)


def test_bad_input_is_refused():
    for given, message in (
        ({}, "no estimator"),
        ({"x": 3}, "int has no fit"),
        ({"x": KNeighborsClassifier}, "add ()"),
        ({"x": (KNN, {"k": [1]})}, "no parameter 'k'"),
        ({"x": (KNN, {"kneighborsclassifier__n_neighbors": 3})}, "expected a list"),
        ({"x": (KNN, {"kneighborsclassifier__n_neighbors": []})}, "no value"),
    ):
        with pytest.raises(InputError, match=message):
            cross_validate_estimators(X, Y, given)
    with pytest.raises(InputError, match="one class, 1"):
        cross_validate_estimators(X, np.ones(150, int), {"k-NN": KNN})
    with pytest.raises(InputError, match="expected one value for 150 rows"):
        cross_validate_estimators(X, Y[:9], {"k-NN": KNN})
    with pytest.raises(InputError, match="expected finite numbers"):
        cross_validate_estimators(X, ["a"] * 150, {"r": Ridge()}, task="regression")


def test_groups_stay_together_and_the_table_is_long():
    groups = np.arange(150) % 10
    results = cross_validate_estimators(
        X, Y, {"k-NN": KNN}, plan=KFold(5), groups=groups, ids=[f"row {n}" for n in range(150)]
    )
    for fold in results.of("k-NN"):
        inside = {int(unit.split()[1]) % 10 for unit in fold.predictions.units}
        assert len(inside) == 2
    frame = results.to_frame("accuracy", "F1(macro)")
    assert len(frame) == 2 * 5 * 3
    assert set(frame["system"]) == {"k-NN", "(majority class)", "(random by shares)"}
