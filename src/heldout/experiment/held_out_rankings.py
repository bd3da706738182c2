"""The held-out rankings of an experiment: values of queries, ranked lists."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.run import Run
from heldout.data.scores import MachineScores, Scores
from heldout.errors import InputError
from heldout.experiment.held_out import FoldPredictions, UnitName
from heldout.experiment.own_measures import know_own
from heldout.experiment.tuning_variance import read_choices, unknown_choices
from heldout.measure.names import parse_measure
from heldout.resample.split import SplitKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from heldout.experiment.results import Results
    from heldout.infer.comparison import Comparison
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number
    from heldout.notes import Note

__all__ = ["HeldOutRankings"]

_PLACE = ("repeat", "fold", "other", "run")


class HeldOutRankings:
    """Held-out rankings, evaluated by the measures of the experiment.

    Parameters
    ----------
    results
        The results of an experiment with systems that rank.
    """

    __slots__ = ("_results",)

    def __init__(self, results: Results) -> None:
        self._results = results
        know_own(results.manifest)

    def measure_name(self, measure: str | None) -> str:
        """Return the name of a measure in the tables; by default the first."""
        return str(self._measure(measure or self._results.measures[0]))

    def higher_is_better(self, measure: str) -> bool | None:
        """Return the direction of a measure; None if it has none."""
        return self._measure(measure).higher_is_better

    def _measure(self, measure: str) -> Measure:
        know_own(self._results.manifest)
        return parse_measure(measure, "ranking")

    @property
    def unit(self) -> UnitName:
        """Return the unit: queries, also when documents are held out."""
        return "query"

    def _measured(self, measure: str) -> Measure:
        wanted, known = self._measure(measure), self._results.measures
        if str(wanted) not in known:
            raise InputError(f"{wanted} was not computed: expected one of {', '.join(known)}")
        return wanted

    def folds(self, system: str) -> list[FoldPredictions]:
        """Return the ranked lists of each held-out side, as runs."""
        import polars as pl

        mine = self._results.held_out.filter(pl.col("system") == system)
        return [
            FoldPredictions(system, _key(part), _run(part, system))
            for whole in mine.partition_by(_PLACE, maintain_order=True)
            for part in self._folds(whole)
        ]

    def runs(self, system: str) -> dict[str, Run]:
        """Return the rankings of each held-out part by its name; see `Results.runs`."""
        import polars as pl

        mine = self._results.held_out.filter(pl.col("system") == system)
        parts = mine.partition_by(_PLACE, maintain_order=True)
        return {
            _part_name(part): _run(part, system) for whole in parts for part in self._folds(whole)
        }

    def _folds(self, part: pl.DataFrame) -> list[pl.DataFrame]:
        """Return a ranking that was merged over folds of documents as one part per fold."""
        import polars as pl

        repeat, fold, *_ = part.select(_PLACE).row(0)
        if fold is not None:
            return [part]
        held = self._results.splits.filter(
            (pl.col("repeat") == repeat) & (pl.col("kind") == "document")
        )
        owner = held.select(pl.col("unit").alias("document"), pl.col("fold").alias("owner"))
        joined = part.join(owner, on="document", how="inner", maintain_order="left")
        split = joined.with_columns(fold=pl.col("owner").cast(part.schema["fold"])).drop("owner")
        return split.sort("fold", maintain_order=True).partition_by("fold", maintain_order=True)

    def predictions(self, system: str, run: int | None = None) -> Run:
        """Return the ranked list of each query, if it was held out once in a repeat."""
        import polars as pl

        mine = self._results.held_out.filter(pl.col("system") == system)
        if not len(mine):
            return Run.of({}, system)
        repeat, runs = mine["repeat"][0], pl.col("run")
        mine = mine.filter(
            pl.col("repeat").eq_missing(repeat), runs.is_null() | (runs == (run or 0))
        )
        if mine.select("unit", "rank").is_duplicated().any():
            raise InputError(
                "queries were held out several times: use fold_predictions(system) for each fold"
            )
        return _run(mine, system)

    def split_values(self, system: str, measure: str) -> list[tuple[SplitKey, Number]]:
        """Return the mean over the queries of each held-out side."""
        import polars as pl

        rows = self._results.values.filter(
            pl.col("system") == system, pl.col("measure") == str(self._measured(measure))
        )
        return [
            (_key(part), float(np.mean(part["value"].to_numpy())))
            for part in rows.partition_by(_PLACE, maintain_order=True)
        ]

    def value(self, system: str, measure: str) -> float:
        """Return the estimate."""
        value = self._results.estimate(system, measure)["value"]
        if value is None:
            raise InputError(f"{system} has no value of {measure}")
        return float(value)

    def interval(self, system: str, measure: str, level: float) -> Interval | None:
        """Return the interval of the estimate; over queries at any level."""
        from heldout.infer.intervals import mean_interval  # SciPy
        from heldout.infer.results import Interval

        found = self._results.estimate(system, measure)
        value, low, high = found["value"], found["low"], found["high"]
        if value is None or low is None or high is None:
            return None
        if found["level"] == level:
            return Interval(value, low, high, found["level"], found["interval"])
        if self._results.manifest["settings"]["by"] != "query":
            raise InputError(
                f"the interval of {measure} has level {found['level']:g}: run the experiment again "
                "for another one"
            )
        scores = self.scores(measure, [system], by_unit=True)
        if scores.machine is not None:
            from heldout.infer.prediction_powered import system_estimates  # SciPy

            return system_estimates(scores, 0, level).combined
        return mean_interval(scores.values[:, 0], level, scores.range)

    def scores(self, measure: str, systems: Sequence[str], *, by_unit: bool) -> Scores:
        """Return the value of each query where it was held out."""
        if not by_unit:
            raise InputError("rankings are compared query by query, not split by split")
        wanted = self._measured(measure)
        if wanted.higher_is_better is None:
            raise InputError(f"{wanted} has no direction (better or worse): it cannot be compared")
        table = self._by_query(self._results.values, wanted, systems)
        for name, units in table.items():
            if not units:
                raise InputError(f"{name} has no value of {wanted}")
        common = sorted(set.intersection(*(set(units) for units in table.values())))
        every = sorted(set.union(*(set(units) for units in table.values())))
        return Scores(
            str(wanted),
            tuple(systems),
            tuple(common),
            np.array([[table[name][unit] for name in systems] for unit in common]),
            bool(wanted.higher_is_better),
            dropped=tuple(one for one in every if one not in set(common)),
            data=self._results.manifest["fingerprints"]["collection"],
            notes=(*self._results.tuning_notes(), *self._choice_notes(systems)),
            choices=read_choices(self._results.summary, str(wanted), systems),
            unit="query",
            range=wanted.range,
            machine=self._machine(wanted, systems, common, every),
        )

    def _machine(
        self,
        measure: Measure,
        systems: Sequence[str],
        queries: Sequence[str],
        human: Sequence[str],
    ) -> MachineScores | None:
        """Return the scores under machine judgements, of human queries and of all others."""
        if not len(self._results.machine):
            return None
        table = self._by_query(self._results.machine, measure, systems)
        shared = set.intersection(*(set(units) for units in table.values()))
        extra = sorted(shared.difference(human))
        known, others = (
            np.array([[table[name][unit] for name in systems] for unit in units])
            for units in (queries, extra)
        )
        return MachineScores(known, others)

    def _choice_notes(self, systems: Sequence[str]) -> tuple[Note, ...]:
        """Return tuned systems whose choices are unknown: they learn."""
        settings = self._results.manifest["settings"]
        if settings["by"] != "query" or settings["splits"] < 2 or len(systems) < 2:
            return ()
        chosen = [entry for entry in self._results.summary if entry["name"] in systems]
        unknown = [one["name"] for one in chosen if one["tuned"] and one.get("choices") is None]
        return unknown_choices(unknown)

    def _by_query(
        self, values: pl.DataFrame, measure: Measure, systems: Sequence[str]
    ) -> dict[str, dict[str, float]]:
        """Return one value per query: the mean, if it was held out several times."""
        import polars as pl

        rows = values.filter(pl.col("measure") == str(measure))
        table: dict[str, dict[str, float]] = {name: {} for name in systems}
        times: Counter[tuple[str, str]] = Counter()
        # Values are added in the order of the table, so that no digit depends on the threads.
        for system, unit, value in rows.select("system", "unit", "value").iter_rows():
            if system in table:
                table[system][unit] = table[system].get(unit, 0.0) + value
                times[system, unit] += 1
        for system, unit in times:
            table[system][unit] /= times[system, unit]
        return table

    def compare(
        self,
        measure: str,
        systems: Sequence[str],
        options: dict[str, Any],
        *,
        baseline: str | None,
        by_unit: bool,
    ) -> Comparison:
        """Compare systems query by query."""
        from heldout.infer.compare import compare  # SciPy

        scores = self.scores(measure, systems, by_unit=by_unit)
        return compare(scores, baseline=baseline, **options)


def _key(part: pl.DataFrame) -> SplitKey:
    """Return where some rows were held out; merged folds of a repeat are its first fold."""
    repeat, fold, other, run = part.select(_PLACE).row(0)
    return SplitKey(repeat or 0, fold or 0, other=other, run=run)


def _part_name(part: pl.DataFrame) -> str:
    """``r0-f3``, as folders of splits are named; ``r0`` if the folds of a repeat were merged."""
    repeat, fold, *_ = part.select(_PLACE).row(0)
    return f"r{repeat or 0}" if fold is None else str(_key(part)).replace("/", "-")


def _run(part: pl.DataFrame, system: str) -> Run:
    """Return ranked lists as a run; without scores, the rank determines the order."""
    import polars as pl

    kept = part.filter(pl.col("document").is_not_null())
    scores = kept["score"] if not kept["score"].is_null().any() else -kept["rank"]
    columns = {"query": kept["unit"], "doc": kept["document"], "score": scores}
    return Run.of({role: cells.to_list() for role, cells in columns.items()}, system)
