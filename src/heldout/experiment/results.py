"""Results: the tables of an experiment, and everything that inference and reports need."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from heldout.errors import InputError
from heldout.experiment.held_out_rankings import HeldOutRankings
from heldout.experiment.result_files import files_of, read_folder, write_folder
from heldout.experiment.split_table import no_splits
from heldout.experiment.table_columns import no_values
from heldout.infer.comparison import Comparable
from heldout.measure.base import Undefined
from heldout.notes import CODES, Note, count_of, distinct

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import polars as pl

    from heldout.data.run import Run
    from heldout.data.scores import Scores
    from heldout.experiment.held_out import FoldPredictions, Predictions, UnitName
    from heldout.experiment.held_out_predictions import HeldOutPredictions
    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.summary import EstimateRecord, SystemSummary
    from heldout.infer.comparison import Comparison
    from heldout.infer.results import Interval
    from heldout.measure.base import Number


__all__ = ["Results", "result_notes"]

VERY_DIFFERENT: Final = 3
"""Warn when one system was tuned over this many times as many points as another."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results(Comparable):
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
    splits: pl.DataFrame = field(default_factory=no_splits)
    machine: pl.DataFrame = field(default_factory=no_values)
    _side: HeldOutRankings | HeldOutPredictions = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_side", _side(self))

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
    def notes(self) -> tuple[Note, ...]:
        """Return warnings and notes about the data, the splits and the systems."""
        return result_notes(self.manifest, self.summary)

    @property
    def unit(self) -> UnitName:
        """Return the unit of tests: ``query``, ``instance`` or ``split``."""
        return self._side.unit

    def higher_is_better(self, measure: str | None = None) -> bool | None:
        """Return the direction of a measure (default: the first); None if it has none."""
        return self._side.higher_is_better(measure or self.measures[0])

    def to_frame(self) -> pl.DataFrame:
        """Return the long table."""
        return self.values

    def _system(self, name: str) -> SystemSummary:
        for entry in self.summary:
            if entry["name"] == name:
                return entry
        raise InputError(f"unknown system {name!r}: expected one of {', '.join(self.systems)}")

    def estimate(self, system: str, measure: str | None = None) -> EstimateRecord:
        """Return the estimate of a system (default measure: the first)."""
        found = self._system(system)["estimates"]
        wanted = self._side.measure_name(measure)
        for one in found:
            if one["measure"] == wanted:
                return dict(one)
        raise InputError(f"{wanted} was not computed: expected one of {', '.join(self.measures)}")

    def chosen(self, system: str) -> list[dict[str, object]]:
        """Return the chosen parameters, one per split."""
        import polars as pl

        self._system(system)
        rows = self.folds.filter(pl.col("system") == system)
        return [json.loads(parameter) for parameter in rows["parameters"]]

    def fold_predictions(self, system: str) -> list[FoldPredictions]:
        """Return the predictions of a system for each held-out side: a run, or predictions."""
        self._system(system)
        return self._side.folds(system)

    def predictions(self, system: str, run: int | None = None) -> Predictions:
        """Return the held-out predictions of a system for all units.

        Parameters
        ----------
        system
            The name of the system.
        run
            The number of the run, if there are several (default: the first).

        Returns
        -------
        Run, ClassPredictions or NumberPredictions
            Predictions have a column with their fold.
        """
        self._system(system)
        return self._side.predictions(system, run)

    def runs(self, system: str) -> dict[str, Run]:
        """Return the held-out rankings of a system by split.

        Parameters
        ----------
        system
            Name of a system that ranks.

        Returns
        -------
        dict
            Run of each split, by its name: ``r0-f3`` for fold 3 of repeat 0. If documents were held
            out, it has the documents of the fold that are in the merged ranking of all folds
            (`predictions`). Rankings are as deep as the experiment kept them (`keep_depth`), by
            default ten documents per query.
        """
        self._system(system)
        if not isinstance(self._side, HeldOutRankings):
            raise InputError(f"{system} does not rank: use predictions({system!r})")
        return self._side.runs(system)

    def split_values(self, system: str, measure: str | None = None) -> list[Number]:
        """Return the value of each split; for predictions, of any measure of the task."""
        self._system(system)
        found = self._side.split_values(system, self._side.measure_name(measure))
        return [value for _, value in found]

    def value(self, system: str, measure: str | None = None) -> float:
        """Return the held-out value of a system; raise an error if it is undefined."""
        self._system(system)
        return self._side.value(system, self._side.measure_name(measure))

    def spread(self, system: str, measure: str | None = None) -> float | None:
        """Return the standard deviation between runs of their means; None if there is one run."""
        self._system(system)
        by_run: dict[int, list[float]] = {}
        for key, value in self._side.split_values(system, self._side.measure_name(measure)):
            if key.run is not None and not isinstance(value, Undefined):
                by_run.setdefault(key.run, []).append(value)
        if len(by_run) < 2:
            return None
        return float(np.std([np.mean(values) for values in by_run.values()], ddof=1))

    def interval(
        self, system: str, measure: str | None = None, level: float | None = None
    ) -> Interval | None:
        """Return the interval of `value`; None if there is none.

        Parameters
        ----------
        system, measure
            As for `value`.
        level
            By default the level of the experiment.
        """
        self._system(system)
        wanted = self._side.measure_name(measure)
        return self._side.interval(system, wanted, self.level if level is None else level)

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
        wanted, names = self._side.measure_name(measure), self._compared(systems, None)
        over_units = self.unit != "split" if by_unit is None else by_unit
        return self._side.scores(wanted, names, by_unit=over_units)

    def tuning_notes(self) -> tuple[Note, ...]:
        """Return a note if the systems were tuned with very different effort."""
        points = {entry["name"]: entry["points"] for entry in self.summary if entry["tuned"]}
        if len(points) < 2 or max(points.values()) < VERY_DIFFERENT * min(points.values()):
            return ()
        listed = ", ".join(f"{name} {count}" for name, count in points.items())
        text = f"the systems were tuned over very different numbers of settings ({listed})"
        return (Note("uneven-tuning", text),)

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
        settings = self.manifest["settings"]
        first = baseline or (settings["baseline"] if systems is None else None)
        names = self._compared(systems, first)
        chosen = {
            "level": settings["level"],
            "seed": settings["seed"],
            "tuned": tuple(
                entry["name"] for entry in self.summary if entry["tuned"] and entry["name"] in names
            ),
            **options,
        }
        over_units = self.unit != "split" if by_unit is None else by_unit
        wanted = self._side.measure_name(measure)
        return self._side.compare(wanted, names, chosen, baseline=first, by_unit=over_units)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write all tables as Parquet, summary, timings and manifest as JSON; the manifest last.

        The manifest has a checksum of every table and of the summary.
        """
        tables = {name: getattr(self, name) for name in files_of(self.manifest)}
        write_folder(folder, tables, self.summary, self.manifest, self.timings)

    @classmethod
    def read(cls, folder: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Read the results of an experiment from their folder.

        Parameters
        ----------
        folder
            Where they are.
        verify
            Refuse files that were changed, by their checksums in the manifest.
        """
        import polars as pl

        fields = read_folder(folder, verify=verify)
        try:
            return cls(**fields)
        except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{folder}: not the predictions of an experiment ({error})") from None


