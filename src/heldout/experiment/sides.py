"""The sides of a split as parts of the collection: what systems rank there, and are chosen by."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.experiment.documents.lists import Lists, as_run
from heldout.experiment.outcomes import ALL, mean_where_defined
from heldout.experiment.systems.base import Part, Parts, System
from heldout.experiment.tuning import WHOLE, Units, name_of, system_of
from heldout.resample.plans import KFold
from heldout.resample.split import SplitKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.run import Run
    from heldout.data.words import Floats
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.systems.base import Weights
    from heldout.experiment.tuning import Evaluation, Fold
    from heldout.experiment.workers import Arrays
    from heldout.tune.space import Point


def sides_of(prepared: PreparedRankings, number: int, inner: int = WHOLE) -> dict[str, Part]:
    """Return the sides of a split (`ALL`: all data), or of an inner fold of its training side."""
    if number == ALL and inner == WHOLE:
        return dict.fromkeys(("train", "test"), all_data(prepared))
    if inner == WHOLE:
        split = prepared.splits[number]
    else:
        plan = KFold(prepared.experiment.inner or 2, seed=prepared.experiment.seed)
        units, by = prepared.splits.units, prepared.experiment.by
        if number == ALL:
            split = plan.splits(units, units.unit)[inner]  # with their groups
        else:
            unit: Any = "query" if by == "both" else None
            split = prepared.splits[number].inner(plan, unit)[inner]
    sides = {}
    for side, own in split.sides().items():
        documents = None if split.documents is None else split.documents.weights(side)
        part = Part(own) if prepared.experiment.by == "document" else Part(documents, own)
        sides[side] = replace(part, split=name_of(prepared, number), inner=inner, key=split.key)
    return sides


def all_data(prepared: PreparedRankings) -> Part:
    """Return all data; folds may leave out some documents or queries, which are then unknown."""
    if prepared.experiment.by == "query" or not prepared.splits.partitions:
        return Part()
    # Of the queries, if they are held out, and of the documents.
    there = [splits.folds(0) >= 0 for splits in prepared.splits.by_unit]
    weights = [None if own.all() else own.astype(np.int32) for own in there]
    return Part(weights[-1], weights[0] if len(weights) > 1 else None)


def merged_splits(prepared: PreparedRankings, *, runs: bool) -> dict[SplitKey, list[int]]:
    """Return the splits whose held-out documents make one ranking; without `runs`, of the first."""
    groups: dict[SplitKey, list[int]] = defaultdict(list)
    for number in range(len(prepared.splits)):
        key = prepared.splits.key(number)
        if runs or not key.run:
            fold = key.fold if prepared.experiment.by == "both" else None
            groups[SplitKey(key.repeat, fold, run=key.run if runs else None)].append(number)
    return groups


# ---- what the parts of a system rank -------------------------------------------------------------


def pooled_parts(run: Evaluation, number: int) -> list[Lists] | None:
    """Return all held-out documents as the parts rank them, if documents are held out."""
    if not run.system.parts or run.prepared.experiment.by == "query":
        return None
    repeat = run.prepared.splits.key(number).repeat
    folds, lists = run.prepared.splits.folds(repeat), []
    for part in run.system.parts:
        if part.name in run.done:
            lists.append(run.done[part.name].pooled[repeat])
        else:
            point = part.search.points[0]
            chosen = [point] * (int(folds.max()) + 1)
            lists.append(part.pool(run.prepared.data, folds, chosen, point, Parts()))
    return lists


def part_runs(
    system: System,
    prepared: PreparedRankings,
    number: int,
    points: Sequence[Point],
    pooled: Sequence[Lists] | None = None,
) -> Parts:
    """Return what the parts of a system rank on the whole training side, or as `pooled`."""
    if not system.parts:
        return Parts()
    data, by_query = prepared.data, prepared.experiment.by == "query"
    train = Part() if by_query else sides_of(prepared, number)["train"]
    pairs: Any = zip(system.parts, points, strict=True)
    runs: list[Run] = [
        data.once(
            (part, train.split, text_of(point)),
            partial(part.run, data, train, train, point, Parts()),
        )
        for part, point in pairs
    ]
    return Parts(runs, runs if pooled is None else pooled_runs(system, prepared, pooled))


def pooled_runs(system: System, prepared: PreparedRankings, pooled: Sequence[Lists]) -> list[Run]:
    """Return `pooled_parts` as runs."""
    pairs: Any = zip(pooled, system.parts, strict=True)
    return [as_run(lists, prepared.data.collection, part.name) for lists, part in pairs]


def lists_of(arrays: Mapping[str, Any]) -> Lists:
    """Return the ranked lists that an item returned."""
    return Lists(arrays["documents"], arrays["scores"])


def text_of(value: object) -> str:
    """Return points as a text, which is the same for equal ones."""
    return json.dumps(value, sort_keys=True)


# ---- what a point is chosen by -------------------------------------------------------------------


def try_points(
    prepared: PreparedRankings,
    name: str,
    fold: Fold,
    points: Sequence[Point],
    of_parts: Sequence[Point],
) -> Arrays:
    """Return points × 1 × queries on a fold of the data to choose on, by the tuning measure."""
    system, sides = system_of(prepared, name), sides_of(prepared, *fold)
    if not system.learns:
        # All queries: those that do not count for a choice have no weight in it.
        sides = {side: replace(part, queries=None) for side, part in sides.items()}
    train = sides["train"]
    test = sides.get("validation", train) if fold[1] == WHOLE else sides["test"]
    runs = part_runs(system, prepared, fold[0], of_parts)
    measures = [prepared.tune_for]
    return {"values": system.grid(prepared.data, train, test, points, measures, runs)[0][:, None]}


def grid_item(
    prepared: PreparedRankings, name: str, points: Sequence[Point], of_parts: Sequence[Point]
) -> Arrays:
    """Return measures × points × queries on all data, the tuning measure last."""
    system, whole = system_of(prepared, name), Part(all_data(prepared).documents)
    measures = [*prepared.measures, prepared.tune_for]
    runs = part_runs(system, prepared, ALL, of_parts)
    return {"values": system.grid(prepared.data, whole, whole, points, measures, runs)}


def query_units(prepared: PreparedRankings, number: int, tried: Arrays) -> Units:
    """Return the mean of each query over the folds, and how often it counts for the choice."""
    values: Floats = tried["values"]
    means = values[:, 0] if values.shape[1] == 1 else mean_where_defined(values, axis=1)
    if number == ALL and prepared.splits.validates and prepared.experiment.by != "document":
        each: Any = [split.validation for split in prepared.splits]
        weights: Weights | None = np.sum(each, axis=0, dtype=np.int32)
    else:
        sides = sides_of(prepared, number)
        weights = sides.get("validation", sides["train"]).queries
    return Units(means, weights)
