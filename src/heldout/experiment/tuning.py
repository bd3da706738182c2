"""Choose the parameters of a system for every split, each on data of its own: for all tasks.

Every point is tried on the folds of the data to choose on: inner folds of the training side, the
validation part of the plan, or the training side itself. How a point is tried, and what counts for
the choice, are two functions of the task.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.experiment.outcomes import ALL
from heldout.experiment.systems.functions import call_seed
from heldout.tune.choice import NO_CHOICE, Choice, choose
from heldout.tune.search import numbered, proposed_points

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heldout.data.words import Floats
    from heldout.experiment.outcomes import RankedOutcome
    from heldout.experiment.prepare import Prepared
    from heldout.experiment.systems.base import Weights
    from heldout.experiment.work import Work
    from heldout.experiment.workers import Arrays
    from heldout.tune.space import Point

    Fold = tuple[int, int]  # the numbers of a split, and of an inner fold of its training side
    # Tries points on a fold; its arrays have a row for each point, and a column for the fold.
    TryPoints = Callable[["Any", str, Fold, Sequence[Point], Sequence[Point]], Arrays]
    # Turns what came out of points × folds into what a split is chosen by.
    UnitsOf = Callable[["Any", int, Arrays], "Units"]

WHOLE: Final = -1  # in place of the number of an inner fold: the whole training side
CHUNK: Final = 32  # points of a model in one item: as many as one pass over the index scores


class Units(NamedTuple):
    """What a point is chosen by."""

    values: Floats  # points × units, by the tuning measure
    weights: Weights | None = None  # how often each unit counts; None: once
    # The reason if nothing has a value.
    why: str = "no query on the training side has a relevant document: use fewer folds"


class Tuned(NamedTuple):
    """The points that were tried, the choice for each split and for use, and what they rest on."""

    points: tuple[Point, ...]
    choices: Mapping[int, Choice]
    # By split, or `ALL`: points × folds, and the numbers of these points. Empty: nothing to choose.
    tried: Mapping[int, Arrays]

    def point(self, number: int) -> Point:
        """Return the point chosen for a split, or for use."""
        return self.points[self.choices[number].number]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A system, its experiment, the map that remembers, and the outcomes of its parts."""

    system: Any
    prepared: Any
    work: Work
    done: Mapping[str, RankedOutcome] = field(default_factory=dict)

    def map(
        self, function: Callable[..., Arrays], items: Mapping[str, tuple[Any, ...]]
    ) -> dict[str, Arrays]:
        """Call a function with the experiment, the name of the system, and each item."""
        name = self.system.name
        named = {f"{name}/{label}": (name, *item) for label, item in items.items()}
        results = self.work.map(function, named, calls=self.system.calls)
        return dict(zip(items, results.values(), strict=True))

    def part_points(self, number: int) -> tuple[Point, ...]:
        """Return the points of the parts in a split; a part may be a run that is not tuned."""
        known = [(part, self.done.get(part.name)) for part in self.system.parts]
        return tuple(
            done.points[done.choices[number].number] if done else part.search.points[0]
            for part, done in known
        )


def name_of(prepared: Prepared, number: int) -> str:
    """Return the name of a split."""
    return "all" if number == ALL else str(prepared.splits.key(number))


def system_of(prepared: Prepared, name: str) -> Any:
    """Return a system of the experiment."""
    return next(system for system in prepared.systems if system.name == name)


def tune(
    run: Evaluation, try_points: TryPoints, units_of: UnitsOf, numbers: Sequence[int] = ()
) -> Tuned:
    """Choose for every split and for use, or for some `numbers` of them."""
    prepared, search = run.prepared, run.system.search
    numbers = numbers or [*range(len(prepared.splits)), ALL]
    if not search.tuned:
        return Tuned(search.points, dict.fromkeys(numbers, NO_CHOICE), {})
    if search.how == "optuna":
        items = {
            f"search/{name_of(prepared, n)}": (n, run.part_points(n), try_points, units_of)
            for n in numbers
        }
        tried = dict(zip(numbers, run.map(_search_item, items).values(), strict=True))
        points, rows = numbered({n: json.loads(str(own["points"])) for n, own in tried.items()})
    else:
        points, tried = search.points, _grid(run, try_points, numbers)
        rows = {number: list(range(len(points))) for number in numbers}
    choices = {}
    for number, own in tried.items():
        units, own["points"] = units_of(prepared, number, own), np.array(rows[number])
        choice = choose_by(prepared, f"{run.system.name}, {name_of(prepared, number)}", units)
        means = np.full(len(points), np.nan)
        means[rows[number]] = choice.means
        choices[number] = Choice(rows[number][choice.number], choice.mean, means)
    return Tuned(points, choices, tried)


