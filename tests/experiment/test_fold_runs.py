"""Runs of each fold, made by another tool, are read back: the values are those of the tool."""

from pathlib import Path

import pytest
from experiment_data import overlap, small_collection

import heldout
from heldout.cli import main

COLLECTION = small_collection()
MINE = ["mine=runs/mine/{split}.run(comparable=true)"]


def experiment(systems, by="query", plan=None, **more):
    given = {"collection": COLLECTION, "measures": ["nDCG@10", "AP"]} | more
    return heldout.Experiment(systems=systems, by=by, plan=plan or heldout.KFold(4), **given)


def write(results, system="bm25"):
    Path("runs/mine").mkdir(parents=True)
    for name, run in results.runs(system).items():
        run.write(f"runs/mine/{name}.run")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    COLLECTION.qrels.write("qrels.txt")
    return tmp_path


@pytest.mark.parametrize("by", ["query", "document"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_exported_rankings_have_the_same_values_when_read_back(by, repeats):
    plan = heldout.KFold(4, repeats=repeats)
    first = experiment(["bm25(k1=0.5,2)"], by, plan, keep_depth=1000).run()
    write(first)
    again = experiment(["mine=runs/mine/r{repeat}-f{fold}.run(comparable=true)"], by, plan).run()
    other = experiment(MINE, by, plan).run()
    for measure in ("nDCG@10", "AP"):
        expected = first.value("bm25", measure)
        assert again.value("mine", measure) == pytest.approx(expected, abs=1e-12)
        assert other.value("mine", measure) == again.value("mine", measure)


def test_document_folds_that_cannot_be_compared_are_evaluated_one_by_one():
    system = heldout.System.of(overlap, "mine", comparable=False)
    first = experiment([system], "document", keep_depth=1000).run()
    write(first, "mine")
    again = experiment(["mine=runs/mine/{split}.run(comparable=false)"], "document").run()
    assert again.split_values("mine", "AP") == pytest.approx(first.split_values("mine", "AP"))


def test_with_judgements_alone_and_wrong_files_are_named(capsys):
    first = experiment(["bm25"], keep_depth=1000).run()
    write(first)

    def run(*arguments, file="mine=runs/mine/r0-f{fold}.run"):
        main(["run", "qrels.txt", "--system", file, "--folds", "4", "-m", "AP", *arguments])

    run()
    assert f"{first.value('bm25', 'AP'):.4f}"[1:] in capsys.readouterr().out
    Path("runs/mine/r0-f2.run").rename("aside.run")
    for arguments, file, message in (
        (["--repeats", "2"], {}, "names the same file for several of the 8 splits: add {repeat}"),
        ([], {"file": "runs/{number}.run"}, "expected {fold}, {repeat}"),
        ([], {}, "1 of 4 run files are missing: runs/mine/r0-f2.run (folds are numbered from 0)"),
        (
            [],
            {"file": "runs/mine/{split}.run(k=1)"},
            "parameters would have no effect on it; it takes comparable",
        ),
    ):
        with pytest.raises(SystemExit, match="2"):
            run(*arguments, **file)
        assert message in capsys.readouterr().err
    Path("aside.run").rename("runs/mine/r0-f2.run")
    with pytest.raises(SystemExit, match="2"):
        run("--seed", "7")
    assert "ranks queries that are not on the test side" in capsys.readouterr().err


def test_documents_of_another_fold_are_named():
    first = experiment(["bm25"], "document", keep_depth=1000).run()
    write(first)
    for old, new in (("0", "aside"), ("1", "0"), ("aside", "1")):
        Path(f"runs/mine/r0-f{old}.run").rename(f"runs/mine/r0-f{new}.run")
    with pytest.raises(heldout.InputError, match=r"r0-f0.run ranks documents that are not on"):
        experiment(MINE, "document").run()
    with pytest.raises(heldout.HeldoutError, match="say whether scores from different fits"):
        experiment(["mine=runs/mine/{split}.run"], "document").check()
