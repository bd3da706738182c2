"""Instances from what a user gives: arrays, or a table in a file with named columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.io.cells import as_list, cell_text, read_labels, read_numbers
from heldout.data.io.source import open_source
from heldout.data.io.table import read_table
from heldout.errors import HeldoutError, InputError
from heldout.experiment.instances import Instances

if TYPE_CHECKING:
    from heldout.data.io.table import Table
    from heldout.data.words import Floats
    from heldout.experiment.instances import PredictionTask
    from heldout.experiment.problems import Problems

__all__ = ["ARRAY_KEYS", "FILE_KEYS", "instances_from"]

FILE_KEYS: Final = ("file", "target", "text", "features", "id", "groups", "name")
ARRAY_KEYS: Final = ("X", "y", "ids", "groups", "name")
_FORMS: Final = (
    'a table such as {file = "data.csv", target = "label", text = "text"}; from Python also '
    "(X, y) or {'X': X, 'y': y}"
)


def instances_from(
    given: Any, task: PredictionTask, problems: Problems, folder: Path | None = None
) -> Instances | None:
    """Make instances; what is wrong goes to `problems`, and there are none then.

    Parameters
    ----------
    given
        `Instances`, ``(X, y)``, or a table with the keys of `ARRAY_KEYS` or `FILE_KEYS`.
    folder
        Where a relative path is looked for.
    """
    if isinstance(given, Instances):
        return given
    if given is None:
        problems.add("data", f"there is none: give {_FORMS}")
        return None
    table = {"X": given[0], "y": given[1]} if _is_pair(given) else given
    if not isinstance(table, Mapping):
        problems.add("data", f"{type(given).__name__}: expected {_FORMS}")
        return None
    arrays = "X" in table or "y" in table
    before = len(problems.found)
    problems.unknown(table, ARRAY_KEYS if arrays else FILE_KEYS, "data.")
    for key in ("X", "y") if arrays else ("file", "target"):
        if table.get(key) is None:
            problems.add("data", f"{key} is missing: give {_FORMS}")
    if len(problems.found) > before:
        return None
    try:
        return _of_arrays(table, task) if arrays else _of_file(table, task, folder)
    except HeldoutError as error:
        problems.add("data", str(error))
    return None


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2


def _of_arrays(table: Mapping[str, Any], task: PredictionTask) -> Instances:
    rest = {key: table[key] for key in ("ids", "groups", "name") if table.get(key) is not None}
    return Instances.of(table["X"], table["y"], task, **rest)


def _of_file(given: Mapping[str, Any], task: PredictionTask, folder: Path | None) -> Instances:
    for key in ("file", "target", "text", "id", "groups", "name"):
        if key in given and not isinstance(given[key], str):
            raise InputError(f"{key} = {given[key]!r}: expected a text")
    path = (folder or Path()) / given["file"]
    table = read_table(open_source(path))
    table.refuse_empty("instances")
    target = _column(table, given["target"])
    truth: Any = (
        _labels(table, target)
        if task == "classification"
        else _numbers(table, target)
    )  # fmt: skip
    rows: Any = _texts(table, given) if "text" in given else _features(table, given)
    return Instances.of(
        rows,
        truth,
        task,
        ids=_labels(table, _column(table, given["id"])) if "id" in given else None,
        groups=_labels(table, _column(table, given["groups"])) if "groups" in given else None,
        name=given.get("name") or path.name.split(".")[0],
    )


def _column(table: Table, name: Any) -> int:
    if name not in table.names:
        raise InputError(f"{table.source}: no column {name!r}; there are {', '.join(table.names)}")
    return table.names.index(name)


def _labels(table: Table, column: int) -> list[str]:
    return read_labels(table.cells(column), table.places.__getitem__, table.names[column])


def _numbers(table: Table, column: int) -> Floats:
    return read_numbers(table.cells(column), table.places.__getitem__, table.names[column])


def _texts(table: Table, given: Mapping[str, Any]) -> list[str]:
    if "features" in given:
        raise InputError("text and features: give one of the two")
    column = _column(table, given["text"])
    return list(map(cell_text, as_list(table.cells(column))))


def _features(table: Table, given: Mapping[str, Any]) -> Any:
    """The named columns as numbers; by default all that are nothing else."""
    taken = {given.get(key) for key in ("target", "id", "groups")}
    names = given.get("features", [name for name in table.names if name not in taken])
    if not isinstance(names, list) or not names:
        raise InputError(f"features = {names!r}: expected a list of columns")
    if given["target"] in names:
        raise InputError(f"the target {given['target']!r} is among the features")
    return np.column_stack([_numbers(table, _column(table, name)) for name in names])
