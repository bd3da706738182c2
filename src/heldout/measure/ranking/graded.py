"""Measures of ranked lists that use grades: gains, discounts, and user models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.base import Gains, Share, Within, measure
from heldout.measure.ranking.judged import Judged, count_up, first_rows, over

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Floats, Ints

GREATEST_EXPONENT: Final = 1000
Given = Gains | None
Dcg = Annotated[
    Literal["log2", "exp-log2", "classic"],
    {"trec": "log2", "exp": "exp-log2", "burges": "exp-log2", "jarvelin": "classic"},
]
Base = Annotated[float, Within(1.0001, 1e9, "a number above 1")]
Grade = Annotated[int, Within(0, 1000, "an integer from 0 to 1000")]


def gain_of(grade: Ints, gains: Given, *, exponential: bool = False) -> Floats:
    """Return the gain of each grade: the grade itself, 2^grade - 1, or the entry in `gains`.

    Unjudged documents and negative grades have no gain.
    """
    base = np.where(grade >= 0, grade, 0).astype(np.float64)
    if exponential and base.max(initial=0) > GREATEST_EXPONENT:
        raise MeasureError(
            f"grade {base.max():g} is too large for the gain 2^grade - 1: set gains={{grade: gain}}"
        )
    value = np.exp2(base) - 1 if exponential else base
    for own, gain in gains or ():
        value[grade == own] = gain
    return value


def discount(dcg: str, base: float) -> Callable[[Ints], Floats]:
    """Return the function from ranks (from 1) to the divisors of gains."""
    scale = np.log2(base)
    if dcg == "classic":  # Järvelin & Kekäläinen 2002: no discount above rank `base`
        return lambda rank: np.where(rank < base, 1.0, np.log2(np.maximum(rank, 1)) / scale)
    return lambda rank: np.log2(rank + 1.0) / scale


class _Ideal(NamedTuple):
    """The best possible list of every query: positive gains, descending."""

    query: Ints
    rank: Ints
    gain: Floats


def ideal_list(
    judged: Judged, gains: Given, k: int | None = None, *, exponential: bool = False
) -> _Ideal:
    """Return the judged documents of every query by descending gain, the first `k` of them.

    Only the number of documents of each grade matters, so only grades are sorted.
    """
    grades, counts = judged.grade_counts()
    gain = gain_of(grades, gains, exponential=exponential)
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0]
    counts = counts[:, order]
    if k is not None:
        above = np.cumsum(counts, axis=1) - counts
        counts = np.clip(k - above, 0, counts)
    per_query = counts.sum(axis=1)
    query = np.repeat(np.arange(len(judged)), per_query)
    values = np.repeat(np.tile(gain[order], len(judged)), counts.ravel())
    return _Ideal(query, count_up(query, len(judged)), values)


@measure("DCG", "ranking", bounds=(0.0, np.inf), cutoff="optional")
def discounted_gain(
    judged: Judged, k: int | None, *, dcg: Dcg = "log2", gains: Given = None, base: Base = 2.0
) -> Floats:
    """Discounted cumulative gain.

    Formula: Σ_{i≤k} g_i / log2(i+1)
    """
    gain = gain_of(judged.grade, gains, exponential=dcg == "exp-log2")
    divide = discount(dcg, base)
    keep = gain != 0
    if k is not None:
        keep &= judged.rank <= k
    return judged.total(judged.query[keep], gain[keep] / divide(judged.rank[keep]))


@measure(
    "IDCG",
    "ranking",
    aliases=("ideal_dcg",),
    bounds=(0.0, np.inf),
    higher_is_better=None,
    cutoff="optional",
)
def ideal_discounted_gain(
    judged: Judged, k: int | None, *, dcg: Dcg = "log2", gains: Given = None, base: Base = 2.0
) -> Floats:
    """Discounted cumulative gain of the best possible list.

    Formula: Σ_{i≤k} g*_i / log2(i+1)
    """
    best = ideal_list(judged, gains, k, exponential=dcg == "exp-log2")
    return judged.total(best.query, best.gain / discount(dcg, base)(best.rank))


@measure("nDCG", "ranking", cutoff="optional")
def normalised_gain(
    judged: Judged, k: int | None, *, dcg: Dcg = "log2", gains: Given = None, base: Base = 2.0
) -> Floats:
    """Discounted cumulative gain divided by that of the best possible list.

    ``dcg`` is ``log2`` (trec_eval: gain = grade, discount log2(rank + 1)), ``exp-log2`` (Burges:
    gain = 2^grade - 1) or ``classic`` (Järvelin & Kekäläinen 2002: gain = grade, ranks above
    ``base`` not discounted, then log(rank)).

    Formula: DCG / DCG*; gain g_i = grade, or 2^grade - 1 (dcg='exp-log2')
    """
    best = ideal_discounted_gain(judged, k, dcg=dcg, gains=gains, base=base)
    gain = discounted_gain(judged, k, dcg=dcg, gains=gains, base=base)
    # No list is better than the ideal one; rounding may exceed it.
    return np.minimum(over(gain, best), 1.0)


def _running(query: Ints, values: Floats, queries: int) -> Floats:
    """Return running sums that restart with each query."""
    sums = np.cumsum(values)
    first = first_rows(query, queries)[query]
    before: Floats = np.append(0.0, sums)[first]
    return sums - before


def _ideal_sums(best: _Ideal, values: Floats, judged: Judged) -> Callable[[Ints, Ints], Floats]:
    """Return a function that sums `values` over the first documents of the ideal list."""
    counts = np.bincount(best.query, minlength=len(judged))
    first = first_rows(best.query, len(judged))
    running = np.append(_running(best.query, values, len(judged)), 0.0)

    def at(query: Ints, depth: Ints) -> Floats:
        last = np.minimum(depth, counts[query])
        return np.where(last > 0, running[first[query] + np.maximum(last, 1) - 1], 0.0)

    return at


@measure("nDCGrel", "ranking")
def gain_at_relevant(judged: Judged, *, gains: Given = None) -> Floats:
    """NDCG averaged over the ranks of the relevant documents (trec_eval, experimental).

    Formula: mean of nDCG@i over the ranks i of relevant documents
    """
    best = ideal_list(judged, gains)
    ideal = _ideal_sums(best, best.gain / np.log2(best.rank + 1.0), judged)
    number = np.bincount(best.query, minlength=len(judged))
    gain = gain_of(judged.grade, gains)
    dcg = _running(judged.query, gain / np.log2(judged.rank + 1.0), len(judged))
    rows = gain > 0
    query, rank = judged.query[rows], judged.rank[rows]
    retrieved, total = judged.total(query), judged.total(query, over(dcg[rows], ideal(query, rank)))
    whole = np.arange(len(judged))
    last = discounted_gain(judged, None, gains=gains)
    total += over((number - retrieved) * last, ideal(whole, number))
    return np.minimum(over(total, number), 1.0)  # running sums may exceed 1 by rounding


@measure("Rndcg", "ranking")
def gain_at_levels(judged: Judged, *, rel: int = 1, gains: Given = None) -> Floats:
    """NDCG averaged over the ranks where the ideal list changes grade (trec_eval, experimental).

    Formula: mean of nDCG@i over the ranks i where the ideal list changes grade
    """
    best = ideal_list(judged, gains)
    ideal = _ideal_sums(best, best.gain / np.log2(best.rank + 1.0), judged)
    number = np.bincount(best.query, minlength=len(judged))
    # The last document of each run of equal gains in the ideal list.
    ends = np.ones(len(best.query), np.bool_)
    ends[:-1] = (best.query[1:] != best.query[:-1]) | (best.gain[1:] != best.gain[:-1])
    query, depth = best.query[ends], best.rank[ends]
    value = over(_dcg_at(judged, gains, query, depth), ideal(query, depth))
    total = judged.total(query, value)
    points = judged.total(query)
    whole = np.arange(len(judged))
    last = over(discounted_gain(judged, None, gains=gains), ideal(whole, number))
    goes_on = (judged.retrieved > number + 1) & (number > 0)
    total += np.where(goes_on, last, 0.0)
    mean = np.minimum(over(total, points + goes_on), 1.0)  # may exceed 1 by rounding
    return np.where(judged.relevant(rel) > 0, mean, 0.0)


def _dcg_at(judged: Judged, gains: Given, query: Ints, depth: Ints) -> Floats:
    """Return the DCG of the run's first `depth` documents of each given query."""
    gain = gain_of(judged.grade, gains) / np.log2(judged.rank + 1.0)
    running = np.append(_running(judged.query, gain, len(judged)), 0.0)
    first = first_rows(judged.query, len(judged))
    # Rows are sorted by (query, rank), so one sorted key gives the number of rows above a depth.
    width = int(max(judged.rank.max(initial=0), depth.max(initial=0))) + 1
    above = np.searchsorted(judged.query * width + judged.rank, query * width + depth, "right")
    inside = above - first[query]
    return np.where(inside > 0, running[np.maximum(above, 1) - 1], 0.0)


