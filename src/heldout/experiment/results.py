"""Results: the long table of an experiment, and all that inference and reports need beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from heldout.errors import InputError
from heldout.experiment.held_out_rankings import HeldOutRankings
from heldout.experiment.result_files import read_folder, table_files, write_folder
from heldout.experiment.result_notes import result_notes
from heldout.experiment.split_table import no_splits
from heldout.measure.undefined import Undefined
from heldout.notes import Note
from heldout.tune.runs import VERY_DIFFERENT

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import polars as pl

    from heldout.data.run import Run
    from heldout.data.scores import Scores
    from heldout.experiment.held_out import FoldPredictions, HeldOut, Predictions, UnitName
    from heldout.experiment.manifest import Manifest
    from heldout.experiment.summary import EstimateRecord, SystemSummary
    from heldout.infer.compare import CompareOptions, Comparison
    from heldout.infer.results import Interval
    from heldout.measure.undefined import Number

__all__ = ["Results"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results:
    """What an experiment has found, whatever its task.

    Parameters
    ----------
    values
        The long table: system, repeat, fold, other (the fold of the documents where both are held
        out), run, unit (the query or the row), measure, value, parameters (as JSON). A fold of
        null: all folds of the repeat were merged into one ranking. A unit of null: the value of the
        whole held-out side, of predictions (null where it does not exist).
    folds
        For each system and split what was chosen (number, parameters), its score on the train side
        and on the held-out side, by the measure it was chosen by. Of estimators what is seen are
        the inner folds.
    surface
        For each system and split the train-side mean of every point; a repeat of null: all data.
    held_out
        What was predicted for what was held out. Of rankings, in ``lists.parquet``, the top of each
        list: system, repeat, fold, run, unit, rank, document, score. Of estimators, in
        ``predictions.parquet``: system, repeat, fold, run, unit, group (if there are groups),
        truth, prediction, scores (of each class, by its name), probabilities (whether the scores
        are). Every measure of predictions can be computed from it.
    summary
        For each system the estimates, the choices and the parameters to ship.
    manifest
        Versions, seed, fingerprints, policies and settings.
    timings
        Seconds of each task; not part of what is compared.
    splits
        Which unit was held out where: repeat, fold, kind (query, document or instance), unit, side,
        count (how often it was drawn). Of folds there are the test sides alone; the train side of a
        fold is the rest of its repeat.
    """

    values: pl.DataFrame
    folds: pl.DataFrame
    surface: pl.DataFrame
    held_out: pl.DataFrame
    summary: list[SystemSummary]
    manifest: Manifest
    timings: dict[str, Any]
    splits: pl.DataFrame = field(default_factory=no_splits)
    _side: HeldOut = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_side", _side(self))

    def __repr__(self) -> str:
        return (
            f"<Results: {len(self.systems)} systems, {', '.join(self.measures)}, "
            f"{len(self.values)} values>"
        )

    def __str__(self) -> str:
        from heldout.notebook import results_text  # the report reads results

        return results_text(self)

    def _repr_html_(self) -> str:
        """Show the estimates as tables and a chart in a notebook."""
        from heldout.notebook import results_html  # the report reads results

        return results_html(self)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(one["name"] for one in self.summary)

    @property
    def task(self) -> str:
        """``ranking``, ``classification`` or ``regression``."""
        return str(self.manifest["settings"]["task"])

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures."""
        return tuple(self.manifest["settings"]["measures"])

    @property
    def level(self) -> float:
        """The confidence level of the experiment."""
        return float(self.manifest["settings"]["level"])

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a careful reader should know about the data, the splits and the systems."""
        return result_notes(self.manifest, self.summary)

    @property
    def unit(self) -> UnitName:
        """What tests take for the unit: ``query``, ``instance`` or ``split``."""
        return self._side.unit

    def higher_is_better(self, measure: str | None = None) -> bool | None:
        """The direction of a measure, of the first by default; None if it has none."""
        return self._side.higher_is_better(measure or self.measures[0])

    def to_frame(self) -> pl.DataFrame:
        """The long table."""
        return self.values

    def _system(self, name: str) -> SystemSummary:
        for one in self.summary:
            if one["name"] == name:
                return one
        raise InputError(f"no system {name!r}; there are {', '.join(self.systems)}")

    def estimate(self, system: str, measure: str | None = None) -> EstimateRecord:
        """The estimate of a system, of the first measure by default."""
        found = self._system(system)["estimates"]
        wanted = self._side.measure_name(measure)
        for one in found:
            if one["measure"] == wanted:
                return one.copy()
        raise InputError(f"{wanted} was not measured; there are {', '.join(self.measures)}")

    def chosen(self, system: str) -> list[dict[str, Any]]:
        """The parameters that were chosen, one a split."""
        import polars as pl

        self._system(system)
        rows = self.folds.filter(pl.col("system") == system)
        return [json.loads(one) for one in rows["parameters"]]

    def fold_predictions(self, system: str) -> list[FoldPredictions]:
        """What a system predicted for each held-out side: a run, or predictions."""
        self._system(system)
        return self._side.folds(system)

    def predictions(self, system: str, run: int | None = None) -> Predictions:
        """What a system predicted for all units, each by systems that had not seen it.

        Parameters
        ----------
        system
            Which.
        run
            Which run, if there are several; by default the first.

        Returns
        -------
        Run, ClassPredictions or NumberPredictions
            Predictions have a column of their fold.
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
            Run of each split, by its name: ``r0-f3`` for fold 3 of repeat 0; ``r0`` if the held-out
            documents of all folds of a repeat were merged. The runs have the documents that the
            experiment kept, by default the first ten of each query.
        """
        self._system(system)
        if not isinstance(self._side, HeldOutRankings):
            raise InputError(f"{system} does not rank: use predictions({system!r})")
        return self._side.runs(system)

    def split_values(self, system: str, measure: str | None = None) -> list[Number]:
        """The value of each split; of predictions any measure of the task will do."""
        self._system(system)
        found = self._side.split_values(system, self._side.measure_name(measure))
        return [value for _, value in found]

    def value(self, system: str, measure: str | None = None) -> float:
        """The held-out value of a system; refused where it does not exist."""
        self._system(system)
        return self._side.value(system, self._side.measure_name(measure))

    def spread(self, system: str, measure: str | None = None) -> float | None:
        """The standard deviation over runs of the mean of a run; None if there is one run."""
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
        """The interval of `value`; None if there is none.

        Parameters
        ----------
        system, measure
            As for `value`.
        level
            By default that of the experiment.
        """
        self._system(system)
        wanted = self._side.measure_name(measure)
        return self._side.interval(system, wanted, self.level if level is None else level)

    def _compared(self, systems: Sequence[str] | None, baseline: str | None) -> list[str]:
        """Those that were asked for; else all that were given, one alone beside a baseline."""
        if systems is not None:
            return [self._system(name)["name"] for name in systems]
        added = [one["name"] for one in self.summary if one.get("baseline")]
        own = [one for one in self.systems if one not in added]
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
        """Scores to compare: what each unit got where it was held out, or each split.

        Parameters
        ----------
        measure
            By default the first.
        systems
            Which; by default all but the baselines, or the only one and the first baseline.
        by_unit
            Whether the unit is the query or row, and not the split; by default as `unit` says.
            Values of several runs and repeats of one unit are averaged.
        """
        wanted, names = self._side.measure_name(measure), self._compared(systems, None)
        over_units = self.unit != "split" if by_unit is None else by_unit
        return self._side.scores(wanted, names, by_unit=over_units)

    def tuning_notes(self) -> tuple[Note, ...]:
        """Whether the systems were tuned with like effort."""
        points = {one["name"]: one["points"] for one in self.summary if one["tuned"]}
        if len(points) < 2 or max(points.values()) < VERY_DIFFERENT * min(points.values()):
            return ()
        listed = ", ".join(f"{name} {count}" for name, count in points.items())
        text = f"the systems were tuned over very different numbers of values ({listed})"
        return (Note("uneven-tuning", text),)

    def compare(
        self,
        measure: str | None = None,
        *,
        baseline: str | None = None,
        systems: Sequence[str] | None = None,
        by_unit: bool | None = None,
        **options: Unpack[CompareOptions],
    ) -> Comparison:
        """Compare the systems on what was held out, by the test that fits.

        Rankings are compared query by query; predictions split by split with the corrected t test,
        or unit by unit, where there is one hold-out.

        Parameters
        ----------
        measure, systems, by_unit
            As for `scores`.
        baseline
            Compare all others with this system; by default the experiment's own.
        options
            As for `heldout.compare`.
        """
        settings = self.manifest["settings"]
        first = baseline or (settings["baseline"] if systems is None else None)
        names = self._compared(systems, first)
        chosen = {
            "baseline": first,
            "level": settings["level"],
            "seed": settings["seed"],
            "tuned": tuple(
                one["name"] for one in self.summary if one["tuned"] and one["name"] in names
            ),
        }
        over_units = self.unit != "split" if by_unit is None else by_unit
        wanted = self._side.measure_name(measure)
        return self._side.compare(wanted, names, {**chosen, **options}, by_unit=over_units)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write all tables as Parquet, summary, timings and manifest as JSON; the manifest last.

        The manifest holds a checksum of every table and of the summary.
        """
        tables = {name: getattr(self, name) for name in table_files(self.task)}
        write_folder(folder, tables, self.summary, self.manifest, self.timings)

    @classmethod
    def read(cls, folder: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Read the results of an experiment from their folder.

        Parameters
        ----------
        folder
            Where they were written.
        verify
            Refuse files that are not as they were written, by their checksums in the manifest.
            Results of heldout 0.1 have none, and are read as they are.
        """
        import polars as pl

        fields = read_folder(folder, verify=verify)
        try:
            return cls(**fields)
        except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{folder}: predictions that no experiment writes ({error})") from None


def _side(results: Results) -> HeldOut:
    if results.task == "ranking":
        return HeldOutRankings(results)
    from heldout.experiment.held_out_predictions import HeldOutPredictions  # measures of these

    return HeldOutPredictions(results)
