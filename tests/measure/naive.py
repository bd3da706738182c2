"""Measures once more, as plain loops over one ranked list, and random lists to try them on.

Those that pytrec_eval checks with their parameters (Bpref, infAP, binG, G, nDCGrel, Rndcg, Rprec,
Success, RelP, measures of sets) are not here.

Nothing here is clever: each function follows its definition, so that a slip in the vectorised
code shows as a difference. `Query.ranked` holds the grades in rank order, None where a document
is not in the qrels; a negative grade means "pooled, not judged".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from hypothesis import strategies as st

from heldout import evaluate, parse_measures

DOCS = [f"d{number}" for number in range(14)]
GRADES = st.sampled_from([-2, -1, 0, 0, 1, 1, 1, 2, 3, 4])
TIED_SCORES = st.integers(-2, 4).map(lambda number: number / 2)


@dataclass(frozen=True)
class Query:
    ranked: tuple[int | None, ...]
    judged: tuple[int, ...]
    everywhere: tuple[int, ...]
    """The grades of all queries together."""


def in_order(scores):
    """Score descending, then document id descending, bytewise: trec_eval's order."""
    by_id = sorted(scores, key=str.encode, reverse=True)
    return sorted(by_id, key=lambda doc: -scores[doc])


def queries_of(qrels, run):
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


EXPECTED = {}  # the definition of each measure that is checked


def named(definition, names):
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


def defines(names):
    """Say which measures a function defines."""

    def register(definition):
        EXPECTED.update(named(definition, names))
        return definition

    return register


def compare(qrels, run, expected):
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


def is_hit(grade, rel=1):
    return grade is not None and grade >= 0 and grade >= rel


@defines("NumRel NumRel(rel=2)")
def count_relevant(q, rel=1):
    return sum(is_hit(grade, rel) for grade in q.judged)


@defines("NumRelRet NumRelRet(rel=2)")
def found(q, k=None, rel=1):
    return sum(is_hit(grade, rel) for grade in q.ranked[:k])


def share(part, whole):
    return part / whole if whole > 0 else 0.0


@defines("P@1 P@5 P@40 P(rel=2)@3 P(rel=0)@3 P(rel=-1)@3")
def precision(q, k, rel=1):
    return found(q, k, rel) / k


@defines("R@1 R@5 R(rel=3)@5")
def recall(q, k, rel=1):
    return share(found(q, k, rel), count_relevant(q, rel))


@defines("F@5 F(beta=2)@3 F(beta=0.5, rel=2)@7")
def f_measure(q, k, beta=1.0, rel=1):
    p, r = precision(q, k, rel), recall(q, k, rel)
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p and r else 0.0


@defines("RR RR@2 RR(rel=2)")
def reciprocal_rank(q, k=None, rel=1):
    for rank, grade in enumerate(q.ranked[:k], 1):
        if is_hit(grade, rel):
            return 1 / rank
    return 0.0


def sum_of_precisions(q, k=None, rel=1):
    ranks = [rank for rank, grade in enumerate(q.ranked[:k], 1) if is_hit(grade, rel)]
    return sum(nth / rank for nth, rank in enumerate(ranks, 1))


@defines("AP AP@3 AP(rel=2)@5 GMAP GMAP(rel=2)")
def average_precision(q, k=None, rel=1):
    return share(sum_of_precisions(q, k, rel), count_relevant(q, rel))


@defines("SmoothAP SmoothAP(rel=2)")
def smoothed_average_precision(q, rel=1):
    total = sum_of_precisions(q, None, rel)
    return math.log((1 + total) / (1 + count_relevant(q, rel) - total))


@defines("IPrec@[0, 0.1, 0.25, 0.5, 0.75, 0.9, 1] IPrec(rel=2)@0.5")
def interpolated_precision(q, level, rel=1):
    """trec_eval 10.0: the recall level is rounded to a number of documents, halves up."""
    needed = math.floor(level * count_relevant(q, rel) + 0.5)
    ranks = range(1, len(q.ranked) + 1)
    return max((precision(q, k, rel) for k in ranks if found(q, k, rel) >= needed), default=0.0)


@defines("IPrec11 IPrec11(rel=2) IPrec11(levels='.25,.5,.75')")
def eleven_points(q, levels=None, rel=1):
    steps = levels or tuple(number / 10 for number in range(11))
    return sum(interpolated_precision(q, step, rel) for step in steps) / len(steps)


# Grades


def gain_of(grade, gains=None, *, exponential=False):
    if grade is None or grade < 0:
        return 0.0
    if gains and grade in gains:
        return gains[grade]
    return 2.0**grade - 1 if exponential else float(grade)


