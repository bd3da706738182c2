"""The result of an evaluation: the values of systems in measures, overall and per unit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heldout.data.frames import Library, frame_of
from heldout.errors import HeldoutError, InputError, MeasureError
from heldout.measure.base import LackingError, Means, Order, Undefined
from heldout.measure.names import parse_measures
from heldout.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heldout.data.scores import Scores
    from heldout.data.words import Floats
    from heldout.infer.prediction_powered import Combined
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number, Task, UnitScores
    from heldout.notes import Note

    System = str | int
    Measured = str | Measure | int


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown):
    """The values of systems in measures, of rankings, classes, numbers or texts.

    Systems and measures are given by name or number, to all methods. With a single system its name
    can be omitted: ``evaluation.value("AP")``.

    Parameters
    ----------
    task
        ``ranking``, ``classification``, ``regression`` or ``text``.
    measures
        The measures, in the order requested.
    data
        What is measured of each system, and of each baseline: a checked run, predictions, texts.
    baselines
        The names of the baselines, which `value` accepts like those of systems.
    notes
        Warnings about the values.
    about
        How the values were computed, one clause each.
    truth
        Judgements or references; None if they are part of the predictions.
    defaults
        Parameters of measures that were set for all of them, such as ``rel``.
    machine
        The same runs under machine judgements, if there are any.
    """

    task: Task
    measures: tuple[Measure, ...]
    data: Mapping[str, Any]
    baselines: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    about: tuple[str, ...] = ()
    truth: Any = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    machine: Evaluation | None = None
    computed: dict[tuple[str, Measure], UnitScores] = field(default_factory=dict)
    _values: dict[tuple[str, Measure], Number] = field(default_factory=dict)
    _intervals: dict[tuple[str, Measure, float, int], Interval | None] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(name for name in self.data if name not in self.baselines)

    def measure(self, measure: Measured) -> Measure:
        """Return a measure by name or number."""
        if isinstance(measure, int):
            if not -len(self.measures) <= measure < len(self.measures):
                raise MeasureError(f"no measure number {measure}; there are {len(self.measures)}")
            return self.measures[measure]
        several = parse_measures([measure], self.task, **self.defaults)
        if len(several) != 1:
            raise MeasureError(f"{measure!r} names {len(several)} measures, expected one")
        if several[0] not in self.measures:
            raise MeasureError(
                f"{several[0]} was not computed; there are {', '.join(map(str, self.measures))}"
            )
        return several[0]

    def units(self, system: System = 0) -> tuple[str, ...]:
        """Return the ids of a system's units: queries that count, instances, or segments."""
        return tuple(self.data[self._name(system)].units)

    def unit_scores(self, system: Any = None, measure: Measured | None = None) -> UnitScores:
        """Return what the value is computed from, with a row per unit that can be resampled."""
        name, wanted = self._chosen(system, measure)
        if (name, wanted) not in self.computed:
            self.computed[name, wanted] = wanted.units(self.data[name])
        return self.computed[name, wanted]

    def value(self, system: Any = None, measure: Measured | None = None) -> Number:
        """Return the value of a system in a measure, or `Undefined` with the reason.

        Parameters
        ----------
        system
            Its name or number. If `measure` is omitted, this is the measure of the only system.
        measure
            The name or number of a measure, or the measure itself.
        """
        name, wanted = self._chosen(system, measure)
        if (name, wanted) not in self._values:
            try:
                self._values[name, wanted] = self._value(name, wanted)
            except HeldoutError as error:
                # A measure may refuse the constant predictions of a baseline, which nobody asked.
                if not isinstance(error, LackingError) and name not in self.baselines:
                    raise
                self._values[name, wanted] = Undefined(str(error))
        return self._values[name, wanted]

    def _value(self, name: str, measure: Measure) -> Number:
        data = self.data[name]
        if getattr(data, "folds", ()) or getattr(data, "repeats", ()):
            from heldout.measure.prediction.folds import repeated_value  # of predictions only

            return repeated_value(data, measure)
        scores = self.unit_scores(name, measure)
        value = scores.value()
        return Undefined(scores.why()) if math.isnan(value) else value

    def per_unit(self, system: Any = None, measure: Measured | None = None) -> Floats:
        """Return the value of each of `units`; NaN where undefined."""
        name, wanted = self._chosen(system, measure)
        scores = self.unit_scores(name, wanted)
        if not self._has_units(scores):
            raise MeasureError(f"{wanted} is not a mean over units: units have no values in it")
        return scores.per_unit().copy()  # a user may change it

    def scores(self, measure: Measured = 0) -> Scores:
        """Return the scores of all systems in one measure, paired by unit, for comparisons.

        The measure must be a mean over units. Others (F1, BLEU of a corpus) are compared by passing
        the evaluation itself to `heldout.compare`.
        """
        wanted = self.measure(measure)
        if self.task == "ranking":
            from heldout.measure.ranking.evaluate import query_scores

            return query_scores(self, wanted)
        if self.task == "text":
            from heldout.measure.text.evaluate import segment_scores

            return segment_scores(self, wanted)
        from heldout.measure.prediction.folds import unit_scores

        return unit_scores([self.data[name] for name in self.names], wanted)

    def estimates(
        self, system: Any = None, measure: Measured | None = None, *, level: float = 0.95
    ) -> Combined:
        """Return the human-only, machine-only and combined estimates of a run in a measure."""
        from heldout.infer.prediction_powered import system_estimates  # needs this evaluation

        name, wanted = self._chosen(system, measure)
        return system_estimates(self.scores(wanted), self.names.index(name), level)

    def interval(
        self,
        system: Any = None,
        measure: Measured | None = None,
        level: float = 0.95,
        *,
        seed: int = 0,
    ) -> Interval | None:
        """Return the interval of a value, as in any comparison; None where none is valid."""
        from heldout.infer.scored_inputs import system_interval  # needs this evaluation

        name, wanted = self._chosen(system, measure)
        key = name, wanted, level, seed
        if key not in self._intervals:
            self._intervals[key] = system_interval(self, name, wanted, level=level, seed=seed)
        return self._intervals[key]

    def summary(self) -> dict[str, dict[str, Number]]:
        """Return the values as ``{system: {measure: value}}``."""
        return {
            name: {str(measure): self.value(name, measure) for measure in self.measures}
            for name in self.names
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

        if all(measure.aggregate == "none" for measure in self.measures):
            raise MeasureError("texts such as RelString do not fit into a table of numbers")
        columns: dict[str, list[Any]] = {"system": [], "unit": [], "measure": [], "value": []}
        for name in self.names:
            for measure in self.measures:
                value, units = self.value(name, measure), list[Any]([None])
                known = not isinstance(value, Undefined)
                values: list[Any] = [value if known else None]
                if known and self._has_units(scores := self.unit_scores(name, measure)):
                    units, values = list(self.units(name)), scores.per_unit().tolist()
                row = ([name] * len(units), units, [str(measure)] * len(units), values)
                for column, cells in zip(columns, row, strict=True):
                    columns[column] += cells
        types = dict.fromkeys(columns, pl.String) | {"value": pl.Float64}
        return frame_of(pl.DataFrame(columns, types), library)

    def to_dict(
        self, *, per_unit: bool = False, summary: bool = True, level: float = 0.95, seed: int = 0
    ) -> dict[str, Any]:
        """Return all values as in JSON; what is undefined is None.

        Parameters
        ----------
        per_unit, summary
            Of rankings: whether to add the values of the queries, and the means.
        level, seed
            Of intervals.
        """
        from heldout.measure.records import evaluation_record

        return evaluation_record(self, per_unit=per_unit, summary=summary, level=level, seed=seed)

    def compute(self, progress: Callable[[int, int], None] | None = None) -> Evaluation:
        """Compute all values now, so that what fails does so here, and return the evaluation."""
        for number, measure in enumerate(self.measures, 1):
            for name in self.data:
                self.value(name, measure)
            if progress:
                progress(number, len(self.measures))
        return self

    def __repr__(self) -> str:
        return f"<Evaluation of {', '.join(self.names)} in {', '.join(map(str, self.measures))}>"

    def __str__(self) -> str:
        from heldout.report import text  # shows evaluations

        return text(self, quiet=True).rstrip()

    def _has_units(self, scores: UnitScores) -> bool:
        """Return whether single units have values: F1 of one instance says nothing, BLEU does."""
        return isinstance(scores, Means) or (self.task == "text" and not isinstance(scores, Order))

    def _chosen(self, system: Any, measure: Measured | None) -> tuple[str, Measure]:
        if measure is None:
            system, measure = None, system
        if system is None and len(self.names) > 1:
            raise InputError(f"which system? Choose one of {', '.join(self.names)}")
        if measure is None and len(self.measures) > 1:
            raise MeasureError(f"which measure? Choose one of {', '.join(map(str, self.measures))}")
        return self._name(0 if system is None else system), self.measure(measure or 0)

    def _name(self, system: System) -> str:
        if isinstance(system, int):
            if not -len(self.names) <= system < len(self.names):
                raise InputError(f"no system number {system}; there are {len(self.names)}")
            return self.names[system]
        if system not in self.data:
            raise InputError(f"no system {system!r}; there are {', '.join(self.data)}")
        return system
