"""Choose the parameters of a system for every split, each on data of its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.experiment.outcomes import Chosen, mean_where_defined
from heldout.experiment.sides import (
    ALL,
    all_data,
    inner_sides,
    name_of,
    part_runs,
    sides_of,
    system_of,
)
from heldout.experiment.systems.base import Part
from heldout.experiment.systems.functions import call_seed
from heldout.tune.choice import choose
from heldout.tune.search import numbered, tried_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.sides import Evaluation
    from heldout.experiment.systems.base import System, Weights
    from heldout.experiment.workers import Arrays
    from heldout.measure.base import Measure
    from heldout.tune.choice import Choice
    from heldout.tune.space import Point

    Fold = tuple[int, int]  # the numbers of a split and of an inner fold; −1: not an inner one

EVERYTHING: Final = (ALL, -1)
"""Choose on all data."""
CHUNK: Final = 32
"""Points of a built-in model in one item: as many as one pass over the index scores."""


class Tuned(NamedTuple):
    """The points that were tried, the choice for each split and for use, and the values for use."""

    points: tuple[Point, ...]
    chosen: dict[int, Chosen]
    whole: Floats  # points × queries of all data, by the tuning measure; empty: nothing to choose

    def point(self, number: int) -> Point:
        """Return the point chosen for a split, or for use."""
        return self.points[self.chosen[number].number]

    def by_number(self) -> dict[int, Point]:
        """Return the points chosen for all splits and for use."""
        return {number: self.point(number) for number in self.chosen}


def tune(run: Evaluation, numbers: Sequence[int] = ()) -> Tuned:
    """Choose for every split and for use, or for some `numbers` of them."""
    system, prepared = run.system, run.prepared
    numbers = numbers or [*range(len(prepared.splits)), ALL]
    if not system.search.tuned:
        none = Chosen(0, float("nan"), np.full(1, np.nan))
        return Tuned(system.search.points, dict.fromkeys(numbers, none), np.empty((0, 0)))
    if system.search.how == "optuna":
        items = {
            f"search/{name_of(prepared, number)}": (number, run.part_points(number))
            for number in numbers
        }
        found = dict(zip(numbers, run.map(_search_item, items).values(), strict=True))
        points, rows = numbered({n: json.loads(str(own["points"])) for n, own in found.items()})
        values = {number: own["values"] for number, own in found.items()}
    else:
        points, values = system.search.points, _grid_values(run, numbers)
        rows = {number: list(range(len(points))) for number in numbers}
    chosen = {}
    for number in numbers:
        choice = chosen_point(system, prepared, number, values[number])
        surface = np.full(len(points), np.nan)
        surface[rows[number]] = choice.means
        chosen[number] = Chosen(rows[number][choice.number], choice.mean, surface)
    whole = np.full((len(points), prepared.data.table.n_queries), np.nan)
    whole[rows[ALL]] = values[ALL]
    return Tuned(points, chosen, whole)


def _grid_values(run: Evaluation, numbers: Sequence[int]) -> dict[int, Floats]:
    """Return points × queries for every split: each point on the data to choose on."""
    system, prepared = run.system, run.prepared
    points, step = system.search.points, 1 if system.calls else CHUNK
    folds = {number: _tuning_folds(system, prepared, number) for number in numbers}
    items = {
        (fold, begin): (fold, points[begin : begin + step], run.part_points(fold[0]))
        for fold in dict.fromkeys(fold for own in folds.values() for fold in own)
        for begin in range(0, len(points), step)
    }
    named = {_item_name(prepared, *place): item for place, item in items.items()}
    parts: dict[Fold, list[Floats]] = {}
    for (fold, _), arrays in zip(items, run.map(values_item, named).values(), strict=True):
        parts.setdefault(fold, []).append(arrays["values"][0])
    known = {fold: np.concatenate(own) for fold, own in parts.items()}
    return {number: _mean([known[fold] for fold in own]) for number, own in folds.items()}


def _mean(folds: Sequence[Floats]) -> Floats:
    """Return the mean over inner folds, or validation parts, where it is defined."""
    return folds[0] if len(folds) == 1 else mean_where_defined(np.stack(folds))


def _tuning_folds(system: System, prepared: PreparedRankings, number: int) -> list[Fold]:
    """Return the data to choose on for a split."""
    if prepared.validates:
        # For use, all validation parts: choosing on all data would use the test parts.
        numbers = range(len(prepared.splits)) if number == ALL else [number]
        return [(split, -1) for split in numbers]
    if system.learns and prepared.experiment.inner:
        return [(number, inner) for inner in range(prepared.experiment.inner)]
    if not system.learns and prepared.splits.crossed is not None and number != ALL:
        # Lists do not depend on the training queries: one fold of the queries stands for all.
        keys = [prepared.splits.key(split) for split in range(number + 1)]
        same = [(key.repeat, key.other) for key in keys]
        return [(same.index(same[number]), -1)]
    return [(number, -1)]


def _item_name(prepared: PreparedRankings, fold: Fold, begin: int) -> str:
    inner = f"/i{fold[1]}" if fold[1] >= 0 else ""
    return f"tune/{name_of(prepared, fold[0])}{inner}/p{begin}"


def _tuning_sides(system: System, prepared: PreparedRankings, fold: Fold) -> tuple[Part, Part]:
    """Return the data to learn from, and those to choose on."""
    if fold[1] >= 0:
        return inner_sides(prepared, *fold)
    train, validation, _ = sides_of(prepared, fold[0])
    if not system.learns:
        # All queries: those that do not count for a choice have no weight in it.
        train = Part(train.documents, None, train.split, -1, train.key)
        if validation is not None:
            validation = Part(validation.documents, None, train.split, -1, train.key)
    return train, train if validation is None else validation


def values_item(
    prepared: PreparedRankings,
    name: str,
    fold: Fold,
    points: Sequence[Point],
    of_parts: Sequence[Point],
    measures: Sequence[Measure] = (),
) -> Arrays:
    """Return measures × points × queries on the data to choose on; by default to tune for."""
    system = system_of(prepared, name)
    train, test = _tuning_sides(system, prepared, fold)
    runs = part_runs(system, prepared, fold[0], of_parts)
    measures = measures or [prepared.tune_for]
    return {"values": system.grid(prepared.data, train, test, points, measures, runs)}


def _search_item(
    prepared: PreparedRankings, name: str, number: int, of_parts: Sequence[Point]
) -> Arrays:
    """Search on the data of one split; return the points, and points × queries."""
    system, weights = system_of(prepared, name), _query_weights(prepared, number)
    sides = [
        (*_tuning_sides(system, prepared, fold), part_runs(system, prepared, fold[0], of_parts))
        for fold in _tuning_folds(system, prepared, number)
    ]
    rows = []

    def values_of(points: Sequence[Point]) -> Floats:
        each = [
            system.grid(prepared.data, train, test, points, [prepared.tune_for], runs)[0]
            for train, test, runs in sides
        ]
        rows.append(_mean(each))
        return rows[-1] if weights is None else np.repeat(rows[-1], weights, axis=1)

    points, _ = tried_points(
        system.search,
        values_of,
        seed=call_seed(prepared.experiment.seed, "search", name, name_of(prepared, number)),
        higher_is_better=prepared.higher_is_better,
    )
    return {"points": np.array(json.dumps(points)), "values": np.concatenate(rows)}


def _query_weights(prepared: PreparedRankings, number: int) -> Weights | None:
    """Return how often each query counts for a choice; None: once."""
    if prepared.experiment.by == "document":
        return None
    if number != ALL:
        split = prepared.splits[number]
        own: Weights = split.train if split.validation is None else split.validation
        return own
    if prepared.validates:
        each = [split.validation for split in prepared.splits if split.validation is not None]
        total: Weights = np.sum(each, axis=0, dtype=np.int32)
        return total
    return all_data(prepared).queries


def chosen_point(system: System, prepared: PreparedRankings, number: int, values: Floats) -> Choice:
    """Choose for a split by points × queries."""
    weights = _query_weights(prepared, number)
    seen = values if weights is None else values[:, weights > 0]
    if not np.isfinite(seen).any():
        raise InputError(
            f"{system.name}, {name_of(prepared, number)}: no query on the training side has a "
            "relevant document: use fewer folds"
        )
    rule, better = prepared.experiment.rule, prepared.higher_is_better
    return choose(values, weights, rule=rule, higher_is_better=better)
