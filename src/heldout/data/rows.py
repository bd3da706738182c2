"""Rows of runs and judgements (query, document, number): their order, ties and repeats.

The loops that keep the best documents (`retrieve.kernels.heaps.better`) and the merging of folds
(`experiment.documents.alignment.merge_lists`) follow the same order.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.ids import repeats
from heldout.data.parallel import run_threads
from heldout.data.words import distinct, query_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heldout.data.ids import Ids
    from heldout.data.words import Floats, Ints

BLOCK: Final = 8192
"""Rows that are searched for repeats together: few enough to stay in the processor cache."""


class Rows(NamedTuple):
    """What a run or judgements are made from."""

    source: str  # the name of the file or object in messages
    queries: list[str]  # in the order of their first appearance
    codes: NDArray[np.integer]  # the number of the query of each row
    docs: Ids
    values: Floats
    places: Callable[[str, str], list[str]]  # of a query and a document; slow, for messages
    name: str = "run"  # of the system
    subtopics: list[str] | None = None


def put_in_order(scores: Floats, offsets: Ints, docs: Ids, ties: str) -> None:
    """Order the rows of each query by score descending, then by the tie policy, in place.

    Most files are sorted already, or nearly: only rows that must move are touched.
    """
    same_query = np.ones(max(len(scores) - 1, 0), np.bool_)  # as the next row
    same_query[offsets[1:-1] - 1] = False
    rising = np.flatnonzero((scores[1:] > scores[:-1]) & same_query)
    for query in distinct(np.searchsorted(offsets, rising, "right") - 1).tolist():
        begin, end = int(offsets[query]), int(offsets[query + 1])
        rows = np.argsort(-scores[begin:end], kind="stable") + begin
        scores[begin:end] = scores[rows]
        docs.move(slice(begin, end), rows)
    if ties == "input":
        return
    tied = np.flatnonzero((scores[1:] == scores[:-1]) & same_query)
    against = 1 if ties == "docid-asc" else -1
    if (docs.compare(tied, tied + 1) == against).any():
        places = distinct(np.sort(np.concatenate((tied, tied + 1))))
        # A row opens a group of ties unless the row before is tied with it.
        opens = np.ones(len(places), np.bool_)
        opens[np.searchsorted(places, tied + 1)] = False
        docs.move(places, docs.order(places, np.cumsum(opens), descending=against < 0))


def duplicate_row(docs: Ids, offsets: Ints) -> int | None:
    """Return a row whose document appears twice for its query, or None.

    Done for every run, so it has to be fast: the keys of a block are sorted, and only documents
    with equal keys are compared.
    """
    cuts = distinct(np.searchsorted(offsets, np.arange(0, offsets[-1] + BLOCK, BLOCK)))
    cuts[-1] = len(offsets) - 1

    def search(block: tuple[int, int]) -> int | None:
        first, last = block
        begin, end = int(offsets[first]), int(offsets[last])
        query = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        keys = query_keys(docs.hashes(begin, end), query)
        ordered = np.sort(keys)
        if not (ordered[1:] == ordered[:-1]).any():
            return None
        order = np.argsort(keys, kind="stable")
        repeated = repeats(docs, order + begin, keys[order])
        return int(repeated[0][1]) if repeated else None

    blocks = [(int(a), int(z)) for a, z in pairwise(cuts) if a < z]
    return next((row for row in run_threads(search, blocks) if row is not None), None)
