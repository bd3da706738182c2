"""Runs and judgements in, numbers out: policies, aggregation, access, errors."""

from __future__ import annotations

import itertools
import math
import os
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from naive import collections

from heldout import (
    HeldoutError,
    InputError,
    Qrels,
    Run,
    Undefined,
    evaluate,
    parse_measure,
    parse_measures,
)
from heldout.errors import MeasureError
from heldout.measure.base import Means
from heldout.measure.ranking.evaluate import DEFAULT_MEASURES

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}, "q3": {"e": 1}}
FULL = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"d": 2.0, "c": 1.0}, "q3": {"x": 2.0, "e": 1.0}}
PART = {"q1": {"b": 2.0, "a": 1.0}, "q9": {"a": 1.0}, "q8": {"a": 1.0}}


def test_missing_query_counts_zero_by_default():
    result = evaluate(QRELS, PART, "RR")
    assert result.units() == ("q1", "q2", "q3")
    assert result.per_unit(0, 0).tolist() == [0.5, 0.0, 0.0]
    assert result.value(0, 0) == pytest.approx(0.5 / 3)
    assert "judged queries that a run lacks: count 0 (an empty list)" in result.about


def test_missing_query_is_left_out_on_request():
    result = evaluate(QRELS, PART, "RR", missing="skip")
    assert result.units() == ("q1",)
    assert result.value(0, 0) == 0.5
    assert result.about[0] == "queries: 1 of 3 judged"
    assert "left out" in " ".join(result.about)


def test_several_runs_are_averaged_over_the_queries_that_all_have():
    full, part = Run.of(FULL, "full"), Run.of(PART, "part")
    result = evaluate(QRELS, [full, part], "RR", missing="skip")
    assert result.units() == ("q1",)
    assert result.summary() == {"full": {"RR": 1.0}, "part": {"RR": 0.5}}
    both = evaluate(QRELS, [full, part], "RR")
    assert both.value("full", "RR") == pytest.approx((1 + 1 + 0.5) / 3)
    assert both.value("part", "RR") == pytest.approx(0.5 / 3)


def test_queries_without_judgements_are_ignored_and_counted():
    said = "run has 2 queries without judgements: ignored"
    assert evaluate(QRELS, PART, "RR").about[-1] == said
    assert "without judgements" not in " ".join(evaluate(QRELS, FULL, "RR").about)


def test_runs_are_kept_in_the_order_given_and_named_apart():
    first, second = Run.of(FULL, "x"), Run.of(PART, "x")
    result = evaluate(QRELS, [first, second, FULL], "RR")
    assert result.names == ("x", "x (2)", "run")
    assert result.value("x", "RR") > result.value("x (2)", "RR")


def test_progress_hears_of_every_run():
    heard: list[tuple[int, int]] = []
    runs = [Run.of(FULL, name) for name in "abc"]
    evaluate(QRELS, runs, "RR", progress=lambda *numbers: heard.append(numbers))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_no_common_query_is_an_error_that_shows_ids_of_both_sides():
    run = {f"topic-{number}": {"a": 1.0} for number in range(5)}
    with pytest.raises(InputError) as caught:
        evaluate(QRELS, run, "RR")
    said = str(caught.value)
    assert "no query in common" in said
    for query in ("topic-0", "topic-1", "q1", "q2"):
        assert query in said
    assert "topic-4" not in said


def test_no_query_in_all_runs_is_an_error_with_skip():
    one, two = {"q1": {"a": 1.0}}, {"q2": {"c": 1.0}}
    with pytest.raises(InputError, match="no judged query is in all runs"):
        evaluate(QRELS, [one, two], "RR", missing="skip")
    assert evaluate(QRELS, [one, two], "RR").units() == ("q1", "q2", "q3")


def test_nothing_to_evaluate_is_an_error():
    with pytest.raises(InputError, match="no runs given"):
        evaluate(QRELS, [], "RR")
    with pytest.raises(MeasureError, match="no measures given"):
        evaluate(QRELS, FULL, [])


def test_wrong_name_is_found_before_any_work_is_done():
    with pytest.raises(MeasureError, match="unknown measure"):
        evaluate(QRELS, FULL, ["AP", "precison@5"])


def test_default_measures_are_those_announced():
    result = evaluate(QRELS, FULL)
    assert [str(one) for one in result.measures] == list(DEFAULT_MEASURES)


