"""From outcomes to results: for each system its estimates, its choices, and its parameters."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from heldout.as_json import plain
from heldout.errors import HeldoutError
from heldout.experiment.documents.estimates import ESTIMANDS, mean_of
from heldout.experiment.outcomes import ALL
from heldout.experiment.results.results import Results
from heldout.experiment.results.tables import (
    fold_tables,
    list_table,
    prediction_tables,
    shown_point,
    split_table,
    value_table,
)
from heldout.infer.intervals import difference_inside, inside, mean_interval
from heldout.infer.results import Interval
from heldout.resample.plans import Chronological, HoldOut, TestSet
from heldout.tune.choice import TIE
from heldout.tune.choice_variance import (
    REPLICATES,
    Sides,
    TunedPoints,
    choice_spreads,
    draw_counts,
    rechoose,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Flags, Floats
    from heldout.experiment.documents.estimates import Estimate
    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.outcomes import Outcome, RankedOutcome
    from heldout.experiment.prepare import PreparedRankings

EstimateRecord: TypeAlias = dict[str, Any]
"""The estimate of one measure: measure, value, low, high, level, and interval (how it was made).

Of rankings also estimator, estimand, n_queries, left_out (queries), train (the training score),
optimism, target_size (documents that it is for) and, of two judgements, machine (the estimates by
each, and their weight). Of predictions also reason (why there is no value), spread (the standard
deviation between runs) and n_splits. What is undefined or unknown is None."""
SystemDifference: TypeAlias = dict[str, Any]
"""The difference on new documents to an earlier system: measure, system, difference, low, high."""
SystemSummary: TypeAlias = dict[str, Any]
"""One system: name, points (their number), tuned, estimates, chosen (parameters, and the times that
splits chose them), ship and ship_number (the parameters chosen on all data), and edges (choices at
an end of the grid).

