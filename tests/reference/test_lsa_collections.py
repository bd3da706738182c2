"""Latent semantic analysis on real collections: where it helps, and where it does not."""

import sys
from pathlib import Path

import pytest

import heldout

pytest.importorskip("sklearn")
EXAMPLES = Path(__file__).parents[2] / "examples"


def _lsa():
    sys.path.insert(0, str(EXAMPLES))
    try:
        from lsa import lsa
    finally:
        sys.path.remove(str(EXAMPLES))
    return lsa


def test_fusion_with_lsa_helps_on_cranfield(shared_data):
    results = heldout.Experiment(
        collection=shared_data / "cranfield",
        systems=[
            "bm25",
            heldout.System.of(_lsa(), "lsa", parameters={"dims": 100}, learns=False),
            "hybrid=wsum(bm25, lsa, norm=minmax, w=0:1:11)",
        ],
        plan=heldout.KFold(5),
    ).run()
    values = [results.value(system) for system in results.systems]
    assert values == pytest.approx([0.3346, 0.3656, 0.3757], abs=0.01)


def test_lsa_is_far_behind_on_scifact(shared_data):
    collection = heldout.read_collection(shared_data / "scifact")
    run = _lsa()(heldout.View(collection), heldout.View(collection), dims=50)
    value = heldout.evaluate(collection.qrels, run, "nDCG@10").value()
    assert 0.2 < value < 0.45
