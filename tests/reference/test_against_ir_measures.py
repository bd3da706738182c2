"""Our measures against those of ir_measures, whichever of its providers works here offline.

Known differences: it holds scores as 32-bit floats (pytrec_eval); negative grades count as judged
in its Judged; its IPrec rounds as trec_eval 9.0 did (see test_against_pytrec_eval); RR with a
cutoff and Judged order ties by ascending id, so lists without ties are compared; gdeval
(exponential nDCG, ERR) prints five decimals; RBP needs cwl_eval.
"""

from __future__ import annotations

import random
import shutil

import pytest

from heldout import evaluate

ir_measures = pytest.importorskip("ir_measures")

NAMES = (
    "P@1 P@5 P(rel=2)@10 P(judged_only=True)@5 R@5 R@100 AP AP@10 AP(rel=2) RR RR@3 RR(rel=2)@10 "
    "nDCG nDCG@1 nDCG@10 nDCG(judged_only=True)@10 Rprec Rprec(rel=2) Success@1 Success(rel=2)@5 "
    "Judged Judged@10 SetP SetR SetF SetF(beta=0.5) SetAP SetP(rel=2) Bpref Bpref(rel=2) infAP "
    "NumQ NumRet NumRet(rel=1) NumRet(rel=2) NumRel SetP(relative=True) SetP(rel=2,relative=True)"
)
SAME = NAMES.split()


def case(seed, *, negative=False):
    chance = random.Random(seed)  # noqa: S311 - reproducible test data
    docs = [f"d{number}" for number in range(80)]
    queries = [str(number) for number in range(101, 113)]  # gdeval reads numbers only
    grades = [-1, 0, 0, 1, 2, 4] if negative else [0, 0, 1, 2, 3, 4]
    qrels = {q: {d: chance.choice(grades) for d in chance.sample(docs, 30)} for q in queries}
    run = {}
    for query in queries[:-2]:  # two judged queries are missing in the run
        found = chance.sample(docs, chance.randint(1, 50))
        run[query] = {doc: float(len(found) - place) for place, doc in enumerate(found)}
    run["999"] = {"d1": 1.0}
    return qrels, run


def theirs(name, qrels, run):
    measure = ir_measures.parse_measure(name)
    return {one.query_id: one.value for one in ir_measures.iter_calc([measure], qrels, run)}


def mine(name, qrels, run):
    result = evaluate(qrels, run, name)
    return dict(zip(result.units(), result.per_unit(0, 0).tolist(), strict=True))


def test_values_of_all_queries_are_equal():
    for seed in range(3):
        qrels, run = case(seed)
        for name in SAME:
            wanted = {q: value for q, value in theirs(name, qrels, run).items() if q in qrels}
            found = mine(name, qrels, run)
            if name in {"NumQ", "NumRel"}:  # it counts queries that a run lacks as nothing
                found = {q: value if q in run else 0 for q, value in found.items()}
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12), (name, seed)
    qrels, run = case(5, negative=True)
    for name in ("Bpref", "infAP", "AP", "nDCG@10"):
        assert mine(name, qrels, run) == pytest.approx(theirs(name, qrels, run), rel=1e-9), name


def test_negative_grades_are_judged_there_and_not_here():
    qrels, run = {"q": {"a": -1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    assert theirs("Judged@2", qrels, run) == {"q": 1.0}
    assert mine("Judged@2", qrels, run) == {"q": 0.5}


def test_interpolated_precision_where_both_ways_of_rounding_agree():
    # With an even number of relevant documents these levels are whole numbers of them.
    qrels, run = case(3)
    for judged in qrels.values():
        relevant = [doc for doc, grade in judged.items() if grade > 0]
        if len(relevant) % 2:
            judged[relevant[0]] = 0
    for name in ("IPrec@0.0", "IPrec@0.5", "IPrec@1.0"):
        assert mine(name, qrels, run) == pytest.approx(theirs(name, qrels, run), rel=1e-9), name


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
@pytest.mark.parametrize("cutoff", [5, 20])
def test_exponential_gains_and_err_equal_gdeval(cutoff):
    for seed in range(3):
        qrels, run = case(seed)
        exponential = f"nDCG(dcg='exp-log2')@{cutoff}"
        for name, ours in (
            (f"ERR@{cutoff}", f"ERR(top=4)@{cutoff}"),
            (exponential, exponential),
        ):
            wanted = {q: value for q, value in theirs(name, qrels, run).items() if q in qrels}
            assert mine(ours, qrels, run) == pytest.approx(wanted, abs=6e-6), (name, seed)


def test_rbp_equals_cwl_eval():
    pytest.importorskip("cwl", reason="ir_measures computes RBP with cwl_eval")
    qrels, run = case(1)
    for name in ("RBP(p=0.8, rel=1)", "RBP(p=0.5, rel=2)"):
        assert mine(name, qrels, run) == pytest.approx(theirs(name, qrels, run), abs=1e-6), name


def test_means_equal_those_of_ir_measures_which_count_missing_queries_as_zero():
    qrels, run = case(9)
    names = ["AP", "nDCG@10", "P@5", "RR", "Success@5"]
    measures = [ir_measures.parse_measure(name) for name in names]
    wanted = {str(k): v for k, v in ir_measures.calc_aggregate(measures, qrels, run).items()}
    assert evaluate(qrels, run, names).summary()["run"] == pytest.approx(wanted, rel=1e-9)
