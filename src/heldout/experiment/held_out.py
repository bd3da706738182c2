"""Held-out rankings or predictions, as results use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.run import Run
    from heldout.data.scores import Scores
    from heldout.infer.compare import CompareOptions, Comparison
    from heldout.infer.results import Interval
    from heldout.measure.undefined import Number
    from heldout.resample.split import SplitKey

    Predictions: TypeAlias = Run | ClassPredictions | NumberPredictions

__all__ = ["FoldPredictions", "HeldOut", "UnitName"]

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


class HeldOut(Protocol):
    """The held-out data of an experiment: one implementation for rankings, one for predictions."""

    def measure_name(self, measure: str | None) -> str:
        """Return the name of a measure in the tables; by default the first."""

    def higher_is_better(self, measure: str) -> bool | None:
        """Return the direction of a measure; None if it has none."""

    @property
    def unit(self) -> UnitName:
        """Return the unit of tests."""

    def folds(self, system: str) -> list[FoldPredictions]:
        """Return the predictions of a system, split by split."""

    def predictions(self, system: str, run: int | None = None) -> Predictions:
        """Return the predictions of a system for all units, each once."""

    def split_values(self, system: str, measure: str) -> list[tuple[SplitKey, Number]]:
        """Return the value of each held-out side."""

    def value(self, system: str, measure: str) -> float:
        """Return the held-out value of a system; raise an error if it is undefined."""

    def interval(self, system: str, measure: str, level: float) -> Interval | None:
        """Return the interval of `value`; None if there is none."""

    def scores(self, measure: str, systems: Sequence[str], *, by_unit: bool) -> Scores:
        """Return scores to compare, one per unit or per split."""

    def compare(
        self,
        measure: str,
        systems: Sequence[str],
        options: CompareOptions,
        *,
        baseline: str | None,
        by_unit: bool,
    ) -> Comparison:
        """Compare systems by the test that fits the measure and the unit."""
