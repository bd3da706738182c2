"""Random searches, and searches by Optuna: on training data alone, recorded, the same anywhere."""

import json

import numpy as np
import pytest
from experiment_data import longer, overlap, small_collection

from heldout import (
    Experiment,
    Index,
    System,
    search,
)
from heldout.errors import MissingExtraError

optuna = pytest.importorskip("optuna", reason="needs the extra optuna")

COLLECTION = small_collection(40, 18)


def experiment(**fields):
    given = {"collection": COLLECTION, "plan": {"folds": 3}}
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


POWER = {"power": "0.2:1.8:4"}
KINDS = {
    "model": ("bm25", {}, {"k1": "0.5:3:6"}),
    "function": (overlap, {"comparable": True}, POWER),
    "fixed": (overlap, {"comparable": True, "learns": False}, POWER),
    "object": (Ranker, {"comparable": True}, POWER),
    "fusion": ("wsum", {"parts": runs()}, {"w": "0:1:11"}),
    "reranker": (longer, {"first": "bm25", "comparable": True}, {"weight": "-0.1:0.1:3"}),
    "vectors": ("vectors(d.npy, q.npy)", {}, {"metric": ["cosine", "ip"]}),
}


def of_every_kind(points=None, **options):
    """A system of each kind, to be searched, or with the parameters that were chosen."""
    return [
        System.of(
            given,
            name,
            **more,
            **(options | {"space": space} if points is None else {"parameters": points[name]}),
        )
        for name, (given, more, space) in KINDS.items()
    ]


@pytest.mark.parametrize("by", ["query", "document"])
@pytest.mark.parametrize("how", ["random", "optuna"])
def test_every_kind_can_be_searched(tmp_path, monkeypatch, how, by):
    """Points and means are recorded; the best on a training side is what is held out there."""
    monkeypatch.chdir(tmp_path)
    for name, given in (("d", COLLECTION.documents), ("q", COLLECTION.queries)):
        np.save(f"{name}.npy", np.random.default_rng(0).normal(size=(len(given), 4)))
        (tmp_path / f"{name}.ids").write_text("\n".join(given.ids))
    fields = {"by": by, "measures": ["nDCG@10", "AP"]}
    results = experiment(systems=of_every_kind(search=how, trials=4), **fields).run()
    assert ("optuna" in results.manifest["versions"]) == (how == "optuna")
    for kind, summary in zip(KINDS, results.summary, strict=True):
        surface = results.surface.filter(system=kind)
        each = {part["fold"][0]: part for part in surface.partition_by("fold", maintain_order=True)}
        tried = {fold: part["parameters"].to_list() for fold, part in each.items()}
        assert set(tried) == {0, 1, 2, None}  # three folds, and all data
        if kind != "vectors":  # there are only two metrics
            assert [len(set(points)) for points in tried.values()] == [4] * 4
            assert (tried[0] == tried[1]) == (how == "random")
        best = {
            fold: part.sort("mean", descending=True, maintain_order=True).row(0, named=True)
            for fold, part in each.items()
        }
        for row in results.folds.filter(system=kind).iter_rows(named=True):
            mine = best[row["fold"]]
            assert (mine["parameters"], mine["mean"]) == (row["parameters"], row["train"])
        assert json.loads(best[None]["parameters"]) == summary["ship"]
    if by == "document":
        return
    for fold in range(3):  # systems with these parameters get the same there
        chosen = {name: results.chosen(name)[fold] for name in KINDS}
        fixed = experiment(systems=of_every_kind(chosen), **fields).run()
        for table in ("values", "held_out"):
            ours, theirs = (getattr(one, table).filter(fold=fold) for one in (results, fixed))
            different = set(ours.columns) & {"parameters"}
            assert ours.drop(different).equals(theirs.drop(different))


def test_values_at_the_ends_are_told_and_each_point_is_tried_once(monkeypatch):
    system = System.of("bm25", space={"k1": [0.5, 3.0]}, search="optuna", trials=3)
    results = experiment(systems=[system]).run()
    assert set(results.folds["edges"]) == {"k1"}
    assert len(results.surface.filter(results.surface["fold"] == 0)) <= 2
    monkeypatch.setattr("heldout.tune.search.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[optuna\]'"):
        System.of("bm25(k1=1:3:3)", search="optuna", trials=2)
