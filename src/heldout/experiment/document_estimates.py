"""Estimates where documents are held out, from the values and the ranked lists of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.experiment.uncertainty import ESTIMANDS, half_sample_spread, interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.config import Settings
    from heldout.experiment.rank_table import RankTable
    from heldout.experiment.uncertainty import Estimand

    Floats = NDArray[np.float64]

__all__ = ["document_estimates", "mean_of"]

_FEWEST: Final = 100


def mean_of(values: Floats) -> float:
    """The mean of what is defined; NaN if nothing is."""
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else float("nan")


def document_estimates(
    settings: Settings,
    table: RankTable,
    lists: NDArray[np.int32],
    ranked: NDArray[np.bool_],
    values: Floats,
    training: Floats | None = None,
    *,
    share: int = 1,
) -> list[dict[str, Any]]:
    """An estimate for each measure, as plain values.

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
            {
                "measure": str(measure),
                "estimator": "pooled",
                "value": value,
                "low": low,
                "high": high,
                "estimand": ESTIMANDS[estimand],
                "n_queries": int(kept.sum()),
                "left_out": int((~kept).sum()),
                "optimism": optimism,
                "target_size": len(sample),
                "halves": spread.halves,
                "target_halves": spread.target_halves,
            }
        )
    return found
