"""Measures that only ir_measures has."""

from __future__ import annotations

import subprocess
import sys

import pytest

from heldout import (
    Collection,
    Experiment,
    KFold,
    MeasureError,
    Run,
    Scores,
    compare,
    define_measure,
    evaluate,
    parse_measure,
    parse_measures,
    tune_runs,
)
from heldout.measure.ranking.external import DIVERSITY, KNOWN

ir_measures = pytest.importorskip("ir_measures")

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}, "q3": {"e": 1}}
RUN = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"d": 1.0}}


def compatibility(ranked, ideal, p):
    """Rank-biased overlap with the ideal list over that of the ideal list with itself."""

    def overlap(one, other):
        depth = max(len(ranked), len(ideal))
        shares = [len({*one[:k]} & {*other[:k]}) / k for k in range(1, depth + 1)]
        return sum(p**place * share for place, share in enumerate(shares))

    return overlap(ranked, ideal) / overlap(ideal, ideal)


def test_value_is_that_of_the_definition_and_missing_queries_count_zero():
    result = evaluate(QRELS, RUN, "Compat(p=0.8)")
    expected = [compatibility(["b", "x", "a"], ["a", "b"], 0.8), 1.0, 0.0]
    assert result.values(0, 0).tolist() == pytest.approx(expected, rel=1e-12)
    assert result.mean(0, 0) == pytest.approx(sum(expected) / 3)


def test_value_is_that_of_ir_measures():
    metrics = ir_measures.iter_calc([ir_measures.Compat(p=0.95)], QRELS, RUN)
    wanted = {metric.query_id: metric.value for metric in metrics}
    result = evaluate(QRELS, RUN, "Compat", missing="skip")
    values = dict(zip(result.queries(), result.values(0, 0).tolist(), strict=True))
    assert values == {query: wanted[query] for query in ("q1", "q2")}


def test_own_and_foreign_measures_stand_side_by_side():
    result = evaluate(QRELS, RUN, ["RR", "Compat", "P@1"])
    assert result.values(0, "RR").tolist() == [1.0, 1.0, 0.0]
    assert result.values(0, "P@1").tolist() == [1.0, 1.0, 0.0]
    assert result.values(0, "Compat")[1] == 1.0


@pytest.mark.parametrize("name", ["Compat", "Compat(p=0.8)", "INST(max_rel=3)"])
def test_name_reads_back(name):
    measure = parse_measure(name)
    assert parse_measure(str(measure)) == measure
    assert parse_measure(name) == measure


def test_parameters_make_another_measure():
    assert parse_measure("Compat(p=0.8)") != parse_measure("Compat(p=0.9)")


def test_wrong_parameters_are_refused_when_the_name_is_read():
    with pytest.raises(MeasureError, match="ir_measures cannot read"):
        parse_measure("Compat(p=)")


def test_measure_whose_provider_is_not_installed_says_what_to_install():
    if ir_measures.cwl_eval.is_available():
        pytest.skip("cwl_eval is installed here, so INST can be computed")
    with pytest.raises(MeasureError, match="pip install ir-measures"):
        evaluate(QRELS, RUN, "INST(max_rel=3)")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("INST", "INST needs max_rel, for example INST(max_rel=3)"),
        ("SDCG@5", "SDCG@5 needs max_rel, for example SDCG(max_rel=3)@10"),
        ("BPM", "BPM needs cutoff and max_rel, for example BPM(max_rel=3)@10"),
    ],
)
def test_parameters_that_ir_measures_requires_are_named(name, says):
    with pytest.raises(MeasureError) as caught:
        parse_measure(name)
    assert str(caught.value) == says


@pytest.mark.parametrize("name", sorted(DIVERSITY))
def test_measures_of_diversity_are_refused(name):
    # Through ir_measures they would be computed as if all judgements were of one subtopic.
    with pytest.raises(MeasureError, match=f"^{name} is not supported: .* by subtopic"):
        parse_measure(f"{name}@20")


def test_objects_of_ir_measures_are_measures():
    names = ["nDCG@10", "P(rel=2)@5", "Compat(p=0.8)", "NumRet(rel=1)"]
    objects = [ir_measures.parse_measure(name) for name in names]
    assert evaluate(QRELS, RUN, objects).summary() == evaluate(QRELS, RUN, names).summary()
    single = evaluate(QRELS, RUN, ir_measures.nDCG @ 10)
    assert single.mean(0, ir_measures.nDCG @ 10) == evaluate(QRELS, RUN, "nDCG@10").mean(0, 0)


def test_known_names_are_names_of_ir_measures():
    registry = set(ir_measures.measures.registry)
    assert registry >= KNOWN
    assert {name.lower() for name in registry} >= DIVERSITY


WITHOUT = """
import sys
sys.modules["ir_measures"] = None  # what Python does when an import is forbidden
import heldout
try:
    heldout.parse_measure(sys.argv[1])
except heldout.HeldoutError as error:
    print(type(error).__name__, error)
"""


def without_ir_measures(name):
    command = [sys.executable, "-c", WITHOUT, name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603


@pytest.mark.parametrize("name", ["Compat", "BPM@10", "INST(T=1)"])
def test_without_ir_measures_the_package_to_install_is_named(name):
    said = without_ir_measures(name)
    assert said.startswith("MissingExtraError ")
    assert name in said
    assert "pip install 'heldout[ir-measures]'" in said


def test_without_ir_measures_an_unknown_name_is_simply_unknown():
    assert without_ir_measures("precison@5").startswith("MeasureError unknown measure")


def test_without_ir_measures_own_names_work():
    assert without_ir_measures("nDCG@10") == ""


def test_objects_are_taken_wherever_measures_are():
    judged = {f"q{n}": {"d": 1} for n in range(6)}
    runs = {
        f"w={w}": Run.from_dict({query: {"d": w, "e": 0.5} for query in judged}) for w in (0.1, 0.6)
    }
    result = evaluate(judged, runs, [ir_measures.RR, ir_measures.nDCG @ 10])
    scores = result.scores(ir_measures.RR)
    assert compare(scores).scores.measure == "RR"
    assert Scores.of(result.to_frame(), ir_measures.RR).values.tolist() == scores.values.tolist()
    tuned = tune_runs(judged, runs, ir_measures.RR, plan=KFold(3))
    assert (tuned.measure, tuned.systems[0].shipped) == ("RR", "w=0.6")
    assert parse_measures(ir_measures.nDCG @ 10) == parse_measures("nDCG@10")
    experiment = Experiment(
        collection=Collection({"d": "red apples"}, dict.fromkeys(judged, "apple"), judged),
        plan={"folds": 2},
        systems="bm25",
        measures=[ir_measures.RR, ir_measures.P @ 1],
        tune_for=ir_measures.P @ 1,
    )
    assert [str(one) for one in experiment.check().measures] == ["RR", "P@1"]


def test_objects_that_do_not_fit_are_refused_in_words():
    with pytest.raises(MeasureError, match=r"RR is already a measure \(RR\)"):
        define_measure(ir_measures.RR)
    with pytest.raises(MeasureError, match=r"RR cannot name a measure|RR is RR"):
        define_measure(name=ir_measures.RR)(len)
    with pytest.raises(MeasureError, match="unknown measure 'RR' of classification: expected acc"):
        parse_measures([ir_measures.RR], "classification")
    with pytest.raises(MeasureError, match="unknown text measure 'RR': expected one of BLEU"):
        parse_measures([ir_measures.RR], "text")
