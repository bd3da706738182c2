"""Every measure of pytrec_eval, which wraps the C code of trec_eval 9.0, on random lists.

trec_eval 9 holds scores as 32-bit floats and 10.0 as 64-bit floats, so ours are compared with
``single_precision=True``. In two measures 9.0 and 10.0 differ: see the end of this file.
"""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from heldout import evaluate, parse_measures

pytrec_eval = pytest.importorskip("pytrec_eval")

SHORT_CUTOFFS = ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success")
# runid and relstring are texts, for which pytrec_eval gives no value.
NAMES = {
    *(pytrec_eval.supported_measures - {"runid", "relstring"} - {*SHORT_CUTOFFS}),
    *(f"{name}.1,2,3,5,10,30" for name in SHORT_CUTOFFS),
}
DIFFERENT_IN_10 = ("iprec_at_recall", "11pt_avg")
GEOMETRIC = ("gm_map", "gm_bpref")

# Equal as 32-bit floats: 1 and 1 + 1e-8, 2^24 and 2^24 + 1.
SCORES = [1.0, 1.0 + 1e-8, 16777216.0, 16777217.0, -1.0, 0.0, 0.5, 0.25, 3.0, -2.5, 1e-30, 0.1]
DOCS = [f"{letter}{number}" for letter in "aB" for number in (1, 2, 9, 10, 11, 100)]


@st.composite
def collections(draw):
    grades = st.sampled_from([-1, 0, 0, 1, 1, 2, 3])
    judged = st.dictionaries(st.sampled_from(DOCS), grades, min_size=1)
    # With negative grades alone the C code reads counts that it never set.
    judged = judged.filter(lambda docs: max(docs.values()) >= 0)
    ranked = st.dictionaries(st.sampled_from(DOCS), st.sampled_from(SCORES), min_size=1)
    queries = st.sampled_from(["q1", "q10", "q2", "q3"])
    qrels = draw(st.dictionaries(queries, judged, min_size=1))
    run = draw(st.dictionaries(queries, ranked, min_size=1))
    assume(qrels.keys() & run.keys())
    return qrels, run


def larger_case(seed):
    chance = random.Random(seed)  # noqa: S311 - reproducible test data
    docs = [f"doc-{number}" for number in range(400)]
    queries = [str(number) for number in range(301, 331)]
    qrels = {
        query: {doc: chance.choice([-1, 0, 0, 0, 1, 2]) for doc in chance.sample(docs, 120)}
        for query in chance.sample(queries, 25)
    }
    run = {
        query: {doc: round(chance.gauss(0, 3), seed % 4) for doc in chance.sample(docs, 250)}
        for query in chance.sample(queries, 25)
    }
    return qrels, run


def ours(qrels, run, printed, **how):
    """Our value of each query for the names that pytrec_eval prints."""
    result = evaluate(qrels, run, printed, single_precision=True, missing="skip", **how)
    columns = {
        name: result.per_unit(0, parse_measures([name], **how)[0]).tolist() for name in printed
    }
    return {
        query: {name: column[row] for name, column in columns.items()}
        for row, query in enumerate(result.units())
    }


def check(qrels, run, *, rel=1, judged_only=False):
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, NAMES, relevance_level=rel, judged_docs_only_flag=judged_only
    )
    theirs = evaluator.evaluate(run)
    printed = [name for name in next(iter(theirs.values())) if not name.startswith(DIFFERENT_IN_10)]
    how = {"rel": rel} if rel != 1 else {}
    if judged_only:
        how["judged_only"] = True
    mine = ours(qrels, run, printed, **how)
    # Queries on one side only are left out by both.
    assert mine.keys() == theirs.keys() == qrels.keys() & run.keys()
    for query, row in theirs.items():
        for name in printed:
            wanted = row[name]
            if name in GEOMETRIC:  # pytrec_eval leaves the logarithm that is to be averaged
                wanted = math.exp(wanted)
                mine[query][name] = max(1e-5, mine[query][name])
            close = math.isclose(mine[query][name], wanted, rel_tol=1e-9, abs_tol=1e-12)
            assert close, f"{name}, {query}: {mine[query][name]} instead of {wanted}"


@settings(max_examples=50)
@given(case=collections())
def test_every_measure_equals_that_of_trec_eval_nine(case):
    check(*case)


@given(case=collections())
def test_every_measure_with_a_higher_threshold_and_of_judged_documents(case):
    check(*case, rel=2)
    qrels, run = case
    for query in qrels.keys() & run.keys():
        # A list of which nothing is left is 0 / 0 in some of the C measures.
        assume(any(qrels[query].get(doc, -1) >= 0 for doc in run[query]))
    check(qrels, run, judged_only=True)


def test_every_measure_on_larger_lists():
    for seed in range(8):
        check(*larger_case(seed))


def test_means_equal_those_of_pytrec_eval():
    qrels, run = larger_case(11)
    rows = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg", "gm_map"}).evaluate(run).values()
    result = evaluate(qrels, run, ["map", "ndcg", "gm_map"], missing="skip", single_precision=True)
    for name in ("map", "ndcg", "gm_map"):
        theirs = pytrec_eval.compute_aggregated_measure(name, [row[name] for row in rows])
        assert result.value(0, name) == pytest.approx(theirs, rel=1e-12)


def test_scores_that_differ_in_64_bits_only_are_ties_in_32():
    # In 64 bits a is first; in 32 bits it ties with b, which has the greater id.
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0 + 1e-8, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert theirs["q"]["recip_rank"] == 0.5
    assert evaluate(qrels, run, "RR", single_precision=True).value(0, 0) == 0.5
    assert evaluate(qrels, run, "RR").value(0, 0) == 1.0


# Where 9.0 and 10.0 differ: 9.0 takes recall level · R + 0.9 and cuts, 10.0 rounds.


def test_smallest_case_in_which_nine_and_ten_differ():
    # R = 2, level 0.6: 9.0 asks for int(2.1) = 2 documents, 10.0 for round(1.2) = 1.
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
    assert theirs["q"]["iprec_at_recall_0.60"] == 0.0
    assert evaluate(qrels, run, "iprec_at_recall_0.60").value(0, 0) == 0.5
