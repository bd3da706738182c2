"""Names of run files: find the files of a pattern, and read the parameters in their names."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heldout.data.files import file_stem
from heldout.errors import InputError
from heldout.notes import named_few
from heldout.tune.space import Space, parse_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.tune.space import Point, Value


def matching(pattern: str) -> list[str]:
    """Return the files that match a path with ``*``, ``?`` or ``[…]``, or the file of that name."""
    if os.path.exists(pattern) or not glob.has_magic(pattern):
        return [pattern]  # the reader reports a missing file
    paths = run_paths(pattern)
    if not paths:
        raise InputError(f"no run matches {pattern}: {_nearby(pattern)}")
    return paths


def run_paths(pattern: str) -> list[str]:
    """Return the files that match a path or a pattern, in the order of their names; maybe none."""
    if os.path.isfile(pattern):
        return [pattern]
    return sorted(path for path in glob.glob(pattern) if os.path.isfile(path))  # noqa: PTH207


def labels_of(names: list[str]) -> list[str]:
    """Return names of files without folder and extension, if these are unique."""
    for short in ([file_stem(name) for name in names], [Path(name).name for name in names]):
        if len(set(short)) == len(short):
            return short
    # By characters, as they were written: functions for paths would normalize them.
    shared = os.path.commonprefix(names)  # noqa: RUF071 - cut after a separator below
    return [name[shared.rfind(os.sep) + 1 :] for name in names]


def _nearby(pattern: str) -> str:
    """Describe the contents of the folder that was searched."""
    folder = Path(pattern).parent
    if glob.has_magic(str(folder)):
        return "check the folders in the pattern"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    files = sorted(path.name for path in folder.iterdir() if path.is_file())
    return f"{folder} has {named_few(files, len(files)) if files else 'no files'}"


# A name follows the start or a separator; its value ends at the next separator before a name.
_NAME: Final = r"[^\W\d_][^\W_]*"
_PART: Final = re.compile(rf"(?:^|[,_\s-])({_NAME})=(.*?)(?=[,_\s-]{_NAME}=|$)")
_NUMBER_FIRST: Final = re.compile(
    r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?(?=[,_\s-]|\.[^\W\d]|$)"
)
_DIGITS: Final = re.compile(r"(\d+(?:\.\d+)?)")


def read_parameters(name: str) -> Point:
    """Read the parameters in a name: parts ``name=value``, joined by a comma, ``_`` or ``-``.

    >>> read_parameters("bm25_k1=0.9_b=0.4")
    {'k1': 0.9, 'b': 0.4}
    >>> read_parameters("ql-mu=1e-3-final"), read_parameters("dense")
    ({'mu': 0.001}, {})
    """
    parameters: Point = {}
    for key, text in _PART.findall(name):
        number = _NUMBER_FIRST.match(text)  # text after the number is a comment
        value = number[0] if number else text
        if not value or key in parameters:
            return {}
        parameters[key] = parse_value(value)
    return parameters


def read_names(names: Sequence[str]) -> tuple[list[int], Space | None]:
    """Return the order of names by the parameters in them, lowest value first, and their space.

    Names without parameters that differ in one number are sorted by that number; other names are
    sorted as text, and have no space.

    >>> order, space = read_names(["mu=1000", "mu=50", "mu=200"])
    >>> order, space.points()[0]
    ([1, 2, 0], {'mu': 50})
    """
    rows = [read_parameters(name) for name in names]
    if not _tells_apart(rows):
        rows = _one_number(names)
    numbers = range(len(names))
    if not _tells_apart(rows):
        return sorted(numbers, key=lambda number: _natural(names[number])), None
    keys = [_sort_keys([row[name] for row in rows]) for name in rows[0]]
    order = sorted(numbers, key=lambda number: [key[number] for key in keys])
    return order, Space.listed([rows[number] for number in order])


def _tells_apart(rows: Sequence[Point]) -> bool:
    """Return whether all rows have the same parameters and no two the same values."""
    first = rows[0].keys()
    if not first or any(row.keys() != first for row in rows):
        return False
    return len({tuple(row[name] for name in first) for row in rows}) == len(rows)


def _one_number(names: Sequence[str]) -> list[Point]:
    """Return the number in names such as ``run2`` and ``run10`` that differ in nothing else."""
    parts = [_DIGITS.split(name) for name in names]
    if len({len(part) for part in parts}) > 1:
        return [{}]
    different = [place for place, texts in enumerate(zip(*parts, strict=True)) if len({*texts}) > 1]
    if len(different) != 1 or not different[0] % 2:
        return [{}]
    (place,) = different
    label = "".join([*parts[0][:place], "*", *parts[0][place + 1 :]])
    return [{label: parse_value(part[place])} for part in parts]


def _sort_keys(values: Sequence[Value]) -> list[tuple[float, str]]:
    """Return sort keys: numbers by size, other values by their text."""
    if all(isinstance(value, int | float) for value in values):
        return [(float(value), "") for value in values]
    return [(0.0, str(value)) for value in values]


def _natural(name: str) -> list[tuple[float, str]]:
    """Return a sort key by which run2 comes before run10."""
    parts = enumerate(_DIGITS.split(name))
    return [(float(text), "") if place % 2 else (0.0, text) for place, text in parts]
