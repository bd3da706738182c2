"""Plans and scikit-learn: as its cross-validators, made of its splitters, and side by side."""

import numpy as np
import pytest
import resample_checks as check
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import model_selection as theirs
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from heldout import Bootstrap, HoldOut, KFold, LeaveOneOut, from_sklearn
from heldout.resample.units import PlanError

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(24, 3))
Y = (X[:, 0] + RANDOM.normal(size=24) > 0).astype(int)


@pytest.mark.parametrize(
    "plan",
    [
        KFold(5),
        KFold(5, repeats=2, stratify="labels"),
        HoldOut(0.25, repeats=3),
        LeaveOneOut(),
        Bootstrap(4),
    ],
)
def test_a_plan_is_a_cross_validator(plan):
    scores = theirs.cross_val_score(LogisticRegression(), X, Y, cv=plan)
    assert len(scores) == plan.get_n_splits(X, Y) == len(list(plan.split(X, Y)))
    # The same by hand.
    train, test = next(plan.split(X, Y))
    fitted = LogisticRegression().fit(X[train], Y[train])
    assert scores[0] == (fitted.predict(X[test]) == Y[test]).mean()
    if isinstance(plan, Bootstrap):  # rows that were drawn twice are there twice
        assert len(train) == 24 > len(set(train.tolist()))


def test_a_grid_search_takes_a_plan():
    grid = {"C": [0.1, 1.0]}
    search = theirs.GridSearchCV(LogisticRegression(), grid, cv=KFold(3, stratify="labels"))
    assert search.fit(X, Y).n_splits_ == 3


def test_groups_that_scikit_learn_hands_over_stay_together():
    groups = np.arange(24) // 4
    for train, test in KFold(5).split(X, Y, groups):
        assert not set(groups[train]) & set(groups[test])
    with pytest.raises(PlanError, match="depends on the data"):
        LeaveOneOut().get_n_splits()
    vote = DummyClassifier()
    assert len(theirs.cross_val_score(vote, X, Y, cv=LeaveOneOut(), groups=groups)) == 6


def test_the_majority_trap_of_leave_one_out():
    """Balanced classes, majority vote: always wrong by leave-one-out, wrong half the time in truth.

    Leaving one out makes its class the rarer one, so the vote goes to the other.
    """
    labels = np.array([0, 1] * 20)
    rows = np.zeros((40, 1))
    vote = DummyClassifier(strategy="most_frequent")
    assert theirs.cross_val_score(vote, rows, labels, cv=LeaveOneOut()).mean() == 0.0
    stratified = KFold(10, stratify="labels")
    assert theirs.cross_val_score(vote, rows, labels, cv=stratified).mean() == 0.5


def sizes(splitter, rows, groups=None):
    """The sizes of the test sides."""
    return sorted(len(test) for _, test in splitter.split(rows, groups=groups))


@given(st.integers(2, 60), st.data())
def test_sizes_are_those_of_scikit_learn(n, data):
    k = data.draw(st.integers(2, n))
    assert sizes(KFold(k), np.zeros(n)) == sizes(theirs.KFold(k), np.zeros(n))


@given(st.lists(st.integers(0, 12), min_size=12, max_size=80))
def test_groups_are_as_even_as_those_of_scikit_learn(groups):
    assume(len(set(groups)) >= 4)
    rows = np.zeros(len(groups))
    assert sizes(KFold(4), rows, groups) == sizes(theirs.GroupKFold(4), rows, groups)


def test_splitters_of_scikit_learn_become_plans():
    names = [f"q{n}" for n in range(12)]
    found = from_sklearn(theirs.KFold(3)).splits(names)
    assert found.folds().tolist() == [0] * 4 + [1] * 4 + [2] * 4
    check.held_out_once(found)
    groups = from_sklearn(theirs.GroupKFold(3)).splits(names, groups=[n // 2 for n in range(12)])
    check.groups_intact(groups, [n // 2 for n in range(12)])
    labels = [0, 1] * 6
    check.strata_even(from_sklearn(theirs.StratifiedKFold(3)).splits(names, labels=labels), labels)
    later = from_sklearn(theirs.TimeSeriesSplit(3)).splits(names)
    assert [split.n_test for split in later] == [3, 3, 3]
    with pytest.raises(PlanError, match="does not assign every unit to one fold"):
        later.folds()
    check.covering(from_sklearn(theirs.ShuffleSplit(2, random_state=0)).splits(names))
