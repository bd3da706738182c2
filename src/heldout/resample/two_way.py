"""Hold out queries and documents together; and splits of a training side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.collection import Collection
from heldout.errors import Argument
from heldout.resample.plan import Plan
from heldout.resample.split import Split, SplitKey, Splits, repeats_of_one
from heldout.resample.units import PlanError

if TYPE_CHECKING:
    from heldout.resample.units import Unit


@dataclass(frozen=True, slots=True, repr=False)
class Crossed:
    """The plans of queries and documents that are held out together; made by `cross`."""

    queries: Plan
    documents: Plan

    def __repr__(self) -> str:
        return f"cross({self.queries}, {self.documents})"

    @property
    def seed(self) -> int | None:
        """The seed of the plan of the queries."""
        return getattr(self.queries, "seed", None)

    def words(self) -> list[str]:
        """Say what the plans do."""
        plans = {"queries": self.queries, "documents": self.documents}
        return ["; ".join(f"{what}: {', '.join(plan.words())}" for what, plan in plans.items())]

    def splits(self, collection: Collection) -> Splits:
        """Divide the queries and the documents of a collection."""
        if not isinstance(collection, Collection):
            raise PlanError("queries and documents are divided together: give a collection")
        queries = self.queries.splits(collection, "query")
        return crossed_splits(self, queries, self.documents.splits(collection, "document"))


def cross(queries: Plan, documents: Plan) -> Crossed:
    """Hold out queries and documents together: test = held-out queries on held-out documents.

    Parameters
    ----------
    queries, documents
        The plan of each. Every split of the queries is crossed with every split of the documents of
        the same repeat; a plan with one repeat is combined with all repeats of the other.

    Examples
    --------
    >>> from heldout import Collection, KFold
    >>> texts = [f"text {n}" for n in range(6)]
    >>> small = Collection(texts, {str(n): "text" for n in range(4)})
    >>> [str(split.key) for split in cross(KFold(2), KFold(2)).splits(small)]
    ['r0/f0/d0', 'r0/f0/d1', 'r0/f1/d0', 'r0/f1/d1']
    """
    for plan in (queries, documents):
        if not isinstance(plan, Plan):
            raise PlanError(f"{plan!r} is not a plan: give two plans, such as KFold(5)")
    return Crossed(queries, documents)


def crossed_splits(plan: Plan | Crossed, queries: Splits, documents: Splits) -> Splits:
    """Cross the splits of queries with those of documents, repeat by repeat."""
    pairs = _pairs(queries, documents)
    asked = queries.numbers[[query for query, _ in pairs]]
    searched = documents.numbers[[document for _, document in pairs]]
    # The repeat is that of the kind that has several; the other one is 0.
    repeat = np.maximum(asked[:, 0], searched[:, 0])

    def make(number: int, key: SplitKey) -> Split:
        query, document = (splits[n] for splits, n in zip(crossed, pairs[number], strict=True))
        # A validation side of queries alone has no documents of its own to be ranked.
        validation = None if document.validation is None else query.validation
        return replace(query, key=key, validation=validation, documents=document)

    crossed = (queries, documents)
    return Splits(
        plan,
        queries.units,
        np.column_stack((repeat, asked[:, 1], searched[:, 1])),
        make,
        notes=(*queries.notes, *documents.notes),
        outer=queries.outer,
        crossed=crossed,
    )


def _pairs(queries: Splits, documents: Splits) -> list[tuple[int, int]]:
    """Return the split of the queries and the split of the documents of each two-way split."""
    asked, searched = (_by_repeat(splits) for splits in (queries, documents))
    if len(asked) != len(searched) and min(len(asked), len(searched)) > 1:
        raise PlanError(
            f"{len(asked)} repeats of the queries but {len(searched)} of the documents: use equal "
            "numbers, or 1 for one of them"
        )
    return [
        (query, document)
        for repeat in range(max(len(asked), len(searched)))
        for query in asked[repeat % len(asked)]
        for document in searched[repeat % len(searched)]
    ]


def _by_repeat(splits: Splits) -> list[list[int]]:
    repeats = splits.numbers[:, 0]
    return [np.flatnonzero(repeats == repeat).tolist() for repeat in np.unique(repeats)]


def inner_splits(split: Split, plan: Plan | Crossed, unit: Unit | None) -> Splits:
    """Split a training side; of a two-way split, training units of the other kind are undivided."""
    documents = split.documents
    if isinstance(plan, Crossed):
        if documents is None or unit is not None:
            raise PlanError("a crossed plan divides splits that hold out queries and documents")
        queries = plan.queries.within(split, split)
        return crossed_splits(plan, queries, plan.documents.within(documents, split))
    if documents is None:
        if unit not in {None, split.unit}:
            raise PlanError(
                f"split {split.key} divides {split.units.plural}: ",
                Argument("unit", repr(unit)),
                " is not possible",
            )
        return plan.within(split, split)
    if unit == "query":
        return crossed_splits(plan, plan.within(split, split), _undivided(plan, documents, split))
    if unit == "document":
        return crossed_splits(plan, _undivided(plan, split, split), plan.within(documents, split))
    raise PlanError(
        f"split {split.key} holds out queries and documents: choose which of them {plan} divides (",
        Argument("unit", "'query'"),
        " or 'document'), or cross two plans",
    )


def _undivided(plan: Plan, side: Split, outer: Split) -> Splits:
    """Return one split with all training units on both sides."""
    units = side.units.inside(side.train, outer.key)

    def make(number: int, key: SplitKey) -> Split:
        del number
        return Split(key, units, side.train.copy(), side.train.copy())

    return Splits(plan, units, repeats_of_one(1), make, outer=outer.key)
