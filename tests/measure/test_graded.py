"""Measures that use grades, against their plain definitions."""

from __future__ import annotations

from functools import partial

import naive
import pytest
from hypothesis import given, settings
from naive import collections, compare

from heldout import evaluate

# trec_eval's example of gains, for two grades; the others keep theirs.
GAINS = {1: 3.0, 2: 9.0}
SHOWN = "gains={1: 3, 2: 9}"
# An inverted scale: grade 0 earns something, grade 1 nothing.
ODD = {0: 2.0, 1: 0.0}
ODD_SHOWN = "gains={0: 2, 1: 0}"

FAMILIES = {
    "DCG": {
        "DCG": naive.dcg,
        "DCG@3": partial(naive.dcg, k=3),
        "DCG(dcg='exp-log2')@5": partial(naive.dcg, k=5, dcg="exp-log2"),
        "DCG(dcg='classic')": partial(naive.dcg, dcg="classic"),
        "DCG(dcg='classic', base=3)@6": partial(naive.dcg, k=6, dcg="classic", base=3.0),
        f"DCG({SHOWN})": partial(naive.dcg, gains=GAINS),
        f"DCG({ODD_SHOWN})@4": partial(naive.dcg, k=4, gains=ODD),
    },
    "IDCG": {
        "IDCG": naive.ideal_dcg,
        "IDCG@3": partial(naive.ideal_dcg, k=3),
        "IDCG(dcg='exp-log2')@5": partial(naive.ideal_dcg, k=5, dcg="exp-log2"),
        "IDCG(dcg='classic', base=10)": partial(naive.ideal_dcg, dcg="classic", base=10.0),
        f"IDCG({ODD_SHOWN})@4": partial(naive.ideal_dcg, k=4, gains=ODD),
    },
    "nDCG": {
        "nDCG": naive.ndcg,
        "nDCG@1": partial(naive.ndcg, k=1),
        "nDCG@5": partial(naive.ndcg, k=5),
        "nDCG(dcg='exp-log2')": partial(naive.ndcg, dcg="exp-log2"),
        "nDCG(dcg='exp-log2')@5": partial(naive.ndcg, k=5, dcg="exp-log2"),
        "nDCG(dcg='classic')@5": partial(naive.ndcg, k=5, dcg="classic"),
        "nDCG(dcg='classic', base=4)@9": partial(naive.ndcg, k=9, dcg="classic", base=4.0),
        f"nDCG({SHOWN})@5": partial(naive.ndcg, k=5, gains=GAINS),
        f"nDCG({ODD_SHOWN})": partial(naive.ndcg, gains=ODD),
        "nDCG(dcg='exp-log2', gains={2: 10})": partial(naive.ndcg, dcg="exp-log2", gains={2: 10.0}),
    },
    "nDCGrel": {
        "nDCGrel": naive.ndcg_at_relevant,
        f"nDCGrel({SHOWN})": partial(naive.ndcg_at_relevant, gains=GAINS),
    },
    "Rndcg": {
        "Rndcg": naive.ndcg_at_levels,
        f"Rndcg({SHOWN})": partial(naive.ndcg_at_levels, gains=GAINS),
        "Rndcg(gains={1: 2})": partial(naive.ndcg_at_levels, gains={1: 2.0}),
    },
    "G": {
        "G": naive.cost_gain,
        f"G({SHOWN})": partial(naive.cost_gain, gains=GAINS),
        # A rank costs at least 1, whatever could be gained there.
        "G(gains={1: 0.25, 2: 0.5})": partial(naive.cost_gain, gains={1: 0.25, 2: 0.5}),
    },
    "RBP": {
        "RBP": naive.rbp,
        "RBP(p=0.5)@3": partial(naive.rbp, p=0.5, k=3),
        "RBP(p=0.95, rel=2)": partial(naive.rbp, p=0.95, rel=2),
        "RBP(normalise='query')": partial(naive.rbp, normalise="query"),
        f"RBP({SHOWN})": partial(naive.rbp, gains=GAINS),
        f"RBP(p=0.9, {SHOWN}, normalise='query')": partial(
            naive.rbp, p=0.9, gains=GAINS, normalise="query"
        ),
    },
    "RBPResidual": {
        "RBPResidual": naive.rbp_residual,
        "RBPResidual(p=0.5)": partial(naive.rbp_residual, p=0.5),
        "RBPResidual(complete=False)": partial(naive.rbp_residual, complete=False),
    },
    "ERR": {
        "ERR": naive.err,
        "ERR@3": partial(naive.err, k=3),
        "ERR(top=4)@5": partial(naive.err, k=5, top=4),
        "ERR(top=6)": partial(naive.err, top=6),
    },
}


