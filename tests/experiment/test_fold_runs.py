"""Rankings of each fold: exported as runs, and run files of another tool read for each fold."""

from pathlib import Path

import pytest
from experiment_data import overlap, small_collection

import heldout
from commands import printed, refused

COLLECTION = small_collection()
MINE = ["mine=runs/mine/{split}.run(comparable=true)"]


def experiment(systems, by="query", plan=None, **fields):
    given = {"collection": COLLECTION, "measures": ["nDCG@10", "AP"]} | fields
    return heldout.Experiment(systems=systems, by=by, plan=plan or heldout.KFold(4), **given)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    COLLECTION.qrels.write("qrels.txt")
    return tmp_path


# ---- written ------------------------------------------------------------------------------------


def test_query_folds_add_up_to_the_held_out_score():
    folds = experiment(["bm25(k1=0.5,2)", "ql/jm=ql-jm"], keep_depth=60).run()
    for system in folds.systems:
        value = heldout.evaluate(COLLECTION.qrels, folds.predictions(system), "AP").value()
        assert value == pytest.approx(folds.value(system, "AP"))
        parts = folds.runs(system).values()
        ids = [query for part in parts for query in part.queries]
        assert sorted(ids) == sorted(COLLECTION.queries.ids)


def test_document_folds_are_one_merged_ranking_and_its_parts():
    merged = experiment(["bm25(k1=0.5,2)"], "document", keep_depth=60).run()
    runs, parts = merged.runs("bm25"), merged.fold_predictions("bm25")
    assert list(runs) == [f"r0-f{fold}" for fold in range(4)]
    assert {str(part.key).replace("/", "-"): part.predictions.to_dict() for part in parts} == {
        name: run.to_dict() for name, run in runs.items()
    }
    whole = merged.predictions("bm25").to_dict()
    joined = {query: {} for query in whole}
    for run in runs.values():
        for query, documents in run.to_dict().items():
            assert not joined[query].keys() & documents.keys()
            joined[query] |= documents
    assert joined == whole


# ---- read ---------------------------------------------------------------------------------------


def write(results, system="bm25"):
    Path("runs/mine").mkdir(parents=True)
    for name, run in results.runs(system).items():
        run.write(f"runs/mine/{name}.run")


@pytest.mark.parametrize("by", ["query", "document"])
def test_exported_rankings_have_the_same_values_when_read_back(by):
    plan = heldout.KFold(4, repeats=2)
    first = experiment(["bm25(k1=0.5,2)"], by, plan, keep_depth=1000).run()
    assert max(first.held_out["rank"]) > 10
    write(first)
    again = experiment(["mine=runs/mine/r{repeat}-f{fold}.run(comparable=true)"], by, plan).run()
    other = experiment(MINE, by, plan).run()
    assert max(other.held_out["rank"]) == 10
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
    Path("runs/mine/r0-f0.run").write_text(Path("runs/mine/r0-f1.run").read_text())
    with pytest.raises(heldout.InputError, match=r"r0-f0.run ranks documents that are not on"):
        experiment(["mine=runs/mine/{split}.run(comparable=false)"], "document").run()
    with pytest.raises(heldout.HeldoutError, match="say whether scores from different fits"):
        experiment(["mine=runs/mine/{split}.run"], "document").check()


def test_with_judgements_alone_and_wrong_files_are_named(capsys):
    first = experiment(["bm25"], keep_depth=1000).run()
    write(first)
    command = ["run", "qrels.txt", "--folds", "4", "-m", "AP"]
    mine = ["--system", "mine=runs/mine/r0-f{fold}.run"]
    assert f"{first.value('bm25', 'AP'):.4f}"[1:] in printed(capsys, *command, *mine).out
    said = refused(capsys, *command, *mine, "--seed", "7")
    assert "ranks queries that are not on the test side" in said
    Path("runs/mine/r0-f2.run").unlink()
    for arguments, message in (
        ([*mine, "--repeats", "2"], "the same file for several of the 8 splits: add {repeat}"),
        (["--system", "m=runs/{number}.run"], "expected {fold}, {repeat}"),
        (mine, "1 of 4 run files are missing: runs/mine/r0-f2.run (folds are numbered from 0)"),
        (
            ["--system", "mine=runs/mine/{split}.run(k=1)"],
            "parameters would have no effect on it; it takes comparable",
        ),
    ):
        assert message in refused(capsys, *command, *arguments)
