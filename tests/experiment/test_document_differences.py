"""Differences between systems on new documents."""

from types import SimpleNamespace

import numpy as np
import pytest
from document_data import indexed, topical_collection

from heldout import Experiment
from heldout.experiment.documents.estimates import Estimate
from heldout.experiment.results.summary import document_differences
from heldout.measure.names import parse_measure


def test_by_hand():
    def outcome(value, halves, target_halves):
        numbers = (value, value, value, "", 11, 0, 0.0, 100)
        estimate = Estimate("AP", "pooled", *numbers, halves, target_halves)
        return SimpleNamespace(estimates=[[estimate]])

    prepared = SimpleNamespace(
        experiment=SimpleNamespace(level=0.95),
        measures=[parse_measure("AP", "ranking")],
        systems=[SimpleNamespace(name="a"), SimpleNamespace(name="b")],
    )
    outcomes = [outcome(0.5, (0.3, -0.1), (0.2, 0.0)), outcome(0.4, (0.1, -0.1), (0.2, 0.2))]
    none, [difference] = document_differences(prepared, outcomes)
    assert none == []
    # Means of squares: (.2² + 0) / 2 and (0 + .2²) / 2; t with 10 degrees of freedom.
    half = 2.2281388519649385 * (0.02 + 0.02) ** 0.5
    numbers = [difference.pop(name) for name in ("low", "difference", "high")]
    assert numbers == pytest.approx([-0.1 - half, -0.1, -0.1 + half])
    assert difference == {"system": "a", "measure": "AP"}


@pytest.fixture(scope="module")
def results():
    collection = topical_collection(240, relevant=0.5)
    return Experiment(
        collection=collection,
        index=indexed(collection),
        systems=["bm25(k1=1, b=0.5)", "copy=bm25(k1=1, b=0.5)", "tf-idf"],
        by="document",
        plan={"folds": 4},
        measures=["nDCG@10", "AP"],
        replicates=100,
    ).run()


def test_a_copy_differs_by_nothing_at_all(results):
    differences = results.summary[1]["differences"]
    assert [row["system"] for row in differences] == ["bm25", "bm25"]
    assert {row[name] for row in differences for name in ("difference", "low", "high")} == {0}


def test_pairing_makes_the_interval_narrower_than_two_apart(results):
    first, last = (results.estimate(name, "AP") for name in ("bm25", "tf-idf"))
    [row] = [
        row
        for row in results.summary[2]["differences"]
        if (row["system"], row["measure"]) == ("bm25", "AP")
    ]
    assert row["difference"] == pytest.approx(last["value"] - first["value"])
    apart = np.hypot(first["high"] - first["low"], last["high"] - last["low"])
    assert 0 < row["high"] - row["low"] < apart


def test_it_is_said(results):
    said = str(results).splitlines()[0]
    assert "nDCG@10" in said
    assert "on new documents" in said
    assert "halves" not in results.summary[0]["estimates"][0]
