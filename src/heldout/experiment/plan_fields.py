"""A plan from the ``[plan]`` table of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from heldout.data.paths import names_file
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
"""Plans by the names that the command line has for them: the kind, and its first value."""


def named_plan(
    table: Mapping[str, Any], problems: Problems, under: str = "plan."
) -> dict[str, Any]:
    """Return a table in which the plan has a kind, whichever way it was named.

    ``{hold_out = 0.2}`` is ``{kind = "holdout", test = 0.2}``; problems are reported under the name
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
    """What every plan has."""

    kind: str = "kfold"
    runs: int = 1

    def own_seed(self, seed: int) -> int:
        """The seed of the table; that of the experiment, if it has none."""
        own: int | None = getattr(self, "seed", None)
        return seed if own is None else own

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """The plan.

        Parameters
        ----------
        seed
            Of the experiment.
        folder
            Where relative paths are looked for.
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
        """The plan."""
        groups = _groups(self.groups, folder)
        return KFold(self.folds, self.repeats, self.stratify, groups, self.own_seed(seed))


class HoldOutTable(PlanTable):
    """One part or several that are held out."""

    test: int | float = 0.2
    validation: int | float = 0.0
    repeats: int = 1
    stratify: str | None = None
    groups: str | None = None
    seed: Seed | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """The plan."""
        groups, seed = _groups(self.groups, folder), self.own_seed(seed)
        return HoldOut(self.test, self.validation, self.repeats, self.stratify, groups, seed)


class LeaveOneOutTable(PlanTable):
    """Each unit or group alone."""

    groups: str | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """The plan."""
        del seed
        return LeaveOneOut(_groups(self.groups, folder))


class BootstrapTable(PlanTable):
    """Units drawn with replacement."""

    replicates: int = 200
    side: Literal["train", "test"] = "train"
    groups: str | None = None
    seed: Seed | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """The plan."""
        groups = _groups(self.groups, folder)
        return Bootstrap(self.replicates, self.side, self.own_seed(seed), groups)


class GivenTable(PlanTable):
    """Folds that stand in a file."""

    file: str
    strict: bool = True

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """The plan."""
        del seed
        return GivenFolds(_path(self.file, folder), strict=self.strict)


class TestSetTable(PlanTable):
    """Units that are held out, by name."""

    __test__ = False  # no test of pytest
    file: str | None = None
    ids: list[Any] | None = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """The plan."""
        del seed
        if (self.ids is None) == (self.file is None):
            raise InputError("give ids, or the file that has one on each line")
        return TestSet(self.ids or () if self.file is None else _path(self.file, folder))


class ChronologicalTable(PlanTable):
    """What is later is held out."""

    order: str
    test: float = 0.2
    cut: Any = None

    def plan(self, seed: int, folder: Path | None) -> Plan:
        """The plan."""
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
    """Make a plan; what is wrong goes to `problems`, and there is none then.

    Parameters
    ----------
    by
        What is divided: ``query``, ``document`` or ``both``.
    seed
        The seed, unless the table has one of its own.
    folder
        Where relative paths are looked for.
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
        problems.add(f"{under}kind", f"there is no plan {kind!r}; there are {', '.join(_KINDS)}")
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
    """The groups of a file, if it names one; else it is a word or a field."""
    path = (folder or Path()) / (given or "")
    if given is None or given in KINDS or not names_file(path):
        return given
    return read_groups(path)


def _order(given: str, folder: Path | None) -> str | dict[str, str]:
    """The time of each unit in a file, if it names one; else it is a field."""
    path = (folder or Path()) / given
    if not names_file(path):
        return given
    return {entry.unit: entry.value for entry in read_values(path, "time")}


def _path(file: str, folder: Path | None) -> Path:
    path = (folder or Path()) / file
    if not names_file(path):
        raise InputError(f"{path}: there is no such file")
    return path
