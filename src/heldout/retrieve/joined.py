"""Runs side by side: each document of a query once, with its row in every run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.ids import Ids
from heldout.errors import InputError
from heldout.retrieve.kernels.fusion import join

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.data.words import Floats, Ints

    Numbers = NDArray[np.int32]

__all__ = ["Aligned", "Joined"]

BLOCK: Final = 1 << 18
"""Rows that are joined together: few enough that what is made of them stays small."""


class Aligned(NamedTuple):
    """Ranked lists of one set of queries.

    Parameters
    ----------
    lists
        Runs, or judgements.
    queries
        The queries of all of them.
    numbers
        Lists × queries: the number of each query in each; −1: it lacks the query.
    """

    lists: tuple[Run | Qrels, ...]
    queries: tuple[str, ...]
    numbers: Ints

    @classmethod
    def of(cls, lists: Sequence[Run | Qrels], queries: Sequence[str] | None = None) -> Aligned:
        """Align lists; by default on all their queries, in the order of first appearance."""
        if queries is None:
            queries = tuple(dict.fromkeys(query for one in lists for query in one.queries))
        rows = []
        for one in lists:
            known = {query: number for number, query in enumerate(one.queries)}
            rows.append([known.get(query, -1) for query in queries])
        return cls(tuple(lists), tuple(queries), np.array(rows, np.int64).reshape(len(lists), -1))

    def counts(self) -> Ints:
        """Lists × queries: how many documents each has."""
        return np.stack(
            [
                np.where(numbers >= 0, np.diff(one.offsets)[numbers], 0)
                for one, numbers in zip(self.lists, self.numbers, strict=True)
            ]
        )

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Stretches (first, last) of the queries, about `BLOCK` rows in each."""
        ends = np.cumsum(self.counts().sum(axis=0))
        first = 0
        while first < len(self.queries):
            done = int(ends[first - 1]) if first else 0
            last = max(int(np.searchsorted(ends, done + BLOCK)), first + 1)
            yield first, min(last, len(self.queries))
            first = last

    def join(self, first: int, last: int) -> Joined:
        """Join the lists of some queries."""
        counts = self.counts()[:, first:last]
        columns, scores = [], []
        for one, numbers, own in zip(self.lists, self.numbers[:, first:last], counts, strict=True):
            begins = np.where(numbers >= 0, one.offsets[numbers], 0)
            rows = np.repeat(begins - (np.cumsum(own) - own), own) + np.arange(int(own.sum()))
            columns.append(one.docs.take(rows))
            scores.append(_scores(one)[rows])
        return Joined.of(Ids.stack(columns), np.concatenate(scores), counts)


def _scores(one: Run | Qrels) -> Floats:
    from heldout.data.run import Run

    return one.scores if isinstance(one, Run) else np.zeros(len(one))


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Ranked lists of a few queries, joined.

    Rows are documents of a list: all queries of the first list, then those of the second, …
    Entries are documents of a query, each once.

    Parameters
    ----------
    docs, scores
        Of each row.
    counts
        Lists × queries: how many rows.
    row_of
        Entries × lists: the row of the document in each list; −1: the list lacks it.
    entry_offsets
        Entries of query ``q`` are ``entry_offsets[q]`` to ``entry_offsets[q + 1]``.
    """

    docs: Ids
    scores: Floats
    counts: Ints
    row_of: Numbers
    entry_offsets: Ints

    @classmethod
    def of(cls, docs: Ids, scores: Floats, counts: Ints) -> Joined:
        """Join rows."""
        lists, queries = counts.shape
        ends = np.cumsum(counts).reshape(counts.shape)
        offsets = np.concatenate([ends[:, :1] - counts[:, :1], ends], axis=1)
        row_of = np.full((len(docs), lists), -1, np.int32)
        entry_offsets = np.empty(queries + 1, np.int64)
        join(docs.hashes(0, len(docs)), offsets, row_of, entry_offsets)
        joined = cls(docs, scores, counts, row_of[: entry_offsets[-1]], entry_offsets)
        joined._check_hashes()
        return joined

    def _check_hashes(self) -> None:
        """Refuse different ids with one hash: that happens to ids made for it, not by chance."""
        if len(self.docs.words) == 1:
            return  # a hash of eight bytes has 64 bits: different ids have different ones
        first = self.first_rows().astype(np.int64)
        for rows in self.row_of.T.astype(np.int64):
            there = np.flatnonzero(rows >= 0)
            same = self.docs.same(rows[there], self.docs, first[there])
            if not same.all():
                row = int(there[np.flatnonzero(~same)[0]])
                pair = f"{self.docs[int(first[row])]} and {self.docs[int(rows[row])]}"
                raise InputError(f"documents {pair} have the same 64-bit hash: rename one of them")

    def __len__(self) -> int:
        return len(self.row_of)

    def first_rows(self) -> Numbers:
        """The row of each entry in the first list that has it."""
        found = self.row_of[:, 0].copy()
        for rows in self.row_of.T[1:]:
            np.copyto(found, rows, where=found < 0)
        return found

    def entry_docs(self) -> Ids:
        """The document of each entry."""
        return self.docs.take(self.first_rows())

    def ranks(self) -> Ints:
        """The rank of each row in its list, from 1."""
        counts = self.counts.ravel()
        starts = np.cumsum(counts) - counts
        return np.arange(1, len(self.scores) + 1) - np.repeat(starts, counts)

    def split_last(self) -> tuple[Joined, Looked]:
        """Take the last list out: what it alone has is no entry, the rest is looked up."""
        ranked = (self.row_of[:, :-1] >= 0).any(axis=1)
        offsets = np.concatenate(([0], np.cumsum(ranked)))[self.entry_offsets]
        size = int(self.counts[-1].sum())
        first = len(self.scores) - size
        row_of = np.ascontiguousarray(self.row_of[ranked, :-1])
        rest = Joined(self.docs, self.scores[:first], self.counts[:-1], row_of, offsets)
        of_entry = np.maximum(self.row_of[ranked, -1] - first, -1).astype(np.int32)
        return rest, Looked(size, of_entry)


class Looked(NamedTuple):
    """Where the documents of a list are among the entries of others.

    Parameters
    ----------
    size
        How many rows the list has.
    of_entry
        The row of each entry; −1: the list lacks it.
    """

    size: int
    of_entry: Numbers
