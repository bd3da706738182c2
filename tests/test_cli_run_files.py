"""The command run with judgements alone: all systems are run files."""

from pathlib import Path

import numpy as np
import pytest

import heldout
from commands import parsed, printed, refused
from heldout import KFold, Qrels, Results, Run


@pytest.fixture(autouse=True)
def example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(3)
    queries = [f"q{number:02}" for number in range(40)]
    qrels = {
        query: {f"d{at}": int(generator.random() < 0.3) for at in range(15)} | {"d0": 1}
        for query in queries
    }
    Qrels.of(qrels).write("qrels.txt")
    Path("runs").mkdir()

    def write(path, weight):
        Run.of(
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


LAMBDA = ["--system", "tuned=runs/lambda=*.run"]


def run(capsys, *arguments):
    return printed(capsys, "run", "qrels.txt", *arguments)


def found(capsys, *arguments):
    return parsed(capsys, "run", "qrels.txt", *arguments)


def tuned_by_hand(name, plan):
    """Choose among the runs of a system, lowest parameter first, by loops over the folds."""
    files = sorted(
        Path("runs").glob(f"{name}*.run"), key=lambda path: float(path.stem[len(name) :])
    )
    values = heldout.evaluate("qrels.txt", {path.stem: path for path in files}, "nDCG@10")
    table = np.array([values.per_unit(path.stem, "nDCG@10") for path in files])
    splits = plan.splits(values.units())
    best = [int(table[:, split.train > 0].mean(axis=1).argmax()) for split in splits]
    units = np.zeros(table.shape[1])
    for number, split in zip(best, splits, strict=True):
        units[split.test > 0] = table[number, split.test > 0]
    chosen = [{"lambda": float(files[number].stem[len(name) :])} for number in best]
    return units, table.mean(axis=1).max() - units.mean(), chosen, splits


def test_scores_are_those_of_a_table_of_values(capsys):
    """Two ways to the same numbers: the experiment, and the choice from a table of values."""
    units, optimism, chosen, splits = tuned_by_hand("lambda=", KFold(4))
    run(capsys, *LAMBDA, "--folds", "4", "-o", "out")
    results = Results.read("out")
    assert results.value("tuned") == pytest.approx(units.mean(), rel=1e-12)
    assert results.estimate("tuned")["optimism"] == pytest.approx(optimism, abs=1e-12)
    assert results.scores().values[:, 0].tolist() == pytest.approx(units.tolist())
    assert results.chosen("tuned") == chosen
    assert results.manifest["fingerprints"]["splits"] == splits.fingerprint


PLANS = {
    "": (10, "KFold(folds=10)"),
    "--folds 5 --repeats 3 --seed 4": (15, "KFold(folds=5, repeats=3, seed=4)"),
    "--leave-one-out": (40, "LeaveOneOut()"),
    "--hold-out 0.25": (1, "HoldOut(test=0.25)"),
    "--hold-out 8 --repeats 2": (2, "HoldOut(test=8, repeats=2)"),
    "--bootstrap 30": (30, "Bootstrap(replicates=30)"),
    "--stratify relevance": (10, "KFold(folds=10, stratify='relevance')"),
    "--groups groups.tsv": (10, "KFold(folds=10, groups=<40 values>)"),
    "--folds-file folds.tsv": (2, "GivenFolds"),
    "--test-ids ids.txt": (1, "TestSet"),
    "--later times.tsv": (1, "Chronological"),
}


def test_every_plan_also_in_a_file(capsys):
    Path("folds.tsv").write_text("".join(f"q{at:02}\t{at % 2}\n" for at in range(40)))
    Path("groups.tsv").write_text("".join(f"q{at:02}\tg{at // 2}\n" for at in range(40)))
    Path("times.tsv").write_text("".join(f"q{at:02}\t{2000 + at}\n" for at in range(40)))
    Path("ids.txt").write_text("q01\nq05\n")
    for options, (splits, plan) in PLANS.items():
        asked = (*LAMBDA, *options.split(), "-o", "out", "--force")
        settings = found(capsys, *asked)["manifest"]["settings"]
        assert settings["splits"] == splits, options
        # The stored experiment has the same names, and the same plan.
        again = heldout.Experiment.read("out").check()
        assert repr(again.splits.plan).startswith(plan)


def test_repeated_from_the_results_to_the_same_bytes(capsys, tmp_path, monkeypatch):
    command = [*LAMBDA, "--against", "plain.run", "--folds", "5", "--stratify", "relevance"]
    run(capsys, *command, "-m", "AP", "-m", "RR", "--tune-for", "nDCG@5", "-o", "out")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    printed(capsys, "run", "../out", "-o", "again")
    printed(capsys, "run", "again", "-o", "third")
    for name in ("values", "folds", "surface", "lists", "splits"):
        kept = [Path(one, f"{name}.parquet").read_bytes() for one in ("../out", "again", "third")]
        assert kept[0] == kept[1] == kept[2]
    for name in ("summary.json", "manifest.json"):
        assert Path("../out", name).read_bytes() == Path("third", name).read_bytes()
    Path("again/experiment.toml").unlink()
    assert "cannot be repeated: no experiment.toml" in refused(capsys, "run", "again")


def test_two_systems_are_compared_on_held_out_scores(capsys):
    grids = ["--system", "A=runs/lambda=*.run", "--system", "B=runs/other_mu=*.run"]
    run(capsys, *grids, "-o", "out")
    scores = Results.read("out").scores()
    assert scores.systems == ("A", "B")
    (beside,) = found(capsys, *grids)["comparisons"]
    (compared,) = parsed(capsys, "compare", "--scores", "out")
    assert compared["claims"] == beside["claims"]  # results know how their systems were tuned
    assert not any("tuned" in one["text"] for one in beside["warnings"])


def test_a_comparison_in_which_one_was_tuned_says_so(capsys):
    (comparison,) = found(capsys, *LAMBDA, "--against", "plain.run")["comparisons"]
    assert comparison["baseline"] == "plain"
    assert "tuned-one" in [one["code"] for one in comparison["warnings"]]
    assert comparison["claims"][0]["first"] == "tuned"
    several = found(capsys, *LAMBDA, "--against", "plain.run", "runs/other*.run", "-b", "tuned")
    assert len(several["systems"]) == 4
    assert several["comparisons"][0]["baseline"] == "tuned"
