"""Points given as a list (run files, random samples) that need not form a complete grid."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from heldout.tune.space import Axis, Point, given, parse_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Listed", "read_names", "read_parameters"]


@dataclass(frozen=True, slots=True)
class Listed:
    """Some points of a space, in a given order; of two points the earlier one is the simpler.

    Parameters
    ----------
    rows
        The points, all with the same parameters.
    axes
        The parameters, each with the values that occur; derived from the rows.

    Examples
    --------
    >>> listed = Listed(({"k1": 1, "b": 0.3}, {"k1": 2, "b": 0.5}, {"k1": 3, "b": 0.3}))
    >>> listed.edges(1)
    ('b',)
    """

    rows: tuple[Point, ...]
    axes: tuple[Axis, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = self.rows[0]
        object.__setattr__(
            self, "axes", tuple(given(name, _values(self.rows, name)) for name in names)
        )

    def __len__(self) -> int:
        return len(self.rows)

    def points(self) -> tuple[Point, ...]:
        """Return all points, in order."""
        return self.rows

    def point(self, number: int) -> Point:
        """Return one point by number."""
        return self.rows[number]

    def edges(self, number: int) -> tuple[str, ...]:
        """Return the parameters that have their lowest or highest value at this point."""
        point = self.rows[number]
        return tuple(axis.name for axis in self.axes if axis.at_edge(point[axis.name]))


def _values(rows: Sequence[Point], name: str) -> list[float | int | str | bool]:
    """Return the distinct values of a parameter, in the order of the rows."""
    return list(dict.fromkeys(row[name] for row in rows))


# A name follows the start or a separator; its value ends at the next separator before a name.
_NAME: Final = r"[^\W\d_][^\W_]*"
_PART: Final = re.compile(rf"(?:^|[,_\s-])({_NAME})=(.*?)(?=[,_\s-]{_NAME}=|$)")
_NUMBER_FIRST: Final = re.compile(
    r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?(?=[,_\s-]|\.[^\W\d]|$)"
)
_DIGITS: Final = re.compile(r"(\d+(?:\.\d+)?)")


def read_parameters(name: str) -> Point:
    """Read the parameters in a name: parts ``name=value``, joined by a comma, ``_`` or ``-``.

    Examples
    --------
    >>> read_parameters("bm25_k1=0.9_b=0.4")
    {'k1': 0.9, 'b': 0.4}
    >>> read_parameters("ql-mu=1e-3-final"), read_parameters("dense")
    ({'mu': 0.001}, {})
    """
    found: Point = {}
    for key, text in _PART.findall(name):
        number = _NUMBER_FIRST.match(text)  # text after the number is a comment
        value = number[0] if number else text
        if not value or key in found:
            return {}
        found[key] = parse_value(value)
    return found


def read_names(names: Sequence[str]) -> tuple[list[int], Listed | None]:
    """Sort names by the parameters found in them.

    Parameters
    ----------
    names
        Names of runs.

    Returns
    -------
    order, points
        The order by parameters, lowest value first. Names without parameters that differ in one
        number are sorted by that number; other names are sorted as text, and `points` is None.

    Examples
    --------
    >>> order, points = read_names(["mu=1000", "mu=50", "mu=200"])
    >>> order, points.point(0)
    ([1, 2, 0], {'mu': 50})
    """
    rows = [read_parameters(name) for name in names]
    if not _tells_apart(rows):
        rows = _one_number(names)
    if not _tells_apart(rows):
        return sorted(range(len(names)), key=lambda at: _natural(names[at])), None
    keys = [_sort_key(rows, key) for key in rows[0]]
    order = sorted(range(len(names)), key=lambda at: [key[at] for key in keys])
    return order, Listed(tuple(rows[at] for at in order))


def _tells_apart(rows: Iterable[Point]) -> bool:
    """Return whether all rows have the same parameters and no two the same values."""
    listed = list(rows)
    first = listed[0].keys()
    if not first or any(row.keys() != first for row in listed):
        return False
    return len({tuple(row[key] for key in first) for row in listed}) == len(listed)


def _one_number(names: Sequence[str]) -> list[Point]:
    """Return the number in names such as ``run2`` and ``run10`` that differ in nothing else."""
    parts = [_DIGITS.split(name) for name in names]
    if len({len(part) for part in parts}) > 1:
        return [{}]
    different = [at for at in range(len(parts[0])) if len({part[at] for part in parts}) > 1]
    if len(different) != 1 or not different[0] % 2:
        return [{}]
    at = different[0]
    label = "".join("*" if place == at else text for place, text in enumerate(parts[0]))
    return [{label: parse_value(part[at])} for part in parts]


def _sort_key(rows: list[Point], key: str) -> list[tuple[float, str]]:
    """Return sort keys: numbers by size, other values by their text."""
    values = [row[key] for row in rows]
    if all(isinstance(value, int | float) for value in values):
        return [(float(value), "") for value in values]
    return [(0.0, str(value)) for value in values]


def _natural(name: str) -> list[tuple[float, str]]:
    """Return a sort key by which run2 comes before run10."""
    split = _DIGITS.split(name)
    return [(float(one), "") if at % 2 else (0.0, one) for at, one in enumerate(split)]
