"""Held-out rankings as run files."""

import pytest

import heldout
from heldout.cli import main
from heldout.data.export import export_collection
from heldout.errors import InputError
from heldout.experiment.run_export import export_runs
from heldout.experiment.stored import stored_collection

DOCUMENTS = {f"d{n}": f"word{n % 3} text number {n}" for n in range(24)}
QUERIES = {f"q{n}": f"word{n % 3} number {n}" for n in range(9)}
QRELS = {f"q{n}": {f"d{m}": 1 for m in range(24) if m % 3 == n % 3} for n in range(9)}
COLLECTION = heldout.Collection(DOCUMENTS, QUERIES, QRELS)


def results(**fields):
    given = {"by": "query", "plan": heldout.KFold(3)} | fields
    systems = ["bm25(k1=0.5,2)", "ql/jm=ql-jm"]
    return heldout.Experiment(
        collection=COLLECTION, systems=systems, measures=["nDCG@10"], **given
    ).run()


def test_query_folds_add_up_to_the_held_out_score(tmp_path):
    found = results()
    written = export_runs(found, tmp_path / "runs")
    names = {path.relative_to(tmp_path / "runs").as_posix() for path in written}
    folds = [f"r0-f{fold}.run" for fold in range(3)]
    assert names == {
        "bm25.run",
        "ql-jm.run",
        *(f"{s}/{f}" for s in ("bm25", "ql-jm") for f in folds),
    }
    for system, file in (("bm25", "bm25.run"), ("ql/jm", "ql-jm.run")):
        run = heldout.read_run(tmp_path / "runs" / file)
        value = heldout.evaluate(COLLECTION.qrels, run, "nDCG@10").value()
        assert value == pytest.approx(found.value(system, "nDCG@10"))
        parts = found.runs(system)
        assert sorted(query for part in parts.values() for query in part.queries) == sorted(QUERIES)
        for name, part in parts.items():
            again = heldout.read_run(tmp_path / "runs" / file[:-4] / f"{name}.run")
            assert again.to_dict() == part.to_dict()


def test_document_folds_are_one_merged_ranking_and_its_parts(tmp_path):
    found = results(by="document", keep_depth=24)
    folds = [f"r0-f{fold}" for fold in range(3)]
    assert list(found.runs("bm25")) == folds
    names = [path.name for path in export_runs(found, tmp_path)]
    assert names == [
        x for s in ("bm25", "ql-jm") for x in (f"{s}.run", *(f"{f}.run" for f in folds))
    ]
    parts = found.fold_predictions("bm25")
    assert [str(part.key).replace("/", "-") for part in parts] == folds
    for part in parts:
        assert part.predictions.to_dict() == found.runs("bm25")[f"r0-f{part.key.fold}"].to_dict()
    whole = found.predictions("bm25").to_dict()
    joined = {query: {} for query in whole}
    for part in found.runs("bm25").values():
        for query, documents in part.to_dict().items():
            assert not joined[query].keys() & documents.keys()
            joined[query] |= documents
    assert joined == whole


def test_rankings_are_kept_to_the_depth_that_is_asked_for(tmp_path):
    shallow, deep = results(), results(keep_depth=24)
    assert max(shallow.held_out["rank"]) == 10
    assert max(deep.held_out["rank"]) > 10
    assert deep.value("bm25", "nDCG@10") == shallow.value("bm25", "nDCG@10")
    # Any measure of any depth can be computed from the files.
    export_runs(deep, tmp_path)
    run = heldout.read_run(tmp_path / "bm25.run")
    assert heldout.evaluate(COLLECTION.qrels, run, "R@24").value() == 1.0
    assert shallow.manifest["settings"]["keep_depth"] == 10
    with pytest.raises(heldout.HeldoutError, match=r"keep_depth.*at least 10"):
        results(keep_depth=5)


def test_queries_held_out_twice_have_no_run_of_all(tmp_path):
    found = results(plan=heldout.KFold(3, repeats=2))
    names = [path.name for path in export_runs(found, tmp_path)]
    assert names[:6] == [f"r{repeat}-f{fold}.run" for repeat in range(2) for fold in range(3)]
    assert not (tmp_path / "bm25.run").exists()


def test_predictions_are_not_rankings(tmp_path):
    found = heldout.Experiment(
        task="classification",
        data=([[n, n % 2] for n in range(20)], ["ab"[n % 2] for n in range(20)]),
        systems=[{"estimator": "sklearn.naive_bayes:GaussianNB"}],
        plan=heldout.KFold(2),
        measures=["accuracy"],
    ).run()
    with pytest.raises(InputError, match="predictions, not rankings"):
        export_runs(found, tmp_path)
    with pytest.raises(InputError, match="does not rank"):
        found.runs(found.systems[0])


def test_the_command_writes_runs_and_a_page_only_if_asked(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results().write("results")
    main(["report", "results", "--export-runs", "runs"])
    assert "runs: 8 run files" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


def test_a_report_finds_the_collection_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    export_collection(COLLECTION, "small", "beir")
    main(["run", "small", "--system", "bm25", "--folds", "3", "-o", "kept", "--quiet"])
    found = heldout.Results.read("kept")
    assert (
        stored_collection("kept", found).fingerprint()
        == (found.manifest["fingerprints"]["collection"])
    )
    (tmp_path / "small" / "queries.jsonl").write_text('{"_id": "q0", "text": "other"}\n')
    assert stored_collection("kept", found) is None
