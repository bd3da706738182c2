"""K-fold cross-validation, leave-one-out and bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from heldout.notes import Note, named_few
from heldout.resample.assign import cut, deal, even_sizes, place_groups, spread
from heldout.resample.hashing import draws, id_keys, random_order
from heldout.resample.notices import PlanError
from heldout.resample.plan import MOST_REPEATS, Plan, check_count, check_seed
from heldout.resample.sources import Sides, Source, partition
from heldout.resample.stratify import (
    Strata,
    Stratification,
    label_rows,
    shuffled,
    stratification,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Ints
    from heldout.resample.groups import Groups
    from heldout.resample.units import Column, Units

    Weights = NDArray[np.int32]

__all__ = ["Bootstrap", "KFold", "LeaveOneOut"]


@dataclass(frozen=True, eq=False, repr=False)
class KFold(Plan):
    """K-fold cross-validation: every unit is held out once.

    Sizes of folds differ by at most one.

    Parameters
    ----------
    k
        The number of folds; 10 and 5 are usual.
    repeats
        How often to repeat the cross-validation with other folds.
    stratify
        ``"labels"`` (classes, given to `splits`), ``"relevance"`` (documents: each query's relevant
        documents are spread over the folds; queries: quartiles of the number of relevant
        documents), ``"length"``, the name of a field of the queries, or a value for each unit (by
        id, or in their order). Numbers with decimals are divided at their quartiles.
    groups
        Units that stay together: a group for each unit (by id, in their order, or the name of a
        field of the queries), ``"duplicates"`` for units with the same text, or
        ``"near-duplicates"`` for documents with nearly the same text. Documents with the same text
        stay together by default and in addition to any other groups; ``"none"`` assigns every unit
        separately. Folds are filled with the largest groups first, to make them even.
    seed
        The random seed. Splits depend on seed and ids, not on the order of the ids.

    Examples
    --------
    >>> folds = KFold(3).splits(["a", "b", "c", "d", "e"]).folds()
    >>> sorted(np.bincount(folds).tolist())
    [1, 2, 2]
    >>> turned = KFold(3).splits(["e", "d", "c", "b", "a"]).folds()
    >>> (folds == turned[::-1]).all()
    np.True_
    """

    _always_shown = ("k",)

    k: int = 10
    repeats: int = 1
    stratify: Column | ArrayLike | bool | None = None
    groups: Column | ArrayLike | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("k", self.k, 2, "5 and 10 are usual")
        check_count("repeats", self.repeats, 1, "1 means no repetition", MOST_REPEATS)
        check_seed(self.seed)

    def get_n_splits(
        self,
        X: Any = None,  # noqa: N803 - scikit-learn's name
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """Return the number of splits, for scikit-learn."""
        del X, y, groups
        return self.k * self.repeats

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Return the fold of each unit."""
        if self.k > len(units):
            raise PlanError(
                f"{self.k} folds but only {len(units)} {units.plural}: use at most {len(units)} "
                "folds (leave-one-out holds out each in turn)"
            )
        strata = stratification(self.stratify, units)
        grouped = units.together
        if strata is not None and self.k == len(units):
            raise PlanError(
                "folds of one unit cannot be stratified: use fewer folds, or no stratify"
            )
        if grouped is not None:
            _refuse_few_groups(grouped, self.k)
        tables = tuple(self._fold(units, strata, grouped, turn) for turn in range(self.repeats))
        return partition(*tables), _small_strata(strata, self.k, units)

    def _fold(
        self,
        units: Units,
        strata: Stratification | None,
        grouped: Groups | None,
        turn: int,
    ) -> Weights:
        word = units.word(self.seed, turn, "folds")
        if grouped is not None:
            names, codes = grouped.names, grouped.codes
            order = random_order(id_keys(names), names, word)
            sizes = np.bincount(codes)
            if strata is None:
                return place_groups(order, sizes, self.k)[codes]
            quotas = even_sizes(len(units), self.k)
            labels = label_rows(strata, codes, word)
            return spread(order, labels, sizes, quotas, [1] * self.k)[codes]
        order = units.order(self.seed, turn, "folds")
        if strata is None:
            return cut(order, self.k)
        if isinstance(strata, Strata):
            return deal(order, shuffled(strata, word), self.k)
        ones = np.ones(len(units), np.int64)
        labels = label_rows(strata, None, word)
        return spread(order, labels, ones, even_sizes(len(units), self.k), [1] * self.k)