def _side(results: Results) -> HeldOutRankings | HeldOutPredictions:
    if results.task == "ranking":
        return HeldOutRankings(results)
    from heldout.experiment.held_out_predictions import HeldOutPredictions  # slow to import

    return HeldOutPredictions(results)


def result_notes(manifest: Manifest, summary: Sequence[SystemSummary]) -> tuple[Note, ...]:
    """Return the notes of the data, the splits and the systems, each once.

    Parameters
    ----------
    manifest, summary
        Of the results.
    """
    splits = manifest["settings"]["splits"]
    notes = [_read(one) for one in manifest["notes"]]
    notes += [_read(note).of(entry["name"]) for entry in summary for note in entry.get("notes", ())]
    notes += [note.of(entry["name"]) for entry in summary for note in _of_system(entry, splits)]
    return distinct(notes)


def _read(kept: dict[str, Any]) -> Note:
    code: Any = kept["code"] if kept["code"] in CODES else ""
    return Note(code, kept["text"], kept["severity"], kept["count"])


def _of_system(one: SystemSummary, splits: int) -> Iterator[Note]:
    for edge in one["edges"]:
        times = f"in {edge['folds']:,} of {count_of(splits, 'split')}" if edge["folds"] else ""
        overall = "on all data" if edge["shipped"] else ""
        where = " and ".join(filter(None, (times, overall)))
        text = (
            f"{edge['name']}={edge['value']:g}, at the edge of its grid, was selected {where}; "
            "extend the grid beyond it if possible"
        )
        yield Note("at-an-end", text)
    left = one["estimates"][0].get("left_out", 0)
    if left:
        text = (
            f"{count_of(left, 'query', 'queries')} left out: no relevant document in the held-out "
            "data, or never held out"
        )
        yield Note("left-out", text)
