"""Measures by models of users: C/W/L measures, compatibility, and accuracy of pairs.

A C/W/L measure (Moffat, Bailey, Scholer & Thomas 2017) is the expected gain per document examined,
for users who go from rank i to rank i + 1 with probability C(i). Gains are grades scaled to 0…1 by
``min_rel`` and ``max_rel`` (by default the highest grade in the qrels). Values are those of
cwl-eval, which examines 1000 ranks; documents without a judgement have no gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.ranking.judged import over
from heldout.measure.ranking.names import family

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heldout.data.words import Flags, Floats, Ints
    from heldout.measure.ranking.judged import Judged

__all__: list[str] = []

DEPTH: Final = 1000
"""The ranks that a user may examine, as in cwl-eval."""

_BLOCK: Final = 1 << 20
"""Gains held in memory together."""


def _scaled(judged: Judged, min_rel: int, max_rel: int | None) -> Floats:
    """Return the gain of each retrieved judged document, from 0 to 1."""
    top = judged.top_grade if max_rel is None else max_rel
    if top <= min_rel:
        raise MeasureError(f"min_rel={min_rel} must be less than max_rel={top}")
    grade = np.clip(np.maximum(judged.grade, 0), min_rel, top)
    gain: Floats = np.where(judged.grade >= 0, (grade - min_rel) / (top - min_rel), 0.0)
    return gain


def _expected_gain(
    judged: Judged, gain: Floats, depth: int, continuation: Callable[[Floats, Floats], Floats]
) -> Floats:
    """Return the expected gain per document examined.

    Parameters
    ----------
    continuation
        Function of gains (queries × ranks) and ranks to the probabilities C of going on.
    """
    rank = np.arange(1.0, depth + 1)
    values = np.zeros(len(judged))
    for first, gains in _tables(judged, gain, depth):
        examined = np.ones_like(gains)
        np.cumprod(continuation(gains, rank)[:, :-1], axis=1, out=examined[:, 1:])
        mean = (examined * gains).sum(axis=1) / examined.sum(axis=1)
        values[first : first + len(gains)] = mean
    return np.minimum(values, 1.0)  # means may exceed 1 by rounding


def _tables(judged: Judged, gain: Floats, depth: int) -> Iterator[tuple[int, Floats]]:
    """Yield the gains at all ranks (queries × ranks), and the first query of each block."""
    step = max(1, _BLOCK // depth)
    for first in range(0, len(judged), step):
        last = min(first + step, len(judged))
        begin, end = np.searchsorted(judged.query, (first, last))
        rows = np.arange(begin, end)[judged.rank[begin:end] <= depth]
        table = np.zeros((last - first, depth))
        table[judged.query[rows] - first, judged.rank[rows] - 1] = gain[rows]
        yield first, table


def _static(table: Floats, like: Floats) -> Floats:
    """Return a continuation that does not depend on the gains, for every query."""
    return np.broadcast_to(table, like.shape)


@family("INST", cutoff="none")
def inst(
    judged: Judged,
    k: None,
    *,
    T: float = 1.0,  # noqa: N803 - the symbol of the paper
    min_rel: int = 0,
    max_rel: int | None = None,
) -> Floats:
    """Users look for T relevant documents, and are less patient the more they found.

    C(i) = ((i + T + T_i - 1) / (i + T + T_i))², T_i = T minus the gain down to rank i
    (Moffat, Bailey, Scholer & Thomas 2015).
    """
    del k
    if T < 0.5:
        raise MeasureError(f"INST: T={T:g}, expected a number of at least 0.5")

    def goes_on(gains: Floats, rank: Floats) -> Floats:
        left = rank + T + (T - np.cumsum(gains, axis=1))
        return np.square((left - 1) / left)

    return _expected_gain(judged, _scaled(judged, min_rel, max_rel), DEPTH, goes_on)


@family("INSQ", cutoff="none")
def insq(
    judged: Judged,
    k: None,
    *,
    T: float = 1.0,  # noqa: N803
    min_rel: int = 0,
    max_rel: int | None = None,
) -> Floats:
    """Users look for T relevant documents, and are more patient the deeper they are.

    C(i) = ((i + 2T - 1) / (i + 2T))² (Moffat, Scholer & Thomas 2012).
    """
    del k
    return _expected_gain(
        judged,
        _scaled(judged, min_rel, max_rel),
        DEPTH,
        lambda gains, rank: _static(np.square((rank + 2 * T - 1) / (rank + 2 * T)), gains),
    )


@family("BPM", cutoff="rank")
def bejeweled_player(
    judged: Judged,
    k: int,
    *,
    T: float = 1.0,  # noqa: N803
    min_rel: int = 0,
    max_rel: int | None = None,
) -> Floats:
    """Users stop when they have found a gain of T, or at rank k (Zhang et al. 2017, static)."""
    depth = min(k, DEPTH)
    return _expected_gain(
        judged,
        _scaled(judged, min_rel, max_rel),
        depth,
        lambda gains, rank: np.where(np.cumsum(gains, axis=1) < T, 1.0, 0.0),  # noqa: ARG005
    )


@family("SDCG", cutoff="rank")
def scaled_gain(judged: Judged, k: int, *, min_rel: int = 0, max_rel: int | None = None) -> Floats:
    """Users go on with the discounts of DCG down to rank k: DCG over that of k best documents.

    C(i) = log(i + 1) / log(i + 2) for i < k.
    """
    return _expected_gain(
        judged,
        _scaled(judged, min_rel, max_rel),
        min(k, DEPTH),
        lambda gains, rank: _static(np.log(rank + 1) / np.log(rank + 2), gains),
    )


@family("NERR8", cutoff="rank")
def nearly_err_8(judged: Judged, k: int, *, min_rel: int = 0, max_rel: int | None = None) -> Floats:
    """Users are satisfied by a document with the probability of its gain, and stop at rank k.

    C(i) = 1 - gain(i) for i < k (Azzopardi, Mackenzie & Moffat 2021, equation 8).
    """
    return _expected_gain(
        judged,
        _scaled(judged, min_rel, max_rel),
        min(k, DEPTH),
        lambda gains, rank: 1 - gains,  # noqa: ARG005
    )


@family("NERR9", cutoff="rank")
def nearly_err_9(judged: Judged, k: int, *, min_rel: int = 0, max_rel: int | None = None) -> Floats:
    """Users of NERR8 who also tire as in ERR.

    C(i) = (1 - gain(i)) · i / (i + 1) for i < k (Azzopardi et al. 2021, equation 9).
    """
    return _expected_gain(
        judged,
        _scaled(judged, min_rel, max_rel),
        min(k, DEPTH),
        lambda gains, rank: rank / (rank + 1) * (1 - gains),
    )


@family("NERR10", cutoff="none")
def nearly_err_10(
    judged: Judged, k: None, *, p: float = 0.9, min_rel: int = 0, max_rel: int | None = None
) -> Floats:
    """Users of NERR8 who also go on with probability p only, as in RBP.

    C(i) = p (1 - gain(i)) (Azzopardi et al. 2021, equation 10).
    """
    del k
    return _expected_gain(
        judged,
        _scaled(judged, min_rel, max_rel),
        DEPTH,
        lambda gains, rank: p * (1 - gains),  # noqa: ARG005
    )


@family("NERR11", cutoff="none")
def nearly_err_11(
    judged: Judged,
    k: None,
    *,
    T: float = 1.0,  # noqa: N803
    min_rel: int = 0,
    max_rel: int | None = None,
) -> Floats:
    """Users of NERR8 who also go on as in INSQ, looking for T relevant documents.

    C(i) = ((i + 2T - 1) / (i + 2T))² (1 - gain(i)) (Azzopardi et al. 2021, equation 11).
    """
    del k
    return _expected_gain(
        judged,
        _scaled(judged, min_rel, max_rel),
        DEPTH,
        lambda gains, rank: np.square((rank + 2 * T - 1) / (rank + 2 * T)) * (1 - gains),
    )


@family("Compat", aliases=["compatibility"], cutoff="none")
def compatibility(judged: Judged, k: None, *, p: float = 0.95, normalize: bool = True) -> Floats:
    """Users compare the list with an ideal one, rank by rank: rank-biased overlap of the two.

    They go on with probability p. The ideal list has the relevant documents by grade, equal grades
    in the order of the run (Clarke, Vtyurina & Smucker 2021). ``normalize`` divides by the highest
    possible value.
    """
    del k
    relevant = judged.relevant(1)
    depth = np.maximum(judged.retrieved, relevant)
    rank = np.arange(1, int(depth.max(initial=0)) + 1)
    weight = np.append(0.0, np.cumsum(p ** (rank - 1.0)))
    shared = np.append(0.0, np.cumsum(p ** (rank - 1.0) / rank))
    hit = judged.grade > 0
    query = judged.query[hit]
    both = np.maximum(judged.rank[hit], _ideal_rank(judged, hit))
    overlap = judged.total(query, shared[depth[query]] - shared[both - 1])
    highest = weight[depth]
    if normalize:
        highest = weight[relevant] + relevant * (shared[depth] - shared[relevant])
    return np.clip(over(overlap, highest), 0.0, 1.0)  # differences of sums are rounded


def _ideal_rank(judged: Judged, hit: Flags) -> Ints:
    """Return the rank of retrieved relevant documents in the ideal list."""
    grades, counts = judged.grade_counts()
    better = counts[:, ::-1].cumsum(axis=1)[:, ::-1] - counts  # documents of a higher grade
    query, grade = judged.query[hit], judged.grade[hit]
    level = np.searchsorted(grades, grade)
    group = query * len(grades) + level
    order = np.argsort(group, kind="stable")
    nth = np.empty(len(order), np.int64)
    sizes = np.bincount(group, minlength=counts.size)
    first = np.cumsum(sizes) - sizes
    nth[order] = np.arange(1, len(order) + 1) - first[group[order]]
    ideal: Ints = better[query, level] + nth
    return ideal


@family("Accuracy")
def pair_accuracy(judged: Judged, k: int | None, *, rel: int = 1) -> Floats:
    """Share of pairs of a relevant and another retrieved document that are in the right order.

    Among the first k documents. 0 without a relevant document (ir_measures leaves such queries
    out), and 1 if all are relevant.
    """
    hits = judged.hits(rel).above(k)
    length = judged.retrieved if k is None else np.minimum(judged.retrieved, k)
    relevant = judged.total(hits.query)
    wrong = judged.total(hits.query, hits.rank - hits.nth)
    pairs = relevant * (length - relevant)
    return np.where(relevant > 0, 1 - over(wrong, pairs), 0.0)
