"""Differences between systems on new documents, with the same queries.

In each jackknife replicate the same documents are left out for both systems, so that effects common
to both cancel.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from heldout.infer.intervals import difference_inside
from heldout.infer.results import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.documents.estimate import Estimate
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.summary import SystemDifference
    from heldout.experiment.systems.outcomes import RankedOutcome

__all__ = ["document_differences"]


def document_differences(
    settings: RankingSettings, outcomes: Sequence[RankedOutcome]
) -> list[list[SystemDifference]]:
    """Return, for each system, its differences to earlier ones, with intervals, per measure."""
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
    settings: RankingSettings, outcomes: Sequence[RankedOutcome], number: int, other: int, row: int
) -> SystemDifference | None:
    """Average over repeats: the differences, and the half-widths of their intervals."""
    pairs = [
        (mine[row], its[row])
        for mine, its in zip(outcomes[number].estimates, outcomes[other].estimates, strict=False)
        if comparable(mine[row], its[row])
    ]
    if not pairs:
        return None
    value = float(np.mean([mine.value - its.value for mine, its in pairs]))
    half = float(np.mean([_half_width(mine, its, settings.level) for mine, its in pairs]))
    plain = Interval(value, value - half, value + half, settings.level, "")
    interval = difference_inside(plain, settings.measures[row].range)
    return {
        "measure": str(settings.measures[row]),
        "system": settings.systems[other].name,
        "difference": value,
        "low": interval.low,
        "high": interval.high,
    }


def comparable(mine: Estimate, its: Estimate) -> bool:
    """Return whether both estimates have the same replicates and the same target size."""
    same = (
        len(mine.halves) == len(its.halves) > 0
        and len(mine.target_halves) == len(its.target_halves) > 0
    )
    return same and mine.target_size == its.target_size


def _half_width(mine: Estimate, its: Estimate, level: float) -> float:
    from scipy.special import stdtrit

    variance = _mean_square(mine.halves, its.halves)
    variance += _mean_square(mine.target_halves, its.target_halves)
    queries = min(mine.n_queries, its.n_queries)
    return float(stdtrit(max(queries - 1, 1), (1 + level) / 2)) * math.sqrt(variance)


def _mean_square(mine: Sequence[float], its: Sequence[float]) -> float:
    return float(np.mean((np.asarray(mine) - np.asarray(its)) ** 2))
