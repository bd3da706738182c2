"""Counts, set measures and judgement shares, against their plain definitions."""

from __future__ import annotations

from functools import partial

import naive
import pytest
from hypothesis import given, settings
from naive import collections, compare, queries_of

from heldout import evaluate

FAMILIES = {
    "NumQ": {"NumQ": lambda _: 1},
    "NumRet": {"NumRet": lambda q: len(q.ranked)},
    "NumRel": {
        "NumRel": naive.count_relevant,
        "NumRel(rel=2)": partial(naive.count_relevant, rel=2),
    },
    "NumRelRet": {
        "NumRelRet": naive.found,
        "NumRelRet(rel=2)": partial(naive.found, rel=2),
    },
    "NumNonrelJudgedRet": {
        "NumNonrelJudgedRet": lambda q: naive.count_judged(q) - naive.found(q),
        "NumNonrelJudgedRet(rel=2)": lambda q: naive.count_judged(q) - naive.found(q, rel=2),
    },
    "NumUnjudgedRet": {"NumUnjudgedRet": lambda q: len(q.ranked) - naive.count_judged(q)},
    "Judged": {
        "Judged": naive.judged_share,
        "Judged@1": partial(naive.judged_share, k=1),
        "Judged@10": partial(naive.judged_share, k=10),
    },
    "Unjudged": {
        "Unjudged@1": partial(naive.unjudged_share, k=1),
        "Unjudged@10": partial(naive.unjudged_share, k=10),
    },
    "SetP": {"SetP": naive.set_precision, "SetP(rel=2)": partial(naive.set_precision, rel=2)},
    "SetR": {"SetR": naive.set_recall, "SetR(rel=2)": partial(naive.set_recall, rel=2)},
    "SetRelP": {
        "SetRelP": naive.set_relative_precision,
        "SetRelP(rel=2)": partial(naive.set_relative_precision, rel=2),
    },
    "SetAP": {"SetAP": lambda q: naive.set_precision(q) * naive.set_recall(q)},
    "SetF": {
        "SetF": naive.set_f,
        "SetF(beta=0.5)": partial(naive.set_f, beta=0.5),
        "SetF(beta=3, rel=2)": partial(naive.set_f, beta=3.0, rel=2),
    },
    "Utility": {
        "Utility": naive.utility,
        "Utility(a=2, b=-0.5, c=-1, d=0.25, docs=100)": partial(
            naive.utility, a=2.0, b=-0.5, c=-1.0, d=0.25, docs=100
        ),
    },
    "RelString": {
        "RelString": naive.relevance_string,
        "RelString@4": partial(naive.relevance_string, k=4),
    },
}


@given(case=collections())
@settings(max_examples=60)
def test_measures_follow_their_definitions(case):
    compare(*case, {name: its for family in FAMILIES.values() for name, its in family.items()})


@given(case=collections())
def test_counts_are_summed_over_queries_and_not_averaged(case):
    qrels, run = case
    result = evaluate(qrels, run, ["NumQ", "NumRet", "NumRel", "NumRelRet"])
    lists = queries_of(qrels, run).values()
    assert result.value(0, "NumQ") == len(qrels)
    assert result.value(0, "NumRet") == sum(len(q.ranked) for q in lists)
    assert result.value(0, "NumRel") == sum(map(naive.count_relevant, lists))
    assert result.value(0, "NumRelRet") == sum(map(naive.found, lists))


def test_a_document_is_judged_only_with_a_grade_from_zero_on():
    # Not in the qrels (u) and negative (n: pooled, not judged) are both without a judgement.
    qrels = {"q": {"r": 1, "z": 0, "n": -1}}
    run = {"q": {"u": 4.0, "n": 3.0, "z": 2.0, "r": 1.0}}
    result = evaluate(qrels, run, ["Judged@4", "Judged@2", "Unjudged@4", "NumUnjudgedRet"])
    assert [result.value(0, at) for at in range(4)] == [0.5, 0.0, 0.5, 2.0]


def test_judged_divides_by_what_was_retrieved_and_unjudged_by_the_cutoff():
    result = evaluate({"q": {"a": 0}}, {"q": {"a": 2.0, "u": 1.0}}, ["Judged@10", "Unjudged@10"])
    assert [result.value(0, at) for at in range(2)] == [0.5, 0.1]


def test_set_f_weighs_by_beta_as_trec_eval_does_and_f_by_its_square():
    # P = 1/2, R = 1/4. trec_eval's set_F has (b+1)PR / (R + bP), the usual F has b².
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 1, "x": 0}}
    run = {"q": {"a": 2.0, "x": 1.0}}
    result = evaluate(qrels, run, ["SetF(beta=3)", "F(beta=3)@2"])
    assert result.value(0, 0) == pytest.approx(4 / 8 / (1 / 4 + 3 / 2))
    assert result.value(0, 1) == pytest.approx(10 / 8 / (1 / 4 + 9 / 2))


def test_relevance_string_shows_grades_above_nine_as_a_sign():
    qrels = {"q": {"a": 12, "b": 9, "c": -1, "d": 0}}
    run = {"q": {"a": 5.0, "b": 4.0, "u": 3.0, "c": 2.0, "d": 1.0}}
    assert evaluate(qrels, run, "RelString").per_unit(0, 0).tolist() == [">9-.0"]