def test_mean_sum_and_geometric_mean():
    result = evaluate(QRELS, FULL, ["AP", "NumRelRet", "GMAP"])
    values = [1.0, 1.0, 0.5]
    assert result.per_unit(0, "AP").tolist() == values
    assert result.value(0, "AP") == sum(values) / 3
    assert result.value(0, "NumRelRet") == 4.0
    assert result.value(0, "GMAP") == pytest.approx(math.prod(values) ** (1 / 3))


def test_sums_run_in_the_order_of_the_queries_as_those_of_trec_eval():
    # Adding pairwise would round another way; trec_eval adds one by one.
    values = np.array([0.1] * 1000)
    total = 0.0
    for value in values.tolist():
        total += value
    assert Means(values).value() == total / 1000
    assert total != float(values.sum())


def test_text_has_no_mean():
    result = evaluate(QRELS, FULL, "RelString")
    assert isinstance(result.value(), Undefined)
    assert result.per_unit().tolist() == ["10", "12", "-1"]
    with pytest.raises(MeasureError, match="texts such as RelString do not fit into a table"):
        result.to_frame()
    both = evaluate(QRELS, FULL, ["RelString", "RR"]).to_frame()
    assert both["value"].to_list() == [None, 1, 1, 0.5]
    with pytest.raises(MeasureError, match="RelString has no mean over queries"):
        result.scores()


def test_values_and_means_by_name_number_or_measure():
    result = evaluate(QRELS, [Run.of(FULL, "full")], ["RR", "P@1"])
    for run in ("full", 0):
        for measure in ("P@1", "P_1", "precision@1", 1, parse_measure("P@1")):
            assert result.per_unit(run, measure).tolist() == [1.0, 1.0, 0.0]
            assert result.value(run, measure) == pytest.approx(2 / 3)


def test_unknown_run_or_measure_is_answered_with_what_there_is():
    result = evaluate(QRELS, [Run.of(FULL, "full")], ["RR", "P@1"])
    with pytest.raises(InputError, match="no system 'other'; there are full"):
        result.value("other", "RR")
    with pytest.raises(MeasureError, match="AP was not computed; there are RR, P@1"):
        result.value("full", "AP")


def test_summary_holds_the_mean_of_every_run_and_measure():
    runs = [Run.of(FULL, "full"), Run.of(PART, "part")]
    result = evaluate(QRELS, runs, ["RR", "NumQ"])
    assert result.summary() == {
        run: {name: result.value(run, name) for name in ("RR", "NumQ")} for run in ("full", "part")
    }


def test_frame_has_one_row_for_each_run_query_and_measure():
    runs = [Run.of(FULL, "full"), Run.of(PART, "part")]
    result = evaluate(QRELS, runs, ["RR", "NumRet"])
    frame = result.to_frame()
    assert frame.schema == {
        "system": pl.String,
        "unit": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
    }
    assert frame.height == 2 * 3 * 2
    picked = frame.filter((pl.col("system") == "part") & (pl.col("measure") == "RR"))
    assert picked["unit"].to_list() == ["q1", "q2", "q3"]
    assert picked["value"].to_list() == [0.5, 0.0, 0.0]


@given(case=collections())
def test_frame_and_values_say_the_same(case):
    result = evaluate(*case, ["AP", "nDCG@5", "NumRet"])
    for name in ("AP", "nDCG@5", "NumRet"):
        rows = result.to_frame().filter(pl.col("measure") == name)
        assert rows["value"].to_list() == result.per_unit(0, name).tolist()
        assert tuple(rows["unit"]) == result.units()


def test_paths_objects_and_dictionaries_give_the_same(tmp_path):
    qrels, run = Qrels.of(QRELS), Run.of(FULL)
    qrels.write(tmp_path / "x.qrels")
    run.write(tmp_path / "x.run")
    values = [
        evaluate(*pair).summary()["run"]
        for pair in ((QRELS, FULL), (qrels, run), (tmp_path / "x.qrels", str(tmp_path / "x.run")))
    ]
    assert values[0] == values[1] == values[2]


def test_tie_policy_decides_who_comes_first():
    qrels, run = {"q": {"b": 1}}, {"q": {"b": 1.0, "c": 1.0, "a": 1.0}}
    ranks = {
        ties: round(1 / evaluate(qrels, run, "RR", ties=ties).value(0, 0))
        for ties in ("docid-desc", "docid-asc", "input")
    }
    assert ranks == {"docid-desc": 2, "docid-asc": 2, "input": 1}
    qrels = {"q": {"c": 1}}
    assert evaluate(qrels, run, "RR").value(0, 0) == 1.0
    assert evaluate(qrels, run, "RR", ties="docid-asc").value(0, 0) == pytest.approx(1 / 3)


