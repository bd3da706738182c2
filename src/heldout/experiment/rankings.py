"""Evaluate systems that rank: choose on the training data, rank what is held out, measure it.

In words:

- Queries are held out, and lists depend on the parameters alone: every point ranks all queries
  once; the choice in each split and its held-out values are read from that table.
- Otherwise every point is tried on the data of each split that it may be chosen on (`tuning`), and
  the chosen one ranks the held-out side. If documents are held out and scores of different folds
  can be compared, the held-out documents of all folds are merged into one ranking.
- A bootstrap or hold-out of documents evaluates each held-out side of a built-in model by itself.

Whatever takes time is an item of `Work.map`: a function of the experiment and a few words.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.experiment.documents.estimates import (
    Estimate,
    document_estimates,
    fold_estimates,
    mean_of,
)
from heldout.experiment.documents.lists import Lists, id_order, lists_of_queries, merged_lists
from heldout.experiment.documents.replicates import evaluate_documents, splits_at_once
from heldout.experiment.outcomes import ALL, FoldRow, HeldOut, RankedOutcome, mean_where_defined
from heldout.experiment.sides import (
    all_data,
    grid_item,
    lists_of,
    merged_splits,
    part_runs,
    pooled_parts,
    pooled_runs,
    query_units,
    sides_of,
    text_of,
    try_points,
)
from heldout.experiment.systems.base import Part, Parts, System
from heldout.experiment.tuning import CHUNK, Evaluation, choose_by, name_of, system_of, tune
from heldout.resample.split import SplitKey
from heldout.tune.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.data.words import Floats
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.tuning import Tuned
    from heldout.experiment.work import Work
    from heldout.experiment.workers import Arrays
    from heldout.resample.split import Splits
    from heldout.tune.space import Point

LISTED: Final = 20  # splits of the documents whose ranked lists are kept, if they are not folds


def evaluate(prepared: PreparedRankings, work: Work) -> list[RankedOutcome]:
    """Evaluate all systems; those that others use as parts come first."""
    done: dict[str, RankedOutcome] = {}
    for system in sorted(prepared.systems, key=lambda system: bool(system.parts)):
        done[system.name] = _evaluate(Evaluation(system, prepared, work, done))
    return [done[system.name] for system in prepared.systems]


def _evaluate(run: Evaluation) -> RankedOutcome:
    system, prepared, by = run.system, run.prepared, run.prepared.experiment.by
    folds = prepared.splits.partitions
    if by == "query" and not system.learns and system.search.points:
        return _from_tables(run)
    if by == "document" and not folds and system.is_model:
        return _documents_alone(run)
    tuned = tune(run, try_points, query_units)
    if by != "query" and folds and system.pools:
        return _pool_folds(run, tuned)
    items = {
        f"test/{name_of(prepared, number)}": (
            number,
            tuned.point(number),
            run.part_points(number),
            pooled_parts(run, number),
        )
        for number in range(len(prepared.splits))
    }
    tests = list(run.map(_test_item, items).values())
    if _merges(system, prepared):
        order, sides = id_order(prepared.data.collection), list(map(lists_of, tests))
        lists = {
            key: merged_lists([sides[number] for number in own], order, prepared.experiment.depth)
            for key, own in merged_splits(prepared, runs=True).items()
        }
        return _merged(run, tuned, lists, [mean_of(arrays["values"][-1]) for arrays in tests])
    rows, held_out = [], []
    for number, arrays in enumerate(tests):
        key, choice = prepared.splits.key(number), tuned.choices[number]
        rows.append(FoldRow(key, choice, mean_of(arrays["values"][-1])))
        held_out.append(HeldOut(key, choice.number, arrays["values"][:-1], lists_of(arrays)))
    training = _training_values(run, tuned)
    return RankedOutcome(tuned.points, tuned.choices, tuple(rows), tuple(held_out), training)


def _test_item(
    prepared: PreparedRankings,
    name: str,
    number: int,
    point: Point,
    of_parts: Sequence[Point],
    pooled: Sequence[Lists] | None,
) -> Arrays:
    """Return measures × queries of a held-out side, the tuning measure last, and its lists."""
    system, sides = system_of(prepared, name), sides_of(prepared, number)
    runs = part_runs(system, prepared, number, of_parts, pooled)
    lists = system.rank(prepared.data, sides["train"], sides["test"], point, runs)
    values = prepared.data.measured(lists, sides["test"], [*prepared.measures, prepared.tune_for])
    kept = lists if _merges(system, prepared) else lists.top(prepared.kept)
    return {"values": values, **kept._asdict()}


def _merges(system: System, prepared: PreparedRankings) -> bool:
    """Return whether the held-out documents of all folds are merged into one ranking."""
    return prepared.experiment.by != "query" and bool(system.comparable)


def _training_values(run: Evaluation, tuned: Tuned) -> Floats:
    """Return measures × queries of the final point on all data, where known; otherwise NaN."""
    system, prepared, experiment = run.system, run.prepared, run.prepared.experiment
    training = np.full((len(prepared.measures), prepared.data.table.n_queries), np.nan)
    if experiment.by != "query" and not prepared.splits.partitions:
        # Not the number of documents that were held out, so not comparable: estimates of models
        # have a training score of their own.
        return training
    if system.pools or (experiment.by == "query" and not system.learns):
        item = [tuned.point(ALL)], run.part_points(ALL)
        values = run.map(grid_item, {"training": item})["training"]["values"][:-1, 0]
        asked = all_data(prepared).queries
        return values if asked is None else np.where(asked > 0, values, np.nan)
    inner = experiment.inner is not None and system.learns
    # A system that learns is known there by the tuning measure alone, from its tuning.
    known = tuned.tried and not inner and not prepared.splits.validates
    if known and prepared.tune_for in prepared.measures:
        tried, final = tuned.tried[ALL], tuned.choices[ALL].number
        values = query_units(prepared, ALL, tried).values[tried["points"] == final][0]
        training[prepared.measures.index(prepared.tune_for)] = values
    return training


# ---- held-out queries of systems that do not learn ----------------------------------------------


def _from_tables(run: Evaluation) -> RankedOutcome:
    """Rank every point once, for each combination of points that its parts have in some split."""
    system, prepared, points = run.system, run.prepared, run.system.search.points
    splits = list(prepared.splits)
    which = {number: text_of(run.part_points(number)) for number in [*range(len(splits)), ALL]}
    combinations = {own: run.part_points(number) for number, own in which.items()}

    def rank(wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Arrays]:
        items = {f"point/{own}/p{number}": (number, combinations[own]) for own, number in wanted}
        return dict(zip(wanted, run.map(_point_item, items).values(), strict=True))

    one_by_one = type(system).grid is System.grid
    if one_by_one:  # each only once
        ranked = rank([(own, number) for own in combinations for number in range(len(points))])
        tables = {
            own: np.stack([ranked[own, n]["values"] for n in range(len(points))], axis=1)
            for own in combinations
        }
    else:
        begins = range(0, len(points), CHUNK)
        items = {
            f"grid/{own}/p{begin}": (points[begin : begin + CHUNK], used)
            for own, used in combinations.items()
            for begin in begins
        }
        grids = run.map(grid_item, items)
        tables = {
            own: np.concatenate([grids[f"grid/{own}/p{n}"]["values"] for n in begins], axis=1)
            for own in combinations
        }
    choices = {}
    for number, own in which.items():
        units = query_units(prepared, number, {"values": tables[own][-1][:, None]})
        choices[number] = choose_by(prepared, f"{system.name}, {name_of(prepared, number)}", units)
    if not one_by_one:
        ranked = rank(dict.fromkeys((which[n], choices[n].number) for n in range(len(splits))))
    rows, held_out = [], []
    for number, split in enumerate(splits):
        table, choice, mine = tables[which[number]], choices[number], split.test > 0
        values = np.where(mine, table[:, choice.number], np.nan)
        score = mean_of(np.repeat(values[-1], split.test))
        scores = mean_where_defined(table[-1], axis=1, weights=split.test)
        rows.append(FoldRow(split.key, choice, score, scores))
        lists = lists_of_queries(lists_of(ranked[which[number], choice.number]), mine)
        held_out.append(HeldOut(split.key, choice.number, values[:-1], lists))
    # With parts that are tuned, another sample of queries could change their points, too.
    fixed = not any(part.search.tuned for part in system.parts)
    return RankedOutcome(
        points,
        choices,
        tuple(rows),
        tuple(held_out),
        training=tables[which[ALL]][:-1, choices[ALL].number],
        table=tables[which[ALL]] if fixed else None,
    )


def _point_item(
    prepared: PreparedRankings, name: str, number: int, of_parts: Sequence[Point]
) -> Arrays:
    """Return measures × queries of a point, the tuning measure last, and the top of its lists."""
    system, whole = system_of(prepared, name), Part()
    runs = part_runs(system, prepared, ALL, of_parts)
    # The values of a model are known from its table: here only the top of its lists is needed.
    data = replace(prepared.data, depth=prepared.kept) if system.is_model else prepared.data
    lists = system.rank(data, whole, whole, system.search.points[number], runs)
    values = data.measured(lists, whole, [*prepared.measures, prepared.tune_for])
    return {"values": values, **lists.top(prepared.kept)._asdict()}


# ---- folds of documents --------------------------------------------------------------------------
# They are merged into a ranking as long as that of the whole sample, so that scores and ranks mean
# the same in it as in a new collection of that size, and no judgement of a document has influenced
# its own score.


def _pool_folds(run: Evaluation, tuned: Tuned) -> RankedOutcome:
    """Let the system rank the held-out documents of all folds, each with the point of its fold."""
    items = {}
    for key, own in merged_splits(run.prepared, runs=False).items():
        scale = tuned.choices[ALL].number
        if key.fold is not None and tuned.tried:  # chosen without the held-out queries
            units = query_units(run.prepared, own[0], tuned.tried[ALL])
            row = choose_by(run.prepared, f"{run.system.name}, {key}", units).number
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
    splits = prepared.splits.by_unit[-1]
    folds = splits.folds(repeat % splits.repeats)  # a plan with one repeat serves for all
    runs = Parts((), pooled_runs(system, prepared, pooled or ()))
    lists: Lists = system.pool(prepared.data, folds, chosen, scale, runs)
    return lists._asdict()


def _merged(
    run: Evaluation,
    tuned: Tuned,
    lists: Mapping[SplitKey, Lists],
    tested: Sequence[float] | None = None,
) -> RankedOutcome:
    """Evaluate one ranking of all held-out documents, per repeat and fold of the queries."""
    system, prepared, experiment = run.system, run.prepared, run.prepared.experiment
    training, both = _training_values(run, tuned), experiment.by == "both"
    measures, rows, held_out, estimates = [*prepared.measures, prepared.tune_for], [], [], []
    repeats, sampled = defaultdict[SplitKey, list[HeldOut]](list), {}
    for key, own in merged_splits(prepared, runs=tested is not None).items():
        splits, ranked = [prepared.splits[number] for number in own], lists[key]
        held = np.logical_or.reduce([(split.documents or split).test > 0 for split in splits])
        whole = Part(held.astype(np.int32), splits[0].test if both else None)
        values = prepared.data.measured(ranked, whole, measures)
        for number, split in zip(own, splits, strict=True):
            if tested is not None:  # the held-out score of a split is that of its own test
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


# ---- documents that are not folds ---------------------------------------------------------------


def listed_splits(splits: Splits, by: str) -> int:
    """Return the number of splits whose ranked lists are kept, from the first on.

    Those of a thousand samples of the documents would be tens of millions of rows, and no estimate
    needs them. Folds together hold out every document once.
    """
    whole = by != "document" or splits.partitions
    return len(splits) if whole else min(LISTED, len(splits))


def _documents_alone(run: Evaluation) -> RankedOutcome:
    """Evaluate each held-out side of the documents by itself, many of them in one item."""
    prepared, splits, points = run.prepared, run.prepared.splits, run.system.search.points
    step = splits_at_once(prepared, run.system) if points else 1
    tuned = tune(run, try_points, query_units, [ALL] if points else ())
    items = {
        # A search has no points before it has tried them: it chooses for each split in turn.
        f"sides/{splits.key(begin)}": (begin, step, points or [tuned.point(begin)])
        for begin in range(0, len(splits), step)
    }
    choices = dict(tuned.choices)
    listed = listed_splits(splits, "document")
    rows, held_out, estimates = list[FoldRow](), [], []
    for arrays in run.map(_sides_item, items).values():
        own = json.loads(str(arrays.pop("estimates")))
        for known, *side in zip(own, *arrays.values(), strict=True):
            point, train, surface, values, documents, scores = side
            number = len(rows)
            key, chosen = splits.key(number), Choice(int(point), train, surface)
            choice = choices.setdefault(number, chosen)
            lists = Lists(documents, scores).top(prepared.kept if number < listed else 0)
            rows.append(FoldRow(key, choice, mean_of(values[-1])))
            held_out.append(HeldOut(key, choice.number, values[:-1], lists))
            estimates.append(tuple(Estimate(*row) for row in known))
    training = _training_values(run, tuned)
    return RankedOutcome(
        tuned.points, choices, tuple(rows), tuple(held_out), training, tuple(estimates)
    )


def _sides_item(
    prepared: PreparedRankings, name: str, begin: int, step: int, points: Sequence[Point]
) -> Arrays:
    splits = prepared.splits[begin : begin + step]
    sides = evaluate_documents(prepared, system_of(prepared, name), splits, points)
    *columns, estimates, lists = zip(*sides, strict=True)
    columns += zip(*lists, strict=True)
    names = ("number", "train", "surface", "values", "documents", "scores")
    arrays = {name: np.stack(column) for name, column in zip(names, columns, strict=True)}
    return {**arrays, "estimates": np.array(json.dumps(estimates))}
