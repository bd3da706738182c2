"""Results whose comparisons are made once for a page, and quickly where there are very many."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import comb
from typing import TYPE_CHECKING, Any, Final

from heldout.experiment.results import Results

if TYPE_CHECKING:
    from heldout.infer.compare import Comparison

__all__ = ["Remembered", "remembered"]

MOST: Final = 200_000
"""Pairs × queries for which each pair gets a randomization test of its own."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Remembered(Results):
    """The same results; `compare` without options answers from memory the second time."""

    _found: dict[tuple[str, str | None], Comparison] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_found", {})

    @property
    def quick(self) -> bool:
        """Whether only Tukey's test, which decides, and t are made: the others take minutes."""
        pairs = comb(len(self.systems), 2)
        few = len(self.systems) < 3 or self.manifest["settings"]["baseline"] is not None
        return not few and pairs * self.summary[0]["estimates"][0]["n_queries"] > MOST

    def compare(
        self, measure: str | None = None, *, baseline: str | None = None, **options: Any
    ) -> Comparison:
        """As `Results.compare` does."""
        if self.quick and baseline is None:
            options = {"tests": ("t",), "correction": "tukey", **options}
        elif options:
            return Results.compare(self, measure, baseline=baseline, **options)
        key = (self._name_of(measure), baseline)
        if key not in self._found:
            self._found[key] = Results.compare(self, measure, baseline=baseline, **options)
        return self._found[key]


def remembered(results: Results) -> Remembered:
    """Results of rankings that remember their comparisons."""
    return Remembered(**{one.name: getattr(results, one.name) for one in fields(Results)})
