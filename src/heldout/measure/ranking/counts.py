"""Counts, measures of retrieved sets, and the share of judged documents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from heldout.measure.base import NotNegative, measure
from heldout.measure.ranking.judged import over

if TYPE_CHECKING:
    from heldout.data.words import Floats
    from heldout.measure.ranking.judged import Judged

_count = partial(
    measure, task="ranking", how="sum", bounds=(0.0, np.inf), higher_is_better=None, integral=True
)


@_count("NumQ")
def queries(judged: Judged) -> Floats:
    """Number of queries."""
    return np.ones(len(judged))


@_count("NumRet")
def retrieved(judged: Judged, *, rel: int | None = None) -> Floats:
    """Number of documents retrieved, or with ``rel`` of relevant ones."""
    if rel is not None:
        return relevant_retrieved(judged, rel=rel)
    return judged.retrieved.astype(np.float64)


@_count("NumRel")
def relevant(judged: Judged, *, rel: int = 1) -> Floats:
    """Number of relevant documents."""
    return judged.relevant(rel).astype(np.float64)


@_count("NumRelRet")
def relevant_retrieved(judged: Judged, *, rel: int = 1) -> Floats:
    """Number of relevant documents retrieved."""
    return judged.total(judged.hits(rel).query)


@_count("NumNonrelJudgedRet")
def nonrelevant_judged_retrieved(judged: Judged, *, rel: int = 1) -> Floats:
    """Number of documents retrieved that are judged not relevant."""
    return judged.total(judged.hits(0).query) - judged.total(judged.hits(rel).query)


@_count("NumUnjudgedRet", aliases=("num_nonjudged_ret",))
def unjudged_retrieved(judged: Judged) -> Floats:
    """Number of documents retrieved that have no judgement."""
    return judged.retrieved - judged.total(judged.hits(0).query)


@measure("Judged", "ranking", higher_is_better=None, cutoff="optional")
def judged_share(judged: Judged, k: int | None) -> Floats:
    """Share of the first k retrieved documents that is judged.

    Formula: Σ_{i≤k} [document i is judged] / min(k, n)
    """
    depth = judged.retrieved if k is None else np.minimum(judged.retrieved, k)
    return over(judged.total(judged.hits(0).above(k).query), depth)


@measure("Unjudged", "ranking", aliases=("unj",), cutoff="rank", higher_is_better=None)
def unjudged_share(judged: Judged, k: int) -> Floats:
    """Documents without a judgement among the first k, divided by k.

    Formula: Σ_{i≤k} [document i has no judgement] / k
    """
    known = judged.total(judged.hits(0).above(k).query)
    return (np.minimum(judged.retrieved, k) - known) / k


@measure("SetP", "ranking")
def set_precision(judged: Judged, *, rel: int = 1, relative: bool = False) -> Floats:
    """Precision of the retrieved set.

    With ``relative`` it is divided by the best possible value for a set of this size (SetRelP).

    Formula: r / n
    """
    if relative:
        return set_relative_precision(judged, rel=rel)
    return over(judged.total(judged.hits(rel).query), judged.retrieved)


@measure("SetR", "ranking", aliases=("set_recall",))
def set_recall(judged: Judged, *, rel: int = 1) -> Floats:
    """Recall of the retrieved set.

    Formula: r / R
    """
    return over(judged.total(judged.hits(rel).query), judged.relevant(rel))


@measure("SetRelP", "ranking", aliases=("set_relative_P",))
def set_relative_precision(judged: Judged, *, rel: int = 1) -> Floats:
    """Precision of the retrieved set, relative to the best possible for a set of this size.

    Formula: r / min(n, R)
    """
    best = np.minimum(judged.retrieved, judged.relevant(rel))
    return over(judged.total(judged.hits(rel).query), best)


@measure("SetAP", "ranking", aliases=("set_map",))
def set_average_precision(judged: Judged, *, rel: int = 1) -> Floats:
    """Precision times recall of the retrieved set.

    Formula: (r / n) · (r / R)
    """
    hits = judged.total(judged.hits(rel).query)
    return over(hits * hits, judged.retrieved * judged.relevant(rel).astype(np.float64))


@measure("SetF", "ranking")
def set_f_measure(judged: Judged, *, beta: NotNegative = 1.0, rel: int = 1) -> Floats:
    """F of the retrieved set: (b+1)PR / (R + bP), b = beta, as in trec_eval.

    Formula: (β + 1) P R / (R + β P), P = SetP, R = SetR
    """
    p = set_precision(judged, rel=rel)
    r = set_recall(judged, rel=rel)
    return over((beta + 1) * p * r, beta * p + r)


@measure("Utility", "ranking", bounds=(-np.inf, np.inf))
def utility(
    judged: Judged,
    *,
    rel: int = 1,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    docs: int = 0,
) -> Floats:
    """Linear utility: a per relevant retrieved, b other retrieved, c missed, d the rest.

    Formula: a r + b (n - r) + c (R - r) + d (N - n - R + r)
    """
    hits, all_relevant = judged.total(judged.hits(rel).query), judged.relevant(rel)
    ret = judged.retrieved
    rest = docs + hits - ret - all_relevant
    return a * hits + b * (ret - hits) + c * (all_relevant - hits) + d * rest


@measure("RelString", "ranking", cutoff="optional", how="text", higher_is_better=None)
def relevance_string(judged: Judged, k: int | None) -> Floats:
    """Grades of the first k documents (default 10) as text: ``-`` unjudged, ``.`` pooled."""
    depth = 10 if k is None else k
    lengths = np.minimum(judged.retrieved, depth)
    lists = [["-"] * int(length) for length in lengths]
    keep = judged.rank <= depth
    rows = zip(judged.query[keep], judged.rank[keep], judged.grade[keep], strict=True)
    for query, rank, grade in rows:
        mark = "." if grade < 0 else (">" if grade > 9 else str(grade))
        lists[query][rank - 1] = mark
    return np.array(["".join(marks) for marks in lists], dtype=object)
