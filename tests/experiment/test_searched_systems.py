"""Searches by Optuna inside experiments: on train sides alone, recorded, and the same anywhere."""

import json
import subprocess
import sys

import numpy as np
import pytest
from experiment_data import overlap, small_collection, table_bytes

from heldout.data.collection import Collection
from heldout.errors import HeldoutError, MissingExtraError
from heldout.experiment.experiment import JOURNAL, Experiment
from heldout.experiment.systems.base import System
from heldout.resample.plans import KFold

optuna = pytest.importorskip("optuna", reason="needs the extra optuna")

MODEL = System.of("bm25(k1=0.5:3:6, b=0:1:5)", search="optuna", trials=7)
CALL = """
import os, signal
from pathlib import Path

HERE = Path(__file__).parent

def rank(train, test, power=1.0, bonus="none", seed=0):
    if (HERE / "trap").exists():
        calls = HERE / "calls"
        with calls.open("a") as file:
            file.write("x")
        if calls.stat().st_size > int((HERE / "trap").read_text()):
            os.kill(os.getpid(), signal.SIGKILL)
    found = {}
    judged = train.qrels.to_dict()
    liked = {doc for docs in judged.values() for doc, grade in docs.items() if grade > 0}
    for query, text in zip(test.collection.queries.ids, test.collection.queries.texts):
        words = set(text.split())
        found[query] = {}
        for one, body in test.collection.documents.pairs():
            bag = body.split()
            score = sum(word in words for word in bag) / len(bag) ** power
            if bonus == "liked" and one in liked:
                score *= 1.2
            if score > 0:
                found[query][one] = score
    return found

class Ranker:
    def __init__(self, power=1.0, seed=0):
        self.power = power

    def fit(self, train):
        self.train = train
        return self

    def predict(self, test):
        return rank(self.train, test, self.power)
"""
TOML = """
collection = "COLLECTION"
measures = ["nDCG@10", "AP"]
seed = 4
[plan]
folds = 3
[[systems]]
name = "mine"
system = "ranker.py:rank(power=0:1.5:4, bonus=none,liked)"
search = "optuna"
trials = 5
"""


@pytest.fixture
def folder(tmp_path):
    """An experiment in a file, with a function to search for."""
    from heldout.data.export import export_collection

    export_collection(small_collection(30, 12), tmp_path / "data")
    (tmp_path / "ranker.py").write_text(CALL)
    (tmp_path / "experiment.toml").write_text(TOML.replace("COLLECTION", str(tmp_path / "data")))
    return tmp_path


def experiment(**fields):
    given = {"collection": small_collection(40, 18), "systems": [MODEL], "plan": {"folds": 3}}
    return Experiment(**given | fields)


def test_trials_are_recorded_and_the_best_on_the_train_side_is_held_out():
    results = experiment(measures=["nDCG@10", "AP"]).run()
    surface, folds = results.surface, results.folds
    assert surface.height == 4 * 7
    points = [json.loads(one) for one in surface["parameters"]]
    assert all(0.5 <= one["k1"] <= 3 and 0 <= one["b"] <= 1 for one in points)
    assert len({one["k1"] for one in points}) == 4 * 7  # each train side has a search of its own
    for row in folds.iter_rows(named=True):
        mine = surface.filter(surface["fold"] == row["fold"])
        assert mine.height == 7
        best = mine.sort("mean", descending=True).row(0, named=True)
        assert (best["parameters"], best["mean"]) == (row["parameters"], row["train"])
        # What was held out is what a model with these parameters gets there.
        fixed = experiment(
            systems=[System.of("bm25", parameters=json.loads(row["parameters"]))],
            measures=["nDCG@10", "AP"],
        ).run()
        ours, theirs = (
            one.values.filter(one.values["fold"] == row["fold"]).select("unit", "measure", "value")
            for one in (results, fixed)
        )
        assert ours.equals(theirs)
        lists = [
            one.held_out.filter(one.held_out["fold"] == row["fold"]).drop("system")
            for one in (results, fixed)
        ]
        assert lists[0].equals(lists[1])
    assert results.manifest["versions"]["optuna"] == optuna.__version__
    shipped = surface.filter(surface["fold"].is_null()).sort("mean", descending=True)
    assert json.loads(shipped["parameters"][0]) == results.summary[0]["ship"]


def test_what_is_held_out_does_not_touch_the_search():
    whole = small_collection(40, 18)
    held = KFold(3, seed=0).splits(whole, "query")[0]
    judged = whole.qrels.to_dict()
    for at in np.flatnonzero(held.test).tolist():
        judged[whole.queries.ids[at]] = {"d000": 1, "d039": 2}
    texts = dict(whole.documents.pairs())
    queries = dict(zip(whole.queries.ids, whole.queries.texts, strict=True))
    other = Collection(texts, queries, judged, name="small")
    tables = [experiment(collection=one).run() for one in (whole, other)]
    first = [one.surface.filter(one.surface["fold"] == 0) for one in tables]
    assert first[0].equals(first[1])
    assert tables[0].folds["held_out"][0] != tables[1].folds["held_out"][0]


