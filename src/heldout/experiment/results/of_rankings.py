"""Results of systems that rank: values of queries, ranked lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from heldout.data.run import Run
from heldout.data.scores import MachineScores, Scores
from heldout.errors import InputError
from heldout.experiment.results.results import FoldPredictions, Results
from heldout.experiment.results.tables import PLACE, mean_by_unit
from heldout.experiment.results.tuning_variance import read_choices
from heldout.infer.comparison_notes import TAKEN_AS_GIVEN
from heldout.notes import Note
from heldout.resample.split import SplitKey

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.outcomes import RankedOutcome
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.results.results import UnitName
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure, Number


class RankingResults(Results):
    """Held-out rankings, evaluated by the measures of the experiment."""

    @property
    def unit(self) -> UnitName:
        """Return the unit: queries, also when documents are held out."""
        return "query"

    def value(self, system: str, measure: str | None = None) -> float:
        """Return the estimate."""
        estimate = self.estimate(system, measure)
        if estimate["value"] is None:
            raise InputError(f"{system} has no value of {estimate['measure']}")
        return float(estimate["value"])

    def interval(
        self, system: str, measure: str | None = None, level: float | None = None
    ) -> Interval | None:
        """Return the interval of the estimate; over queries at any level."""
        from heldout.infer.intervals import mean_interval  # SciPy
        from heldout.infer.results import Interval

        estimate = self.estimate(system, measure)
        parts = [estimate[name] for name in ("value", "low", "high", "level", "interval")]
        if None in parts:
            return None
        if level is None or level == estimate["level"]:
            return Interval(*parts)
        if self.manifest["settings"]["by"] != "query":
            raise InputError(
                f"the interval of {estimate['measure']} has level {estimate['level']:g}: run the "
                "experiment again for another one"
            )
        scores = self.scores(measure, systems=[system])
        if scores.machine is not None:
            from heldout.infer.prediction_powered import system_estimates  # SciPy

            return system_estimates(scores, 0, level).combined
        return mean_interval(scores.values[:, 0], level, scores.range)

    def _split_values(self, system: str, measure: Measure) -> list[tuple[SplitKey, Number]]:
        """Return the mean over the queries of each held-out side."""
        rows = self.values.filter(system=system, measure=self._computed(measure))
        return [
            (_key(part), float(np.mean(part["value"].to_numpy())))
            for part in rows.partition_by(*PLACE, maintain_order=True)
        ]

    # Ranked lists

    def fold_predictions(self, system: str) -> list[FoldPredictions]:
        """Return the ranked lists of each held-out side, as runs."""
        lists = self.held_out.filter(system=self._system(system)["name"])
        if lists["fold"].is_null().any():  # merged over the folds of documents
            folds = self.splits.filter(kind="document").select("repeat", "fold", document="unit")
            lists = lists.drop("fold").join(folds, on=["repeat", "document"], maintain_order="left")
            lists = lists.sort("repeat", "run", "fold", maintain_order=True)
        parts = lists.partition_by(*PLACE, maintain_order=True)
        return [FoldPredictions(system, _key(part), _run(part, system)) for part in parts]

    def predictions(self, system: str, run: int | None = None) -> Run:
        """Return the ranked list of each query, if it was held out once in a repeat."""
        lists = self.held_out.filter(system=self._system(system)["name"]).filter(
            pl.col("repeat") == pl.col("repeat").first(),
            pl.col("run").is_null() | (pl.col("run") == (run or 0)),
        )
        if lists.select("unit", "rank").is_duplicated().any():
            raise InputError(
                "queries were held out several times: use fold_predictions(system) for each fold"
            )
        return _run(lists, system)

    # Comparisons

    def _scores(self, measure: Measure, systems: Sequence[str], *, by_unit: bool) -> Scores:
        """Return the value of each query where it was held out."""
        if not by_unit:
            raise InputError("rankings are compared query by query, not split by split")
        computed = self._computed(measure)
        if measure.higher_is_better is None:
            raise InputError(f"{measure} has no direction (better or worse): it cannot be compared")
        values = _by_query(self.values, computed, systems)
        for name, own in zip(systems, values, strict=True):
            if not own:
                raise InputError(f"{name} has no value of {measure}")
        common, every = set.intersection(*map(set, values)), set.union(*map(set, values))
        queries, machine = sorted(common), None
        if len(self.machine):
            # Of the queries that people judged, and of all others.
            judged = _by_query(self.machine, computed, systems)
            extra = sorted(set.intersection(*map(set, judged)) - every)
            machine = MachineScores(_matrix(judged, queries), _matrix(judged, extra))
        return Scores(
            computed,
            tuple(systems),
            tuple(queries),
            _matrix(values, queries),
            bool(measure.higher_is_better),
            dropped=tuple(sorted(every - common)),
            data=self.manifest["fingerprints"]["collection"],
            notes=(*self.tuning_notes(), *self._choice_notes(systems)),
            choices=read_choices(self.summary, computed, systems),
            unit="query",
            range=measure.range,
            machine=machine,
        )

    def _choice_notes(self, systems: Sequence[str]) -> Iterator[Note]:
        """Warn of differences without the variance of the selection, of systems that learn."""
        settings = self.manifest["settings"]
        chosen = [entry for entry in self.summary if entry["name"] in systems and entry["tuned"]]
        unknown = [entry["name"] for entry in chosen if entry.get("choices") is None]
        if settings["by"] == "query" and settings["splits"] > 1 and len(systems) > 1 and unknown:
            text = (
                f"{', '.join(unknown)}: tuned in folds of nearly the same queries, but the values "
                "of other parameter settings are unknown, so tests treat the selected ones as "
                f"fixed; for built-in models such intervals {TAKEN_AS_GIVEN}"
            )
            yield Note("shared-choices", text)


def _by_query(table: pl.DataFrame, measure: str, systems: Sequence[str]) -> list[dict[str, float]]:
    """Return, for each system, one value per query: the mean, if it was held out several times."""
    own = [table.filter(system=name, measure=measure) for name in systems]
    return [mean_by_unit(part["unit"], part["value"]) for part in own]


def _matrix(values: Sequence[dict[str, float]], queries: Sequence[str]) -> Any:
    return np.array([[own[query] for own in values] for query in queries])


def _key(part: pl.DataFrame) -> SplitKey:
    """Return where some rows were held out."""
    repeat, fold, other, run = part.select(*PLACE).row(0)
    return SplitKey(repeat, fold, other=other, run=run)


def _run(part: pl.DataFrame, system: str) -> Run:
    """Return ranked lists as a run; without scores, the rank determines the order."""
    kept = part.filter(pl.col("document").is_not_null())
    scores = kept["score"] if not kept["score"].is_null().any() else -kept["rank"]
    columns = {"query": kept["unit"], "doc": kept["document"], "score": scores}
    return Run.of({role: cells.to_list() for role, cells in columns.items()}, system)


def ranking_results(
    prepared: PreparedRankings,
    outcomes: Sequence[RankedOutcome],
    manifest: Manifest,
    timings: Timings,
) -> RankingResults:
    """Turn the outcomes of all systems into results."""
    from heldout.experiment.results.summary import (  # reading results does not need them
        document_differences,
        ranking_estimates,
        system_summary,
    )
    from heldout.experiment.results.tables import fold_tables, list_table, split_table, value_table
    from heldout.experiment.results.tuning_variance import query_choices
    from heldout.experiment.results.two_judges import combine, judge_held_out

    judged, others = outcomes, dict[str, pl.DataFrame]()
    if prepared.judges is not None:
        both = prepared.judges.judged
        judged, by_machine, notes = judge_held_out(prepared, both, outcomes)
        others = {"machine": value_table(prepared, by_machine)}
    summary = [
        system_summary(system, outcome, ranking_estimates(prepared, outcome))
        for system, outcome in zip(prepared.systems, judged, strict=True)
    ]
    if prepared.experiment.by == "document":
        for entry, own in zip(summary, document_differences(prepared, outcomes), strict=True):
            entry["differences"] = own
    if prepared.experiment.by == "query":
        for entry, spreads in zip(summary, query_choices(prepared, outcomes), strict=True):
            entry["choices"] = spreads
    results = RankingResults(
        values=value_table(prepared, judged),
        **fold_tables(prepared.systems, judged),
        held_out=list_table(prepared, judged),
        summary=summary,
        manifest=manifest,
        timings=timings,
        splits=split_table(prepared.splits),
        **others,
    )
    if prepared.judges is not None:
        combine(prepared, prepared.judges.judged, results, notes)
    return results
