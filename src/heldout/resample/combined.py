"""Plans made of other plans: two-way plans and repeated runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, overload

from heldout.data.collection import Collection
from heldout.resample.notices import PlanError
from heldout.resample.plan import MOST_REPEATS, Plan, check_count
from heldout.resample.plans import KFold
from heldout.resample.split import Split, SplitKey, Splits

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from heldout.notes import Note
    from heldout.resample.sources import Source
    from heldout.resample.units import Column, Unit, Units

__all__ = ["RepeatedRuns", "RunSplits", "TwoWay", "TwoWaySplits"]


@dataclass(frozen=True, eq=False, repr=False)
class TwoWay(Plan):
    """Hold out queries and documents together: test = held-out queries on held-out documents.

    Parameters
    ----------
    queries, documents
        The plan of each. Every split of the queries is crossed with every split of the documents of
        the same repeat; a plan with one repeat is combined with all repeats of the other.

    Examples
    --------
    >>> texts = [f"text {n}" for n in range(6)]
    >>> small = Collection(texts, {str(n): "text" for n in range(4)})
    >>> [str(split.key) for split in TwoWay(KFold(2), KFold(2)).splits(small)]
    ['r0/f0/d0', 'r0/f0/d1', 'r0/f1/d0', 'r0/f1/d1']
    """

    queries: Plan = field(default_factory=lambda: KFold(5))
    documents: Plan = field(default_factory=lambda: KFold(5))

    def splits(
        self,
        units: Collection | Units | Iterable[Any] | int,
        unit: Unit = "query",
        *,
        labels: ArrayLike | Column | None = None,
        groups: ArrayLike | Column | None = None,
    ) -> TwoWaySplits:
        """Divide the queries and the documents of a collection."""
        del unit
        if not isinstance(units, Collection) or labels is not None or groups is not None:
            raise PlanError(
                "a two-way plan divides a collection: give only the collection here, and labels or "
                "groups to the plans of queries and documents"
            )
        queries = self.queries.splits(units, "query")
        return TwoWaySplits(self, queries, self.documents.splits(units, "document"))

    def inside(self, split: Split, unit: Unit | None = None) -> Splits:
        """Divide the training side of a two-way split by queries and by documents."""
        if split.documents is None or unit is not None:
            raise PlanError("a two-way plan divides splits that hold out queries and documents")
        queries = self.queries.within(split, split)
        documents = self.documents.within(split.documents, split)
        return TwoWaySplits(self, queries, documents, split.key)

    def divide(self, units: Units) -> NoReturn:
        """Raise an error: there are two kinds of units."""
        del units
        raise PlanError("a two-way plan divides queries and documents, not single units")

    def split(self, *_: Any, **__: Any) -> NoReturn:
        """Raise an error: rows of a table have no queries and documents."""
        raise PlanError("a two-way plan divides a collection, not the rows of a table")

    def get_n_splits(self, *_: Any, **__: Any) -> NoReturn:
        """Raise an error: rows of a table have no queries and documents."""
        raise PlanError("a two-way plan divides a collection, not the rows of a table")


class TwoWaySplits(Splits):
    """The splits of a two-way plan.

    Attributes
    ----------
    queries, documents
        The splits of each.
    """

    __slots__ = ("_pairs", "documents", "queries")

    def __init__(
        self, plan: Plan, queries: Splits, documents: Splits, outer: SplitKey | None = None
    ) -> None:
        notes = (*queries.notes, *documents.notes)
        super().__init__(plan, queries.units, queries.source, notes, outer)
        self.queries = queries
        self.documents = documents
        self._pairs = _pairs(queries, documents)

    @property
    def seed(self) -> int | None:
        """The seed of the plan of the queries."""
        return self.queries.seed

    def __len__(self) -> int:
        return len(self._pairs)

    def key(self, number: int) -> SplitKey:
        """Return the name of a split."""
        if self._outer is not None:
            return replace(self._outer, inner=number)
        repeat, query, document = self._pairs[number]
        fold, other = self.queries.key(query).fold, self.documents.key(document).fold
        return SplitKey(repeat, fold, other=other)

    @overload
    def __getitem__(self, number: int) -> Split: ...
    @overload
    def __getitem__(self, number: slice) -> list[Split]: ...
    def __getitem__(self, number: int | slice) -> Split | list[Split]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        _, query, document = self._pairs[number]
        mine, other = self.queries[query], self.documents[document]
        key = self.key(number % len(self))
        third = None if other.validation is None else mine.validation
        return replace(mine, key=key, validation=third, documents=other)

    def find(self, repeat: int, fold: int) -> NoReturn:
        """Raise an error: a split has two folds."""
        del repeat, fold
        raise PlanError("a two-way split has two folds: choose it by its key")

    def folds(self, repeat: int = 0) -> NoReturn:
        """Raise an error: a unit is a query or a document."""
        del repeat
        raise PlanError("a two-way plan has two kinds of units: queries.folds(), documents.folds()")

    @property
    def partitions(self) -> bool:
        """Whether every unit is in one test fold: never, as there are two kinds of units."""
        return False

    def _digest(self) -> str:
        parts = f"two-way {self.queries.fingerprint} {self.documents.fingerprint}"
        return hashlib.sha256(parts.encode()).hexdigest()


def _pairs(queries: Splits, documents: Splits) -> list[tuple[int, int, int]]:
    """Return repeat, split of the queries and split of the documents of each two-way split."""
    mine, others = _by_repeat(queries), _by_repeat(documents)
    if len(mine) > 1 and len(others) > 1 and len(mine) != len(others):
        raise PlanError(
            f"{len(mine)} repeats of the queries but {len(others)} of the documents: use equal "
            "numbers, or 1 for one of them"
        )
    return [
        (repeat, query, document)
        for repeat in range(max(len(mine), len(others)))
        for query in mine[repeat % len(mine)]
        for document in others[repeat % len(others)]
    ]


def _by_repeat(splits: Splits) -> list[list[int]]:
    found: dict[int, list[int]] = {}
    for number in range(len(splits)):
        found.setdefault(splits.source.place(number)[0], []).append(number)
    return list(found.values())


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedRuns(Plan):
    """Use the same splits for several runs of a system that depends on a random seed.

    Parameters
    ----------
    plan
        The plan of the splits.
    runs
        How often each split is used; `SplitKey.run` is the number of the run.
    """

    _always_shown = ("runs",)

    plan: Plan
    runs: int = 5

    def __post_init__(self) -> None:
        check_count("runs", self.runs, 1, "5 is usual", MOST_REPEATS)

    def splits(
        self,
        units: Collection | Units | Iterable[Any] | int,
        unit: Unit = "query",
        *,
        labels: ArrayLike | Column | None = None,
        groups: ArrayLike | Column | None = None,
    ) -> RunSplits:
        """Divide units, and use each split several times."""
        return RunSplits(self, self.plan.splits(units, unit, labels=labels, groups=groups))

    def inside(self, split: Split, unit: Unit | None = None) -> RunSplits:
        """Divide the training side of a split, and use each inner split several times."""
        return RunSplits(self, self.plan.inside(split, unit))

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Divide units as the plan does."""
        return self.plan.divide(units)


