"""Estimates where documents are held out, from the values and the ranked lists of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.experiment.documents.estimate import ESTIMANDS, Estimate, mean_of
from heldout.experiment.documents.uncertainty import half_sample_spread, interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.documents.estimate import Estimand
    from heldout.experiment.documents.rank_table import RankTable
    from heldout.experiment.settings import RankingSettings

    Floats = NDArray[np.float64]

__all__ = ["document_estimates"]

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
    """An estimate for each measure.

    Parameters
    ----------
    lists
        Queries × places: the ranked documents.
    ranked
        Which documents were ranked: those are drawn anew for the interval.
    values
        Measures × queries; NaN: left out.
    training
        The same on what the parameters were chosen on, as many documents as were ranked.
    share
        How many such estimates are averaged: each draws its share of the replicates.
    """
    sample = np.flatnonzero(ranked).astype(np.int32)
    estimand: Estimand = "both" if settings.by == "both" else "documents"
    spreads = half_sample_spread(
        table,
        np.where(ranked[np.maximum(lists, 0)] & (lists >= 0), lists, -1).astype(np.int32),
        sample,
        settings.measures,
        values,
        depth=settings.depth,
        replicates=max(_FEWEST, settings.replicates // share),
        seed=settings.seed,
    )
    found = []
    for row, (measure, spread) in enumerate(zip(settings.measures, spreads, strict=True)):
        kept = np.isfinite(values[row])
        value = mean_of(values[row])
        bounds = measure.definition.bounds
        level = 1 - settings.alpha
        low, high = interval(value, spread, estimand, level=level, bounds=bounds)
        optimism = float("nan")
        if training is not None:
            optimism = mean_of(training[row, kept]) - value
        found.append(
            Estimate(
                str(measure),
                "pooled",
                value,
                low,
                high,
                ESTIMANDS[estimand],
                int(kept.sum()),
                int((~kept).sum()),
                optimism,
                len(sample),
                spread.halves,
                spread.target_halves,
            )
        )
    return tuple(found)
