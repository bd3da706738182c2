"""Names of measures: read, compared, printed back, refused."""

from __future__ import annotations

import re
import sys
from contextlib import suppress

import pytest

import heldout
from heldout import Scores, evaluate, parse_measure, parse_measures
from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.base import TASKS, definitions
from heldout.measure.names import plain, spelled
from heldout.measure.text.packages import signature

# What heldout calls a measure, and what others do: ir_measures 0.4, ranx
# (https://amenra.github.io/ranx/metrics/), old trec_eval, scikit-learn, SciPy, sacrebleu,
# rouge-score, SQuAD; with blanks, quotes, defaults and other words in parameters
SPELLINGS = {
    "AP": "MAP map",
    "AP_IA": "MAP_IA",
    "Bpref": "BPref bpref",
    "F@10": "f1@10 F1@10",
    "IPrec11": "11pt 11-pt_avg",
    "P@5": "Precision@5 precision@5 P(rel=1)@5 P(judged_only=False)@5",
    "P(rel=2, judged_only=True)@5": "P(  rel = 2 ,judged_only=True )@5",
    "R@5": "Recall@5 recall@5",
    "RBP": "RBP(rel=None)",
    "RR": "mrr MRR",
    "Rprec": "RPrec r-precision",
    "Success@5": "hit_rate@5",
    "alpha_nDCG(alpha=0.3)@20": "α_nDCG(alpha=0.3)@20",
    "nDCG@10": "NDCG@10 ndcg@10 nDCG(dcg='log2')@10",
    "nDCG(dcg='exp-log2')": """nDCG(dcg="exp-log2") nDCG(dcg=exp) nDCG(dcg='burges')""",
    "nDCG(dcg='classic', base=10)": "nDCG(base=10, dcg='jarvelin') nDCG(dcg=classic, base=10.0)",
    "nDCG(gains={1: 3, 2: 9})": "nDCG(gains={2: 9, 1: 3}) nDCG(gains={1=3,2=9})",
    "AUC": "roc_auc roc_auc_score roc_auc_ovr",
    "AUC(weighted)": "roc_auc_ovr_weighted",
    "Brier": "brier_score_loss",
    "F1(macro)": "f1 F1 f1_macro f1_score",
    "MCC": "matthews_corrcoef",
    "accuracy": "accuracy_score",
    "average-precision": "average_precision average_precision_score",
    "balanced-accuracy": "balanced_accuracy balanced_accuracy_score",
    "error": "zero_one_loss",
    "kappa": "cohen_kappa cohen_kappa_score",
    "kappa(linear)": "kappa(weights=linear)",
    "log-loss": "log_loss",
    "precision(macro)": "precision precision_macro precision_score",
    "recall(weighted)": "recall_weighted",
    "top-k-accuracy(k=2)": "top_k_accuracy top_k_accuracy_score",
    "Kendall": "kendalltau",
    "MAE": "mean_absolute_error",
    "MAPE": "mean_absolute_percentage_error",
    "MSE": "mean_squared_error",
    "MSLE": "mean_squared_log_error",
    "Pearson": "pearsonr",
    "R2": "r2 R² r2_score",
    "RMSE": "root_mean_squared_error",
    "Spearman": "spearmanr",
    "explained-variance": "explained_variance explained_variance_score",
    "median-AE": "median_absolute_error",
    "pinball(alpha=0.5)": "mean_pinball_loss",
    "BLEU": "bleu",
    "BLEU(order=2, smooth='add-one')": " BLEU ( order = 2 , smooth='add-one' ) ",
    "chrF": "chrF2",
    "chrF++": "chrf++ chrF2++",
    "ROUGE-1": "rouge1",
    "ROUGE-L": "rougeL",
    "ROUGE-Lsum": "rougeLsum",
    "ExactMatch": "em EM",
    "Perplexity(base=2)": "ppl(base=2)",
    # The variant is always in the name
    "METEOR(stages='exact+stem')": "meteor METEOR",
    "Embedding(vectors='v.txt', kind='average')": "Embedding(vectors=v.txt)",
}


