"""Every measure once more, as plain loops over one ranked list, and random lists to try them on.

Nothing here is clever: each function follows its definition, so that a slip in the vectorised
code shows as a difference. `Query.ranked` holds the grades in rank order, None where a document
is not in the qrels; a negative grade means "pooled, not judged".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from heldout import evaluate, parse_measures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Judgements = Mapping[str, Mapping[str, int]]
    Ranked = Mapping[str, Mapping[str, float]]

DOCS = [f"d{number}" for number in range(14)]
GRADES = st.sampled_from([-2, -1, 0, 0, 1, 1, 1, 2, 3, 4])
TIED_SCORES = st.integers(-2, 4).map(lambda number: number / 2)


@dataclass(frozen=True)
class Query:
    ranked: tuple[int | None, ...]
    judged: tuple[int, ...]
    everywhere: tuple[int, ...]
    """The grades of all queries together."""


def in_order(scores: Mapping[str, float]) -> list[str]:
    """Score descending, then document id descending, bytewise: trec_eval's order."""
    by_id = sorted(scores, key=str.encode, reverse=True)
    return sorted(by_id, key=lambda doc: -scores[doc])


def queries_of(qrels: Judgements, run: Ranked) -> dict[str, Query]:
    everywhere = tuple(grade for judged in qrels.values() for grade in judged.values())
    return {
        query: Query(
            tuple(judged.get(doc) for doc in in_order(run.get(query, {}))),
            tuple(judged.values()),
            everywhere,
        )
        for query, judged in qrels.items()
    }


@st.composite
def collections(draw, scores=TIED_SCORES, grades=GRADES, docs=DOCS):
    """Qrels and a run: ties, unretrieved and unjudged documents, queries on one side only."""
    judged = st.dictionaries(st.sampled_from(docs), grades, min_size=1, max_size=12)
    ranked = st.dictionaries(st.sampled_from(docs), scores, min_size=1, max_size=12)
    qrels = {"q1": draw(judged)}
    run = {"q1": draw(ranked)}
    if draw(st.booleans()):
        qrels["q2"] = draw(judged)
    if draw(st.booleans()):
        run["q2"] = draw(ranked)
    if draw(st.booleans()):
        qrels["q3"], run["q3"] = draw(judged), draw(ranked)
    return qrels, run


@st.composite
def without_ties(draw, grades=GRADES):
    """The same with all scores of a query different."""
    qrels, run = draw(collections(grades=grades))
    distinct = {}
    for query, ranked in run.items():
        order = draw(st.permutations(sorted(ranked)))
        distinct[query] = {doc: float(-place) for place, doc in enumerate(order)}
    return qrels, distinct


def named(definition: Callable[..., object], names: str):
    """Return measures with their definition, which gets the parameters that a name sets."""
    found = {}
    for measure in parse_measures(names, "ranking"):
        usual = {one.name: one.default for one in measure.definition.parameters}
        given = {key: one for key, one in measure.parameters.items() if one != usual[key]}
        if "gains" in given:
            given["gains"] = dict(given["gains"])
        if "levels" in given:
            given["levels"] = tuple(map(float, given["levels"].split(",")))
        if measure.cutoff is not None:
            given["level" if measure.definition.cutoff == "recall" else "k"] = measure.cutoff
        found[str(measure)] = partial(definition, **given)
    return found


def compare(qrels: Judgements, run: Ranked, expected: Mapping[str, Callable[[Query], object]]):
    """Check the value of every query for every measure against its definition."""
    result = evaluate(qrels, run, list(expected))
    lists = queries_of(qrels, run)
    for name, definition in expected.items():
        values = dict(zip(result.units(), result.per_unit(0, name).tolist(), strict=True))
        for query, value in values.items():
            wanted = definition(lists[query])
            if isinstance(wanted, str):
                assert value == wanted, (name, query)
            else:
                close = math.isclose(value, wanted, rel_tol=1e-11, abs_tol=1e-12)
                assert close, f"{name}, {query}: {value} instead of {wanted}"


# Relevant or not


def is_hit(grade: int | None, rel: int = 1) -> bool:
    return grade is not None and grade >= 0 and grade >= rel


def count_relevant(q: Query, rel: int = 1) -> int:
    return sum(is_hit(grade, rel) for grade in q.judged)


def found(q: Query, k: int | None = None, rel: int = 1) -> int:
    return sum(is_hit(grade, rel) for grade in q.ranked[:k])


def share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def precision(q: Query, k: int, rel: int = 1) -> float:
    return found(q, k, rel) / k


def recall(q: Query, k: int, rel: int = 1) -> float:
    return share(found(q, k, rel), count_relevant(q, rel))


def f_measure(q: Query, k: int, beta: float = 1.0, rel: int = 1) -> float:
    p, r = precision(q, k, rel), recall(q, k, rel)
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p and r else 0.0


