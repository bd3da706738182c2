"""The plans: folds, hold-outs, bootstrap, and folds that are given.

How units get into folds is in `assign`, by hashes of their ids: see `hashing`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import numpy as np
from pydantic import PlainValidator

from heldout.data.ids import as_id, is_missing
from heldout.errors import Argument
from heldout.notes import Note, count_of, named_few
from heldout.resample.assign import choose, cut, deal, even_sizes, fill_groups, place_groups, spread
from heldout.resample.fold_files import Entry, read_id_lines, read_values, refuse_repeated
from heldout.resample.hashing import draws, id_keys, random_order
from heldout.resample.plan import (
    Column,
    FoldCount,
    Plan,
    Repeats,
    Replicates,
    Seed,
    Share,
    ShareOrNone,
    Stratify,
    checked,
    share_words,
    shared_words,
    short,
)
from heldout.resample.split import Splits, repeats_of_one, splits_of_folds, splits_of_sides
from heldout.resample.stratify import Strata, label_rows, shuffled, stratification
from heldout.resample.units import PlanError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.words import Flags, Ints
    from heldout.resample.groups import Groups
    from heldout.resample.stratify import Stratification
    from heldout.resample.units import Units

    Weights = NDArray[np.int32]

_TRAIN, _TEST, _VALIDATION = range(3)


# Folds


@checked
class KFold(Plan):
    """K-fold cross-validation: every unit is held out once.

    Sizes of folds differ by at most one.

    Parameters
    ----------
    folds
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

    kind = "kfold"
    counts = ("folds", "repeats")

    folds: FoldCount = 10
    repeats: Repeats = 1
    stratify: Stratify = None
    groups: Column = None
    seed: Seed = 0

    def words(self) -> list[str]:
        """Say what the plan does."""
        return [count_of(self.folds, "fold"), *shared_words(self)]

    def divide(self, units: Units) -> Splits:
        """Return the fold of each unit."""
        if self.folds > len(units):
            raise PlanError(
                f"{self.folds} folds but only {len(units)} {units.plural}: use at most "
                f"{len(units)} folds (leave-one-out holds out each in turn)"
            )
        strata = stratification(self.stratify, units)
        if strata is not None and self.folds == len(units):
            raise PlanError(
                "folds of one unit cannot be stratified: use fewer folds, or no stratify"
            )
        _refuse_few_groups(units.together, self.folds)
        tables = [self._table(units, strata, repeat) for repeat in range(self.repeats)]
        return splits_of_folds(self, units, tables, _small_strata(strata, self.folds, units))

    def _table(self, units: Units, strata: Stratification | None, repeat: int) -> Weights:
        groups, word = units.together, units.word(self.seed, repeat, "folds")
        order, sizes = _order_and_sizes(units, word)
        if strata is None:
            if groups is None:
                return cut(order, self.folds)
            return place_groups(order, sizes, self.folds)[groups.codes]
        if groups is None and isinstance(strata, Strata):
            return deal(order, shuffled(strata, word), self.folds)
        labels = label_rows(strata, None if groups is None else groups.codes, word)
        quotas = even_sizes(len(units), self.folds)
        folds = spread(order, labels, sizes, quotas, [1] * self.folds)
        return folds if groups is None else folds[groups.codes]


@checked
class LeaveOneOut(Plan):
    """Hold out each unit, or each group, alone: for small data.

    It cannot be stratified. **Caution**: with two balanced classes, predicting the majority class
    of the training side is always wrong, because the held-out unit makes its own class the rarer
    one. The estimated error is 100 %, the true error 50 %. Stratified folds do not have this
    problem.

    Parameters
    ----------
    groups
        Units that stay together, as for `KFold`; then each group is held out in turn.
    """

    kind = "leave-one-out"

    groups: Column = None

    def words(self) -> list[str]:
        """Say what the plan does."""
        return ["leave-one-out", *shared_words(self)]

    def divide(self, units: Units) -> Splits:
        """Return the fold of each unit."""
        if units.together is not None:
            _refuse_few_groups(units.together, 2)
            return splits_of_folds(self, units, [units.together.codes.astype(np.int32)])
        table = np.empty(len(units), np.int32)
        table[units.order("leave-one-out")] = np.arange(len(units))
        return splits_of_folds(self, units, [table])