def _refuse_few_groups(groups: Groups, parts: int) -> None:
    if (count := len(groups.names)) < parts:
        raise PlanError(
            f"{count} groups for {parts} folds: groups are not divided; use at most {count} folds, "
            "or smaller groups"
        )


def _small_strata(strata: Stratification | None, parts: int, units: Units) -> list[Note]:
    """Return a note about strata that cannot be in every fold."""
    if not isinstance(strata, Strata) or strata.banded:
        return []
    sizes = strata.sizes()
    small = np.flatnonzero(sizes < parts).tolist()
    if not small:
        return []
    named = named_few((f"{strata.names[at]!r}: {sizes[at]}" for at in small), len(small))
    message = (
        f"strata with fewer {units.plural} than the {parts} folds: {len(small)} ({named}), which "
        "are missing in some folds: use fewer folds, or merge strata"
    )
    return [Note("small-strata", message, count=len(small))]


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut(Plan):
    """Hold out each unit, or each group, alone: for small data.

    **Caution**: with two balanced classes, predicting the majority class of the training side is
    always wrong, because the held-out unit makes its own class the rarer one. The estimated error
    is 100 %, the true error 50 %. Stratified folds do not have this problem, but folds of one unit
    cannot be stratified.

    Parameters
    ----------
    groups
        Units that stay together, as for `KFold`; then each group is held out in turn.
    stratify
        Not supported: a fold of one unit cannot be stratified.
    """

    groups: Column | ArrayLike | None = None
    stratify: Column | ArrayLike | bool | None = None

    def __post_init__(self) -> None:
        if self.stratify is not None and self.stratify is not False:
            raise PlanError(
                "leave-one-out cannot be stratified: a fold of one unit has one class; use 10 folds"
            )

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Return the fold of each unit."""
        grouped = units.together
        if grouped is not None:
            _refuse_few_groups(grouped, 2)
            return partition(grouped.codes.astype(np.int32)), []
        order = units.order("leave-one-out")
        table = np.empty(len(units), np.int32)
        table[order] = np.arange(len(units))
        return partition(table), []


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Plan):
    """Draw one side with replacement; the units that are not drawn are the other side.

    As many units are drawn as there are; units of a group are drawn together. On average .368 of
    the units are not drawn. A replicate that draws every unit (1 in 2,756 for 10 units, fewer for
    more) would leave the other side empty and is drawn again.

    Parameters
    ----------
    replicates
        The number of bootstrap replicates.
    side
        The side that is drawn: ``train`` (usual) or ``test``.
    seed
        The random seed. Splits depend on seed and ids, not on the order of the ids.
    groups
        Units that stay together, as for `KFold`.

    Examples
    --------
    >>> split = Bootstrap(1).splits(["a", "b", "c", "d"])[0]
    >>> int(split.train.sum()), bool(((split.train > 0) ^ (split.test > 0)).all())
    (4, True)
    """

    _always_shown = ("replicates",)

    replicates: int = 200
    side: Literal["train", "test"] = "train"
    seed: int = 0
    groups: Column | ArrayLike | None = None

    def __post_init__(self) -> None:
        check_count("replicates", self.replicates, 1, "200 is usual", MOST_REPEATS)
        check_seed(self.seed)
        if self.side not in {"train", "test"}:
            raise PlanError(f"side={self.side!r}: expected 'train' or 'test'")

    def get_n_splits(
        self,
        X: Any = None,  # noqa: N803 - scikit-learn's name
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """Return the number of splits, for scikit-learn."""
        del X, y, groups
        return self.replicates

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Return how replicates are drawn."""
        grouped = units.together
        if grouped is None:
            order = units.order(self.seed, "bootstrap")
        else:
            _refuse_few_groups(grouped, 2)
            word = units.word(self.seed, "bootstrap")
            order = random_order(id_keys(grouped.names), grouped.names, word)

        def make(number: int) -> Sides:
            drawn = _multiplicities(units, order, self.seed, number)
            if grouped is not None:
                drawn = drawn[grouped.codes]
            rest = (drawn == 0).astype(np.int32)
            return Sides(drawn, rest) if self.side == "train" else Sides(rest, drawn)

        return Source(self.replicates, make), []


def _multiplicities(units: Units, order: Ints, seed: int, number: int) -> Weights:
    size, attempt = len(order), 0
    while True:
        word = units.word(seed, number, attempt, "draws")
        counts = np.bincount(draws(word, size, size), minlength=size)
        if (counts == 0).any():
            break
        attempt += 1
    drawn = np.empty(size, np.int32)
    drawn[order] = counts
    return drawn
