"""How far an estimate may be from what it estimates: documents, queries, or both drawn anew.

The documents of a sample are cut into two random halves many times, and every ranked list is read
again with the documents of each half alone, each of them twice, so that cutoffs and discounts meet
a list of the same length. Two halves differ as two samples of half the size do, so a quarter of the
mean squared difference is the variance of the whole sample's estimate. Drawing with replacement
would be the more usual way, and is too narrow here: a query whose one relevant document is drawn
twice counts once, so that the draw of queries is lost, and duplicates shift the values. Halves have
neither fault.

For the estimand

``documents``
    (these queries on other documents) an interval covers the score on one other set of the target's
    size: both the sample and that set vary;
``queries``
    (other queries on these documents) it covers the expected score;
``both``
    (other queries on other documents) the variance of queries is added to what other documents do
    to all queries alike. What they do to each query by itself is in that of queries already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.estimate import Estimand
from heldout.experiment.documents.extrapolate import extrapolate
from heldout.experiment.documents.rank_table import Rows, measure_rows
from heldout.infer.intervals.bounded import bounds_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.documents.rank_table import RankTable
    from heldout.measure.ranking.names import RankingMeasure

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int32]

__all__ = ["SAME_SIZE", "Spread", "half_sample_spread", "interval", "places_that_matter"]

_CELLS: Final = 1 << 24
_TOGETHER: Final = 1 << 17
"""Judgements × replicates that are measured together."""
_CARRIED: Final = 40
_QUICK: Final = 100
"""Cuts, and steps of the mixture, by which the spread of an estimate for another size is found."""
SAME_SIZE: Final = 0.01
"""Sizes that differ by a smaller share are the same."""


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
        The part of `documents` that queries have each by itself, which is in `queries` as well.
    target
        Of a set of the target's size, when its documents are drawn anew.
    n_queries
        How many queries the mean is over.
    halves, target_halves
        Half the difference between the halves of each cut; their mean squares are `documents` and
        `target`. Two systems under the same cuts can be subtracted.
    """

    documents: float
    queries: float
    shared: float
    target: float
    n_queries: int
    halves: tuple[float, ...] = ()
    target_halves: tuple[float, ...] = ()

    def variance(self, estimand: Estimand) -> float:
        """The variance of the difference between estimate and truth."""
        if estimand not in get_args(Estimand):
            raise InputError(
                f"there is no estimand {estimand!r}; there are {', '.join(get_args(Estimand))}"
            )
        if estimand == "queries":
            return self.queries
        if estimand == "documents":
            return self.documents + self.target
        if not self.documents:
            return self.queries
        alike = (self.documents - self.shared) * (1 + self.target / self.documents)
        return self.queries + max(alike, 0.0)


