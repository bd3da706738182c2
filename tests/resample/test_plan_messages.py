"""What plans say: refusals with what to do instead, how they are printed, and their words."""

import re
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, ShuffleSplit

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
from heldout.resample.units import PlanError

ROWS = "instance"
# A plan, what it should divide (None: the plan itself is refused), and what the message says.
REFUSED = [
    (lambda: KFold(1), None, "folds=1: expected an integer of at least 2; 5 and 10 are usual"),
    (lambda: KFold(folds="5"), None, "folds='5': expected an integer"),
    (lambda: KFold(2.5), None, "folds=2.5"),
    (lambda: KFold(True), None, "folds=True"),
    (lambda: KFold(1, repeats=0), None, "folds=1: .*; repeats=0: expected"),
    (lambda: KFold(3, fold=2), None, "KFold has no fold: it has folds, repeats"),
    (lambda: KFold(3, groups=5), None, "groups=5: expected a name, or a value for each unit"),
    (lambda: KFold(3, seed=-1), None, "seed=-1"),
    (lambda: KFold(2, repeats=100_001), None, "repeats=100001: at most 100,000"),
    (lambda: LeaveOneOut(None, 3), None, "LeaveOneOut has no argument 2: it has groups"),
    (lambda: LeaveOneOut(stratify="labels"), None, "LeaveOneOut has no stratify"),
    (GivenFolds, None, "folds is missing"),
    (lambda: GivenFolds(3), None, "folds=3: expected {id: fold}, or the path"),
    (lambda: GivenFolds({}, strict=1), None, "strict=1: expected a valid boolean"),
    (lambda: HoldOut(1.5), None, "share between 0 and 1"),
    (lambda: HoldOut(1.0), None, "share between 0 and 1"),
    (lambda: HoldOut(0.0), None, "share between 0 and 1"),
    (lambda: HoldOut(0.2, repeats=2**64), None, "repeats=.*at most 100,000"),
    (lambda: Bootstrap(0), None, "replicates=0"),
    (lambda: Bootstrap(10**9), None, "replicates=.*at most 100,000"),
    (lambda: Bootstrap(2, side="both"), None, "side='both'"),
    (lambda: TestSet("abc"), None, "pathlib.Path"),
    (lambda: cross(KFold(2), 5), None, "5 is not a plan"),
    (lambda: from_sklearn(5), None, "GroupKFold"),
    (lambda: from_sklearn(GroupKFold(3)), 12, "groups"),
    (lambda: KFold(5), 4, "5 folds but only 4 instances.*leave-one-out"),
    (lambda: KFold(4, stratify=[0, 0, 1, 1]), 4, "cannot be stratified"),
    (lambda: KFold(2, stratify="labels"), 4, "needs labels"),
    (lambda: KFold(2, stratify="relevance"), 4, "needs a collection"),
    (lambda: KFold(5, stratify="labls"), 20, "'labls' is unknown: expected 'labels', 'relevance'"),
    (lambda: KFold(2, stratify="kind"), "abc", "mapping from the ids"),
    (lambda: KFold(2, stratify={"a": 1}), "abc", r"no value for 2 of 3 queries \(b, c\)"),
    (lambda: KFold(2, stratify=[1, None, 2, 3]), 4, "unit 2 has no stratum"),
    (lambda: KFold(2, groups="duplicates"), "abc", "need the texts"),
    (lambda: KFold(2, groups="near-duplicates"), "abc", "need the texts"),
    (lambda: KFold(3, groups=[1, 1, 2, 2]), 4, "2 groups for 3 folds.*at most 2"),
    (lambda: KFold(2, groups=[1, 2]), 4, "2 values for 4 instances"),
    (lambda: KFold(2), "aa", "'a' appears twice"),
    (lambda: KFold(2), "a", "1 query: at least 2"),
    (lambda: HoldOut(0.01), 10, "rounds to 0.*leave-one-out"),
    (lambda: HoldOut(0.2, 0.01), 10, "validation=0.01 of 10"),
    (lambda: HoldOut(10), 10, "none would be left for training"),
    (lambda: HoldOut(0.6, 0.5), 10, "6 of 10 instances held out and 5 for validation"),
    (lambda: HoldOut(0.2, groups=[0] * 5 + [1] * 5), 10, "no group is small enough"),
    (lambda: Bootstrap(2, groups=[1, 1, 1]), 3, "1 groups for 2 folds"),
    (lambda: TestSet(["x"]), "ab", r"1 of the 1 ids.*\(x\)"),
    (lambda: TestSet(["a", "b"]), "ab", "the training side is empty"),
    (lambda: TestSet([]), "ab", "the test side is empty"),
    (lambda: Chronological([3, 3, 3]), 3, "the training side is empty"),
    (lambda: Chronological([1, 2, 3], cut=9), 3, "the test side is empty"),
    (lambda: Chronological([1, "x", 3]), 3, "different types"),
    (lambda: Chronological([datetime(2024, 5, 1), datetime(2024, 5, 2, tzinfo=UTC)]), 2, "offset"),  # noqa: DTZ001
    (lambda: GivenFolds({"a": 0, "b": float("nan"), "c": 1}), "abc", "b has no fold"),
    (lambda: Chronological([1, None, 3]), 3, "unit 2 has no time"),
]


