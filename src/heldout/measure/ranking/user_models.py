"""Measures by models of users: C/W/L measures, compatibility, and accuracy of pairs.

A C/W/L measure (Moffat, Bailey, Scholer & Thomas 2017) is the expected gain per document examined,
for users who go from rank i to rank i + 1 with probability C(i). Gains are grades scaled to 0…1 by
``min_rel`` and ``max_rel`` (by default the highest grade in the qrels). Values are those of
cwl-eval, which examines 1000 ranks; documents without a judgement have no gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.base import NotNegative, Share, Within, measure
from heldout.measure.ranking.judged import count_up, over

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Flags, Floats, Ints
    from heldout.measure.ranking.judged import Judged

Top = int | None  # the grade with gain 1; None: the highest in the qrels
Half = Annotated[float, Within(0.5, 1e9, "a number of at least 0.5")]
DEPTH: Final = 1000  # the ranks that a user may examine, as in cwl-eval
_BLOCK: Final = 1 << 20  # gains held in memory together


def _expected_gain(
    judged: Judged,
    min_rel: int,
    max_rel: Top,
    goes_on: Callable[[Floats, Floats], Floats],
    depth: int = DEPTH,
) -> Floats:
    """Return the expected gain per document examined; C is a function of gains and ranks."""
    top = judged.top_grade if max_rel is None else max_rel
    if top <= min_rel:
        raise MeasureError(f"must be less than max_rel ({top})", argument="min_rel", value=min_rel)
    grade = np.clip(np.maximum(judged.grade, 0), min_rel, top)
    gain = np.where(judged.grade >= 0, (grade - min_rel) / (top - min_rel), 0.0)
    depth = min(depth, DEPTH)
    rank = np.arange(1.0, depth + 1)
    values = np.zeros(len(judged))
    step = max(1, _BLOCK // depth)
    for first in range(0, len(judged), step):
        last = min(first + step, len(judged))
        begin, end = np.searchsorted(judged.query, (first, last))
        rows = np.arange(begin, end)[judged.rank[begin:end] <= depth]
        gains = np.zeros((last - first, depth))
        gains[judged.query[rows] - first, judged.rank[rows] - 1] = gain[rows]
        examined = np.ones_like(gains)
        chance = np.broadcast_to(goes_on(gains, rank), gains.shape)
        np.cumprod(chance[:, :-1], axis=1, out=examined[:, 1:])
        values[first:last] = (examined * gains).sum(axis=1) / examined.sum(axis=1)
    return np.minimum(values, 1.0)  # means may exceed 1 by rounding


def _more_patient(rank: Floats, T: float) -> Floats:
    return np.square((rank + 2 * T - 1) / (rank + 2 * T))


@measure("INST", "ranking")
def inst(judged: Judged, *, T: Half = 1.0, min_rel: int = 0, max_rel: Top = None) -> Floats:
    """Users look for T relevant documents, and are less patient the more they found.

    Moffat, Bailey, Scholer & Thomas 2015.

    Formula: Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = ((i + T + T_i - 1) / (i + T + T_i))², T_i = T -
    Σ_{j≤i} g_j
    """

    def goes_on(gains: Floats, rank: Floats) -> Floats:
        left = rank + T + (T - np.cumsum(gains, axis=1))
        return np.square((left - 1) / left)

    return _expected_gain(judged, min_rel, max_rel, goes_on)


@measure("INSQ", "ranking")
def insq(judged: Judged, *, T: NotNegative = 1.0, min_rel: int = 0, max_rel: Top = None) -> Floats:
    """Users look for T relevant documents, and are more patient the deeper they are.

    Moffat, Scholer & Thomas 2012.

    Formula: Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = ((i + 2T - 1) / (i + 2T))²
    """
    return _expected_gain(judged, min_rel, max_rel, lambda _, rank: _more_patient(rank, T))


@measure("BPM", "ranking", cutoff="rank")
def bejeweled_player(
    judged: Judged, k: int, *, T: NotNegative = 1.0, min_rel: int = 0, max_rel: Top = None
) -> Floats:
    """Users stop when they have found a gain of T, or at rank k (Zhang et al. 2017, static).

    Formula: Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = [Σ_{j≤i} g_j < T and i < k]
    """
    return _expected_gain(
        judged, min_rel, max_rel, lambda g, _: np.where(np.cumsum(g, axis=1) < T, 1.0, 0.0), k
    )


@measure("SDCG", "ranking", cutoff="rank")
def scaled_gain(judged: Judged, k: int, *, min_rel: int = 0, max_rel: Top = None) -> Floats:
    """Users go on with the discounts of DCG down to rank k: DCG over that of k best documents.

    Formula: Σ_{i≤k} g_i / log2(i+1) / Σ_{i≤k} 1 / log2(i+1)
    """
    return _expected_gain(
        judged, min_rel, max_rel, lambda _, rank: np.log(rank + 1) / np.log(rank + 2), k
    )


@measure("NERR8", "ranking", cutoff="rank")
def nearly_err_8(judged: Judged, k: int, *, min_rel: int = 0, max_rel: Top = None) -> Floats:
    """Users are satisfied by a document with the probability of its gain, and stop at rank k.

    Azzopardi, Mackenzie & Moffat 2021, equation 8; the next three are equations 9 to 11.

    Formula: Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = (1 - g_i) [i < k]
    """
    return _expected_gain(judged, min_rel, max_rel, lambda gains, _: 1 - gains, k)


@measure("NERR9", "ranking", cutoff="rank")
def nearly_err_9(judged: Judged, k: int, *, min_rel: int = 0, max_rel: Top = None) -> Floats:
    """Users of NERR8 who also tire as in ERR.

    Formula: Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = (1 - g_i) i / (i+1) [i < k]
    """
    return _expected_gain(judged, min_rel, max_rel, lambda g, rank: rank / (rank + 1) * (1 - g), k)


@measure("NERR10", "ranking")
def nearly_err_10(
    judged: Judged, *, p: Share = 0.9, min_rel: int = 0, max_rel: Top = None
) -> Floats:
    """Users of NERR8 who also go on with probability p only, as in RBP.

    Formula: Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = p (1 - g_i)
    """
    return _expected_gain(judged, min_rel, max_rel, lambda gains, _: p * (1 - gains))


@measure("NERR11", "ranking")
def nearly_err_11(
    judged: Judged, *, T: NotNegative = 1.0, min_rel: int = 0, max_rel: Top = None
) -> Floats:
    """Users of NERR8 who also go on as in INSQ, looking for T relevant documents.

    Formula: Σ_i W_i g_i, W_{i+1} = W_i C_i, C_i = ((i + 2T - 1) / (i + 2T))² (1 - g_i)
    """
    return _expected_gain(
        judged, min_rel, max_rel, lambda gains, rank: _more_patient(rank, T) * (1 - gains)
    )


@measure("Compat", "ranking", aliases=("compatibility",))
def compatibility(judged: Judged, *, p: Share = 0.95, normalize: bool = True) -> Floats:
    """Users compare the list with an ideal one, rank by rank: rank-biased overlap of the two.

    They go on with probability p. The ideal list has the relevant documents by grade, equal grades
    in the order of the run (Clarke, Vtyurina & Smucker 2021). ``normalize`` divides by the highest
    possible value.

    Formula: RBO(list, ideal) / RBO(ideal, ideal), RBO = Σ_i p^{i-1} |first i of both| / i
    """
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
    nth[order] = count_up(group[order], counts.size)
    ideal: Ints = better[query, level] + nth
    return ideal


@measure("Accuracy", "ranking", cutoff="optional")
def pair_accuracy(judged: Judged, k: int | None, *, rel: int = 1) -> Floats:
    """Share of pairs of a relevant and another retrieved document that are in the right order.

    Among the first k documents. 0 without a relevant document (ir_measures leaves such queries
    out), and 1 if all are relevant.

    Formula: pairs of a relevant document above another / (r (n - r))
    """
    hits = judged.hits(rel).above(k)
    length = judged.retrieved if k is None else np.minimum(judged.retrieved, k)
    relevant = judged.total(hits.query)
    wrong = judged.total(hits.query, hits.rank - hits.nth)
    pairs = relevant * (length - relevant)
    return np.where(relevant > 0, 1 - over(wrong, pairs), 0.0)
