"""Split: the training and test units of one fold; Splits: all splits of a plan."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from heldout.data.collection import View
from heldout.resample.notices import PlanError
from heldout.resample.units import Unit, Units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.collection import Collection
    from heldout.data.words import Ints
    from heldout.notes import Note
    from heldout.resample.describe import Description
    from heldout.resample.plan import Plan
    from heldout.resample.sources import Source

    Weights = NDArray[np.int32]

__all__ = ["Split", "SplitKey", "Splits", "Unit"]

_PIECE: Final = 1 << 16


@dataclass(frozen=True, slots=True, order=True)
class SplitKey:
    """The name of a split.

    Parameters
    ----------
    repeat, fold
        Their numbers; the replicate of a bootstrap is its repeat.
    inner
        The number of an inner split of the training side of ``repeat`` and ``fold``.
    other
        The fold of the documents, if queries and documents are both held out.
    run
        The number of the run, if a split is used for several runs of a random system.

    Examples
    --------
    >>> str(SplitKey(0, 3)), str(SplitKey(0, 3, inner=1)), str(SplitKey(0, 3, other=2))
    ('r0/f3', 'r0/f3/i1', 'r0/f3/d2')
    """

    repeat: int
    fold: int
    inner: int | None = None
    other: int | None = None
    run: int | None = None

    def __str__(self) -> str:
        parts = (("d", self.other), ("i", self.inner), ("s", self.run))
        more = "".join(f"/{mark}{value}" for mark, value in parts if value is not None)
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
        for side in (self.train, self.test, self.validation):
            if side is not None:
                side.flags.writeable = False

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

    def rows(self, side: str) -> Ints:
        """Return the numbers of the units of a side, repeated by their weights."""
        weights = self.weights(side)
        return np.repeat(np.arange(len(weights)), weights)

    def weights(self, side: str) -> Weights:
        """Return the weights of ``train``, ``test`` or ``validation``."""
        known = {"train": self.train, "test": self.test, "validation": self.validation}
        found = known.get(side)
        if found is None:
            there = ", ".join(name for name, weights in known.items() if weights is not None)
            raise PlanError(f"split {self.key} has no side {side!r}; it has {there}")
        return found

    def view(self, collection: Collection, side: str) -> View:
        """Return one side as a view of the collection."""
        weights = _in_collection(self, self.weights(side), collection)
        if self.documents is None:
            return View(collection, **{f"{self.unit}_weights": weights})
        other = _in_collection(self.documents, self.documents.weights(side), collection)
        return View(collection, other, weights)

    def inner(self, plan: Plan, unit: Unit | None = None) -> Splits:
        """Split the training side again; a held-out unit is on no side of an inner split.

        Parameters
        ----------
        plan
            The inner plan. Copies of a unit in a bootstrap sample stay together.
        unit
            If queries and documents are both held out: which of them to split, unless `plan` is a
            `TwoWay`.
        """
        if self.key.inner is not None:
            raise PlanError(f"split {self.key} is an inner split, which cannot be split again")
        return plan.inside(self, unit)


def _in_collection(split: Split, weights: Weights, collection: Collection) -> Weights:
    """Return weights in the order of a collection."""
    if split.unit == "instance":
        raise PlanError("instances are rows of a table, not of a collection: use rows()")
    if split.units.collection is collection:
        return weights
    if split.unit == "query":
        numbers = {one: at for at, one in enumerate(collection.queries.ids)}
        places = np.array([numbers.get(one, -1) for one in split.ids], np.int64)
        size = len(collection.queries)
    else:
        places = collection.documents.ids.find(list(split.ids))
        size = len(collection.documents)
    strangers = np.flatnonzero((places < 0) & (weights > 0))
    if len(strangers):
        raise PlanError(
            f"{len(strangers)} {split.units.plural} of split {split.key} are not in the collection "
            f"{collection.name!r} (the first is {split.ids[int(strangers[0])]!r})"
        )
    arranged = np.zeros(size, np.int32)
    known = places >= 0
    arranged[places[known]] = weights[known]
    return arranged


class Splits(Sequence[Split]):
    """All splits of a plan; each is computed when it is needed.

    Attributes
    ----------
    plan
        The plan that made them.
    units
        What is divided.
    notes
        Warnings and remarks about them.
    source
        The source of the sides.
    """

    __slots__ = ("_fingerprint", "_outer", "notes", "plan", "source", "units")

    def __init__(
        self,
        plan: Plan,
        units: Units,
        source: Source,
        notes: Sequence[Note] = (),
        outer: SplitKey | None = None,
    ) -> None:
        self.plan = plan
        self.units = units
        self.notes = tuple(notes)
        self.source = source
        self._outer = outer
        self._fingerprint: str | None = None

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
        if together is None or self.units.places is None:
            return None if together is None else together.codes
        whole = np.full(len(self.units.ids), -1, np.int64)
        whole[self.units.places] = together.codes
        return whole

    @property
    def seed(self) -> int | None:
        """The seed of the plan; None for a plan that is not random."""
        return getattr(self.plan, "seed", None)

    @property
    def repeats(self) -> int:
        """The number of repeats."""
        return len({self.key(number).repeat for number in range(len(self))})

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"<{len(self)} splits of {len(self.units)} {self.units.plural} by {self.plan}>"

    def key(self, number: int) -> SplitKey:
        """Return the name of a split."""
        repeat, fold = self.source.place(number)
        return SplitKey(repeat, fold) if self._outer is None else replace(self._outer, inner=number)

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
        train, test, validation = self.source.sides(at)
        return Split(
            self.key(at),
            self.units,
            self._whole(train),
            self._whole(test),
            None if validation is None else self._whole(validation),
        )

    def _whole(self, weights: Weights) -> Weights:
        """Return weights for all units, with the multiplicities of an outer bootstrap."""
        counted = weights if self.units.weights is None else weights * self.units.weights
        return self.units.expand(counted, 0)

    def find(self, repeat: int, fold: int) -> Split:
        """Return the split of a repeat and fold."""
        for number in range(len(self)):
            if self.source.place(number) == (repeat, fold):
                return self[number]
        raise PlanError(f"no split r{repeat}/f{fold} in {self!r}")

    def folds(self, repeat: int = 0) -> Weights:
        """Return the fold of each unit (-1: none), if every unit is in one test fold."""
        tables = self.source.folds
        if tables is None:
            raise PlanError(
                f"{self.plan} does not assign every unit to one fold: use the splits instead"
            )
        if not 0 <= repeat < len(tables):
            raise PlanError(f"repeat={repeat}: {self.plan} has repeats 0 to {len(tables) - 1}")
        return self.units.expand(tables[repeat], -1)

    @property
    def partitions(self) -> bool:
        """Whether every unit is in one test fold of each repeat."""
        return self.source.folds is not None

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of ids and weights, which is the same for the same folds."""
        if self._fingerprint is None:
            self._fingerprint = self._digest()
        return self._fingerprint

    def _digest(self) -> str:
        # In an order by hash, so that the order of the units does not matter.
        units = replace(self.units, places=None, weights=None, context="")
        order = units.order("fingerprint")
        digest = hashlib.sha256(self.unit.encode())
        for begin in range(0, len(order), _PIECE):
            some = [units.ids[place] for place in order[begin : begin + _PIECE].tolist()]
            digest.update("".join(f"{one}\0" for one in some).encode())
        tables = self.source.folds
        if tables is not None:
            for table in tables:
                digest.update(b"folds" + _packed(self.units.expand(table, -1)[order]))
            if self.units.weights is not None:
                digest.update(_packed(self.units.expand(self.units.weights, 0)[order]))
            return digest.hexdigest()
        for split in self:
            for name in ("train", "test", "validation"):
                side = getattr(split, name)
                if side is not None:
                    digest.update(name.encode() + _packed(side[order]))
        return digest.hexdigest()

    def describe(self, collection: Collection | None = None) -> Description:
        """Return statistics: sizes, overlaps, and the relevant documents of each query."""
        from heldout.resample.describe import describe_splits  # circular import

        return describe_splits(self, collection or self.units.collection)


def _packed(values: NDArray[Any]) -> bytes:
    return values.astype("<i4").tobytes()
