"""How far an estimate may be from what it estimates: documents, queries, or both drawn anew.

The documents of a sample are drawn again with replacement, and every ranked list is read again with
each document standing as often as it was drawn. Duplicates shift the values a little, so replicates
serve for the spread alone, around the estimate itself.

For the estimand

``documents``
    (these queries on other documents) an interval covers the score on one other set of the target's
    size: both the sample and that set vary;
``queries``
    (other queries on these documents) it covers the expected score;
``both``
    (other queries on other documents) the two variances are added; what a query and the documents
    do together is in both of them and is taken off once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from heldout.errors import InputError
from heldout.experiment.rank_table import Rows, measure_rows
from heldout.retrieve.bootstrap import draw_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.rank_table import RankTable
    from heldout.measure.names import Measure

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = ["ESTIMANDS", "Estimand", "Spread", "bootstrap_spread", "interval"]

Estimand = Literal["documents", "queries", "both"]

ESTIMANDS: Final[dict[Estimand, str]] = {
    "documents": "these queries on new documents",
    "queries": "new queries on these documents",
    "both": "new queries on new documents",
}
"""What an estimate is of, in words."""

_CELLS: Final = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Variances of the mean of one measure.

    Parameters
    ----------
    documents
        When the documents are drawn anew.
    queries
        When the queries are drawn anew.
    shared
        The part that is in both.
    n_queries
        How many queries the mean is over.
    """

    documents: float
    queries: float
    shared: float
    n_queries: int

    def variance(self, estimand: Estimand, ratio: float = 1.0) -> float:
        """The variance of the difference between estimate and truth.

        `ratio` is the size of the target over that of the sample; infinite: the expected score.
        """
        if estimand not in get_args(Estimand):
            raise InputError(
                f"there is no estimand {estimand!r}; there are {', '.join(get_args(Estimand))}"
            )
        if estimand == "queries":
            return self.queries
        documents = self.documents * (1 + 1 / ratio)
        if estimand == "documents":
            return documents
        return max(documents + self.queries - self.shared, documents, self.queries)


def interval(
    value: float, spread: Spread, estimand: Estimand, *, ratio: float = 1.0, level: float = 0.95
) -> tuple[float, float]:
    """An interval around an estimate, for the estimand that it names."""
    from scipy.special import ndtri, stdtrit

    tail = (1 + level) / 2
    by_query = estimand == "queries" and spread.n_queries > 1
    factor = float(stdtrit(spread.n_queries - 1, tail) if by_query else ndtri(tail))
    half = factor * math.sqrt(spread.variance(estimand, ratio))
    return value - half, value + half


def bootstrap_spread(
    table: RankTable,
    lists: Numbers,
    sample: Numbers,
    measures: Sequence[Measure],
    values: Floats,
    *,
    depth: int,
    replicates: int = 1000,
    seed: int = 0,
) -> tuple[Spread, ...]:
    """Variances for each measure, from documents that are drawn anew.

    Parameters
    ----------
    lists
        Queries × places: the ranked documents of the sample; −1: the list has ended.
    sample
        The numbers of all documents of the sample.
    values
        Measures × queries: the values whose mean is the estimate; NaN: left out.
    depth
        Ranks beyond it count as not retrieved.
    """
    reach = _reach(lists.shape[1], measures)
    reader = _Reader.make(table, lists[:, :reach], sample)
    drawn = []
    for begin, end in _stretches(len(sample), table, reach, replicates):
        weights = draw_documents(len(sample), end - begin, seed, begin)
        drawn.append(reader.read(weights, measures, depth))
    replicated = np.concatenate(drawn, axis=1)  # measures × replicates × queries
    return tuple(_spread(own, now) for own, now in zip(replicated, values, strict=True))


def _reach(places: int, measures: Sequence[Measure]) -> int:
    """How many places of a list can matter when documents stand several times or not at all."""
    cutoffs = [measure.cutoff for measure in measures]
    if any(cutoff is None for cutoff in cutoffs):
        return places
    return min(places, 4 * max(int(cutoff) for cutoff in cutoffs if cutoff is not None) + 40)


