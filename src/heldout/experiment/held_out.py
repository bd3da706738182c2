"""What was held out, as results ask it: of rankings, or of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.run import Run
    from heldout.data.scores import Scores
    from heldout.infer.compare import Comparison
    from heldout.infer.results import Interval
    from heldout.measure.undefined import Number
    from heldout.resample.split import SplitKey

    Predictions = Run | ClassPredictions | NumberPredictions

__all__ = ["FoldPredictions", "HeldOut", "UnitName"]

UnitName = Literal["query", "instance", "split"]


class FoldPredictions(NamedTuple):
    """What one system predicted for one held-out side.

    Parameters
    ----------
    system, key
        Which.
    predictions
        A run, or predictions of classes or numbers.
    """

    system: str
    key: SplitKey
    predictions: Any


class HeldOut(Protocol):
    """The held-out side of an experiment: one implementation for rankings, one for predictions."""

    def measure_name(self, measure: str | None) -> str:
        """A measure as it is called in the tables; by default the first."""

    def higher_is_better(self, measure: str) -> bool | None:
        """The direction of a measure; None if it has none."""

    @property
    def unit(self) -> UnitName:
        """What a test takes for the unit."""

    def folds(self, system: str) -> list[FoldPredictions]:
        """What a system predicted, split by split."""

    def predictions(self, system: str, run: int | None = None) -> Predictions:
        """What a system predicted for all units, each once."""

    def split_values(self, system: str, measure: str) -> list[tuple[SplitKey, Number]]:
        """The value of each held-out side."""

    def value(self, system: str, measure: str) -> float:
        """The held-out value of a system; refused where it does not exist."""

    def interval(self, system: str, measure: str, level: float) -> Interval | None:
        """The interval of `value`; None if there is none."""

    def scores(self, measure: str, systems: Sequence[str], *, by_unit: bool) -> Scores:
        """Scores to compare: of each unit, or of each split."""

    def compare(
        self, measure: str, systems: Sequence[str], options: dict[str, Any], *, by_unit: bool
    ) -> Comparison:
        """Compare systems by what fits the measure and the unit."""
