"""Results: the tables of an experiment, and everything that inference and reports need."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from heldout.data.frames import frame_of
from heldout.errors import HeldoutError, InputError, MeasureError
from heldout.experiment.manifest import is_stored, know_own
from heldout.experiment.results.files import read_folder, write_folder
from heldout.experiment.results.scores import scores_of, why_undefined
from heldout.experiment.results.tables import PLACE, SPLITS, VALUES, key_of, predictions_of, run_of
from heldout.infer.comparison import Comparable, Comparison, note_measures
from heldout.measure.base import Undefined
from heldout.measure.names import parse_measure
from heldout.notes import Note, count_of, distinct
from heldout.shown import Reported

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from heldout.data.frames import Library
    from heldout.data.predictions import ClassPredictions, NumberPredictions
    from heldout.data.run import Run
    from heldout.data.scores import Scores
    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.results.summary import EstimateRecord, SystemSummary
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number
    from heldout.resample.split import SplitKey


class FoldPredictions(NamedTuple):
    """The predictions of a system for one held-out side: a run, or predictions."""

    key: SplitKey
    predictions: Any


class Compared(NamedTuple):
    """Comparisons of the systems, one per measure, and why there is none in the others."""

    compared: list[Comparison]
    refused: list[Note]


@dataclass(frozen=True, eq=False, repr=False)
class Results(Comparable, Reported):
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
        For each system and split, the training mean of points that have one (mean) and, if known,
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
        Seconds of each part of the work, such as a split; they are not compared.
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

    # Of the systems that were asked for: leave-one-out has as many sides as rows.
    _sides: dict[str, list[FoldPredictions]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        know_own(self.manifest)

    def __repr__(self) -> str:
        return (
            f"<Results: {len(self.systems)} systems, {', '.join(self.measures)}, "
            f"{len(self.values)} values>"
        )

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
    def unit(self) -> Literal["query", "instance", "split"]:
        """Return the unit of tests: ``query``, also when documents are held out, or ``split``.

        It is ``instance`` (a row) if there is one hold-out, or one row per split.
        """
        if self.task == "ranking":
            return "query"
        places = self._rows(self.systems[0]).select("repeat", "fold").n_unique()
        return "instance" if places == 1 or self._one_by_one else "split"

    @property
    def _one_by_one(self) -> bool:
        """Whether each split holds out one row, as leave-one-out does."""
        sizes = self._rows(self.systems[0]).group_by(*PLACE).len()["len"]
        return len(sizes) > 1 and bool((sizes == 1).all())

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

    def _measure(self, measure: str | None, *, computed: bool = False) -> Measure:
        """Return a measure; predictions are kept, so others of them can still be computed."""
        know_own(self.manifest)  # other results may have a measure of the same name
        wanted = parse_measure(measure or self.measures[0], self.task)
        computed = computed or self.task == "ranking" or is_stored(wanted)
        if computed and str(wanted) not in self.measures:
            known = ", ".join(self.measures)
            raise InputError(f"{wanted} was not computed: expected one of {known}")
        return wanted

    def _system(self, name: str) -> SystemSummary:
        for entry in self.summary:
            if entry["name"] == name:
                return entry
        raise InputError(f"unknown system {name!r}: expected one of {', '.join(self.systems)}")

    # Estimates

    def estimate(self, system: str, measure: str | None = None) -> EstimateRecord:
        """Return the estimate of a system (default measure: the first)."""
        estimates, name = self._system(system)["estimates"], self._measure(measure, computed=True)
        return next(own.copy() for own in estimates if own["measure"] == str(name))

    def chosen(self, system: str) -> list[dict[str, object]]:
        """Return the chosen parameters, one per split."""
        self._system(system)
        rows = self.folds.filter(pl.col("system") == system)
        return [json.loads(parameter) for parameter in rows["parameters"]]

    def value(self, system: str, measure: str | None = None) -> float:
        """Return the held-out value of a system; raise an error if it is undefined.

        Of predictions it is the mean over splits, or that of all rows together if each split holds
        out one of them: few measures are defined for one row.
        """
        if self.task == "ranking":
            estimate = self.estimate(system, measure)
            if estimate["value"] is None:
                raise InputError(f"{system} has no value of {estimate['measure']}")
            return float(estimate["value"])
        wanted, whole = self._measure(measure), "all rows together"
        if self._one_by_one:
            from heldout.measure.prediction.folds import repeated_value  # not for rankings

            values = [(whole, repeated_value(self._together(system), wanted))]
        else:
            values = [(f"split {key}", value) for key, value in self._by_split(system, wanted)]
        for where, value in values:
            if isinstance(value, Undefined):
                raise MeasureError(why_undefined(wanted, system, where, value))
        return float(np.mean([value for _, value in values]))

    def interval(
        self, system: str, measure: str | None = None, level: float | None = None
    ) -> Interval | None:
        """Return the interval of `value` (default: at the level of the experiment), if any.

        It is over queries, new documents, splits (corrected t), or rows (Wilson, DeLong, t, or
        bootstrap). That over documents has the level of the experiment only.
        """
        from heldout.infer.intervals import corrected_t, inside, mean_interval  # SciPy
        from heldout.infer.prediction_powered import system_estimates
        from heldout.infer.results import Interval
        from heldout.infer.scored_inputs import system_interval
        from heldout.measure.prediction.evaluate import evaluate_predictions

        wanted, level = self._measure(measure), self.level if level is None else level
        settings = self.manifest["settings"]
        if self.task == "ranking":
            estimate = self.estimate(system, measure)
            parts = [estimate[name] for name in ("value", "low", "high", "level", "interval")]
            if None in parts or level == estimate["level"]:
                return None if None in parts else Interval(*parts)
            if settings["by"] != "query":
                raise InputError(
                    f"the interval of {wanted} has level {estimate['level']:g}: run the experiment "
                    "again for another one"
                )
        elif self.unit == "instance":
            evaluated = evaluate_predictions([self._together(system)], [str(wanted)])
            return system_interval(evaluated, system, wanted, level=level)
        if any(isinstance(value, Undefined) for value in self.split_values(system, measure)):
            return None
        scores = self.scores(measure, systems=[system])
        if scores.machine is not None:
            return system_estimates(scores, 0, level).combined
        if self.unit == "query":
            return mean_interval(scores.values[:, 0], level, scores.range)
        return inside(corrected_t(scores.values[:, 0], settings["test_share"], level), scores.range)

    def split_values(self, system: str, measure: str | None = None) -> list[Number]:
        """Return the value of each split; for predictions, of any measure of the task."""
        self._system(system)
        return [value for _, value in self._by_split(system, self._measure(measure))]

    def _by_split(self, system: str, measure: Measure) -> list[tuple[SplitKey, Number]]:
        if self.task != "ranking" and not is_stored(measure):
            from heldout.experiment.instances import defined_value  # scikit-learn

            sides = self.fold_predictions(system)
            return [(side.key, defined_value(measure, side.predictions)) for side in sides]
        # Of queries; or of a measure of the user's own, of which only the values are known.
        rows = self.values.filter(system=system, measure=str(measure))
        if self.task != "ranking":
            rows = rows.filter(pl.col("unit").is_null())
        values: list[tuple[SplitKey, Number]] = []
        for part in rows.partition_by(*PLACE, maintain_order=True):
            value = float(np.mean(part["value"].to_numpy()))
            unknown = Undefined("it had no value when the experiment ran")
            values.append((key_of(part), unknown if np.isnan(value) else value))
        return values

    def spread(self, system: str, measure: str | None = None) -> float | None:
        """Return the standard deviation between runs of their means; None if there is one run."""
        self._system(system)
        by_run: dict[int, list[float]] = {}
        for key, value in self._by_split(system, self._measure(measure)):
            if key.run is not None and not isinstance(value, Undefined):
                by_run.setdefault(key.run, []).append(value)
        if len(by_run) < 2:
            return None
        return float(np.std([np.mean(values) for values in by_run.values()], ddof=1))

    # Held-out rankings and predictions

    def _rows(self, system: str) -> pl.DataFrame:
        return self.held_out.filter(system=self._system(system)["name"])

    def _read(
        self, rows: pl.DataFrame, **marks: bool
    ) -> Run | ClassPredictions | NumberPredictions:
        """Return what was predicted in some rows: a run, or predictions."""
        if self.task == "ranking":
            return run_of(rows)
        return predictions_of(rows, self.manifest["settings"]["data"]["classes"], **marks)

    def _together(self, system: str) -> Any:
        """Return the predictions of all splits; a row predicted several times has repeats."""
        rows = self._rows(system)
        repeats = rows.select("repeat", "run").n_unique() > 1
        return self._read(rows, folds=self.unit == "split", repeats=repeats)

    def fold_predictions(self, system: str) -> list[FoldPredictions]:
        """Return the predictions of a system for each held-out side: a run, or predictions."""
        if system not in self._sides:
            rows = self._rows(system)
            if rows["fold"].is_null().any():  # merged over the folds of documents
                folds = self.splits.filter(kind="document")
                folds = folds.select("repeat", "fold", document="unit")
                rows = rows.drop("fold").join(
                    folds, on=["repeat", "document"], maintain_order="left"
                )
                rows = rows.sort("repeat", "run", "fold", maintain_order=True)
            parts = rows.partition_by(*PLACE, maintain_order=True)
            self._sides[system] = [
                FoldPredictions(key_of(part), self._read(part)) for part in parts
            ]
        return self._sides[system]

    def predictions(
        self, system: str, run: int | None = None
    ) -> Run | ClassPredictions | NumberPredictions:
        """Return the held-out predictions of a system for all units; of rows with their folds.

        Of several repeats of folds of queries, the rankings are those of the first. Of several runs
        of the experiment, `run` is the number of one (default: the first).
        """
        rows, one_each = self._rows(system), ["unit"]
        rows = rows.filter(pl.col("run").is_null() | (pl.col("run") == (run or 0)))
        runs = self.manifest["settings"]["runs"]
        if run is not None and not 0 <= run < runs:
            raise InputError(f"expected 0 to {runs - 1}", argument="run", value=run)
        if self.task == "ranking":
            rows = rows.filter(pl.col("repeat") == pl.col("repeat").first())
            one_each = ["unit", "rank"]
        if rows.select(one_each).is_duplicated().any():
            raise InputError(
                "units were held out several times: use fold_predictions(system) for each fold"
            )
        return self._read(rows, folds=rows.select("repeat", "fold").n_unique() > 1)

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
        return scores_of(self, self._measure(measure), names, by_unit=by_unit)

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
        given: dict[str, Any]
        if self.task != "ranking" and by_unit:
            several = [self._together(name) for name in names]
            given = {"given": several, "measure": str(self._measure(measure)), "by": "unit"}
        else:
            given = {"given": self.scores(measure, systems=names, by_unit=by_unit)}
            given["test_share"] = None if by_unit else settings["test_share"]
        given |= {
            "level": settings["level"],
            "seed": settings["seed"],
            "tuned": tuple(name for name in tuned if name in names),
            "baseline": first,
        }
        return compare(**{**given, **options})

    @cached_property
    def comparisons(self) -> Compared:
        """The systems compared in each measure that has a better and a worse, by `compare`."""
        compared, refused = list[Comparison](), []
        for measure in self.measures if len(self.systems) > 1 else ():
            if self.higher_is_better(measure) is None:
                continue
            try:
                compared.append(self.compare(measure))
            except HeldoutError as error:  # a measure that does not exist on some split, say
                refused.append(Note("not-compared", f"not compared in {measure}: {error}"))
        return Compared(note_measures(compared), refused)

    # Other forms

    def to_frame(self, library: Library = "polars") -> Any:
        """Return the long table as a frame of Polars or pandas."""
        return frame_of(self.values, library)

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest, the summary of each system, notes and comparisons, as in JSON."""
        from heldout.infer.order_agreement import comparison_records

        compared, refused = self.comparisons
        return {
            "manifest": self.manifest,
            "systems": self.summary,
            "warnings": [note.to_dict() for note in distinct([*self.notes, *refused])],
            "comparisons": comparison_records(compared) if compared else [],
        }

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write tables as Parquet, the rest as JSON; the manifest, with checksums, is the last."""
        write_folder(folder, vars(self))

    @classmethod
    def read(cls, folder: str | os.PathLike[str], *, verify: bool = True) -> Results:
        """Read results from their folder; `verify` refuses files that were changed."""
        return cls(**read_folder(folder, verify=verify))


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
