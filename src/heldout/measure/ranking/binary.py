"""Measures of ranked lists with binary relevance.

Each is a function of the judged rows (`Judged`), the cutoff and its parameters, and returns one
number per query. Sums run in rank order and divisions are those of trec_eval, so that its four
printed digits agree in every case. Graded measures are in `graded`, plain counts in `counts`,
measures by subtopic in `diversity`, other models of users in `user_models`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from heldout.measure.base import NotNegative, Positive, Within, measure
from heldout.measure.ranking.judged import first_rows, over

if TYPE_CHECKING:
    from heldout.data.words import Floats, Ints
    from heldout.measure.ranking.judged import Judged

_EPSILON = 1e-5  # infAP's smoothing
Levels = Annotated[str, Within(0.0, 1.0, "numbers from 0 to 1, as '0,.5,1'")]


@measure("P", "ranking", aliases=("precision", "prec"), cutoff="rank")
def precision(judged: Judged, k: int, *, rel: int = 1) -> Floats:
    """Precision: relevant documents among the first k, divided by k.

    Formula: Σ_{i≤k} rel_i / k
    """
    return judged.total(judged.hits(rel).above(k).query) / k


@measure("R", "ranking", aliases=("recall",), cutoff="rank")
def recall(judged: Judged, k: int, *, rel: int = 1) -> Floats:
    """Recall: the share of the relevant documents that is among the first k.

    Formula: Σ_{i≤k} rel_i / R
    """
    return over(judged.total(judged.hits(rel).above(k).query), judged.relevant(rel))


@measure("F", "ranking", aliases=("f1", "f_measure"), cutoff="rank")
def f_measure(judged: Judged, k: int, *, beta: Positive = 1.0, rel: int = 1) -> Floats:
    """F: weighted harmonic mean of precision and recall at k; beta weights recall.

    Formula: (1 + β²) P R / (β² P + R), P = P@k, R = R@k
    """
    hits, all_relevant = judged.total(judged.hits(rel).above(k).query), judged.relevant(rel)
    # (1+b²)PR / (b²P+R) with P = found/k and R = found/relevant, so that 0/0 does not occur
    return over((1 + beta**2) * hits, (beta**2 * all_relevant + k) * (hits > 0))


@measure("RelP", "ranking", aliases=("relative_P",), cutoff="rank")
def relative_precision(judged: Judged, k: int, *, rel: int = 1) -> Floats:
    """Relative precision: precision at k divided by the best possible value at k.

    Formula: Σ_{i≤k} rel_i / min(k, R)
    """
    best = np.minimum(k, judged.relevant(rel))
    return over(judged.total(judged.hits(rel).above(k).query), best)


@measure("Success", "ranking", aliases=("HitRate", "hit", "HR"), cutoff="rank")
def success(judged: Judged, k: int, *, rel: int = 1) -> Floats:
    """Success: 1 if a relevant document is among the first k, else 0.

    Formula: [Σ_{i≤k} rel_i > 0]
    """
    return (judged.total(judged.hits(rel).above(k).query) > 0).astype(np.float64)


@measure("RR", "ranking", aliases=("MRR", "recip_rank", "reciprocal_rank"), cutoff="optional")
def reciprocal_rank(judged: Judged, k: int | None, *, rel: int = 1) -> Floats:
    """Reciprocal rank of the first relevant document; 0 if there is none.

    Formula: 1 / min {i: rel_i = 1}
    """
    hits = judged.hits(rel).above(k)
    first = hits.nth == 1
    return judged.total(hits.query[first], 1 / hits.rank[first])


@measure("AP", "ranking", aliases=("MAP", "average_precision"), cutoff="optional")
def average_precision(judged: Judged, k: int | None, *, rel: int = 1) -> Floats:
    """Average precision: sum of precision at each relevant document, over all relevant ones.

    Formula: Σ_i rel_i P(i) / R
    """
    hits = judged.hits(rel).above(k)
    return over(judged.total(hits.query, hits.nth / hits.rank), judged.relevant(rel))


@measure("GMAP", "ranking", aliases=("gm_map",), how="geometric")
def geometric_average_precision(judged: Judged, *, rel: int = 1) -> Floats:
    """AP averaged geometrically over queries, with values of at least 0.00001.

    Formula: exp(mean over queries of log max(AP, 0.00001))
    """
    return average_precision(judged, None, rel=rel)


@measure("SmoothAP", "ranking", aliases=("yaap",), bounds=(-np.inf, np.inf))
def smoothed_average_precision(judged: Judged, *, rel: int = 1) -> Floats:
    """Robertson's smoothed AP, log((1 + s) / (1 + R - s)) with s the sum of precisions.

    Formula: log((1 + s) / (1 + R - s)), s = Σ_i rel_i P(i)
    """
    hits = judged.hits(rel)
    total = judged.total(hits.query, hits.nth / hits.rank)
    return np.log((1 + total) / (1 + judged.relevant(rel) - total))


@measure("Rprec", "ranking", aliases=("r-precision",))
def r_precision(judged: Judged, *, rel: int = 1, times: NotNegative = 1.0) -> Floats:
    """R-precision: precision at rank R (or `times` R), R being the number of relevant documents.

    Formula: P(R)
    """
    relevant, hits = judged.relevant(rel), judged.hits(rel)
    # trec_eval rounds the rank up, unless the fraction is below a tenth.
    depth = relevant if times == 1 else (times * relevant + 0.9).astype(np.int64)
    return over(judged.total(hits.query[hits.rank <= depth[hits.query]]), depth)


@measure("Bpref", "ranking")
def binary_preference(judged: Judged, *, rel: int = 1) -> Floats:
    """Bpref: how rarely judged non-relevant documents are ranked above relevant ones.

    Formula: 1/R Σ_{relevant d} (1 - min(N_d, R) / min(N, R)); N: judged not relevant, N_d: of
    these above d
    """
    hits, relevant = judged.hits(rel), judged.relevant(rel)
    nonrelevant = judged.relevant(0) - relevant
    above = _nonrelevant_above(judged, rel)
    limit = np.minimum(nonrelevant, relevant)[hits.query]
    spoilt = over(np.minimum(above, relevant[hits.query]).astype(np.float64), limit)
    kept = np.where(above > 0, 1 - spoilt, 1.0)
    return over(judged.total(hits.query, kept), relevant)


def _nonrelevant_above(judged: Judged, rel: int) -> Ints:
    """Return, for each hit, the number of judged non-relevant documents ranked above it."""
    known = judged.grade >= 0
    all_above: Ints = np.cumsum(known) - known  # known rows before each row
    hit_rows = np.flatnonzero((judged.grade >= rel) & known)
    hits = judged.hits(rel)
    first = first_rows(judged.query, len(judged))[hits.query]
    above: Ints = all_above[hit_rows] - np.append(all_above, 0)[first] - (hits.nth - 1)
    return above


@measure("gm_bpref", "ranking", how="geometric")
def geometric_binary_preference(judged: Judged, *, rel: int = 1) -> Floats:
    """Bpref averaged geometrically over queries, with values of at least 0.00001.

    Formula: exp(mean over queries of log max(Bpref, 0.00001))
    """
    return binary_preference(judged, rel=rel)


@measure("infAP", "ranking")
def inferred_average_precision(judged: Judged, *, rel: int = 1) -> Floats:
    """Inferred AP for judgements that are a sample of a pool (negative grade: not sampled).

    Formula: 1/R Σ_i rel_i (1/i + (i-1)/i · d_i/(i-1) · (r_i + ε) / (r_i + n_i + 2ε)); above i:
    d_i pooled, r_i relevant, n_i not
    """
    hits = judged.hits(rel)
    hit_rows = np.flatnonzero((judged.grade >= rel) & (judged.grade >= 0))
    pooled = hit_rows - first_rows(judged.query, len(judged))[hits.query]  # above each hit
    nonrelevant = _nonrelevant_above(judged, rel)
    before = hits.rank - 1.0
    relevant_above = hits.nth - 1
    share = (relevant_above + _EPSILON) / (relevant_above + nonrelevant + 2 * _EPSILON)
    inner = over(pooled.astype(np.float64), before)
    expected = 1 / (before + 1) + (before / (before + 1)) * inner * share
    return over(
        judged.total(hits.query, np.where(before == 0, 1.0, expected)), judged.relevant(rel)
    )


def hits_for_recall(recall_level: float, relevant: Ints) -> Ints:
    """Return the number of relevant documents at a recall level: rounded half up (C's lround)."""
    exact = recall_level * relevant
    whole = np.floor(exact)
    rounded: Ints = (whole + (exact - whole >= 0.5)).astype(np.int64)
    return rounded


@measure("IPrec", "ranking", aliases=("iprec_at_recall",), cutoff="recall")
def interpolated_precision(judged: Judged, recall_level: float, *, rel: int = 1) -> Floats:
    """Interpolated precision: the highest precision at this recall or beyond.

    Formula: max {P(i): recall at i ≥ the level}
    """
    relevant, hits = judged.relevant(rel), judged.hits(rel)
    counts = np.bincount(hits.query, minlength=len(judged))
    needed = hits_for_recall(recall_level, relevant)
    reached = (needed <= counts) & (counts > 0)
    values = np.zeros(len(judged))
    if reached.any():
        first = first_rows(hits.query, len(judged))[reached]
        begin = first + np.maximum(needed[reached], 1) - 1
        spans = np.stack((begin, first + counts[reached]), axis=1).ravel()
        curve = np.append(hits.nth / hits.rank, 0.0)
        values[reached] = np.maximum.reduceat(curve, spans)[::2]
    return values


@measure("IPrec11", "ranking", aliases=("11pt_avg", "11pt"))
def eleven_point_average(
    judged: Judged, *, rel: int = 1, levels: Levels = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"
) -> Floats:
    """Interpolated precision averaged over recall levels, by default 0, 0.1, …, 1.

    Formula: mean of IPrec at 0, 0.1, …, 1
    """
    steps = [float(level) for level in levels.split(",")]
    total = np.zeros(len(judged))
    for step in reversed(steps):  # the order in which trec_eval sums
        total += interpolated_precision(judged, step, rel=rel)
    return total / len(steps)


@measure("binG", "ranking")
def binary_gain(judged: Judged, *, rel: int = 1) -> Floats:
    """Binary G: mean over relevant documents of 1 / log2(2 + non-relevant documents above).

    Formula: 1/R Σ_i rel_i / log2(2 + not relevant above i)
    """
    hits = judged.hits(rel)
    value = 1 / np.log2(2.0 + hits.rank - hits.nth)
    return over(judged.total(hits.query, value), judged.relevant(rel))
