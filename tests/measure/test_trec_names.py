"""trec_eval's vocabulary: parameters, printed names, groups, order of the lines."""

from __future__ import annotations

import pytest

from heldout import parse_measure, parse_measures
from heldout.errors import MeasureError
from heldout.measure.ranking.trec_names import TREC_NAMES, is_trec_name, parse_trec_name, trec_lines

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


@pytest.mark.parametrize(
    ("printed", "canonical"),
    [
        ("P_10", "P@10"),
        ("recall_5", "R@5"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("gm_map", "GMAP"),
        ("recip_rank", "RR"),
        ("Rprec", "Rprec"),
        ("Rprec_mult_0.20", "Rprec(times=0.2)"),
        ("Rprec_mult_1.00", "Rprec"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("iprec_at_recall_1.00", "IPrec@1"),
        ("success_5", "Success@5"),
        ("relative_P_5", "RelP@5"),
        ("unj_10", "Unjudged@10"),
        ("bpref", "Bpref"),
        ("gm_bpref", "gm_bpref"),
        ("infAP", "infAP"),
        ("11pt_avg", "IPrec11"),
        ("binG", "binG"),
        ("G", "G"),
        ("dcg", "DCG"),
        ("ideal_dcg", "IDCG"),
        ("ndcg_rel", "nDCGrel"),
        ("Rndcg", "Rndcg"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
        ("set_map", "SetAP"),
        ("set_F", "SetF"),
        ("set_relative_P", "SetRelP"),
        ("num_q", "NumQ"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
        ("num_nonrel_judged_ret", "NumNonrelJudgedRet"),
        ("yaap", "SmoothAP"),
        ("rbp", "RBP(p=0.9, normalise='query')"),
        ("rbp_resid", "RBPResidual(p=0.9, complete=False)"),
        ("utility", "Utility"),
        ("relstring", "RelString"),
    ],
)
def test_printed_names(printed, canonical):
    assert str(parse_measure(printed)) == canonical


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("P.5,10", ["P@5", "P@10"]),
        ("P.10,5", ["P@5", "P@10"]),
        ("ndcg_cut.3", ["nDCG@3"]),
        ("ndcg_cut.23.4", ["nDCG@23"]),  # trec_eval reads digits up to the dot
        ("iprec_at_recall.0.25,0.5", ["IPrec@0.25", "IPrec@0.5"]),
        ("iprec_at_recall..25,.5", ["IPrec@0.25", "IPrec@0.5"]),
        ("ndcg.1=3,2=9", ["nDCG(gains={1: 3, 2: 9})"]),
        ("ndcg.2=9.0,1=3.5", ["nDCG(gains={1: 3.5, 2: 9})"]),
        ("rbp.p=0.5", ["RBP(p=0.5, normalise='query')"]),
        ("rbp.p=0.5,1=2", ["RBP(p=0.5, gains={1: 2}, normalise='query')"]),
        ("rbp_resid.p=0.5", ["RBPResidual(p=0.5, complete=False)"]),
        ("set_F.0.5", ["SetF(beta=0.5)"]),
        ("utility.2,-1,0,0.5", ["Utility(a=2, d=0.5)"]),
        ("relstring.20", ["RelString@20"]),
        ("11pt_avg.0.2,0.8", ["IPrec11(levels='0.2,0.8')"]),
        ("map_cut", [f"AP@{k}" for k in RANKS]),
    ],
)
def test_parameters_behind_a_dot(given, canonical):
    assert [str(one) for one in parse_measures([given])] == canonical


@pytest.mark.parametrize(
    ("name", "family", "cutoffs"),
    [
        ("P", "P", RANKS),
        ("recall", "R", RANKS),
        ("ndcg_cut", "nDCG", RANKS),
        ("map_cut", "AP", RANKS),
        ("success", "Success", [1, 5, 10]),
        ("unj", "Unjudged", [5, 10, 20]),
        ("iprec_at_recall", "IPrec", [f"{level / 10:g}" for level in range(11)]),
    ],
)
def test_default_cutoffs_are_those_of_trec_eval(name, family, cutoffs):
    assert [str(line.measure) for line in trec_lines([name])] == [f"{family}@{k}" for k in cutoffs]


def test_official_group_is_what_trec_eval_prints_by_default():
    shown = [line.label for line in trec_lines([])]
    assert shown[:10] == [
        "runid",
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "map",
        "gm_map",
        "Rprec",
        "bpref",
        "recip_rank",
    ]
    assert shown[10:21] == [f"iprec_at_recall_{level / 10:.2f}" for level in range(11)]
    assert shown[21:] == [f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]
    assert [line.label for line in trec_lines(["official"])] == shown


def test_groups_are_measures_elsewhere_too():
    official = parse_measures(["official"])
    assert official == [line.measure for line in trec_lines([]) if line.measure is not None]
    assert {str(one) for one in parse_measures(["set"])} >= {"SetP", "SetR", "SetF", "Utility"}


def test_lines_come_in_the_order_of_trec_eval_and_not_in_that_of_the_arguments():
    labels = [line.label for line in trec_lines(["ndcg", "P.5", "map", "num_q"])]
    assert labels == ["num_q", "map", "P_5", "ndcg"]


def test_of_two_parameter_lists_the_first_is_used():
    # trec_eval marks a measure as wanted once and keeps the parameters it saw first.
    assert [line.label for line in trec_lines(["P.7", "P.3"])] == ["P_7"]
    assert [line.label for line in trec_lines(["official", "P.3"])][-1] == "P_3"


def test_parameters_stand_in_the_label():
    labels = [line.label for line in trec_lines(["ndcg.1=3,2=9", "set_F.0.5", "rbp.p=0.5"])]
    assert labels == ["ndcg_1=3,2=9", "set_F_0.5", "rbp_p=0.5"]


def test_some_lines_are_for_single_queries_or_for_all_only():
    lines = {line.label: line for line in trec_lines(["all_trec"])}
    assert not lines["num_q"].single
    assert not lines["gm_map"].single
    assert not lines["relstring"].final
    assert lines["map"].single
    assert lines["map"].final


def test_the_threshold_reaches_the_measures():
    (line,) = trec_lines(["map"], rel=2)
    assert str(line.measure) == "AP(rel=2)"


def test_rbp_is_graded_whatever_the_threshold():
    (line,) = trec_lines(["rbp"], rel=2)
    assert str(line.measure) == "RBP(p=0.9, normalise='query')"
    assert parse_measures(["rbp", "RBP"], rel=2) == parse_measures(["rbp", "RBP"])


@pytest.mark.parametrize(
    "name", ["prefs", "all_prefs", "qrels_jg", "prefs_simp", "prefs_avgjg_Rnonrel", "P_avgjg.5"]
)
def test_preferences_and_judgement_groups_are_not_supported(name):
    for read in (trec_lines, parse_measures):
        with pytest.raises(
            MeasureError, match=rf"^{name} is not supported: heldout has all of trec_eval"
        ):
            read([name])


@pytest.mark.parametrize("name", TREC_NAMES)
def test_every_name_of_the_table_is_understood(name):
    found = parse_trec_name(name)
    assert found
    assert all(parse_measure(str(one)) == one for one in found)


@pytest.mark.parametrize("name", ["P@10", "nDCG", "AP", "runid", "P_x", "P.", "ndcg_10", "", "P_"])
def test_other_names_are_left_to_others(name):
    assert not is_trec_name(name)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("P.0", "positive integer"),
        ("P.x", "positive integer"),
        ("P.5,", "positive integer"),
        ("P.-5", "positive integer"),
        ("P_0.5", "positive integer"),
        ("P.5,5", "duplicate cutoff"),
        ("P.5,5.5", "duplicate cutoff"),
        ("P.0.5", "positive integer"),
        ("P_23.4", "positive integer"),
        ("iprec_at_recall.x", "not a number"),
        ("map.5", "takes no parameters"),
        ("ndcg.5", "expected pairs such as"),
        ("ndcg.a=5", "not a grade"),
        ("ndcg.1=x", "not a number"),
        ("ndcg.1=2,1=3", "1 is given twice"),
        ("ndcg.1=2,01=3", "a grade is given twice"),
        ("rbp.p=.5,p=.8", "p is given twice"),
        ("ndcg.1=-2", "negative gain"),
        ("ndcg.-1=2", "not a grade"),
        ("utility.1,2", "takes four numbers"),
        ("set_F.x", "not a number"),
    ],
)
def test_wrong_parameters_are_named(wrong, why):
    with pytest.raises(MeasureError) as caught:
        parse_measures([wrong])
    assert why in str(caught.value)
    assert wrong.partition(".")[0].partition("_0")[0] in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("nDCG@10", "expected its spelling"),
        ("nonsense", "not a measure of trec_eval"),
        ("P.", "missing parameters"),
        ("P_10", "expected its spelling"),
    ],
)
def test_trec_output_takes_the_spellings_of_trec_eval_only(wrong, why):
    with pytest.raises(MeasureError) as caught:
        trec_lines([wrong])
    assert why in str(caught.value)
