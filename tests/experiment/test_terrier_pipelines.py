"""PyTerrier transformers from end to end, with frames of qid and docno; nothing here needs Java."""

import numpy as np
import pytest
from experiment_data import overlap, small_collection

import heldout
from heldout import Experiment, InputError, KFold, System

pt = pytest.importorskip("pyterrier", reason="python-terrier is not installed")
pd = pytest.importorskip("pandas")

# PyTerrier 1.1 uses an option that pandas will remove.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

COLLECTION = small_collection()
POWERS = {"power": [0.2, 1.0]}


class Overlap(pt.Transformer):
    """A retriever: `overlap` on frames."""

    def __init__(self, power=1.0):
        super().__init__()
        self.power = power

    def transform(self, inp):
        ranked = overlap(None, COLLECTION, self.power)
        rows = [
            (qid, query, doc, score)
            for qid, query in zip(inp["qid"], inp["query"], strict=True)
            for doc, score in ranked[qid].items()
        ]
        return pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "query", "docno", "score"]))


class Shares(pt.Transformer):
    """A reranker: the share of query words in the text that comes with the frame."""

    def __init__(self, power=1.0):
        super().__init__()
        self.power = power

    def transform(self, inp):
        assert {"qid", "query", "docno", "text", "score", "rank"} <= set(inp.columns)
        assert (inp.groupby("qid")["rank"].min() == 0).all()
        rows = zip(inp["query"], inp["text"], strict=True)
        return pt.model.add_ranks(inp.assign(score=[share(*row, self.power) for row in rows]))


def share(query, text, power=1.0):
    words = text.split()
    return sum(words.count(word) for word in query.split()) / len(words) ** power


def shares(train, test, candidates, power=1.0):
    """The same as a function."""
    del train
    texts, asked = dict(test.documents.pairs()), test.queries.to_dict()
    return {
        query: {doc: share(asked[query], texts[doc], power) for doc in ranked}
        for query, ranked in candidates.to_dict().items()
    }


def run(*systems, **more):
    given = {"collection": COLLECTION, "plan": KFold(3)} | more
    return Experiment(systems=systems, **given).run()


def check_equal(results, first, second):
    scores = results.scores()
    values = dict(zip(scores.systems, scores.values.T, strict=True))
    assert values[first] == pytest.approx(values[second], abs=1e-12)
    assert results.chosen(first) == results.chosen(second)


def test_pipelines_rank_rerank_and_are_fused_as_they_do_alone():
    pipeline = (Overlap() % 15) >> pt.apply.doc_score(lambda row: -row["score"])
    results = run(
        "bm25(k1=0.5,2)",
        System.of(Overlap(), "overlap"),
        System.of(pipeline, "pipe"),
        "hybrid=wsum(bm25, overlap, w=0)",
        System.of(Shares() % 5, "again", first="overlap"),
        System.of(Shares, "pt", kind="transformer", first="bm25", space=POWERS),
        System.of(shares, "f", first="bm25", space=POWERS),
    )
    topics = pd.DataFrame({"qid": COLLECTION.queries.ids, "query": COLLECTION.queries.texts})
    frame = pipeline.transform(topics)
    expected = heldout.evaluate(COLLECTION.qrels, heldout.Run.of(frame), "nDCG@10").value()
    assert results.value("pipe") == pytest.approx(expected)
    assert results.value("hybrid") == results.value("overlap")
    assert max(results.held_out.filter(system="again")["rank"]) == 5
    check_equal(results, "pt", "f")


def test_an_estimator_is_fitted_in_every_fold_on_training_queries():
    fitted = []

    class Learned(pt.Estimator):
        fits = 0

        def fit(self, topics_or_res_tr, qrels_tr, topics_or_res_va, qrels_va):
            assert list(qrels_tr.columns) == ["qid", "docno", "label"]
            assert set(qrels_tr.qid) <= set(topics_or_res_tr.qid)
            assert set(qrels_va.qid) <= set(topics_or_res_va.qid)
            assert "text" in topics_or_res_tr.columns
            fitted.append((set(topics_or_res_tr.qid), set(topics_or_res_va.qid)))
            self.fits += 1

        def transform(self, inp):
            assert self.fits == 1
            return inp

    results = run("bm25", System.of(Learned(), "pt", first="bm25"))
    check_equal(results, "pt", "bm25")
    folds, ids = KFold(3).splits(COLLECTION).folds(), np.array(COLLECTION.queries.ids)
    assert len(fitted) == 3
    for fold, (train, validation) in enumerate(fitted):
        assert not train & validation
        assert train | validation == set(ids[folds != fold])


def test_what_cannot_be_done_is_said():
    class NoJava(pt.Transformer):
        def transform(self, inp):
            del inp
            exec("raise OSError('no network')", {"__name__": "pyterrier.java._core"})  # noqa: S102

    with pytest.raises(InputError, match=r"does not take \(train, test\) and returned int"):
        System.of(lambda power=1: power)
    with pytest.raises(InputError, match="its own index of all documents"):
        run(System.of(Overlap()), by="document")
    with pytest.raises(InputError, match="it needs Java and the files of Terrier") as error:
        run(System.of(NoJava(), "pt"))
    assert str(error.value).splitlines()[0].endswith("(OSError: no network)")