def test_a_plan_that_cannot_work_says_why_and_what_to_do():
    for make, units, complaint in REFUSED:
        with pytest.raises(PlanError) as refused:  # noqa: PT012 - one of the two is refused
            plan = make()
            assert units is not None, f"not refused: {complaint}"
            plan.splits(units if isinstance(units, int) else list(units), _unit(units))
        assert re.search(complaint, str(refused.value)), (complaint, str(refused.value))
    with pytest.raises(PlanError, match="expected ids or a collection, got 'ab'"):
        KFold(2).splits("ab")
    with pytest.raises(PlanError, match="unit='row'"):
        KFold(2).splits(4, "row")


def _unit(units):
    return ROWS if isinstance(units, int) else "query"


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


# A plan, how it is printed (without addresses in memory), and the words behind "of the queries".
FILE = Path("folds.tsv")
PLANS = [
    (KFold(4, seed=3), "KFold(folds=4, seed=3)", "seed 3"),
    (KFold(2, repeats=2), "KFold(folds=2, repeats=2)", "2 folds, repeated 2 times, seed 0"),
    (KFold(4, groups=FOLDS), "KFold(folds=4, groups=<8 values>)", "groups kept together, seed 0"),
    (LeaveOneOut(), "LeaveOneOut()", "leave-one-out"),
    (HoldOut(0.25), "HoldOut(test=0.25)", "25% held out at random, seed 0"),
    (
        HoldOut(3, 1 / 3),
        "HoldOut(test=3, validation=0.3333333333333333)",
        "3 held out at random, 33.3% for validation, seed 0",
    ),
    (Bootstrap(4), "Bootstrap(replicates=4)", "bootstrap, seed 0"),
    (
        Bootstrap(4, side="test"),
        "Bootstrap(replicates=4, side='test')",
        "bootstrap, the test side is drawn, seed 0",
    ),
    (GivenFolds(FILE), "GivenFolds(folds='folds.tsv')", "folds of folds.tsv"),
    (GivenFolds(FOLDS), "GivenFolds(folds=<8 values>)", "given folds"),
    (TestSet(["q1", "q2"]), "TestSet(ids=<2 values>)", "given test set"),
    (Chronological(FOLDS), "Chronological(order=<8 values>)", "the latest 20% held out"),
    (
        Chronological(FOLDS, cut=2),
        "Chronological(order=<8 values>, cut=2)",
        "held out from 2 on",
    ),
    (from_sklearn(Halves()), "SklearnPlan(splitter=Halves())", "scikit-learn's Halves()"),
]


def test_every_plan_is_printed_in_full_and_has_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FILE.write_text("".join(f"{name}\t{fold}\n" for name, fold in FOLDS.items()))
    for plan, printed, how in PLANS:
        assert repr(plan) == printed
        assert plan.splits(COLLECTION).words().endswith(f" of the queries ({how})"), plan
    assert KFold(4).splits(NAMES).words() == "4 folds of the queries (seed 0)"
    both = cross(KFold(2), KFold(2, stratify="relevance", groups="duplicates"))
    assert both.splits(COLLECTION).words() == (
        "4 splits of the queries and documents (queries: 2 folds; documents: 2 folds, stratified "
        "by relevance, duplicates kept together, seed 0)"
    )
    assert repr(cross(KFold(2), KFold(3))) == "cross(KFold(folds=2), KFold(folds=3))"
    theirs = from_sklearn(ShuffleSplit(3, random_state=1)).splits(8, ROWS).words()
    assert theirs.startswith("3 splits of the rows (scikit-learn's ShuffleSplit(n_splits=3")
