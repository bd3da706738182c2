"""The command tune."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from heldout.cli import main
from heldout.data.run import Qrels, Run
from heldout.data.scores import read_scores
from heldout.report.tuning import json_tuning, tuning_text
from heldout.resample.notices import ResamplingWarning
from heldout.resample.plans import KFold
from heldout.tune.runs import tune_runs


@pytest.fixture(autouse=True)
def example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(3)
    queries = [f"q{number:02}" for number in range(40)]
    qrels = {
        query: {f"d{at}": int(generator.random() < 0.3) for at in range(15)} | {"d0": 1}
        for query in queries
    }
    Qrels.from_dict(qrels).write("qrels.txt")
    Path("runs").mkdir()

    def write(path, weight):
        Run.from_dict(
            {
                query: {doc: weight * grade + generator.random() for doc, grade in docs.items()}
                for query, docs in qrels.items()
            }
        ).write(path)

    for weight in (0.1, 0.2, 0.3):
        write(f"runs/lambda={weight}.run", weight)
    for weight in (0.1, 0.3):
        write(f"runs/other_mu={weight}.run", weight)
    write("plain.run", 0.1)


def run(capsys, *arguments):
    main(["tune", "qrels.txt", *arguments])
    return capsys.readouterr()


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as caught:
        main(["tune", *arguments])
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert said.err.startswith("heldout")
    assert said.err.count("\n") == 1
    assert not said.out
    return said.err


def test_the_honest_score_stands_beside_the_optimistic_one(capsys):
    said = run(capsys, "runs/lambda=*.run", "--folds", "10")
    assert not said.err
    head, row, *rest = said.out.splitlines()
    assert re.split(r"\s{2,}", head) == [
        "system",
        "runs",
        "nDCG@10 held out",
        "95% interval",
        "optimistic",
        "optimism",
    ]
    (folds,) = [one.folds for one in tune_runs("qrels.txt", "runs/lambda=*.run").systems]
    assert row.split()[:3] == ["tuned", "3", f"{folds.mean:.4f}"]
    assert row.split()[-2:] == [f"{folds.optimistic:.4f}", f"{folds.optimism:+.4f}"]
    shown = [line.split() for line in rest if line.startswith("r0/f")]
    assert [line[0] for line in shown] == [f"r0/f{at}" for at in range(10)]
    assert [line[4] for line in shown] == [f"{one.train:.4f}" for one in folds.folds]
    assert [line[5] for line in shown] == [f"{one.held_out:.4f}" for one in folds.folds]
    assert "To ship: lambda=0.3 (runs/lambda=0.3.run), chosen on all 40 queries" in said.out
    assert "Warning: lambda=0.3, the highest value tried, was chosen in 10 of 10 splits and" in (
        said.out
    )


def test_a_pattern_that_the_shell_has_expanded(capsys):
    expanded = sorted(map(str, Path("runs").glob("lambda=*.run")))
    assert run(capsys, *expanded).out == run(capsys, "runs/lambda=*.run").out
    assert run(capsys, "--folds", "10", *expanded).out == run(capsys, "runs/lambda=*.run").out


def test_json_has_everything(capsys):
    found = json.loads(run(capsys, "runs/lambda=*.run", "--folds", "4", "--json").out)
    (system,) = found["systems"]
    (folds,) = [
        one.folds for one in tune_runs("qrels.txt", "runs/lambda=*.run", plan=KFold(4)).systems
    ]
    assert system["held_out"] == folds.mean
    assert system["optimism"] == folds.optimism
    assert system["interval"]["low"] < folds.mean < system["interval"]["high"]
    assert [one["surface"] for one in system["folds"]] == [
        one.surface.tolist() for one in folds.folds
    ]
    assert system["ship"]["parameters"] == {"lambda": 0.3}
    assert sum(one["chosen"] for one in system["points"]) == 4
    assert len(found["splits_fingerprint"]) == 64
    assert found["comparison"] is None
    assert found["warnings"]


@pytest.mark.parametrize(
    ("options", "splits", "plan"),
    [
        ([], 10, "KFold(k=10)"),
        (["--folds", "5", "--repeats", "3", "--seed", "4"], 15, "KFold(k=5, repeats=3, seed=4)"),
        (["--plan", "loo"], 40, "LeaveOneOut()"),
        (["--plan", "bootstrap"], 200, "Bootstrap(replicates=200)"),
        (["--plan", "bootstrap", "--repeats", "30"], 30, "Bootstrap(replicates=30)"),
        (["--stratify", "relevant"], 10, "KFold(k=10, stratify=<40 values>)"),
        (["--folds-file", "folds.tsv"], 2, "GivenFolds"),
        (["--plan", "given", "--folds-file", "folds.tsv"], 2, "GivenFolds"),
    ],
)
def test_every_plan(capsys, options, splits, plan):
    Path("folds.tsv").write_text("".join(f"q{at:02}\t{at % 2}\n" for at in range(40)))
    found = json.loads(run(capsys, "runs/lambda=*.run", "--json", *options).out)
    assert found["splits"] == splits
    assert found["plan"].startswith(plan)
    text = run(capsys, "runs/lambda=*.run", *options).out
    assert ("chosen on the seen queries of each fold" in text) == (splits <= 20)


def test_many_splits_are_counted(capsys):
    out = run(capsys, "runs/lambda=*.run", "--plan", "loo").out
    assert "lambda=0.3  40 (100%)" in out
    assert "r0/f" not in out


def test_two_systems_are_compared_on_held_out_scores(capsys):
    grids = ["--system", "A=runs/lambda=*.run", "--system", "B=runs/other_mu=*.run"]
    out = run(capsys, *grids, "--scores", "out.csv").out
    assert "Held-out scores compared:" in out
    assert "To ship: A, lambda=0.3" in out
    scores = read_scores("out.csv")
    tuned = tune_runs("qrels.txt", {"A": "runs/lambda=*.run", "B": "runs/other_mu=*.run"})
    assert scores.systems == ("A", "B")
    assert scores.values.tolist() == tuned.scores().values.tolist()
    main(["compare", "--scores", "out.csv", "--json"])
    (table,) = json.loads(capsys.readouterr().out)
    beside = json.loads(run(capsys, *grids, "--json").out)["comparison"]
    assert table["claims"][0]["difference"] == beside["claims"][0]["difference"]
    assert table["claims"][0]["p_t"] == beside["claims"][0]["p_t"]
    assert not any("tuned" in one for one in beside["warnings"])


def test_a_comparison_in_which_one_was_tuned_says_so(capsys):
    found = json.loads(run(capsys, "runs/lambda=*.run", "--json", "--against", "plain.run").out)
    comparison = found["comparison"]
    assert comparison["baseline"] == "plain"
    assert "tuned was tuned and plain was not: it may be tuning" in comparison["warnings"]
    assert comparison["claims"][0]["first"] == "tuned"


def test_several_untuned_runs(capsys):
    out = run(capsys, "runs/lambda=*.run", "--against", "plain.run", "runs/other*.run").out
    for name in ("tuned", "plain", "other_mu=0.1", "other_mu=0.3"):
        assert re.search(rf"^{re.escape(name)} ", out, re.MULTILINE)
    assert "tuned was tuned and plain, other_mu=0.1, other_mu=0.3 were not" in out
    found = run(
        capsys,
        "runs/lambda=*.run",
        "-b",
        "tuned",
        "--json",
        "--against",
        "plain.run",
        "runs/other_mu=0.1.run",
    ).out
    assert json.loads(found)["comparison"]["baseline"] == "tuned"


def test_scores_of_one_system_as_tsv(capsys):
    run(capsys, "runs/lambda=*.run", "--scores", "out.tsv", "-o", "out.txt")
    assert Path("out.tsv").read_text().startswith("query_id\ttuned\nq00\t")
    assert Path("out.txt").read_text().startswith("system")


def test_one_standard_error(capsys):
    found = json.loads(run(capsys, "runs/lambda=*.run", "--rule", "one-se", "--json").out)
    assert found["rule"] == "one-se"
    assert (
        "simplest run within one standard error"
        in run(capsys, "runs/lambda=*.run", "--rule", "one-se").out
    )


def test_what_a_plan_has_to_say_is_printed_with_the_result():
    """A class of one query cannot be in ten folds."""
    classes = {f"q{at:02}": "rare" if at == 7 else "usual" for at in range(40)}
    with pytest.warns(ResamplingWarning):
        tuned = tune_runs("qrels.txt", "runs/lambda=*.run", plan=KFold(10, stratify=classes))
    assert "Warning: strata with fewer queries than the 10 folds" in tuning_text(tuned)
    assert "strata with fewer" in json.loads(json_tuning(tuned))["warnings"][0]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["qrels.txt"], "no runs to choose from"),
        (["qrels.txt", "runs/nu=*.run"], "no run matches runs/nu=*.run: runs has lambda=0.1.run"),
        (["qrels.txt", "plain.run"], "one run (plain.run) leaves nothing to choose"),
        (["qrels.txt", "plain.run", "gone.run"], "gone.run: no such file"),
        (["gone.txt", "runs/l*.run"], "gone.txt: no such file"),
        (["qrels.txt", "runs/l*.run", "--folds", "41"], "41 folds of 40 queries"),
        (["qrels.txt", "runs/l*.run", "--folds", "1"], "k=1"),
        (["qrels.txt", "runs/l*.run", "--seed", "-1"], "seed=-1"),
        (["qrels.txt", "runs/l*.run", "--plan", "loo", "--folds", "5"], "--folds goes with"),
        (["qrels.txt", "runs/l*.run", "--plan", "loo", "--stratify", "relevant"], "--stratify"),
        (["qrels.txt", "runs/l*.run", "--plan", "kfold", "--folds-file", "f"], "--folds-file"),
        (["qrels.txt", "runs/l*.run", "--plan", "given"], "--folds-file FILE"),
        (["qrels.txt", "runs/l*.run", "--plan", "loo", "--repeats", "2"], "kfold or bootstrap"),
        (["qrels.txt", "runs/l*.run", "-m", "AP", "-m", "RR"], "-m names 2 measures (AP, RR)"),
        (["qrels.txt", "runs/l*.run", "-m", "NumQ"], "no better or worse"),
        (["qrels.txt", "runs/l*.run", "-m", "nonsense"], "unknown measure"),
        (["qrels.txt", "runs/l*.run", "--level", "2"], "--level 2"),
        (["qrels.txt", "runs/l*.run", "--scores", "out.txt"], ".csv or .tsv"),
        (["qrels.txt", "runs/l*.run", "-b", "plain"], "one system only"),
        (["qrels.txt", "runs/l*.run", "--system", "A=plain.run"], "give either runs, or systems"),
        (["qrels.txt", "--system", "plain.run"], "expected NAME=RUNS"),
        (["qrels.txt", "--system", "A=runs/l*", "--system", "A=plain.run"], "are called A"),
        (["qrels.txt", "runs/l*.run", "-b", "x", "--against", "plain.run"], "no system 'x'"),
        (["qrels.txt", "runs/l*.run", "--against", "none*.run"], "no run matches none*.run"),
    ],
)
def test_wrong_input_is_one_line(capsys, arguments, reason):
    assert reason in refused(capsys, *arguments)
    assert not Path("out.txt").exists()
