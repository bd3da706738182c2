"""Differences between systems on new documents."""

from types import SimpleNamespace

import numpy as np
import pytest
from document_data import indexed, topical_collection

from heldout.experiment.documents.differences import document_differences
from heldout.experiment.documents.estimate import Estimate
from heldout.experiment.experiment import Experiment
from heldout.measure.names import parse_measure
from heldout.report.experiment import results_text


def estimate(value, halves, target_halves, n_queries=11, target_size=100):
    return Estimate(
        measure="AP",
        method="pooled",
        value=value,
        low=value,
        high=value,
        estimand="",
        n_queries=n_queries,
        left_out=0,
        optimism=0.0,
        target_size=target_size,
        halves=halves,
        target_halves=target_halves,
    )


def differences(*systems):
    settings = SimpleNamespace(
        measures=[parse_measure("AP", "ranking")],
        level=0.95,
        systems=[SimpleNamespace(name=f"s{at}") for at in range(len(systems))],
    )
    return document_differences(
        settings, [SimpleNamespace(estimates=[[one] for one in system]) for system in systems]
    )


def test_by_hand():
    one = estimate(0.5, (0.3, -0.1), (0.2, 0.0))
    other = estimate(0.4, (0.1, -0.1), (0.2, 0.2))
    first, second = differences([one], [other])
    assert first == []
    (found,) = second
    # Means of squares: (.2² + 0) / 2 and (0 + .2²) / 2; t with 10 degrees of freedom.
    half = 2.2281388519649385 * (0.02 + 0.02) ** 0.5
    assert (found["system"], found["measure"]) == ("s0", "AP")
    assert found["difference"] == pytest.approx(-0.1)
    assert (found["low"], found["high"]) == pytest.approx((-0.1 - half, -0.1 + half))


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
    copies = [one for one in results.summary[1]["differences"] if one["system"] == "bm25"]
    assert len(copies) == 2
    for found in copies:
        assert (found["difference"], found["low"], found["high"]) == (0, 0, 0)


def test_pairing_makes_the_interval_narrower_than_two_apart(results):
    first, last = (results.estimate(name, "AP") for name in ("bm25", "tf-idf"))
    found = next(
        one
        for one in results.summary[2]["differences"]
        if (one["system"], one["measure"]) == ("bm25", "AP")
    )
    assert found["difference"] == pytest.approx(last["value"] - first["value"])
    apart = np.hypot(first["high"] - first["low"], last["high"] - last["low"])
    assert 0 < found["high"] - found["low"] < apart


def test_it_is_said(results):
    text = results_text(results)
    said = [line for line in text.splitlines() if "between tf-idf and bm25" in line]
    assert said[0].startswith("No significant difference between tf-idf and bm25 on new documents")
    assert "nDCG@10 difference" in said[0]
    assert "halves" not in results.summary[0]["estimates"][0]