Of estimators also baseline (whether it was added) and notes; of rankings differences, if documents
are held out, and choices, if queries are: see `query_choices`."""

_HALVES: Final = ("halves", "target_halves")  # fields of estimates that are for differences


def system_summary(system: Any, outcome: Outcome) -> SystemSummary:
    """Return the summary of a system of any task, as plain values; estimates are added to it."""
    final = outcome.choices[ALL].number
    times = Counter(fold.choice.number for fold in outcome.folds)
    summary: SystemSummary = {
        "name": system.name,
        "points": len(outcome.points),
        "tuned": system.search.tuned,
        "estimates": [],
        "chosen": [
            {"parameters": shown_point(outcome.points[number]), "times": times[number]}
            for number in sorted(times, key=lambda number: (-times[number], number))
        ],
        "ship": shown_point(outcome.points[final]),
        "ship_number": final,
        "edges": _edges(system, outcome),
    }
    of_estimators = {
        "baseline": getattr(system, "baseline", None),
        "notes": getattr(outcome, "notes", None),
    }
    summary |= {name: value for name, value in of_estimators.items() if value is not None}
    return plain(summary)  # type: ignore[no-any-return]


def _edges(system: Any, outcome: Outcome) -> list[dict[str, Any]]:
    """Return parameters whose chosen value is the first or last of its grid."""
    edges: dict[str, dict[str, Any]] = {}
    choices = [(fold.choice, False) for fold in outcome.folds]
    for chosen, shipped in [*choices, (outcome.choices[ALL], True)]:
        known = chosen.means[np.isfinite(chosen.means)]
        if len(known) > 1 and np.ptp(known) <= TIE * np.abs(known).max():
            continue  # all are equal: the first one was taken, not selected
        point = outcome.points[chosen.number]
        for name in system.edges(point):
            new = {"name": name, "value": point[name], "folds": 0, "shipped": False}
            edge = edges.setdefault(f"{name}={point[name]}", new)
            edge["folds"] += not shipped
            edge["shipped"] |= shipped
    return list(edges.values())


# Estimates of rankings


def ranking_estimates(prepared: PreparedRankings, outcome: RankedOutcome) -> list[EstimateRecord]:
    """Return the estimate of each measure."""
    by, trained = prepared.experiment.by, int(for_training(prepared).sum())
    records = []
    pairs = zip(prepared.measures, outcome.per_query(), strict=True)
    for row, (measure, values) in enumerate(pairs):
        known = values[np.isfinite(values)]
        record: EstimateRecord = {
            "measure": str(measure),
            "value": mean_of(values),
            "low": math.nan,
            "high": math.nan,
            "level": prepared.experiment.level,
            "interval": "none",
            "train": math.nan,
            "optimism": math.nan,
            "n_queries": len(known),
            "left_out": len(values) - len(known),
        }
        if outcome.estimates:
            record |= _averaged(prepared, outcome, row)
        elif by == "query":
            record |= _by_query(prepared, outcome, row, values)
        else:  # without an interval, as documents cannot be merged
            words = ESTIMANDS["both" if by == "both" else "documents"]
            of = {"estimator": "per-fold", "estimand": f"{words}, as few as a fold has"}
            record |= {**of, "target_size": None}
        record["left_out"] -= trained
        records.append(record)
    return records


def for_training(prepared: PreparedRankings) -> Flags:
    """Return the queries that a plan with one test set never holds out, as one expects of it."""
    never = np.zeros(prepared.data.table.n_queries, np.bool_)
    splits = prepared.splits.by_unit[0]
    once = isinstance(splits.plan, HoldOut | TestSet | Chronological)
    if once and prepared.experiment.by != "document":
        never = ~np.logical_or.reduce([split.test > 0 for split in splits])
    return never


def _averaged(prepared: PreparedRankings, outcome: RankedOutcome, row: int) -> EstimateRecord:
    """Return the mean of estimates from several repeats, with the mean width of their intervals."""
    own = [estimates[row] for estimates in outcome.estimates]
    value = float(np.mean([estimate.value for estimate in own]))
    half = float(np.mean([(estimate.high - estimate.low) / 2 for estimate in own]))
    low, high = own[0].low, own[0].high
    if len(own) > 1:
        bounds = Interval(value, value - half, value + half, prepared.experiment.level, "")
        low, high = inside(bounds, prepared.measures[row].range)[1:3]
    final = mean_of(outcome.training[row])
    training = [final if estimate.train is None else estimate.train for estimate in own]
    return {
        **{name: kept for name, kept in own[0]._asdict().items() if name not in _HALVES},
        "value": value,
        "low": low,
        "high": high,
        "interval": "document jackknife",
        "train": float(np.mean(training)),
        "optimism": float(np.mean([estimate.optimism for estimate in own])),
    }


def _by_query(
    prepared: PreparedRankings, outcome: RankedOutcome, row: int, values: Floats
) -> EstimateRecord:
    """Return the interval over queries, each with its held-out value, and the training score."""
    measure, kept = prepared.measures[row], np.isfinite(values)
    interval = mean_interval(values[kept], prepared.experiment.level, measure.range)
    bounds: EstimateRecord = {}
    if interval is not None:
        bounds = {"low": interval.low, "high": interval.high, "interval": interval.method}
    train = mean_of(outcome.training[row, kept])
    if for_training(prepared).any():
        train = _on_training_queries(prepared, outcome, row)
    return {
        **bounds,
        "estimator": "held-out mean",
        "estimand": ESTIMANDS["queries"],
        "train": train,
        "optimism": train - mean_of(values),
        "target_size": len(prepared.data.collection.documents),
    }


def _on_training_queries(prepared: PreparedRankings, outcome: RankedOutcome, row: int) -> float:
    """Return the mean over splits of the chosen point where it was chosen; NaN: unknown."""
    if prepared.measures[row] == prepared.tune_for:
        # By inner folds, or on a validation part, the score of a system that learns is not one on
        # what it has learned from.
        apart = prepared.experiment.inner is not None or prepared.splits.validates
        known = outcome.table is not None or not apart
        return mean_of(np.array([fold.choice.mean for fold in outcome.folds if known]))
    if outcome.table is None:
        return math.nan
    means = []
    for split, fold in zip(prepared.splits, outcome.folds, strict=True):
        weights = split.train if split.validation is None else split.validation
        means.append(mean_of(np.repeat(outcome.table[row, fold.choice.number], weights)))
    return mean_of(np.array(means))


# Differences between systems on new documents


def document_differences(
    prepared: PreparedRankings, outcomes: Sequence[RankedOutcome]
) -> list[list[SystemDifference]]:
    """Return, for each system, its differences to earlier ones, averaged over repeats."""
    level = prepared.experiment.level
    differences: list[list[SystemDifference]] = [[] for _ in outcomes]
    for (first, its), (second, mine) in combinations(enumerate(outcomes), 2):
        repeats = list(zip(mine.estimates, its.estimates, strict=False))
        for row, measure in enumerate(prepared.measures):
            pairs = [(own[row], other[row]) for own, other in repeats]
            halves = [half for pair in pairs if (half := _half_width(*pair, level)) is not None]
            if not pairs or len(halves) < len(pairs):
                continue
            value = float(np.mean([own.value - other.value for own, other in pairs]))
            half = float(np.mean(halves))
            bounds = Interval(value, value - half, value + half, level, "")
            _, low, high, *_ = difference_inside(bounds, measure.range)
            differences[second].append(
                {
                    "measure": str(measure),
                    "system": prepared.systems[first].name,
                    "difference": value,
                    "low": low,
                    "high": high,
                }
            )
    return differences


def _half_width(mine: Estimate, its: Estimate, level: float) -> float | None:
    """Return half the width of the interval; None without the same replicates and target size."""
    from scipy.special import stdtrit

    variance = 0.0  # a replicate leaves out the same documents of both: common effects cancel
    for kind in _HALVES:
        own, other = np.asarray(getattr(mine, kind)), np.asarray(getattr(its, kind))
        if not len(own) == len(other) > 0 or mine.target_size != its.target_size:
            return None
        variance += float(np.mean((own - other) ** 2))
    df = max(min(mine.n_queries, its.n_queries) - 1, 1)
    return float(stdtrit(df, (1 + level) / 2)) * math.sqrt(variance)


# The variance of selection


def query_choices(
    prepared: PreparedRankings, outcomes: Sequence[RankedOutcome]
) -> list[list[dict[str, Any]] | None]:
    """Return, for each system, its variances with each earlier one, per measure.

    None: it was tuned, and depends on training queries, so values of other choices are unknown.
    """
    # Parameters are chosen on the validation part, where there is one.
    sides = Sides.of(
        split if split.validation is None else replace(split, train=split.validation)
        for split in prepared.splits
    )
    if not sides.shared:
        return [[] for _ in outcomes]
    held_out = [outcome.per_query() for outcome in outcomes]
    judged = np.flatnonzero(np.isfinite(np.stack([own[0] for own in held_out])).any(axis=0))
    counts = np.zeros((REPLICATES, sides.units), np.int64)
    counts[:, judged] = draw_counts(len(judged), REPLICATES, prepared.experiment.seed)
    tables, spreads = {}, dict[str, list[dict[str, Any]]]()
    for system, outcome, own in zip(prepared.systems, outcomes, held_out, strict=True):
        table, choices = outcome.table, None
        if system.search.tuned:
            if table is None:
                continue
            rule = prepared.experiment.rule
            better = bool(prepared.tune_for.higher_is_better)
            choices = rechoose(table[-1], sides, counts, rule=rule, higher_is_better=better)
        # A system that is not tuned has its held-out values at its only point.
        tables[system.name] = own[:, None] if table is None else table, choices
        spreads[system.name] = []
    for row, measure in enumerate(prepared.measures):
        points = {
            name: TunedPoints(table[row], choices) for name, (table, choices) in tables.items()
        }
        for (second, first), spread in choice_spreads(points, sides).items():
            pair = {"measure": str(measure), "system": first, **spread._asdict()}
            spreads[second].append(pair)
    return [spreads.get(system.name) for system in prepared.systems]


# Results


def make_results(
    prepared: Any, outcomes: Sequence[Any], manifest: Manifest, timings: Timings
) -> Results:
    """Turn the outcomes of all systems into results."""
    ranks, judges = prepared.experiment.task == "ranking", getattr(prepared, "judges", None)
    judged, tables = outcomes, dict[str, Any]()
    if judges is not None:
        from heldout.experiment.results.two_judges import combine, judge_held_out  # rarely needed

        judged, by_machine, notes = judge_held_out(prepared, judges.judged, outcomes)
        tables["machine"] = value_table(prepared, by_machine)
    if ranks:
        tables["values"] = value_table(prepared, judged)
        tables["held_out"] = list_table(prepared, judged)
    else:
        tables = prediction_tables(prepared, outcomes)
    results = Results(
        **tables,
        **fold_tables(prepared.systems, judged),
        splits=split_table(prepared.splits),
        summary=list(map(system_summary, prepared.systems, judged)),
        manifest=manifest,
        timings=timings,
    )
    more: dict[str, Sequence[Any]] = {
        "estimates": [ranking_estimates(prepared, outcome) for outcome in judged]
        if ranks
        else [
            [prediction_estimate(results, name, measure) for measure in results.measures]
            for name in results.systems
        ]
    }
    if ranks and prepared.experiment.by == "document":
        more["differences"] = document_differences(prepared, outcomes)
    if ranks and prepared.experiment.by == "query":
        more["choices"] = query_choices(prepared, outcomes)
    for name, values in more.items():
        for entry, value in zip(results.summary, values, strict=True):
            entry[name] = plain(value)
    if judges is not None:
        combine(prepared, judges.judged, results, notes)
    return results


def prediction_estimate(results: Results, system: str, measure: str) -> EstimateRecord:
    """Return the mean over splits with its interval, or the reason why it does not exist."""
    value = interval = None
    reason = ""
    try:
        value = results.value(system, measure)
        interval = results.interval(system, measure)
    except HeldoutError as error:
        reason = str(error)
    return {
        "measure": measure,
        "value": value,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "level": results.level,
        "interval": "none" if interval is None else interval.method,
        "reason": reason,
        "spread": results.spread(system, measure),
        "n_splits": len(results.fold_predictions(system)),
    }
