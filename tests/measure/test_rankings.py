"""Runs and judgements in, numbers out: policies, aggregation, notes, access, refusals."""

from __future__ import annotations

import itertools
import json
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

from heldout import HeldoutError, InputError, Qrels, Run, Undefined, evaluate, parse_measure
from heldout.errors import MeasureError
from heldout.measure.base import Means
from heldout.measure.ranking.evaluate import DEFAULT_MEASURES

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}, "q3": {"e": 1}}
FULL = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"d": 2.0, "c": 1.0}, "q3": {"x": 2.0, "e": 1.0}}
PART = {"q1": {"b": 2.0, "a": 1.0}, "q9": {"a": 1.0}, "q8": {"a": 1.0}}

# Queries that one side lacks


def test_a_missing_query_counts_zero_or_is_left_out():
    zero = evaluate(QRELS, PART, "RR")
    assert zero.units() == ("q1", "q2", "q3")
    assert zero.per_unit().tolist() == [0.5, 0.0, 0.0]
    assert zero.value() == pytest.approx(0.5 / 3)
    assert zero.about[0] == "queries: 3"
    assert zero.about[-1] == "run has 2 queries without judgements: ignored"
    skip = evaluate(QRELS, PART, "RR", missing="skip")
    assert skip.units() == ("q1",)
    assert skip.value() == 0.5
    assert skip.about[0] == "queries: 1 of 3 judged"
    assert "run lacks 2 judged queries" in skip.about
    scores = skip.scores()
    assert (scores.units, scores.dropped) == (("q1",), ("q2", "q3"))
    assert scores.judged == (1.0,)  # the share of the first documents with a judgement
    assert scores.data == zero.scores().data == Qrels.of(QRELS).fingerprint()
    # Several runs: the queries that all have.
    both = evaluate(QRELS, {"full": FULL, "part": PART}, "RR", missing="skip")
    assert both.units() == ("q1",)
    assert both.summary() == {"full": {"RR": 1.0}, "part": {"RR": 0.5}}
    with pytest.raises(InputError, match="no judged query is in all runs"):
        evaluate(QRELS, [{"q1": {"a": 1.0}}, {"q2": {"c": 1.0}}], "RR", missing="skip")
    with pytest.raises(InputError, match=r"no query in common.*topic-0") as caught:
        evaluate(QRELS, {f"topic-{number}": {"a": 1.0} for number in range(5)}, "RR")
    assert "topic-4" not in str(caught.value)