class RunSplits(Splits):
    """The splits of `RepeatedRuns`; runs of one split are adjacent."""

    __slots__ = ("_runs", "base")

    def __init__(self, plan: RepeatedRuns, base: Splits) -> None:
        super().__init__(plan, base.units, base.source, base.notes)
        self.base = base
        self._runs = plan.runs

    @property
    def seed(self) -> int | None:
        """The seed of the plan of the splits."""
        return self.base.seed

    def __len__(self) -> int:
        return len(self.base) * self._runs

    def key(self, number: int) -> SplitKey:
        """Return the name of a split."""
        return replace(self.base.key(number // self._runs), run=number % self._runs)

    @overload
    def __getitem__(self, number: int) -> Split: ...
    @overload
    def __getitem__(self, number: slice) -> list[Split]: ...
    def __getitem__(self, number: int | slice) -> Split | list[Split]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        at = number + len(self) if number < 0 else number
        if not 0 <= at < len(self):
            raise IndexError(f"split {number} of {len(self)}")
        return replace(self.base[at // self._runs], key=self.key(at))

    def folds(self, repeat: int = 0) -> NDArray[np.int32]:
        """Return the fold of each unit."""
        return self.base.folds(repeat)

    @property
    def partitions(self) -> bool:
        """Whether every unit is in one test fold of each repeat."""
        return self.base.partitions

    def _digest(self) -> str:
        return hashlib.sha256(f"{self._runs} runs {self.base.fingerprint}".encode()).hexdigest()
