"""Counts, measures of retrieved sets, and the share of judged documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.measure.ranking.judged import over
from heldout.measure.ranking.names import family

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Floats
    from heldout.measure.ranking.judged import Judged

    Compute = Callable[..., Floats]

__all__: list[str] = []

_COUNT = (0.0, np.inf)


def _count(name: str, *aliases: str) -> Callable[[Compute], Compute]:
    return family(
        name,
        aliases=aliases,
        cutoff="none",
        aggregate="sum",
        bounds=_COUNT,
        higher_is_better=None,
        integral=True,
    )


@_count("NumQ", "num_q")
def queries(judged: Judged, k: None) -> Floats:
    """Number of queries."""
    del k
    return np.ones(len(judged))


@_count("NumRet", "num_ret")
def retrieved(judged: Judged, k: None, *, rel: int | None = None) -> Floats:
    """Number of documents retrieved, or with ``rel`` of relevant ones."""
    if rel is not None:
        return relevant_retrieved(judged, k, rel=rel)
    return judged.retrieved.astype(np.float64)


@_count("NumRel", "num_rel")
def relevant(judged: Judged, k: None, *, rel: int = 1) -> Floats:
    """Number of relevant documents."""
    del k
    return judged.relevant(rel).astype(np.float64)


@_count("NumRelRet", "num_rel_ret")
def relevant_retrieved(judged: Judged, k: None, *, rel: int = 1) -> Floats:
    """Number of relevant documents retrieved."""
    del k
    return judged.total(judged.hits(rel).query)


@_count("NumNonrelJudgedRet", "num_nonrel_judged_ret")
def nonrelevant_judged_retrieved(judged: Judged, k: None, *, rel: int = 1) -> Floats:
    """Number of documents retrieved that are judged not relevant."""
    del k
    return judged.total(judged.hits(0).query) - judged.total(judged.hits(rel).query)


@_count("NumUnjudgedRet", "num_nonjudged_ret")
def unjudged_retrieved(judged: Judged, k: None) -> Floats:
    """Number of documents retrieved that have no judgement."""
    del k
    return judged.retrieved - judged.total(judged.hits(0).query)


@family("Judged", aliases=["judged"], higher_is_better=None)
def judged_share(judged: Judged, k: int | None) -> Floats:
    """Share of the first k retrieved documents that is judged."""
    depth = judged.retrieved if k is None else np.minimum(judged.retrieved, k)
    return over(judged.total(judged.hits(0).above(k).query), depth)


@family("Unjudged", aliases=["unj"], cutoff="rank", higher_is_better=None)
def unjudged_share(judged: Judged, k: int) -> Floats:
    """Documents without a judgement among the first k, divided by k."""
    known = judged.total(judged.hits(0).above(k).query)
    return (np.minimum(judged.retrieved, k) - known) / k


@family("SetP", aliases=["set_P"], cutoff="none")
def set_precision(judged: Judged, k: None, *, rel: int = 1, relative: bool = False) -> Floats:
    """Precision of the retrieved set.

    With ``relative`` it is divided by the best possible value for a set of this size (SetRelP).
    """
    if relative:
        return set_relative_precision(judged, k, rel=rel)
    return over(judged.total(judged.hits(rel).query), judged.retrieved)


@family("SetR", aliases=["set_recall"], cutoff="none")
def set_recall(judged: Judged, k: None, *, rel: int = 1) -> Floats:
    """Recall of the retrieved set."""
    del k
    return over(judged.total(judged.hits(rel).query), judged.relevant(rel))


@family("SetRelP", aliases=["set_relative_P"], cutoff="none")
def set_relative_precision(judged: Judged, k: None, *, rel: int = 1) -> Floats:
    """Precision of the retrieved set, relative to the best possible for a set of this size."""
    del k
    best = np.minimum(judged.retrieved, judged.relevant(rel))
    return over(judged.total(judged.hits(rel).query), best)


@family("SetAP", aliases=["set_map"], cutoff="none")
def set_average_precision(judged: Judged, k: None, *, rel: int = 1) -> Floats:
    """Precision times recall of the retrieved set."""
    del k
    found = judged.total(judged.hits(rel).query)
    return over(found * found, judged.retrieved * judged.relevant(rel).astype(np.float64))


@family("SetF", aliases=["set_F"], cutoff="none")
def set_f_measure(judged: Judged, k: None, *, beta: float = 1.0, rel: int = 1) -> Floats:
    """F of the retrieved set: (b+1)PR / (R + bP), b = beta, as in trec_eval."""
    p = set_precision(judged, k, rel=rel)
    r = set_recall(judged, k, rel=rel)
    return over((beta + 1) * p * r, beta * p + r)


@family(
    "Utility",
    aliases=["utility"],
    cutoff="none",
    bounds=(-np.inf, np.inf),
)
def utility(
    judged: Judged,
    k: None,
    *,
    rel: int = 1,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    docs: int = 0,
) -> Floats:
    """Linear utility: a per relevant retrieved, b other retrieved, c missed, d the rest."""
    del k
    found, ret, all_relevant = (
        judged.total(judged.hits(rel).query),
        judged.retrieved,
        judged.relevant(rel),
    )
    rest = docs + found - ret - all_relevant
    return a * found + b * (ret - found) + c * (all_relevant - found) + d * rest


@family("RelString", aliases=["relstring"], aggregate="text", higher_is_better=None)
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
    return np.array(["".join(one) for one in lists], dtype=object)