def test_names_of_others():
    for ours, names in SPELLINGS.items():
        found = parse_measures(names)  # several names of one measure are one
        assert [str(one) for one in found] == [ours]
        assert found == [parse_measure(ours)]
    ir_measures = pytest.importorskip("ir_measures")
    known = spelled(["ranking"])
    assert [one for one in ir_measures.measures.registry if plain(one) not in known] == []


def test_several_names():
    found = parse_measures(["AP nDCG@10;P(rel=2)@5", "R@5"])
    assert [str(one) for one in found] == ["AP", "nDCG@10", "P(rel=2)@5", "R@5"]
    listed = parse_measures("P@[1,5, 10] AP(rel=2)@[3]")
    assert [str(one) for one in listed] == ["P@1", "P@5", "P@10", "AP(rel=2)@3"]
    # Under two names it counts once; a measure is taken as it is.
    assert parse_measures(["AP", "MAP", "map", "P@5", "P_5"]) == parse_measures(["AP", "P@5"])
    measure = parse_measure("P@5")
    assert parse_measure(measure) is measure
    with pytest.raises(AttributeError):
        measure.cutoff = 6
    # A setting for all spares what a name sets, and measures without it.
    changed = parse_measures(["P(rel=1)@5", "P@5", "NumQ", "map", "RBP", measure], rel=2)
    assert [str(one) for one in changed] == ["P@5", "P(rel=2)@5", "NumQ", "AP(rel=2)", "RBP"]


def test_a_name_of_two_tasks():
    for name, task, meant in (
        ("recall@10", None, "ranking"),
        ("recall", None, "classification"),
        ("accuracy", None, "classification"),
        ("Accuracy", None, "ranking"),
        ("accuracy", "ranking", "ranking"),
        ("F1", "text", "text"),
        ("F1@5", None, "ranking"),
    ):
        assert parse_measure(name, task).task == meant, name


# Any parameters

CUTOFFS = {"none": [None], "optional": [None, 7], "rank": [10, 10**6], "recall": [0.5, 0.123]}
EVERY = [each for task in TASKS for each in definitions(task).values() if each.own is None]
USUAL = {"Embedding": {"vectors": "v.txt"}, "BLEU": {"smooth": "floor"}}
USUAL["sentBLEU"] = USUAL["BLEU"]
OTHERS = {"levels": "0,.5,1", "vectors": "w.txt", "class": "b c", "base": 2.123456789}


def other_value(parameter, usual):
    """A value that a parameter does not have by default."""
    if parameter.name in OTHERS and parameter.kind is not int:
        return OTHERS[parameter.name]
    if parameter.choices:
        return next(one for one in parameter.choices.values() if one not in {usual, "add-one"})
    if parameter.kind is tuple:
        return ((1, 0.123456789), (2, 1e-07))
    values = [not usual] if parameter.kind is bool else [3, 2, 1 / 3, 0.0]
    for value in values:
        with suppress(MeasureError):
            if parameter.check(value) != usual:
                return parameter.check(value)
    raise AssertionError(parameter)


def with_others(family):
    """A measure, those with one other parameter or cutoff, and one with all others."""
    cutoff, *more = CUTOFFS[family.cutoff]
    usual = USUAL.get(family.name, {})
    plain_one = family.make(usual, cutoff=cutoff)
    values = plain_one.parameters
    others = {one.name: other_value(one, values[one.name]) for one in family.parameters}
    yield plain_one
    yield from (family.make({**usual, key: one}, cutoff=cutoff) for key, one in others.items())
    yield from (family.make(usual, cutoff=one) for one in more)
    if "class" in others:
        others.pop("average", None)  # of one class there is none
    if len(others) > 1:
        yield family.make(others, cutoff=cutoff)


