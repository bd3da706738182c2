"""Random searches, and searches by Optuna: on training data alone, recorded, the same anywhere."""

import json

import numpy as np
import pytest
from experiment_data import check_bytes, interrupted, longer, overlap, small_collection

from heldout import (
    Bootstrap,
    Collection,
    Experiment,
    HeldoutError,
    Index,
    KFold,
    System,
    export_collection,
    search,
)
from heldout.cli import main
from heldout.errors import MissingExtraError

optuna = pytest.importorskip("optuna", reason="needs the extra optuna")

COLLECTION = small_collection(40, 18)
MODEL = System.of("bm25(k1=0.5:3:6, b=0:1:5)", search="optuna", trials=7)


def experiment(**fields):
    given = {"collection": COLLECTION, "systems": [MODEL], "plan": {"folds": 3}}
    return Experiment(**given | fields)


class Ranker:
    def __init__(self, power=1.0):
        self.power = power

    def fit(self, train):
        self.train = train
        return self

    def predict(self, test):
        return overlap(self.train, test, self.power)


def runs():
    index = Index.build(COLLECTION.documents)
    found = [search(index, COLLECTION.queries, model) for model in ("bm25", "ql-jm")]
    return [System.of(run, name, comparable=True) for run, name in zip(found, "ab", strict=True)]


def called(call, **more):
    return lambda **options: System.of(call, "s", comparable=True, **more, **options)


METRIC = {"metric": ["cosine", "ip"]}
POWER = {"power": "0.2:1.8:4"}
KINDS = {
    "model": (lambda **options: System.of("bm25", "s", **options), {"k1": "0.5:3:6"}),
    "function": (called(overlap), POWER),
    "fixed function": (called(overlap, learns=False), POWER),
    "object": (called(Ranker), POWER),
    "fusion": (lambda **options: System.of("wsum", "s", parts=runs(), **options), {"w": "0:1:11"}),
    "reranker": (called(longer, first="bm25"), {"weight": "-0.1:0.1:3"}),
    "vectors": (lambda **options: System.of("s=vectors(d.npy, q.npy)", **options), METRIC),
}


