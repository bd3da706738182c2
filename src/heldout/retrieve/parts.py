"""Parts of an index: ranges of documents that are processed one after another, or in parallel.

An index in one file has one part. In an index of several parts each part is an index of its own;
they share statistics, which are sums, and the order of ids, which breaks ties. The score and rank
of a document depend only on these, not on the part that it is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index

    Numbers = NDArray[np.int32]
    Floats = NDArray[np.float64]

__all__ = ["Best", "EachPart", "Part", "in_turn"]

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A range of documents.

    Parameters
    ----------
    index
        The index of these documents alone, numbered from 0.
    The number of the part.
        Which part it is.
    first
        The number of its first document among all documents.
    id_order
        For each of its documents, the rank of its id among the ids of all parts.
    path
        The path of the whole index, by which another process finds the part; empty: in memory.
    """

    index: Index
    number: int
    first: int
    id_order: Numbers
    path: str = ""

    def rows(self) -> slice:
        """Return the slice of all documents that belongs to the part."""
        return slice(self.first, self.first + self.index.n_documents)

    def place(self) -> tuple[str, int, str]:
        """Return what `heldout.retrieve.shards.open_part` needs to open it in another process."""
        if not self.path:
            raise InputError(
                "an index in memory cannot be sent to other processes: write it to a file that "
                "they can read (heldout index -o FILE), and pass that file"
            )
        return self.path, self.number, self.index.fingerprint


class EachPart(Protocol):
    """Runs work for each part, here or elsewhere; results come in any order."""

    def __call__(self, work: Callable[[Part], _R], parts: Sequence[Part], /) -> Iterable[_R]:
        """Run `work` for each of `parts`."""


def in_turn(work: Callable[[Part], _R], parts: Sequence[Part], /) -> Iterator[_R]:
    """Run the work here, one part after another: only one part is in memory at a time."""
    for part in parts:
        yield work(part)
        if len(parts) > 1:
            part.index.release()


class Best:
    """The best documents of many lists, merged part by part.

    Parameters
    ----------
    shape
        Shape of the lists; the last axis has the ranks.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.documents = np.full(shape, -1, np.int32)
        self.scores = np.full(shape, -np.inf)
        self._order = np.full(shape, -1, np.int32)

    def add(self, part: Part, documents: Numbers, scores: Floats) -> None:
        """Merge the lists of a part, with document numbers relative to its first document."""
        from heldout.retrieve.kernels.merging import merge

        if not documents.size:
            return  # only ranks are needed
        there = documents >= 0
        order = np.where(there, part.id_order[np.maximum(documents, 0)], -1).astype(np.int32)
        numbers = np.where(there, documents + part.first, -1).astype(np.int32)
        k = documents.shape[-1]
        old = [_flat(one, k) for one in (self.documents, self.scores, self._order)]
        new = [_flat(one, k) for one in (numbers, scores, order)]
        merge(*old, *new)


def _flat(values: NDArray[Any], k: int) -> NDArray[Any]:
    return np.ascontiguousarray(values).reshape(-1, k)