def choose_by(prepared: Prepared, where: str, units: Units) -> Choice:
    """Choose by the rule of the experiment."""
    values, weights, why = units
    rule, better = prepared.experiment.rule, prepared.tune_for.higher_is_better
    try:
        return choose(values, weights, rule=rule, higher_is_better=bool(better))
    except InputError as error:
        seen = values if weights is None else values[:, weights > 0]
        said = error if np.isfinite(seen).any() else why
        raise InputError(f"{where}: {said}") from None


def _grid(run: Evaluation, try_points: TryPoints, numbers: Sequence[int]) -> dict[int, Arrays]:
    """Try all points for every split; splits can have folds in common."""
    system, prepared, points = run.system, run.prepared, run.system.search.points
    folds = {number: _tuning_folds(system, prepared, number) for number in numbers}
    step = 1 if system.calls else CHUNK
    begins = range(0, len(points), step)

    def label(fold: Fold, begin: int) -> str:
        inner = "" if fold[1] == WHOLE else f"/i{fold[1]}"
        return f"tune/{name_of(prepared, fold[0])}{inner}/p{begin}"

    items = {
        label(fold, begin): (fold, points[begin : begin + step], run.part_points(fold[0]))
        for own in folds.values()
        for fold in own
        for begin in begins
    }
    done = run.map(try_points, items)
    return {
        number: _joined(
            [_joined([done[label(fold, begin)] for begin in begins]) for fold in own], axis=1
        )
        for number, own in folds.items()
    }


def _joined(parts: Sequence[Arrays], axis: int = 0) -> Arrays:
    """Join points or, along axis 1, folds."""
    return {name: np.concatenate([own[name] for own in parts], axis) for name in parts[0]}


def _tuning_folds(system: Any, prepared: Prepared, number: int) -> list[Fold]:
    """Return the data to choose on for a split."""
    if prepared.splits.validates:
        # For use, all validation parts: choosing on all data would use the test parts.
        return [(n, WHOLE) for n in (range(len(prepared.splits)) if number == ALL else [number])]
    if system.learns and prepared.experiment.inner:
        return [(number, inner) for inner in range(prepared.experiment.inner)]
    if not system.learns and prepared.splits.crossed is not None and number != ALL:
        # Lists do not depend on the training queries: one fold of the queries stands for all.
        same = [(key.repeat, key.other) for key in map(prepared.splits.key, range(number + 1))]
        return [(same.index(same[number]), WHOLE)]
    return [(number, WHOLE)]


def _search_item(
    prepared: Prepared,
    name: str,
    number: int,
    of_parts: Sequence[Point],
    try_points: TryPoints,
    units_of: UnitsOf,
) -> Arrays:
    """Search on the data of one split; return the points, and points × folds."""
    system = system_of(prepared, name)
    folds = _tuning_folds(system, prepared, number)
    tries: list[Arrays] = []

    def values_of(points: Sequence[Point]) -> Floats:
        each = [try_points(prepared, name, fold, points, of_parts) for fold in folds]
        tries.append(_joined(each, axis=1))
        values, weights, _ = units_of(prepared, number, tries[-1])
        return values if weights is None else np.repeat(values, weights, axis=1)

    points = proposed_points(
        system.search,
        values_of,
        seed=call_seed(prepared.experiment.seed, "search", name, name_of(prepared, number)),
        higher_is_better=bool(prepared.tune_for.higher_is_better),
    )
    return {"points": np.array(json.dumps(points)), **_joined(tries)}
