"""Documents ranked by vectors: given, or made by the dense ranker of the documentation."""

from pathlib import Path

import numpy as np
import pytest
from experiment_data import small_collection

import heldout
from commands import printed

COLLECTION = small_collection()
EXAMPLES = Path(__file__).parents[2] / "examples"


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


@pytest.fixture
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
@pytest.mark.usefixtures("folder")
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


@pytest.mark.usefixtures("folder")
def test_the_command_and_arrays_without_files(capsys):
    metric = "ip"
    command = ["search", "docs.npy", "--queries", "queries.npy", "--metric", metric]
    said = printed(capsys, *command, "-o", "dense.run", "-k", "20").err
    expected = heldout.rank_vectors(DOCUMENTS, QUERIES, k=20, metric=metric)
    assert heldout.read_run("dense.run").to_dict() == expected.to_dict()
    assert f"24 queries, 480 rows, by {metric} of 60 vectors" in said
    given = {"parts": [DOCUMENTS, QUERIES], "parameters": {"metric": "ip"}}
    dense = heldout.System.of("vectors", "dense", **given)
    results = run("bm25(k1=0.5,2)", dense, "hybrid=wsum(bm25, dense, w=0)")
    ranked = heldout.rank_vectors(DOCUMENTS, QUERIES, metric="ip")
    expected = heldout.evaluate(COLLECTION.qrels, ranked, "nDCG@10").value()
    assert results.value("dense") == results.value("hybrid") == pytest.approx(expected)
