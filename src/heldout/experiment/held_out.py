"""Held-out rankings or predictions, as results use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.run import Run
    from heldout.resample.split import SplitKey

    Predictions: TypeAlias = Run | ClassPredictions | NumberPredictions

__all__ = ["FoldPredictions", "UnitName"]

UnitName = Literal["query", "instance", "split"]


class FoldPredictions(NamedTuple):
    """The predictions of one system for one held-out side.

    Parameters
    ----------
    system, key
        Which system and split.
    predictions
        A run, or predictions of classes or numbers.
    """

    system: str
    key: SplitKey
    predictions: Any
