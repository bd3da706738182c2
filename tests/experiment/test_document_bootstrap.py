"""Many splits of the documents at once give the values of one after another, to the last bit."""

import pytest
from experiment_data import small_collection, table_bytes

import heldout
from heldout.experiment import rankings
from heldout.experiment.documents import replicates
from heldout.retrieve.models import MODELS

SUMS = [name for name in MODELS if not name.startswith("ql")]


def experiment(system="bm25", **fields):
    given = {
        "collection": small_collection(80, 20),
        "systems": {"s": system},
        "by": "document",
        "plan": {"kind": "bootstrap", "replicates": 5},
        "measures": ["nDCG@10", "P@3"],
    }
    return heldout.Experiment(**given | fields)


@pytest.fixture
def both_ways(monkeypatch, tmp_path):
    """Return the bytes of the results, with splits at once and one after another."""

    def run(whole):
        whole.run(tmp_path / "at once")
        with monkeypatch.context() as patch:
            for module in (rankings, replicates):
                patch.setattr(module, "splits_at_once", lambda *_: 1)
            whole.run(tmp_path / "plain")
        return table_bytes(tmp_path / "at once"), table_bytes(tmp_path / "plain")

    return run


@pytest.mark.parametrize("model", SUMS)
def test_every_model(both_ways, model):
    at_once, plain = both_ways(experiment(model))
    assert at_once == plain


@pytest.mark.parametrize(
    "fields",
    [
        {"system": "bm25(k1=0.5:3:4, b=0.2,0.8)"},
        {"system": "bm25(k1=0.5:3:4)", "tune_for": "RR@5", "rule": "one-se"},
        {"plan": {"kind": "bootstrap", "replicates": 4, "side": "test"}},
        {"plan": {"kind": "holdout", "test": 0.1, "repeats": 3}, "system": "bm25(k1=1:3:3)"},
        {"depth": 5},
    ],
)
def test_every_plan_and_choice(both_ways, fields):
    at_once, plain = both_ways(experiment(**fields))
    assert at_once == plain


def test_ranked_lists_are_kept_of_the_first_splits(both_ways, monkeypatch, tmp_path):
    def notes(results):
        return [note.text for note in results.notes if note.code == "lists-kept"]

    whole = experiment("bm25(k1=1:3:3)").run()
    monkeypatch.setattr(rankings, "LISTED", 3)
    at_once, plain = both_ways(experiment("bm25(k1=1:3:3)"))
    assert at_once == plain
    few = heldout.Results.read(tmp_path / "plain")
    assert few.held_out.equals(whole.held_out.filter(whole.held_out["repeat"] < 3))
    assert few.values.equals(whole.values)
    assert few.summary == whole.summary
    assert notes(few) == ["ranked lists are kept for the first 3 of 5 splits"]
    assert not notes(whole)
    assert not notes(experiment(plan={"folds": 5}).run())
