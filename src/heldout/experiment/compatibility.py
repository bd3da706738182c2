"""What of an experiment's settings does not go together: said, so that nothing is ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.experiment.documents.extrapolate import check_extrapolation

if TYPE_CHECKING:
    from heldout.experiment.problems import Problems
    from heldout.experiment.schema import By, RankingFields
    from heldout.experiment.systems import System
    from heldout.measure.ranking.names import RankingMeasure
    from heldout.resample.split import Splits

__all__ = ["check_fitting", "check_splits"]


def check_fitting(
    systems: tuple[System[Any], ...],
    by: By,
    measures: tuple[RankingMeasure, ...],
    given: RankingFields,
    problems: Problems,
) -> None:
    """Note what does not go together, whatever the splits are."""
    for at, system in enumerate(systems):
        for why in system.misfits(by):
            problems.add(f"systems[{at}]", f"{system.name}: {why}")
    for name in _of_documents(given):
        _check_for_documents(name, systems, by, problems)
    if by != "query" and given.target_size is not None:
        with problems.at("target_size"):
            check_extrapolation(measures)


def _of_documents(given: RankingFields) -> list[str]:
    """The fields that say how documents are estimated, if they differ from the default."""
    changed = {
        "target_size": given.target_size is not None,
        "method": given.method != "pooled",
    }
    return [name for name, there in changed.items() if there]


def _check_for_documents(
    name: str, systems: tuple[System[Any], ...], by: By, problems: Problems
) -> None:
    if by == "query":
        problems.add(name, "is for documents that are held out: set by = 'document'")
    elif by == "both":
        problems.add(
            name,
            "with queries and documents held out it is not for choice: there are pooled folds of "
            "the documents that the collection has",
        )
    elif not all(one.has_document_methods for one in systems):
        problems.add(name, "is for built-in models only, and there are other systems")


def check_splits(
    splits: Splits,
    by: By,
    systems: tuple[System[Any], ...],
    given: RankingFields,
    problems: Problems,
) -> None:
    """Note what the systems cannot do with these splits, each once."""
    found = [one for system in systems for one in system.plan_problems(splits, by, given)]
    for name, message in dict.fromkeys(found):
        problems.add(name, message)
    methods = any(one.has_document_methods for one in systems)
    if by == "document" and methods and not splits.partitions:
        for name in _of_documents(given):
            problems.add(
                name, "is for folds; under this plan each held-out side is measured by itself"
            )