@measure("G", "ranking")
def normalised_cost_gain(judged: Judged, *, gains: Given = None) -> Floats:
    """G: gain over log2(2 + excess gain of the ideal list so far) (trec_eval, experimental).

    Formula: Σ_i g_i / log2(2 + C_i - Σ_{j≤i} g_j) / Σ_i g*_i, C_i = Σ_{j≤i} max(g*_j, 1)
    """
    best = ideal_list(judged, gains)
    gain = gain_of(judged.grade, gains)
    number = np.bincount(best.query, minlength=len(judged))
    cost_of_best = _ideal_sums(best, np.maximum(best.gain, 1.0), judged)
    cost = cost_of_best(judged.query, judged.rank)
    cost += np.maximum(judged.rank - number[judged.query], 0)
    got = _running(judged.query, gain, len(judged))
    rows = gain != 0
    value = gain[rows] / np.log2(2 + cost[rows] - got[rows])
    return over(judged.total(judged.query[rows], value), judged.total(best.query, best.gain))


def _unit_gain(judged: Judged, rel: int | None, gains: Given, normalise: str) -> Floats:
    """Return gains between 0 and 1: binary relevance, or the grade divided by the highest one."""
    if rel is not None:
        return ((judged.grade >= rel) & (judged.grade >= 0)).astype(np.float64)
    gain = gain_of(judged.grade, gains)
    every = gain_of(judged.all_grade, gains)
    low = min(0.0, min((value for _, value in gains or ()), default=0.0))
    high = max(1.0, max((value for _, value in gains or ()), default=1.0))
    if normalise == "query":
        top = np.full(len(judged), high)
        np.maximum.at(top, judged.all_query, every)
        scale = top[judged.query] - low
    else:
        scale = np.full(len(gain), max(high, float(every.max(initial=high))) - low)
    return np.where(judged.grade >= 0, (gain - low) / scale, 0.0)


