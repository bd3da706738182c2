"""Results of systems that rank: estimates with intervals, and tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.experiment.documents.differences import document_differences
from heldout.experiment.documents.estimate import ESTIMANDS, mean_of
from heldout.experiment.manifest import note_records
from heldout.experiment.result_tables import make_tables
from heldout.experiment.results import Results
from heldout.experiment.summary import summarise_choices
from heldout.experiment.tuning_variance import query_choices
from heldout.experiment.two_judges import judge_held_out
from heldout.infer.intervals import inside
from heldout.infer.results import Interval
from heldout.resample.plans import Chronological, HoldOut, TestSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.summary import EstimateRecord
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.infer.prediction_powered import Combined
    from heldout.notes import Note

__all__ = ["ranking_results"]

_HALVES: Final = ("halves", "target_halves")
"""Fields of estimates that are kept for differences between systems, and not shown."""


def ranking_results(
    settings: RankingSettings,
    outcomes: Sequence[RankedOutcome],
    manifest: Manifest,
    timings: Timings,
) -> Results:
    """Return the tables and the summary of all systems."""
    judges = settings.machine
    both = None if judges is None else judge_held_out(settings, judges, outcomes)
    judged = outcomes if both is None else both.human
    summary = [
        summarise_choices(system, outcome, _estimates(settings, outcome))
        for system, outcome in zip(settings.systems, judged, strict=True)
    ]
    if settings.by == "document":
        for one, found in zip(summary, document_differences(settings, outcomes), strict=True):
            one["differences"] = found
    if settings.by == "query":
        for one, spreads in zip(summary, query_choices(settings, outcomes), strict=True):
            one["choices"] = spreads
    tables = make_tables(settings, judged, () if both is None else both.machine)
    results = Results(**tables, summary=summary, manifest=manifest, timings=timings)
    if both is not None:
        _combine(settings, results, both.notes)
    return results


def _combine(settings: RankingSettings, results: Results, notes: Sequence[Note]) -> None:
    """Replace estimates from human judgements by those from human and machine judgements."""
    from heldout.infer.comparison_notes import machine_notes  # SciPy
    from heldout.infer.prediction_powered import system_estimates  # SciPy

    human = results.manifest["settings"]["machine"]["human_queries"]
    trained = int((_for_training(settings) & _judged_by_people(settings)).sum())
    alone = len(results.systems) == 1  # of several, the comparison warns
    for measure in settings.measures:
        if measure.higher_is_better is None:
            continue
        scores = results.scores(str(measure), systems=results.systems)
        notes = [*notes, *(machine_notes(scores) if alone else ())]
        for at, system in enumerate(results.summary):
            record = next(one for one in system["estimates"] if one["measure"] == str(measure))
            record.update(_combined(system_estimates(scores, at, settings.level)))
            record["left_out"] = human - len(scores.units) - trained  # of those people judged
            if settings.tune_on_machine:
                record["train"] = record["optimism"] = None  # of other judgements
    kept = results.manifest["notes"]
    kept += [note for note in note_records(notes) if note not in kept]


def _combined(found: Combined) -> EstimateRecord:
    """Return what a combined estimate changes in the estimate from human judgements."""
    return {
        "value": found.combined.estimate,
        "low": found.combined.low,
        "high": found.combined.high,
        "interval": found.combined.method,
        "estimator": "combined, of human and machine judgements",
        "machine": {
            "human": _bounds(found.human),
            "machine": _bounds(found.machine),
            "weight": found.weight,
            "machine_queries": found.machine_queries,
            "effective_queries": found.effective,
        },
    }


def _bounds(interval: Interval) -> dict[str, Any]:
    return {"value": interval.estimate, "low": interval.low, "high": interval.high}


def _estimates(settings: RankingSettings, outcome: RankedOutcome) -> list[EstimateRecord]:
    values = outcome.per_query()
    if outcome.estimates:
        found = [_averaged(settings, outcome, row) for row in range(len(settings.measures))]
    elif settings.by == "query":
        found = [_by_query(settings, outcome, row, values[row]) for row in range(len(values))]
    else:
        found = [_per_fold(settings, row, values[row]) for row in range(len(values))]
    trained = int(_for_training(settings).sum())
    return [{**one, "left_out": one["left_out"] - trained} for one in found]


def _for_training(settings: RankingSettings) -> NDArray[np.bool_]:
    """Return the queries that a plan with one test set never holds out, as one expects of it."""
    splits = (settings.splits.crossed or [settings.splits])[0]
    once = isinstance(splits.plan, HoldOut | TestSet | Chronological)
    if settings.by == "document" or not once:
        return np.zeros(len(settings.collection.queries), np.bool_)
    held: NDArray[np.bool_] = np.logical_or.reduce([split.test > 0 for split in splits])
    return ~held


def _judged_by_people(settings: RankingSettings) -> NDArray[np.bool_]:
    people = set() if settings.machine is None else set(settings.machine.judged.human.queries)
    return np.array([query in people for query in settings.collection.queries.ids])


def _averaged(settings: RankingSettings, outcome: RankedOutcome, row: int) -> EstimateRecord:
    """Return the mean of estimates from several repeats, with the mean width of their intervals."""
    mine = [estimate[row] for estimate in outcome.estimates]
    value = float(np.mean([one.value for one in mine]))
    half = float(np.mean([(one.high - one.low) / 2 for one in mine]))
    optimism = float(np.mean([one.optimism for one in mine]))
    known = mean_of(outcome.training[row])
    train = float(np.mean([known if one.train is None else one.train for one in mine]))
    low, high = mine[0].low, mine[0].high
    if len(mine) > 1:
        plain = Interval(value, value - half, value + half, settings.level, "")
        low, high = inside(plain, settings.measures[row].range)[1:3]
    return {
        **{name: one for name, one in mine[0].plain().items() if name not in _HALVES},
        "value": value,
        "low": low,
        "high": high,
        "level": settings.level,
        "interval": "document jackknife",
        "train": train,
        "optimism": optimism,
    }


def _counts(settings: RankingSettings, row: int, values: Any) -> EstimateRecord:
    """Return the mean without an interval, and the number of queries."""
    kept = np.isfinite(values)
    return {
        "measure": str(settings.measures[row]),
        "value": mean_of(values),
        "n_queries": int(kept.sum()),
        "left_out": int((~kept).sum()),
        "low": math.nan,
        "high": math.nan,
        "level": settings.level,
        "interval": "none",
    }


def _by_query(
    settings: RankingSettings, outcome: RankedOutcome, row: int, values: Any
) -> EstimateRecord:
    """Return the mean over queries, each with its held-out value."""
    kept = np.isfinite(values)
    found = _counts(settings, row, values)
    interval = _interval(values[kept], settings.level, settings.measures[row].range)
    train = mean_of(outcome.training[row, kept])
    if _for_training(settings).any():
        train = _on_training_queries(settings, outcome, row)
    sign = -1 if settings.measures[row].higher_is_better is False else 1
    return {
        **found,
        "estimator": "held-out mean",
        "low": interval[0],
        "high": interval[1],
        "level": settings.level,
        "interval": interval[2],
        "estimand": ESTIMANDS["queries"],
        "train": train,
        "optimism": sign * (train - mean_of(values)),
        "target_size": len(settings.collection.documents),
    }


def _on_training_queries(settings: RankingSettings, outcome: RankedOutcome, row: int) -> float:
    """Return the mean over splits of the selected point on the training queries; NaN: unknown."""
    if settings.measures[row] == settings.tune_for:
        # By inner folds, the score of a system that learns is not one on what it has learned from.
        known = settings.inner is None or outcome.points is not None
        return mean_of(np.array([fold.chosen.train for fold in outcome.folds if known]))
    if outcome.points is None:
        return math.nan
    pairs = zip(settings.splits, outcome.folds, strict=True)
    return mean_of(
        np.array(
            [
                mean_of(np.repeat(outcome.points[row, fold.chosen.number], split.train))
                for split, fold in pairs
            ]
        )
    )


def _interval(values: Any, level: float, ends: tuple[float, float]) -> tuple[float, float, str]:
    from heldout.infer.intervals import mean_interval  # SciPy

    found = mean_interval(values, level, ends)
    return (math.nan, math.nan, "none") if found is None else (found.low, found.high, found.method)


def _per_fold(settings: RankingSettings, row: int, values: Any) -> EstimateRecord:
    """Return the mean over folds: no interval, since their documents cannot be merged."""
    words = ESTIMANDS["both" if settings.by == "both" else "documents"]
    return {
        **_counts(settings, row, values),
        "estimator": "per-fold",
        "estimand": f"{words}, as few as a fold has",
        "train": math.nan,
        "optimism": math.nan,
        "target_size": None,
    }
