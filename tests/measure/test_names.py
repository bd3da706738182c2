"""Names of measures: read, compared, printed back, refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout import Measure, Qrels, evaluate, parse_measure, parse_measures
from heldout.errors import MeasureError
from heldout.measure.base import definitions

OWN = {name: known for name, known in definitions("ranking").items() if known.own is None}
# Six digits: what a person would write.
DECIMALS = st.integers(1, 99_999).map(lambda number: number / 10_000)
GAINS = st.dictionaries(st.integers(0, 9), DECIMALS, min_size=1, max_size=4).map(
    lambda gains: tuple(sorted(gains.items()))
)
CHOICES = {
    "dcg": st.sampled_from(["log2", "exp-log2", "classic"]),
    "normalise": st.sampled_from(["all", "query"]),
    "gains": st.none() | GAINS,
    "levels": st.sampled_from(["0,.5,1", "0.25", "0,.1,.2"]),
    "base": st.sampled_from([1.5, 2.0, 2.718281828459045, 10.0]),
    "p": st.sampled_from([0.5, 0.8, 0.95, 1 / 3]),
    "alpha": st.sampled_from([0.0, 0.5, 1 / 3, 1.0]),
    "beta": st.sampled_from([0.25, 0.5, 1.0]),
    "T": st.sampled_from([0.5, 1.0, 2.0]),
}
CUTOFFS = {
    "none": st.none(),
    "optional": st.none() | st.integers(1, 10**6),
    "rank": st.integers(1, 10**6),
    "recall": st.integers(0, 1000).map(lambda number: number / 1000),
}


def values_for(key, default):
    if key in CHOICES:
        return CHOICES[key]
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, float):
        return DECIMALS
    whole = st.integers(0, 9)
    return whole if default is not None else st.none() | whole


@st.composite
def measures(draw):
    name = draw(st.sampled_from(sorted(OWN)))
    family = OWN[name]
    defaults = {one.name: one.default for one in family.parameters}
    keys = draw(st.sets(st.sampled_from(list(defaults))))
    given_values = {k: draw(values_for(k, v)) for k, v in defaults.items() if k in keys}
    return family.make(given_values, cutoff=draw(CUTOFFS[family.cutoff]))


@settings(max_examples=100)
@given(measure=measures())
def test_printed_name_reads_back_to_the_same_measure(measure):
    again = parse_measure(str(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure)


@settings(max_examples=100)
@given(first=measures(), second=measures())
def test_measures_are_equal_iff_their_printed_names_are(first, second):
    assert (first == second) == (str(first) == str(second))


def other_value(key, value):
    changed = {
        "dcg": "classic",
        "normalise": "query",
        "gains": ((1, 2.0),),
        "levels": "0,1",
    }
    if key in changed:
        return changed[key]
    if isinstance(value, bool):
        return not value
    return 3 if value is None else value / 2 if key in {"p", "alpha", "beta"} else value + 1


@pytest.mark.parametrize("name", sorted(OWN))
def test_changing_any_one_field_makes_another_measure(name):
    cutoff = {"none": None, "optional": None, "rank": 10, "recall": 0.5}[OWN[name].cutoff]
    measure = OWN[name].make(cutoff=cutoff)
    others = [OWN[name].make({k: other_value(k, v)}, cutoff=cutoff) for k, v in measure.params]
    if OWN[name].cutoff != "none":
        others.append(replace(measure, cutoff=0.25 if OWN[name].cutoff == "recall" else 7))
    different = {measure, *others}
    assert len(different) == len(others) + 1
    assert len({str(one) for one in different}) == len(different)
    assert OWN[name].make(cutoff=cutoff) == measure


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ('nDCG(dcg="exp-log2")@10', "nDCG(dcg='exp-log2')@10"),
        ("nDCG(dcg=exp)@10", "nDCG(dcg='exp-log2')@10"),
        ("nDCG(dcg='burges')", "nDCG(dcg='exp-log2')"),
        ("nDCG(dcg='jarvelin', base=10)@5", "nDCG(dcg='classic', base=10)@5"),
        ("nDCG(base=10, dcg='classic')@5", "nDCG(dcg='classic', base=10)@5"),
        ("nDCG(gains={2: 9, 1: 3})", "nDCG(gains={1: 3, 2: 9})"),
        ("nDCG(gains={1=3,2=9})", "nDCG(gains={1: 3, 2: 9})"),
        ("nDCG(gains={1: 0.5})@3", "nDCG(gains={1: 0.5})@3"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("P(rel=1)@5", "P@5"),
        ("P(rel=2.0)@5", "P(rel=2)@5"),
        ("P(  rel = 2 ,judged_only=True )@5", "P(rel=2, judged_only=True)@5"),
        ("P(judged_only=False)@5", "P@5"),
        ("RBP(p=.95)", "RBP(p=0.95)"),
        ("RBP(p=0.80)@10", "RBP@10"),
        ("RBP(rel=None)", "RBP"),
        ("ERR(top=4)@20", "ERR(top=4)@20"),
        ("IPrec@0.10", "IPrec@0.1"),
        ("IPrec@1", "IPrec@1"),
    ],
)
def test_canonical_form(spelling, canonical):
    assert str(parse_measure(spelling)) == canonical


# The names and short forms that ir_measures 0.4 documents.
@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("AP", "AP"),
        ("MAP", "AP"),
        ("AP@1000", "AP@1000"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("Bpref", "Bpref"),
        ("BPref", "Bpref"),
        ("ERR@20", "ERR@20"),
        ("infAP", "infAP"),
        ("IPrec@0.2", "IPrec@0.2"),
        ("Judged@10", "Judged@10"),
        ("NDCG@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@5"),
        ("nDCG(judged_only=True)@10", "nDCG(judged_only=True)@10"),
        ("NumQ", "NumQ"),
        ("NumRel", "NumRel"),
        ("NumRet", "NumRet"),
        ("NumRelRet", "NumRelRet"),
        ("P@10", "P@10"),
        ("Precision@10", "P@10"),
        ("R@100", "R@100"),
        ("Recall@100", "R@100"),
        ("RBP(p=0.9, rel=1)", "RBP(p=0.9, rel=1)"),
        ("Rprec", "Rprec"),
        ("RPrec", "Rprec"),
        ("RR", "RR"),
        ("MRR@10", "RR@10"),
        ("SetAP", "SetAP"),
        ("SetF(beta=0.5)", "SetF(beta=0.5)"),
        ("SetP", "SetP"),
        ("SetRelP", "SetRelP"),
        ("SetR", "SetR"),
        ("Success@5", "Success@5"),
        ("Accuracy@5", "Accuracy@5"),
        ("BPM(T=2.0, max_rel=3)@10", "BPM(T=2, max_rel=3)@10"),
        ("Compat(p=0.8)", "Compat(p=0.8)"),
        ("INST(max_rel=3)", "INST(max_rel=3)"),
        ("ERR_IA@20", "ERR_IA@20"),
        ("α_nDCG(alpha=0.3)@20", "alpha_nDCG(alpha=0.3)@20"),
        ("MAP_IA", "AP_IA"),
    ],
)
def test_names_of_ir_measures(spelling, canonical):
    assert str(parse_measure(spelling)) == canonical


# https://amenra.github.io/ranx/metrics/
@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("ndcg@10", "nDCG@10"),
        ("ndcg", "nDCG"),
        ("map@100", "AP@100"),
        ("map", "AP"),
        ("mrr", "RR"),
        ("mrr@10", "RR@10"),
        ("hit_rate@5", "Success@5"),
        ("precision@5", "P@5"),
        ("recall@5", "R@5"),
        ("f1@10", "F@10"),
        ("r-precision", "Rprec"),
        ("bpref", "Bpref"),
    ],
)
def test_names_of_ranx(spelling, canonical):
    assert str(parse_measure(spelling)) == canonical


@pytest.mark.parametrize("name", sorted(OWN))
def test_upper_and_lower_case_do_not_matter_with_a_cutoff_or_parameters(name):
    at = {"none": "", "optional": "@7", "rank": "@7", "recall": "@0.5"}[OWN[name].cutoff]
    plain = parse_measure(f"{name}(judged_only=True){at}")
    assert parse_measure(f"{name.lower()}(judged_only=True){at}") == plain
    assert parse_measure(f"{name.upper()}(judged_only=True){at}") == plain


def test_one_text_may_hold_several_names():
    wanted = [parse_measure(name) for name in ("AP", "nDCG@10", "P(rel=2)@5", "R@5")]
    assert parse_measures(["AP nDCG@10;P(rel=2)@5", "R@5"]) == wanted


def test_the_same_measure_under_two_names_counts_once():
    assert parse_measures(["AP", "MAP", "map", "P@5", "P_5"]) == parse_measures(["AP", "P@5"])


def test_a_text_of_several_names_is_no_single_measure():
    with pytest.raises(MeasureError, match="names 2 measures"):
        parse_measure("AP RR")


def test_a_measure_is_taken_as_it_is():
    measure = parse_measure("P@5")
    assert parse_measure(measure) is measure
    assert parse_measures([measure, "P@5"]) == [measure]


def test_measures_are_values_that_cannot_be_changed():
    measure = parse_measure("P@5")
    with pytest.raises(AttributeError):
        measure.cutoff = 6  # type: ignore[misc]
    assert repr(measure) == "Measure('P@5')"
    assert isinstance(measure, Measure)


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("precison@5", "P@5"),
        ("NDGC@10", "nDCG@10"),
        ("recal@5", "R@5"),
        ("Succes@5", "Success@5"),
        ("judgd@10", "Judged@10"),
        ("recip_rnk", "RR"),
        ("bpre", "Bpref"),
        ("rmsee", "RMSE"),
        ("acuracy", "accuracy"),
        ("BLUE", "BLEU"),
        ("rogue-L", "ROUGE-L"),
    ],
)
def test_unknown_name_is_answered_with_the_nearest(wrong, nearest):
    with pytest.raises(MeasureError, match="did you mean") as caught:
        parse_measure(wrong)
    assert wrong in str(caught.value)
    shown = str(caught.value).partition("did you mean ")[2].rstrip("?").split(" or ")
    assert nearest in shown


def test_unknown_name_is_answered_with_measures_of_other_tasks_too():
    with pytest.raises(MeasureError, match=r"did you mean RMSE \(of regression\)"):
        parse_measure("rmsee", "ranking")


@pytest.mark.parametrize("wrong", ["zzzzqqqq", "", " ", "@10", "§"])
def test_name_that_resembles_none_points_to_the_list(wrong):
    with pytest.raises(MeasureError, match="heldout list measures"):
        parse_measure(wrong)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("P(foo=1)@5", "no parameter 'foo'; it has rel, judged_only"),
        ("P(rel=two)@5", "expected an integer"),
        ("P(rel=1.5)@5", "expected an integer"),
        ("P(rel=True)@5", "expected an integer"),
        ("P(rel=None)@5", "expected an integer"),
        ("P(rel='2')@5", "expected an integer"),
        ("RBP(p='x')", "expected a number"),
        ("F(beta=0)@5", "expected a number above 0"),
        ("P(judged_only=1)@5", "expected True or False"),
        ("P(judged_only='yes')@5", "expected True or False"),
        ("nDCG(dcg='linear')@5", "expected one of log2, exp-log2, classic"),
        ("RBP(normalise='max')", "expected one of all, query"),
        ("nDCG(gains=3)", "gains=3"),
        ("nDCG(gains={a: 1})", "cannot read the gain"),
        ("nDCG(gains={1: one})", "cannot read the gain"),
        ("nDCG(gains={1})", "cannot read the gain"),
        ("P(2)@5", "expected parameter=value"),
        ("P(rel)@5", "expected parameter=value"),
        ("P(=2)@5", "expected parameter=value"),
        ("P(rel=)@5", "expected parameter=value"),
        ("P(rel=2 3)@5", "expected an integer"),
        ("P", "needs a cutoff, for example P@10"),
        ("R", "needs a cutoff, for example R@10"),
        ("success", "needs a cutoff, for example Success@10"),
        ("p", "needs a cutoff, for example P@10"),
        ("P(rel=2)", "needs a cutoff, for example P@10"),
        ("IPrec", "needs a cutoff, for example IPrec@0.1"),
        ("GMAP@10", "takes no cutoff"),
        ("Bpref@10", "takes no cutoff"),
        ("P@0", "must be a positive integer"),
        ("P@2.5", "must be a positive integer"),
    ],
)
def test_malformed_name_is_refused_with_a_reason(wrong, why):
    with pytest.raises(MeasureError) as caught:
        parse_measure(wrong)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "wrong", ["P@-1", "P@", "P@x", "AP)", "P(rel=2@5", "AP@10@5", "P(rel=2)x@5"]
)
def test_broken_syntax_is_a_measure_error(wrong):
    with pytest.raises(MeasureError):
        parse_measure(wrong)


HOSTILE = [
    "P(rel=__import__('os').getpid())@5",
    "P(rel=__import__('os'))@5",
    "P(rel=(lambda: 2)())@5",
    "P(rel=1+1)@5",
    "nDCG(gains={1: __import__('os').getpid()})@5",
    "nDCG(gains=dict(a=1))",
    "P(rel=open('x'))@5",
    "P(rel=[1][0])@5",
    "__import__('os')",
    "exec('1')",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_in_a_name_is_evaluated(name):
    with pytest.raises(MeasureError):
        parse_measure(name)


def test_threshold_for_all_measures_reaches_those_that_have_one():
    changed = parse_measures(["P@5", "NumQ", "AP(rel=3)"], rel=2)
    assert [str(one) for one in changed] == ["P(rel=2)@5", "NumQ", "AP(rel=3)"]


@pytest.mark.parametrize("name", sorted(OWN))
def test_every_family_says_what_it_is_in_one_line(name):
    assert OWN[name].summary.endswith((".", ":"))
    assert len(OWN[name].summary) <= 100


def test_every_family_can_be_evaluated_under_its_printed_name():
    at = {"none": "", "optional": "", "rank": "@3", "recall": "@0.5"}
    names = [f"{name}{at[family.cutoff]}" for name, family in OWN.items()]
    qrels = Qrels.of(
        {"query": [*"qq"], "doc": [*"ab"], "grade": [1, 0], "subtopic": [*"12"]}, subtopics=True
    )
    result = evaluate(qrels, {"q": {"a": 1.0, "c": 2.0}}, names)
    assert list(result.summary()["run"]) == names


# What was once taken without a word, or ended in a traceback.
@pytest.mark.parametrize(
    "name",
    [
        "AP(",
        "nDCG@10(",
        "P(rel=1, rel=2)@5",
        "nDCG(gains={1: 2, 1: 3})",
        "P@" + "9" * 400,
        "P.²",
        "relstring.nan",
        "relstring.inf",
        "ndcg.1=nan",
        "IPrec11(levels='x')",
        "IPrec11(levels='')",
        "IPrec@1.5",
        "nDCG(base=1)",
        "nDCG(base=0)",
        "RBP(p=1.5)",
        "F(beta=1e999)@5",
        "ERR(top=-5000)",
        "P@-1",
        "AP@10@5",
        "RelString@99999999999999999999",
    ],
)
def test_nonsense_is_refused(name):
    with pytest.raises(MeasureError):
        parse_measures([name])


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("11pt", "IPrec11"),
        ("11-pt_avg", "IPrec11"),
    ],
)
def test_spellings_of_old_trec_eval(spelling, canonical):
    assert str(parse_measure(spelling)) == canonical


@pytest.mark.parametrize(
    "name", ["IPrec@0.123456789", "IPrec@1e-07", "nDCG(gains={1: 0.123456789})@10"]
)
def test_no_digit_is_lost_in_a_name(name):
    assert str(parse_measure(name)) == name
    assert parse_measure(str(parse_measure(name))) == parse_measure(name)


def test_a_setting_for_all_spares_what_a_name_sets():
    names = ["P(rel=1)@5", "P@5", "map"]
    assert [str(one) for one in parse_measures(names, rel=2)] == ["P@5", "P(rel=2)@5", "AP(rel=2)"]


@pytest.mark.parametrize(
    ("name", "task", "meant"),
    [
        ("recall@10", None, "ranking"),
        ("recall", None, "classification"),
        ("precision", None, "classification"),
        ("accuracy", None, "classification"),
        ("Accuracy", None, "ranking"),
        ("Accuracy@3", None, "ranking"),
        ("accuracy", "ranking", "ranking"),
        ("F1", None, "classification"),
        ("F1", "text", "text"),
        ("F1@5", None, "ranking"),
    ],
)
def test_a_name_of_two_tasks(name, task, meant):
    assert parse_measure(name, task).task == meant


def test_a_name_that_only_the_data_can_decide_is_refused_with_both_tasks():
    with pytest.raises(MeasureError, match="of ranking and of classification: choose one with"):
        parse_measure("ACCURACY")
    with pytest.raises(MeasureError, match="'RMSE' of ranking: it is a measure of regression"):
        parse_measure("RMSE", "ranking")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("AP, RR", "separate measures with spaces, not commas"),
        ("AP(rel=2", r"a measure is written AP\(parameter=value\)@cutoff"),
        ("F1(makro)", "'makro' is not one of macro, micro, weighted"),
        ("F1(macro, micro)", "average is given twice"),
        ("ndcg10", r"did you mean nDCG@10\?"),
    ],
)
def test_what_cannot_be_read_is_answered_with_how_to_write_it(wrong, why):
    with pytest.raises(MeasureError, match=why):
        parse_measure(wrong)