def _powers(p: float, ranks: Ints) -> Floats:
    """Return 1, p, p², … up to the highest rank, multiplied one by one as in trec_eval."""
    return np.append(1.0, np.cumprod(np.full(ranks.max(initial=0), p)))


@measure("RBP", "ranking", cutoff="optional")
def rank_biased_precision(
    judged: Judged,
    k: int | None,
    *,
    p: Share = 0.8,
    rel: int | None = None,
    gains: Given = None,
    normalise: Literal["all", "query"] = "all",
) -> Floats:
    """Rank-biased precision: (1 - p) times the sum of gain · p^(rank - 1).

    The gain is the grade divided by the highest grade in the qrels (``normalise='query'``: of the
    query, as in trec_eval), or with ``rel`` 1 for a relevant document and 0 otherwise.

    Formula: (1-p) Σ_i g_i p^{i-1}
    """
    gain = _unit_gain(judged, rel, gains, normalise)
    weight = _powers(p, judged.rank)[judged.rank - 1]
    if k is not None:
        weight = np.where(judged.rank <= k, weight, 0.0)
    return (1 - p) * judged.total(judged.query, gain * weight)


@measure("RBPResidual", "ranking", aliases=("rbp_resid", "RBPres"), higher_is_better=None)
def rank_biased_residual(judged: Judged, *, p: Share = 0.8, complete: bool = True) -> Floats:
    """Increase of RBP if all unjudged and unretrieved documents were relevant.

    trec_eval ignores the ranks after the end of a list in which all documents are judged
    (``complete=False``).

    Formula: (1-p) Σ_{i unjudged} p^{i-1} + p^n
    """
    known = judged.hits(0)
    power = _powers(p, judged.retrieved)
    query = np.repeat(np.arange(len(judged)), judged.retrieved)
    unjudged = np.ones(len(query), np.bool_)
    first = np.cumsum(judged.retrieved) - judged.retrieved
    unjudged[first[known.query] + known.rank - 1] = False
    query, rank = query[unjudged], count_up(query, len(judged))[unjudged]
    # Summed in this form, not as 1 - judged part, so that the last digit agrees with trec_eval.
    residual = power[judged.retrieved] + (1 - p) * judged.total(query, power[rank - 1])
    if complete:
        return np.minimum(residual, 1.0)  # powers may exceed 1 by rounding
    return np.where(judged.total(query) > 0, residual, 0.0)


@measure("ERR", "ranking", cutoff="optional")
def expected_reciprocal_rank(judged: Judged, k: int | None, *, top: Grade | None = None) -> Floats:
    """Expected reciprocal rank of the document at which a user stops (Chapelle et al. 2009).

    A document of grade g satisfies with probability (2^g - 1) / 2^top; ``top`` is by default the
    highest grade in the qrels (gdeval and ir_measures use 4).

    Formula: Σ_{i≤k} 1/i · s_i Π_{j<i} (1-s_j), s_i = (2^grade - 1) / 2^top
    """
    keep = judged.grade > 0
    if k is not None:
        keep &= judged.rank <= k
    query, rank = judged.query[keep], judged.rank[keep]
    scale = judged.top_grade if top is None else top
    # (2^grade - 1) / 2^scale without large intermediate numbers
    stop = np.minimum(np.exp2(np.minimum(judged.grade[keep] - scale, 1.0)) - 2.0**-scale, 1.0)
    go_on = np.ones(len(judged))
    value = np.zeros(len(judged))
    nth = count_up(query, len(judged))
    for step in range(1, int(nth.max(initial=0)) + 1):  # the step-th documents of all queries
        rows = nth == step
        value[query[rows]] += go_on[query[rows]] * stop[rows] / rank[rows]
        go_on[query[rows]] *= 1 - stop[rows]
    return value