def test_policies_in_words_name_ties_precision_and_depth():
    said = evaluate(QRELS, FULL, "RR", ties="docid-asc", single_precision=True, depth=5).about
    assert "ties: by score, then document id ascending, scores as 32-bit floats" in said
    assert "depth: first 5 documents" in said
    assert "as trec_eval" in evaluate(QRELS, FULL, "RR").about[1]


def test_table_for_a_notebook_escapes_what_others_named():
    name = '<script>alert("x")</script>&'
    shown = evaluate(QRELS, Run.of(PART, name), "RR")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;&amp;" in shown
    assert shown.count('<th scope="row">') == 1
    assert shown.count("<td>") == 1
    assert "0.1667" in shown


@pytest.fixture(scope="module")
def several_runs():
    chance = random.Random(3)  # noqa: S311 - reproducible test data
    queries = [f"q{number}" for number in range(40)]
    docs = [f"doc{number}" for number in range(200)]
    qrels = {q: {doc: chance.randint(-1, 3) for doc in chance.sample(docs, 40)} for q in queries}
    runs = [
        {q: {doc: chance.random() for doc in chance.sample(docs, 60)} for q in queries}
        for _ in range(9)
    ]
    return qrels, runs


def everything(result):
    pairs = itertools.product(result.names, result.measures)
    return [result.per_unit(*pair).tobytes() for pair in pairs], result.to_dict(per_unit=True)


def test_number_of_threads_changes_no_bit(several_runs, monkeypatch):
    measures = ["nDCG@10", "AP", "Bpref", "Rndcg", "ERR", "RBP", "AP(judged_only=True)"]
    outcomes = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("HELDOUT_THREADS", count)
        outcomes.append(everything(evaluate(*several_runs, measures)))
    assert outcomes[0] == outcomes[1] == outcomes[2]


PRINT = """
import json, sys, heldout
result = heldout.evaluate(sys.argv[1], sys.argv[2:], ["nDCG@10", "AP", "Bpref", "RBP"])
json.dump(result.to_dict(per_unit=True), sys.stdout)
"""


