"""Fusions of runs, or of other systems of the experiment, as systems.

The ranking of a query depends on the fused rankings and the parameters alone. A part that is tuned
itself is fused as it was chosen for the split.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.lists import lists_of_run
from heldout.experiment.systems.base import System
from heldout.notes import count_of
from heldout.retrieve.fuse import Fusion, fuse_runs, judged_ranks
from heldout.tune.search import Search
from heldout.tune.space import Space

if TYPE_CHECKING:
    from heldout.data.words import Floats
    from heldout.experiment.documents.lists import Lists
    from heldout.experiment.systems.base import Data, Measures, Part, Parts, Points
    from heldout.experiment.systems.build import Given
    from heldout.tune.space import Point


@dataclass(frozen=True, kw_only=True, eq=False)
class FusionSystem(System):
    """A fusion by one method; see `heldout.fuse`."""

    needs_documents: ClassVar[bool] = False
    pools: ClassVar[bool] = True

    how: str
    learns: bool = False
    comparable: bool | None = True

    def rank(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Lists:
        """Fuse whole lists, then restrict them: ranks and norms mean what they mean in use."""
        fusion = fusion_at(self.how, point, len(self.parts))
        run = fuse_runs(parts.test, fusion, depth=data.depth)
        return test.restrict(lists_of_run(run, data.collection, data.depth))

    def grid(
        self, data: Data, train: Part, test: Part, points: Points, measures: Measures, parts: Parts
    ) -> Floats:
        """Rank the judged documents alone, by all points in one pass over the joined runs."""
        collection, table = data.collection, data.table
        fusions = [fusion_at(self.how, point, len(self.parts)) for point in points]
        ranks, retrieved = judged_ranks(parts.test, collection.qrels, fusions)
        judged = collection.judgements
        order = np.argsort(judged.queries, kind="stable")  # as the table has them
        lengths = np.zeros(table.n_queries, np.int64)
        lengths[judged.queries[collection.qrels.offsets[:-1]]] = retrieved
        return table.evaluate(ranks[order], test.counted(table), lengths, measures, data.depth)

    def edges(self, point: Point) -> tuple[str, ...]:
        """Return parameters at an end of their grid; a weight cannot go beyond 0 and 1."""
        ends = super().edges(point)
        return tuple(name for name in ends if name[0] != "w" or point[name] not in {0, 1})

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values."""
        return {**super().describe(), "fusion": self.how}


# ---- parameters and weights ---------------------------------------------------------------------


def fusion_system(how: str, parts: tuple[System | str, ...], given: Given) -> System:
    """Make a fusion, with all its parameters checked."""
    given.only(given.name or how, "parts", "parameters", "search", "trials")
    twice = [part for row, part in enumerate(parts) if part in parts[:row]]
    if twice:
        shown = getattr(twice[0], "name", twice[0])
        raise InputError(f"{how}: {shown} is given twice: leave one out")
    if len(parts) < 2:
        raise InputError(
            f"{how} fuses two or more parts, got {len(parts)}: write {how}(bm25.run, dense.run)"
        )
    search = _with_weights(given.searched(), len(parts))
    for point in search.points or search.space.points():  # Optuna has no points yet
        fusion_at(how, point, len(parts))
    return FusionSystem(name=given.name or how, search=search, how=how, parts=parts)


def _with_weights(search: Search, parts: int) -> Search:
    """Return the points to try; with three or more parts, ``w`` is the weight of every one."""
    shared = next((axis for axis in search.space.axes if axis.name == "w"), None)
    if shared is None or parts == 2:
        return search
    names = _weight_names(parts)
    weights = [replace(shared, name=name) for name in names]
    others = [axis for axis in search.space.axes if axis is not shared]
    search = replace(search, space=Space((*weights, *others)))
    if search.how == "optuna":
        return search
    rows = []
    for point in search.points:
        values: dict[str, Any] = dict(point)
        total = float(sum(values[name] for name in names))
        if search.how == "random":  # only their ratios matter
            rows.append(values | {name: round(values[name] / (total or 1.0), 4) for name in names})
        elif abs(total - 1) < 1e-9:
            rows.append(values)
    if not rows:
        raise InputError(
            f"w: no {parts} of its values add up to 1; write w=0:1:5, or w1=…, w2=…, …"
        )
    return Search(Space.listed(rows))


def _weight_names(parts: int) -> list[str]:
    return [f"w{number + 1}" for number in range(parts)]


def fusion_at(how: str, point: Point, parts: int) -> Fusion:
    """Return the fusion at a point; of two parts, ``w`` is the weight of the first."""
    values: dict[str, Any] = dict(point)
    names = _weight_names(parts)
    weights: tuple[float, ...] | None = None
    if how == "wsum" and "w" in values and parts == 2:
        first = values.pop("w")
        if isinstance(first, str | bool) or not 0 <= first <= 1:
            raise InputError(
                "expected a number between 0 and 1; the second has 1 − w", argument="w", value=first
            )
        weights = (first, round(1 - first, 12))
    elif how == "wsum":
        weights = tuple(values.pop(name, 0) for name in names)
        if not set(names) & set(point):
            what = "w=0:1:11 (the weight of the first)" if parts == 2 else "w=0:1:5"
            raise InputError(
                f"{how} needs weights: write {what} to tune them, or {'=…, '.join(names)}=…"
            )
        weights = weights if any(weights) else (1.0,) * parts  # a corner of the space, for a search
    for name in values:
        if name not in {"norm", "k"}:  # of these, `Fusion` knows which it has
            raise InputError(f"{how} of {count_of(parts, 'part')} has no parameter {name}")
    return Fusion(how, weights=weights, **values)
