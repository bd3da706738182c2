"""Built-in models as systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.pooling import pool
from heldout.experiment.systems.base import System
from heldout.retrieve.models import Model
from heldout.retrieve.sides import Side, seen_side, whole_side
from heldout.retrieve.statistics import cell_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.run import Run
    from heldout.data.words import Floats
    from heldout.experiment.documents.lists import Lists
    from heldout.experiment.systems.base import Data, Measures, Part, Parts, Points, Weights
    from heldout.experiment.systems.build import Given
    from heldout.resample.split import Splits
    from heldout.retrieve.index import Index
    from heldout.tune.space import Point


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSystem(System):
    """A built-in model; its statistics of documents come from the index, so it does not learn."""

    is_model: ClassVar[bool] = True
    pools: ClassVar[bool] = True

    model: str  # its name
    learns: bool = False
    comparable: bool | None = True  # scores of folds are brought to one scale

    def models(self, points: Sequence[Point]) -> tuple[Model, ...]:
        """Return the model at some points."""
        # `model_system` has checked that all values are numbers.
        return tuple(Model.make(self.model, **cast("dict[str, float]", point)) for point in points)

    def candidates(self, data: Data, points: Sequence[Point]) -> Candidates:
        """Return the model at some points, ready to rank."""
        index: Any = data.index  # opened, since there is a model
        queries = data.collection.queries
        vocabulary = data.once("vocabulary", lambda: index.encode(queries.texts))
        return Candidates(index, vocabulary, data.table, self.models(points), data.depth)

    def rank(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Lists:
        """Rank the documents of the test side by the statistics of the training side."""
        candidates = self.candidates(data, [point])
        (lists,) = candidates.lists(_side(candidates, train, test), [0], data.depth)
        return test.restrict(lists)

    def grid(
        self, data: Data, train: Part, test: Part, points: Points, measures: Measures, parts: Parts
    ) -> Floats:
        """Rank the judged documents alone, by all points in one pass over the index."""
        candidates = self.candidates(data, points)
        return candidates.evaluate(_side(candidates, train, test), measures)

    def pool(self, data: Data, folds: Weights, chosen: Points, final: Point, parts: Parts) -> Lists:
        """Rank the held-out documents of all folds in one pass."""
        points = [*chosen, final]
        *own, reference = [points.index(point) for point in points]
        return pool(self.candidates(data, points), folds, own, reference, data.depth)

    def run(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Run:
        """Return what it ranks; a search of all documents lists only those with a query term."""
        if test.documents is not None:
            return super().run(data, train, test, point, parts)
        from heldout.retrieve.search import search  # slow to import

        (model,), index = self.models([point]), cast("Index", data.index)
        return search(index, data.collection.queries, model, k=data.depth, name=self.name)

    def misfits(self, by: str, splits: Splits | None) -> Iterator[str]:
        """Yield that the plan has no folds where it needs them."""
        if by == "both" and splits and not splits.partitions:
            yield "when queries and documents are held out, both need folds (kfold, given)"

    def describe(self) -> dict[str, Any]:
        """Return the model and its points, as plain values."""
        return {**super().describe(), "model": self.model}


def _side(candidates: Candidates, train: Part, test: Part) -> Side:
    """Return the documents of the test side, scored by the statistics of the training side."""
    index, vocabulary = candidates.index, candidates.vocabulary
    if train.documents is None:
        return whole_side(index, vocabulary)
    if test.documents is train.documents or test.documents is None:
        return seen_side(index, vocabulary, train.documents > 0)
    # Each held-out document is scored as if it alone were added to the training side.
    known = cell_statistics(index, vocabulary, _cells(train.documents), 1)
    cells = _cells(test.documents)
    return Side(cells, np.zeros_like(cells), 1, known, added=True, relative=True)


def _cells(weights: Weights) -> Weights:
    return np.where(weights > 0, 0, -1).astype(np.int32)


def model_system(model: str, given: Given) -> ModelSystem:
    """Make a system of a built-in model, with every value of its parameters checked."""
    given.only(model, "parameters", "search", "trials")
    search = given.searched()
    for axis in search.space.axes:
        for value in axis.values:
            Model.make(model, **{axis.name: cast("float", value)})  # which refuses others
    return ModelSystem(name=given.name or model, search=search, model=model)
