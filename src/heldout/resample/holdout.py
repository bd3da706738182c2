"""Plans with one held-out side: a random share, named units, or the latest units."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.ids import as_id
from heldout.notes import named_few
from heldout.resample.assign import choose, fill_groups, spread
from heldout.resample.hashing import draws, id_keys, random_order
from heldout.resample.notices import PlanError
from heldout.resample.plan import MOST_REPEATS, Plan, check_count, check_seed
from heldout.resample.sources import Sides, Source
from heldout.resample.stratify import Strata, label_rows, shuffled, stratification

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Flags, Ints
    from heldout.notes import Note
    from heldout.resample.groups import Groups
    from heldout.resample.stratify import Stratification
    from heldout.resample.units import Column, Units

    Parts = NDArray[np.int32]

__all__ = ["Chronological", "HoldOut", "TestSet"]

_TRAIN, _TEST, _VALIDATION = range(3)


@dataclass(frozen=True, eq=False, repr=False)
class HoldOut(Plan):
    """Hold out a random share, once or several times: for large data.

    Parameters
    ----------
    test
        The size of the test side: a share (.2 and 1/3 are usual), or a number of units.
    validation
        The size of a third side, as a share or a number; 0: none. An `Experiment` does not use it
        yet, and refuses it.
    repeats
        How many random hold-outs to draw.
    stratify, groups
        As for `KFold`. Groups are taken in random order; a group that is too large for the rest is
        skipped, so that the test side can be slightly smaller than requested.
    seed
        The random seed. Splits depend on seed and ids, not on the order of the ids.

    Examples
    --------
    >>> split = HoldOut(0.2, validation=0.2).splits(range(10), "instance")[0]
    >>> split.n_train, split.n_test, int(split.validation.sum())
    (6, 2, 2)
    """

    _always_shown = ("test",)

    test: float = 0.2
    validation: float = 0.0
    repeats: int = 1
    stratify: Column | ArrayLike | bool | None = None
    groups: Column | ArrayLike | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("repeats", self.repeats, 1, "1 draws once", MOST_REPEATS)
        check_seed(self.seed)
        _check_share("test", self.test)
        if self.validation:
            _check_share("validation", self.validation)

    def get_n_splits(
        self,
        X: Any = None,  # noqa: N803 - scikit-learn's name
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """Return the number of splits, for scikit-learn."""
        del X, y, groups
        return self.repeats

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Return how hold-outs are drawn."""
        test = _amount("test", self.test, units)
        validation = _amount("validation", self.validation, units) if self.validation else 0
        quotas = [len(units) - test - validation, test, validation]
        if quotas[0] < 1:
            raise PlanError(
                f"{test} of {len(units)} {units.plural} held out"
                + (f" and {validation} for validation" if validation else "")
                + ": none would be left for training; hold out fewer"
            )
        strata = stratification(self.stratify, units)
        grouped = units.together

        def make(number: int) -> Sides:
            return _sides(self._parts(units, strata, grouped, quotas, number), bool(validation))

        first = make(0)
        if not (first.train.any() and first.test.any()):
            raise PlanError(
                f"no group is small enough to hold out {test} of {len(units)} {units.plural}: hold "
                "out more, or use KFold with at most as many folds as groups"
            )
        return Source(self.repeats, make), []

    def _parts(
        self,
        units: Units,
        strata: Stratification | None,
        grouped: Groups | None,
        quotas: list[int],
        turn: int,
    ) -> Parts:
        word = units.word(self.seed, turn, "hold-out")
        if grouped is not None:
            names, codes = grouped.names, grouped.codes
            order = random_order(id_keys(names), names, word)
            sizes = np.bincount(codes)
            if strata is None:
                return _grouped(order, sizes, quotas)[codes]
            return spread(order, label_rows(strata, codes, word), sizes, quotas)[codes]
        order = units.order(self.seed, turn, "hold-out")
        if strata is None:
            return _first(order, quotas)
        if isinstance(strata, Strata):
            return _stratified(order, shuffled(strata, word), quotas, word)
        ones = np.ones(len(units), np.int64)
        return spread(order, label_rows(strata, None, word), ones, quotas)


def _check_share(name: str, value: float) -> None:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    is_whole = isinstance(value, int | np.integer)
    if not is_number or not (0 < value < 1 or (is_whole and value >= 1)):
        raise PlanError(
            f"{name}={value!r}: expected a share between 0 and 1, or a positive integer"
        )


def _amount(name: str, value: float, units: Units) -> int:
    """Return the number of units of a share."""
    if value >= 1:
        return int(value)
    amount = round(value * len(units))
    if not amount:
        raise PlanError(
            f"{name}={value:g} of {len(units)} {units.plural} rounds to 0: hold out more, or use "
            "leave-one-out"
        )
    return amount


def _first(order: Ints, quotas: list[int]) -> Parts:
    """Hold out the first units of a random order, so that a larger share includes a smaller one."""
    found = np.full(len(order), _TRAIN, np.int32)
    _, test, validation = quotas
    found[order[:test]] = _TEST
    found[order[test : test + validation]] = _VALIDATION
    return found