@pytest.mark.parametrize("by", ["query", "document"])
@pytest.mark.parametrize("how", ["random", "optuna"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_searched(tmp_path, monkeypatch, kind, how, by):
    """Points and means are recorded; the best on a training side is what is held out there."""
    monkeypatch.chdir(tmp_path)
    for name, given in (("d", COLLECTION.documents), ("q", COLLECTION.queries)):
        np.save(f"{name}.npy", np.random.default_rng(0).normal(size=(len(given), 4)))
        (tmp_path / f"{name}.ids").write_text("\n".join(given.ids))
    make, space = KINDS[kind]
    systems = [make(space=space, search=how, trials=4)]
    results = experiment(systems=systems, by=by, measures=["nDCG@10", "AP"]).run()
    each = results.surface.partition_by("fold", maintain_order=True)
    tried = [part["parameters"].to_list() for part in each]
    assert len(tried) == 4  # three folds, and all data
    if kind != "vectors":  # there are only two metrics
        assert [len(set(points)) for points in tried] == [4] * 4
        assert (tried[0] == tried[1]) == (how == "random")
    for row in results.folds.iter_rows(named=True):
        (mine,) = [part for part in each if part["fold"][0] == row["fold"]]
        best = mine.sort("mean", descending=True, maintain_order=True).row(0, named=True)
        assert (best["parameters"], best["mean"]) == (row["parameters"], row["train"])
        if by == "query":  # then a system with these parameters gets the same there
            fixed = experiment(
                systems=[make(parameters=json.loads(row["parameters"]))],
                measures=["nDCG@10", "AP"],
            ).run()
            for table in ("values", "held_out"):
                ours, theirs = (
                    getattr(one, table).filter(fold=row["fold"]) for one in (results, fixed)
                )
                different = set(ours.columns) & {"parameters"}
                assert ours.drop(different).equals(theirs.drop(different))
    (whole,) = [part for part in each if part["fold"][0] is None]
    best = whole.sort("mean", descending=True, maintain_order=True)["parameters"][0]
    assert json.loads(best) == results.summary[0]["ship"]
    assert ("optuna" in results.manifest["versions"]) == (how == "optuna")


def test_what_is_held_out_does_not_touch_the_search():
    held = KFold(3, seed=0).splits(COLLECTION, "query")[0]
    judged = COLLECTION.qrels.to_dict()
    for at in np.flatnonzero(held.test).tolist():
        judged[COLLECTION.queries.ids[at]] = {"d000": 1, "d039": 2}
    other = Collection(COLLECTION.documents, COLLECTION.queries, judged)
    tables = [experiment(collection=one).run() for one in (COLLECTION, other)]
    first = [one.surface.filter(one.surface["fold"] == 0) for one in tables]
    assert first[0].equals(first[1])
    assert tables[0].folds["held_out"][0] != tables[1].folds["held_out"][0]


def test_an_interruption_and_other_processes_leave_the_same_bytes(tmp_path, monkeypatch):
    """Interrupted amid the search of the second split."""
    monkeypatch.chdir(tmp_path)
    space = {"power": "0:1.5:4"}
    system = System.of(interrupted, "mine", space=space, search="optuna", trials=5)
    check_bytes(experiment(systems=[system]), 8)


def test_a_bootstrap_weighs_the_queries_it_has_drawn():
    results = experiment(plan={"kind": "bootstrap", "replicates": 2}).run()
    row = results.folds.row(0, named=True)
    fixed = System.of("bm25", parameters=json.loads(row["parameters"]))
    everything = experiment(systems=[fixed]).run()
    values = dict(everything.values.select("unit", "value").iter_rows())
    split = Bootstrap(2).splits(COLLECTION, "query")[0]
    drawn = [values[query] for query in COLLECTION.queries.ids]
    assert row["train"] == pytest.approx(np.average(drawn, weights=split.train))


@pytest.mark.parametrize("plan", [{"kind": "bootstrap", "replicates": 3}, {"kind": "holdout"}])
def test_documents_held_out_alone_have_the_training_score_of_the_point(plan):
    plan = {"by": "document", "plan": plan, "replicates": 100}
    results = experiment(**plan).run()
    points = [json.loads(text) for text in results.folds["parameters"]]
    fixed = [System.of("bm25", str(n), parameters=point) for n, point in enumerate(points)]
    alone = experiment(systems=fixed, **plan).run()
    for row, name in enumerate(alone.systems):
        held_out = results.folds["held_out"][row]
        assert held_out == alone.folds.filter(system=name)["held_out"][row]
    estimate = results.estimate(results.systems[0])
    assert estimate["optimism"] == pytest.approx(estimate["train"] - estimate["value"])
    if len(points) == 1:
        assert estimate == alone.estimate("0")


def test_values_at_the_ends_are_told():
    system = System.of("bm25", space={"k1": [0.5, 3.0]}, search="optuna", trials=3)
    results = experiment(systems=[system]).run()
    assert set(results.folds["edges"]) == {"k1"}
    assert len(results.surface.filter(results.surface["fold"] == 0)) <= 2  # each point once


@pytest.mark.parametrize(
    ("text", "given", "complaint"),
    [
        ("bm25(k1=1,2)", {"search": "tpe"}, "search = 'tpe': expected one of grid, random, optu"),
        ("bm25(k1=1,2)", {"search": "optuna"}, "trials = None: expected a positive integer"),
        ("bm25(k1=1,2)", {"search": "random", "trials": 0}, "trials = 0: expected a positive"),
        ("bm25(k1=1,2)", {"trials": 3}, "trials is for search ="),
        ("bm25", {"search": "optuna", "trials": 3}, "trials is the number of points drawn from"),
        ({"a": "a.run"}, {"search": "optuna", "trials": 3}, "search, trials would have no effect"),
    ],
)
def test_refused(text, given, complaint):
    with pytest.raises(HeldoutError, match=complaint):
        System.of(text, **given)


def test_a_missing_package_is_told_before_anything_runs(monkeypatch):
    monkeypatch.setattr("heldout.tune.search.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[optuna\]'"):
        System.of("bm25(k1=1:3:3)", search="optuna", trials=2)


def test_a_dry_run_says_how_many_trials(tmp_path, capsys):
    export_collection(COLLECTION, tmp_path / "data")
    (tmp_path / "experiment.toml").write_text(
        'collection = "data"\nplan = {folds = 3}\n'
        'systems = [{system = "bm25(k1=1:3:3)", search = "optuna", trials = 5}]\n'
    )
    main(["run", str(tmp_path / "experiment.toml"), "--dry-run"])
    assert "bm25: 5 trials of Optuna × 3 splits" in capsys.readouterr().out
