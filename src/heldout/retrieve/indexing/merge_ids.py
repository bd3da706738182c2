"""The order of the ids of several indexes, from the order that each has of its own."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.errors import InputError
from heldout.retrieve.indexing.strings import gather

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.retrieve.index import Index

__all__ = ["merged_order"]

_PIECE: Final = 1 << 14


def merged_order(indexes: Sequence[Index], names: Sequence[str]) -> NDArray[np.int32]:
    """Of each document of all indexes the rank of its id among all ids, bytewise.

    Parameters
    ----------
    names
        Of the indexes, for the message when two have the same id.
    """
    firsts = np.cumsum([0, *(one.n_documents for one in indexes)])
    ranks = np.empty(int(firsts[-1]), np.int32)
    streams = [_ordered(index, int(first)) for index, first in zip(indexes, firsts, strict=False)]
    before, number = None, -1
    # Code points are ordered as the bytes of UTF-8 are.
    for rank, (name, document) in enumerate(heapq.merge(*streams)):
        if name == before:
            one, other = (
                names[int(np.searchsorted(firsts, at, "right")) - 1] for at in (number, document)
            )
            raise InputError(
                f"the document id {name!r} stands in {one} and in {other}: keep one of them"
            )
        ranks[document] = rank
        before, number = name, document
    return ranks


def _ordered(index: Index, first: int) -> Iterator[tuple[str, int]]:
    """The ids of an index in their order, each with its document's number; a few at a time."""
    order = np.empty(index.n_documents, np.int32)
    order[index.id_order] = np.arange(index.n_documents, dtype=np.int32)
    for begin in range(0, len(order), _PIECE):
        rows = order[begin : begin + _PIECE]
        yield from zip(gather(index.document_ids, rows), (rows + first).tolist(), strict=True)
