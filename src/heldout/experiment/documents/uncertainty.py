"""The uncertainty of an estimate for new documents, or for new queries on new documents.

Two disjoint random parts of the documents, each a share q of the sample, are left out in turn, many
times, and every ranked list is evaluated without the one and without the other (a paired delete-d
jackknife). The mean squared difference is 2q / (1 - q)^2 times the variance of the estimate.

The share q matters, because the value of a query depends on few documents. Without half of them, a
value between 0 and 1 cannot vary twice as much as it does, and the variance is underestimated (by
up to a quarter for RR). Without a single document it is overestimated on average (Efron and Stein
1981). Leaving out a third was about right for measures relative to the number of relevant
documents. P and RBP are not relative to it, so a shorter list lowers them; for these q is a fifth.

The usual bootstrap, drawing with replacement, gives intervals that are too narrow: a query whose
only relevant document is drawn twice counts once, and duplicates shift the values.

The interval depends on the estimand:

``documents``
    (these queries on other documents) it covers the score on another set of the target size: both
    the sample and that set vary;
``both``
    (other queries on other documents) the variance of queries is added to the effect of other
    documents that is common to all queries. Their effect on single queries is already part of the
    variance of queries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.experiment.documents.extrapolate import extrapolate, model_variance
from heldout.experiment.documents.lists import ranks_in
from heldout.experiment.documents.rank_table import Rows, measure_rows
from heldout.infer.intervals import wilson_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.data.words import Flags, Floats, Ints
    from heldout.experiment.documents.estimates import Estimand
    from heldout.experiment.documents.rank_table import RankTable
    from heldout.measure.base import Measure
    from heldout.retrieve.kernels.types import Numbers

_CELLS: Final = 1 << 24
_TOGETHER: Final = 1 << 17  # judgements × replicates that are evaluated together
_CARRIED: Final = 40
_QUICK: Final = 100  # replicates, and steps of the mixture, for the variance at another size
_LOTS: Final = 256
_LEFT_OUT: Final = 85  # of 256 lots, the number left out: a third
_LEFT_OUT_ABSOLUTE: Final = 51  # a fifth, for measures not relative to the number of relevant
_ABSOLUTE: Final = frozenset({"P", "RBP"})
SAME_SIZE: Final = 0.01  # sizes with a smaller relative difference are treated as equal


class Spread(NamedTuple):
    """Variances of the mean of one measure.

    `halves` and `target_halves` are the scaled differences of all replicates; their mean squares
    are `documents` and `target`. Those of two systems with the same replicates can be subtracted.
    """

    documents: float  # for other documents
    queries: float  # for other queries
    shared: float  # the part of `documents` specific to single queries; it is in `queries`, too
    target: float  # for other documents in a set of the target size
    n_queries: int  # of the mean
    halves: tuple[float, ...] = ()
    target_halves: tuple[float, ...] = ()
    model: float = 0.0  # of the model that extrapolates to another size

    def variance(self, estimand: Estimand) -> float:
        """Return the variance of the difference between estimate and truth."""
        if estimand == "documents":
            return self.documents + self.target + self.model
        if not self.documents:
            return self.queries + self.model
        alike = (self.documents - self.shared) * (1 + self.target / self.documents)
        return self.queries + max(alike, 0.0) + self.model


def interval(
    value: float,
    spread: Spread,
    estimand: Estimand,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
    """Return an interval around an estimate for an estimand, inside `bounds`."""
    from scipy.special import stdtrit

    # Documents have an effect through queries with relevant ones among them, so the number of
    # queries determines how precisely a variance is known.
    factor = float(stdtrit(max(spread.n_queries - 1, 1), (1 + level) / 2))
    half = factor * math.sqrt(spread.variance(estimand))
    # A mean between 0 and 1 varies less near the ends, so an estimate that is too high by chance
    # has a variance that is too small. At m it is taken as proportional to (m - a)(b - m).
    return wilson_bounds(value, value - half, value + half, bounds)


def document_spread(
    table: RankTable,
    lists: Numbers,
    sample: Numbers,
    measures: Sequence[Measure],
    values: Floats,
    *,
    depth: int,
    replicates: int = 500,
    seed: int = 0,
    ratio: float = 1.0,
    groups: Ints | None = None,
) -> tuple[Spread, ...]:
    """Return the variances for each measure, from pairs of lists without some of the documents.

    `lists` (queries × places) rank the documents of the `sample`, and the means of `values`
    (measures × queries) are the estimates. If the target is `ratio` times as large as the sample,
    both parts of a few pairs are extrapolated to it. `groups` are left out as a whole.
    """
    leaders = np.arange(len(sample))  # documents of a group have the lot of its first one
    if groups is not None:
        _, first, group = np.unique(groups[sample], return_index=True, return_inverse=True)
        leaders = first[group]
    reach = places_that_matter(lists.shape[1], measures, ratio)
    reader = _Reader.make(table, lists[:, :reach], sample)
    absolute = np.array([measure.family in _ABSOLUTE for measure in measures])
    halves = np.empty((2, len(measures), replicates, table.n_queries))
    step = max(_CELLS // max(len(reader.used), len(table), table.n_queries * reach // 8, 1), 8)
    for begin in range(0, replicates, step):
        some = slice(begin, min(begin + step, replicates))
        lots = _lots(len(sample), some.stop - begin, seed, begin, leaders[reader.used])
        for mine, out in ((~absolute, _LEFT_OUT), (absolute, _LEFT_OUT_ABSOLUTE)):
            chosen = [measure for measure, own in zip(measures, mine, strict=True) if own]
            if chosen:
                for half, weights in zip(halves, _without(lots, out), strict=True):
                    half[mine, some] = reader.read(weights, chosen, depth)
    scales = [_scale(_LEFT_OUT_ABSOLUTE if own else _LEFT_OUT) for own in absolute]
    spreads = [
        _spread(halves[:, row], values[row], ratio, scale) for row, scale in enumerate(scales)
    ]
    if abs(ratio - 1) > SAME_SIZE:
        resized = reader.carry(measures, ratio, depth, len(sample), seed, leaders)
        for row, gaps in enumerate(resized):
            if len(gaps):
                documents, model = float((gaps**2).mean()), model_variance(ratio)
                spreads[row] = spreads[row]._replace(
                    documents=documents, halves=tuple(gaps.tolist()), model=model
                )
    return tuple(spreads)


def _lots(documents: int, replicates: int, seed: int, first: int, rows: Ints) -> NDArray[np.uint8]:
    """Draw a lot from 0 to 255 for each document; return those of some rows × replicates."""
    drawn = []
    for r in range(first, first + replicates):
        generator = np.random.default_rng([seed, 0x68616C66, r])
        drawn.append(np.frombuffer(generator.bytes(documents), np.uint8)[rows])
    return np.ascontiguousarray(np.array(drawn).T)


def _without(lots: NDArray[np.uint8], out: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return weights without the documents of the lowest lots, and without those of the highest."""
    return (lots >= out).astype(np.uint8), (lots < _LOTS - out).astype(np.uint8)


