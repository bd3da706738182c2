"""A plan that cannot work says why, and what to do instead."""

import pytest

from heldout import (
    Bootstrap,
    Chronological,
    GivenFolds,
    HoldOut,
    KFold,
    LeaveOneOut,
    TestSet,
    cross,
)
from heldout.resample.units import PlanError

ROWS = "instance"

REFUSED = [
    (lambda: KFold(1), "folds=1: expected an integer of at least 2; 5 and 10 are usual"),
    (lambda: KFold(folds="5"), "folds='5': expected an integer"),
    (lambda: KFold(2.5), "folds=2.5"),
    (lambda: KFold(True), "folds=True"),
    (lambda: KFold(1, repeats=0), "folds=1: .*; repeats=0: expected"),
    (lambda: KFold(3, fold=2), "KFold has no fold: it has folds, repeats"),
    (lambda: KFold(3, groups=5), "groups=5: expected a name, or a value for each unit"),
    (lambda: LeaveOneOut(None, 3), "LeaveOneOut has no argument 2: it has groups"),
    (GivenFolds, "folds is missing"),
    (lambda: GivenFolds(3), "folds=3: expected {id: fold}, or the path"),
    (lambda: GivenFolds({}, strict=1), "strict=1: expected a valid boolean"),
    (lambda: cross(KFold(2), 5), "5 is not a plan"),
    (lambda: KFold(3, seed=-1), "seed=-1"),
    (lambda: KFold(5).splits(4, ROWS), "5 folds but only 4 instances.*leave-one-out"),
    (
        lambda: KFold(4, stratify="labels").splits(4, ROWS, labels=[0, 0, 1, 1]),
        "cannot be stratified",
    ),
    (lambda: KFold(2, stratify="labels").splits(4, ROWS), "needs labels"),
    (lambda: KFold(3, groups=[1, 1, 2, 2]).splits(4, ROWS), "2 groups for 3 folds.*at most 2"),
    (lambda: KFold(2, groups=[1, 2]).splits(4, ROWS), "2 values for 4 instances"),
    (
        lambda: KFold(2, stratify={"a": 1}).splits(["a", "b", "c"]),
        r"no value for 2 of 3 queries \(b, c\)",
    ),
    (lambda: KFold(2, stratify="relevance").splits(4, ROWS), "needs a collection"),
    (
        lambda: KFold(5, stratify="labls").splits(20, ROWS),
        "'labls' is unknown: expected 'labels', 'relevance', 'length'",
    ),
    (lambda: KFold(2, stratify="kind").splits(["a", "b", "c"]), "mapping from the ids"),
    (lambda: KFold(2, groups="duplicates").splits(["a", "b", "c"]), "need the texts"),
    (lambda: KFold(2, groups="near-duplicates").splits(["a", "b", "c"]), "need the texts"),
    (lambda: KFold(2, stratify=[1, None, 2, 3]).splits(4, ROWS), "unit 2 has no stratum"),
    (lambda: LeaveOneOut(stratify="labels"), "LeaveOneOut has no stratify"),
    (lambda: HoldOut(0.01).splits(10, ROWS), "rounds to 0.*leave-one-out"),
    (lambda: HoldOut(0.2, 0.01).splits(10, ROWS), "validation=0.01 of 10"),
    (lambda: HoldOut(10).splits(10, ROWS), "none would be left for training"),
    (lambda: HoldOut(0.6, 0.5).splits(10, ROWS), "6 of 10 instances held out and 5 for validation"),
    (lambda: HoldOut(1.5), "share between 0 and 1"),
    (lambda: HoldOut(1.0), "share between 0 and 1"),
    (lambda: HoldOut(0.0), "share between 0 and 1"),
    (lambda: HoldOut(0.2, groups=[0] * 5 + [1] * 5).splits(10, ROWS), "no group is small enough"),
    (lambda: Bootstrap(0), "replicates=0"),
    (lambda: Bootstrap(2, side="both"), "side='both'"),
    (lambda: Bootstrap(2).splits(3, ROWS, groups=[1, 1, 1]), "1 groups for 2 folds"),
    (lambda: KFold(2).splits(["a", "a"]), "'a' appears twice"),
    (lambda: KFold(2).splits(["a"]), "1 query: at least 2"),
    (lambda: KFold(2).splits("ab"), "expected ids or a collection, got 'ab'"),
    (lambda: KFold(2).splits(4, "row"), "unit='row'"),
    (lambda: TestSet("abc"), "pathlib.Path"),
    (lambda: TestSet(["x"]).splits(["a", "b"]), r"1 of the 1 ids.*\(x\)"),
    (lambda: TestSet(["a", "b"]).splits(["a", "b"]), "the training side is empty"),
    (lambda: TestSet([]).splits(["a", "b"]), "the test side is empty"),
    (lambda: Chronological([3, 3, 3]).splits(3, ROWS), "the training side is empty"),
    (lambda: Chronological([1, 2, 3], cut=9).splits(3, ROWS), "the test side is empty"),
    (lambda: Chronological([1, "x", 3]).splits(3, ROWS), "different types"),
    (lambda: Chronological([1, None, 3]).splits(3, ROWS), "unit 2 has no time"),
    (lambda: KFold(2, repeats=100_001), "repeats=100001: at most 100,000"),
    (lambda: HoldOut(0.2, repeats=2**64), "repeats=.*at most 100,000"),
    (lambda: Bootstrap(10**9), "replicates=.*at most 100,000"),
]


@pytest.mark.parametrize(("make", "complaint"), REFUSED)
def test_a_plan_that_cannot_work_says_why_and_what_to_do(make, complaint):
    with pytest.raises(PlanError, match=complaint):
        make()
