"""Merge the id orders of several indexes into one."""

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
    """Return the rank of each document's id among the ids of all indexes, bytewise.

    Parameters
    ----------
    names
        Names of the indexes, for the message about a duplicate id.
    """
    firsts = np.cumsum([0, *(one.n_documents for one in indexes)])
    ranks = np.empty(int(firsts[-1]), np.int32)
    streams = [_ordered(index, int(first)) for index, first in zip(indexes, firsts, strict=False)]
    before, number = None, -1
    # Code points sort like their bytes in UTF-8.
    for rank, (name, document) in enumerate(heapq.merge(*streams)):
        if name == before:
            one, other = (
                names[int(np.searchsorted(firsts, at, "right")) - 1] for at in (number, document)
            )
            raise InputError(
                f"duplicate document id {name!r} in {one} and {other}: remove one of the documents"
            )
        ranks[document] = rank
        before, number = name, document
    return ranks


def _ordered(index: Index, first: int) -> Iterator[tuple[str, int]]:
    """Return the ids of an index in sorted order with their document numbers, in batches."""
    order = np.empty(index.n_documents, np.int32)
    order[index.id_order] = np.arange(index.n_documents, dtype=np.int32)
    for begin in range(0, len(order), _PIECE):
        rows = order[begin : begin + _PIECE]
        yield from zip(gather(index.document_ids, rows), (rows + first).tolist(), strict=True)
