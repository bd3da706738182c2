"""An array that grows while documents are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Column"]

_PIECE: Final = 48 << 20
"""Bytes of a piece: allocators return pieces of this size to the system when they are freed.

Many small arrays that are kept between large ones that are freed would leave holes in memory.
"""


class Column:
    """Values that are appended and then taken out as one array.

    Examples
    --------
    >>> column = Column(np.int64)
    >>> column.extend(np.array([1, 2])); column.extend(np.array([3]))
    >>> column.drained().tolist()
    [1, 2, 3]
    """

    def __init__(self, dtype: type[np.generic]) -> None:
        self._dtype = np.dtype(dtype)
        self._room = _PIECE // self._dtype.itemsize
        self._pieces: list[NDArray[Any]] = []
        self._size = 0

    def extend(self, values: NDArray[Any]) -> None:
        """Append values."""
        while len(values):
            place = self._size % self._room
            if place == 0:
                self._pieces.append(np.empty(self._room, self._dtype))
            some = values[: self._room - place]
            self._pieces[-1][place : place + len(some)] = some
            self._size += len(some)
            values = values[len(some) :]

    def drained(self) -> NDArray[Any]:
        """Return all values; each piece is freed once it is copied."""
        whole = np.empty(self._size, self._dtype)
        for place in range(0, self._size, self._room):
            rest = whole[place : place + self._room]
            rest[:] = self._pieces.pop(0)[: len(rest)]
        self._size = 0
        return whole
