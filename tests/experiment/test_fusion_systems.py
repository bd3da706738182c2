"""Fusions as systems: tuned in the folds, from runs and from other systems of the experiment."""

import json

import numpy as np
import pytest
from experiment_data import overlap, small_collection, table_bytes

import heldout
from heldout.cli import main
from heldout.errors import HeldoutError
from heldout.experiment.experiment import JOURNAL, Experiment
from heldout.experiment.results import Results
from heldout.experiment.systems.base import System
from heldout.resample.plans import KFold
from heldout.retrieve.index import Index
from heldout.retrieve.search import search

MEASURES = ["nDCG@10", "AP"]
PLAN = {"folds": 4}


@pytest.fixture(scope="module")
def collection():
    return small_collection()


@pytest.fixture(scope="module")
def runs(collection):
    """Two runs that are good at different queries, and one of noise."""
    index = Index.build(collection.documents)
    first = search(index, collection.queries, "bm25(k1=2, b=0)", k=20, name="first")
    second = search(index, collection.queries, "ql-jm(lambda=0.9)", k=25, name="second")
    random = np.random.default_rng(0)
    noise = {
        query: {f"d{doc:03}": float(random.random()) for doc in random.permutation(60)[:15]}
        for query in collection.queries.ids
    }
    return {"first": first, "second": second, "noise": heldout.Run.from_dict(noise, "noise")}


@pytest.fixture
def folder(tmp_path, collection, runs, monkeypatch):
    """The runs and the judgements in files, beside the experiment."""
    collection.qrels.write(tmp_path / "qrels.txt")
    for name, run in runs.items():
        run.write(tmp_path / f"{name}.run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scores_of(results, name):
    scores = results.scores()
    return scores.values[:, scores.systems.index(name)]


def values(results, name, measure="nDCG@10"):
    rows = results.units.filter(
        (results.units["system"] == name) & (results.units["measure"] == measure)
    ).sort("query")
    return rows["value"].to_numpy()


def test_each_point_is_the_evaluation_of_the_fused_run(collection, runs):
    parts = list(runs.values())
    for how, norm, point in (
        ("wsum", "minmax", {"w1": 0.2, "w2": 0.5, "w3": 0.3}),
        ("wsum", "zscore", {"w1": 1, "w2": 1, "w3": 0}),
        ("rrf", None, {"k": 5}),
        ("rbc", None, {"phi": 0.7}),
        ("combmnz", "sum", {}),
        ("condorcet", None, {}),
    ):
        weights = [point[name] for name in point if name.startswith("w")] or None
        options = {name: one for name, one in point.items() if not name.startswith("w")}
        fused = heldout.fuse(parts, how, norm=norm, weights=weights, **options)
        fixed = {**point, **({} if norm is None else {"norm": norm})}
        systems = [System.fusion(how, parts, "hybrid", parameters=fixed), System.of(fused, "run")]
        results = Experiment(
            collection=collection, systems=systems, measures=[*MEASURES, "RR@5", "Bpref"], plan=PLAN
        ).run()
        for measure in ("nDCG@10", "AP", "RR@5", "Bpref"):
            mine, other = (results.scores(measure).values[:, at] for at in (0, 1))
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-12)
