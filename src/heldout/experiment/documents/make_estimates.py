"""Estimates when documents are held out, from the values and the ranked lists of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.experiment.documents.estimate import ESTIMANDS, Estimate, mean_of
from heldout.experiment.documents.uncertainty import document_spread, interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.documents.estimate import Estimand
    from heldout.experiment.documents.rank_table import RankTable
    from heldout.experiment.documents.uncertainty import Spread
    from heldout.experiment.settings import RankingSettings
    from heldout.measure.base import Measure

    Floats = NDArray[np.float64]

__all__ = ["document_estimates", "estimate_of"]

_FEWEST: Final = 100


def document_estimates(
    settings: RankingSettings,
    table: RankTable,
    lists: NDArray[np.int32],
    ranked: NDArray[np.bool_],
    values: Floats,
    training: Floats | None = None,
    *,
    share: int = 1,
) -> tuple[Estimate, ...]:
    """Return an estimate for each measure.

    Parameters
    ----------
    lists
        Queries × places: the ranked documents.
    ranked
        Which documents were ranked; the interval comes from leaving out some of them.
    values
        Measures × queries; NaN: left out.
    training
        The same on training documents, as many as were ranked.
    share
        Number of such estimates that are averaged; each one gets its share of the replicates.
    """
    sample = np.flatnonzero(ranked).astype(np.int32)
    estimand: Estimand = "both" if settings.by == "both" else "documents"
    spreads = document_spread(
        table,
        np.where(ranked[np.maximum(lists, 0)] & (lists >= 0), lists, -1).astype(np.int32),
        sample,
        settings.measures,
        values,
        depth=settings.depth,
        replicates=max(_FEWEST, settings.replicates // share),
        seed=settings.seed,
        groups=settings.document_groups,
    )
    found = []
    for row, (measure, spread) in enumerate(zip(settings.measures, spreads, strict=True)):
        optimism = float("nan")
        if training is not None:
            kept = np.isfinite(values[row])
            optimism = mean_of(training[row, kept]) - mean_of(values[row])
        found.append(
            estimate_of(
                measure,
                values[row],
                spread,
                estimand=estimand,
                optimism=optimism,
                target_size=len(sample),
                level=settings.level,
            )
        )
    return tuple(found)


def estimate_of(
    measure: Measure,
    values: Floats,
    spread: Spread,
    *,
    value: float | None = None,
    method: str = "pooled",
    estimand: Estimand,
    optimism: float,
    target_size: int,
    level: float,
) -> Estimate:
    """Return the estimate of one measure, with its interval.

    Parameters
    ----------
    values
        One per query; NaN: left out.
    value
        The estimate; by default the mean of the values.
    method, estimand, optimism, target_size
        As in `Estimate`.
    """
    there = int(np.isfinite(values).sum())
    found = mean_of(values) if value is None else value
    low, high = interval(found, spread, estimand, level=level, bounds=measure.range)
    return Estimate(
        str(measure),
        method,
        found,
        low,
        high,
        ESTIMANDS[estimand],
        there,
        len(values) - there,
        optimism,
        target_size,
        spread.halves,
        spread.target_halves,
    )
