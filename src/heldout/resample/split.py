"""Split: which units are training and held-out data; Splits: all splits of a plan.

A side of a split is a weight for each unit, not a list of ids: a bootstrap draws units several
times, and a unit may be on no side at all. Splits are made when they are asked for, because 200
replicates of nine million documents do not fit into memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, overload

import numpy as np

from heldout.data.collection import View
from heldout.notes import count_of
from heldout.resample.units import PlanError, Unit, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.data.words import Ints
    from heldout.notes import Note
    from heldout.resample.describe import Description
    from heldout.resample.plan import Plan
    from heldout.resample.two_way import Crossed

    Weights = NDArray[np.int32]

SIDES: Final = ("train", "test", "validation")
_PIECE: Final = 1 << 16  # ids that are hashed together


class SplitKey(NamedTuple):
    """The name of a split, such as ``r0/f3`` or ``r0/f3/d2/i1``."""

    repeat: int  # the replicate of a bootstrap is a repeat with one fold
    fold: int | None  # None: what is held out in all folds of a repeat together
    inner: int | None = None  # the number of an inner split of the training side
    other: int | None = None  # the fold of the documents, if queries and documents are held out
    run: int | None = None  # if each split is used for several runs of a random system

    def __str__(self) -> str:
        parts = (("d", self.other), ("i", self.inner), ("s", self.run))
        more = "".join(f"/{mark}{number}" for mark, number in parts if number is not None)
        return f"r{self.repeat}/f{self.fold}{more}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Split:
    """The training units and the held-out (test) units of a split.

    Parameters
    ----------
    key
        Its name.
    units
        The units.
    train, test
        For each unit how often it is on the side; a unit may be on neither side.
    validation
        The same for a third side, if the plan has one.
    documents
        The split of the documents, if queries and documents are both held out. The split itself is
        then that of the queries.
    """

    key: SplitKey
    units: Units
    train: Weights
    test: Weights
    validation: Weights | None = None
    documents: Split | None = None

    def __post_init__(self) -> None:
        for weights in (self.train, self.test, self.validation):
            if weights is not None:
                weights.flags.writeable = False

    def __repr__(self) -> str:
        both = f" × {self.documents!r}" if self.documents is not None else ""
        sides = f"{self.n_train} training {self.units.plural}, {self.n_test} held out"
        return f"Split({self.key}, {sides}{both})"

    @property
    def unit(self) -> Unit:
        """What is divided."""
        return self.units.unit

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the units, in the order of the weights."""
        return self.units.ids

    @property
    def n_train(self) -> int:
        """The number of training units, each counted as often as it was drawn."""
        return int(self.train.sum(dtype=np.int64))

    @property
    def n_test(self) -> int:
        """The number of held-out units, each counted as often as it was drawn."""
        return int(self.test.sum(dtype=np.int64))

    def sides(self) -> dict[str, Weights]:
        """Return the weights of ``train``, ``test`` and, if there is one, ``validation``."""
        return {side: getattr(self, side) for side in SIDES if getattr(self, side) is not None}

    def weights(self, side: str) -> Weights:
        """Return how often each unit is on a side."""
        sides = self.sides()
        if side not in sides:
            raise PlanError(f"split {self.key} has no side {side!r}; it has {', '.join(sides)}")
        return sides[side]

    def rows(self, side: str) -> Ints:
        """Return the numbers of the units of a side, repeated by their weights."""
        weights = self.weights(side)
        return np.repeat(np.arange(len(weights)), weights)

    def view(self, collection: Collection, side: str) -> View:
        """Return a side as a view of the collection."""
        weights = _in_collection(self, side, collection)
        if self.documents is None:
            return View(collection, **{f"{self.unit}_weights": weights})
        return View(collection, _in_collection(self.documents, side, collection), weights)

    def inner(self, plan: Plan | Crossed, unit: Unit | None = None) -> Splits:
        """Split the training side again; a held-out unit is on no side of an inner split.

        Parameters
        ----------
        plan
            The inner plan. Copies of a unit in a bootstrap sample stay together.
        unit
            If queries and documents are both held out: which of them to split, unless `plan` is
            crossed, too.
        """
        from heldout.resample.two_way import inner_splits  # circular import

        if self.key.inner is not None:
            raise PlanError(f"split {self.key} is an inner split, which cannot be split again")
        return inner_splits(self, plan, unit)


