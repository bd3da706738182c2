"""Plans as they are printed, without addresses in memory, and in words."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from heldout import (
    Bootstrap,
    Chronological,
    Collection,
    GivenFolds,
    HoldOut,
    KFold,
    LeaveOneOut,
    TestSet,
    cross,
    from_sklearn,
)

NAMES = [f"q{n}" for n in range(8)]
COLLECTION = Collection(
    {f"d{n}": f"text {n}" for n in range(8)},
    {name: f"words {name}" for name in NAMES},
    {name: {f"d{n}": 1} for n, name in enumerate(NAMES)},
)
FOLDS = {name: n % 4 for n, name in enumerate(NAMES)}


class Halves:
    def split(self, X, y=None, groups=None):  # noqa: N803 - scikit-learn's name
        del y, groups
        rows = np.arange(len(X))
        yield rows[::2], rows[1::2]


@pytest.mark.parametrize(
    ("plan", "printed", "words"),
    [
        (KFold(4, seed=3), "KFold(folds=4, seed=3)", "4 folds of the queries (seed 3)"),
        (
            KFold(2, repeats=2),
            "KFold(folds=2, repeats=2)",
            "4 splits of the queries (2 folds, repeated 2 times, seed 0)",
        ),
        (
            KFold(4, stratify="relevance", groups="duplicates"),
            "KFold(folds=4, stratify='relevance', groups='duplicates')",
            "4 folds of the queries (stratified by relevance, duplicates kept together, seed 0)",
        ),
        (
            KFold(4, groups=FOLDS),
            "KFold(folds=4, groups=<8 values>)",
            "4 folds of the queries (groups kept together, seed 0)",
        ),
        (LeaveOneOut(), "LeaveOneOut()", "8 splits of the queries (leave-one-out)"),
        (
            HoldOut(0.25),
            "HoldOut(test=0.25)",
            "1 split of the queries (25% held out at random, seed 0)",
        ),
        (
            HoldOut(3, validation=1 / 3),
            "HoldOut(test=3, validation=0.3333333333333333)",
            "1 split of the queries (3 held out at random, 33.3% for validation, seed 0)",
        ),
        (
            Bootstrap(4),
            "Bootstrap(replicates=4)",
            "4 splits of the queries (bootstrap, seed 0)",
        ),
        (
            Bootstrap(4, side="test"),
            "Bootstrap(replicates=4, side='test')",
            "4 splits of the queries (bootstrap, the test side is drawn, seed 0)",
        ),
        (
            GivenFolds(Path("folds.tsv")),
            "GivenFolds(folds='folds.tsv')",
            "4 splits of the queries (folds of folds.tsv)",
        ),
        (
            GivenFolds(FOLDS),
            "GivenFolds(folds=<8 values>)",
            "4 splits of the queries (given folds)",
        ),
        (
            TestSet(["q1", "q2"]),
            "TestSet(ids=<2 values>)",
            "1 split of the queries (given test set)",
        ),
        (
            Chronological(FOLDS),
            "Chronological(order=<8 values>)",
            "1 split of the queries (the latest 20% held out)",
        ),
        (
            Chronological(FOLDS, cut=2),
            "Chronological(order=<8 values>, cut=2)",
            "1 split of the queries (held out from 2 on)",
        ),
        (
            from_sklearn(Halves()),
            "SklearnPlan(splitter=Halves())",
            "1 split of the queries (scikit-learn's Halves())",
        ),
    ],
)
def test_every_plan_is_printed_in_full_and_has_words(plan, printed, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{name}\t{fold}\n" for name, fold in FOLDS.items())
    Path("folds.tsv").write_text(f"id\tfold\n{rows}")
    assert repr(plan) == printed
    assert plan.splits(COLLECTION).words() == words


def test_crossed_plans_say_both():
    both = cross(KFold(2), KFold(2, stratify="relevance"))
    assert repr(both) == "cross(KFold(folds=2), KFold(folds=2, stratify='relevance'))"
    assert both.splits(COLLECTION).words() == (
        "4 splits of the queries and documents (queries: 2 folds; documents: 2 folds, stratified "
        "by relevance, seed 0)"
    )


def test_a_splitter_of_scikit_learn_is_named():
    said = from_sklearn(ShuffleSplit(3, random_state=1)).splits(8, "instance").words()
    assert said.startswith("3 splits of the rows (scikit-learn's ShuffleSplit(n_splits=3")


def test_large_tables_are_kept_and_not_copied():
    groups, labels = {"a": 1}, np.array([0, 1])
    assert KFold(2, groups=groups).groups is groups
    assert KFold(2, stratify=labels).stratify is labels
    assert KFold(2, stratify=True).stratify == "labels"