def _order_and_sizes(units: Units, word: np.uint64) -> tuple[Ints, Ints]:
    """Return random order and sizes of what is assigned: groups if there are any, else units."""
    if units.together is not None:
        names, codes = units.together.names, units.together.codes
        return random_order(id_keys(names), names, word), np.bincount(codes)
    order = random_order(units.active(units.keys), units.present(), word)
    return order, np.ones(len(units), np.int64)


def _refuse_few_groups(groups: Groups | None, parts: int) -> None:
    if groups is not None and (count := len(groups.names)) < parts:
        raise PlanError(
            f"{count} groups for {parts} folds: groups are not divided; use at most {count} folds, "
            "or smaller groups"
        )


def _small_strata(strata: Stratification | None, parts: int, units: Units) -> list[Note]:
    """Return a note about strata that cannot be in every fold."""
    if not isinstance(strata, Strata) or strata.banded:
        return []
    sizes = np.bincount(strata.codes, minlength=len(strata.names))
    small = np.flatnonzero(sizes < parts).tolist()
    if not small:
        return []
    named = named_few(
        (f"{strata.names[number]!r}: {sizes[number]}" for number in small), len(small)
    )
    message = (
        f"strata with fewer {units.plural} than the {parts} folds: {len(small)} ({named}), which "
        "are missing in some folds: use fewer folds, or merge strata"
    )
    return [Note("small-strata", message, count=len(small))]


# Hold-outs


