"""trec_eval's vocabulary: parameters, printed names, groups, order of the lines."""

from __future__ import annotations

import pytest

from heldout import parse_measure, parse_measures
from heldout.errors import MeasureError
from heldout.measure.ranking.trec_names import TREC_NAMES, is_trec_name, parse_trec_name, trec_lines

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
PRINTED = {
    "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonrelJudgedRet", "relstring": "RelString",
    "map": "AP", "map_cut_100": "AP@100", "gm_map": "GMAP", "yaap": "SmoothAP", "infAP": "infAP",
    "P_10": "P@10", "relative_P_5": "RelP@5", "recall_5": "R@5", "success_5": "Success@5",
    "Rprec": "Rprec", "Rprec_mult_0.20": "Rprec(times=0.2)", "Rprec_mult_1.00": "Rprec",
    "bpref": "Bpref", "gm_bpref": "gm_bpref", "binG": "binG", "G": "G", "recip_rank": "RR",
    "iprec_at_recall_0.10": "IPrec@0.1", "iprec_at_recall_1.00": "IPrec@1", "11pt_avg": "IPrec11",
    "dcg": "DCG", "ideal_dcg": "IDCG", "ndcg": "nDCG", "ndcg_cut_10": "nDCG@10",
    "ndcg_rel": "nDCGrel", "Rndcg": "Rndcg", "unj_10": "Unjudged@10", "utility": "Utility",
    "rbp": "RBP(p=0.9, normalise='query')", "rbp_resid": "RBPResidual(p=0.9, complete=False)",
    "set_P": "SetP", "set_recall": "SetR", "set_map": "SetAP", "set_F": "SetF",
    "set_relative_P": "SetRelP",
}  # fmt: skip
PARAMETERS = {
    "P.5,10": ["P@5", "P@10"],
    "ndcg_cut.3": ["nDCG@3"],
    "ndcg_cut.23.4": ["nDCG@23"],  # trec_eval reads digits up to the dot
    "iprec_at_recall..25,.5": ["IPrec@0.25", "IPrec@0.5"],
    "ndcg.1=3,2=9": ["nDCG(gains={1: 3, 2: 9})"],
    "rbp.p=0.5,1=2": ["RBP(p=0.5, gains={1: 2}, normalise='query')"],
    "rbp_resid.p=0.5": ["RBPResidual(p=0.5, complete=False)"],
    "set_F.0.5": ["SetF(beta=0.5)"],
    "utility.2,-1,0,0.5": ["Utility(a=2, d=0.5)"],
    "relstring.20": ["RelString@20"],
    "11pt_avg.0.2,0.8": ["IPrec11(levels='0.2,0.8')"],
}
DEFAULT_CUTOFFS = {
    "P": [f"P@{k}" for k in RANKS],
    "map_cut": [f"AP@{k}" for k in RANKS],
    "success": [f"Success@{k}" for k in (1, 5, 10)],
    "unj": [f"Unjudged@{k}" for k in (5, 10, 20)],
    "iprec_at_recall": [f"IPrec@{level / 10:g}" for level in range(11)],
}


def test_names_have_the_meaning_of_trec_eval():
    for printed, canonical in PRINTED.items():
        assert str(parse_measure(printed)) == canonical
    for given, canonical in PARAMETERS.items():
        assert [str(one) for one in parse_measures([given])] == canonical, given
    for given, canonical in DEFAULT_CUTOFFS.items():
        assert [str(line.measure) for line in trec_lines([given])] == canonical, given
    assert all(parse_trec_name(name) for name in TREC_NAMES)
    for name in ("P@10", "nDCG", "runid", "P_x", "P.", "", "P_"):
        assert not is_trec_name(name), name


def test_official_group_is_what_trec_eval_prints_by_default():
    shown = [line.label for line in trec_lines([])]
    assert shown[:5] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret"]
    assert shown[5:10] == ["map", "gm_map", "Rprec", "bpref", "recip_rank"]
    assert shown[10:21] == [f"iprec_at_recall_{level / 10:.2f}" for level in range(11)]
    assert shown[21:] == [f"P_{k}" for k in RANKS]
    assert [line.label for line in trec_lines(["official"])] == shown
    assert {str(one) for one in parse_measures(["set"])} >= {"SetP", "SetR", "SetF", "Utility"}


def test_lines_have_the_order_and_the_labels_of_trec_eval():
    for given, labels in (
        # Not the order of the arguments
        (["ndcg", "P.5", "map", "num_q"], ["num_q", "map", "P_5", "ndcg"]),
        # trec_eval marks a measure as wanted once and keeps the parameters it saw first.
        (["P.7", "P.3"], ["P_7"]),
        (["ndcg.1=3,2=9", "set_F.0.5", "rbp.p=0.5"], ["ndcg_1=3,2=9", "set_F_0.5", "rbp_p=0.5"]),
    ):
        assert [line.label for line in trec_lines(given)] == labels
    lines = {line.label: line for line in trec_lines(["all_trec"])}
    shown = {name: (lines[name].single, lines[name].final) for name in ("map", "num_q", "gm_map")}
    assert shown == {"map": (True, True), "num_q": (False, True), "gm_map": (False, True)}
    assert not lines["relstring"].final


def test_the_threshold_reaches_measures_that_have_one():
    for name, canonical in (("map", "AP(rel=2)"), ("rbp", "RBP(p=0.9, normalise='query')")):
        (line,) = trec_lines([name], rel=2)
        assert str(line.measure) == canonical
    assert parse_measures(["rbp", "RBP"], rel=2) == parse_measures(["rbp", "RBP"])


WRONG = {
    "positive integer": ["P.0", "P.x", "P.5,", "P.-5", "P_0.5", "P.0.5", "P_23.4"],
    "duplicate cutoff": ["P.5,5", "P.5,5.5"],
    "not a number": ["iprec_at_recall.x", "ndcg.1=x", "set_F.x"],
    "takes no parameters": ["map.5"],
    "expected pairs such as": ["ndcg.5"],
    "not a grade": ["ndcg.a=5", "ndcg.-1=2"],
    "1 is given twice": ["ndcg.1=2,1=3"],
    "p is given twice": ["rbp.p=.5,p=.8"],
    "negative gain": ["ndcg.1=-2"],
    "takes four numbers": ["utility.1,2"],
    "is not supported: heldout has all of trec_eval": [
        *("prefs", "all_prefs", "qrels_jg", "prefs_simp", "prefs_avgjg_Rnonrel", "P_avgjg.5"),
    ],
}
# For output in the format of trec_eval, spellings of heldout are refused.
WRONG_LINES = {"nDCG@10": "expected its spelling", "P_10": "expected its spelling"}
WRONG_LINES |= {"nonsense": "not a measure of trec_eval", "P.": "missing parameters"}


def test_what_trec_eval_would_not_take_is_refused_with_a_reason():
    for why, names in WRONG.items():
        for wrong in names:
            with pytest.raises(MeasureError) as caught:
                parse_measures([wrong])
            assert why in str(caught.value), wrong
    for wrong, why in WRONG_LINES.items():
        with pytest.raises(MeasureError) as caught:
            trec_lines([wrong])
        assert why in str(caught.value), wrong