def test_same_bytes_in_another_process_with_other_threads_and_hash_seeds(several_runs, tmp_path):
    qrels, runs = several_runs
    Qrels.of(qrels).write(tmp_path / "qrels")
    paths = [tmp_path / f"run{number}" for number in range(len(runs))]
    for path, run in zip(paths, runs, strict=True):
        Run.of(run, path.name).write(path)
    command = [sys.executable, "-c", PRINT, tmp_path / "qrels", *paths]
    outputs = [
        subprocess.run(  # noqa: S603
            command,
            capture_output=True,
            check=True,
            env={**os.environ, "HELDOUT_THREADS": threads, "PYTHONHASHSEED": seed},
        ).stdout
        for threads, seed in (("1", "0"), ("2", "1"))
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 10_000


@pytest.mark.parametrize("count", ["", "0", "x", "-3"])
def test_senseless_number_of_threads_means_the_number_of_cores(count, monkeypatch, several_runs):
    monkeypatch.setenv("HELDOUT_THREADS", count)
    qrels, runs = several_runs
    assert evaluate(qrels, runs[:2], "AP").names == ("run", "run (2)")


@given(first=collections(), second=collections())
def test_each_run_is_evaluated_as_if_it_were_alone(first, second):
    qrels, run = first
    other = second[1]
    names = ["AP", "nDCG@5", "Bpref", "NumRet"]
    both = evaluate(qrels, [run, other], names)
    for number, one in enumerate((run, other)):
        alone = evaluate(qrels, one, names)
        for name in names:
            assert both.per_unit(number, name).tolist() == alone.per_unit(0, name).tolist()


def test_every_complaint_can_be_caught_as_one_kind():
    for wrong in (lambda: evaluate(QRELS, {"z": {"a": 1.0}}), lambda: evaluate(QRELS, FULL, "?")):
        with pytest.raises(HeldoutError):
            wrong()


SMALL_QRELS = {"q": {"a": 1, "b": 2}, "r": {"c": 1}}
SMALL_RUN = {"q": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize(
    "settings",
    [{"missing": "complete"}, {"depth": 0}, {"depth": -1}, {"rel": "2"}, {"rel": 1.5}],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(InputError):
        evaluate(SMALL_QRELS, SMALL_RUN, "AP", **settings)


def test_a_measure_is_taken_as_it_is():
    result = evaluate(SMALL_QRELS, SMALL_RUN, [parse_measure("P@1"), "P@1"], rel=2)
    assert [str(measure) for measure in result.measures] == ["P@1", "P(rel=2)@1"]


def test_the_tie_policy_is_that_of_the_runs():
    runs = [Run.of(SMALL_RUN, "x", ties="docid-asc"), Run.of(SMALL_RUN, "y")]
    assert "ascending" in evaluate(SMALL_QRELS, runs[0], "AP").about[1]
    both = evaluate(SMALL_QRELS, runs, "AP").about[1]
    assert "ascending" in both
    assert "descending" in both


def test_every_run_gets_a_name_of_its_own():
    names = ["x", "x", "x (2)", "x"]
    result = evaluate(SMALL_QRELS, [Run.of(SMALL_RUN, name) for name in names], "AP")
    assert len(set(result.names)) == len(names)


def test_numbers_of_runs_that_are_not_there_are_refused():
    with pytest.raises(InputError, match="no system number 3"):
        evaluate(SMALL_QRELS, SMALL_RUN, "AP").per_unit(3, "AP")


def test_great_grades_are_no_problem_where_they_need_not_be():
    clicks = {"q": {"a": 1100, "b": 3}}
    assert evaluate(clicks, SMALL_RUN, "ERR").value(0, "ERR") == pytest.approx(1.0)
    with pytest.raises(MeasureError, match="too large"):
        evaluate(clicks, SMALL_RUN, "nDCG(dcg=exp)@10")


def test_runs_can_be_named():
    assert evaluate(SMALL_QRELS, {"mine": Run.of(SMALL_RUN)}, "AP").names == ("mine",)


def as_frame(make, table, names):
    """The rows of ``{query: {document: number}}`` in a frame."""
    rows = [(query, doc, number) for query, docs in table.items() for doc, number in docs.items()]
    return make(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("of_qrels", "of_run"),
    [
        (("qid", "docno", "label"), ("qid", "docno", "score")),
        (("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")),
    ],
    ids=["PyTerrier", "ir_measures"],
)
def test_frames_are_judgements_and_runs(make, of_qrels, of_run):
    judged = as_frame(make, QRELS, of_qrels)
    full, part = as_frame(make, FULL, of_run), as_frame(make, PART, of_run)
    wanted = evaluate(QRELS, FULL, "RR").summary()["run"]
    assert evaluate(judged, full, "RR").summary() == {"run": wanted}
    assert evaluate(QRELS, [full, part], "RR").names == ("run", "run (2)")
    several = evaluate(judged, {"mine": full, "old": part, "same": FULL}, "RR")
    assert several.names == ("mine", "old", "same")
    assert several.summary()["mine"] == several.summary()["same"] == wanted


def test_named_dictionaries_are_runs():
    assert evaluate(QRELS, {"a": FULL, "b": PART}, "RR").names == ("a", "b")


NEITHER = {
    "number": 5,
    "nothing": None,
    "flat": {"q1": 1},
    "foreign frame": pd.DataFrame({"x": [1]}),
    "lazy frame": pl.LazyFrame({"qid": ["q1"], "docno": ["a"], "score": [1]}),
}


@pytest.mark.parametrize("given", NEITHER.values(), ids=NEITHER)
def test_what_is_neither_judgements_nor_run_is_refused_in_words(given):
    with pytest.raises(InputError, match=r"expected|no column of"):
        evaluate(given, FULL, "RR")
    with pytest.raises(InputError, match=r"expected|no column of"):
        evaluate(QRELS, given, "RR")
    with pytest.raises(InputError, match=r"expected|no column of"):
        evaluate(QRELS, [FULL, given], "RR")


@pytest.mark.parametrize("make", [Run.of, Qrels.of])
@pytest.mark.parametrize("given", [5, ["q1"], {"q1": ["a"]}])
def test_dictionaries_are_nested(make, given):
    with pytest.raises(InputError, match=r"expected (a Run|Qrels), {query|no column of query ids"):
        make(given)


def test_measures_that_are_none_are_refused():
    with pytest.raises(MeasureError, match="give a name such as nDCG@10, or a list"):
        evaluate(QRELS, FULL, 5)
    assert evaluate(QRELS, FULL, None).measures == tuple(parse_measures(DEFAULT_MEASURES))
    with pytest.raises(MeasureError, match="no measure number 3; there are 1"):
        evaluate(QRELS, FULL, "RR").per_unit(0, 3)
