"""Where rows stand in a file: written out only when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from heldout.data.words import Ints

__all__ = ["Places"]


class Places(Sequence[str]):
    """The places of rows, as ``file:line``.

    Parameters
    ----------
    source
        The file.
    count
        How many rows there are.
    lines
        The line of each row of the file; empty for a file without lines.
    rows
        The rows of the file that are meant; by default all.

    Examples
    --------
    >>> places = Places("a.csv", 2, [3, 5])
    >>> places[1], Places("a.parquet", 2)[1], list(places.select([1]))
    ('a.csv:5', 'a.parquet, row 2', ['a.csv:5'])
    """

    __slots__ = ("_count", "_lines", "_rows", "_source")

    def __init__(
        self, source: str, count: int, lines: Sequence[int] = (), rows: Ints | None = None
    ) -> None:
        self._source = source
        self._count = count
        self._lines = lines
        self._rows = rows

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Places: ...

    def __getitem__(self, at: int | slice) -> str | Places:
        if isinstance(at, slice):
            return self.select(np.arange(*at.indices(self._count)))
        number = self.number(at)
        return f"{self._source}:{number}" if self._lines else f"{self._source}, row {number}"

    def number(self, at: int) -> int:
        """The line of a row, or its number from 1 in a file without lines."""
        place = range(self._count)[at]  # also from the end; an error beyond it
        row = place if self._rows is None else int(self._rows[place])
        return self._lines[row] if self._lines else row + 1

    def select(self, at: Sequence[int] | Ints) -> Places:
        """The places of some rows only."""
        chosen = np.asarray(at, np.int64)
        rows = chosen if self._rows is None else self._rows[chosen]
        return Places(self._source, len(chosen), self._lines, rows)