def interval(
    value: float,
    spread: Spread,
    estimand: Estimand,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """An interval around an estimate, for the estimand that it names, inside `bounds`."""
    from scipy.special import stdtrit

    # Documents matter through the queries that have relevant ones among them: their number says
    # how well a variance is known, whatever was drawn anew.
    factor = float(stdtrit(max(spread.n_queries - 1, 1), (1 + level) / 2))
    half = factor * math.sqrt(spread.variance(estimand))
    return bounds_inside(value, value - half, value + half, bounds)


def half_sample_spread(
    table: RankTable,
    lists: Numbers,
    sample: Numbers,
    measures: Sequence[RankingMeasure],
    values: Floats,
    *,
    depth: int,
    replicates: int = 500,
    seed: int = 0,
    ratio: float = 1.0,
    groups: NDArray[np.int64] | None = None,
) -> tuple[Spread, ...]:
    """Variances for each measure, from halves of the documents.

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
    replicates
        How often the sample is cut into halves.
    ratio
        The size of the target over that of the sample. Where it is not 1, each half of a few cuts
        is carried over to a target, to find the variance of the estimate that was carried over.
    groups
        The group of each document of the collection: a group is in one half. None: every document
        is for itself.
    """
    leaders = None if groups is None else _leaders(groups[sample])
    reach = places_that_matter(lists.shape[1], measures, ratio)
    reader = _Reader.make(table, lists[:, :reach], sample)
    one, other = [], []
    for begin, end in _stretches(len(sample), table, reach, replicates):
        # Every document of a half stands for two, so that a list is as long as that of the sample:
        # the ten best of a shorter list would vary no more than the ten best of the whole one.
        first = 2 * _halves(len(sample), end - begin, seed, begin, leaders)
        one.append(reader.read(first, measures, depth))
        other.append(reader.read(2 - first, measures, depth))
    halves = np.concatenate(one, axis=1), np.concatenate(other, axis=1)
    plain = [
        _spread(mine, yours, now, ratio) for mine, yours, now in zip(*halves, values, strict=True)
    ]
    if abs(ratio - 1) <= SAME_SIZE:
        return tuple(plain)
    carried = reader.carry(measures, ratio, depth, len(sample), seed, leaders)
    return tuple(
        replace(spread, documents=float((gap**2).mean()) / 4, halves=tuple((gap / 2).tolist()))
        if len(gap)
        else spread
        for spread, gap in zip(plain, carried, strict=True)
    )


def _leaders(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each document of a sample the place of the first one of its group."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    leaders: NDArray[np.int64] = first[inverse]
    return leaders


def _halves(
    documents: int,
    replicates: int,
    seed: int,
    first: int,
    leaders: NDArray[np.int64] | None = None,
) -> NDArray[np.uint8]:
    """Documents × replicates: 1 for the one half, 0 for the other, by a coin for each document.

    A document of a group has the coin of the first one, its leader.
    """
    drawn = np.empty((replicates, documents), np.uint8)
    for r in range(replicates):
        generator = np.random.default_rng([seed, 0x68616C66, first + r])
        bits = np.frombuffer(generator.bytes(-(-documents // 8)), np.uint8)
        coins = np.unpackbits(bits, count=documents)
        drawn[r] = coins if leaders is None else coins[leaders]
    return np.ascontiguousarray(drawn.T)


def places_that_matter(places: int, measures: Sequence[RankingMeasure], ratio: float = 1.0) -> int:
    """How many places of a list can matter when half of the documents are gone.

    In a target that is smaller than the sample, documents from far below come to the top.
    """
    cutoffs = [measure.cutoff for measure in measures]
    if any(cutoff is None for cutoff in cutoffs):
        return places
    wanted = 4 * max(int(cutoff) for cutoff in cutoffs if cutoff is not None) + 40
    return min(places, math.ceil(wanted / min(ratio, 1.0)))


def _stretches(
    documents: int, table: RankTable, reach: int, replicates: int
) -> Iterator[tuple[int, int]]:
    step = max(_CELLS // max(documents, len(table), table.n_queries * reach // 8, 1), 8)
    for begin in range(0, replicates, step):
        yield begin, min(begin + step, replicates)


def _spread(one: Floats, other: Floats, values: Floats, ratio: float) -> Spread:
    """Variances from the values in two halves (replicates × queries)."""
    gap = _row_means(one) - _row_means(other)
    documents = float((gap**2).mean()) / 4
    number = int(np.isfinite(values).sum())
    return Spread(
        documents,
        float(values[np.isfinite(values)].var(ddof=1)) / number if number > 1 else 0.0,
        min(_apart(one, other), documents),
        documents / ratio,
        number,
        tuple((gap / 2).tolist()),
        tuple((gap / 2 / math.sqrt(ratio)).tolist()),
    )


def _apart(one: Floats, other: Floats) -> float:
    """The part of the variance that queries have each by itself: their squares without products."""
    parts = []
    for half in (one, other):
        there = np.isfinite(half)
        centred = np.where(there, half - _row_means(half)[:, None], 0.0)
        parts.append(centred / np.maximum(there.sum(axis=1, keepdims=True), 1))
    return float(((parts[0] - parts[1]) ** 2).sum(axis=1).mean()) / 4


def _row_means(values: Floats) -> Floats:
    there = np.isfinite(values)
    means: Floats = np.where(there, values, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return means


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Reads ranked lists again with some of the documents."""

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

    def read(
        self, weights: NDArray[np.uint8], measures: Sequence[RankingMeasure], depth: int
    ) -> Floats:
        """Measures × replicates × queries."""
        before, retrieved = self._standing(weights)
        replicates = weights.shape[1]
        times = weights[self.weight_row].T
        step = max(_TOGETHER // max(len(self.rank), 1), 1)
        parts = [
            self._measure(times[part], before[part], retrieved[part], measures, depth)
            for part in (slice(begin, begin + step) for begin in range(0, replicates, step))
        ]
        return np.concatenate(parts, axis=1)

    def carry(
        self,
        measures: Sequence[RankingMeasure],
        ratio: float,
        depth: int,
        size: int,
        seed: int,
        leaders: NDArray[np.int64] | None,
    ) -> list[Floats]:
        """For each measure, in each cut, how two halves differ in what they let expect."""
        first = _halves(size, _CARRIED, seed, 1 << 20, leaders)
        means = [
            [self._carried_means(half, r, measures, ratio, depth, seed) for r in range(_CARRIED)]
            for half in (first, 1 - first)
        ]
        gaps: Floats = (np.array(means[0]) - np.array(means[1])).T
        return [gap[np.isfinite(gap)] for gap in gaps]

    def _carried_means(
        self,
        half: NDArray[np.uint8],
        r: int,
        measures: Sequence[RankingMeasure],
        ratio: float,
        depth: int,
        seed: int,
    ) -> Floats:
        own = half[:, r : r + 1]
        before, _ = self._standing(own)
        rows = self._rows(own[self.weight_row].T, before, len(self.places))
        if not (rows.grade > 0).any():
            return np.full(len(measures), np.nan)
        size = int(own.sum())
        return extrapolate(
            rows,
            len(self.places),
            2 * ratio,  # of a half: the target stays the same
            measures,
            n_documents=size,
            depth=depth,
            seed=seed + r,
            draws=10,
            steps=_QUICK,
        ).means

    def _standing(self, weights: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Replicates × judgements: documents before each; replicates × queries: retrieved."""
        replicates, queries = weights.shape[1], len(self.places)
        before = np.zeros((replicates, len(self.rank)), np.int32)
        total = np.zeros((queries, replicates), np.int32)
        by_rank = np.argsort(self.rank, kind="stable")
        longest = int(np.flatnonzero(~self.ends.all(axis=0)).max(initial=-1)) + 1
        bounds = np.searchsorted(self.rank[by_rank], np.arange(1, longest + 2))
        for place in range(longest):  # all queries at once: there are many, and few places
            mine = by_rank[bounds[place] : bounds[place + 1]]
            before[:, mine] = total[self.query[mine]].T
            standing = weights[self.places[:, place]]
            standing[self.ends[:, place]] = 0
            total += standing
        return before, total.T.astype(np.int64)

    def _rows(self, times: NDArray[np.uint8], before: NDArray[np.int32], queries: int) -> Rows:
        """Judged documents as often as they are there, replicate by replicate."""
        often = times.ravel().astype(np.int64)
        rows = np.repeat(np.arange(len(often)), often)
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(often) - often, often)
        replicate, judgement = np.divmod(rows, len(self.rank))
        rank = np.where(self.rank[judgement] > 0, before.ravel()[rows] + nth + 1, 0)
        query = replicate * queries + self.query[judgement]
        return Rows(query, self.grade[judgement], rank)

    def _measure(
        self,
        times: NDArray[np.uint8],
        before: NDArray[np.int32],
        retrieved: NDArray[np.int64],
        measures: Sequence[RankingMeasure],
        depth: int,
    ) -> Floats:
        """Values in some replicates."""
        replicates, queries = retrieved.shape
        rows = self._rows(times, before, queries)
        values = measure_rows(rows, retrieved.ravel(), measures, depth)
        return values.reshape(len(measures), replicates, queries)
