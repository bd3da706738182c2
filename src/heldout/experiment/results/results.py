"""Results: the tables of an experiment, and everything that inference and reports need."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from heldout.data.frames import frame_of
from heldout.errors import InputError
from heldout.experiment.manifest import know_own
from heldout.experiment.results.files import read_folder, write_folder
from heldout.experiment.results.tables import SPLITS, VALUES
from heldout.infer.comparison import Comparable
from heldout.measure.base import Undefined
from heldout.measure.names import parse_measure
from heldout.notes import Note, count_of, distinct

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from heldout.data.frames import Library
    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.run import Run
    from heldout.data.scores import Scores
    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.prepare import Prepared
    from heldout.experiment.results.summary import EstimateRecord, SystemSummary
    from heldout.infer.comparison import Comparison
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number
    from heldout.resample.split import SplitKey

UnitName = Literal["query", "instance", "split"]


class FoldPredictions(NamedTuple):
    """The predictions of a system for one held-out side: a run, or predictions."""

    system: str
    key: SplitKey
    predictions: Any


@dataclass(frozen=True, eq=False, repr=False)
class Results(Comparable, ABC):
    """The results of an experiment, for any task.

    Parameters
    ----------
    values
        The long table: system, repeat, fold, other (the fold of the documents if both are held
        out), run, unit (the query or the row), measure, value, parameters (as JSON). A null fold:
        all folds of the repeat were merged into one ranking. A null unit: the value of the whole
        held-out side, for predictions (null if it is undefined).
    folds
        For each system and split, the chosen parameters (number, parameters), and the score on the
        training side and on the held-out side by the tuning measure. For estimators, the training
        score is that of the inner folds.
    surface
        For each system and split, the training mean of every point (mean) and, where it is known,
        its mean on the held-out side (held_out; a point chosen by it would be tuned on test data);
        a null repeat: all data.
    held_out
        The predictions for held-out data. Of rankings, in ``lists.parquet``, the top of each list:
        system, repeat, fold, run, unit, rank, document, score. Of estimators, in
        ``predictions.parquet``: system, repeat, fold, run, unit, group (if there are groups),
        truth, prediction, scores (per class, by its name), probabilities (whether the scores are
        probabilities). Every measure of predictions can be computed from it.
    summary
        For each system the estimates, the choices, and the parameters selected on all data.
    manifest
        Versions, seed, fingerprints, policies and settings.
    timings
        Seconds of each task; they are not compared.
    splits
        Which unit was held out where: repeat, fold, kind (query, document or instance), unit, side,
        count (how often it was drawn). Folds have only their test sides; the training side of a
        fold is the rest of its repeat.
    machine
        The long table under machine judgements, if there are any; `values` are then those of the
        queries with human judgements.
    """

    values: pl.DataFrame
    folds: pl.DataFrame
    surface: pl.DataFrame
    held_out: pl.DataFrame
    summary: list[SystemSummary]
    manifest: Manifest
    timings: Timings
    splits: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SPLITS))
    machine: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=VALUES))

    def __post_init__(self) -> None:
        know_own(self.manifest)

    def __repr__(self) -> str:
        return (
            f"<Results: {len(self.systems)} systems, {', '.join(self.measures)}, "
            f"{len(self.values)} values>"
        )

    def __str__(self) -> str:
        from heldout.report.experiment import results_text  # the report reads results

        return results_text(self).rstrip()

    def _repr_html_(self) -> str:
        """Show the estimates as tables and a chart in a notebook."""
        from heldout.notebook import part_html
        from heldout.report.page.of_results import part_of_results

        return part_html(part_of_results(self))

    # What was evaluated

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems."""
        return tuple(entry["name"] for entry in self.summary)

    @property
    def task(self) -> str:
        """Return ``ranking``, ``classification`` or ``regression``."""
        return str(self.manifest["settings"]["task"])

    @property
    def measures(self) -> tuple[str, ...]:
        """Return the measures."""
        return tuple(self.manifest["settings"]["measures"])

    @property
    def level(self) -> float:
        """Return the confidence level of the experiment."""
        return float(self.manifest["settings"]["level"])

    @property
    @abstractmethod
    def unit(self) -> UnitName:
        """Return the unit of tests: ``query``, ``instance`` or ``split``."""

    def higher_is_better(self, measure: str | None = None) -> bool | None:
        """Return the direction of a measure (default: the first); None if it has none."""
        return self._measure(measure).higher_is_better

    @property
    def notes(self) -> tuple[Note, ...]:
        """Return warnings and notes about the data, the splits and the systems, each once."""
        notes = [Note(**kept) for kept in self.manifest["notes"]]
        for entry in self.summary:
            notes += [Note(**kept).of(entry["name"]) for kept in entry.get("notes", ())]
        for entry in self.summary:
            splits = self.manifest["settings"]["splits"]
            notes += [note.of(entry["name"]) for note in _system_notes(entry, splits)]
        return distinct(notes)

    def tuning_notes(self) -> tuple[Note, ...]:
        """Return a note if the systems were tuned with very different effort."""
        points = {entry["name"]: entry["points"] for entry in self.summary if entry["tuned"]}
        if len(points) < 2 or max(points.values()) < 3 * min(points.values()):
            return ()
        listed = ", ".join(f"{name} {count}" for name, count in points.items())
        text = f"the systems were tuned over very different numbers of settings ({listed})"
        return (Note("uneven-tuning", text),)

    def _measure(self, measure: str | None) -> Measure:
        know_own(self.manifest)  # other results may have a measure of the same name
        return parse_measure(measure or self.measures[0], self.task)

    def _computed(self, measure: Measure) -> str:
        """Return the name of a measure that was computed."""
        if str(measure) not in self.measures:
            known = ", ".join(self.measures)
            raise InputError(f"{measure} was not computed: expected one of {known}")
        return str(measure)

    def _system(self, name: str) -> SystemSummary:
        for entry in self.summary:
            if entry["name"] == name:
                return entry
        raise InputError(f"unknown system {name!r}: expected one of {', '.join(self.systems)}")

    # Estimates

    def estimate(self, system: str, measure: str | None = None) -> EstimateRecord:
        """Return the estimate of a system (default measure: the first)."""
        estimates, wanted = self._system(system)["estimates"], self._measure(measure)
        return next(own.copy() for own in estimates if own["measure"] == self._computed(wanted))

    def chosen(self, system: str) -> list[dict[str, object]]:
        """Return the chosen parameters, one per split."""
        self._system(system)
        rows = self.folds.filter(pl.col("system") == system)
        return [json.loads(parameter) for parameter in rows["parameters"]]

    @abstractmethod
    def value(self, system: str, measure: str | None = None) -> float:
        """Return the held-out value of a system; raise an error if it is undefined."""

    @abstractmethod
    def interval(
        self, system: str, measure: str | None = None, level: float | None = None
    ) -> Interval | None:
        """Return the interval of `value` (default: at the level of the experiment), if any."""

    def split_values(self, system: str, measure: str | None = None) -> list[Number]:
        """Return the value of each split; for predictions, of any measure of the task."""
        self._system(system)
        return [value for _, value in self._split_values(system, self._measure(measure))]

    @abstractmethod
    def _split_values(self, system: str, measure: Measure) -> list[tuple[SplitKey, Number]]: ...

    def spread(self, system: str, measure: str | None = None) -> float | None:
        """Return the standard deviation between runs of their means; None if there is one run."""
        self._system(system)
        by_run: dict[int, list[float]] = {}
        for key, value in self._split_values(system, self._measure(measure)):
            if key.run is not None and not isinstance(value, Undefined):
                by_run.setdefault(key.run, []).append(value)
        if len(by_run) < 2:
            return None
        return float(np.std([np.mean(values) for values in by_run.values()], ddof=1))

    # Held-out rankings and predictions

    @abstractmethod
    def fold_predictions(self, system: str) -> list[FoldPredictions]:
        """Return the predictions of a system for each held-out side: a run, or predictions."""

    @abstractmethod
    def predictions(
        self, system: str, run: int | None = None
    ) -> Run | ClassPredictions | NumberPredictions:
        """Return the held-out predictions of a system for all units; of rows with their folds.

        Of several runs of the experiment, `run` is the number of one (default: the first).
        """

    def runs(self, system: str) -> dict[str, Run]:
        """Return the held-out rankings of a system by the name of the split, such as ``r0-f3``.

        If documents were held out, a run has those of the fold in the merged ranking of all folds
        (`predictions`). Rankings are as deep as the experiment kept them (`keep_depth`), by
        default ten documents per query.
        """
        if self.task != "ranking":
            raise InputError(f"{system} does not rank: use predictions({system!r})")
        folds = self.fold_predictions(system)
        return {str(fold.key).replace("/", "-"): fold.predictions for fold in folds}

    # Comparisons

    def _compared(self, systems: Sequence[str] | None, baseline: str | None) -> list[str]:
        """Return the systems asked for; by default all, or a single one and a baseline."""
        if systems is not None:
            return [self._system(name)["name"] for name in systems]
        added = [entry["name"] for entry in self.summary if entry.get("baseline")]
        own = [system for system in self.systems if system not in added]
        if len(own) == 1:
            own = [*added[:1], *own]
        return own if baseline is None or baseline in own else [baseline, *own]

    def scores(
        self,
        measure: str | None = None,
        *,
        systems: Sequence[str] | None = None,
        by_unit: bool | None = None,
    ) -> Scores:
        """Return scores to compare: the held-out value of each unit, or of each split.

        Parameters
        ----------
        measure
            By default the first.
        systems
            By default all but the baselines, or the only one and the first baseline.
        by_unit
            Whether the unit is the query or row instead of the split (default: as `unit` says).
            Values of several runs and repeats of one unit are averaged.
        """
        by_unit = self.unit != "split" if by_unit is None else by_unit
        names = self._compared(systems, None)
        return self._scores(self._measure(measure), names, by_unit=by_unit)

    @abstractmethod
    def _scores(self, measure: Measure, systems: Sequence[str], *, by_unit: bool) -> Scores: ...

    def compare(
        self,
        measure: str | None = None,
        *,
        baseline: str | None = None,
        systems: Sequence[str] | None = None,
        by_unit: bool | None = None,
        **options: Any,
    ) -> Comparison:
        """Compare the systems on held-out data, by the test that fits.

        Rankings are compared query by query; predictions split by split with the corrected t test,
        or unit by unit if there is one hold-out.

        Parameters
        ----------
        measure, systems, by_unit
            As for `scores`.
        baseline
            Compare all others with this system (default: the baseline of the experiment).
        options
            As for `heldout.compare`.
        """
        from heldout.infer.compare import compare  # SciPy

        settings = self.manifest["settings"]
        first = baseline or (settings["baseline"] if systems is None else None)
        names = self._compared(systems, first)
        tuned = [entry["name"] for entry in self.summary if entry["tuned"]]
        by_unit = self.unit != "split" if by_unit is None else by_unit
        given = {
            "level": settings["level"],
            "seed": settings["seed"],
            "tuned": tuple(name for name in tuned if name in names),
            "baseline": first,
            **self._to_compare(self._measure(measure), names, by_unit=by_unit),
        }
        return compare(**{**given, **options})

    def _to_compare(
        self, measure: Measure, systems: Sequence[str], *, by_unit: bool
    ) -> dict[str, Any]:
        """Return what `heldout.compare` gets, by its names."""
        return {"given": self._scores(measure, systems, by_unit=by_unit)}

    # Other forms

    def to_frame(self, library: Library = "polars") -> Any:
        """Return the long table as a frame of Polars or pandas."""
        return frame_of(self.values, library)

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest, the summary of each system, and the notes, as in JSON."""
        notes = [note.to_dict() for note in self.notes]
        return {"manifest": self.manifest, "systems": self.summary, "warnings": notes}

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write tables as Parquet, the rest as JSON; the manifest, with checksums, is the last."""
        write_folder(folder, vars(self))

    @classmethod
    def read(cls, folder: str | os.PathLike[str], *, verify: bool = True) -> Results:
        """Read results from their folder; `verify` refuses files that were changed."""
        fields = read_folder(folder, verify=verify)
        # Both are results.
        if fields["manifest"]["settings"]["task"] == "ranking":
            from heldout.experiment.results.of_rankings import RankingResults

            return RankingResults(**fields)
        from heldout.experiment.results.of_predictions import PredictionResults

        return PredictionResults(**fields)


def _system_notes(entry: SystemSummary, splits: int) -> Iterator[Note]:
    for edge in entry["edges"]:
        times = f"in {edge['folds']:,} of {count_of(splits, 'split')}" if edge["folds"] else ""
        overall = "on all data" if edge["shipped"] else ""
        where = " and ".join(filter(None, (times, overall)))
        text = (
            f"{edge['name']}={edge['value']:g}, at the edge of its grid, was selected {where}; "
            "extend the grid beyond it if possible"
        )
        yield Note("at-an-end", text)
    left = entry["estimates"][0].get("left_out", 0)
    if left:
        text = (
            f"{count_of(left, 'query', 'queries')} left out: no relevant document in the held-out "
            "data, or never held out"
        )
        yield Note("left-out", text)


def make_results(
    prepared: Prepared, outcomes: Sequence[Any], manifest: Manifest, timings: Timings
) -> Results:
    """Turn the outcomes of all systems into results."""
    given: Any = prepared
    if prepared.experiment.task == "ranking":
        from heldout.experiment.results.of_rankings import ranking_results

        return ranking_results(given, outcomes, manifest, timings)
    from heldout.experiment.results.of_predictions import prediction_results

    return prediction_results(given, outcomes, manifest, timings)
