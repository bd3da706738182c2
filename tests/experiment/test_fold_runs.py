"""Runs of each fold, made by another tool, are read back: the values are those of the tool."""

from pathlib import Path

import pytest
from experiment_data import overlap, small_collection

import heldout
from heldout.cli import main

COLLECTION = small_collection()


def _export(results, folder, system):
    place = folder / "runs" / system
    place.mkdir(parents=True)
    for name, run in results.runs(system).items():
        run.write(place / f"{name}.run")


def _experiment(systems, by="query", plan=None, **more):
    given = {"collection": COLLECTION, "measures": ["nDCG@10", "AP"]} | more
    return heldout.Experiment(systems=systems, by=by, plan=plan or heldout.KFold(4), **given)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("by", ["query", "document"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_exported_rankings_have_the_same_values_when_read_back(folder, by, repeats):
    plan = heldout.KFold(4, repeats=repeats)
    first = _experiment(["bm25(k1=0.5,2)"], by, plan, keep_depth=1000).run()
    _export(first, folder, "bm25")
    again = _experiment(["bm25=runs/bm25/r{repeat}-f{fold}.run(comparable=true)"], by, plan).run()
    other = _experiment(["bm25=runs/bm25/{split}.run(comparable=true)"], by, plan).run()
    for measure in ("nDCG@10", "AP"):
        expected = first.value("bm25", measure)
        assert again.value("bm25", measure) == pytest.approx(expected, abs=1e-12)
        assert other.value("bm25", measure) == again.value("bm25", measure)


def test_document_folds_that_cannot_be_compared_are_evaluated_one_by_one(folder):
    system = heldout.System.of(overlap, "mine", comparable=False)
    first = _experiment([system], "document", keep_depth=1000).run()
    _export(first, folder, "mine")
    again = _experiment(["mine=runs/mine/{split}.run(comparable=false)"], "document").run()
    assert again.split_values("mine", "AP") == pytest.approx(first.split_values("mine", "AP"))


def _write(folder, runs):
    (folder / "folds").mkdir()
    for fold, run in enumerate(runs):
        run.write(folder / "folds" / f"{fold}.run")


def test_judgements_are_enough(folder, capsys):
    first = _experiment(["bm25"], keep_depth=1000).run()
    _write(folder, first.runs("bm25").values())
    COLLECTION.qrels.write("qrels.txt")
    main(["run", "qrels.txt", "--system", "mine=folds/{fold}.run", "--folds", "4", "-m", "AP"])
    assert f"{first.value('bm25', 'AP'):.4f}"[1:] in capsys.readouterr().out


def _refused(capsys, *arguments):
    with pytest.raises(SystemExit, match="2"):
        main(["run", "qrels.txt", "--folds", "4", *arguments])
    return capsys.readouterr().err


def test_wrong_files_are_named(folder, capsys):
    first = _experiment(["bm25"], keep_depth=1000).run()
    _write(folder, first.runs("bm25").values())
    COLLECTION.qrels.write("qrels.txt")
    assert "names the same file for several of the 8 splits: add {repeat}" in _refused(
        capsys, "--system", "folds/{fold}.run", "--repeats", "2"
    )
    assert "expected {fold}, {repeat}" in _refused(capsys, "--system", "folds/{number}.run")
    assert "ranks queries that are not held out in this split" in _refused(
        capsys, "--system", "folds/{fold}.run", "--seed", "7"
    )
    Path("folds/2.run").rename("folds/9.run")
    missing = _refused(capsys, "--system", "mine=folds/{fold}.run")
    assert "mine: 1 of 4 run files are missing: folds/2.run (folds are numbered from 0)" in missing
    assert "no parameters but comparable" in _refused(capsys, "--system", "folds/{fold}.run(k=1)")


def test_documents_of_another_fold_are_named(folder):
    first = _experiment(["bm25"], "document", keep_depth=1000).run()
    parts = list(first.runs("bm25").values())
    _write(folder, [parts[1], parts[0], *parts[2:]])
    with pytest.raises(heldout.InputError, match=r"folds/0.run ranks documents that are not held"):
        _experiment(["mine=folds/{fold}.run(comparable=true)"], "document").run()
    with pytest.raises(heldout.HeldoutError, match="say whether scores from different fits"):
        _experiment(["mine=folds/{fold}.run"], "document").check()
