"""Splits in words: ``10 folds of the queries (stratified by relevance, seed 0)``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import count_of
from heldout.resample.combined import RepeatedRuns, TwoWay
from heldout.resample.given import GivenFolds, SklearnPlan
from heldout.resample.holdout import Chronological, HoldOut, TestSet
from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.resample.split import Splits

__all__ = ["splits_in_words"]


def splits_in_words(splits: Splits, what: str) -> str:
    """Say how data were split.

    Examples
    --------
    >>> splits_in_words(KFold(2, stratify="labels").splits(8, labels=[0, 1] * 4), "rows")
    '2 folds of the rows (stratified by labels, seed 0)'
    """
    plan, parts, head = splits.plan, _parts(splits.plan), count_of(len(splits), "split")
    if isinstance(plan, KFold) and plan.k == len(splits):
        parts, head = parts[1:], count_of(plan.k, "fold")
    fixed = isinstance(plan, LeaveOneOut | GivenFolds | TestSet | Chronological)
    if splits.seed is not None and not fixed:
        parts.append(f"seed {splits.seed}")
    return f"{head} of the {what}" + (f" ({', '.join(parts)})" if parts else "")


def _parts(plan: Any) -> list[str]:
    words = _WORDS.get(type(plan))
    return words(plan) if words else [repr(plan)]


def _shared(plan: Any) -> list[str]:
    parts = [f"repeated {plan.repeats} times"] if getattr(plan, "repeats", 1) != 1 else []
    strata, groups = getattr(plan, "stratify", None), plan.groups
    if isinstance(strata, str):
        parts += [f"stratified by {strata}"] if strata != "none" else []
    elif strata is not None and strata is not False:
        parts.append("stratified")
    if isinstance(groups, str):
        parts += [f"{groups} kept together"] if groups != "none" else []
    elif groups is not None:
        parts.append("groups kept together")
    return parts


def _share(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.0%}"


def _hold_out(plan: HoldOut) -> list[str]:
    more = [f"{_share(plan.validation)} for validation"] if plan.validation else []
    return [f"{_share(plan.test)} held out at random", *more, *_shared(plan)]


def _given(plan: GivenFolds) -> list[str]:
    folds: Any = plan.folds
    named = isinstance(folds, str) or hasattr(folds, "__fspath__")
    return [f"folds of {Path(folds).name}" if named else "given folds"]


def _two_way(plan: TwoWay) -> list[str]:
    queries, documents = (", ".join(_parts(one)) for one in (plan.queries, plan.documents))
    return [f"queries: {queries}; documents: {documents}"]


_WORDS: Final[dict[type, Callable[[Any], list[str]]]] = {
    KFold: lambda plan: [count_of(plan.k, "fold"), *_shared(plan)],
    LeaveOneOut: lambda plan: ["leave-one-out", *_shared(plan)],
    HoldOut: _hold_out,
    Bootstrap: lambda plan: ["bootstrap", *_shared(plan)],
    GivenFolds: _given,
    TestSet: lambda _: ["given test set"],
    Chronological: lambda plan: [f"the latest {_share(plan.test)} held out"],
    TwoWay: _two_way,
    SklearnPlan: lambda plan: [f"scikit-learn's {plan.splitter!r}"],
    RepeatedRuns: lambda plan: [*_parts(plan.plan), f"{plan.runs} runs of each"],
}