@given(case=collections())
@settings(max_examples=60)
def test_measures_follow_their_definitions(case):
    compare(*case, {name: its for family in FAMILIES.values() for name, its in family.items()})


def test_base_of_the_logarithm_cancels_in_the_ratio_without_undiscounted_ranks():
    # log_b(i+1) = log2(i+1) / log2(b): the same factor above and below the line.
    qrels = {"q": {"a": 3, "b": 2, "c": 1}}
    run = {"q": {"x": 4.0, "c": 3.0, "a": 2.0, "b": 1.0}}
    result = evaluate(qrels, run, ["nDCG", "nDCG(base=10)", "DCG", "DCG(base=10)"])
    assert result.value(0, 1) == pytest.approx(result.value(0, 0), rel=1e-14)
    assert result.value(0, 3) == pytest.approx(result.value(0, 2) * 3.321928094887362, rel=1e-14)


def test_classic_form_leaves_ranks_below_the_base_undiscounted():
    qrels = {"q": {f"d{n}": 1 for n in range(12)}}
    run = {"q": {f"d{n}": float(-n) for n in range(12)}}
    result = evaluate(qrels, run, ["DCG(dcg='classic', base=10)@9", "DCG(dcg='classic')@2"])
    assert result.value(0, 0) == 9.0
    assert result.value(0, 1) == 2.0


def test_ideal_list_looks_at_all_judged_documents_not_only_at_the_retrieved():
    result = evaluate({"q": {"a": 1, "b": 3}}, {"q": {"a": 1.0}}, ["nDCG@1", "IDCG@1"])
    assert result.value(0, "nDCG@1") == pytest.approx(1 / 3)
    assert result.value(0, "IDCG@1") == 3.0


def test_many_different_grades_are_sorted_like_few():
    # More than 64 different grades take another way to the counts of each grade.
    qrels = {"q": {f"d{n}": n * 7 for n in range(40)}, "r": {"d1": 5}}
    run = {"q": {f"d{n}": float((n * 17) % 40) for n in range(40)}, "r": {"d1": 1.0}}
    compare(qrels, run, {"nDCG@10": partial(naive.ndcg, k=10), "nDCG": naive.ndcg})


def test_err_takes_the_greatest_grade_of_all_queries_unless_told():
    qrels = {"q1": {"a": 1}, "q2": {"b": 3}}
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    result = evaluate(qrels, run, ["ERR", "ERR(top=4)"])
    assert result.per_unit(0, "ERR").tolist() == [1 / 8, 7 / 8]
    assert result.per_unit(0, "ERR(top=4)").tolist() == [1 / 16, 7 / 16]


def test_rbp_scales_by_the_qrels_or_by_the_query():
    qrels = {"q1": {"a": 1}, "q2": {"b": 2}}
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    result = evaluate(qrels, run, ["RBP(p=0.5)", "RBP(p=0.5, normalise='query')"])
    assert result.per_unit(0, 0).tolist() == [0.25, 0.5]
    assert result.per_unit(0, 1).tolist() == [0.5, 0.5]


def test_residual_is_what_unknown_ranks_could_add():
    # Ranks 1 and 3 are judged: (1-p)(1 + p²) is known, the rest could still be relevant.
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"a": 3.0, "u": 2.0, "b": 1.0}}
    result = evaluate(qrels, run, "RBPResidual(p=0.5)")
    assert result.value(0, 0) == 1 - 0.5 * (1 + 0.25)