def test_every_parameter_makes_another_measure_whose_name_is_parsed_back(tmp_path, monkeypatch):
    """Of texts also another signature."""
    pytest.importorskip("sacrebleu")
    pytest.importorskip("nltk")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.txt").write_text("a 1 0\n")
    (tmp_path / "w.txt").write_text("a 1 0.5\n")
    for family in EVERY:
        found = list(with_others(family))
        described = [str, hash, signature] if family.task == "text" else [str, hash]
        for describe in described:
            assert len({describe(one) for one in found}) == len(found), found
        for one in found:
            again = parse_measure(str(one), family.task)
            assert (again, str(again), hash(again)) == (one, str(one), hash(one))
            assert repr(one) == f"Measure({str(one)!r})"
            if family.task == "text":  # without a reference there is none in the signature
                differs = signature(one, "1") != signature(one, "2")
                assert differs == (family.name != "Perplexity")
        # Case does not matter.
        for spelling in (family.name.lower(), family.name.upper()):
            again = str(found[-1]).replace(family.name, spelling, 1)
            assert parse_measure(again, family.task) == found[-1]


# Names that are objects


def test_measures_are_names_of_python():
    names = heldout.measures
    assert names.nDCG @ 10 == parse_measure("nDCG@10")
    assert parse_measures("P@[1,5,10]") == names.P @ [1, 5, 10]
    assert names.P(rel=2) @ 5 == parse_measure("P(rel=2)@5")
    assert names.nDCG(gains={1: 1, 2: 5}) @ 10 == parse_measure("nDCG(gains={1: 1, 2: 5})@10")
    assert names.F1("macro") == parse_measure("F1(macro)")
    assert names.F(class_="b", beta=2.0) == parse_measure("F(beta=2, class=b)")
    assert names.ROUGE_L(stem=True) == parse_measure("ROUGE-L(stem=True)")
    assert parse_measures([names.AP, names.RMSE, names.BLEU]) == parse_measures("AP RMSE BLEU")
    assert {"nDCG", "F1", "balanced_accuracy", "BLEU", "ROUGE_L"} <= set(dir(names))
    assert all(getattr(names, name) for name in dir(names))
    with pytest.raises(AttributeError, match="no measure 'nDGC'"):
        _ = names.nDGC


QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}}
RUN = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"d": 1.0}}


def test_objects_of_ir_measures_are_taken_wherever_measures_are():
    ir_measures = pytest.importorskip("ir_measures")
    names = ["nDCG@10", "P(rel=2)@5", "Compat(p=0.8)", "NumRet(rel=1)"]
    objects = [ir_measures.parse_measure(name) for name in names]
    assert evaluate(QRELS, RUN, objects).summary() == evaluate(QRELS, RUN, names).summary()
    result = evaluate(QRELS, {"A": RUN, "B": RUN}, [ir_measures.RR, ir_measures.nDCG @ 10])
    scores = result.scores(ir_measures.RR)
    assert Scores.of(result.to_frame(), ir_measures.RR).values.tolist() == scores.values.tolist()
    with pytest.raises(MeasureError, match=r"RR is already a measure \(RR\)"):
        heldout.define_measure(ir_measures.RR)
    with pytest.raises(MeasureError, match="'RR' of text: it is a measure of ranking"):
        parse_measures([ir_measures.RR], "text")


