"""Plans: how units are divided into training and held-out parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.lazy import found_in

if TYPE_CHECKING:
    from heldout.resample.combined import RepeatedRuns, TwoWay
    from heldout.resample.given import GivenFolds, from_sklearn
    from heldout.resample.holdout import Chronological, HoldOut, TestSet
    from heldout.resample.notices import PlanError, ResamplingWarning
    from heldout.resample.plan import Plan
    from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut
    from heldout.resample.split import Split, SplitKey, Splits

_HOMES = {
    "Bootstrap": "heldout.resample.plans",
    "Chronological": "heldout.resample.holdout",
    "GivenFolds": "heldout.resample.given",
    "HoldOut": "heldout.resample.holdout",
    "KFold": "heldout.resample.plans",
    "LeaveOneOut": "heldout.resample.plans",
    "Plan": "heldout.resample.plan",
    "PlanError": "heldout.resample.notices",
    "RepeatedRuns": "heldout.resample.combined",
    "ResamplingWarning": "heldout.resample.notices",
    "Split": "heldout.resample.split",
    "SplitKey": "heldout.resample.split",
    "Splits": "heldout.resample.split",
    "TestSet": "heldout.resample.holdout",
    "TwoWay": "heldout.resample.combined",
    "from_sklearn": "heldout.resample.given",
}

__all__ = [
    "Bootstrap",
    "Chronological",
    "GivenFolds",
    "HoldOut",
    "KFold",
    "LeaveOneOut",
    "Plan",
    "PlanError",
    "RepeatedRuns",
    "ResamplingWarning",
    "Split",
    "SplitKey",
    "Splits",
    "TestSet",
    "TwoWay",
    "from_sklearn",
]


def __getattr__(name: str) -> Any:
    return found_in(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return list(__all__)
