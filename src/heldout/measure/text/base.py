"""The base of text measures: statistics per segment, a score of their sums, a name.

A measure computes statistics for each segment such that the score of any set of segments is a
function of their sums. A mean is a sum and a count; BLEU is counts of n-grams and lengths. The same
function therefore scores a corpus, a segment, a bootstrap sample and a permutation of systems.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heldout import __version__
from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.base import Measure, Sums, quotient
from heldout.measure.parameters import show_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.data.segments import Segments
    from heldout.data.words import Floats
    from heldout.measure.base import Aggregate, Task, UnitScores
    from heldout.notes import Note

__all__ = ["CorpusMeasure", "SegmentMean", "import_extra", "one_of"]


@dataclass(frozen=True, slots=True, repr=False)
class CorpusMeasure(Measure):
    """A text measure; its fields are its parameters, and all of them are in its signature."""

    higher_is_better: ClassVar[bool] = True
    needs_references: ClassVar[bool] = True
    task: ClassVar[Task] = "text"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    always_named: ClassVar[tuple[str, ...]] = ()
    """Parameters printed in the name even if they have their default."""

    @property
    @abstractmethod
    def family(self) -> str:
        """The name without parameters."""

    @abstractmethod
    def statistics(self, references: Segments, system: Segments) -> Floats:
        """Return the statistics of a system, one row per segment; both are in the same order."""

    def tables(self, references: Segments, systems: Sequence[Segments]) -> list[Floats]:
        """Return the statistics of several systems, reusing the work on the references."""
        return [self.statistics(references, one) for one in systems]

    @abstractmethod
    def score(self, sums: Floats) -> Floats:
        """Return the score for each row of summed statistics; NaN where undefined."""

    @property
    def aggregate(self) -> Aggregate:
        """A function of sums over segments; subclasses may be means."""
        return "sums"

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest possible value."""
        return self.bounds

    @property
    def parameters(self) -> dict[str, Any]:
        """All fields."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def units(self, given: Any) -> UnitScores:
        """Return the statistics of each segment, given a pair of references and system."""
        references, system = given
        return Sums(self.statistics(references, system), self.score)

    def engine(self) -> str:
        """Return the software that computes it, with version."""
        return f"heldout-{__version__}"

    def notes(self, references: Segments, systems: list[Segments]) -> list[Note]:
        """Return warnings about these scores."""
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
    """Parameters implied by the name without brackets."""

    def signature(self, references: str = "1") -> str:
        """Return name, number of references, every parameter, and the software with version.

        Parameters
        ----------
        references
            References per segment: a number, or ``var``.
        """
        parts = [self.family]
        parts += [f"nrefs:{references}"] if self.needs_references else []
        parts += [f"{key}:{_plain(value)}" for key, value in self.labels()]
        return "|".join([*parts, f"version:{self.engine()}"])

    def labels(self) -> list[tuple[str, Any]]:
        """Return the parameters as in a signature."""
        return [(one.name, getattr(self, one.name)) for one in fields(self)]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else show_value(value)


@dataclass(frozen=True, slots=True, repr=False)
class SegmentMean(CorpusMeasure):
    """A measure whose score is the mean over the segments on which it is defined."""

    @property
    def aggregate(self) -> Aggregate:
        """A mean over segments."""
        return "mean"

    @abstractmethod
    def values(self, references: Segments, system: Segments) -> Iterable[float]:
        """Return one value per segment; NaN where undefined."""

    def statistics(self, references: Segments, system: Segments) -> Floats:
        """Return the value and 1 for each segment, or two zeros where it is undefined."""
        found = np.fromiter(self.values(references, system), np.float64, len(references.ids))
        defined = ~np.isnan(found)
        return np.column_stack([np.where(defined, found, 0.0), defined.astype(np.float64)])

    def score(self, sums: Floats) -> Floats:
        """Return the mean."""
        return quotient(sums[:, 0], sums[:, 1])


def one_of(measure: str, name: str, value: Any, allowed: Iterable[Any]) -> None:
    """Raise an error for a parameter that has none of the allowed values."""
    known = list(allowed)
    if value not in known or isinstance(value, bool) != isinstance(known[0], bool):
        shown = ", ".join(map(str, known))
        raise MeasureError(f"{measure}: {name}={show_value(value)}, expected one of {shown}")


def import_extra(module: str, what: str) -> Any:
    """Import a package of the extra ``text``, or raise an error that says how to install it."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{what} needs {package}, which is not installed: pip install '.[text]' in a clone of "
            f"heldout (or pip install {package})"
        ) from None