def _in_collection(split: Split, side: str, collection: Collection) -> Weights:
    """Return the weights of a side in the order of a collection, which may be another one."""
    weights = split.weights(side)
    if split.unit == "instance":
        raise PlanError("instances are rows of a table, not of a collection: use rows()")
    if split.units.collection is collection:
        return weights
    if split.unit == "query":
        numbers = {query: number for number, query in enumerate(collection.queries.ids)}
        places = np.array([numbers.get(query, -1) for query in split.ids], np.int64)
        arranged = np.zeros(len(collection.queries), np.int32)
    else:
        places = collection.documents.ids.find(list(split.ids))
        arranged = np.zeros(len(collection.documents), np.int32)
    strangers = np.flatnonzero((places < 0) & (weights > 0))
    if len(strangers):
        raise PlanError(
            f"{len(strangers)} {split.units.plural} of split {split.key} are not in the collection "
            f"{collection.name!r} (the first is {split.ids[int(strangers[0])]!r})"
        )
    known = places >= 0
    arranged[places[known]] = weights[known]
    return arranged


@dataclass(frozen=True, eq=False, repr=False)
class Splits(Sequence[Split]):
    """All splits of a plan; each is made when it is asked for, and is always the same.

    Parameters
    ----------
    plan
        The plan that made them.
    units
        What is divided.
    numbers
        Repeat and fold of each split and, if queries and documents are held out, the fold of the
        documents.
    make
        Returns the split of a number, with a key.
    tables
        For each repeat the fold of each unit (-1: on no side), if every unit is in one test fold.
    notes
        Warnings and remarks about them.
    outer
        The key of the split whose training side they divide.
    crossed
        The splits of the queries and those of the documents, if both are held out.
    runs
        How often each split is used, for a system that depends on a random seed.
    """

    plan: Plan | Crossed
    units: Units
    numbers: Ints
    make: Callable[[int, SplitKey], Split]
    tables: Weights | None = None
    notes: tuple[Note, ...] = ()
    outer: SplitKey | None = None
    crossed: tuple[Splits, Splits] | None = None
    runs: int = 1

    @property
    def unit(self) -> Unit:
        """What is divided."""
        return self.units.unit

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the units, in the order of all weights."""
        return self.units.ids

    @property
    def groups(self) -> Ints | None:
        """The number of the group of each unit, −1 for units without a side; None: no groups."""
        together = self.units.together
        return None if together is None else self.units.expand(together.codes, -1)

    @property
    def seed(self) -> int | None:
        """The seed of the plan; None for a plan that is not random."""
        return getattr(self.plan, "seed", None)

    @property
    def repeats(self) -> int:
        """The number of repeats."""
        return len(np.unique(self.numbers[:, 0]))

    def __len__(self) -> int:
        return len(self.numbers) * self.runs

    def __repr__(self) -> str:
        return f"<{len(self)} splits of {len(self.units)} {self.units.plural} by {self.plan}>"

    def key(self, number: int) -> SplitKey:
        """Return the name of a split."""
        split, run = divmod(number, self.runs)
        if self.outer is None:
            repeat, fold, *other = self.numbers[split].tolist()
            key = SplitKey(repeat, fold, other=other[0] if other else None)
        else:
            key = self.outer._replace(inner=split)
        return key if self.runs == 1 else key._replace(run=run)

    @overload
    def __getitem__(self, number: int) -> Split: ...
    @overload
    def __getitem__(self, number: slice) -> list[Split]: ...
    def __getitem__(self, number: int | slice) -> Split | list[Split]:
        places = range(len(self))[number]  # counts from the end, and refuses numbers beyond it
        if isinstance(places, range):
            return [self[place] for place in places]
        return self.make(places // self.runs, self.key(places))

    @property
    def by_unit(self) -> tuple[Splits, ...]:
        """The splits of the queries and those of the documents; else these alone."""
        return self.crossed or (self,)

    @property
    def partitions(self) -> bool:
        """Whether every unit, of either kind, is in one test fold of each repeat."""
        return all(splits.tables is not None for splits in self.by_unit)

    @property
    def validates(self) -> bool:
        """Whether there is a validation part, of either kind, to choose parameters on."""
        return any(splits[0].validation is not None for splits in self.by_unit)

    def folds(self, repeat: int = 0) -> Weights:
        """Return the fold of each unit (-1: none), if every unit is in one test fold."""
        if self.crossed is not None:
            raise PlanError("queries and documents have folds of their own: see `crossed`")
        if self.tables is None:
            raise PlanError(
                f"{self.plan} does not assign every unit to one fold: use the splits instead"
            )
        if not 0 <= repeat < len(self.tables):
            raise PlanError(
                f"{self.plan} has repeats 0 to {len(self.tables) - 1}",
                argument="repeat",
                value=repeat,
            )
        folds: Weights = self.tables[repeat]
        return folds

    def words(self) -> str:
        """Say how units are divided: ``10 folds of the queries (stratified by length, seed 0)``."""
        what = "rows" if self.unit == "instance" else self.units.plural
        if self.crossed is not None:
            what = "queries and documents"
        head, parts = count_of(len(self), "split"), self.plan.words()
        if parts[0] == count_of(len(self), "fold"):  # no need to say it twice
            head, *parts = parts
        parts += [] if self.runs == 1 else [f"{self.runs} runs of each"]
        parts += [] if self.seed is None else [f"seed {self.seed}"]
        return f"{head} of the {what}" + (f" ({', '.join(parts)})" if parts else "")

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of ids and weights, which is the same for the same folds."""
        if self.runs > 1:
            parts = f"{self.runs} runs {replace(self, runs=1).fingerprint}"
            return hashlib.sha256(parts.encode()).hexdigest()
        if self.crossed is not None:
            parts = " ".join(["two-way", *(splits.fingerprint for splits in self.crossed)])
            return hashlib.sha256(parts.encode()).hexdigest()
        # In an order by hash, so that the order of the units does not matter.
        units = replace(self.units, places=None, weights=None, context="")
        order = units.order("fingerprint")
        digest = hashlib.sha256(self.unit.encode())
        for begin in range(0, len(order), _PIECE):
            ids = [units.ids[place] for place in order[begin : begin + _PIECE].tolist()]
            digest.update("".join(f"{unit}\0" for unit in ids).encode())
        for name, weights in self._hashed():
            digest.update(name.encode() + weights[order].astype("<i4").tobytes())
        return digest.hexdigest()

    def _hashed(self) -> Iterator[tuple[str, Weights]]:
        """Yield what distinguishes splits: the folds, or every side of every split."""
        if self.tables is None:
            for split in self:
                yield from split.sides().items()
            return
        # One table instead of k pairs of sides: leave-one-out would be quadratic.
        for table in self.tables:
            yield "folds", table
        if self.units.weights is not None:
            yield "", self.units.expand(self.units.weights, 0)

    def describe(self, collection: Collection | None = None) -> Description:
        """Return statistics: sizes, overlaps, and the relevant documents of each query."""
        from heldout.resample.describe import describe_splits  # circular import

        return describe_splits(self, collection or self.units.collection)


