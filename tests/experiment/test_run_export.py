"""Held-out rankings as runs."""

import pytest

import heldout
from heldout.cli import main
from heldout.data.export import export_collection
from heldout.errors import InputError
from heldout.experiment.experiment import stored_collection

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


def test_query_folds_add_up_to_the_held_out_score():
    folds = results()
    for system in folds.systems:
        value = heldout.evaluate(COLLECTION.qrels, folds.predictions(system), "nDCG@10").value()
        assert value == pytest.approx(folds.value(system, "nDCG@10"))
        parts = folds.runs(system)
        assert sorted(query for part in parts.values() for query in part.queries) == sorted(QUERIES)


def test_document_folds_are_one_merged_ranking_and_its_parts():
    merged = results(by="document", keep_depth=24)
    runs, parts = merged.runs("bm25"), merged.fold_predictions("bm25")
    assert list(runs) == [f"r0-f{fold}" for fold in range(3)]
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


def test_rankings_are_kept_to_the_depth_that_is_asked_for():
    shallow, deep = results(), results(keep_depth=24)
    assert max(shallow.held_out["rank"]) == 10
    assert max(deep.held_out["rank"]) > 10
    assert deep.value("bm25", "nDCG@10") == shallow.value("bm25", "nDCG@10")
    # Any measure of any depth can be computed from them.
    run = deep.predictions("bm25")
    assert heldout.evaluate(COLLECTION.qrels, run, "R@24").value() == 1.0
    assert shallow.manifest["settings"]["keep_depth"] == 10
    with pytest.raises(heldout.HeldoutError, match=r"keep_depth.*greater than or equal to 10"):
        results(keep_depth=5)


def test_predictions_are_not_rankings():
    classes = heldout.Experiment(
        task="classification",
        data=([[n, n % 2] for n in range(20)], ["ab"[n % 2] for n in range(20)]),
        systems=[{"estimator": "sklearn.naive_bayes:GaussianNB"}],
        plan=heldout.KFold(2),
        measures=["accuracy"],
    ).run()
    with pytest.raises(InputError, match="does not rank"):
        classes.runs(classes.systems[0])


def test_a_report_finds_the_collection_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    export_collection(COLLECTION, "small", "beir")
    main(["run", "small", "--system", "bm25", "--folds", "3", "-o", "kept", "--quiet"])
    kept = heldout.Results.read("kept")
    fingerprint = kept.manifest["fingerprints"]["collection"]
    assert stored_collection("kept", kept).fingerprint() == fingerprint
    (tmp_path / "small" / "queries.jsonl").write_text('{"_id": "q0", "text": "other"}\n')
    assert stored_collection("kept", kept) is None
