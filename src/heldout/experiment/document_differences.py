"""Differences between systems on documents that are drawn anew, the queries staying as they are.

Both systems are read under the same halves of the documents, so that what makes a half easy for one
and the other alike cancels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.config import Settings
    from heldout.experiment.outcomes import Outcome

__all__ = ["HALVES", "document_differences"]

HALVES: Final = ("halves", "target_halves")
"""What an estimate keeps for this, and what is not shown."""


def document_differences(
    settings: Settings, outcomes: Sequence[Outcome]
) -> list[list[dict[str, Any]]]:
    """For each system its differences to those before it, with intervals, in each measure."""
    return [
        [
            found
            for other in range(number)
            for row in range(len(settings.measures))
            if (found := _difference(settings, outcomes, number, other, row))
        ]
        for number in range(len(outcomes))
    ]


def _difference(
    settings: Settings, outcomes: Sequence[Outcome], number: int, other: int, row: int
) -> dict[str, Any] | None:
    """Over repeats: the mean, and an interval as wide as theirs on average."""
    pairs = [
        (mine[row], its[row])
        for mine, its in zip(outcomes[number].estimates, outcomes[other].estimates, strict=False)
        if comparable(mine[row], its[row])
    ]
    if not pairs:
        return None
    value = float(np.mean([mine["value"] - its["value"] for mine, its in pairs]))
    half = float(np.mean([_half_width(mine, its, 1 - settings.alpha) for mine, its in pairs]))
    return {
        "measure": str(settings.measures[row]),
        "system": settings.systems[other].name,
        "difference": value,
        "low": value - half,
        "high": value + half,
    }


def comparable(mine: dict[str, Any], its: dict[str, Any]) -> bool:
    """Whether both were read under the same cuts, for targets of one size."""
    same = all(len(mine[name]) == len(its[name]) > 0 for name in HALVES)
    return same and mine["target_size"] == its["target_size"]


def _half_width(mine: dict[str, Any], its: dict[str, Any], level: float) -> float:
    from scipy.special import stdtrit

    variance = sum(
        float(np.mean((np.asarray(mine[name]) - np.asarray(its[name])) ** 2)) for name in HALVES
    )
    queries = min(mine["n_queries"], its["n_queries"])
    return float(stdtrit(max(queries - 1, 1), (1 + level) / 2)) * math.sqrt(variance)
