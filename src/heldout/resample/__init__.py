"""Plans: how units are divided into training and held-out parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.lazy import lazy_names

if TYPE_CHECKING:
    from heldout.resample.combined import RepeatedRuns as RepeatedRuns, TwoWay as TwoWay
    from heldout.resample.given import GivenFolds as GivenFolds, from_sklearn as from_sklearn
    from heldout.resample.holdout import (
        Chronological as Chronological,
        HoldOut as HoldOut,
        TestSet as TestSet,
    )
    from heldout.resample.notices import (
        PlanError as PlanError,
        ResamplingWarning as ResamplingWarning,
    )
    from heldout.resample.plan import Plan as Plan
    from heldout.resample.plans import (
        Bootstrap as Bootstrap,
        KFold as KFold,
        LeaveOneOut as LeaveOneOut,
    )
    from heldout.resample.split import Split as Split, SplitKey as SplitKey, Splits as Splits

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "combined": "RepeatedRuns TwoWay",
        "given": "GivenFolds from_sklearn",
        "holdout": "Chronological HoldOut TestSet",
        "notices": "PlanError ResamplingWarning",
        "plan": "Plan",
        "plans": "Bootstrap KFold LeaveOneOut",
        "split": "Split SplitKey Splits",
    },
)
