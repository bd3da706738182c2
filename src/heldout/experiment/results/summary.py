"""``summary.json``: for each system its estimates, its choices, and the parameters to use."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from heldout.as_json import plain
from heldout.experiment.documents.estimates import ESTIMANDS, mean_of
from heldout.experiment.outcomes import ALL
from heldout.experiment.results.tables import shown_point
from heldout.infer.intervals import difference_inside, inside, mean_interval
from heldout.infer.results import Interval
from heldout.resample.plans import Chronological, HoldOut, TestSet
from heldout.tune.choice import TIE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Flags, Floats
    from heldout.experiment.documents.estimates import Estimate
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
are held out, and choices, if queries are: see `tuning_variance`."""

_HALVES: Final = ("halves", "target_halves")
"""Fields of estimates that are for differences between systems, and not shown."""


def system_summary(
    system: Any, outcome: Outcome, estimates: Sequence[EstimateRecord] = ()
) -> SystemSummary:
    """Return the summary of a system of any task, as plain values."""
    final, times = (
        outcome.choices[ALL].number,
        Counter(fold.choice.number for fold in outcome.folds),
    )
    summary: SystemSummary = {
        "name": system.name,
        "points": len(outcome.points),
        "tuned": system.search.tuned,
        "estimates": estimates,
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
    alone = _by_query if prepared.experiment.by == "query" else _per_fold
    add, trained = _averaged if outcome.estimates else alone, int(for_training(prepared).sum())
    records = []
    for row, (measure, values) in enumerate(
        zip(prepared.measures, outcome.per_query(), strict=True)
    ):
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
        } | add(prepared, outcome, row, values)
        records.append({**record, "left_out": record["left_out"] - trained})
    return records


def for_training(prepared: PreparedRankings) -> Flags:
    """Return the queries that a plan with one test set never holds out, as one expects of it."""
    never = np.zeros(prepared.data.table.n_queries, np.bool_)
    splits = (prepared.splits.crossed or [prepared.splits])[0]
    once = isinstance(splits.plan, HoldOut | TestSet | Chronological)
    if once and prepared.experiment.by != "document":
        never = ~np.logical_or.reduce([split.test > 0 for split in splits])
    return never


def _averaged(
    prepared: PreparedRankings, outcome: RankedOutcome, row: int, _: Floats
) -> EstimateRecord:
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
    sign = -1 if measure.higher_is_better is False else 1
    return {
        **bounds,
        "estimator": "held-out mean",
        "estimand": ESTIMANDS["queries"],
        "train": train,
        "optimism": sign * (train - mean_of(values)),
        "target_size": len(prepared.data.collection.documents),
    }


def _per_fold(
    prepared: PreparedRankings, _outcome: RankedOutcome, _row: int, _values: Floats
) -> EstimateRecord:
    """Say what a mean over folds is of: without an interval, as documents cannot be merged."""
    words = ESTIMANDS["both" if prepared.experiment.by == "both" else "documents"]
    return {
        "estimator": "per-fold",
        "estimand": f"{words}, as few as a fold has",
        "target_size": None,
    }


def _on_training_queries(prepared: PreparedRankings, outcome: RankedOutcome, row: int) -> float:
    """Return the mean over splits of the chosen point where it was chosen; NaN: unknown."""
    if prepared.measures[row] == prepared.tune_for:
        # By inner folds, or on a validation part, the score of a system that learns is not one on
        # what it has learned from.
        apart = prepared.experiment.inner is not None or prepared.validates
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
    """Return, for each system, its differences to earlier ones, with intervals, per measure.

    In each jackknife replicate the same documents are left out for both systems, so that effects
    common to both cancel. Differences and half-widths of intervals are averaged over repeats.
    """
    level = prepared.experiment.level
    differences: list[list[SystemDifference]] = [[] for _ in outcomes]
    for (first, its), (second, mine) in combinations(enumerate(outcomes), 2):
        repeats = list(zip(mine.estimates, its.estimates, strict=False))
        for row, measure in enumerate(prepared.measures):
            pairs = [(own[row], other[row]) for own, other in repeats]
            pairs = [pair for pair in pairs if _comparable(*pair)]
            if not pairs:
                continue
            value = float(np.mean([own.value - other.value for own, other in pairs]))
            half = float(np.mean([_half_width(*pair, level) for pair in pairs]))
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


def _comparable(mine: Estimate, its: Estimate) -> bool:
    """Return whether both estimates have the same replicates and the same target size."""
    same = all(len(getattr(mine, kind)) == len(getattr(its, kind)) > 0 for kind in _HALVES)
    return same and mine.target_size == its.target_size


def _half_width(mine: Estimate, its: Estimate, level: float) -> float:
    from scipy.special import stdtrit

    pairs = [(np.asarray(getattr(mine, kind)), getattr(its, kind)) for kind in _HALVES]
    variance = sum(float(np.mean((own - other) ** 2)) for own, other in pairs)
    df = max(min(mine.n_queries, its.n_queries) - 1, 1)
    return float(stdtrit(df, (1 + level) / 2)) * math.sqrt(variance)