def _stretches(
    documents: int, table: RankTable, reach: int, replicates: int
) -> Iterator[tuple[int, int]]:
    step = max(_CELLS // max(documents, len(table), table.n_queries * reach // 8, 1), 8)
    for begin in range(0, replicates, step):
        yield begin, min(begin + step, replicates)


def _spread(replicated: Floats, values: Floats) -> Spread:
    there = np.isfinite(replicated)
    number = int(np.isfinite(values).sum())
    totals = np.where(there, replicated, 0.0)
    means = totals.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    # What drawing documents anew does to single queries: noise that drawing queries anew has too.
    times = np.maximum(there.sum(axis=0), 1)
    centre = totals.sum(axis=0) / times
    single = (np.where(there, replicated - centre, 0.0) ** 2).sum(axis=0) / times
    kept = np.isfinite(values)
    return Spread(
        float(means.var(ddof=1)) if len(means) > 1 else 0.0,
        float(values[kept].var(ddof=1)) / number if number > 1 else 0.0,
        float(single[kept].mean()) / number if number else 0.0,
        number,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Reads ranked lists again with documents that stand several times."""

    places: NDArray[np.int64]  # of each listed document its row of weights
    ends: NDArray[np.bool_]
    query: NDArray[np.int64]  # of each judgement in the sample
    grade: NDArray[np.int64]
    weight_row: NDArray[np.int64]
    rank: NDArray[np.int64]  # where it stands in its list, from 1; 0: not there

    @classmethod
    def make(cls, table: RankTable, lists: Numbers, sample: Numbers) -> _Reader:
        where = np.full(int(max(lists.max(initial=0), sample.max(), table.documents.max())) + 1, -1)
        where[sample] = np.arange(len(sample))
        rows = np.flatnonzero(where[table.documents] >= 0)
        query, documents = table.queries[rows], table.documents[rows]
        rank = np.zeros(len(rows), np.int64)
        for begin in range(0, len(rows), 4096):
            part = slice(begin, begin + 4096)
            same = lists[query[part]] == documents[part, None]
            rank[part] = np.where(same.any(axis=1), same.argmax(axis=1) + 1, 0)
        return cls(
            where[np.maximum(lists, 0)],
            lists < 0,
            query,
            table.grades[rows],
            where[documents],
            rank,
        )

    def read(self, weights: NDArray[np.uint8], measures: Sequence[Measure], depth: int) -> Floats:
        """Measures × replicates × queries."""
        replicates, queries = weights.shape[1], len(self.places)
        results = np.empty((len(measures), replicates, queries))
        before = np.zeros((len(self.rank), replicates), np.int32)
        retrieved = np.empty((queries, replicates), np.int64)
        order = np.argsort(self.query, kind="stable")
        bounds = np.searchsorted(self.query[order], np.arange(queries + 1))
        for q in range(queries):
            standing = weights[self.places[q]]
            standing[self.ends[q]] = 0
            total = np.cumsum(standing, axis=0, dtype=np.int32)
            retrieved[q] = total[-1]
            mine = order[bounds[q] : bounds[q + 1]]
            found = mine[self.rank[mine] > 1]
            before[found] = total[self.rank[found] - 2]
        for r in range(replicates):
            results[:, r] = self._measure(
                weights[:, r], before[:, r], retrieved[:, r], measures, depth
            )
        return results

    def _measure(
        self,
        weights: NDArray[np.uint8],
        before: NDArray[np.int32],
        retrieved: NDArray[np.int64],
        measures: Sequence[Measure],
        depth: int,
    ) -> Floats:
        """One replicate: a document that was drawn twice is judged twice."""
        times = weights[self.weight_row].astype(np.int64)
        rows = np.repeat(np.arange(len(times)), times)
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
        rank = np.where(self.rank[rows] > 0, before[rows] + nth + 1, 0)
        return measure_rows(
            Rows(self.query[rows], self.grade[rows], rank), retrieved, measures, depth
        )
