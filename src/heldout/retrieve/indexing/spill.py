"""Keep the postings of all batches between the two passes, in memory or in a temporary file."""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from heldout.retrieve.indexing.kernels.types import Counted
from heldout.retrieve.indexing.tokenize import Postings

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Spool"]


class Spool(AbstractContextManager["Spool"]):
    """Stores postings; several threads may use it.

    Parameters
    ----------
    folder
        Where to write when memory is used up; None: keep all in memory.
    memory
        Bytes to keep in memory.
    """

    def __init__(self, folder: Path | None, memory: int) -> None:
        self._folder = folder
        self._left = memory
        self._held: list[Postings | _Place | None] = []
        self._sizes: list[int] = []
        self._file: IO[bytes] | None = None
        # The file has one position, shared by several threads.
        self._lock = threading.Lock()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary file; nothing can be loaded from it any more."""
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def may_spill(self) -> bool:
        """Whether there is a folder to write to."""
        return self._folder is not None

    def sizes(self) -> NDArray[np.int64]:
        """Return how many postings each number stands for."""
        return np.array(self._sizes, np.int64)

    def add(self, postings: Postings) -> int:
        """Store postings; return their number, which counts from 0."""
        with self._lock:
            self._sizes.append(len(postings.counted.terms))
            self._left -= sum(array.nbytes for array in postings.counted)
            if self._folder is None or self._left >= 0:
                self._held.append(postings)
            else:
                self._held.append(self._write(postings, self._folder))
            return len(self._held) - 1

    def take(self, number: int) -> Postings:
        """Return postings and forget them."""
        found = self.load(number)
        self._held[number] = None
        return found

    def load(self, number: int) -> Postings:
        """Return postings, given their number."""
        held = self._held[number]
        if isinstance(held, Postings):
            return held
        with self._lock:
            # A place is made by writing.
            assert self._file is not None  # noqa: S101
            assert held is not None  # noqa: S101
            self._file.seek(held.offset)
            terms = self._read((held.n_postings,), np.int32)
            counts = self._read((held.n_postings, held.width), np.uint16)
            offsets = self._read((held.n_documents + 1,), np.int32)
        return Postings(held.first, held.table, Counted(terms, counts, offsets))

    def _write(self, postings: Postings, folder: Path) -> _Place:
        if self._file is None:
            # The file is unlinked at once, so that it never outlives the process.
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed on exit
        place = _Place(self._file.seek(0, os.SEEK_END), postings)
        for array in postings.counted:
            self._file.write(array.data)
        return place

    def _read(self, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        array = np.empty(shape, dtype)
        if array.size and self._file is not None:
            self._file.readinto(array.data.cast("B"))  # type: ignore[attr-defined]
        return array


class _Place:
    """The position of postings in the file."""

    __slots__ = ("first", "n_documents", "n_postings", "offset", "table", "width")

    def __init__(self, offset: int, postings: Postings) -> None:
        self.offset = offset
        self.first = postings.first
        self.table = postings.table
        self.n_postings, self.width = postings.counted.counts.shape
        self.n_documents = len(postings.counted.offsets) - 1
