"""Merge the held-out documents of all folds into one ranking, and estimate from it.

The ranking is as long as that of the whole sample, so scores and ranks mean the same in it as in a
new collection of that size, and no judgement of a document has influenced its own score.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from heldout.experiment.documents.estimates import document_estimates, fold_estimates, mean_of
from heldout.experiment.documents.lists import id_order, merged_lists
from heldout.experiment.outcomes import ALL, FoldRow, HeldOut, RankedOutcome, mean_where_defined
from heldout.experiment.sides import (
    all_data,
    are_folds,
    grid_item,
    lists_of,
    merged_splits,
    pooled_parts,
    pooled_runs,
    query_units,
)
from heldout.experiment.systems.base import Part, Parts
from heldout.experiment.tuning import choose_by, system_of
from heldout.resample.split import SplitKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.words import Floats
    from heldout.experiment.documents.lists import Lists
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.sides import Ranking
    from heldout.experiment.systems.base import System
    from heldout.experiment.tuning import Tuned
    from heldout.experiment.workers import Arrays
    from heldout.tune.space import Point


def merges(system: System, prepared: PreparedRankings) -> bool:
    """Return whether the held-out documents of all folds are merged into one ranking."""
    return prepared.experiment.by != "query" and bool(system.comparable)


def merge_tests(run: Ranking, tuned: Tuned, tests: Sequence[Arrays]) -> RankedOutcome:
    """Merge held-out sides that were ranked one by one."""
    order, depth = id_order(run.prepared.data.collection), run.prepared.experiment.depth
    lists = {
        key: merged_lists([lists_of(tests[number]) for number in own], order, depth)
        for key, own in merged_splits(run.prepared, runs=True).items()
    }
    return _merged(run, tuned, lists, [mean_of(arrays["values"][-1]) for arrays in tests])


def pool_folds(run: Ranking, tuned: Tuned) -> RankedOutcome:
    """Let the system rank the held-out documents of all folds, each with the point of its fold."""
    items = {}
    for key, own in merged_splits(run.prepared, runs=False).items():
        scale = tuned.choices[ALL].number
        if key.fold is not None and tuned.tried:  # chosen without the held-out queries
            units = query_units(run.prepared, own[0], tuned.tried[ALL])
            row = choose_by(run.prepared, run.system.name, own[0], units).number
            scale = tuned.tried[ALL]["points"][row]
        chosen = [tuned.point(number) for number in own]
        parts = pooled_parts(run, own[0])
        items[key] = (key.repeat, chosen, tuned.points[scale], parts)
    named = {f"pool/r{key.repeat}/f{key.fold}": item for key, item in items.items()}
    pooled = run.map(_pool_item, named).values()
    return _merged(run, tuned, dict(zip(items, map(lists_of, pooled), strict=True)))


def _pool_item(
    prepared: PreparedRankings,
    name: str,
    repeat: int,
    chosen: Sequence[Point],
    scale: Point,
    pooled: Sequence[Lists] | None,
) -> Arrays:
    system = system_of(prepared, name)
    splits = (prepared.splits.crossed or [prepared.splits])[-1]
    folds = splits.folds(repeat % splits.repeats)  # a plan with one repeat serves for all
    runs = Parts((), pooled_runs(system, prepared, pooled or ()))
    lists: Lists = system.pool(prepared.data, folds, chosen, scale, runs)
    return lists._asdict()


def _merged(
    run: Ranking,
    tuned: Tuned,
    lists: Mapping[SplitKey, Lists],
    tested: Sequence[float] | None = None,
) -> RankedOutcome:
    """Evaluate one ranking of all held-out documents, per repeat and fold of the queries.

    The held-out score of a split is that of its own test, or else as the merged ranking has it.
    """
    system, prepared, experiment = run.system, run.prepared, run.prepared.experiment
    training, both = training_values(run, tuned), experiment.by == "both"
    measures, rows, held_out, estimates = [*prepared.measures, prepared.tune_for], [], [], []
    repeats, sampled = defaultdict[SplitKey, list[HeldOut]](list), {}
    for key, own in merged_splits(prepared, runs=tested is not None).items():
        splits, ranked = [prepared.splits[number] for number in own], lists[key]
        held = np.logical_or.reduce([(split.documents or split).test > 0 for split in splits])
        whole = Part(held.astype(np.int32), splits[0].test if both else None)
        values = prepared.data.measured(ranked, whole, measures)
        for number, split in zip(own, splits, strict=True):
            if tested is not None:
                score = tested[number]
            elif both:
                score = mean_of(values[-1])
            else:
                alone = Part(split.test)
                tuning = prepared.data.measured(alone.restrict(ranked), alone, measures[-1:])
                score = mean_of(tuning[0])
            rows.append(FoldRow(split.key._replace(run=key.run), tuned.choices[number], score))
        values, numbers = values[:-1], [tuned.choices[number].number for number in own]
        if experiment.method != "pooled" or experiment.target_size is not None:
            candidates = system.candidates(prepared.data, tuned.points)  # others are refused
            folds = prepared.splits.folds(key.repeat)
            values, estimate = fold_estimates(
                prepared, candidates, folds, numbers, ranked, values, training
            )
            estimates.append(estimate)
        asked = Part(queries=whole.queries).restrict(ranked)
        side = HeldOut(key, numbers[0] if len(set(numbers)) == 1 else -1, values, asked)
        repeat = key._replace(fold=None)
        repeats[repeat].append(side)
        sampled[repeat] = held
        held_out.append(side._replace(lists=asked.top(prepared.kept)))
    for repeat, sides in repeats.items() if not estimates else ():
        documents = np.maximum.reduce([side.lists.documents for side in sides])
        values = mean_where_defined(np.stack([side.values for side in sides]))
        estimates.append(document_estimates(prepared, documents, sampled[repeat], values, training))
    return RankedOutcome(
        tuned.points,
        tuned.choices,
        tuple(rows),
        tuple(held_out),
        training,
        tuple(estimates),
        pooled={key.repeat: own for key, own in lists.items()},
    )


def training_values(run: Ranking, tuned: Tuned) -> Floats:
    """Return measures × queries of the final point on all data, where known; otherwise NaN.

    A system that learns is known there by the tuning measure alone, from its tuning.
    """
    system, prepared, experiment = run.system, run.prepared, run.prepared.experiment
    training = np.full((len(prepared.measures), prepared.data.table.n_queries), np.nan)
    if experiment.by != "query" and not are_folds(prepared.splits):
        # Not the number of documents that were held out, so not comparable: estimates of models
        # have a training score of their own.
        return training
    if system.pools or (experiment.by == "query" and not system.learns):
        item = [tuned.point(ALL)], run.part_points(ALL)
        values = run.map(grid_item, {"training": item})["training"]["values"][:-1, 0]
        asked = all_data(prepared).queries
        return values if asked is None else np.where(asked > 0, values, np.nan)
    inner = experiment.inner is not None and system.learns
    known = tuned.tried and not inner and not prepared.validates
    if known and prepared.tune_for in prepared.measures:
        tried, final = tuned.tried[ALL], tuned.choices[ALL].number
        values = query_units(prepared, ALL, tried).values[tried["points"] == final][0]
        training[prepared.measures.index(prepared.tune_for)] = values
    return training
