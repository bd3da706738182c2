"""Experiments with human and machine judgements."""

import json

import numpy as np
import pytest

import heldout
from heldout import Collection, Experiment, HeldoutError, Results

QUERIES, PEOPLE = 60, 24


@pytest.fixture(scope="module")
def data():
    """A collection with human judgements of some queries, those of a machine for all, and runs."""
    generator = np.random.default_rng(4)
    words = [f"w{number}" for number in range(40)]
    texts = {f"d{n}": " ".join(generator.choice(words, 12)) for n in range(80)}
    human, machine, queries, runs = {}, {}, {}, {"old": {}, "new": {}}
    for number in range(QUERIES):
        query = f"q{number:02}"
        queries[query] = " ".join(generator.choice(words, 3))
        docs = generator.choice(list(texts), 20, replace=False).tolist()
        grades = generator.random(20) < 0.3
        human[query] = dict(zip(docs, grades.astype(int).tolist(), strict=True))
        given = grades ^ (generator.random(20) < 0.2)
        machine[query] = dict(zip(docs, given.astype(int).tolist(), strict=True))
        for name, skill in (("old", 0.5), ("new", 1.5)):
            scores = skill * grades + generator.normal(0, 1, 20)
            runs[name][query] = dict(zip(docs, scores.tolist(), strict=True))
    people = sorted(generator.permutation(list(human))[:PEOPLE].tolist())
    collection = Collection(texts, queries, {query: human[query] for query in people})
    return collection, machine, runs


def run(data, **more):
    collection, machine, _ = data
    fields = {"systems": "bm25(k1=0.2,2.0)", "measures": ["AP"], "plan": {"folds": 5}, **more}
    return Experiment(collection=collection, machine=machine, assume_random=True, **fields).run()


def test_runs_that_are_not_tuned_have_the_estimates_of_compare(data):
    collection, machine, runs = data
    systems = {name: heldout.Run.of(one, name) for name, one in runs.items()}
    results = run(data, systems=systems, measures=["AP", "nDCG@5"])
    for measure in ("AP", "nDCG@5"):
        expected = heldout.compare(
            collection.qrels, runs, measure, machine=machine, assume_random=True
        )
        found = results.compare(measure)
        ours, theirs = (one.machine.differences[0] for one in (found, expected))
        for part in ("human", "machine", "combined"):
            assert getattr(ours, part)[:3] == pytest.approx(getattr(theirs, part)[:3], abs=1e-12)
        assert found.claims[0].outcomes[0].p == pytest.approx(expected.claims[0].outcomes[0].p)
        for name, three in zip(("old", "new"), expected.machine.systems, strict=True):
            record = results.estimate(name, measure)
            assert record["value"] == pytest.approx(three.combined.estimate)
            assert record["machine"]["human"]["low"] == pytest.approx(three.human.low)
            assert record["machine"]["machine"]["value"] == pytest.approx(three.machine.estimate)
            assert record["machine"]["effective_queries"] == pytest.approx(three.effective)
    # Two systems and two measures, and each query once.
    assert results.machine.height == 4 * QUERIES == 4 * results.machine["unit"].n_unique()
    assert results.values.height == 4 * PEOPLE == 4 * results.values["unit"].n_unique()


@pytest.mark.parametrize("judge", ["human", "machine"])
def test_parameters_are_tuned_on_one_judge_and_held_out_rankings_judged_by_both(data, judge):
    collection, machine, _ = data
    results = run(data, tune_on=judge, keep_depth=100)
    given = collection.qrels if judge == "human" else machine
    alone = Collection(collection.documents, collection.queries, given)
    same = Experiment(
        collection=alone, systems="bm25(k1=0.2,2.0)", measures=["AP"], plan={"folds": 5}
    ).run()
    assert results.chosen("bm25") == same.chosen("bm25")
    lists = results.predictions("bm25")
    for table, qrels in ((results.values, collection.qrels), (results.machine, machine)):
        found = heldout.evaluate(qrels, lists, "AP")
        values = dict(zip(table["unit"], table["value"], strict=True))
        expected = dict(zip(found.units(), found.per_unit(0, 0).tolist(), strict=True))
        assert values == pytest.approx(expected)
    codes = [note.code for note in results.notes]
    assert ("tuned-on-machine" in codes) is (judge == "machine")
    assert (results.estimate("bm25")["train"] is None) is (judge == "machine")


def test_tuned_systems_include_the_variance_of_the_selection(data):
    systems = {"a": "bm25(k1=0.1,4.0)", "b": "ql-dirichlet(mu=10,1000)"}
    compared = run(data, systems=systems).compare()
    spread = compared.scores.choice_spread("b", "a")
    assert spread.choices > 0
    assert compared.claims[0].outcomes[0].detail.endswith("including re-tuning")


def test_results_are_written_read_shown_and_repeated(data, tmp_path):
    collection, machine, runs = data
    collection.qrels.write(tmp_path / "human.qrels")
    heldout.Qrels.of(machine).write(tmp_path / "llm.qrels")
    for name, content in runs.items():
        heldout.Run.of(content).write(tmp_path / f"{name}.run")
    (tmp_path / "experiment.toml").write_text(
        'systems = ["old.run", "new.run"]\nmeasures = ["AP"]\nmachine = "llm.qrels"\n'
        'assume_random = true\ncollection = {qrels = ["human.qrels"]}\n'
    )
    results = Experiment.read(tmp_path / "experiment.toml").run(tmp_path / "out")
    again = Results.read(tmp_path / "out")
    assert again.machine.equals(results.machine)
    assert again.estimate("new") == results.estimate("new")
    repeated = Experiment.read(tmp_path / "out").run()
    assert repeated.summary == json.loads((tmp_path / "out" / "summary.json").read_text())
    said = "Scores combine 24 queries with human judgements and 36 that only the machine"
    assert said in str(again)


REFUSED = [
    ({"tune_on": "machine", "machine": None}, "tune_on: goes with judgements of a machine"),
    ({"by": "document"}, "machine: is for held-out queries"),
    ({"plan": {"kind": "holdout", "test": 0.05}}, "are held out: use folds"),
    ({"machine": {"x": {"d1": 1}}}, "the machine judged none of the 60 queries"),
]


def test_what_does_not_go_together_is_refused(data):
    collection, machine, _ = data
    given = {"machine": machine, "systems": "bm25", "measures": ["AP"]}
    for fields, words in REFUSED:
        with pytest.raises(HeldoutError, match=words):
            Experiment(collection=collection, **given | fields).check()