def _scale(out: int) -> float:
    """Return the factor of a difference for which its mean square is the variance."""
    share = out / _LOTS
    return (1 - share) / math.sqrt(2 * share)


def places_that_matter(places: int, measures: Sequence[Measure], ratio: float = 1.0) -> int:
    """Return the number of places of a list that can matter when a third of the documents is gone.

    In a target smaller than the sample, documents from far below come to the top.
    """
    cutoffs = [measure.cutoff for measure in measures]
    if any(cutoff is None for cutoff in cutoffs):
        return places
    wanted = 4 * max(int(cutoff) for cutoff in cutoffs if cutoff is not None) + 40
    return min(places, math.ceil(wanted / min(ratio, 1.0)))


def _spread(halves: Floats, values: Floats, ratio: float, scale: float) -> Spread:
    """Return the variances of one measure from both parts of each pair (2 × replicates × queries).

    The effect of documents on a mean is the sum of their effects on single queries. Its square
    without the products of two queries is the part that is specific to single queries.
    """
    there = np.isfinite(halves)
    times = np.maximum(there.sum(axis=2), 1)
    means = np.where(there, halves, 0.0).sum(axis=2) / times
    centred = np.where(there, halves - means[..., None], 0.0) / times[..., None]
    gap = scale * (means[0] - means[1])
    documents, known = float((gap**2).mean()), values[np.isfinite(values)]
    shared = scale**2 * float(((centred[0] - centred[1]) ** 2).sum(axis=1).mean())
    return Spread(
        documents,
        float(known.var(ddof=1)) / len(known) if len(known) > 1 else 0.0,
        min(shared, documents),
        documents / ratio,
        len(known),
        tuple(gap.tolist()),
        tuple((gap / math.sqrt(ratio)).tolist()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Evaluates ranked lists with only some of the documents."""

    used: Ints  # the documents of the sample that matter: one row of weights each
    places: Ints  # for each listed document its row of weights
    ends: Flags
    query: Ints  # for each judgement in the sample
    grade: Ints
    weight_row: Ints
    rank: Ints  # its place in the list, from 1; 0: not there
    answered: Flags  # queries that have a relevant document somewhere in the collection

    @classmethod
    def make(cls, table: RankTable, lists: Numbers, sample: Numbers) -> _Reader:
        where = np.full(int(max(lists.max(initial=0), sample.max(), table.documents.max())) + 1, -1)
        where[sample] = np.arange(len(sample))
        rows = np.flatnonzero(where[table.documents] >= 0)
        listed, judged = where[np.maximum(lists, 0)], where[table.documents[rows]]
        used, row = np.unique(np.concatenate((listed.ravel(), judged)), return_inverse=True)
        return cls(
            used,
            row[: listed.size].reshape(listed.shape),
            lists < 0,
            table.queries[rows],
            table.grades[rows],
            row[listed.size :],
            ranks_in(table, lists)[rows],
            table.answered(),
        )

    def read(self, weights: NDArray[np.uint8], measures: Sequence[Measure], depth: int) -> Floats:
        """Return measures × replicates × queries."""
        before, retrieved = self._standing(weights)
        times, shape = weights[self.weight_row].T, (len(measures), -1, len(self.places))
        step, parts = max(_TOGETHER // max(len(self.rank), 1), 1), []
        for begin in range(0, len(times), step):
            part = slice(begin, begin + step)
            rows = self._rows(times[part], before[part])
            values = measure_rows(rows, retrieved[part].ravel(), measures, depth)
            parts.append(values.reshape(shape))
        return np.concatenate(parts, axis=1)

    def carry(
        self,
        measures: Sequence[Measure],
        ratio: float,
        depth: int,
        size: int,
        seed: int,
        leaders: Ints,
    ) -> list[Floats]:
        """Return scaled differences of the extrapolated means of both parts, per measure."""
        means = np.full((2, len(measures), _CARRIED), np.nan)
        lots = _lots(size, _CARRIED, seed, 1 << 20, leaders)
        for half, part in enumerate(_without(lots, _LEFT_OUT)):
            for r in range(_CARRIED):
                weights, left = part[self.used, r : r + 1], int(part[:, r].sum())
                before, _ = self._standing(weights)
                rows = self._rows(weights[self.weight_row].T, before)
                if (rows.grade > 0).any():
                    means[half, :, r] = extrapolate(
                        rows,
                        len(self.places),
                        ratio * size / left,  # the target size stays the same
                        measures,
                        n_documents=left,
                        depth=depth,
                        seed=seed + r,
                        draws=10,
                        steps=_QUICK,
                        answered=self.answered,
                    )
        gaps = _scale(_LEFT_OUT) * (means[0] - means[1])
        return [gap[np.isfinite(gap)] for gap in gaps]

    def _standing(self, weights: NDArray[np.uint8]) -> tuple[NDArray[np.int32], Ints]:
        """Return documents before each judgement, per replicate, and retrieved ones per query."""
        replicates, queries = weights.shape[1], len(self.places)
        before = np.zeros((replicates, len(self.rank)), np.int32)
        total = np.zeros((queries, replicates), np.int32)
        by_rank = np.argsort(self.rank, kind="stable")
        longest = int(np.flatnonzero(~self.ends.all(axis=0)).max(initial=-1)) + 1
        bounds = np.searchsorted(self.rank[by_rank], np.arange(1, longest + 2))
        for place in range(longest):  # all queries at once: there are many queries and few places
            mine = by_rank[bounds[place] : bounds[place + 1]]
            before[:, mine] = total[self.query[mine]].T
            standing = weights[self.places[:, place]]
            standing[self.ends[:, place]] = 0
            total += standing
        return before, total.T.astype(np.int64)

    def _rows(self, times: NDArray[np.uint8], before: NDArray[np.int32]) -> Rows:
        """Return the judged documents of each replicate, repeated by weight."""
        often = times.ravel().astype(np.int64)
        rows = np.repeat(np.arange(len(often)), often)
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(often) - often, often)
        replicate, judgement = np.divmod(rows, len(self.rank))
        rank = np.where(self.rank[judgement] > 0, before.ravel()[rows] + nth + 1, 0)
        query = replicate * len(self.places) + self.query[judgement]
        return Rows(query, self.grade[judgement], rank)
