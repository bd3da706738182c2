"""Plans in words."""

import pytest

from heldout.report.plan_words import plan_words
from heldout.resample import (
    Bootstrap,
    Chronological,
    GivenFolds,
    HoldOut,
    KFold,
    LeaveOneOut,
    RepeatedRuns,
    TestSet,
    TwoWay,
)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (KFold(4), "4 folds of the queries (seed 3)"),
        (KFold(2, repeats=2), "4 splits of the queries (2 folds, repeated 2 times, seed 3)"),
        (
            KFold(4, stratify="relevance", groups="duplicates"),
            "4 folds of the queries (stratified by relevance, duplicates kept together, seed 3)",
        ),
        (
            KFold(4, groups={"a": 1, "b": 2}),
            "4 folds of the queries (groups kept together, seed 3)",
        ),
        (LeaveOneOut(), "4 splits of the queries (leave-one-out)"),
        (HoldOut(0.25), "4 splits of the queries (25% held out at random, seed 3)"),
        (
            HoldOut(3, validation=0.1),
            "4 splits of the queries (3 held out at random, 10% for validation, seed 3)",
        ),
        (Bootstrap(4), "4 splits of the queries (bootstrap, seed 3)"),
        (GivenFolds("folds.tsv"), "4 splits of the queries (folds of folds.tsv)"),
        (GivenFolds({"a": 1, "b": 2}), "4 splits of the queries (given folds)"),
        (TestSet(["a", "b"]), "4 splits of the queries (given test set)"),
        (Chronological({"a": 1, "b": 2}), "4 splits of the queries (the latest 20% held out)"),
        (
            TwoWay(KFold(2), KFold(2, stratify="relevance")),
            (
                "4 splits of the queries (queries: 2 folds; documents: 2 folds, stratified by "
                "relevance, seed 3)"
            ),
        ),
        (RepeatedRuns(KFold(2), 2), "4 splits of the queries (2 folds, 2 runs of each, seed 3)"),
    ],
)
def test_every_plan_has_words(plan, words):
    assert plan_words(repr(plan), "queries", 4, 3) == words


@pytest.mark.parametrize("plan", ["", "Mine()", "SklearnPlan(ShuffleSplit(3))", "KFold(k=", "a b"])
def test_other_plans_are_shown_as_they_are(plan):
    assert plan_words(plan, "queries", 1) == f"1 split of the queries{f' ({plan})' if plan else ''}"
