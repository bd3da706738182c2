"""What of an experiment's settings does not go together: said, so that nothing is ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.experiment.extrapolate import check_extrapolation
from heldout.experiment.systems import CallSystem, ModelSystem
from heldout.resample.combined import TwoWaySplits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.experiment.plan_settings import By
    from heldout.experiment.problems import Problems
    from heldout.experiment.systems import System
    from heldout.measure.names import Measure
    from heldout.resample.split import Splits

__all__ = ["check_fitting", "check_splits"]


def check_fitting(
    systems: tuple[System, ...],
    by: By,
    measures: tuple[Measure, ...],
    given: Mapping[str, Any],
    problems: Problems,
) -> None:
    """Note what does not go together, whatever the splits are."""
    for at, system in enumerate(systems):
        for why in system.misfits(by):
            problems.add(f"systems[{at}]", f"{system.name}: {why}")
    baseline = given["baseline"]
    if baseline is not None and baseline not in {one.name for one in systems}:
        there = ", ".join(one.name for one in systems)
        problems.add("baseline", f"there is no system {baseline!r}; there are {there}")
    for name in _of_documents(given):
        _check_for_documents(name, systems, by, problems)
    if by != "query" and given["target_size"] is not None:
        with problems.at("target_size"):
            check_extrapolation(measures)


def _of_documents(given: Mapping[str, Any]) -> list[str]:
    """The fields that say how documents are estimated, if they differ from the default."""
    changed = {
        "target_size": given["target_size"] is not None,
        "estimator": given["estimator"] != "pooled",
    }
    return [name for name, there in changed.items() if there]


def _check_for_documents(
    name: str, systems: tuple[System, ...], by: By, problems: Problems
) -> None:
    if by == "query":
        problems.add(name, "is for documents that are held out: set by = 'document'")
    elif by == "both":
        problems.add(
            name,
            "with queries and documents held out it is not for choice: there are pooled folds of "
            "the documents that the collection has",
        )
    elif any(isinstance(one, CallSystem) for one in systems):
        problems.add(name, "is for built-in models only, and there are other systems")


def check_splits(
    splits: Splits,
    by: By,
    systems: tuple[System, ...],
    given: Mapping[str, Any],
    problems: Problems,
) -> None:
    """Note what built-in models cannot do with these splits."""
    if by == "query" or not any(isinstance(one, ModelSystem) for one in systems):
        return
    documents = splits.documents if isinstance(splits, TwoWaySplits) else splits
    queries = splits.queries if isinstance(splits, TwoWaySplits) else splits
    if by == "both" and not (documents.partitions and queries.partitions):
        problems.add("plan", "with queries and documents held out, both need folds (kfold, given)")
    if given["inner"] is not None and (by == "both" or not documents.partitions):
        problems.add("inner", "built-in models choose on all of the train side under this plan")
    if by == "document" and not documents.partitions:
        for name in _of_documents(given):
            problems.add(
                name, "is for folds; under this plan each held-out side is measured by itself"
            )
