"""Make a plan from the ``[plan]`` table of an experiment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from heldout.errors import InputError
from heldout.experiment.schema import Seed, Table, checked
from heldout.resample.combined import RepeatedRuns, TwoWay
from heldout.resample.fold_files import read_groups, read_values
from heldout.resample.given import GivenFolds
from heldout.resample.groups import KINDS
from heldout.resample.holdout import Chronological, HoldOut, TestSet
from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.experiment.problems import Problems
    from heldout.resample.plan import Plan

__all__ = ["named_plan", "plan_from_table"]

SHORT: Final[dict[str, tuple[str, str]]] = {
    "hold_out": ("holdout", "test"),
    "leave_one_out": ("leave-one-out", ""),
    "bootstrap": ("bootstrap", "replicates"),
    "folds_file": ("given", "file"),
    "test_ids": ("test-set", "file"),
    "later": ("chronological", "order"),
}
"""Plans by the names of command-line options: the kind, and its first value."""


def named_plan(
    table: Mapping[str, Any], problems: Problems, under: str = "plan."
) -> dict[str, object]:
    """Return a table in which the plan has a kind, in whatever way it was given.

    ``{hold_out = 0.2}`` is ``{kind = "holdout", test = 0.2}``. Problems are reported under the name
    that was given.
    """
    short = [name for name in SHORT if name in table and table[name] is not False]
    rest = {name: value for name, value in table.items() if name not in SHORT}
    if not short:
        return rest
    others = [name for name in ("kind", "folds") if name in table]
    if len(short) + len(others) > 1:
        problems.add(under.rstrip("."), f"give one of {' and '.join([*others, *short])}")
    kind, value = SHORT[short[0]]
    if not value:
        return {**rest, "kind": kind}
    problems.given_as[f"{under}{value}"] = f"{under}{short[0]}"
    return {**rest, "kind": kind, value: table[short[0]]}


class PlanTable(Table):
    """The fields of every plan."""

    kind: str = "kfold"
    runs: int = 1

    def own_seed(self, seed: int) -> int:
        """Return the seed of the table, or else that of the experiment."""
        own: int | None = getattr(self, "seed", None)
        return seed if own is None else own

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """Return the plan.

        Parameters
        ----------
        seed
            The seed of the experiment.
        folder
            Where relative paths start.
        """
        raise NotImplementedError


class KFoldTable(PlanTable):
    """Folds."""

    folds: int = 10
    repeats: int = 1
    stratify: str | None = None
    groups: str | None = None
    seed: Seed | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """Return the plan."""
        groups = _groups(self.groups, folder)
        return KFold(self.folds, self.repeats, self.stratify, groups, self.own_seed(seed))


class HoldOutTable(PlanTable):
    """One or several random hold-outs."""

    test: int | float = 0.2
    validation: int | float = 0.0
    repeats: int = 1
    stratify: str | None = None
    groups: str | None = None
    seed: Seed | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """Return the plan."""
        groups, seed = _groups(self.groups, folder), self.own_seed(seed)
        return HoldOut(self.test, self.validation, self.repeats, self.stratify, groups, seed)


class LeaveOneOutTable(PlanTable):
    """Leave out each unit or group in turn."""

    groups: str | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """Return the plan."""
        del seed
        return LeaveOneOut(_groups(self.groups, folder))


class BootstrapTable(PlanTable):
    """Units drawn with replacement."""

    replicates: int = 200
    side: Literal["train", "test"] = "train"
    groups: str | None = None
    seed: Seed | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """Return the plan."""
        groups = _groups(self.groups, folder)
        return Bootstrap(self.replicates, self.side, self.own_seed(seed), groups)


class GivenTable(PlanTable):
    """Folds given in a file."""

    file: str
    strict: bool = True

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """Return the plan."""
        del seed
        return GivenFolds(_path(self.file, folder), strict=self.strict)


class TestSetTable(PlanTable):
    """Held-out units, given by id."""

    __test__ = False  # not a test class of pytest
    file: str | None = None
    ids: list[Any] | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """Return the plan."""
        del seed
        if (self.ids is None) == (self.file is None):
            raise InputError("give ids, or a file with one id per line")
        return TestSet(self.ids or () if self.file is None else _path(self.file, folder))


class ChronologicalTable(PlanTable):
    """Hold out later units."""

    order: str
    test: float = 0.2
    cut: Any = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """Return the plan."""
        del seed
        return Chronological(_order(self.order, folder), self.test, self.cut)


_KINDS: Final[dict[str, type[PlanTable]]] = {
    "kfold": KFoldTable,
    "holdout": HoldOutTable,
    "leave-one-out": LeaveOneOutTable,
    "bootstrap": BootstrapTable,
    "given": GivenTable,
    "test-set": TestSetTable,
    "chronological": ChronologicalTable,
}


def plan_from_table(
    table: Mapping[str, object], by: str, seed: int, problems: Problems, folder: Path | None = None
) -> Plan | None:
    """Make a plan; mistakes are added to `problems`, and None is returned.

    Parameters
    ----------
    by
        What is held out: ``query``, ``document`` or ``both``.
    seed
        The seed, unless the table has one of its own.
    folder
        Where relative paths start.
    """
    if by != "both":
        return _single(table, "plan.", seed, problems, folder)
    problems.unknown(table, ("queries", "documents"), "plan.")
    parts = []
    for name in ("queries", "documents"):
        own = table.get(name, {"folds": 5})
        if not isinstance(own, dict):
            problems.add(f"plan.{name}", "expected a table such as {folds = 5}")
            own = {"folds": 5}
        parts.append(_single(own, f"plan.{name}.", seed, problems, folder))
    queries, documents = parts
    return None if queries is None or documents is None else TwoWay(queries, documents)


def _single(
    table: Mapping[str, object], under: str, seed: int, problems: Problems, folder: Path | None
) -> Plan | None:
    table = named_plan(table, problems, under)
    kind = table.get("kind", "kfold")
    if not isinstance(kind, str) or kind not in _KINDS:
        problems.add(f"{under}kind", f"unknown plan {kind!r}: expected one of {', '.join(_KINDS)}")
        return None
    before = len(problems.found)
    found = checked(_KINDS[kind], table, problems, under)
    if found is None or len(problems.found) > before:
        return None
    plan: Plan | None = None
    with problems.at(under.rstrip(".")):
        plan = found.plan(seed, folder)
        if found.runs != 1:
            plan = RepeatedRuns(plan, found.runs)
    return plan


def _groups(given: str | None, folder: Path | None) -> str | Mapping[str, str] | None:
    """Return the groups in a file, if it names one; otherwise it is a keyword or a field."""
    path = (folder or Path()) / (given or "")
    if given is None or given in KINDS or not os.path.isfile(path):
        return given
    return read_groups(path)


def _order(given: str, folder: Path | None) -> str | dict[str, str]:
    """Return the time of each unit in a file, if it names one; otherwise it is a field."""
    path = (folder or Path()) / given
    if not os.path.isfile(path):
        return given
    return {entry.unit: entry.value for entry in read_values(path, "time")}


def _path(file: str, folder: Path | None) -> Path:
    path = (folder or Path()) / file
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file")
    return path
