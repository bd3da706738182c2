"""Plans in words."""

from pathlib import Path

import pytest
from sklearn.model_selection import ShuffleSplit

from heldout import Collection
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
    from_sklearn,
)
from heldout.resample.words import splits_in_words

NAMES = [f"q{n}" for n in range(8)]
COLLECTION = Collection(
    {f"d{n}": f"text {n}" for n in range(8)},
    {name: f"words {name}" for name in NAMES},
    {name: {f"d{n}": 1} for n, name in enumerate(NAMES)},
)
FOLDS = {name: n % 4 for n, name in enumerate(NAMES)}


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (KFold(4, seed=3), "4 folds of the queries (seed 3)"),
        (KFold(2, repeats=2), "4 splits of the queries (2 folds, repeated 2 times, seed 0)"),
        (
            KFold(4, stratify="relevance", groups="duplicates"),
            "4 folds of the queries (stratified by relevance, duplicates kept together, seed 0)",
        ),
        (KFold(4, groups=FOLDS), "4 folds of the queries (groups kept together, seed 0)"),
        (LeaveOneOut(), "8 splits of the queries (leave-one-out)"),
        (HoldOut(0.25), "1 split of the queries (25% held out at random, seed 0)"),
        (
            HoldOut(3, validation=0.25),
            "1 split of the queries (3 held out at random, 25% for validation, seed 0)",
        ),
        (Bootstrap(4), "4 splits of the queries (bootstrap, seed 0)"),
        (GivenFolds(Path("folds.tsv")), "4 splits of the queries (folds of folds.tsv)"),
        (GivenFolds(FOLDS), "4 splits of the queries (given folds)"),
        (TestSet(["q1", "q2"]), "1 split of the queries (given test set)"),
        (Chronological(FOLDS), "1 split of the queries (the latest 20% held out)"),
        (
            TwoWay(KFold(2), KFold(2, stratify="relevance")),
            (
                "4 splits of the queries (queries: 2 folds; documents: 2 folds, stratified by "
                "relevance, seed 0)"
            ),
        ),
        (RepeatedRuns(KFold(2), 2), "4 splits of the queries (2 folds, 2 runs of each, seed 0)"),
    ],
)
def test_every_plan_has_words(plan, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{name}\t{fold}\n" for name, fold in FOLDS.items())
    Path("folds.tsv").write_text(f"id\tfold\n{rows}")
    assert splits_in_words(plan.splits(COLLECTION, "query"), "queries") == words


def test_a_splitter_of_scikit_learn_is_named():
    splits = from_sklearn(ShuffleSplit(3, random_state=1)).splits(8, "instance")
    said = splits_in_words(splits, "rows")
    assert said.startswith("3 splits of the rows (scikit-learn's ShuffleSplit(n_splits=3")
