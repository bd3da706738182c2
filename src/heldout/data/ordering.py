"""The order of the documents of runs, including ties.

The loops that keep the best documents (`retrieve.kernels.lists.better`) and the merging of folds
(`experiment.documents.alignment.merge_lists`) follow the same rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.data.words import distinct

if TYPE_CHECKING:
    from heldout.data.ids import IdColumn
    from heldout.data.words import Flags, Floats, Ints

__all__ = ["put_in_order"]


def _same_query(offsets: Ints) -> Flags:
    """Return whether each row and the next belong to one query."""
    inside = np.ones(max(int(offsets[-1]) - 1, 0), np.bool_)
    inside[offsets[1:-1] - 1] = False
    return inside


def put_in_order(scores: Floats, offsets: Ints, docs: IdColumn, ties: str) -> None:
    """Order the rows of each query by score descending, then by the tie policy, in place.

    Most files are sorted already, or nearly: only rows that must move are touched.
    """
    same_query = _same_query(offsets)
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
        places, groups = _tie_groups(tied)
        docs.move(places, docs.order(places, groups, descending=against < 0))


def _tie_groups(tied: Ints) -> tuple[Ints, Ints]:
    """Return the rows that have a tie, and the number of the group that each is in."""
    places = distinct(np.sort(np.concatenate((tied, tied + 1))))
    # A row opens a group unless the row before is tied with it.
    opens = np.ones(len(places), np.bool_)
    opens[np.searchsorted(places, tied + 1)] = False
    return places, np.cumsum(opens)
