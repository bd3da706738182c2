"""Evaluate systems that rank: choose on the training data, rank what is held out, measure it.

In words:

- Queries are held out, and lists depend on the parameters alone: every point ranks all queries
  once; the choice in each split and its held-out values are read from that table.
- Otherwise every point is tried on the data of each split that it may be chosen on (`tuning`), and
  the chosen one ranks the held-out side. If documents are held out and scores of different folds
  can be compared, the held-out documents of all folds are merged into one ranking (`merging`).
- A bootstrap or hold-out of documents evaluates each held-out side of a built-in model by itself.

Whatever takes time is an item of `Work.map`: a function of the experiment and a few words.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.experiment.documents.estimates import Estimate, mean_of
from heldout.experiment.documents.lists import Lists, lists_of_queries
from heldout.experiment.documents.replicates import evaluate_documents, splits_at_once
from heldout.experiment.merging import merge_tests, merges, pool_folds, training_values
from heldout.experiment.outcomes import Chosen, FoldRow, HeldOut, Place, RankedOutcome
from heldout.experiment.sides import (
    ALL,
    Done,
    Evaluation,
    are_folds,
    lists_of,
    name_of,
    part_runs,
    parts_of,
    sides_of,
    system_of,
    text_of,
)
from heldout.experiment.systems.base import Part, System
from heldout.experiment.tuning import CHUNK, EVERYTHING, chosen_point, tune, values_item
from heldout.tune.choice import choose_in_splits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.data.words import Floats
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.systems.base import Weights
    from heldout.experiment.work import Work
    from heldout.experiment.workers import Arrays
    from heldout.resample.split import Splits
    from heldout.tune.choice import Choice
    from heldout.tune.space import Point

LISTED: Final = 20
"""Number of splits of the documents whose ranked lists are kept, if they are not folds."""


def evaluate_rankings(prepared: PreparedRankings, work: Work) -> list[RankedOutcome]:
    """Evaluate all systems; those that others use as parts come first."""
    done: dict[str, Done] = {}
    for system in sorted(prepared.systems, key=lambda system: bool(system.parts)):
        done[system.name] = _evaluate(Evaluation(system, prepared, work, done))
    return [done[system.name].outcome for system in prepared.systems]


def _evaluate(run: Evaluation) -> Done:
    system, by, folds = run.system, run.prepared.experiment.by, are_folds(run.prepared.splits)
    if by == "query" and not system.learns and system.search.points:
        return _from_tables(run)
    if by == "document" and not folds and system.is_model and system.search.points:
        return Done(_documents_alone(run))
    tuned = tune(run)
    if by != "query" and folds and system.pools:
        return pool_folds(run, tuned)
    names = [name_of(run.prepared, number) for number in range(len(run.prepared.splits))]
    items = {
        f"test/{name}": (
            number,
            tuned.point(number),
            run.part_points(number),
            run.pooled_parts(number),
        )
        for number, name in enumerate(names)
    }
    tests = list(run.map(_test_item, items).values())
    if merges(system, run.prepared):
        return merge_tests(run, tuned, tests)
    folds_, held_out = [], []
    for number, arrays in enumerate(tests):
        place, chosen = Place.of(run.prepared.splits.key(number)), tuned.chosen[number]
        folds_.append(FoldRow(place, chosen, mean_of(arrays["values"][-1])))
        held_out.append(HeldOut(place, chosen.number, arrays["values"][:-1], lists_of(arrays)))
    training = training_values(run, tuned)
    outcome = RankedOutcome(
        tuned.points, tuple(folds_), tuned.chosen[ALL], tuple(held_out), training
    )
    return Done(outcome, tuned.by_number())


def _test_item(
    prepared: PreparedRankings,
    name: str,
    number: int,
    point: Point,
    of_parts: Sequence[Point],
    pooled: Sequence[Lists] | None,
) -> Arrays:
    """Return measures × queries of a held-out side, the tuning measure last, and its lists."""
    system, (train, _, test) = system_of(prepared, name), sides_of(prepared, number)
    runs = part_runs(system, prepared, number, of_parts, pooled)
    lists = system.rank(prepared.data, train, test, point, runs)
    values = prepared.data.measured(lists, test, [*prepared.measures, prepared.tune_for])
    kept = lists if merges(system, prepared) else lists.top(prepared.kept)
    return {"values": values, **kept._asdict()}


# ---- held-out queries of systems that do not learn ----------------------------------------------


def _from_tables(run: Evaluation) -> Done:
    """Rank every point once, for each combination of points that its parts have in some split."""
    system, prepared = run.system, run.prepared
    points, splits = system.search.points, list(prepared.splits)
    numbers = [*range(len(splits)), ALL]
    of_parts = {text_of(own): own for own in map(run.part_points, numbers)}
    which = [text_of(run.part_points(number)) for number in numbers]
    lists, tables, choices = dict[tuple[str, int], Lists](), {}, {}

    def rank(wanted: Iterable[tuple[str, int]]) -> list[Arrays]:
        items = {f"point/{own}/p{number}": (number, of_parts[own]) for own, number in wanted}
        ranked = list(run.map(_point_item, items).values())
        lists.update(zip(wanted, map(lists_of, ranked), strict=True))
        return ranked

    for combination, used in of_parts.items():
        if type(system).grid is System.grid:  # points are ranked one by one: each only once
            every = [(combination, number) for number in range(len(points))]
            tables[combination] = np.stack([arrays["values"] for arrays in rank(every)], axis=1)
        else:
            measures = [*prepared.measures, prepared.tune_for]
            items = {
                f"grid/{combination}/p{n}": (EVERYTHING, points[n : n + CHUNK], used, measures)
                for n in range(0, len(points), CHUNK)
            }
            chunks = [arrays["values"] for arrays in run.map(values_item, items).values()]
            tables[combination] = np.concatenate(chunks, axis=1)
        choices[combination] = _choose_from_table(run, tables[combination][-1])
    chosen = [Chosen(*choices[which[row]][row]) for row in range(len(numbers))]
    wanted = dict.fromkeys((which[row], chosen[row].number) for row in range(len(splits)))
    rank([pair for pair in wanted if pair not in lists])
    folds, held_out = [], []
    for split, choice, combination in zip(splits, chosen, which, strict=False):
        table, mine, place = tables[combination], split.test > 0, Place.of(split.key)
        own = np.where(mine, table[:, choice.number], np.nan)
        shown = choice._replace(held_out=_means(table[-1], split.test))
        folds.append(FoldRow(place, shown, mean_of(np.repeat(own[-1], split.test))))
        top = lists_of_queries(lists[combination, choice.number], mine)
        held_out.append(HeldOut(place, choice.number, own[:-1], top))
    final = chosen[-1]
    # With parts that are tuned, another sample of queries could change their points, too.
    fixed = not any(part.search.tuned for part in parts_of(system))
    outcome = RankedOutcome(
        points,
        tuple(folds),
        final,
        tuple(held_out),
        tables[which[-1]][:-1, final.number],
        table=tables[which[0]] if fixed else None,
    )
    return Done(outcome, {n: points[one.number] for n, one in zip(numbers, chosen, strict=True)})


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


def _choose_from_table(run: Evaluation, values: Floats) -> list[Choice]:
    """Choose by points × queries for each split and, last, for use."""
    system, prepared = run.system, run.prepared
    if prepared.validates:
        numbers = [*range(len(prepared.splits)), ALL]
        return [chosen_point(system, prepared, number, values) for number in numbers]
    rule, better = prepared.experiment.rule, prepared.higher_is_better
    chosen, final = choose_in_splits(values, prepared.splits, rule=rule, higher_is_better=better)
    return [*chosen, final]


def _means(values: Floats, weights: Weights) -> Floats:
    """Return the mean of each row over the units with a weight; NaN: it has no value there."""
    there = np.isfinite(values) * weights
    total, times = (np.where(there > 0, values, 0.0) * weights).sum(axis=1), there.sum(axis=1)
    return np.where(times > 0, total / np.maximum(times, 1), np.nan)


# ---- documents that are not folds ---------------------------------------------------------------


def listed_splits(splits: Splits, by: str) -> int:
    """Return the number of splits whose ranked lists are kept, from the first on.

    All folds are kept: together they hold out every document once. For a bootstrap or repeated
    hold-outs of documents, a few splits show what was ranked; the lists of a thousand would be
    tens of millions of rows, and no estimate needs them.
    """
    whole = by != "document" or splits.partitions
    return len(splits) if whole else min(LISTED, len(splits))


def _documents_alone(run: Evaluation) -> RankedOutcome:
    """Evaluate each held-out side of the documents by itself, many of them in one item."""
    prepared, splits = run.prepared, run.prepared.splits
    system: Any = run.system  # a built-in model
    step = splits_at_once(prepared, system)
    items = {f"sides/{splits.key(begin)}": (begin, step) for begin in range(0, len(splits), step)}
    final = tune(run, [ALL]).chosen[ALL]
    listed = listed_splits(splits, "document")
    folds: list[FoldRow] = []
    held_out, estimates = [], []
    for arrays in run.map(_sides_item, items).values():
        own = json.loads(str(arrays.pop("estimates")))
        for known, *side in zip(own, *arrays.values(), strict=True):
            number, train, surface, values, documents, scores = side
            place, chosen = Place.of(splits.key(len(folds))), Chosen(int(number), train, surface)
            lists = Lists(documents, scores).top(prepared.kept if len(folds) < listed else 0)
            folds.append(FoldRow(place, chosen, mean_of(values[-1])))
            held_out.append(HeldOut(place, chosen.number, values[:-1], lists))
            estimates.append(tuple(Estimate(*row) for row in known))
    # These estimates have a training score of their own, for the same number of documents.
    unknown = np.full((len(prepared.measures), prepared.data.table.n_queries), np.nan)
    return RankedOutcome(
        system.search.points, tuple(folds), final, tuple(held_out), unknown, tuple(estimates)
    )


def _sides_item(prepared: PreparedRankings, name: str, begin: int, step: int) -> Arrays:
    system: Any = system_of(prepared, name)
    sides = evaluate_documents(prepared, system, prepared.splits[begin : begin + step])
    *columns, estimates, lists = zip(*sides, strict=True)
    columns += zip(*lists, strict=True)
    names = ("number", "train", "surface", "values", "documents", "scores")
    arrays = {name: np.stack(column) for name, column in zip(names, columns, strict=True)}
    return {**arrays, "estimates": np.array(json.dumps(estimates))}
