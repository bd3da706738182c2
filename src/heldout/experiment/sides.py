"""The sides of a split as parts of the collection, and what the parts of a system rank on them."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.experiment.documents.lists import Lists, as_run
from heldout.experiment.outcomes import Place
from heldout.experiment.systems.base import Part, Parts, System
from heldout.resample.plans import KFold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heldout.data.run import Run
    from heldout.experiment.outcomes import RankedOutcome
    from heldout.experiment.prepare import Prepared, PreparedRankings
    from heldout.experiment.systems.base import Weights
    from heldout.experiment.work import Work
    from heldout.experiment.workers import Arrays
    from heldout.resample.split import Split, Splits
    from heldout.tune.space import Point

ALL: Final = -1
"""In place of the number of a split: nothing is held out, parameters are chosen for use."""


class Sides(NamedTuple):
    """Learn from `train`, choose on `validation` (None: on `train`), measure on `test`."""

    train: Part
    validation: Part | None
    test: Part


def name_of(prepared: Prepared, number: int) -> str:
    """Return the name of a split."""
    return "all" if number == ALL else str(prepared.splits.key(number))


def sides_of(prepared: PreparedRankings, number: int) -> Sides:
    """Return the sides of a split; of no split: all data."""
    if number == ALL:
        everything = all_data(prepared)
        return Sides(everything, None, everything)
    split = prepared.splits[number]
    train, test = (_part(prepared, split, side) for side in ("train", "test"))
    has_third = "validation" in split.sides()
    return Sides(train, _part(prepared, split, "validation") if has_third else None, test)


def inner_sides(prepared: PreparedRankings, number: int, inner: int) -> tuple[Part, Part]:
    """Return an inner fold of a training side, or of all data: to learn from, and to choose on."""
    plan = KFold(prepared.experiment.inner or 2, seed=prepared.experiment.seed)
    if number == ALL:
        units = prepared.splits.units  # with their groups
        split = plan.splits(units, units.unit)[inner]
    else:
        unit: Any = "query" if prepared.experiment.by == "both" else None
        split = prepared.splits[number].inner(plan, unit)[inner]
    train, test = (
        _part(prepared, split, side, name_of(prepared, number), inner) for side in ("train", "test")
    )
    return train, test


def _part(
    prepared: PreparedRankings, split: Split, side: str, name: str = "", inner: int = -1
) -> Part:
    own, name = split.weights(side), name or str(split.key)
    if split.documents is not None:
        return Part(split.documents.weights(side), own, name, inner, split.key)
    if prepared.experiment.by == "document":
        return Part(own, None, name, inner, split.key)
    return Part(None, own, name, inner, split.key)


def all_data(prepared: PreparedRankings) -> Part:
    """Return all data; folds may leave out some documents or queries, which are then unknown."""

    def sample(splits: Splits) -> Weights | None:
        there = splits.folds(0) >= 0
        return None if there.all() else there.astype(np.int32)

    if prepared.experiment.by == "query" or not are_folds(prepared.splits):
        return Part()
    if prepared.splits.crossed is None:
        return Part(documents=sample(prepared.splits))
    queries, documents = map(sample, prepared.splits.crossed)
    return Part(documents, queries)


def are_folds(splits: Splits) -> bool:
    """Return whether every unit, of queries and documents, is held out once in each repeat."""
    return all(part.partitions for part in splits.crossed or [splits])


def merged_splits(prepared: PreparedRankings, *, runs: bool) -> dict[Place, list[int]]:
    """Return the splits whose held-out documents make one ranking: those of the same queries.

    Without `runs`, the first run stands for all: nothing is random.
    """
    groups: dict[Place, list[int]] = defaultdict(list)
    for number in range(len(prepared.splits)):
        key = prepared.splits.key(number)
        if runs or not key.run:
            fold = key.fold if prepared.experiment.by == "both" else None
            groups[Place(key.repeat, fold, run=key.run if runs else None)].append(number)
    return groups


# ---- one system of an experiment ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Done:
    """A system that was evaluated: its outcome, and what systems that it is a part of need."""

    outcome: RankedOutcome
    points: Mapping[int, Point] = field(default_factory=dict)  # chosen, by the number of the split
    pooled: Mapping[int, Lists] = field(default_factory=dict)  # by repeat: all held-out documents


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A system, its experiment, the map that remembers, and the systems evaluated before."""

    system: System
    prepared: PreparedRankings
    work: Work
    done: Mapping[str, Done]

    def map(
        self, function: Callable[..., Arrays], items: Mapping[str, tuple[Any, ...]]
    ) -> dict[str, Arrays]:
        """Call a function with the experiment, the name of the system, and each item."""
        name = self.system.name
        named = {f"{name}/{label}": (name, *item) for label, item in items.items()}
        found = self.work.map(function, named, calls=self.system.calls)
        return dict(zip(items, found.values(), strict=True))

    def part_points(self, number: int) -> tuple[Point, ...]:
        """Return the points of the parts in a split; a part may be a run that is not tuned."""
        return tuple(
            self.done[part.name].points[number] if part.name in self.done else part.search.points[0]
            for part in parts_of(self.system)
        )

    def pooled_parts(self, number: int) -> list[Lists] | None:
        """Return all held-out documents as the parts rank them, if documents are held out."""
        if not self.system.parts or self.prepared.experiment.by == "query":
            return None
        repeat = self.prepared.splits.key(number).repeat
        folds, lists = self.prepared.splits.folds(repeat), []
        for part in parts_of(self.system):
            if part.name in self.done:
                lists.append(self.done[part.name].pooled[repeat])
            else:
                point = part.search.points[0]
                chosen = [point] * (int(folds.max()) + 1)
                lists.append(part.pool(self.prepared.data, folds, chosen, point, Parts()))
        return lists


