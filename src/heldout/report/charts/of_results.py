"""Every chart that the results of an experiment allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.experiment.results import Results
    from heldout.report.charts.named import NamedChart

__all__ = ["charts_of"]


def charts_of(
    results: Results, *, collection: Collection | None = None, measure: str | None = None
) -> tuple[NamedChart, ...]:
    """Every chart that the results of an experiment allow.

    Parameters
    ----------
    results
        Of `heldout.Experiment`.
    collection
        Where the texts of the queries stand, to be shown beside their ids.
    measure
        By default the first.
    """
    del results, collection, measure
    return ()
