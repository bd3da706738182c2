"""What all measures of text have in common: statistics per segment, a score of their sums, a name.

A measure gives numbers for each segment such that the score of any set of segments is a function
of their sums. A mean is a sum and a count; BLEU is counts of n-grams and lengths. So the score of
a corpus, of one segment, of a bootstrap draw and of a swap of systems are all one function.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heldout import __version__
from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.base import Measure, UnitSums, mean_of_sums
from heldout.measure.parameters import show_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.data.segments import Segments
    from heldout.data.words import Floats
    from heldout.measure.base import Aggregate, Task
    from heldout.notes import Note

__all__ = ["CorpusMeasure", "SegmentMean", "import_extra", "one_of"]


@dataclass(frozen=True, slots=True, repr=False)
class CorpusMeasure(Measure):
    """A measure of text; its fields are its parameters, and all of them are in its signature."""

    higher_is_better: ClassVar[bool] = True
    needs_references: ClassVar[bool] = True
    task: ClassVar[Task] = "text"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    always_named: ClassVar[tuple[str, ...]] = ()
    """Parameters that stand in the name even when they have their default."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The name without parameters."""

    @abstractmethod
    def statistics(self, references: Segments, system: Segments) -> Floats:
        """The statistics of a system, a row a segment; both sides are in the same order."""

    def tables(self, references: Segments, systems: Sequence[Segments]) -> list[Floats]:
        """The statistics of several systems; what is known of the references is used for all."""
        return [self.statistics(references, one) for one in systems]

    @abstractmethod
    def score(self, sums: Floats) -> Floats:
        """The score for each row of summed statistics; NaN where it is not defined."""

    @property
    def aggregate(self) -> Aggregate:
        """A function of sums over segments; subclasses may be means."""
        return "sums"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value."""
        return self.bounds

    @property
    def parameters(self) -> dict[str, Any]:
        """The fields."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def unit_scores(self, given: Any, positive: str | None = None) -> UnitSums:
        """The statistics of each segment of a pair of references and system."""
        del positive
        references, system = given
        return UnitSums(self.statistics(references, system), self.score)

    def engine(self) -> str:
        """What computes it, and its version."""
        return f"heldout-{__version__}"

    def notes(self, references: Segments, systems: list[Segments]) -> list[Note]:
        """What a reader of these scores should know."""
        del references, systems
        return []

    def __str__(self) -> str:
        shown = [
            f"{one.name}={show_value(getattr(self, one.name))}"
            for one in fields(self)
            if one.name not in self._in_family
            and (one.name in self.always_named or getattr(self, one.name) != one.default)
        ]
        return f"{self.family}({', '.join(shown)})" if shown else self.family

    _in_family: ClassVar[tuple[str, ...]] = ()
    """Parameters that the name without brackets says already."""

    def signature(self, references: str = "1") -> str:
        """Name, number of references, every parameter, and what computed it.

        Parameters
        ----------
        references
            References a segment has: a number, or ``var``.
        """
        parts = [self.family]
        parts += [f"nrefs:{references}"] if self.needs_references else []
        parts += [f"{key}:{_plain(value)}" for key, value in self.labels()]
        return "|".join([*parts, f"version:{self.engine()}"])

    def labels(self) -> list[tuple[str, Any]]:
        """The parameters as a signature has them."""
        return [(one.name, getattr(self, one.name)) for one in fields(self)]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else show_value(value)


@dataclass(frozen=True, slots=True, repr=False)
class SegmentMean(CorpusMeasure):
    """A measure whose score is the mean over the segments for which it is defined."""

    @property
    def aggregate(self) -> Aggregate:
        """A mean over segments."""
        return "mean"

    @abstractmethod
    def values(self, references: Segments, system: Segments) -> Iterable[float]:
        """One value a segment; NaN where it is not defined."""

    def statistics(self, references: Segments, system: Segments) -> Floats:
        """Value and 1, or two zeros where there is no value."""
        found = np.fromiter(self.values(references, system), np.float64, len(references.ids))
        defined = ~np.isnan(found)
        return np.column_stack([np.where(defined, found, 0.0), defined.astype(np.float64)])

    def score(self, sums: Floats) -> Floats:
        """The mean."""
        return mean_of_sums(sums)


def one_of(measure: str, name: str, value: Any, allowed: Iterable[Any]) -> None:
    """Refuse a parameter that is none of the allowed values."""
    known = list(allowed)
    if value not in known or isinstance(value, bool) != isinstance(known[0], bool):
        shown = ", ".join(map(str, known))
        raise MeasureError(f"{measure}: {name}={show_value(value)}, expected one of {shown}")


def import_extra(module: str, what: str) -> Any:
    """A package of the extra ``text``, or say how to install it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{what} needs {package}, which is not installed: pip install 'heldout[text]'"
        ) from None
