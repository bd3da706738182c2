"""Measures of diversity and novelty: how well a list covers the subtopics of a query.

They need judgements by subtopic. Relevance is binary, and subtopics without a relevant document are
ignored. Values are those of TREC's ndeval, with two differences:
any cutoff is allowed, and alpha_DCG@1 and ERR_IA@1 are normalised too.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.base import Share, measure
from heldout.measure.ranking.judged import count_up, over

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.qrels import Subtopics
    from heldout.data.words import Floats, Ints
    from heldout.measure.ranking.judged import Judged

# The ideal list is found greedily, so that a system may be better: its gain is submodular, hence
# the greedy list has at least 1 - 1/e of the highest possible gain.
_HIGHEST: Final = (0.0, 1 / (1 - math.exp(-1)))


_diversity = partial(measure, task="ranking", needs="subtopics")


class _Covered(NamedTuple):
    """Pairs of a document and a subtopic that it is relevant to, ordered by query and rank."""

    query: Ints
    rank: Ints
    subtopic: Ints  # its number among all subtopics of all queries
    nth: Ints  # how often the list has covered it down to this document (from 1)


class _Relevant(NamedTuple):
    """The relevant documents of every subtopic, ordered by their rows in the qrels."""

    row: Ints
    query: Ints
    subtopic: Ints
    subtopics: Ints  # of each query, those that have a relevant document
    documents: Ints  # the number of relevant ones of each subtopic


def _subtopics(judged: Judged) -> tuple[Subtopics, Ints]:
    """Return the judgements by subtopic, and the retrieved rows."""
    if judged.subtopics is None or judged.row is None:
        raise MeasureError(
            "measures of diversity need judgements by subtopic: give the path of qrels whose "
            "second column is the subtopic, or heldout.read_qrels(path, subtopics=True)"
        )
    return judged.subtopics, judged.row


def _relevant(judged: Judged, rel: int) -> _Relevant:
    key = ("subtopics", rel)
    if key not in judged._cache:  # noqa: SLF001 - the cache of all measures
        by_subtopic, _ = _subtopics(judged)
        keep = (by_subtopic.grade >= rel) & (by_subtopic.grade >= 0)
        row = by_subtopic.row[keep]
        query = judged.all_query[row]
        code = query * len(by_subtopic.names) + by_subtopic.subtopic[keep]
        known, subtopic, documents = np.unique(code, return_inverse=True, return_counts=True)
        per_query = np.bincount(known // len(by_subtopic.names), minlength=len(judged))
        judged._cache[key] = _Relevant(row, query, subtopic, per_query, documents)  # noqa: SLF001
    return judged._cache[key]  # type: ignore[return-value]  # noqa: SLF001


def _covered(judged: Judged, rel: int, k: int | None) -> _Covered:
    """Return what the run covers down to rank `k`."""
    _, retrieved = _subtopics(judged)
    relevant = _relevant(judged, rel)
    inside = np.ones(len(retrieved), np.bool_) if k is None else judged.rank <= k
    first = np.searchsorted(relevant.row, retrieved[inside], "left")
    counts = np.searchsorted(relevant.row, retrieved[inside], "right") - first
    before = np.cumsum(counts) - counts
    pairs = np.repeat(first - before, counts) + np.arange(counts.sum())
    query, rank = (np.repeat(column[inside], counts) for column in (judged.query, judged.rank))
    return _numbered(query, rank, relevant.subtopic[pairs])


def _numbered(query: Ints, rank: Ints, subtopic: Ints) -> _Covered:
    """Count how often each subtopic has been covered."""
    order = np.argsort(subtopic, kind="stable")
    nth = np.empty(len(order), np.int64)
    nth[order] = count_up(subtopic[order], int(subtopic.max(initial=-1)) + 1)
    return _Covered(query, rank, subtopic, nth)


def _ideal(judged: Judged, rel: int, k: int | None, alpha: float) -> _Covered:
    """Return what the ideal list covers: at each rank the document with the highest gain.

    As in ndeval: the best possible list is too expensive to find; of documents with equal gain,
    the one with the greatest id comes first.
    """
    relevant = _relevant(judged, rel)
    bounds = np.searchsorted(relevant.query, np.arange(len(judged) + 1))
    parts = [
        _ideal_of_query(relevant.row[a:z], relevant.subtopic[a:z], k, alpha)
        for a, z in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]
    sizes = [len(rank) for rank, _ in parts]
    query = np.repeat(np.arange(len(judged)), sizes)
    rank, subtopic = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _numbered(query, rank, subtopic)


def _ideal_of_query(row: Ints, subtopic: Ints, k: int | None, alpha: float) -> tuple[Ints, Ints]:
    """Return ranks and subtopics of the ideal list of one query."""
    documents, doc = np.unique(row, return_inverse=True)
    local, code = np.unique(subtopic, return_inverse=True)
    covers = np.zeros((len(local), len(documents)), np.bool_)
    covers[code, doc] = True
    gains = np.ones(len(local))
    open_documents = np.ones(len(documents), np.bool_)
    rank, chosen = [], []
    for place in range(1, min(len(documents), k or len(documents)) + 1):
        score = np.zeros(len(documents))
        for topic in range(len(local)):  # added one by one, so that ties are those of ndeval
            score[covers[topic]] += gains[topic]
        best = int(np.argmax(np.where(open_documents, score, -1.0)))
        open_documents[best] = False
        new = np.flatnonzero(covers[:, best])
        gains[new] *= 1 - alpha
        rank += [place] * len(new)
        chosen += local[new].tolist()
    return np.array(rank, np.int64), np.array(chosen, np.int64)


def _gain(covered: _Covered, alpha: float) -> Floats:
    """Return the gain of each pair: less for a subtopic that has been covered before."""
    return np.asarray(np.power(1 - alpha, covered.nth - 1))


def _log_discount(rank: Ints) -> Floats:
    return np.asarray(1 / np.log2(rank + 1.0))


def _per_subtopic(
    judged: Judged, k: int, rel: int, alpha: float, discount: Callable[[Ints], Floats]
) -> Floats:
    """Return the discounted gain over that of a list that covers all subtopics at every rank."""
    covered = _covered(judged, rel, k)
    total = judged.total(covered.query, _gain(covered, alpha) * discount(covered.rank))
    # After so many ranks the gain of a subtopic covered at all of them is negligible.
    deep = 10**6 if alpha < 1e-4 else int(60 / alpha)
    ranks = np.arange(1, min(k, deep) + 1)
    complete = float(np.sum(np.power(1 - alpha, ranks - 1) * discount(ranks)))
    return np.minimum(over(total, _relevant(judged, rel).subtopics * complete), 1.0)  # rounding


def _of_ideal(
    judged: Judged, k: int | None, rel: int, alpha: float, discount: Callable[[Ints], Floats]
) -> Floats:
    """Return the discounted gain over that of the ideal list."""
    covered, ideal = _covered(judged, rel, k), _ideal(judged, rel, k, alpha)
    total, best = (
        judged.total(pairs.query, _gain(pairs, alpha) * discount(pairs.rank))
        for pairs in (covered, ideal)
    )
    return over(total, best)


@_diversity("alpha_DCG", aliases=("α_DCG",), cutoff="rank")
def alpha_gain(judged: Judged, k: int, *, rel: int = 1, alpha: Share = 0.5) -> Floats:
    """DCG with less gain for subtopics already covered (Clarke et al. 2008).

    The n-th document of a subtopic has the gain (1 - alpha)^(n - 1). The sum is divided by that of
    a list in which every document covers every subtopic, so that it does not depend on the
    collection.

    Formula: Σ_{i≤k} Σ_s rel_{i,s} (1-α)^{c_s(i-1)} / log2(i+1) / (S Σ_{i≤k} (1-α)^{i-1} /
    log2(i+1)); S subtopics, c_s(i): documents of s down to rank i
    """
    return _per_subtopic(judged, k, rel, alpha, _log_discount)


@_diversity("alpha_nDCG", aliases=("α_nDCG",), cutoff="rank", bounds=_HIGHEST)
def normalised_alpha_gain(judged: Judged, k: int, *, rel: int = 1, alpha: Share = 0.5) -> Floats:
    """alpha_DCG divided by that of the ideal list, found greedily (Clarke et al. 2008).

    Formula: Σ_{i≤k} Σ_s rel_{i,s} (1-α)^{c_s(i-1)} / log2(i+1), over the same of the ideal list
    """
    return _of_ideal(judged, k, rel, alpha, _log_discount)


@_diversity("ERR_IA", cutoff="rank")
def intent_aware_err(judged: Judged, k: int, *, rel: int = 1, alpha: Share = 0.5) -> Floats:
    """ERR averaged over subtopics; a user stops with probability alpha (Chapelle et al. 2009).

    Divided by the value of a list in which every document covers every subtopic.

    Formula: Σ_{i≤k} Σ_s rel_{i,s} (1-α)^{c_s(i-1)} / i / (S Σ_{i≤k} (1-α)^{i-1} / i)
    """
    return _per_subtopic(judged, k, rel, alpha, lambda rank: 1.0 / rank)


@_diversity("nERR_IA", cutoff="rank", bounds=_HIGHEST)
def normalised_intent_aware_err(
    judged: Judged, k: int, *, rel: int = 1, alpha: Share = 0.5
) -> Floats:
    """ERR_IA divided by that of the ideal list, found greedily (Chapelle et al. 2009).

    Formula: Σ_{i≤k} Σ_s rel_{i,s} (1-α)^{c_s(i-1)} / i, over the same of the ideal list
    """
    return _of_ideal(judged, k, rel, alpha, lambda rank: 1.0 / rank)


@_diversity("NRBP")
def novelty_precision(
    judged: Judged, *, rel: int = 1, alpha: Share = 0.5, beta: Share = 0.5
) -> Floats:
    """RBP with less gain for subtopics already covered; beta is patience (Clarke et al. 2009).

    Formula: (1 - (1-α) β) / S · Σ_i β^{i-1} Σ_s rel_{i,s} (1-α)^{c_s(i-1)}
    """
    covered = _covered(judged, rel, None)
    gain = _gain(covered, alpha) * np.power(beta, covered.rank - 1)
    total = judged.total(covered.query, gain) * (1 - (1 - alpha) * beta)
    return over(total, _relevant(judged, rel).subtopics)


@_diversity("nNRBP", bounds=_HIGHEST)
def normalised_novelty_precision(
    judged: Judged, *, rel: int = 1, alpha: Share = 0.5, beta: Share = 0.5
) -> Floats:
    """NRBP divided by that of the ideal list, found greedily (Clarke et al. 2009).

    Formula: NRBP / NRBP*
    """
    return _of_ideal(judged, None, rel, alpha, lambda rank: np.power(beta, rank - 1))


@_diversity("AP_IA", aliases=("MAP_IA",))
def intent_aware_ap(judged: Judged, *, rel: int = 1) -> Floats:
    """AP averaged over subtopics (Agrawal et al. 2009).

    Formula: 1/S Σ_s AP_s
    """
    covered, relevant = _covered(judged, rel, None), _relevant(judged, rel)
    precision = covered.nth / covered.rank / relevant.documents[covered.subtopic]
    return over(judged.total(covered.query, precision), relevant.subtopics)


@_diversity("P_IA", cutoff="rank")
def intent_aware_precision(judged: Judged, k: int, *, rel: int = 1) -> Floats:
    """Precision at k averaged over subtopics (Agrawal et al. 2009).

    Formula: 1/S Σ_s P_s@k
    """
    covered = _covered(judged, rel, k)
    return over(judged.total(covered.query) / k, _relevant(judged, rel).subtopics)


@_diversity("StRecall", aliases=("strec",), cutoff="optional")
def subtopic_recall(judged: Judged, k: int | None, *, rel: int = 1) -> Floats:
    """Share of subtopics covered by the first k documents (Zhai et al. 2003).

    Formula: subtopics covered by documents 1 … k / S
    """
    covered = _covered(judged, rel, k)
    return over(judged.total(covered.query[covered.nth == 1]), _relevant(judged, rel).subtopics)