def splits_of_folds(
    plan: Plan, units: Units, folds: Sequence[Weights], notes: Sequence[Note] = ()
) -> Splits:
    """Return splits that hold out a fold each; `folds` has the fold of each unit in each repeat."""
    tables = np.stack([units.expand(table, -1) for table in folds])
    counts = tables.max(axis=1, initial=-1) + 1
    numbers = np.column_stack(
        (np.repeat(np.arange(len(counts)), counts), np.concatenate([np.arange(n) for n in counts]))
    )
    # In a training side that an outer bootstrap drew, a unit counts as often as it was drawn.
    drawn = None if units.weights is None else units.expand(units.weights, 0)

    def make(number: int, key: SplitKey) -> Split:
        repeat, fold = numbers[number].tolist()
        test = tables[repeat] == fold
        sides = [side.astype(np.int32) for side in ((tables[repeat] >= 0) & ~test, test)]
        return Split(key, units, *(sides if drawn is None else [side * drawn for side in sides]))

    return Splits(plan, units, numbers, make, tables, tuple(notes))


def splits_of_sides(
    plan: Plan, units: Units, numbers: Ints, sides: Callable[[int], Sequence[Weights]]
) -> Splits:
    """Return splits whose sides are computed whenever they are asked for, for active units."""

    def make(number: int, key: SplitKey) -> Split:
        drawn = 1 if units.weights is None else units.weights
        train, test, *more = (units.expand(side * drawn, 0) for side in sides(number))
        return Split(key, units, train, test, more[0] if more else None)

    return Splits(plan, units, numbers, make)


def repeats_of_one(count: int) -> Ints:
    """Return the numbers of splits that are repeats with one fold each."""
    return np.column_stack((np.arange(count), np.zeros(count, np.int64)))
