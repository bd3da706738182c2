"""Make a plan from the ``[plan]`` table of an experiment, which has the fields of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError
from heldout.resample.fold_files import read_column
from heldout.resample.plans import PLANS, KFold
from heldout.resample.two_way import Crossed, cross

if TYPE_CHECKING:
    from heldout.experiment.problems import Problems
    from heldout.resample.plan import Plan


def plan_from_table(
    table: Mapping[str, Any], by: str, seed: int, problems: Problems, folder: Path | None = None
) -> Plan | Crossed | None:
    """Make a plan, of queries and documents if `by` is both; mistakes are added to `problems`."""
    if by != "both":
        return _single(table, "plan", seed, problems, folder)
    problems.unknown(table, ("queries", "documents"), "plan.")
    queries, documents = (
        _single(table.get(kind, {"folds": 5}), f"plan.{kind}", seed, problems, folder)
        for kind in ("queries", "documents")
    )
    return None if queries is None or documents is None else cross(queries, documents)


def _single(
    table: Any, place: str, seed: int, problems: Problems, folder: Path | None
) -> Plan | None:
    if not isinstance(table, Mapping):
        problems.add(place, "expected a table such as {folds = 5}")
        return None
    kind = table.get("kind", KFold.kind)
    if not isinstance(kind, str) or kind not in PLANS:
        problems.add(f"{place}.kind", f"unknown plan {kind!r}: expected one of {', '.join(PLANS)}")
        return None
    names = [field.name for field in fields(PLANS[kind])]  # type: ignore[arg-type]
    before = len(problems.found)
    problems.unknown(table, ("kind", *names), f"{place}.")
    values = {"seed": seed, **table}
    plan = None
    with problems.at(place):
        known = {name: _read(name, values[name], folder) for name in names if name in values}
        plan = PLANS[kind](**known)
    return plan if len(problems.found) == before else None


def _read(name: str, value: Any, folder: Path | None) -> Any:
    """Return what the file of a value like ``{file = "groups.tsv"}`` holds, or the value itself."""
    if not isinstance(value, Mapping) or list(value) != ["file"]:
        return value
    path = (folder or Path()) / str(value["file"])
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if name in {"folds", "ids"}:
        return path  # the plan reads it
    return read_column(path, {"groups": "group", "order": "time"}.get(name, name))
