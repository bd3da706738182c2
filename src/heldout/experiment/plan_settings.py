"""A plan from the ``[plan]`` table of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from heldout.data.paths import names_file
from heldout.errors import InputError
from heldout.resample.combined import RepeatedRuns, TwoWay
from heldout.resample.given import GivenFolds
from heldout.resample.holdout import Chronological, HoldOut, TestSet
from heldout.resample.plans import Bootstrap, KFold, LeaveOneOut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heldout.experiment.problems import Problems
    from heldout.resample.plan import Plan

__all__ = ["BY", "By", "plan_from_table"]

By = Literal["query", "document", "both"]
BY: Final = ("query", "document", "both")

_SHARED: Final = ("kind", "runs")
_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "kfold": ("folds", "repeats", "stratify", "groups", "seed"),
    "holdout": ("test", "validation", "repeats", "stratify", "groups", "seed"),
    "leave-one-out": ("groups",),
    "bootstrap": ("replicates", "side", "seed"),
    "given": ("file", "strict"),
    "test-set": ("file", "ids"),
    "chronological": ("order", "test", "cut"),
}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "folds": (int,),
    "repeats": (int,),
    "replicates": (int,),
    "seed": (int,),
    "runs": (int,),
    "test": (int, float),
    "validation": (int, float),
    "stratify": (str,),
    "groups": (str,),
    "side": (str,),
    "file": (str,),
    "order": (str,),
    "strict": (bool,),
    "ids": (list,),
    "cut": (int, float, str),
}
_WORDS: Final = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def plan_from_table(
    table: Mapping[str, Any], by: str, seed: int, problems: Problems, folder: Path | None = None
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
    table: Mapping[str, Any], under: str, seed: int, problems: Problems, folder: Path | None
) -> Plan | None:
    kind = table.get("kind", "kfold")
    if not isinstance(kind, str) or kind not in _KEYS:
        problems.add(f"{under}kind", f"there is no plan {kind!r}; there are {', '.join(_KEYS)}")
        return None
    before = len(problems.found)
    problems.unknown(table, (*_SHARED, *_KEYS[kind]), under)
    for key, value in table.items():
        types = _TYPES.get(key)
        right = types is None or isinstance(value, types)
        if types is not None and (not right or (isinstance(value, bool) and bool not in types)):
            expected = " or ".join(_WORDS.get(one, "a list") for one in types)
            problems.add(f"{under}{key}", f"{value!r} is not {expected}")
    if len(problems.found) > before:
        return None
    plan: Plan | None = None
    with problems.at(under.rstrip(".")):
        settings = {key: value for key, value in table.items() if key not in _SHARED}
        if "seed" in _KEYS[kind]:
            settings.setdefault("seed", seed)
        plan = _MAKERS[kind](settings, folder)
        runs = table.get("runs", 1)
        return plan if runs == 1 else RepeatedRuns(plan, runs)


def _path(settings: dict[str, Any], folder: Path | None) -> Path:
    if "file" not in settings:
        raise InputError("file is missing: which unit is in which fold, or is held out?")
    path = (folder or Path()) / str(settings["file"])
    if not names_file(path):
        raise InputError(f"{path}: there is no such file")
    return path


def _kfold(settings: dict[str, Any], folder: Path | None) -> Plan:
    del folder
    return KFold(settings.pop("folds", 10), **settings)


def _given(settings: dict[str, Any], folder: Path | None) -> Plan:
    return GivenFolds(_path(settings, folder), strict=settings.get("strict", True))


def _test_set(settings: dict[str, Any], folder: Path | None) -> Plan:
    if ("ids" in settings) == ("file" in settings):
        raise InputError("give ids, or the file that has one on each line")
    return TestSet(settings["ids"] if "ids" in settings else _path(settings, folder))


def _chronological(settings: dict[str, Any], folder: Path | None) -> Plan:
    del folder
    if "order" not in settings:
        raise InputError("order is missing: the field of the queries that has the date")
    return Chronological(**settings)


_MAKERS: Final[dict[str, Callable[[dict[str, Any], Path | None], Plan]]] = {
    "kfold": _kfold,
    "holdout": lambda settings, _: HoldOut(**settings),
    "leave-one-out": lambda settings, _: LeaveOneOut(**settings),
    "bootstrap": lambda settings, _: Bootstrap(**settings),
    "given": _given,
    "test-set": _test_set,
    "chronological": _chronological,
}
