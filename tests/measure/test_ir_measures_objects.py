"""Objects of ir_measures are accepted wherever measures are."""

from __future__ import annotations

import pytest

from heldout import (
    Collection,
    Experiment,
    Run,
    Scores,
    compare,
    define_measure,
    evaluate,
    parse_measures,
)
from heldout.errors import MeasureError
from heldout.measure.names import plain, spelled

ir_measures = pytest.importorskip("ir_measures")

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"d": 1}, "q3": {"e": 1}}
RUN = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"d": 1.0}}


def test_every_name_of_ir_measures_is_known():
    assert [
        name for name in ir_measures.measures.registry if plain(name) not in spelled(["ranking"])
    ] == []


def test_objects_of_ir_measures_are_measures():
    names = ["nDCG@10", "P(rel=2)@5", "Compat(p=0.8)", "NumRet(rel=1)"]
    objects = [ir_measures.parse_measure(name) for name in names]
    assert evaluate(QRELS, RUN, objects).summary() == evaluate(QRELS, RUN, names).summary()
    single = evaluate(QRELS, RUN, ir_measures.nDCG @ 10)
    assert single.value(0, ir_measures.nDCG @ 10) == evaluate(QRELS, RUN, "nDCG@10").value(0, 0)


def test_objects_are_taken_wherever_measures_are():
    judged = {f"q{n}": {"d": 1} for n in range(6)}
    runs = {f"w={w}": Run.of({query: {"d": w, "e": 0.5} for query in judged}) for w in (0.1, 0.6)}
    result = evaluate(judged, runs, [ir_measures.RR, ir_measures.nDCG @ 10])
    scores = result.scores(ir_measures.RR)
    assert compare(scores).scores.measure == "RR"
    assert Scores.of(result.to_frame(), ir_measures.RR).values.tolist() == scores.values.tolist()
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
    with pytest.raises(
        MeasureError, match="unknown measure 'RR' of classification: it is a measure of ranking"
    ):
        parse_measures([ir_measures.RR], "classification")
    with pytest.raises(
        MeasureError, match="unknown measure 'RR' of text: it is a measure of ranking"
    ):
        parse_measures([ir_measures.RR], "text")
