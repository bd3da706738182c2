"""Instances from what a user gives: arrays, or a table in a file with named columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.io.cells import as_list, cell_text, read_labels, read_numbers
from heldout.data.io.source import open_source
from heldout.data.io.table import read_table
from heldout.errors import InputError
from heldout.experiment.instances import Instances
from heldout.experiment.schema import ArrayData, FileData, checked

if TYPE_CHECKING:
    from heldout.data.io.table import Table
    from heldout.data.words import Floats
    from heldout.experiment.instances import PredictionTask
    from heldout.experiment.problems import Problems

__all__ = ["instances_from"]

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
        `Instances`, ``(X, y)``, or a table with the keys of `ArrayData` or `FileData`.
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
    made: Instances | None = None
    before = len(problems.found)
    if "X" in table or "y" in table:
        arrays = checked(ArrayData, table, problems, "data.")
        with problems.at("data"):
            if arrays is not None and len(problems.found) == before:
                rest = {"ids": arrays.ids, "groups": arrays.groups, "name": arrays.name}
                made = Instances.of(arrays.X, arrays.y, task, **rest)
        return made
    described = checked(FileData, table, problems, "data.")
    with problems.at("data"):
        if described is not None and len(problems.found) == before:
            made = _of_file(described, task, folder)
    return made


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2


def _of_file(given: FileData, task: PredictionTask, folder: Path | None) -> Instances:
    path = (folder or Path()) / given.file
    table = read_table(open_source(path))
    table.refuse_empty("instances")
    target = _column(table, given.target)
    truth: Any = (
        _labels(table, target)
        if task == "classification"
        else _numbers(table, target)
    )  # fmt: skip
    rows: Any = _features(table, given) if given.text is None else _texts(table, given, given.text)
    return Instances.of(
        rows,
        truth,
        task,
        ids=None if given.id is None else _labels(table, _column(table, given.id)),
        groups=None if given.groups is None else _labels(table, _column(table, given.groups)),
        name=given.name or path.name.split(".")[0],
    )


def _column(table: Table, name: Any) -> int:
    if name not in table.names:
        raise InputError(f"{table.source}: no column {name!r}; there are {', '.join(table.names)}")
    return table.names.index(name)


def _labels(table: Table, column: int) -> list[str]:
    return read_labels(table.cells(column), table.places.__getitem__, table.names[column])


def _numbers(table: Table, column: int) -> Floats:
    return read_numbers(table.cells(column), table.places.__getitem__, table.names[column])


def _texts(table: Table, given: FileData, text: str) -> list[str]:
    if given.features is not None:
        raise InputError("text and features: give one of the two")
    column = _column(table, text)
    return list(map(cell_text, as_list(table.cells(column))))


def _features(table: Table, given: FileData) -> Any:
    """The named columns as numbers; by default all that are nothing else."""
    taken = {given.target, given.id, given.groups}
    names = given.features or [name for name in table.names if name not in taken]
    if not names:
        raise InputError(f"{table.source}: no column is left for the features")
    if given.target in names:
        raise InputError(f"the target {given.target!r} is among the features")
    return np.column_stack([_numbers(table, _column(table, name)) for name in names])
