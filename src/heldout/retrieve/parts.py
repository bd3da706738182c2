"""Parts of an index: ranges of documents that are walked one after another, or side by side.

An index in one file has one part. Of several, each is an index of its own; what they share are
statistics, which are sums, and the order of ids, by which ties are broken. A document is scored by
those alone, so its score and its place do not depend on the part that it is in.
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
    number
        Which part it is.
    first
        The number of its first document among all.
    id_order
        Of each of its documents the rank of its id among all ids of all parts.
    path
        Where the whole stands, by which another process finds the part; empty: in memory.
    """

    index: Index
    number: int
    first: int
    id_order: Numbers
    path: str = ""

    def rows(self) -> slice:
        """Its documents among all."""
        return slice(self.first, self.first + self.index.n_documents)

    def place(self) -> tuple[str, int, str]:
        """What `heldout.retrieve.shards.open_part` needs to open it in another process."""
        if not self.path:
            raise InputError(
                "an index in memory is not sent to other processes: write it to a file that they "
                "see (heldout index -o FILE), and name that"
            )
        return self.path, self.number, self.index.fingerprint


class EachPart(Protocol):
    """Does some work for each part: here, or elsewhere; results come in any order."""

    def __call__(self, work: Callable[[Part], _R], parts: Sequence[Part], /) -> Iterable[_R]:
        """Do `work` for each of `parts`."""


def in_turn(work: Callable[[Part], _R], parts: Sequence[Part], /) -> Iterator[_R]:
    """Do the work here, one part after another: no more than one is in memory."""
    for part in parts:
        yield work(part)
        if len(parts) > 1:
            part.index.release()


class Best:
    """The best documents of many lists, while parts come in.

    Parameters
    ----------
    shape
        Of the lists; the last axis has their places.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.documents = np.full(shape, -1, np.int32)
        self.scores = np.full(shape, -np.inf)
        self._order = np.full(shape, -1, np.int32)

    def add(self, part: Part, documents: Numbers, scores: Floats) -> None:
        """Take the lists of a part, numbers counted from its first document."""
        from heldout.retrieve.kernels.merging import merge

        if not documents.size:
            return  # ranks alone are wanted
        there = documents >= 0
        order = np.where(there, part.id_order[np.maximum(documents, 0)], -1).astype(np.int32)
        numbers = np.where(there, documents + part.first, -1).astype(np.int32)
        k = documents.shape[-1]
        old = [_flat(one, k) for one in (self.documents, self.scores, self._order)]
        new = [_flat(one, k) for one in (numbers, scores, order)]
        merge(*old, *new)


def _flat(values: NDArray[Any], k: int) -> NDArray[Any]:
    return np.ascontiguousarray(values).reshape(-1, k)