def discount(rank, dcg="log2", base=2.0):
    if dcg == "classic":
        return 1.0 if rank < base else math.log(rank) / math.log(base)
    return math.log(rank + 1) / math.log(base)


def best_gains(q, gains=None, *, exponential=False):
    every = (gain_of(grade, gains, exponential=exponential) for grade in q.judged)
    return sorted((gain for gain in every if gain > 0), reverse=True)


def dcg_of(values, dcg="log2", base=2.0):
    return sum(gain / discount(rank, dcg, base) for rank, gain in enumerate(values, 1))


@defines("DCG DCG(dcg='exp-log2')@5 DCG(dcg='classic', base=3)@6 DCG(gains={0: 2, 1: 0})@4")
def dcg(q, k=None, *, dcg="log2", gains=None, base=2.0):
    values = [gain_of(grade, gains, exponential=dcg == "exp-log2") for grade in q.ranked[:k]]
    return dcg_of(values, dcg, base)


@defines("IDCG IDCG(dcg='exp-log2')@5 IDCG(dcg='classic', base=10) IDCG(gains={0: 2, 1: 0})@4")
def ideal_dcg(q, k=None, *, dcg="log2", gains=None, base=2.0):
    return dcg_of(best_gains(q, gains, exponential=dcg == "exp-log2")[:k], dcg, base)


@defines("nDCG nDCG@[1, 5] nDCG(dcg='exp-log2')@5 nDCG(dcg='classic', base=4)@9")
def ndcg(q, k=None, **how):
    return share(dcg(q, k, **how), ideal_dcg(q, k, **how))


@defines(
    """
    RBP RBP(p=0.5)@3 RBP(p=0.95, rel=2) RBP(normalise='query') RBP(gains={1: 3, 2: 9})
    RBP(p=0.9, gains={1: 3, 2: 9}, normalise='query')
    """
)
def rbp(q, p=0.8, k=None, *, rel=None, gains=None, normalise="all"):
    def unit(grade):
        if rel is not None:
            return float(is_hit(grade, rel))
        reference = q.judged if normalise == "query" else q.everywhere
        scaled = [gain_of(other, gains) for other in reference]
        return gain_of(grade, gains) / max(1.0, *(gains or {0: 0.0}).values(), *scaled)

    return (1 - p) * sum(unit(grade) * p**place for place, grade in enumerate(q.ranked[:k]))


@defines("RBPResidual RBPResidual(p=0.5) RBPResidual(complete=False)")
def rbp_residual(q, p=0.8, *, complete=True):
    known = [place for place, grade in enumerate(q.ranked) if grade is not None and grade >= 0]
    if not complete and len(known) == len(q.ranked):
        return 0.0
    unjudged = [place for place in range(len(q.ranked)) if place not in known]
    return p ** len(q.ranked) + (1 - p) * sum(p**place for place in unjudged)


@defines("ERR ERR@3 ERR(top=4)@5 ERR(top=6)")
def err(q, k=None, top=None):
    top = max(1, *q.everywhere) if top is None else top
    going, total = 1.0, 0.0
    for rank, grade in enumerate(q.ranked[:k], 1):
        stop = min(1.0, gain_of(grade, exponential=True) / 2**top)
        total += going * stop / rank
        going *= 1 - stop
    return total


# Sets and counts


def count_judged(q, k=None):
    return sum(is_hit(grade, 0) for grade in q.ranked[:k])


@defines("Judged Judged@1 Judged@10")
def judged_share(q, k=None):
    return share(count_judged(q, k), len(q.ranked[:k]))


@defines("Unjudged@1 Unjudged@10")
def unjudged_share(q, k):
    return (len(q.ranked[:k]) - count_judged(q, k)) / k


@defines("Utility Utility(a=2, b=-0.5, c=-1, d=0.25, docs=100)")
def utility(q, *, a=1.0, b=-1.0, c=0.0, d=0.0, docs=0, rel=1):
    hits, relevant = found(q, None, rel), count_relevant(q, rel)
    others = len(q.ranked) - hits
    rest = docs - hits - others - (relevant - hits)
    return a * hits + b * others + c * (relevant - hits) + d * rest


@defines("RelString RelString@4")
def relevance_string(q, k=10):
    def mark(grade):
        if grade is None:
            return "-"
        return "." if grade < 0 else ">" if grade > 9 else str(grade)

    return "".join(mark(grade) for grade in q.ranked[:k])


defines("NumQ")(lambda _: 1)
defines("NumRet")(lambda q: len(q.ranked))
defines("NumUnjudgedRet")(lambda q: len(q.ranked) - count_judged(q))
