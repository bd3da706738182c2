"""Nine runs of TREC-COVID round 1 and what NIST published for them.

The leaderboard was made with trec_eval (nDCG@10, P@5, bpref, MAP) and with Moffat's rbp_eval
(RBP at p = 0.5, gain = grade / greatest grade).
"""

from __future__ import annotations

import csv

import pytest

from heldout import Qrels, Run, evaluate

COLUMNS = {
    "ndcg@10": "nDCG@10",
    "p@5": "P@5",
    "bpref": "Bpref",
    "MAP": "AP",
    "RBP(p=.5)": "RBP(p=0.5)",
}
RUNS = [
    "BBGhelani1",
    "IRIT_marked_base",
    "NTU_NMLAB_BM25_Human",
    "UIUC_DMG_setrank_ret",
    "run1",
    "sab20.1.blind",
    "sab20.1.meta.docs",
    "udel_fang_run1",
    "xj4wang_run1",
]


@pytest.fixture(scope="module")
def folder(shared_data):
    folder = shared_data / "trec_covid_r1"
    if not folder.is_dir():
        pytest.skip("the folder trec_covid_r1 is not among the shared data")
    return folder


@pytest.fixture(scope="module")
def leaderboard(folder):
    with (folder / "leaderboard_round1.csv").open(newline="", encoding="utf-8") as lines:
        return {row["run"]: row for row in csv.DictReader(lines)}


@pytest.fixture(scope="module")
def qrels(folder):
    return Qrels.of(folder / "qrels-rnd1.txt")


@pytest.mark.parametrize("name", RUNS)
def test_means_are_those_of_the_leaderboard(name, folder, qrels, leaderboard):
    run = Run.of(folder / "runs" / f"{name}.xz")
    result = evaluate(qrels, run, list(COLUMNS.values()))
    shown = {column: f"{result.value(0, ours):.4f}" for column, ours in COLUMNS.items()}
    assert shown == {column: leaderboard[name][column] for column in COLUMNS}
    assert run.name == name


def test_all_nine_at_once_are_those_of_the_leaderboard(folder, qrels, leaderboard):
    paths = [folder / "runs" / f"{name}.xz" for name in RUNS]
    result = evaluate(qrels, paths, list(COLUMNS.values()))
    assert result.names == tuple(RUNS)
    assert len(result.units()) == 30
    for name in RUNS:
        for column, ours in COLUMNS.items():
            assert f"{result.value(name, ours):.4f}" == leaderboard[name][column]
