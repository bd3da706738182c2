"""Plan: the base of all plans, and the types of their fields.

A plan is data: a frozen dataclass that pydantic checks, with a `kind`. Python, experiment files and
words read the same fields. Tables with a value per unit are checked and kept, not copied.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import wraps
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeVar, dataclass_transform

import numpy as np
from pydantic import AfterValidator, BeforeValidator, ConfigDict, PlainValidator, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from heldout.errors import Argument
from heldout.notes import count_of
from heldout.resample.groups import NONE, grouped_units, text_notes
from heldout.resample.units import PlanError, units_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heldout.data.collection import Collection
    from heldout.data.words import Ints
    from heldout.notes import Note
    from heldout.resample.split import Split, Splits
    from heldout.resample.units import Unit, Units

MOST_REPEATS: Final = 100_000  # more add nothing, and a typing error would take days

# Types of fields


def _whole(least: int, advice: str = "", most: int | None = None) -> PlainValidator:
    """Accept integers, also NumPy's, and explain what is usual."""

    def check(value: Any) -> int:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or value < least:
            raise ValueError(f"expected an integer of at least {least}{advice}")
        if most is not None and value > most:
            raise ValueError(f"at most {most:,} are possible")
        return int(value)

    return PlainValidator(check)


def _share(value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    whole = isinstance(value, int | np.integer)
    if not number or not (0 < value < 1 or (whole and value >= 1)):
        raise ValueError("expected a share between 0 and 1, or a positive integer")
    return int(value) if whole else float(value)


def _column(given: Any) -> Any:
    if given is not None and not hasattr(given, "__len__"):
        raise ValueError("expected a name, or a value for each unit (by id, or in their order)")
    return given


def _strata(given: Any) -> Any:
    """Return scikit-learn's way to ask for strata, True, as the name of what is stratified."""
    return {True: "labels", False: None}[given] if isinstance(given, bool) else given


FoldCount = Annotated[int, _whole(2, "; 5 and 10 are usual")]
Repeats = Annotated[int, _whole(1, "; 1 means no repetition", MOST_REPEATS)]
Replicates = Annotated[int, _whole(1, "; 200 is usual", MOST_REPEATS)]
Seed = Annotated[int, _whole(0)]
Share = Annotated[float, PlainValidator(_share)]
ShareOrNone = Annotated[float, PlainValidator(lambda value: _share(value) if value else 0)]
Column = Annotated[Any, AfterValidator(_column)]
Stratify = Annotated[Column, BeforeValidator(_strata)]


# The base of all plans

_P = TypeVar("_P", bound=type)


@dataclass_transform(frozen_default=True)
def checked(cls: _P) -> _P:
    """Make a plan of a class: a frozen dataclass whose faults are errors of heldout."""
    config = ConfigDict(extra="forbid", strict=True)
    plan: Any = checked_dataclass(frozen=True, eq=False, repr=False, config=config)(cls)
    check: Callable[..., None] = plan.__init__

    @wraps(check)
    def __init__(self: Any, *values: Any, **named: Any) -> None:  # noqa: N807
        try:
            check(self, *values, **named)
        except ValidationError as error:
            raise PlanError(*_faults(error, plan)) from None

    plan.__init__ = __init__
    return plan  # type: ignore[no-any-return]


def _faults(error: ValidationError, cls: type[Any]) -> Iterator[str | Argument]:
    """Say what is wrong with each field: ``folds=1: expected an integer of at least 2``."""
    names = [field.name for field in fields(cls)]
    faults: dict[str, list[str | Argument]] = {}
    for fault in error.errors(include_url=False):
        name = str(fault["loc"][0])
        if name.isdecimal():  # the number of a positional argument
            name = dict(enumerate(names)).get(int(name), f"argument {int(name) + 1}")
        if fault["type"] == "missing":
            faults[name] = [f"{name} is missing"]
        elif fault["type"].startswith("unexpected_"):
            faults[name] = [f"{cls.__name__} has no {name}: it has {', '.join(names)}"]
        else:
            text = fault["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
            faults.setdefault(name, [Argument(name, short(fault["input"])), f": {text}"])
    for number, parts in enumerate(faults.values()):
        yield from ["; ", *parts] if number else parts


class ResamplingWarning(UserWarning):
    """A plan works, but not exactly as requested; `Splits.notes` has the same `note`."""

    def __init__(self, note: Note) -> None:
        super().__init__(note)
        self.note = note


class Plan(ABC):
    """A rule that divides units into training and test sides; a scikit-learn cross-validator."""

    kind: ClassVar[str]  # its name in an experiment file
    counts: ClassVar[tuple[str, ...]] = ()  # fields whose product is the number of splits

    @abstractmethod
    def divide(self, units: Units) -> Splits:
        """Divide units, whose groups are known."""

    @abstractmethod
    def words(self) -> list[str]:
        """Say what the plan does, in the parts of a list."""

    def splits(
        self,
        units: Collection | Units | Iterable[Any] | int,
        unit: Unit = "query",
        *,
        labels: Any = None,
        groups: Any = None,
    ) -> Splits:
        """Divide units: those of a collection, ids, or a number of rows (ids ``0``, ``1``, …).

        `labels` are the classes of the units, for a plan with ``stratify="labels"``. Units of one
        of the `groups` stay on one side, and documents with the same text, too (see `KFold`).
        """
        splits = self._divided(units_of(units, unit).with_columns(labels, groups))
        if splits.unit == "document" and splits.units.collection is not None:
            notes = text_notes(splits, getattr(self, "groups", None))
            splits = replace(splits, notes=(*splits.notes, *notes))
        return _warned(splits)

    def within(self, side: Split, outer: Split) -> Splits:
        """Divide the training side of `side`, which is `outer` or its split of the documents."""
        splits = self._divided(side.units.inside(side.train, outer.key))
        return _warned(replace(splits, outer=outer.key))

    def _divided(self, units: Units) -> Splits:
        if len(units) < 2:
            raise PlanError(
                f"{count_of(len(units), units.unit, units.plural)}: at least 2 are needed, one for "
                "training and one to hold out"
            )
        return self.divide(grouped_units(units, getattr(self, "groups", None)))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:  # noqa: N803
        """Yield the row numbers of training and test side of each split, for scikit-learn."""
        for split in self.splits(_rows(X), "instance", labels=y, groups=groups):
            yield split.rows("train"), split.rows("test")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: N803
        """Return the number of splits, for scikit-learn."""
        if self.counts:
            return prod(getattr(self, name) for name in self.counts)
        if X is None:
            raise PlanError(f"the number of splits of {self} depends on the data: give X")
        return len(self.splits(_rows(X), "instance", labels=y, groups=groups))

    def __repr__(self) -> str:
        shown = []
        for number, field in enumerate(fields(self)):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if not is_default(value, field.default) or (number == 0 and value is not None):
                shown.append(f"{field.name}={short(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _warned(splits: Splits) -> Splits:
    for note in splits.notes:
        if note.severity == "warning":
            warnings.warn(ResamplingWarning(note), stacklevel=3)
    return splits


def _rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def is_default(value: Any, default: Any) -> bool:
    """Return whether a value is the default; arrays have no single answer to ==."""
    return value is default or (isinstance(value, int | float | str) and bool(value == default))


def short(value: Any) -> str:
    """Return a value as `repr` of a plan shows it: the same on every machine, and not too long."""
    if isinstance(value, Mapping | list | tuple) or bool(getattr(value, "shape", ())):
        return f"<{count_of(len(value), 'value')}>"
    if isinstance(value, os.PathLike):
        return repr(Path(value).name)  # without its folder
    if repr(value) == object.__repr__(value):  # it would show an address in memory
        return f"{type(value).__name__}()"
    return repr(value)


# Words


def shared_words(plan: Any) -> list[str]:
    """Say what several plans have in common: repeats, strata and groups."""
    words = []
    if getattr(plan, "repeats", 1) != 1:
        words.append(f"repeated {plan.repeats} times")
    strata = getattr(plan, "stratify", None)
    if strata is not None and not is_default(strata, NONE):
        words.append(f"stratified by {strata}" if isinstance(strata, str) else "stratified")
    if plan.groups is not None and not is_default(plan.groups, NONE):
        words.append(f"{plan.groups if isinstance(plan.groups, str) else 'groups'} kept together")
    return words


def share_words(value: float) -> str:
    """Say how many units, or which share of them."""
    return f"{value:,}" if isinstance(value, int) else f"{100 * value:.3g}%"
