"""Real data, and what others published for them; tests skip where the data are absent."""

from __future__ import annotations

import csv
import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import heldout
from heldout import Qrels, Run, Scores, agree, compare, evaluate, read_collection
from heldout.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shared():
    """A function that finds a folder of the shared data."""

    def find(name):
        path = ROOT.parent / "shared" / "data" / name
        if not path.exists():
            pytest.skip(f"shared/data/{name}, beside the repository, is not here")
        return path

    return find


# trec_eval 10.0's own test outputs (usnistgov/trec_eval, folder test), byte for byte.
@pytest.mark.parametrize(
    ("expected", "results", "arguments"),
    [
        ("out.test", "results.test", []),
        ("out.test.aq", "results.test", ["-m", "all_trec", "-q"]),
        ("out.test.aqc", "results.trunc", ["-m", "all_trec", "-q", "-c"]),
    ],
)
def test_the_output_is_that_of_trec_eval(shared, capsys, expected, results, arguments):
    folder = shared("trec_eval")
    files = [str(folder / "qrels.test"), str(folder / results)]
    main(["eval", "--format", "trec", *arguments, *files])
    assert capsys.readouterr().out.encode() == (folder / expected).read_bytes()


def test_the_output_is_that_of_trec_eval_on_random_cases(shared, tmp_path, capsys):
    """Random small inputs with arguments and the exact output of trec_eval 10.0."""
    lines = (shared("trec_eval_cases") / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    files = [tmp_path / "qrels", tmp_path / "run"]
    different = []
    for number, line in enumerate(lines):
        case = json.loads(line)
        for file, content in zip(files, (case["qrels"], case["run"]), strict=True):
            file.write_bytes(content.encode())
        main(["eval", "--format", "trec", *case["arguments"], *map(str, files)])
        if capsys.readouterr().out != case["output"]:
            different.append((number, case["arguments"]))
    assert len(lines) == 800
    assert different == []


# The leaderboard of TREC-COVID round 1 was made with trec_eval and with Moffat's rbp_eval
# (RBP at p = 0.5, gain = grade / greatest grade).
COLUMNS = {
    "ndcg@10": "nDCG@10",
    "p@5": "P@5",
    "bpref": "Bpref",
    "MAP": "AP",
    "RBP(p=.5)": "RBP(p=0.5)",
}


def test_means_are_those_of_the_leaderboard_of_trec_covid(shared):
    folder = shared("trec_covid_r1")
    paths = sorted((folder / "runs").glob("*.xz"))
    result = evaluate(Qrels.of(folder / "qrels-rnd1.txt"), paths, list(COLUMNS.values()))
    with (folder / "leaderboard_round1.csv").open(newline="", encoding="utf-8") as lines:
        leaderboard = {row["run"]: row for row in csv.DictReader(lines)}
    assert len(result.names) == 9
    assert len(result.units()) == 30
    for name in result.names:
        shown = {column: f"{result.value(name, ours):.4f}" for column, ours in COLUMNS.items()}
        assert shown == {column: leaderboard[name][column] for column in COLUMNS}
    assert Run.of(paths[0]).name == paths[0].stem


def test_collections_have_the_counts_that_their_makers_print(shared):
    for path, counts in (
        ("cranfield", (1400, 225, 1612)),
        ("cranfield/cranfield_config.toml", (1400, 225, 1612)),
        ("cranfield/cranfield", (1400, 225, 1612)),
        ("scifact", (5183, 300, 339)),
    ):
        shared(path.partition("/")[0])
        found = read_collection(ROOT.parent / "shared" / "data" / path)
        assert (len(found.documents), len(found.queries), len(found.qrels)) == counts
    train = read_collection(shared("scifact"), split="train")
    assert (len(train.queries), len(train.qrels)) == (809, 919)
    found = read_collection(shared("cranfield"))
    (note,) = found.notes
    assert (note.code, note.count) == ("empty-documents", 2)
    assert not found.documents.text(470).strip()
    assert not found.documents.text(994).strip()


def test_four_runs_of_adhoc_5(shared):
    """Tukey claims run3 > run1 by an error term that is not theirs; the default does not."""
    path = shared("trec_matrices") / "adhoc5_ap.csv"
    values = np.genfromtxt(path, delimiter=",", skip_header=1)[:, :4]
    scores = Scores.of({f"run{at + 1}": values[:, at].tolist() for at in range(4)}, "AP")

    def adjusted(result):
        return {(claim.first, claim.second): claim.adjusted for claim in result.claims}

    result = compare(scores)
    assert result.analysis.correction == "romano-wolf"
    assert adjusted(result)["run3", "run1"] > 0.05
    by_tukey = compare(scores, correction="tukey")
    assert adjusted(by_tukey)["run3", "run1"] <= 0.05 < adjusted(by_tukey)["run4", "run3"]
    assert any(note.code == "unequal-variances" for note in by_tukey.warnings)


# Machines and human judgements of LLMJudge: kappa, quadratic kappa, and kappa of grades 2 and 3
# against 0 and 1, by scikit-learn.
KAPPAS = {
    "willia-umbrela1": (0.286272, 0.504356, 0.398530),
    "h2oloo-fewself": (0.277434, 0.504593, 0.427999),
    "Olz-gpt4o": (0.262472, 0.506917, 0.365683),
}


def test_agreement_of_machines_with_human_judgements(shared):
    folder = shared("llmjudge")
    files = [folder / "machine" / f"{name}.qrels" for name in (*KAPPAS, "TREMA-4prompts")]
    found = agree(folder / "human.qrels", files, rel=2)
    for name, expected in KAPPAS.items():
        values = found.judge(name).statistics
        kappas = (values.kappa, values.kappa_quadratic, values.kappa_binary)
        assert [one.estimate for one in kappas] == pytest.approx(expected, abs=5e-7)
    judge = found.judge("TREMA-4prompts")
    assert (judge.pairs, judge.queries) == (4423, 25)
    assert (judge.mean_human, judge.mean_machine) == pytest.approx((0.8998, 1.4635), abs=5e-5)
    assert judge.statistics.difference.low > 0  # it overrates


@pytest.mark.long
def test_latent_semantic_analysis_helps_on_cranfield_and_not_on_scifact(shared, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    lsa = importlib.import_module("lsa")
    results = heldout.Experiment(
        collection=shared("cranfield"),
        systems=[
            "bm25",
            heldout.System.of(lsa.lsa, "lsa", parameters={"dims": 100}, learns=False),
            "hybrid=wsum(bm25, lsa, norm=minmax, w=0:1:11)",
        ],
        plan=heldout.KFold(5),
    ).run()
    values = [results.value(system) for system in results.systems]
    assert values == pytest.approx([0.3346, 0.3656, 0.3757], abs=0.01)
    collection = read_collection(shared("scifact"))
    run = lsa.lsa(heldout.View(collection), heldout.View(collection), dims=50)
    assert 0.2 < evaluate(collection.qrels, run, "nDCG@10").value() < 0.45