def _stratified(order: Ints, strata: Ints, quotas: list[int], word: np.uint64) -> Parts:
    found = np.full(len(order), _TRAIN, np.int32)
    starts = draws(word, 2, len(order))
    found[choose(order, strata, quotas[_TEST], int(starts[0]))] = _TEST
    if quotas[_VALIDATION]:
        rest = order[found[order] == _TRAIN]
        places = np.arange(len(rest))
        start = int(starts[1]) % len(rest)
        taken = choose(places, strata[rest], quotas[_VALIDATION], start)
        found[rest[taken]] = _VALIDATION
    return found


def _grouped(order: Ints, sizes: Ints, quotas: list[int]) -> Parts:
    found = np.full(len(sizes), _TRAIN, np.int32)
    found[fill_groups(order, sizes, quotas[_TEST])] = _TEST
    if quotas[_VALIDATION]:
        rest = order[found[order] == _TRAIN]
        chosen = fill_groups(np.arange(len(rest)), sizes[rest], quotas[_VALIDATION])
        found[rest[chosen]] = _VALIDATION
    return found


def _sides(parts: Parts, three: bool) -> Sides:
    train, test, validation = ((parts == part).astype(np.int32) for part in range(3))
    return Sides(train, test, validation if three else None)


def _one(test: Flags) -> Source:
    """Return a single split."""
    sides = Sides((~test).astype(np.int32), test.astype(np.int32))
    return Source(1, lambda _: sides)


@dataclass(frozen=True, eq=False, repr=False)
class TestSet(Plan):
    """Hold out an independent test set: the given units; all others are training data.

    Parameters
    ----------
    ids
        The ids of the test set, or the path of a file with one id per line.
    """

    __test__ = False  # pytest would take it for a class of tests

    ids: Iterable[Any] | os.PathLike[str]

    def __post_init__(self) -> None:
        given = self.ids
        if isinstance(given, str):
            raise PlanError(f"ids={given!r}: expected a list of ids, or a pathlib.Path")
        listed = _id_lines(Path(given)) if isinstance(given, os.PathLike) else map(as_id, given)
        object.__setattr__(self, "ids", tuple(listed))

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Hold out the given units."""
        wanted = set(self.ids)  # type: ignore[arg-type]
        unknown = sorted(wanted - set(units.ids))
        if unknown:
            raise PlanError(
                f"{len(unknown)} of the {len(wanted)} ids of the test set are not among the "
                f"{units.plural} ({named_few(unknown, len(unknown))}): remove them, or check that "
                f"these are ids of {units.plural}"
            )
        test = np.array([one in wanted for one in units.present()], np.bool_)
        if not test.any() or test.all():
            side = "test" if not test.any() else "training"
            raise PlanError(
                f"with this test set the {side} side is empty: give some of the {units.plural}, "
                "not none or all"
            )
        return _one(test), []


def _id_lines(path: Path) -> list[str]:
    from heldout.resample.fold_files import read_id_lines  # only for files

    return read_id_lines(path)


@dataclass(frozen=True, eq=False, repr=False)
class Chronological(Plan):
    """Hold out the latest units; earlier ones are training data.

    Parameters
    ----------
    order
        A date or a number for each unit: by id, in their order, or the name of a field of the
        queries. Dates are `datetime` objects or strings that sort by time (2024-05-31).
    test
        The share, or number, of units to hold out. Units with the time of the cut are all held
        out.
    cut
        The first time that is held out, instead of a share.

    Examples
    --------
    >>> years = {"a": 1998, "b": 2001, "c": 2001, "d": 2004}
    >>> Chronological(years, cut=2001).splits(years)[0].test.tolist()
    [0, 1, 1, 1]
    """

    @property
    def _always_shown(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("test",) if self.cut is None else ()

    order: Column | ArrayLike
    test: float = 0.2
    cut: Any = None

    def __post_init__(self) -> None:
        _check_share("test", self.test)

    def divide(self, units: Units) -> tuple[Source, list[Note]]:
        """Hold out the latest units."""
        times = _comparable(units.column(self.order, "order"), self.cut)
        if self.cut is not None:
            begin = times[-1]
            times = times[:-1]
        else:
            begin = sorted(times)[len(units) - min(_amount("test", self.test, units), len(units))]
        test = np.array([one >= begin for one in times], np.bool_)
        if not test.any() or test.all():
            side = "test" if not test.any() else "training"
            raise PlanError(
                f"the {side} side is empty: the times are from {min(times)} to {max(times)}, and "
                f"the cut is at {begin}; move it (cut=…), or hold out another share"
            )
        return _one(test), []


def _comparable(values: list[Any], cut: Any) -> list[Any]:
    """Return times as numbers if all are numbers, else unchanged."""
    everything = values if cut is None else [*values, cut]
    for place, one in enumerate(values):
        if one is None or one != one or (isinstance(one, str) and not one.strip()):  # noqa: PLR0124
            raise PlanError(f"unit {place + 1} has no time ({one!r}): give one for each unit")
    try:
        return [float(one) for one in everything]
    except (TypeError, ValueError):
        pass
    kinds = sorted({type(one).__name__ for one in everything})
    if len(kinds) > 1:
        raise PlanError(f"order: times of different types ({', '.join(kinds)}) cannot be compared")
    return everything