def relative_precision(q: Query, k: int, rel: int = 1) -> float:
    return share(found(q, k, rel), min(k, count_relevant(q, rel)))


def success(q: Query, k: int, rel: int = 1) -> float:
    return float(found(q, k, rel) > 0)


def reciprocal_rank(q: Query, k: int | None = None, rel: int = 1) -> float:
    for rank, grade in enumerate(q.ranked[:k], 1):
        if is_hit(grade, rel):
            return 1 / rank
    return 0.0


def sum_of_precisions(q: Query, k: int | None = None, rel: int = 1) -> float:
    ranks = [rank for rank, grade in enumerate(q.ranked[:k], 1) if is_hit(grade, rel)]
    return sum(nth / rank for nth, rank in enumerate(ranks, 1))


def average_precision(q: Query, k: int | None = None, rel: int = 1) -> float:
    return share(sum_of_precisions(q, k, rel), count_relevant(q, rel))


def smoothed_average_precision(q: Query, rel: int = 1) -> float:
    total = sum_of_precisions(q, None, rel)
    return math.log((1 + total) / (1 + count_relevant(q, rel) - total))


def r_precision(q: Query, times: float = 1.0, rel: int = 1) -> float:
    depth = math.floor(times * count_relevant(q, rel) + 0.9)
    return share(found(q, depth, rel), depth)


def bpref(q: Query, rel: int = 1) -> float:
    relevant = count_relevant(q, rel)
    nonrelevant = sum(0 <= grade < rel for grade in q.judged)
    above, total = 0, 0.0
    for grade in q.ranked:
        if is_hit(grade, rel):
            total += 1 - min(above, relevant) / min(nonrelevant, relevant) if above else 1.0
        elif grade is not None and grade >= 0:
            above += 1
    return share(total, relevant)


def inferred_average_precision(q: Query, rel: int = 1) -> float:
    """Yilmaz & Aslam 2006 with the smoothing of trec_eval."""
    epsilon, total = 1e-5, 0.0
    for above, grade in enumerate(q.ranked):
        if not is_hit(grade, rel):
            continue
        before = q.ranked[:above]
        pooled = sum(other is not None for other in before)
        hits = sum(is_hit(other, rel) for other in before)
        judged = sum(other is not None and other >= 0 for other in before)
        if not above:
            total += 1.0
            continue
        inner = pooled / above * (hits + epsilon) / (judged + 2 * epsilon)
        total += (1 + above * inner) / (above + 1)
    return share(total, count_relevant(q, rel))


def interpolated_precision(q: Query, level: float, rel: int = 1) -> float:
    """trec_eval 10.0: the recall level is rounded to a number of documents, halves up."""
    needed = math.floor(level * count_relevant(q, rel) + 0.5)
    return best_precision(q, needed, rel)


def best_precision(q: Query, needed: int, rel: int = 1) -> float:
    ranks = range(1, len(q.ranked) + 1)
    return max((precision(q, k, rel) for k in ranks if found(q, k, rel) >= needed), default=0.0)


def eleven_points(q: Query, levels: tuple[float, ...] | None = None, rel: int = 1) -> float:
    steps = levels or tuple(number / 10 for number in range(11))
    return sum(interpolated_precision(q, step, rel) for step in steps) / len(steps)


def binary_gain(q: Query, rel: int = 1) -> float:
    total, nonrelevant = 0.0, 0
    for grade in q.ranked:
        if is_hit(grade, rel):
            total += 1 / math.log2(2 + nonrelevant)
        else:
            nonrelevant += 1
    return share(total, count_relevant(q, rel))


# Grades


def gain_of(
    grade: int | None, gains: Mapping[int, float] | None = None, *, exponential: bool = False
) -> float:
    if grade is None or grade < 0:
        return 0.0
    if gains and grade in gains:
        return gains[grade]
    return 2.0**grade - 1 if exponential else float(grade)


def discount(rank: int, dcg: str = "log2", base: float = 2.0) -> float:
    if dcg == "classic":
        return 1.0 if rank < base else math.log(rank) / math.log(base)
    return math.log(rank + 1) / math.log(base)


def best_gains(q: Query, gains=None, *, exponential: bool = False) -> list[float]:
    every = (gain_of(grade, gains, exponential=exponential) for grade in q.judged)
    return sorted((gain for gain in every if gain > 0), reverse=True)


def dcg_of(values: list[float], dcg: str = "log2", base: float = 2.0) -> float:
    return sum(gain / discount(rank, dcg, base) for rank, gain in enumerate(values, 1))


def dcg(q: Query, k: int | None = None, *, dcg: str = "log2", gains=None, base=2.0) -> float:
    values = [gain_of(grade, gains, exponential=dcg == "exp-log2") for grade in q.ranked[:k]]
    return dcg_of(values, dcg, base)


def ideal_dcg(q: Query, k: int | None = None, *, dcg: str = "log2", gains=None, base=2.0) -> float:
    return dcg_of(best_gains(q, gains, exponential=dcg == "exp-log2")[:k], dcg, base)


