"""Fusion beside ranx, on random runs with ties and missing documents.

ranx is an optional peer (``pip install '.[bench]'``). Where the two differ:

* Tied documents of a run: ranx has them in the order of its sort; heldout by document id. Here
  heldout is given the order of ranx, since ranks depend on it.
* Queries: ranx refuses runs with different queries; heldout takes all of them.
* Lists whose scores are all equal: min-max and sum are 0 everywhere in ranx, which is what it gives
  to documents that are missing; in heldout they are 1 and 1/n. Left out here.
"""

from __future__ import annotations

import numpy as np
import pytest

import heldout

ranx = pytest.importorskip("ranx")
pytestmark = pytest.mark.filterwarnings("ignore")

METHODS = {"combsum": "sum", "combmnz": "mnz", "combmax": "max", "combmin": "min"}
METHODS |= {"combanz": "anz", "combmed": "med", "wsum": "wsum", "rrf": "rrf"}
NORMS = {"minmax": "min-max", "max": "max", "sum": "sum", "zscore": "zmuv", "rank": "rank"}
OPTIONS = {"wsum": {"weights": [0.2, 0.5, 0.3]}, "rrf": {"k": 10}}


def ranked(random):
    """Some of twenty documents; with few values, so that many are tied, but not all."""
    docs = random.permutation(20)[: random.integers(3, 20)].tolist()
    scores = [0.5, 3.0, *(random.integers(1, 7, len(docs) - 2) / 2).tolist()]
    return {f"doc-{doc}": score for doc, score in zip(docs, scores, strict=True)}


@pytest.fixture(scope="module")
def runs():
    """Runs of ranx, and the same as runs of heldout with tied documents in the order of ranx."""
    random = np.random.default_rng(11)
    theirs = [ranx.Run({f"q{q}": ranked(random) for q in range(10)}) for _ in range(3)]
    plain = [{query: dict(docs) for query, docs in run.run.items()} for run in theirs]
    return theirs, [heldout.Run.of(run, ties="input") for run in plain]


@pytest.mark.parametrize("how", METHODS)
def test_fused_scores_are_those_of_ranx(runs, how):
    theirs, ours = runs
    options = OPTIONS.get(how, {})
    for norm, name in {None: None}.items() if how == "rrf" else NORMS.items():
        fused = ranx.fuse(theirs, norm=name, method=METHODS[how], params=options)
        found = heldout.fuse(ours, how, norm=norm, **options).to_dict()
        assert found.keys() == fused.run.keys()
        for query, scores in fused.run.items():
            assert found[query] == pytest.approx(dict(scores), rel=1e-9, abs=1e-12), norm
