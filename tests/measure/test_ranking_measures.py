"""Measures of rankings: plain definitions on random lists, worked examples, cwl-eval."""

from __future__ import annotations

import logging
import math
import random
from itertools import product

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import collections, compare, queries_of
from samples import random_run

from heldout import evaluate, parse_measure
from heldout.errors import MeasureError
from heldout.measure.ranking.judged import BLOCK


@given(case=collections())
@settings(max_examples=60)
def test_measures_follow_their_definitions(case):
    compare(*case, naive.EXPECTED)


@given(case=collections())
def test_counts_are_summed_and_geometric_means_have_a_floor(case):
    qrels, run = case
    lists = queries_of(qrels, run).values()
    sums = {
        "NumRet": naive.EXPECTED["NumRet"],
        "NumRel": naive.count_relevant,
        "NumRelRet": naive.found,
    }
    result = evaluate(qrels, run, ["NumQ", "GMAP", *sums])
    assert result.value(0, "NumQ") == len(qrels)
    for name, definition in sums.items():
        assert result.value(0, name) == sum(map(definition, lists))
    logs = [math.log(max(1e-5, naive.average_precision(query))) for query in lists]
    assert result.value(0, "GMAP") == pytest.approx(math.exp(sum(logs) / len(logs)), rel=1e-12)


# Judgements, a run, and values of one query
EXAMPLES = {
    # A pooled document counts as the judged ones above it; one that was not pooled counts nothing.
    "pooled": (
        {"a": 1, "b": 1, "x": -1},
        {"a": 3, "x": 2, "b": 1},
        {"infAP": (1 + 1 / 3 + 2 / 3) / 2},
    ),
    "not pooled": ({"a": 1, "b": 1}, {"a": 3, "x": 2, "b": 1}, {"infAP": (1 + 2 / 3) / 2}),
    # trec_eval rounds 1.2 up to 2, and 1.05 down.
    "times": (
        {"a": 1, "b": 1, "c": 1, "d": 1},
        {"x": 2, "a": 1},
        {"Rprec(times=0.3)": 1 / 2, "Rprec(times=0.2625)": 0.0},
    ),
    # P = 1/2, R = 1/4: trec_eval's set_F has (b+1)PR / (R + bP), the usual F has b².
    "beta": (
        {"a": 1, "b": 1, "c": 1, "d": 1, "x": 0},
        {"a": 2, "x": 1},
        {"SetF(beta=3)": 4 / 8 / (1 / 4 + 3 / 2), "F(beta=3)@2": 10 / 8 / (1 / 4 + 9 / 2)},
    ),
    # Ranks below the base have no discount; elsewhere the base is a factor, log2(10).
    "base": (
        {f"d{n}": 1 for n in range(12)},
        {f"d{n}": -n for n in range(12)},
        {
            "DCG(dcg='classic', base=10)@9": 9,
            "DCG(base=10)@2": (1 + 1 / math.log2(3)) * math.log2(10),
        },
    ),
    # Clicks as grades: large numbers are fine where 2^grade is not needed.
    "clicks": ({"a": 1100, "b": 3}, {"a": 2, "b": 1}, {"ERR": 1}),
    # trec_eval's signs; a grade above nine is one of them.
    "signs": (
        {"a": 12, "b": 9, "c": -1, "d": 0},
        {"a": 5, "b": 4, "u": 3, "c": 2, "d": 1},
        {"RelString": ">9-.0"},
    ),
    # More than 64 different grades take another way to the counts of each grade.
    "many grades": (
        {f"d{n}": n for n in range(70)},
        {f"d{n}": -n for n in range(70)},
        {"DCG@3": 1 / math.log2(3) + 2 / 2, "IDCG@3": 69 + 68 / math.log2(3) + 67 / 2},
    ),
    # Overlap with the ideal list of a and b
    "overlap": (
        {"a": 2, "b": 1, "c": 0},
        {"b": 3, "x": 2, "a": 1},
        {"Compat(p=0.8)": (0.8 / 2 + 0.8**2 * 2 / 3) / (1 + 0.8 + 0.8**2 * 2 / 3)},
    ),
    # Pairs in the right order: a is above x and y, b above y.
    "pairs": (
        {"a": 1, "b": 1},
        {"a": 4, "x": 3, "b": 2, "y": 1},
        {"Accuracy": 0.75, "Accuracy@1": 1},
    ),
    "gain below one": (
        {"a": 1},
        {"x": 2, "a": 1},
        {"G(gains={1: .5})": 1 / math.log2(3.5)},
    ),
    "no pair": ({"a": 1}, {"a": 1}, {"Accuracy": 1, "Compat(p=0.8)": 1}),
}


def test_worked_examples():
    for why, (judged, ranked, expected) in EXAMPLES.items():
        scores = {doc: float(score) for doc, score in ranked.items()}
        result = evaluate({"q": judged}, {"q": scores}, [*expected])
        found = {name: result.per_unit(0, name).tolist()[0] for name in expected}
        assert found == pytest.approx(expected, abs=1e-4), why


def test_a_query_without_a_relevant_document_counts_zero():
    names = "P@5 R@5 F@5 RelP@5 Success@5 RR AP Rprec Bpref infAP IPrec@[0, 0.5] IPrec11 binG nDCG"
    names += " nDCGrel Rndcg G RBP ERR INST Compat Accuracy"
    result = evaluate({"q": {"a": 0, "b": -1}}, {"q": {"a": 1.0, "b": 2.0, "c": 3.0}}, names)
    assert set(result.summary()["run"].values()) == {0.0}


