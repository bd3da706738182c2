"""Merge the held-out documents of all folds into one ranking, and estimate from it.

The ranking is as long as that of the whole sample, so scores and ranks mean the same in it as in a
new collection of that size, and no judgement of a document has influenced its own score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.experiment.documents.estimates import document_estimates, fold_estimates, mean_of
from heldout.experiment.documents.lists import (
    Lists,
    id_order,
    lists_of_documents,
    lists_of_queries,
    measure_lists,
    merged_lists,
)
from heldout.experiment.outcomes import FoldRow, HeldOut, Place, RankedOutcome
from heldout.experiment.sides import (
    ALL,
    Done,
    all_data,
    are_folds,
    as_runs,
    lists_of,
    merged_splits,
    system_of,
)
from heldout.experiment.systems.base import Parts
from heldout.experiment.tuning import EVERYTHING, chosen_point, values_item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.words import Flags, Floats
    from heldout.experiment.documents.estimates import Estimate
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.sides import Evaluation
    from heldout.experiment.systems.base import System
    from heldout.experiment.tuning import Tuned
    from heldout.experiment.workers import Arrays
    from heldout.tune.space import Point


def merges(system: System, prepared: PreparedRankings) -> bool:
    """Return whether the held-out documents of all folds are merged into one ranking."""
    return prepared.experiment.by != "query" and bool(system.comparable)


def merge_tests(run: Evaluation, tuned: Tuned, tests: Sequence[Arrays]) -> Done:
    """Merge held-out sides that were ranked one by one."""
    order, depth = id_order(run.prepared.data.collection), run.prepared.experiment.depth
    lists = {
        place: merged_lists([lists_of(tests[number]) for number in own], order, depth)
        for place, own in merged_splits(run.prepared, runs=True).items()
    }
    return _merged(run, tuned, lists, [mean_of(arrays["values"][-1]) for arrays in tests])


def pool_folds(run: Evaluation, tuned: Tuned) -> Done:
    """Let the system rank the held-out documents of all folds, each with the point of its fold."""
    items = {}
    for place, own in merged_splits(run.prepared, runs=False).items():
        scale = tuned.chosen[ALL].number
        if place.fold is not None and len(tuned.whole):  # chosen without the held-out queries
            scale = chosen_point(run.system, run.prepared, own[0], tuned.whole).number
        chosen = [tuned.point(number) for number in own]
        parts = run.pooled_parts(own[0])
        items[place] = (place.repeat, chosen, tuned.points[scale], parts)
    named = {f"pool/r{place.repeat}/f{place.fold}": item for place, item in items.items()}
    found = run.map(_pool_item, named).values()
    return _merged(run, tuned, dict(zip(items, map(lists_of, found), strict=True)))


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
    runs = Parts((), as_runs(system, prepared, pooled or ()) if pooled else ())
    return system.pool(prepared.data, folds, chosen, scale, runs)._asdict()


@dataclass(eq=False)
class _Repeat:
    """The merged ranking of all queries in one repeat, and its values."""

    lists: Lists
    values: Floats
    documents: Flags  # those that were held out
    estimates: tuple[Estimate, ...] = ()

    def add(self, lists: Lists, values: Floats, asked: Flags) -> None:
        """Take over some queries."""
        documents = np.where(asked[:, None], lists.documents, self.lists.documents)
        scores = np.where(asked[:, None], lists.scores, self.lists.scores)
        self.lists, self.values = Lists(documents, scores), np.where(asked, values, self.values)


def _merged(
    run: Evaluation,
    tuned: Tuned,
    lists: Mapping[Place, Lists],
    tested: Sequence[float] | None = None,
) -> Done:
    """Evaluate one ranking of all held-out documents, per repeat and fold of the queries.

    The held-out score of a split is that of its own test, or else as the merged ranking has it.
    """
    prepared, experiment, table = run.prepared, run.prepared.experiment, run.prepared.data.table
    training = training_values(run, tuned)
    measures, both = [*prepared.measures, prepared.tune_for], experiment.by == "both"
    folds, held_out, repeats = [], [], dict[Place, _Repeat]()
    for place, own in merged_splits(prepared, runs=tested is not None).items():
        splits, ranked = [prepared.splits[number] for number in own], lists[place]
        documents = np.logical_or.reduce([(split.documents or split).test > 0 for split in splits])
        asked = splits[0].test > 0 if both else np.ones(table.n_queries, np.bool_)
        counted = documents[table.documents] & asked[table.queries]
        values = measure_lists(table, ranked, counted, measures, experiment.depth)
        for number, split in zip(own, splits, strict=True):
            if tested is not None:
                score = tested[number]
            else:
                score = mean_of(values[-1] if both else _alone(prepared, ranked, split.test > 0))
            at = Place.of(split.key)._replace(run=place.run)
            folds.append(FoldRow(at, tuned.chosen[number], score))
        numbers = [tuned.chosen[number].number for number in own]
        whole = Place(place.repeat, run=place.run)
        repeat = repeats.setdefault(whole, _Repeat(ranked, values[:-1], documents))
        repeat.add(ranked, values[:-1], asked)
        if experiment.method != "pooled" or experiment.target_size is not None:
            model: Any = run.system  # others are refused
            candidates = model.candidates(prepared.data, tuned.points)
            at_folds = prepared.splits.folds(place.repeat)
            repeat.values, repeat.estimates = fold_estimates(
                prepared, candidates, at_folds, numbers, ranked, values[:-1], training
            )
        shown = repeat.values if not both else values[:-1]
        top = lists_of_queries(ranked, asked).top(prepared.kept)
        number = numbers[0] if len(set(numbers)) == 1 else -1
        held_out.append(HeldOut(place, number, shown, top))
    estimates = tuple(
        repeat.estimates
        or document_estimates(
            prepared, repeat.lists.documents, repeat.documents, repeat.values, training
        )
        for repeat in repeats.values()
    )
    outcome = RankedOutcome(
        tuned.points, tuple(folds), tuned.chosen[ALL], tuple(held_out), training, estimates
    )
    pooled = {place.repeat: repeat.lists for place, repeat in repeats.items()}
    return Done(outcome, tuned.by_number(), pooled)


def _alone(prepared: PreparedRankings, lists: Lists, held: Flags) -> Floats:
    """Return the value of each query on the documents of one fold, by the tuning measure."""
    table, depth = prepared.data.table, prepared.experiment.depth
    own, counted = lists_of_documents(lists, held), held[table.documents]
    values: Floats = measure_lists(table, own, counted, [prepared.tune_for], depth)[0]
    return values


def training_values(run: Evaluation, tuned: Tuned) -> Floats:
    """Return measures × queries of the final point on all data, where known; otherwise NaN.

    A system that learns is known there by the tuning measure alone, from its tuning.
    """
    system, prepared, experiment = run.system, run.prepared, run.prepared.experiment
    training = np.full((len(prepared.measures), prepared.data.table.n_queries), np.nan)
    if experiment.by != "query" and not are_folds(prepared.splits):
        return training  # not the number of documents that were held out, so not comparable
    if system.pools or (experiment.by == "query" and not system.learns):
        item = EVERYTHING, [tuned.point(ALL)], run.part_points(ALL), list(prepared.measures)
        values: Floats = run.map(values_item, {"training": item})["training"]["values"][:, 0]
        asked = all_data(prepared).queries
        return values if asked is None else np.where(asked > 0, values, np.nan)
    inner = experiment.inner is not None and system.learns
    known = len(tuned.whole) and not inner and not prepared.validates
    if known and prepared.tune_for in prepared.measures:
        row = prepared.measures.index(prepared.tune_for)
        training[row] = tuned.whole[tuned.chosen[ALL].number]
    return training
