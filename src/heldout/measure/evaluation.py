"""The result of an evaluation: the values of systems in measures, overall and per unit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from heldout.data.frames import Library, frame_of
from heldout.errors import InputError, MeasureError
from heldout.measure.base import Undefined
from heldout.measure.names import parse_measures

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.measure.base import Measure, Number, Task
    from heldout.notes import Note

    System = str | int
    Measured = str | Measure | int

__all__ = ["Evaluation"]


class Evaluation(ABC):
    """The values of systems in measures, on the same units.

    Systems and measures are given by name or number. With a single system its name can be omitted:
    ``evaluation.value("AP")``.
    """

    __slots__ = ()

    # Fields in some kinds of evaluations, properties in others.
    if TYPE_CHECKING:

        @property
        def task(self) -> Task:
            """The task."""

        @property
        def measures(self) -> tuple[Measure, ...]:
            """The measures, in the order requested."""

        @property
        def notes(self) -> tuple[Note, ...]:
            """Warnings about the values."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the systems."""

    @abstractmethod
    def units(self, system: System = 0) -> tuple[str, ...]:
        """Return the ids of the units."""

    @abstractmethod
    def _value(self, system: int, measure: int) -> Number:
        """Return the value of a system in a measure, both by number."""

    @abstractmethod
    def _per_unit(self, system: int, measure: int) -> Floats:
        """Return the value of each unit, system and measure by number."""

    @abstractmethod
    def scores(self, measure: Measured = 0) -> Scores:
        """Return the scores of all systems in one measure, paired by unit, for comparisons."""

    def value(self, system: Any = None, measure: Measured | None = None) -> Number:
        """Return the value of a system in a measure, or `Undefined` with the reason.

        Parameters
        ----------
        system
            Its name or number. If `measure` is omitted, this is the measure of the only system.
        measure
            The name or number of a measure, or the measure itself.
        """
        return self._value(*self._places(system, measure))

    def per_unit(self, system: Any = None, measure: Measured | None = None) -> Floats:
        """Return the value of each of `units`; NaN where undefined.

        Parameters
        ----------
        system, measure
            As for `value`.
        """
        return self._per_unit(*self._places(system, measure))

    def measure(self, measure: Measured) -> Measure:
        """Return a measure by name or number."""
        return self.measures[self._measure(measure)]

    def summary(self) -> dict[str, dict[str, Number]]:
        """Return the values as ``{system: {measure: value}}``."""
        return {
            name: {str(one): self._value(number, at) for at, one in enumerate(self.measures)}
            for number, name in enumerate(self.names)
        }

    def to_frame(self, library: Library = "polars") -> Any:
        """Return a long table of values: one row per system, unit and measure.

        Measures that are not defined for single units have one row per system, without a unit.

        Parameters
        ----------
        library
            Library of the frame: ``polars`` or ``pandas``.
        """
        import polars as pl  # slow to import, rarely needed

        return frame_of(pl.concat(list(self._parts())), library)

    def __repr__(self) -> str:
        return f"<Evaluation of {', '.join(self.names)} in {', '.join(map(str, self.measures))}>"

    def __str__(self) -> str:
        from heldout.notebook import evaluation_text  # imports the report

        return evaluation_text(self)

    def _repr_html_(self) -> str:
        """Show the values as a table in a notebook."""
        from heldout.notebook import evaluation_html  # imports the report

        return evaluation_html(self)

    _columns = ("system", "unit")
    """Column names of systems and units in a table."""

    def _parts(self) -> Iterator[pl.DataFrame]:
        import polars as pl

        system_column, unit_column = self._columns
        for number, name in enumerate(self.names):
            for at, measure in enumerate(self.measures):
                units, values = self._rows(number, at)
                table = {
                    system_column: [name] * len(units),
                    unit_column: units,
                    "measure": [str(measure)] * len(units),
                    "value": values,
                }
                schema = {system_column: pl.String, unit_column: pl.String, "measure": pl.String}
                yield pl.DataFrame(table, {**schema, "value": pl.Float64})

    def _rows(self, system: int, measure: int) -> tuple[list[str | None], Any]:
        """Return units and their values, or one overall value if single units have none."""
        if self.measures[measure].aggregate == "mean":
            return list(self.units(system)), self._per_unit(system, measure)
        whole = self._value(system, measure)
        return [None], [None if isinstance(whole, Undefined) else whole]

    def _places(self, system: Any, measure: Measured | None) -> tuple[int, int]:
        if measure is None:
            system, measure = None, system
        if system is None and len(self.names) > 1:
            raise InputError(f"which system? Choose one of {', '.join(self.names)}")
        if measure is None and len(self.measures) > 1:
            raise MeasureError(f"which measure? Choose one of {', '.join(map(str, self.measures))}")
        return self._system(0 if system is None else system), self._measure(measure or 0)

    def _system(self, system: System) -> int:
        called, names = self._columns[0], self.names
        if isinstance(system, int):
            if not -len(names) <= system < len(names):
                raise InputError(f"no {called} number {system}; there are {len(names)}")
            return system
        if system not in names:
            raise InputError(f"no {called} {system!r}; there are {', '.join(names)}")
        return names.index(system)

    def _measure(self, measure: Measured) -> int:
        if isinstance(measure, int):
            if not -len(self.measures) <= measure < len(self.measures):
                raise MeasureError(f"no measure number {measure}; there are {len(self.measures)}")
            return measure
        wanted = self._parsed(measure)
        if wanted not in self.measures:
            raise MeasureError(
                f"{wanted} was not computed; there are {', '.join(map(str, self.measures))}"
            )
        return self.measures.index(wanted)

    def _parsed(self, measure: str | Measure) -> Measure:
        found = parse_measures([measure], self.task)
        if len(found) != 1:
            raise MeasureError(f"{measure!r} names {len(found)} measures, expected one")
        return found[0]
