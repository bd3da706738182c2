"""Fusions under document folds: the rankings of the parts in each fold, fused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.experiment.documents.ranked_lists import lists_of_run
from heldout.experiment.systems.fusions import measured
from heldout.retrieve.fuse import fuse_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from heldout.experiment.documents.ranked_lists import Lists
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.point_folds import FoldedRuns
    from heldout.retrieve.fuse import Fusion

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

__all__ = ["FusedPoints"]


class FusedPoints:
    """All parameters of a fusion.

    The weight of a fold is chosen on the fused rankings of its training documents. It is applied to
    the rankings of all documents in which each was scored while its fold was held out.

    Parameters
    ----------
    parts
        The rankings of each part.
    fusions
        One per point.
    """

    def __init__(
        self, settings: RankingSettings, parts: Sequence[FoldedRuns], fusions: Sequence[Fusion]
    ) -> None:
        self._settings, self._parts, self._fusions = settings, parts, fusions

    def training(self, fold: int, counted: Flags) -> Floats:
        """Return points × queries by the tuning measure, on the training documents of a fold."""
        runs = [part.training[fold] for part in self._parts]
        found: Floats = measured(self._settings, runs, self._fusions, counted)[-1]
        return found

    def whole(self, counted: Flags) -> Floats:
        """Return measures × points × queries on all documents, the tuning measure last."""
        runs = [part.whole for part in self._parts]
        return measured(self._settings, runs, self._fusions, counted)

    def pooled(self, points: Iterable[int]) -> dict[int, Lists]:
        """Return the lists of all held-out documents at some points."""
        runs, settings = [part.pooled for part in self._parts], self._settings
        fused = {
            point: fuse_runs(runs, self._fusions[point], depth=settings.depth) for point in points
        }
        return {
            point: lists_of_run(run, settings.collection, settings.depth)
            for point, run in fused.items()
        }
