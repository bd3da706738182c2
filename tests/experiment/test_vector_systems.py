"""Documents ranked by vectors, in experiments."""

import numpy as np
import pytest
from experiment_data import small_collection

import heldout
from heldout.cli import main

COLLECTION = small_collection()


def _vectors(texts, ids):
    """Counts of words as vectors, which a function can rank, too."""
    words = sorted({word for text in texts for word in text.split()})
    values = [[text.split().count(word) for word in words] for text in texts]
    return heldout.Embeddings(list(ids), np.array(values, np.float32))


def _pair():
    documents, queries = COLLECTION.documents, COLLECTION.queries
    ids, texts = zip(*documents.pairs(), strict=True)
    every = _vectors([*texts, *queries.texts], [*ids, *queries.ids])
    count = len(ids)
    return (
        heldout.Embeddings(ids, every.values[:count]),
        heldout.Embeddings(queries.ids, every.values[count:]),
    )


DOCUMENTS, QUERIES = _pair()


def by_function(train, test, metric="cosine"):
    """The same as a function of a user."""
    del train
    found = {}
    rows = dict(zip(DOCUMENTS.ids, DOCUMENTS.values.astype(float), strict=True))
    for query, mine in zip(QUERIES.ids, QUERIES.values.astype(float), strict=True):
        if query not in set(test.collection.queries.ids):
            continue
        scores = {}
        for one, _ in test.collection.documents.pairs():
            norm = np.linalg.norm(rows[one]) * np.linalg.norm(mine) if metric == "cosine" else 1
            scores[one] = float(rows[one] @ mine / norm)
        found[query] = scores
    return found


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, some in (("docs", DOCUMENTS), ("queries", QUERIES)):
        np.save(f"{name}.npy", some.values)
        (tmp_path / f"{name}.ids").write_text("".join(f"{one}\n" for one in some.ids))
    return tmp_path


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("by", ["query", "document"])
def test_it_has_the_values_of_a_function_that_does_the_same(by):
    results = heldout.Experiment(
        collection=COLLECTION,
        systems=[
            "mine=vectors(docs.npy, queries.npy, metric=cosine,ip)",
            heldout.System.of(by_function, space={"metric": ["cosine", "ip"]}, comparable=True),
        ],
        by=by,
        plan=heldout.KFold(3),
        measures=["nDCG@10", "AP"],
    ).run()
    for measure in ("nDCG@10", "AP"):
        mine, same = (results.value(name, measure) for name in ("mine", "by_function"))
        assert mine == pytest.approx(same, abs=1e-12)
    chosen = results.folds.select("system", "parameters").partition_by("system", as_dict=True)
    assert len({tuple(one["parameters"]) for one in chosen.values()}) == 1


def test_arrays_work_without_files():
    system = heldout.System.vectors(DOCUMENTS, QUERIES, "dense", metric="ip")
    results = heldout.Experiment(
        collection=COLLECTION, systems=[system, "bm25"], plan=heldout.KFold(3)
    ).run()
    run = heldout.rank_vectors(DOCUMENTS, QUERIES, metric="ip")
    expected = heldout.evaluate(COLLECTION.qrels, run, "nDCG@10").value()
    assert results.value("dense") == pytest.approx(expected)


@pytest.mark.usefixtures("files")
def test_it_can_be_fused_with_a_model_that_is_tuned_in_the_same_folds():
    results = heldout.Experiment(
        collection=COLLECTION,
        systems=[
            "bm25(k1=0.5,2)",
            "dense=vectors(docs.npy, queries.npy)",
            "hybrid=wsum(bm25, dense, norm=minmax, w=0:1:5)",
        ],
        plan=heldout.KFold(3),
    ).run()
    assert results.value("hybrid") > 0


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vectors(docs.npy)", "vectors needs two files, got 1"),
        ("vectors(docs.npy, none.npy)", "none.npy: no such file"),
        ("vectors(docs.npy, queries.npy, metric=l2)", "unknown metric 'l2': expected cosine or ip"),
        ("vectors(docs.npy, queries.npy, k=3)", "vectors have no parameter k"),
    ],
)
def test_wrong_texts(text, message):
    with pytest.raises(heldout.InputError, match=message):
        heldout.System.of(text)


def test_documents_without_a_vector_are_named(files):
    np.save("docs.npy", DOCUMENTS.values[1:])
    (files / "docs.ids").write_text("".join(f"{one}\n" for one in list(DOCUMENTS.ids)[1:]))
    with pytest.raises(heldout.InputError, match=r"no vector for 1 of 60 documents: d000"):
        heldout.Experiment(collection=COLLECTION, systems=["vectors(docs.npy, queries.npy)"]).run()


@pytest.mark.usefixtures("files")
def test_the_command_writes_a_run(capsys):
    main(["search", "docs.npy", "--queries", "queries.npy", "-o", "dense.run", "-k", "20"])
    run = heldout.read_run("dense.run")
    expected = heldout.rank_vectors(DOCUMENTS, QUERIES, k=20)
    assert run.to_dict() == expected.to_dict()
    assert "24 queries, 480 rows, by cosine of 60 vectors" in capsys.readouterr().err
    main(["search", "docs.npy", "--queries", "queries.npy", "--metric", "ip", "-o", "ip.run"])
    expected = heldout.rank_vectors(DOCUMENTS, QUERIES, metric="ip")
    assert heldout.read_run("ip.run").to_dict() == expected.to_dict()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["docs.npy"], "give vectors of queries"),
        (["docs.npy", "--queries", "topics.txt"], "give vectors of queries"),
        (["docs.npy", "--queries", "queries.npy", "--query", "words"], "--query is for text"),
        (["pydocs", "--metric", "ip"], "--metric is for vectors"),
        (["docs.npy", "--queries", "none.npy"], "none.npy: no such file"),
    ],
)
def test_wrong_commands(capsys, arguments, message):
    with pytest.raises(SystemExit, match="2"):
        main(["search", *arguments])
    assert message in capsys.readouterr().err