def system_of(prepared: PreparedRankings, name: str) -> System:
    """Return a system of the experiment."""
    return next(system for system in prepared.systems if system.name == name)


def parts_of(system: System) -> tuple[System, ...]:
    """Return the parts of a system of a prepared experiment."""
    return tuple(part for part in system.parts if isinstance(part, System))


def part_runs(
    system: System,
    prepared: PreparedRankings,
    number: int,
    points: Sequence[Point],
    pooled: Sequence[Lists] | None = None,
) -> Parts:
    """Return what the parts of a system rank in a split: to tune it, or to test it on `pooled`."""
    if not system.parts:
        return Parts()
    if prepared.experiment.by == "query":
        whole = _ranked(system, prepared, Part(), Part(), points)
        return Parts(whole, whole)
    train, validation, _ = sides_of(prepared, number)
    seen = _ranked(system, prepared, train, train, points)
    if pooled is not None:
        return Parts(seen, as_runs(system, prepared, pooled))
    if validation is None:
        return Parts(seen, seen)
    return Parts(seen, _ranked(system, prepared, train, validation, points))


def _ranked(
    system: System, prepared: PreparedRankings, train: Part, test: Part, points: Sequence[Point]
) -> list[Run]:
    data = prepared.data

    def run(part: System, point: Point) -> Run:
        name = ("part", part.name, test.split, test is train, text_of(point))
        ranked: Run = data.once(name, lambda: part.run(data, train, test, point, Parts()))
        return ranked

    return [run(part, point) for part, point in zip(parts_of(system), points, strict=True)]


def as_runs(system: System, prepared: PreparedRankings, lists: Sequence[Lists]) -> list[Run]:
    """Return lists of the parts of a system as runs."""
    pairs = zip(lists, parts_of(system), strict=True)
    return [as_run(each, prepared.data.collection, part.name) for each, part in pairs]


def lists_of(arrays: Mapping[str, Any]) -> Lists:
    """Return the ranked lists that an item returned."""
    return Lists(arrays["documents"], arrays["scores"])


def text_of(value: object) -> str:
    """Return points as a text, which is the same for equal ones."""
    return json.dumps(value, sort_keys=True)