# By the reason that is given; some were once taken without a word, or ended in a traceback.
REFUSED = {
    "heldout list measures": ["zzzzqqqq", "", " ", "@10", "§"],
    "no parameter 'foo'; it has rel, judged_only": ["P(foo=1)@5"],
    "expected an integer": [f"P(rel={one})@5" for one in ("two", 1.5, True, None, "'2'", "2 3")],
    "expected a number": ["RBP(p='x')", "F(beta=1e999)@5"],
    "expected a number from 0 to 1": ["RBP(p=1.5)", "alpha_nDCG(alpha=1.5)@5", "NRBP(beta=2)"],
    "expected a number above 0": ["F(beta=0)@5", "BLEU(smooth='floor', smooth_value=-1.0)"],
    "expected a number above 1": ["Perplexity(base=1)", "Perplexity(base='e')", "nDCG(base=1)"],
    "expected a number of at least 0.5": ["INST(T=0.1)"],
    "expected a non-negative number": ["INSQ(T=-1)"],
    "expected an integer from 1 to 9": ["BLEU(order=0)", "BLEU(order='x')"],
    "expected True or False": ["P(judged_only=1)@5", "BLEU(lowercase=1)", "ROUGE-1(stem='yes')"],
    "expected one of log2, exp-log2, classic": ["nDCG(dcg='linear')@5"],
    "METEOR: ": [f"METEOR({one})" for one in ("stages=stem", "alpha=2", "gamma='x'", "beta=True")],
    "levels=": ["IPrec11(levels='x')", "IPrec11(levels='')", "IPrec11(levels='2')"],
    "tokenize='spacy'": ["BLEU(tokenize='spacy')"],
    "cannot read the gain": [f"nDCG(gains={{{one}}})" for one in ("a: 1", "1: one", "1")],
    "two gains": ["nDCG(gains={1: 2, 1: 3})"],
    "expected parameter=value": ["P(2)@5", "P(rel)@5", "P(=2)@5", "P(rel=)@5"],
    "is given twice": ["P(rel=1, rel=2)@5", "F1(macro, micro)", "BLEU(order=2, order=3)"],
    "needs a cutoff, for example P@10": ["P", "p", "P(rel=2)"],
    "needs a cutoff, for example IPrec@0.1": ["IPrec"],
    "takes no cutoff": ["GMAP@10", "Bpref@10", "INST@5"],
    "must be between 0 and 1": ["IPrec@1.5"],
    "must be a positive integer": ["P@0", "P@2.5", "P@1000000001", "AP@99999999999999999999"],
    "is not a number": ["P@[1,]"],
    "names 2 measures": ["AP RR"],
    "separate measures with spaces, not commas": ["AP, RR"],
    "a measure is written AP(parameter=value)@cutoff": ["AP(rel=2", "AP("],
    "'makro' is not one of macro, micro, weighted": ["F1(makro)"],
    "of ranking and of classification: choose one with": ["ACCURACY"],
    "is not one of exp": ["BLEU(2)", "BLEU(none)"],  # none: of smoothing, or of tokenization?
    "unknown measure": ["ROUGE-0", "ROUGE-W"],
    "did you mean P@5": ["precison@5"],
    "did you mean nDCG@10": ["NDGC@10", "ndcg10"],
    "did you mean accuracy": ["acuracy"],
    "did you mean ROUGE-L": ["rogue-L"],
    # Broken, too long, not finite
    "": [
        *("P@-1", "P@", "P@x", "AP)", "AP@10@5", "P(rel=2)x@5", "nDCG@10(", f"P@{'9' * 400}"),
        *("P.²", "relstring.nan", "relstring.inf", "ndcg.1=nan"),
        # Nothing in a name is evaluated.
        *("P(rel=__import__('os').getpid())@5", "P(rel=(lambda: 2)())@5", "P(rel=1+1)@5"),
        *("nDCG(gains={1: __import__('os').getpid()})@5", "P(rel=[1][0])@5", "exec('1')"),
    ],
}


def test_what_cannot_be_read_is_refused_with_a_reason():
    for why, names in REFUSED.items():
        for wrong in names:
            with pytest.raises(MeasureError) as caught:
                parse_measure(wrong)
            assert why in str(caught.value), wrong
    for wrong, task, why in (
        ("rmsee", "ranking", "did you mean RMSE (of regression)"),
        ("AP", "speech", "task='speech': expected one of ranking, classif"),
        ("RMSE", "ranking", "'RMSE' of ranking: it is a measure of regression"),
        ("BLUE", "text", "unknown measure 'BLUE' of text: did you mean BLEU"),
        (parse_measure("AP"), "text", "AP is a measure of ranking, not of text"),
        (5, None, "give a name such as nDCG@10, or a list"),
    ):
        with pytest.raises(MeasureError, match=re.escape(why)):
            parse_measures(wrong, task)


def test_without_a_package_it_says_what_to_install(monkeypatch):
    for name, module, package in (
        ("BLEU(order=5)", "sacrebleu", "sacrebleu"),
        ("METEOR", "nltk.translate.meteor_score", "nltk"),
        ("ROUGE-1", "rouge_score.rouge_scorer", "rouge-score"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=rf"needs {package}.*pip install '\.\[text\]'"):
            evaluate(["a"], {"A": ["a"]}, [name])
