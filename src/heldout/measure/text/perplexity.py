"""Perplexity from the log-probabilities of tokens under a language model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from heldout.errors import InputError, MeasureError
from heldout.measure.text.base import CorpusMeasure
from heldout.notes import Note

if TYPE_CHECKING:
    from heldout.data.segments import Segments
    from heldout.data.words import Floats

__all__ = ["Perplexity"]


@dataclass(frozen=True, slots=True, repr=False)
class Perplexity(CorpusMeasure):
    """Perplexity: base to the power of minus the mean log-probability of all tokens.

    Parameters
    ----------
    base
        Base of the logarithms; e by default.

    Examples
    --------
    >>> logs = np.log([0.4, 0.15, 0.03, 0.3, 0.1, 0.01])
    >>> Perplexity().score(np.array([[logs.sum(), 6.0]])).round(4).tolist()
    [11.0816]
    """

    base: float = math.e

    higher_is_better: ClassVar[bool] = False
    needs_references: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def __post_init__(self) -> None:
        if isinstance(self.base, bool | str) or not 1 < self.base < 1e9:
            raise MeasureError(f"Perplexity: base={self.base!r}, expected a number above 1")

    @property
    def family(self) -> str:
        """Perplexity."""
        return "Perplexity"

    def labels(self) -> list[tuple[str, object]]:
        """Return the base, and the unit of the mean."""
        return [("base", "e" if self.base == math.e else float(self.base)), ("per", "token")]

    def statistics(self, references: Segments, system: Segments) -> Floats:
        """Return the sum of the log-probabilities and the number of tokens."""
        del references
        if not system.log_probs:
            raise InputError(
                f"{system.name} has no log-probabilities: Perplexity reads them from JSON lines "
                "with a list 'logprobs'"
            )
        return np.array([(math.fsum(one), len(one)) for one in system.log_probs], np.float64)

    def score(self, sums: Floats) -> Floats:
        """Return the perplexity; undefined without tokens."""
        counted = sums[:, 1] > 0
        mean = np.where(counted, sums[:, 0] / np.where(counted, sums[:, 1], 1.0), np.nan)
        with np.errstate(over="ignore"):  # overflow is infinite
            return np.exp(-mean * math.log(self.base))

    def notes(self, references: Segments, systems: list[Segments]) -> list[Note]:
        """Warn if the systems have different tokens: perplexities are then not comparable."""
        del references
        counts = {one.name: sum(map(len, one.log_probs)) for one in systems}
        if len(set(counts.values())) == 1:
            return []
        shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        text = (
            f"the systems split the texts into different tokens ({shown}): perplexities per token "
            "are not comparable"
        )
        return [Note("different-tokens", text)]
