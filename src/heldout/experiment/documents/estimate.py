"""Estimates of the score on new documents."""

from __future__ import annotations

from dataclasses import dataclass, fields
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
"""The name of the method in files."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its interval.

    Parameters
    ----------
    measure, method
        The measure, and the estimation method.
    value, low, high
        The estimate and its interval.
    estimand
        What it is an estimate of, in words.
    n_queries, left_out
        Number of queries used, and of those without a relevant document in the sample.
    optimism
        The training score minus `value`, for the same number of documents.
    target_size
        The collection size that the estimate is for.
    halves, target_halves
        See `heldout.experiment.documents.uncertainty.Spread`.
    train
        The training score for the same number of documents, if it was computed separately.
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

    def plain(self) -> dict[str, object]:
        """Return the fields by name, as in files."""
        # Not asdict, which copies each of hundreds of numbers.
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        found = {_METHOD if name == "method" else name: one for name, one in named.items()}
        if self.train is None:
            del found["train"]
        return found

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Estimate:
        """Return the estimate from the values of `plain`."""
        return cls(**{"method" if name == _METHOD else name: one for name, one in plain.items()})


def mean_of(values: Floats) -> float:
    """Return the mean of the defined values; NaN if there are none."""
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else float("nan")