@checked
class HoldOut(Plan):
    """Hold out a random share, once or several times: for large data.

    Parameters
    ----------
    test
        The size of the test side: a share (.2 and 1/3 are usual), or a number of units.
    validation
        The size of a third side, as a share or a number; 0: none. An `Experiment` chooses
        parameters on it.
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

    kind = "holdout"
    counts = ("repeats",)

    test: Share = 0.2
    validation: ShareOrNone = 0
    repeats: Repeats = 1
    stratify: Stratify = None
    groups: Column = None
    seed: Seed = 0

    def words(self) -> list[str]:
        """Say what the plan does."""
        words = [f"{share_words(self.test)} held out at random"]
        words += [f"{share_words(self.validation)} for validation"] if self.validation else []
        return [*words, *shared_words(self)]

    def divide(self, units: Units) -> Splits:
        """Return how hold-outs are drawn."""
        test = _amount("test", self.test, units)
        validation = _amount("validation", self.validation, units) if self.validation else 0
        quotas = [len(units) - test - validation, test, validation]
        if quotas[_TRAIN] < 1:
            raise PlanError(
                f"{test} of {len(units)} {units.plural} held out"
                + (f" and {validation} for validation" if validation else "")
                + ": none would be left for training; hold out fewer"
            )
        strata = stratification(self.stratify, units)

        def sides(repeat: int) -> list[Weights]:
            parts = self._parts(units, strata, quotas, repeat)
            return [(parts == part).astype(np.int32) for part in range(3 if validation else 2)]

        if not all(side.any() for side in sides(0)[:2]):
            raise PlanError(
                f"no group is small enough to hold out {test} of {len(units)} {units.plural}: hold "
                "out more, or use KFold with at most as many folds as groups"
            )
        return splits_of_sides(self, units, repeats_of_one(self.repeats), sides)

    def _parts(
        self, units: Units, strata: Stratification | None, quotas: list[int], repeat: int
    ) -> Weights:
        """Return the side of each unit in one repeat."""
        groups, word = units.together, units.word(self.seed, repeat, "hold-out")
        order, sizes = _order_and_sizes(units, word)
        if strata is None:
            if groups is None:
                # The first units of a random order, so that a larger share includes a smaller one.
                return _chosen(order, quotas, lambda rest, wanted, _: rest[:wanted])

            def fitting(rest: Ints, wanted: int, side: int) -> Ints:
                del side
                return rest[fill_groups(np.arange(len(rest)), sizes[rest], wanted)]

            return _chosen(order, quotas, fitting)[groups.codes]
        if groups is None and isinstance(strata, Strata):
            codes, starts = shuffled(strata, word), draws(word, 2, len(order))

            def of_each_stratum(rest: Ints, wanted: int, side: int) -> Ints:
                start = int(starts[side - _TEST]) % len(rest)
                return rest[choose(np.arange(len(rest)), codes[rest], wanted, start)]

            return _chosen(order, quotas, of_each_stratum)
        labels = label_rows(strata, None if groups is None else groups.codes, word)
        parts = spread(order, labels, sizes, quotas)
        return parts if groups is None else parts[groups.codes]


def _chosen(order: Ints, quotas: list[int], some: Callable[[Ints, int, int], Ints]) -> Weights:
    """Choose the test side, then the validation side among the others; the rest is for training."""
    parts = np.full(len(order), _TRAIN, np.int32)
    for side in (_TEST, _VALIDATION):
        if quotas[side]:
            rest = order[parts[order] == _TRAIN]
            parts[some(rest, quotas[side], side)] = side
    return parts


def _amount(name: str, value: float, units: Units) -> int:
    """Return the number of units of a share."""
    amount = int(value) if value >= 1 else round(value * len(units))
    if not amount:
        raise PlanError(
            f"{name}={value:g} of {len(units)} {units.plural} rounds to 0: hold out more, or use "
            "leave-one-out"
        )
    return amount


def _read_ids(given: Any) -> tuple[str, ...]:
    if isinstance(given, os.PathLike):
        return tuple(read_id_lines(given))
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError("expected a list of ids, or a pathlib.Path")  # noqa: TRY004
    return tuple(map(as_id, given))


@checked
class TestSet(Plan):
    """Hold out an independent test set: the given units; all others are training data.

    Parameters
    ----------
    ids
        The ids of the test set, or the path of a file with one id per line.
    """

    __test__ = False  # pytest would take it for a class of tests
    kind = "test-set"

    ids: Annotated[Any, PlainValidator(_read_ids)]

    def words(self) -> list[str]:
        """Say what the plan does."""
        return ["given test set"]

    def divide(self, units: Units) -> Splits:
        """Hold out the given units."""
        wanted = set(self.ids)
        unknown = sorted(wanted.difference(units.ids))
        if unknown:
            raise PlanError(
                f"{len(unknown)} of the {len(wanted)} ids of the test set are not among the "
                f"{units.plural} ({named_few(unknown, len(unknown))}): remove them, or check that "
                f"these are ids of {units.plural}"
            )
        test = np.array([unit in wanted for unit in units.present()], np.bool_)
        if not test.any() or test.all():
            side = "test" if not test.any() else "training"
            raise PlanError(
                f"with this test set the {side} side is empty: give some of the {units.plural}, "
                "not none or all"
            )
        return _held_out(self, units, test)


@checked
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

    kind = "chronological"

    order: Column
    test: Share = 0.2
    cut: Any = None

    def words(self) -> list[str]:
        """Say what the plan does."""
        if self.cut is not None:
            return [f"held out from {self.cut} on"]
        return [f"the latest {share_words(self.test)} held out"]

    def divide(self, units: Units) -> Splits:
        """Hold out the latest units."""
        times = _comparable(units.column(self.order, "order"), self.cut)
        if self.cut is None:
            first = sorted(times)[-min(_amount("test", self.test, units), len(units))]
        else:
            *times, first = times
        test = np.array([time >= first for time in times], np.bool_)
        if not test.any() or test.all():
            side = "test" if not test.any() else "training"
            raise PlanError(
                f"the {side} side is empty: the times are from {min(times)} to {max(times)}, and "
                f"the cut is at {first}; move it (",
                Argument("cut", "…"),
                "), or hold out another share",
            )
        return _held_out(self, units, test)


def _comparable(values: list[Any], cut: Any) -> list[Any]:
    """Return times, and the cut if there is one: as numbers if all are numbers, else unchanged."""
    for place, time in enumerate(values):
        if time is None or time != time or (isinstance(time, str) and not time.strip()):  # noqa: PLR0124
            raise PlanError(f"unit {place + 1} has no time ({time!r}): give one for each unit")
    times = values if cut is None else [*values, cut]
    try:
        return [float(time) for time in times]
    except (TypeError, ValueError):
        pass
    try:
        sorted(times)
    except TypeError as error:
        kinds = ", ".join(sorted({type(time).__name__ for time in times}))
        problem = f"times of different types ({kinds}) cannot be compared: {error}"
        raise PlanError(f"order: {problem}") from None
    return times


def _held_out(plan: Plan, units: Units, test: Flags) -> Splits:
    """Return one split that holds out some units."""
    sides = [(~test).astype(np.int32), test.astype(np.int32)]
    return splits_of_sides(plan, units, repeats_of_one(1), lambda _: sides)


# Bootstrap


@checked
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

    kind = "bootstrap"
    counts = ("replicates",)

    replicates: Replicates = 200
    side: Literal["train", "test"] = "train"
    seed: Seed = 0
    groups: Column = None

    def words(self) -> list[str]:
        """Say what the plan does."""
        drawn = [] if self.side == "train" else ["the test side is drawn"]
        return ["bootstrap", *drawn, *shared_words(self)]

    def divide(self, units: Units) -> Splits:
        """Return how replicates are drawn."""
        _refuse_few_groups(units.together, 2)
        order, _ = _order_and_sizes(units, units.word(self.seed, "bootstrap"))

        def sides(replicate: int) -> list[Weights]:
            drawn = np.empty(len(order), np.int32)
            drawn[order] = self._multiplicities(units, len(order), replicate)
            drawn = drawn if units.together is None else drawn[units.together.codes]
            rest = (drawn == 0).astype(np.int32)
            return [drawn, rest] if self.side == "train" else [rest, drawn]

        return splits_of_sides(self, units, repeats_of_one(self.replicates), sides)

    def _multiplicities(self, units: Units, size: int, replicate: int) -> Ints:
        attempt = 0
        while True:
            word = units.word(self.seed, replicate, attempt, "draws")
            counts = np.bincount(draws(word, size, size), minlength=size)
            if (counts == 0).any():
                return counts
            attempt += 1


# Given folds and splits


def _given_folds(given: Any) -> Any:
    if isinstance(given, Mapping):
        return given
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise ValueError("expected {id: fold}, or the path of a file")


@checked
class GivenFolds(Plan):
    """Use folds from a file or a mapping, for instance to reproduce a paper.

    Parameters
    ----------
    folds
        ``{id: fold}``, or the path of a file: a table of id and fold (separated by tabs, commas,
        semicolons or spaces; with a header also a column ``repeat``), or JSON (``{id: fold}``).
        Folds are sorted by number, or else by name.
    strict
        Raise an error for units without a fold and for unknown ids. Otherwise such units are on no
        side, and unknown ids are ignored.

    Examples
    --------
    >>> GivenFolds({"a": 1, "b": 2, "c": 1}).splits(["a", "b", "c"]).folds().tolist()
    [0, 1, 0]
    """

    kind = "given"

    folds: Annotated[Any, PlainValidator(_given_folds)]
    strict: bool = True

    def words(self) -> list[str]:
        """Say what the plan does."""
        return [f"folds of {self.folds.name}" if isinstance(self.folds, Path) else "given folds"]

    def divide(self, units: Units) -> Splits:
        """Return the fold of each unit."""
        if isinstance(self.folds, Path):
            entries = read_values(self.folds, "fold")
        else:
            missing = next((unit for unit, fold in self.folds.items() if is_missing(fold)), None)
            if missing is not None:
                raise PlanError(f"folds: {missing} has no fold: give it one, or leave it out")
            pairs = self.folds.items()
            entries = [Entry("folds", as_id(unit), as_id(fold)) for unit, fold in pairs]
            refuse_repeated(entries, "fold")
        if self.strict:
            _refuse_unknown(entries, units)
        by_repeat: dict[str, dict[str, str]] = {}
        for entry in entries:
            by_repeat.setdefault(entry.repeat, {})[entry.unit] = entry.value
        tables = [self._table(by_repeat[repeat], units) for repeat in _in_order(by_repeat)]
        return splits_of_folds(self, units, tables)

    def _table(self, known: dict[str, str], units: Units) -> Weights:
        where = os.fspath(self.folds) if isinstance(self.folds, Path) else "folds"
        missing = [unit for unit in units.present() if unit not in known]
        if missing and self.strict:
            raise PlanError(
                f"{where}: no fold for {len(missing)} of {len(units)} {units.plural} "
                f"({named_few(missing, len(missing))}): add them, or ignore these "
                f"{units.plural} (",
                Argument("strict", "False"),
                ")",
            )
        names = _in_order({known[unit] for unit in units.present() if unit in known})
        if len(names) < 2:
            raise PlanError(f"{where}: at least 2 folds are needed, found {len(names)}")
        numbers = {name: number for number, name in enumerate(names)}
        return np.array(
            [numbers.get(known.get(unit, ""), -1) for unit in units.present()], np.int32
        )


def _refuse_unknown(entries: list[Entry], units: Units) -> None:
    known = set(units.ids)
    unknown = [entry for entry in entries if entry.unit not in known]
    if unknown:
        named = named_few((entry.unit for entry in unknown), len(unknown))
        raise PlanError(
            f"{unknown[0].place}: {count_of(len(unknown), 'id')} not among the {units.plural} "
            f"({named}): remove such ids, or ignore them (",
            Argument("strict", "False"),
            ")",
        )


def _in_order(names: Iterable[str]) -> list[str]:
    """Sort names numerically if all are numbers, else alphabetically."""
    listed = sorted(names)
    return sorted(listed, key=int) if all(map(str.isdecimal, listed)) else listed


@checked
class SklearnPlan(Plan):
    """The splits of a scikit-learn splitter, made by `from_sklearn`."""

    kind = "sklearn"

    splitter: Any

    def words(self) -> list[str]:
        """Say what the plan does."""
        return [f"scikit-learn's {short(self.splitter)}"]

    def divide(self, units: Units) -> Splits:
        """Divide the units by the splitter."""
        labels = None if units.labels is None else np.array(units.column(units.labels, "labels"))
        groups = None if units.groups is None else np.array(units.column(units.groups, "groups"))
        try:
            pairs = list(self.splitter.split(np.zeros((len(units), 1)), labels, groups))
        except (TypeError, ValueError) as error:
            raise PlanError(f"{self.splitter!r}: {error}") from None
        if not pairs:
            raise PlanError(f"{self.splitter!r} returns no splits")
        counts = np.array(
            [[np.bincount(rows, minlength=len(units)) for rows in pair] for pair in pairs], np.int32
        )
        tests = counts[:, 1]
        if (counts.sum(axis=1) == 1).all() and (tests.sum(axis=0) == 1).all():
            return splits_of_folds(self, units, [tests.argmax(axis=0).astype(np.int32)])
        of_one_repeat = np.column_stack((np.zeros(len(pairs), np.int64), np.arange(len(pairs))))
        return splits_of_sides(self, units, of_one_repeat, lambda number: [*counts[number]])


def from_sklearn(splitter: Any) -> SklearnPlan:
    """Make a plan from a scikit-learn splitter.

    The splitter gets the units in their order. Whether its folds depend on that order is up to the
    splitter.

    Parameters
    ----------
    splitter
        An object with ``split(X, y, groups)``, such as those of `sklearn.model_selection`. Labels
        and groups are those given to `Plan.splits`.

    Examples
    --------
    >>> from sklearn.model_selection import KFold as Theirs
    >>> from_sklearn(Theirs(2)).splits(["a", "b", "c", "d"]).folds().tolist()
    [0, 0, 1, 1]
    """
    if not callable(getattr(splitter, "split", None)):
        raise PlanError(
            f"{splitter!r} has no method split(X, y, groups): give a splitter of scikit-learn, "
            "such as GroupKFold(5)"
        )
    return SklearnPlan(splitter)


PLANS: Final[dict[str, type[Plan]]] = {
    cls.kind: cls
    for cls in (KFold, HoldOut, LeaveOneOut, Bootstrap, GivenFolds, TestSet, Chronological)
}  # those that an experiment file can have
