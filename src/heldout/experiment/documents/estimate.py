"""Estimates of the score on documents that were never seen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["ESTIMANDS", "Estimand", "Estimate", "mean_of"]

Estimand = Literal["documents", "queries", "both"]

ESTIMANDS: Final[dict[Estimand, str]] = {
    "documents": "these queries on new documents",
    "queries": "new queries on these documents",
    "both": "new queries on new documents",
}
"""What an estimate is of, in words."""

_METHOD: Final = "estimator"
"""What files call the method."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number for what was never seen, and how far it may be off.

    Parameters
    ----------
    measure, method
        What was measured, and how.
    value, low, high
        The estimate and its interval.
    estimand
        What it is an estimate of, in words.
    n_queries, left_out
        Queries that count, and those that have no relevant document in the sample.
    optimism
        The score on the documents that the values were chosen on, minus `value`, at equal size.
    target_size
        The number of documents that it speaks of.
    halves, target_halves
        See `heldout.experiment.documents.uncertainty.Spread`.
    train
        The score on as many documents that the values were chosen on, where it has one of its own.
    """

    measure: str
    method: str
    value: float
    low: float
    high: float
    estimand: str
    n_queries: int
    left_out: int
    optimism: float
    target_size: int
    halves: tuple[float, ...] = ()
    target_halves: tuple[float, ...] = ()
    train: float | None = None

    def plain(self) -> dict[str, Any]:
        """The fields by name, as they stand in files."""
        found = {_METHOD if name == "method" else name: one for name, one in asdict(self).items()}
        if self.train is None:
            del found["train"]
        return found

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Estimate:
        """The estimate that `plain` has described."""
        return cls(**{"method" if name == _METHOD else name: one for name, one in plain.items()})


def mean_of(values: Floats) -> float:
    """The mean of what is defined; NaN if nothing is."""
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else float("nan")
