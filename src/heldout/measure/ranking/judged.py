"""The judged documents of a run: the only rows that measures use.

Of the thousand documents that a system returns for a query, a few are judged. A measure needs only
their ranks and grades, the number of documents retrieved, and the grades of all judged documents,
so the other rows are read only once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.words import distinct, mix, query_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.qrels import Qrels, Subtopics
    from heldout.data.run import Run
    from heldout.data.words import Flags, Floats, Ints, Words

_FEW_GRADES: Final = 64
BLOCK: Final = 1 << 16  # rows looked up together: few enough to stay in cache


class Hits(NamedTuple):
    """The relevant documents that were retrieved, ordered by query and rank."""

    query: Ints
    rank: Ints  # from 1
    nth: Ints  # its number among the relevant documents of the query, from 1

    def above(self, cutoff: int | None) -> Hits:
        """Return those at rank `cutoff` or better."""
        if cutoff is None:
            return self
        keep = self.rank <= cutoff
        return Hits(self.query[keep], self.rank[keep], self.nth[keep])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Judged:
    """Ranks and grades of the judged documents of one run."""

    queries: tuple[str, ...]  # in output order
    present: Flags  # whether the run has each query
    retrieved: Ints  # number of documents that the run has for each query
    query: Ints  # of the retrieved documents that are in the qrels, ordered by query and rank
    rank: Ints  # from 1
    grade: Ints
    all_query: Ints  # of all judgements, ordered by query
    all_grade: Ints
    top_grade: int  # the highest grade in the qrels, at least 1
    row: Ints | None = None  # in the qrels, of each retrieved document
    subtopics: Subtopics | None = None
    _cache: dict[tuple[str, int], object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.queries)

    def total(self, query: Ints, weights: NDArray[np.floating] | Ints | None = None) -> Floats:
        """Sum `weights` (or count) per query, in row order."""
        return np.bincount(query, weights, len(self)).astype(np.float64, copy=False)

    def hits(self, rel: int) -> Hits:
        """Return the retrieved documents of grade `rel` or higher."""
        key = ("hits", rel)
        if key not in self._cache:
            keep = (self.grade >= rel) & (self.grade >= 0)
            query, rank = self.query[keep], self.rank[keep]
            self._cache[key] = Hits(query, rank, count_up(query, len(self)))
        return self._cache[key]  # type: ignore[return-value]

    def relevant(self, rel: int) -> Ints:
        """Return the number of documents of grade `rel` or higher of each query."""
        grades, counts = self.grade_counts()
        relevant: Ints = counts[:, (grades >= rel) & (grades >= 0)].sum(axis=1)
        return relevant

    def grade_counts(self) -> tuple[Ints, Ints]:
        """Return all grades in the qrels, ascending, and the documents per query and grade."""
        key = ("grades", 0)
        if key not in self._cache:
            low, high = int(self.all_grade.min()), int(self.all_grade.max())
            if high - low < _FEW_GRADES:
                grades, level = np.arange(low, high + 1), self.all_grade - low
            else:
                grades, level = np.unique(self.all_grade, return_inverse=True)
            place = self.all_query * len(grades) + level
            counts = np.bincount(place, minlength=len(self) * len(grades))
            self._cache[key] = (grades, counts.reshape(len(self), len(grades)))
        return self._cache[key]  # type: ignore[return-value]

    def only_judged(self) -> Judged:
        """Return the same lists without unjudged documents, with ranks renumbered."""
        key = ("only judged", 0)
        if key not in self._cache:
            keep = self.grade >= 0
            query = self.query[keep]
            self._cache[key] = replace(
                self,
                retrieved=np.bincount(query, minlength=len(self)),
                query=query,
                rank=count_up(query, len(self)),
                grade=self.grade[keep],
                row=None if self.row is None else self.row[keep],
                _cache={},
            )
        return self._cache[key]  # type: ignore[return-value]


def over(total: Floats, count: NDArray[np.integer] | NDArray[np.floating]) -> Floats:
    """Divide; the result is 0 where the divisor is 0, as in trec_eval."""
    result = np.zeros(len(total))
    np.divide(total, count, out=result, where=count > 0)
    return result


def first_rows(query: Ints, queries: int) -> Ints:
    """Return the first row of each query; rows must be grouped by query."""
    counts = np.bincount(query, minlength=queries)
    return np.asarray(np.cumsum(counts) - counts)


def count_up(query: Ints, queries: int) -> Ints:
    """Number the rows of each query from 1; rows must be grouped by query."""
    return np.arange(1, len(query) + 1) - first_rows(query, queries)[query]


def join(qrels: Qrels, run: Run, depth: int | None = None) -> Judged:
    """Find the judged documents in a run, in the first `depth` of each query (trec_eval -M)."""
    numbers = {query: number for number, query in enumerate(qrels.queries)}
    codes = np.fromiter((numbers.get(q, -1) for q in run.queries), np.int64, len(run.queries))
    rows, judgements = _find(qrels, run, codes)
    owner = np.searchsorted(run.offsets, rows, "right") - 1
    query, rank = codes[owner], rows - run.offsets[owner] + 1
    counts = np.diff(run.offsets)
    if depth is not None:
        depth = min(depth, len(run))  # any given depth then fits into 64 bits
        keep = rank <= depth
        query, rank, judgements = query[keep], rank[keep], judgements[keep]
        counts = np.minimum(counts, depth)
    order = np.argsort(query, kind="stable")
    retrieved = np.zeros(len(qrels.queries), np.int64)
    known = codes >= 0
    retrieved[codes[known]] = counts[known]
    present = np.zeros(len(qrels.queries), np.bool_)
    present[codes[known]] = True
    return Judged(
        qrels.queries,
        present,
        retrieved,
        query[order],
        rank[order],
        qrels.grades[judgements][order],
        qrels.query_of_row(),
        qrels.grades,
        max(1, int(qrels.grades.max(initial=1))),
        judgements[order],
        qrels.subtopics,
    )


def _find(qrels: Qrels, run: Run, codes: Ints) -> tuple[Ints, Ints]:
    """Return the rows of the run that are judged, and the judgement of each.

    A small table of hash values filters candidate rows, which are looked up among the sorted keys
    and then compared byte by byte.
    """
    bits = max(20, min(24, int(len(qrels) * 6).bit_length()))
    shift = np.uint64(64 - bits)
    table = np.zeros(1 << bits, np.bool_)
    table[mix(qrels.keys) >> shift] = True
    queries = np.searchsorted(run.offsets, np.arange(0, len(run) + BLOCK, BLOCK), "left")
    cuts = distinct(np.minimum(queries, len(run.queries)))
    parts: list[tuple[Ints, Words, Ints]] = []
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        begin, end = int(run.offsets[first]), int(run.offsets[last])
        counts = run.offsets[first + 1 : last + 1] - run.offsets[first:last]
        code = np.repeat(codes[first:last], counts)
        keys = query_keys(run.docs.hashes(begin, end), code)
        candidates = np.flatnonzero(table[mix(keys) >> shift])
        parts.append((candidates + begin, keys[candidates], code[candidates]))
    rows = np.concatenate([part[0] for part in parts])
    keys = np.concatenate([part[1] for part in parts])
    code = np.concatenate([part[2] for part in parts])
    return _look_up(qrels, run, rows, keys, code)


def _look_up(qrels: Qrels, run: Run, rows: Ints, keys: Words, code: Ints) -> tuple[Ints, Ints]:
    """Return the candidates that are judged; different documents may share a key, hence a loop."""
    owner = qrels.query_of_row()
    judgement = np.full(len(rows), -1, np.int64)
    place = np.searchsorted(qrels.keys, keys)
    open_rows = np.arange(len(rows))
    while len(open_rows):
        place = np.minimum(place, len(qrels.keys) - 1)
        equal = qrels.keys[place] == keys[open_rows]
        open_rows, place = open_rows[equal], place[equal]
        wanted = qrels.rows_by_key[place]
        right = owner[wanted] == code[open_rows]
        right &= run.docs.same(rows[open_rows], qrels.docs, wanted)
        judgement[open_rows[right]] = wanted[right]
        open_rows, place = open_rows[~right], place[~right] + 1
        inside = place < len(qrels.keys)
        open_rows, place = open_rows[inside], place[inside]
    hit = judgement >= 0
    return rows[hit], judgement[hit]