# Documents are found by their ids: up to 64 bytes are held as words, longer ones as strings.
SHORT = st.text("abé€𝄞Ω-_./:", min_size=1, max_size=12)
LONG = st.text("xyñ🙂", min_size=1, max_size=4).map(lambda tail: "http://example.org/" * 4 + tail)
IDS = SHORT | LONG | st.integers(60, 68).map(lambda length: "e" * length)
# The order of all grades says which document is where.
PLACES = {name: naive.EXPECTED[name] for name in ("RelString", "NumRet", "AP", "IDCG")}


@settings(max_examples=50)
@given(docs=st.lists(IDS, min_size=4, max_size=8, unique=True), data=st.data())
def test_documents_are_found_by_any_ids(docs, data):
    qrels, run = data.draw(collections(docs=docs))
    compare(qrels, run, PLACES)
    names = data.draw(st.permutations(["β", "q" * 70, "10"]))
    new = dict(zip(("q1", "q2", "q3"), names, strict=True))
    qrels, run = ({new[query]: given[query] for query in given} for given in (qrels, run))
    compare(qrels, run, PLACES)
    assert evaluate(qrels, run, "AP").units() == tuple(sorted(qrels, key=str.encode))


def test_documents_are_found_in_many_blocks_and_with_one_long_id():
    # Rows are looked up block by block; queries begin and end anywhere in them.
    chance = random.Random(7)  # noqa: S311 - reproducible test data
    sizes = [1, 900, BLOCK // 3, BLOCK + 5, 40, 700]
    run = {f"q{at}": {f"doc{n}": float(-n) for n in range(size)} for at, size in enumerate(sizes)}
    qrels = {
        query: {f"doc{n}": n % 3 for n in chance.sample(range(2 * len(docs) + 5), 5)}
        for query, docs in run.items()
    }
    far = "h" * 80
    lists = {}, {far + "2": 3.0}, {far + "1": 3.0}
    for judged, retrieved in product(({}, {far + "1": 2}), lists):
        qrels["q1"] |= judged
        run["q1"] |= retrieved
        compare(qrels, run, PLACES)


# Models of users


def random_case(seed, queries=6):
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(queries):
        judged = rng.choice(60, int(rng.integers(5, 30)), replace=False)
        qrels[f"q{query}"] = {f"d{doc}": int(rng.integers(-1, 4)) for doc in judged}
        run[f"q{query}"] = random_run(rng, 60, 2, 50)
    return qrels, run


def test_users_behave_as_in_cwl_eval(monkeypatch):
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("cwl")
    monkeypatch.setattr(logging.getLogger("ir_measures.cwl_eval"), "disabled", True)
    names = [
        *("INST(max_rel=3)", "INST(T=2.5,max_rel=3)", "INSQ(max_rel=3)", "INSQ(T=3.0,max_rel=2)"),
        *("BPM(max_rel=3)@10", "BPM(T=2.0,min_rel=1,max_rel=3)@20", "SDCG(max_rel=3)@10"),
        *("SDCG(max_rel=3)@2000", "NERR8(max_rel=3)@10", "NERR9(max_rel=3)@10"),
        *("NERR10(max_rel=3)", "NERR10(p=0.5,max_rel=3)", "NERR11(max_rel=3)"),
        *("NERR11(T=2.0,max_rel=3)", "Compat", "Compat(p=0.8)", "Compat(p=0.8,normalize=False)"),
        *("Accuracy", "Accuracy(rel=2)@5"),
    ]
    for seed in range(3):
        qrels, run = random_case(seed)
        result = evaluate(qrels, run, names)
        for number, name in enumerate(names):
            mine = dict(zip(result.units(), result.per_unit(0, number).tolist(), strict=True))
            for theirs in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run):
                expected = pytest.approx(theirs.value, rel=1e-9, abs=1e-13)
                assert mine[theirs.query_id] == expected, name


def test_the_highest_grade_is_that_of_the_judgements():
    qrels, run = {"q": {"a": 4, "b": 1, "c": 2, "z": 5}}, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    for name in ("INST", "INSQ", "BPM@4", "SDCG@4", "NERR8@4", "NERR9@4", "NERR10", "NERR11"):
        family, _, cutoff = name.partition("@")
        said = f"{family}(max_rel=5){'@' * bool(cutoff)}{cutoff}"
        found = evaluate(qrels, run, [name, said])
        assert found.value(0, 0) == found.value(0, 1) > 0, name


def test_many_queries_are_computed_in_blocks():
    qrels, run = random_case(9)
    many, runs = (
        {f"{query}.{copy}": docs for copy in range(400) for query, docs in one.items()}
        for one in (qrels, run)
    )
    few = dict(zip(qrels, evaluate(qrels, run, "INST").per_unit(0, 0).tolist(), strict=True))
    result = evaluate(many, runs, "INST")
    assert result.per_unit(0, 0).tolist() == [few[name.split(".")[0]] for name in result.units()]


def test_grades_and_parameters_that_do_not_fit_are_refused():
    with pytest.raises(MeasureError, match="too large"):
        evaluate({"q": {"a": 1100}}, {"q": {"a": 1.0}}, "nDCG(dcg=exp)@10")
    with pytest.raises(MeasureError, match=r"min_rel=3: must be less than max_rel \(2\)"):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "NERR8(min_rel=3, max_rel=2)@5")
    assert parse_measure("INST").range == (0, 1)
