"""Results keep which unit was held out where: enough to make every split again."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from experiment_data import small_collection
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from heldout import Experiment, Results
from heldout.experiment.results.tables import split_table
from heldout.resample.plans import Bootstrap, Chronological, HoldOut, KFold, LeaveOneOut
from heldout.resample.two_way import cross

SIDES = ("train", "test", "validation")
PLANS = {
    "folds": KFold(4),
    "repeated folds": KFold(3, repeats=2),
    "leave one out": LeaveOneOut(),
    "hold-out": HoldOut(0.3),
    "hold-outs": HoldOut(0.3, repeats=3, validation=0.2),
    "bootstrap": Bootstrap(5),
    "in time": Chronological(order=[str(n) for n in range(24)], test=6),
}


@pytest.fixture(scope="module")
def collection():
    return small_collection()


def sides_again(table, repeat, fold, kind):
    """The weights of a split by unit, made from the table alone."""
    own = table.filter((pl.col("repeat") == repeat) & (pl.col("kind") == kind))
    here = own.filter(pl.col("fold") == fold)
    found = {
        side: dict(here.filter(pl.col("side") == side).select("unit", "count").rows())
        for side in SIDES
    }
    if not own["side"].is_in(["train"]).any():  # folds: all the others of the repeat are seen
        found["train"] = dict.fromkeys(set(own["unit"]) - set(found["test"]), 1)
    return found


def sides_of(split):
    weights = {side: getattr(split, side) for side in SIDES}
    return {
        side: {}
        if one is None
        else {split.ids[at]: int(one[at]) for at in np.flatnonzero(one).tolist()}
        for side, one in weights.items()
    }


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_every_split_can_be_made_again(collection, plan):
    splits = plan.splits(collection)
    table = split_table(splits)
    for split in splits:
        again = sides_again(table, split.key.repeat, split.key.fold, "query")
        assert again == sides_of(split)
    assert split_table(replace(splits, runs=2)).equals(table)  # runs have the same sides


@pytest.mark.parametrize(
    "plan", [cross(KFold(3), KFold(2)), cross(KFold(2, repeats=2), HoldOut(0.4))]
)
def test_two_way_splits_can_be_made_again(collection, plan):
    splits = plan.splits(collection)
    table = split_table(splits)
    for split in splits:
        key = split.key
        assert sides_again(table, key.repeat, key.fold, "query") == sides_of(split)
        documents = sides_of(split.documents)
        assert sides_again(table, key.repeat, key.other, "document") == documents


@pytest.mark.parametrize("by", ["query", "document", "both"])
def test_results_keep_them(collection, tmp_path, by):
    experiment = Experiment(collection=collection, systems=["bm25"], by=by, measures=["AP"])
    found = experiment.run(tmp_path / "results")
    kept = Results.read(tmp_path / "results").splits
    assert kept.equals(found.splits)
    assert kept.equals(split_table(experiment.check().splits))
    assert set(kept["kind"]) == ({"query", "document"} if by == "both" else {by})
    if by == "query":
        places = ["repeat", "fold", "unit"]
        measured = found.values.select(places).unique().sort(places)
        assert measured.join(kept, on=places, how="anti").is_empty()


def test_results_of_estimators_keep_them(tmp_path):
    rows, labels = load_iris(return_X_y=True)
    experiment = Experiment(
        task="classification", data=(rows, labels), systems={"bayes": GaussianNB()}, plan=KFold(3)
    )
    experiment.run(tmp_path / "results")
    results = Results.read(tmp_path / "results")
    assert set(results.splits["kind"]) == {"instance"}
    places = ["repeat", "fold", "unit"]
    predicted = results.held_out.filter(pl.col("system") == "bayes").select(places).sort(places)
    assert predicted.equals(results.splits.select(places).sort(places))
