"""How plans are printed: in full, without addresses in memory or names of Python classes."""

from pathlib import Path

import numpy as np
import pytest

from heldout import (
    Bootstrap,
    Chronological,
    GivenFolds,
    HoldOut,
    KFold,
    LeaveOneOut,
    RepeatedRuns,
    TwoWay,
    from_sklearn,
)


class Halves:
    def split(self, X, y=None, groups=None):  # noqa: N803 - scikit-learn's name
        del y, groups
        rows = np.arange(len(X))
        yield rows[::2], rows[1::2]


YEARS = {"a": 1998, "b": 2001}


@pytest.mark.parametrize(
    ("plan", "printed"),
    [
        (KFold(), "KFold(k=10)"),
        (KFold(5, stratify="labels", seed=3), "KFold(k=5, stratify='labels', seed=3)"),
        (HoldOut(), "HoldOut(test=0.2)"),
        (Bootstrap(), "Bootstrap(replicates=200)"),
        (LeaveOneOut(), "LeaveOneOut()"),
        (GivenFolds(Path("folds.tsv")), "GivenFolds(folds='folds.tsv')"),
        (GivenFolds({"a": 1}), "GivenFolds(folds=<1 value>)"),
        (Chronological(YEARS), "Chronological(order=<2 values>, test=0.2)"),
        (Chronological(YEARS, cut=2001), "Chronological(order=<2 values>, cut=2001)"),
        (TwoWay(), "TwoWay(queries=KFold(k=5), documents=KFold(k=5))"),
        (RepeatedRuns(KFold()), "RepeatedRuns(plan=KFold(k=10), runs=5)"),
        (from_sklearn(Halves()), "SklearnPlan(splitter=Halves())"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_plans_are_printed_in_full(plan, printed):
    assert repr(plan) == printed