def test_a_killed_search_goes_on_to_the_same_bytes(folder):
    """Killed amid the search of the second split, by a signal that nothing can catch."""
    whole = Experiment.read(folder / "experiment.toml")
    whole.run(folder / "whole")
    (folder / "trap").write_text("8")
    command = [sys.executable, "-c", "from heldout.cli import main; main()", "run"]
    command += [str(folder / "experiment.toml"), "-o", str(folder / "killed"), "--quiet"]
    ended = subprocess.run(command, check=False)  # noqa: S603 - this Python
    assert ended.returncode == -9
    lines = (folder / "killed" / JOURNAL).read_bytes().splitlines()
    assert len(lines) == 2  # the experiment, and the first search
    (folder / "trap").unlink()
    whole.run(folder / "killed", resume=True)
    assert table_bytes(folder / "killed") == table_bytes(folder / "whole")


def test_other_processes_give_the_same_bytes(folder):
    whole = Experiment.read(folder / "experiment.toml")
    whole.run(folder / "one")
    whole.run(folder / "two", workers=2)
    assert table_bytes(folder / "one") == table_bytes(folder / "two")


@pytest.mark.parametrize("by", ["query", "document"])
@pytest.mark.parametrize("inner", [None, 2])
def test_objects_on_queries_and_documents(folder, by, inner):
    text = f"r={folder}/ranker.py:Ranker(power=0:2:5, comparable=true)"
    system = System.of(text, search="optuna", trials=4)
    results = experiment(systems=[system], by=by, inner=inner).run()
    assert results.surface.height == 4 * 4
    powers = [json.loads(one)["power"] for one in results.surface["parameters"]]
    assert all(0 <= one <= 2 for one in powers)
    assert 0 < results.estimate("r")["value"] <= 1


def test_a_bootstrap_weighs_the_queries_it_has_drawn():
    results = experiment(plan={"kind": "bootstrap", "replicates": 2}).run()
    row = results.folds.row(0, named=True)
    fixed = System.of("bm25", parameters=json.loads(row["parameters"]))
    everything = experiment(systems=[fixed]).run()
    values = dict(everything.values.select("unit", "value").iter_rows())
    settings = experiment(plan={"kind": "bootstrap", "replicates": 2}).check()
    split, drawn = settings.splits[0], [values[one] for one in settings.collection.queries.ids]
    assert row["train"] == pytest.approx(np.average(drawn, weights=split.train))


def test_values_at_the_ends_are_told():
    system = System.of("bm25", space={"k1": [0.5, 3.0]}, search="optuna", trials=3)
    results = experiment(systems=[system]).run()
    assert set(results.folds["edges"]) == {"k1"}
    assert len(results.surface.filter(results.surface["fold"] == 0)) <= 2  # each point once


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"search": "tpe", "trials": 3}, "search = 'tpe': expected one of grid, random, optuna"),
        ({"search": "optuna"}, "trials = None: expected a positive integer"),
        ({"search": "optuna", "trials": 0}, "trials = 0: expected a positive integer"),
        ({"trials": 3}, "trials is for search ="),
    ],
)
def test_refused(given, complaint):
    with pytest.raises(HeldoutError, match=complaint):
        System.of("bm25(k1=0.5:3:6)", **given)


def test_refused_where_it_cannot_be_done(tmp_path):
    with pytest.raises(HeldoutError, match="trials is the number of points drawn from a space"):
        System.of("bm25", search="optuna", trials=3)
    with pytest.raises(HeldoutError, match='search = "optuna" for a built-in model needs held-out'):
        experiment(by="document").check()
    (tmp_path / "a.run").write_text("q00 Q0 d000 1 1.0 x\n")
    with pytest.raises(HeldoutError, match="runs have no search"):
        System.of(str(tmp_path / "a.run"), search="optuna", trials=2)

    class Transformer:
        def transform(self, topics):
            return topics

    search = {"search": "optuna", "trials": 2}
    with pytest.raises(HeldoutError, match=r"functions that learn \(not with learns = false\)"):
        System.of(overlap, learns=False, space={"power": [0, 1]}, **search)
    for space in (None, {"metric": ["ip", "cosine"]}):
        text = "vectors(docs.npy, queries.npy)" if space else "vectors(d, q, metric=ip,cosine)"
        with pytest.raises(HeldoutError, match='search = "optuna" does not work with vectors'):
            System.of(text, space=space, **search)
    with pytest.raises(HeldoutError, match="works with built-in models, fusions, functions"):
        System.of(Transformer, kind="transformer", space={"a": [1, 2]}, search="optuna", trials=2)


def test_a_missing_package_is_told_before_anything_runs(monkeypatch):
    monkeypatch.setattr("heldout.tune.search.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[optuna\]'"):
        System.of("bm25(k1=1:3:3)", search="optuna", trials=2)


def test_a_dry_run_says_how_many_trials(folder, capsys):
    from heldout.cli import main

    main(["run", str(folder / "experiment.toml"), "--dry-run"])
    assert "mine: 5 trials of Optuna per training side, 4 tasks" in capsys.readouterr().out