def test_notes_about_runs():
    strange = {query: {"X-" + doc: 1.0 for doc in docs} for query, docs in FULL.items()}
    whole, swapped = (
        {query: {doc: kind(one) for doc, one in docs.items()} for query, docs in given_.items()}
        for kind, given_ in ((int, FULL), (float, QRELS))
    )
    for why, qrels, runs, codes in (
        ("fine", QRELS, FULL, []),
        ("other ids", QRELS, strange, ["no-common-document"]),
        ("half of the queries and more", QRELS, PART, ["missing-zero"]),
        ("a third of the queries", QRELS, {"q1": FULL["q1"], "q2": FULL["q2"]}, []),
        ("copies", QRELS, [FULL, dict(FULL), PART], ["missing-zero", "same-ranking"]),
        ("integers as scores, floats as grades", swapped, whole, ["swapped"]),
        ("integers as scores", QRELS, whole, []),
    ):
        assert [note.code for note in evaluate(qrels, runs, "RR").notes] == codes, why
    # A depth may hide what both have.
    assert evaluate({"q": {"b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, "RR", depth=1).notes == ()
    (note,) = evaluate(QRELS, PART, "RR").notes
    assert note.text.startswith("run lacks 2 of the 3 judged queries, which count 0")
    # In comparisons also a few that are lacking.
    most = evaluate(QRELS, {"A": FULL, "B": {"q1": FULL["q1"], "q2": FULL["q2"]}}, "RR")
    (note,) = most.scores().notes
    assert note.text == "B lacks 1 judged query, which counts 0"


# Ties, depth, thresholds, and who comes first


def test_ties_depth_and_precision():
    qrels, run = {"q": {"b": 1}}, {"q": {"b": 1.0, "c": 1.0, "a": 1.0}}
    for ties, ranks in (("docid-desc", (2, 1)), ("docid-asc", (2, 3)), ("input", (1, 2))):
        of_docs = [{"q": {doc: 1}} for doc in "bc"]
        found = [round(1 / evaluate(judged, run, "RR", ties=ties).value()) for judged in of_docs]
        assert found == [*ranks], ties
    said = evaluate(qrels, run, "RR", ties="docid-asc", single_precision=True, depth=5).about
    assert "ties: by score, then document id ascending, scores as 32-bit floats" in said
    assert "depth: first 5 documents" in said
    assert "as trec_eval" in evaluate(qrels, run, "RR").about[1]
    # Scores that are different only beyond 32 bits are ties.
    near = {"q": {"b": 1.0 + 1e-12, "c": 1.0}}
    assert evaluate(qrels, near, "RR").value() == 1.0
    assert evaluate(qrels, near, "RR", single_precision=True).value() == 0.5
    # The policy is that of the runs.
    runs = [Run.of(run, "x", ties="docid-asc"), Run.of(run, "y")]
    both = evaluate(qrels, runs, "AP").about[1]
    assert "ascending" in both
    assert "descending" in both


def test_settings_reach_the_measures_that_do_not_set_them():
    given_ = [parse_measure("P@1"), "P@1", "P(rel=1)@1"]
    result = evaluate(QRELS, FULL, given_, rel=2)
    assert [str(measure) for measure in result.measures] == ["P@1", "P(rel=2)@1"]
    variants = evaluate(QRELS, FULL, ["nDCG@5", "nDCG(dcg=exp)@5"]).about
    assert "nDCG@5: gain = grade, discount log2(rank + 1) (as trec_eval)" in variants
    assert sum("(Burges et al.)" in line for line in variants) == 1


# Values, units, frames


def test_sums_run_in_the_order_of_the_queries_as_those_of_trec_eval():
    numbers = np.array([0.1] * 1000)
    total = 0.0
    for value in numbers.tolist():
        total += value
    assert Means(numbers).value() == total / 1000
    assert total != float(numbers.sum())  # which adds in pairs


def test_text_has_no_mean():
    result = evaluate(QRELS, FULL, "RelString")
    assert isinstance(result.value(), Undefined)
    assert result.per_unit().tolist() == ["10", "12", "-1"]
    with pytest.raises(MeasureError, match="texts such as RelString do not fit into a table"):
        result.to_frame()
    for name, why in (("RelString", "no mean over queries"), ("NumRet", "no better or worse")):
        with pytest.raises(MeasureError, match=why):
            evaluate(QRELS, FULL, name).scores()


def test_values_by_name_number_or_measure():
    result = evaluate(QRELS, {"full": FULL}, ["RR", "P@1"])
    for run, measure in itertools.product(("full", -1), ("P_1", 1, parse_measure("P@1"))):
        assert result.per_unit(run, measure).tolist() == [1.0, 1.0, 0.0]
        assert result.value(run, measure) == pytest.approx(2 / 3)
    for system, measure, says in (
        ("other", "RR", "no system 'other'; there are full"),
        (3, "RR", "no system number 3"),
    ):
        with pytest.raises(HeldoutError, match=says):
            result.value(system, measure)


@given(first=collections(), second=collections())
def test_each_run_is_evaluated_as_if_it_were_alone(first, second):
    (qrels, run), (_, other) = first, second
    names = ["AP", "nDCG@5", "Bpref", "NumRet"]
    both = evaluate(qrels, [run, other], names)
    for number, one in enumerate((run, other)):
        alone = evaluate(qrels, one, names)
        for name in names:
            assert both.per_unit(number, name).tolist() == alone.per_unit(0, name).tolist()


# Runs and judgements in any form


def as_frame(make, table, names):
    """The rows of ``{query: {document: number}}`` in a frame."""
    rows = [(query, doc, number) for query, docs in table.items() for doc, number in docs.items()]
    return make(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_paths_objects_dictionaries_and_frames_give_the_same(tmp_path):
    wanted = evaluate(QRELS, FULL).summary()["run"]
    assert list(wanted) == list(DEFAULT_MEASURES)
    qrels, run = Qrels.of(QRELS), Run.of(FULL)
    qrels.write(tmp_path / "x.qrels")
    run.write(tmp_path / "x.run")
    forms = [(qrels, run), (tmp_path / "x.qrels", str(tmp_path / "x.run"))]
    pyterrier = ("qid", "docno", "label"), ("qid", "docno", "score")
    ir_measures = ("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")
    for make, names in itertools.product((pd.DataFrame, pl.DataFrame), (pyterrier, ir_measures)):
        forms.append((as_frame(make, QRELS, names[0]), as_frame(make, FULL, names[1])))
    for judged, ranked in forms:
        assert evaluate(judged, ranked).summary()["run"] == wanted
        several = evaluate(judged, {"mine": ranked, "same": FULL})
        assert several.summary() == {"mine": wanted, "same": wanted}


def test_every_run_gets_a_name_of_its_own(tmp_path):
    same = [Run.of(FULL, name) for name in ("x", "x", "x (2)", "x")]
    assert len({*evaluate(QRELS, same, "AP").names}) == len(same)
    assert evaluate(QRELS, [FULL, PART], "RR").names == ("run", "run (2)")
    for name in ("a.run", "b.run"):
        Run.of(FULL, "tag").write(tmp_path / name)
    assert evaluate(QRELS, [tmp_path / "a.run", tmp_path / "b.run"]).names == ("a.run", "b.run")
    heard: list[tuple[int, int]] = []
    evaluate(QRELS, [FULL] * 3, "RR", progress=lambda *numbers: heard.append(numbers))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_what_makes_no_sense_is_refused():
    lazy = pl.LazyFrame({"qid": ["q1"], "docno": ["a"], "score": [1]})
    for wrong in (5, None, {"q1": 1}, pd.DataFrame({"x": [1]}), lazy):
        for arguments in ((wrong, FULL), (QRELS, wrong), (QRELS, [FULL, wrong])):
            with pytest.raises(InputError, match=r"expected|no column of"):
                evaluate(*arguments, "RR")
    for wrong in (
        *({"missing": "complete"}, {"depth": 0}, {"rel": "2"}, {"rel": 1.5}, {"rel": -1}),
        {"assume_random": True},
    ):
        with pytest.raises(InputError):
            evaluate(QRELS, FULL, "AP", **wrong)
    for arguments, says in (([], "RR"), "no runs given"), ((FULL, []), "no measures given"):
        with pytest.raises(HeldoutError, match=says):
            evaluate(QRELS, *arguments)


# The same bytes


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


MEASURES = ["nDCG@10", "AP", "Bpref", "RBP"]
PRINT = f"""
import json, sys, heldout
result = heldout.evaluate(sys.argv[1], sys.argv[2:], {MEASURES})
json.dump(result.to_dict(per_unit=True), sys.stdout)
"""


def test_threads_processes_and_hash_seeds_change_no_byte(several_runs, tmp_path, monkeypatch):
    qrels, runs = several_runs
    Qrels.of(qrels).write(tmp_path / "qrels")
    paths = [tmp_path / f"run{number}" for number in range(len(runs))]
    for path, run in zip(paths, runs, strict=True):
        Run.of(run, path.name).write(path)
    outputs = []
    for threads in ("1", "2", "5", "x"):  # what makes no sense is the number of cores
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        found = evaluate(tmp_path / "qrels", paths, MEASURES)
        outputs.append(json.dumps(found.to_dict(per_unit=True)))
    command = [sys.executable, "-c", PRINT, tmp_path / "qrels", *paths]
    elsewhere = {**os.environ, "HELDOUT_THREADS": "2", "PYTHONHASHSEED": "1"}
    done = subprocess.run(command, capture_output=True, check=True, env=elsewhere)  # noqa: S603
    assert {*outputs} == {done.stdout.decode()}


# Judgements of a machine


@pytest.fixture(scope="module")
def judged_twice(several_runs):
    """A run, and judgements of all its documents: of people for some queries, of a machine."""
    run = several_runs[1][0]
    qrels = {query: {doc: int(4 * docs[doc] ** 2) for doc in docs} for query, docs in run.items()}
    human = {query: qrels[query] for query in sorted(qrels)[:12]}
    machine = {query: {doc: int(docs[doc] < 1) for doc in docs} for query, docs in qrels.items()}
    return run, qrels, human, machine


def test_estimates_combine_people_and_machine(judged_twice):
    run, _, human, machine = judged_twice
    both, by_machine = evaluate(human, run, "P@5", machine=machine), evaluate(machine, run, "P@5")
    assert both.value() == evaluate(human, run, "P@5").value()
    assert both.units() == tuple(sorted(human))
    assert both.machine.value() == by_machine.value()
    found = both.scores().machine
    assert (found.known.shape, found.extra.shape) == ((12, 1), (28, 1))
    known = dict(zip(by_machine.units(), by_machine.per_unit().tolist(), strict=True))
    assert found.known[:, 0].tolist() == [known[query] for query in both.units()]
    estimates = both.estimates()
    assert estimates.human.estimate == pytest.approx(both.value(), rel=1e-12)
    assert estimates.machine.estimate == pytest.approx(by_machine.value(), rel=1e-12)
    assert [note.code for note in both.notes] == ["random-sample"]


def test_notes_about_a_machine(judged_twice, tmp_path):
    run, qrels, human, machine = judged_twice
    best = {query: sorted(docs, key=docs.get, reverse=True) for query, docs in run.items()}
    part = {q: {doc: docs[doc] for doc in best[q][:50]} for q, docs in machine.items()}
    rest = {q: {doc: docs[doc] for doc in best[q][1:]} for q, docs in machine.items()}
    path = tmp_path / "gpt4o.qrels"
    Qrels.of(machine).write(path)
    less = ["machine-incomplete"]
    for why, by_machine, name, codes in (
        ("fine", machine, "bm25", []),
        ("less of other queries", rest | {one: machine[one] for one in human}, "bm25", less),
        ("fewer queries", {q: machine[q] for q in machine if q != "q0"}, "bm25", less),
        ("fewer documents", part, "bm25", less),
        ("copies", qrels, "bm25", ["machine-copies"]),
        ("judges its own work", path, "bm25-GPT4o", ["own-judge"]),
        ("a part of a name", path, "bm25gpt4o", []),
    ):
        found = evaluate(human, {name: run}, "P@5", machine=by_machine, assume_random=True)
        assert [note.code for note in found.notes] == codes, why
    for by_machine, says in (
        ({query: machine[query] for query in human}, "only the queries with human judgements"),
        ({"other": {"a": 1}}, "none of the queries with human judgements"),
    ):
        with pytest.raises(InputError, match=says):
            evaluate(human, run, "P@5", machine=by_machine)
