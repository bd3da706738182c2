"""Documents ranked by vectors, in experiments."""

import numpy as np
import pytest
from experiment_data import small_collection

import heldout
from heldout.cli import main

COLLECTION = small_collection()


def counts(texts):
    """Counts of words as vectors, which a function can rank, too."""
    bags = {one: text.split() for one, text in texts}
    values = [[bag.count(f"w{number}") for number in range(40)] for bag in bags.values()]
    return heldout.Embeddings(list(bags), np.array(values, np.float32))


DOCUMENTS, QUERIES = counts(COLLECTION.documents.pairs()), counts(COLLECTION.queries.pairs())


def by_function(train, test, metric="cosine"):
    """The same as a function of a user."""
    del train
    of_document = dict(zip(DOCUMENTS.ids, DOCUMENTS.values.astype(float), strict=True))
    of_query = dict(zip(QUERIES.ids, QUERIES.values.astype(float), strict=True))
    if metric == "cosine":
        for vectors in (of_document, of_query):
            vectors |= {one: vector / np.linalg.norm(vector) for one, vector in vectors.items()}
    return {
        query: {doc: float(of_document[doc] @ of_query[query]) for doc in test.documents.ids}
        for query in test.queries.ids
    }


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, given in (("docs", DOCUMENTS), ("queries", QUERIES)):
        np.save(f"{name}.npy", given.values)
        (tmp_path / f"{name}.ids").write_text("".join(f"{one}\n" for one in given.ids))
    return tmp_path


def run(*systems, **more):
    given = {"collection": COLLECTION, "plan": heldout.KFold(3), "measures": ["nDCG@10", "AP"]}
    return heldout.Experiment(systems=systems, **given | more).run()


@pytest.mark.parametrize("by", ["query", "document"])
def test_it_has_the_values_of_a_function_that_does_the_same(by):
    space = {"metric": ["cosine", "ip"]}
    results = run(
        "mine=vectors(docs.npy, queries.npy, metric=cosine,ip)",
        heldout.System.of(by_function, "same", space=space, comparable=True),
        by=by,
    )
    for measure in ("nDCG@10", "AP"):
        assert results.value("mine", measure) == pytest.approx(results.value("same", measure))
    assert results.chosen("mine") == results.chosen("same")


def test_arrays_work_without_files_and_can_be_fused_with_a_tuned_model():
    given = {"parts": [DOCUMENTS, QUERIES], "parameters": {"metric": "ip"}}
    dense = heldout.System.of("vectors", "dense", **given)
    results = run("bm25(k1=0.5,2)", dense, "hybrid=wsum(bm25, dense, w=0)")
    ranked = heldout.rank_vectors(DOCUMENTS, QUERIES, metric="ip")
    expected = heldout.evaluate(COLLECTION.qrels, ranked, "nDCG@10").value()
    assert results.value("dense") == pytest.approx(expected)
    assert results.value("hybrid") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vectors(docs.npy)", "vectors needs two files, got 1"),
        ("vectors(docs.npy, none.npy)", "none.npy: no such file"),
        ("vectors(docs.npy, queries.npy, metric=l2)", "unknown metric 'l2': expected cosine or ip"),
        ("vectors(docs.npy, queries.npy, k=3)", "vectors have no parameter k"),
        ("vectors(few.npy, queries.npy)", "no vector for 1 of 60 documents: d000"),
    ],
)
def test_wrong_texts(folder, text, message):
    np.save("few.npy", DOCUMENTS.values[1:])
    (folder / "few.ids").write_text("".join(f"{one}\n" for one in list(DOCUMENTS.ids)[1:]))
    with pytest.raises(heldout.InputError, match=message):
        run(text)


@pytest.mark.parametrize("metric", ["cosine", "ip"])
def test_the_command_writes_a_run(capsys, metric):
    command = ["search", "docs.npy", "--queries", "queries.npy", "--metric", metric]
    main([*command, "-o", "dense.run", "-k", "20"])
    expected = heldout.rank_vectors(DOCUMENTS, QUERIES, k=20, metric=metric)
    assert heldout.read_run("dense.run").to_dict() == expected.to_dict()
    assert f"24 queries, 480 rows, by {metric} of 60 vectors" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["docs.npy"], "give vectors of queries"),
        (["docs.npy", "--queries", "topics.txt"], "give vectors of queries"),
        (
            ["docs.npy", "--queries", "queries.npy", "--query", "words"],
            "--query is for collections and an index",
        ),
        (["pydocs", "--metric", "ip"], "--metric is for vectors"),
        (["docs.npy", "--queries", "none.npy"], "none.npy: no such file"),
    ],
)
def test_wrong_commands(capsys, arguments, message):
    with pytest.raises(SystemExit, match="2"):
        main(["search", *arguments])
    assert message in capsys.readouterr().err
