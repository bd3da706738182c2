"""Documents cut into ranges of consecutive ones, while they stream by."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.documents import TextBatch, TextDigest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heldout.data.documents import Documents

__all__ = ["even_sizes", "range_batches", "range_digests"]


def even_sizes(total: int, number: int) -> list[int]:
    """The sizes of `number` ranges of `total` documents: they differ by one at most.

    Examples
    --------
    >>> even_sizes(10, 4)
    [2, 3, 2, 3]
    """
    ends = [total * one // number for one in range(number + 1)]
    return np.diff(ends).tolist()


def range_batches(
    batches: Iterable[TextBatch], sizes: Sequence[int]
) -> Iterator[Iterator[TextBatch]]:
    """The batches of each range, its documents numbered from 0.

    All ranges come from one reading: each must be used up before the next is asked for. `sizes`
    add up to the number of all documents.
    """
    ends = np.cumsum(sizes)
    for _, pieces in groupby(_pieces(batches, ends.tolist()), key=itemgetter(0)):
        yield (piece for _, piece in pieces)


def range_digests(documents: Documents, sizes: Sequence[int]) -> Iterator[str]:
    """What `Documents.digest` would be for each range by itself."""
    for pieces in range_batches(documents.batches(), sizes):
        digest = TextDigest()
        for piece in pieces:
            digest.add(piece)
        yield digest.hexdigest()


def _pieces(batches: Iterable[TextBatch], ends: Sequence[int]) -> Iterator[tuple[int, TextBatch]]:
    """Cut batches where a range ends; each piece with the number of its range."""
    number, begin = 0, 0
    for batch in batches:
        at = 0
        while at < len(batch):
            until = min(len(batch), ends[number] - batch.first)
            offsets = batch.offsets[at : until + 1]
            text = batch.text[int(offsets[0]) : int(offsets[-1])]
            first = batch.first + at - begin
            yield number, TextBatch(first, batch.ids[at:until], text, offsets - offsets[0])
            at = until
            if batch.first + until == ends[number]:
                begin, number = ends[number], number + 1
