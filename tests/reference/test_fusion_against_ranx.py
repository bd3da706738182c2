"""Fusion beside ranx, on random runs with ties and missing documents.

ranx is an optional peer (``pip install '.[bench]'``). Where the two differ:

* Tied documents of a run: ranx has them in the order of its sort; heldout by document id. Here
  heldout is given the order of ranx, since ranks depend on it.
* Queries: ranx refuses runs with different queries; heldout takes all of them.
* Lists whose scores are all equal: min-max and sum are 0 everywhere in ranx, which is what it gives
  to documents that are missing; in heldout they are 1 and 1/n. Left out here.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

import heldout

sys.path.append(str(Path(__file__).parents[1] / "retrieve"))
from fusion_reference import random_runs

ranx = pytest.importorskip("ranx")
pytestmark = pytest.mark.filterwarnings("ignore")

OF_SCORES = {"combsum": "sum", "combmnz": "mnz", "combmax": "max", "combmin": "min"}
OF_SCORES |= {"combanz": "anz", "combmed": "med", "wsum": "wsum"}
OF_RANKS = {"rrf": "rrf", "isr": "isr", "logisr": "log_isr", "rbc": "rbc", "bordafuse": "bordafuse"}
NORMS = {"minmax": "min-max", "max": "max", "sum": "sum", "zscore": "zmuv"}
NORMS |= {"rank": "rank", "borda": "borda"}
OPTIONS = {"wsum": {"weights": [0.2, 0.5, 0.3]}, "rbc": {"phi": 0.8}, "rrf": {"k": 10}}


@pytest.fixture(scope="module")
def runs():
    """Runs of ranx, and the same as runs of heldout with tied documents in the order of ranx."""
    plain = random_runs(11, queries=12, documents=20)
    common = set.intersection(*(set(run) for run in plain))
    several = [
        {
            query: ranked
            for query, ranked in run.items()
            if query in common and _differ(plain, query)
        }
        for run in plain
    ]
    theirs = [ranx.Run(run) for run in several]
    ours = [
        heldout.Run.of({q: dict(ranked) for q, ranked in run.run.items()}, ties="input")
        for run in theirs
    ]
    assert len(ours[0].queries) >= 4
    return theirs, ours


def _differ(runs, query):
    return all(len(set(run[query].values())) > 1 for run in runs)


def fused_by_ranx(runs, method, norm, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ranx.fuse(runs, norm=norm, method=method, params=options)
    return {query: dict(ranked) for query, ranked in found.run.items()}


def assert_equal(ours, theirs):
    assert ours.keys() == theirs.keys()
    for query, scores in theirs.items():
        assert ours[query] == pytest.approx(scores, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("how", OF_SCORES)
def test_methods_of_scores(runs, how):
    theirs, ours = runs
    options = OPTIONS.get(how, {})
    for norm, name in NORMS.items():
        found = heldout.fuse(ours, how, norm=norm, **options).to_dict()
        assert_equal(found, fused_by_ranx(theirs, OF_SCORES[how], name, options))


@pytest.mark.parametrize("how", OF_RANKS)
def test_methods_of_ranks(runs, how):
    theirs, ours = runs
    options = OPTIONS.get(how, {})
    found = heldout.fuse(ours, how, **options).to_dict()
    assert_equal(found, fused_by_ranx(theirs, OF_RANKS[how], None, options))
