"""Search for repeated documents in ranked lists; done for every run, so it has to be fast."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.parallel import run_threads
from heldout.data.words import distinct, query_keys

if TYPE_CHECKING:
    from heldout.data.ids import IdColumn
    from heldout.data.words import Ints, Words

__all__ = ["duplicate_row", "repeats"]

BLOCK: Final = 8192
"""Rows that are searched together: few enough to stay in the processor cache."""


def duplicate_row(docs: IdColumn, offsets: Ints) -> int | None:
    """Return a row whose document appears twice for its query, or None.

    The keys of a block are sorted; only documents with equal keys are compared.
    """
    cuts = distinct(np.searchsorted(offsets, np.arange(0, offsets[-1] + BLOCK, BLOCK)))
    cuts[-1] = len(offsets) - 1
    blocks = [(int(a), int(z)) for a, z in pairwise(cuts) if a < z]
    spread = max(1, len(blocks) // 64)
    batches = [blocks[i : i + spread] for i in range(0, len(blocks), spread)]

    def search(batch: list[tuple[int, int]]) -> int | None:
        rows = (_search_block(docs, offsets, *block) for block in batch)
        return next((row for row in rows if row is not None), None)

    return next((row for row in run_threads(search, batches) if row is not None), None)


def _search_block(docs: IdColumn, offsets: Ints, first: int, last: int) -> int | None:
    begin, end = int(offsets[first]), int(offsets[last])
    counts = offsets[first + 1 : last + 1] - offsets[first:last]
    query = np.repeat(np.arange(first, last), counts)
    keys = query_keys(docs.hashes(begin, end), query)
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.argsort(keys, kind="stable")
    repeated = repeats(docs, order + begin, keys[order])
    return int(repeated[0][1]) if repeated else None


def repeats(docs: IdColumn, rows: Ints, keys: Words) -> list[tuple[int, int]]:
    """Return pairs of rows (the first, a later one) of one query with the same document.

    Rows are sorted by key. Different documents may have equal keys, though rarely, so that the
    documents themselves are compared.
    """
    equal = np.flatnonzero(keys[1:] == keys[:-1])
    suspects = distinct(np.sort(np.concatenate((equal, equal + 1))))
    seen: dict[tuple[int, str], int] = {}
    pairs = []
    names = docs.take(rows[suspects]).tolist()
    for place, row, name in zip(suspects.tolist(), rows[suspects].tolist(), names, strict=True):
        first = seen.setdefault((int(keys[place]), name), row)
        if first != row:
            pairs.append((first, row))
    return pairs
