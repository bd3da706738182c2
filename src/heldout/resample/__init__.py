"""Plans: how units are divided into training and held-out parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.lazy import lazy_names

if TYPE_CHECKING:
    from heldout.resample.two_way import cross as cross
    from heldout.resample.plan import Plan as Plan, ResamplingWarning as ResamplingWarning
    from heldout.resample.plans import (
        Bootstrap as Bootstrap,
        Chronological as Chronological,
        GivenFolds as GivenFolds,
        HoldOut as HoldOut,
        KFold as KFold,
        LeaveOneOut as LeaveOneOut,
        TestSet as TestSet,
        from_sklearn as from_sklearn,
    )
    from heldout.resample.split import Split as Split, SplitKey as SplitKey, Splits as Splits
    from heldout.resample.units import PlanError as PlanError

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "plan": "Plan ResamplingWarning",
        "plans": "Bootstrap Chronological GivenFolds HoldOut KFold LeaveOneOut TestSet "
        "from_sklearn",
        "split": "Split SplitKey Splits",
        "two_way": "cross",
        "units": "PlanError",
    },
)