def ndcg(q: Query, k: int | None = None, **how) -> float:
    return share(dcg(q, k, **how), ideal_dcg(q, k, **how))


def ndcg_at_relevant(q: Query, gains=None) -> float:
    """The mean of nDCG over the documents with a gain; at the end for those not retrieved."""
    ranks = [rank for rank, grade in enumerate(q.ranked, 1) if gain_of(grade, gains) > 0]
    number = len(best_gains(q, gains))
    values = [ndcg(q, rank, gains=gains) for rank in ranks]
    values += [ndcg(q, None, gains=gains)] * (number - len(ranks))
    return share(sum(values), number)


def ndcg_at_levels(q: Query, gains=None, rel: int = 1) -> float:
    """The mean of nDCG at the ranks where the gain of the best list falls, and at the end."""
    best = best_gains(q, gains)
    if not best or not count_relevant(q, rel):
        return 0.0
    falls = [k for k in range(1, len(best) + 1) if k == len(best) or best[k] < best[k - 1]]
    values = [ndcg(q, k, gains=gains) for k in falls]
    if len(q.ranked) > len(best) + 1:
        values.append(ndcg(q, None, gains=gains))
    return sum(values) / len(values)


def cost_gain(q: Query, gains=None) -> float:
    """trec_eval's G: each gain over log2(2 + what the best list has more by then)."""
    best = best_gains(q, gains)
    total, got, cost = 0.0, 0.0, 0.0
    for place, grade in enumerate(q.ranked):
        gain = gain_of(grade, gains)
        got += gain
        cost += max(1.0, best[place]) if place < len(best) else 1.0
        total += gain / math.log2(2 + cost - got)
    return share(total, sum(best))


def rbp(
    q: Query,
    p: float = 0.8,
    k: int | None = None,
    *,
    rel: int | None = None,
    gains=None,
    normalise: str = "all",
) -> float:
    def unit(grade: int | None) -> float:
        if rel is not None:
            return float(is_hit(grade, rel))
        reference = q.judged if normalise == "query" else q.everywhere
        scaled = [gain_of(other, gains) for other in reference]
        return gain_of(grade, gains) / max(1.0, *(gains or {0: 0.0}).values(), *scaled)

    return (1 - p) * sum(unit(grade) * p**place for place, grade in enumerate(q.ranked[:k]))


def rbp_residual(q: Query, p: float = 0.8, *, complete: bool = True) -> float:
    known = [place for place, grade in enumerate(q.ranked) if grade is not None and grade >= 0]
    if not complete and len(known) == len(q.ranked):
        return 0.0
    unjudged = [place for place in range(len(q.ranked)) if place not in known]
    return p ** len(q.ranked) + (1 - p) * sum(p**place for place in unjudged)


def err(q: Query, k: int | None = None, top: int | None = None) -> float:
    top = max(1, *q.everywhere) if top is None else top
    going, total = 1.0, 0.0
    for rank, grade in enumerate(q.ranked[:k], 1):
        stop = min(1.0, gain_of(grade, exponential=True) / 2**top)
        total += going * stop / rank
        going *= 1 - stop
    return total


# Sets and counts


def count_judged(q: Query, k: int | None = None) -> int:
    return sum(is_hit(grade, 0) for grade in q.ranked[:k])


def judged_share(q: Query, k: int | None = None) -> float:
    return share(count_judged(q, k), len(q.ranked[:k]))


def unjudged_share(q: Query, k: int) -> float:
    return (len(q.ranked[:k]) - count_judged(q, k)) / k


def set_precision(q: Query, rel: int = 1) -> float:
    return share(found(q, None, rel), len(q.ranked))


def set_recall(q: Query, rel: int = 1) -> float:
    return share(found(q, None, rel), count_relevant(q, rel))


def set_f(q: Query, beta: float = 1.0, rel: int = 1) -> float:
    p, r = set_precision(q, rel), set_recall(q, rel)
    return (beta + 1) * p * r / (beta * p + r) if p and r else 0.0


def set_relative_precision(q: Query, rel: int = 1) -> float:
    return share(found(q, None, rel), min(len(q.ranked), count_relevant(q, rel)))


def utility(q: Query, *, a=1.0, b=-1.0, c=0.0, d=0.0, docs=0, rel: int = 1) -> float:
    hits, relevant = found(q, None, rel), count_relevant(q, rel)
    others = len(q.ranked) - hits
    rest = docs - hits - others - (relevant - hits)
    return a * hits + b * others + c * (relevant - hits) + d * rest


def relevance_string(q: Query, k: int = 10) -> str:
    def mark(grade: int | None) -> str:
        if grade is None:
            return "-"
        return "." if grade < 0 else ">" if grade > 9 else str(grade)

    return "".join(mark(grade) for grade in q.ranked[:k])
