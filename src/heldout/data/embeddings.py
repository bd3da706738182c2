"""Embeddings: vectors of documents or queries, by id, in arrays or NumPy files."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.files import decode_text, open_source, readable
from heldout.data.ids import as_id, distinct_ids
from heldout.errors import InputError
from heldout.notes import count_of, named_few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from heldout.data.words import Ints

    PathLike = str | os.PathLike[str]


class Embeddings:
    """Vectors of documents or queries.

    Parameters
    ----------
    ids
        Distinct ids.
    values
        One row per id: integers or floats of any precision.
    name
        What they are called in messages.

    Examples
    --------
    >>> some = Embeddings(["d1", "d2"], [[1.0, 0.0], [0.6, 0.8]])
    >>> len(some), some.dimensions
    (2, 2)
    """

    def __init__(self, ids: Sequence[str], values: ArrayLike, name: str = "vectors") -> None:
        array: NDArray[Any] = np.asanyarray(values)  # a memory map stays one
        if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.shape[1]:
            raise InputError(
                f"{name}: expected a table of numbers with one row per vector, found an array of "
                f"{array.dtype} with shape {array.shape}"
            )
        if len(ids) != len(array):
            raise InputError(
                f"{name}: {count_of(len(array), 'vector')}, but {count_of(len(ids), 'id')}: "
                "expected one id per vector, in the same order"
            )
        self.name = name
        self.ids = distinct_ids([as_id(given) for given in ids], f"ids of {name}")
        self.values = array

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Embeddings({self.name!r}, {count_of(len(self), 'vector')})"

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return int(self.values.shape[1])

    def rows(self, wanted: Sequence[str], what: str) -> Ints:
        """Return the rows of some ids, of `what` (in the plural); all must have a vector."""
        rows = self.ids.find(wanted)
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            few = [wanted[place] for place in missing[:1000].tolist()]
            raise InputError(
                f"{self.name} has no vector for {len(missing):,} of {len(wanted):,} {what}: "
                f"{named_few(few, len(missing))}"
            )
        return rows

    def block(self, rows: Ints) -> NDArray[Any]:
        """Return the vectors of some rows in memory; raise an error if a number is not finite."""
        values = self.values[rows]
        with np.errstate(over="ignore"):
            finite = np.isfinite(values.astype(np.float32, copy=False)).all(axis=1)
        if not finite.all():
            row = int(rows[np.argmin(finite)])
            raise InputError(
                f"{self.name}: the vector of {self.ids[row]} (row {row + 1}) has a number that is "
                "NaN, infinite, or too large for 32 bits"
            )
        return np.ascontiguousarray(values)

    def fingerprint(self) -> str:
        """Return a hash of ids and vectors."""
        digest = hashlib.sha256("\0".join(self.ids).encode())
        digest.update(f"{self.values.dtype}{self.values.shape}".encode())
        digest.update(np.ascontiguousarray(self.values).data)
        return digest.hexdigest()


def read_embeddings(path: PathLike, ids: PathLike | None = None) -> Embeddings:
    """Open vectors in a NumPy file; they are not read into memory.

    Parameters
    ----------
    path
        An ``.npy`` file with one row per vector.
    ids
        Text file with one id per line, in the order of the rows (default: beside the vectors, with
        the ending ``.ids``).
    """
    name = os.fspath(path)
    with readable(name):
        try:
            # Objects could run code when they are loaded.
            values = np.load(name, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            # What NumPy says, without its advice to trust a file and without addresses.
            reason = str(error).partition("\n")[0].partition(" at 0x")[0].replace("<", "")
            raise InputError(
                f"{name}: not a NumPy file of numbers ({reason}); write it with numpy.save"
            ) from None
    if not isinstance(values, np.ndarray):
        values.close()
        raise InputError(f"{name}: several arrays; write one array with numpy.save")
    beside = f"{name.removesuffix('.npy')}.ids"
    if ids is None and not os.path.isfile(beside):
        raise InputError(f"{name}: its ids are missing: expected {beside}, with one id per line")
    source = open_source(ids or beside)
    lines = decode_text(source.whole(), source.name).removesuffix("\n").split("\n")
    return Embeddings(lines, values, name)
