"""PyTerrier pipelines from end to end, with frames of qid and docno; nothing here needs Java."""

import pytest
from experiment_data import small_collection

import heldout
from heldout import Experiment, KFold, System

pt = pytest.importorskip("pyterrier", reason="python-terrier is not installed")
pd = pytest.importorskip("pandas")

# PyTerrier 1.1 uses an option that pandas will remove.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

COLLECTION = small_collection()


class Overlap(pt.Transformer):
    """A retriever: counts shared words."""

    def transform(self, inp):
        rows = [
            (qid, query, one, float(sum(text.split().count(word) for word in query.split())))
            for qid, query in zip(inp["qid"], inp["query"], strict=True)
            for one, text in COLLECTION.documents.pairs()
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
        scores = [
            sum(text.split().count(word) for word in query.split())
            / len(text.split()) ** self.power
            for query, text in zip(inp["query"], inp["text"], strict=True)
        ]
        return pt.model.add_ranks(inp.assign(score=scores))


def as_function(train, test, candidates, power=1.0):
    """The same as a function."""
    del train
    texts = dict(test.collection.documents.pairs())
    asked = dict(zip(test.collection.queries.ids, test.collection.queries.texts, strict=True))
    return {
        query: {
            one: sum(texts[one].split().count(word) for word in asked[query].split())
            / len(texts[one].split()) ** power
            for one in ranked
        }
        for query, ranked in candidates.to_dict().items()
    }


def _run(*systems):
    return Experiment(collection=COLLECTION, systems=systems, plan=KFold(3)).run()


def test_a_reranker_gets_the_candidates_of_a_tuned_model():
    powers = {"power": [0.2, 1.0]}
    results = _run(
        "bm25(k1=0.5,2)",
        System.of(Shares, "pt", kind="transformer", first="bm25", space=powers),
        System.of(as_function, "f", first="bm25", space=powers),
    )
    values = results.scores().values
    assert values[:, 1] == pytest.approx(values[:, 2], abs=1e-12)
    assert results.folds.filter(system="pt")["parameters"].to_list() == (
        results.folds.filter(system="f")["parameters"].to_list()
    )


def test_pipelines_of_operators_rank_as_they_do_alone():
    pipeline = (Overlap() % 15) >> pt.apply.doc_score(lambda row: -row["score"])
    results = _run(System.of(pipeline, "pipe"))
    topics = pd.DataFrame({"qid": COLLECTION.queries.ids, "query": COLLECTION.queries.texts})
    frame = pipeline.transform(topics)
    expected = heldout.evaluate(COLLECTION.qrels, heldout.Run.of(frame), "nDCG@10").value()
    assert results.value("pipe") == pytest.approx(expected)


def test_a_pipeline_can_be_fused_and_reranked():
    results = _run(
        "bm25",
        System.of(Overlap(), "overlap"),
        "hybrid=rrf(bm25, overlap)",
        System.of(Shares() % 5, "again", first="overlap"),
    )
    assert results.value("hybrid") > 0
    assert max(results.held_out.filter(system="again")["rank"]) == 5


def test_an_estimator_is_fitted_on_the_candidates_of_the_training_queries():
    fitted = []

    class Learned(pt.Estimator):
        """Learns the mean first score of relevant documents."""

        centre = 0.0

        def fit(self, topics_or_res_tr, qrels_tr, topics_or_res_va, qrels_va):
            del topics_or_res_va, qrels_va
            fitted.append(set(topics_or_res_tr["qid"]))
            joined = topics_or_res_tr.merge(qrels_tr, on=["qid", "docno"])
            self.centre = joined[joined["label"] > 0]["score"].mean()

        def transform(self, inp):
            return inp.assign(score=-(inp["score"] - self.centre).abs())

    results = _run("bm25", System.of(Learned(), "learned", first="bm25"))
    assert len(fitted) == 3
    tests = [
        set(part["unit"]) for part in results.held_out.filter(system="learned").partition_by("fold")
    ]
    for seen, held in zip(fitted, tests, strict=True):
        assert seen
        assert not seen & held


@pytest.mark.parametrize("by", ["query", "document"])
def test_a_pipeline_in_a_file_reranks(tmp_path, monkeypatch, by):
    monkeypatch.chdir(tmp_path)
    code = (
        "import pyterrier as pt\nlong = pt.apply.doc_score(lambda row: float(len(row['text']))) % 5"
    )
    (tmp_path / "pipes.py").write_text(code)
    text = "pt=rerank(first=bm25, function=pipes.py:long, comparable=true)"
    own = System.of(_longest, "f", first="bm25", comparable=True)
    results = Experiment(
        collection=COLLECTION, systems=["bm25(k1=1,2)", text, own], plan=KFold(3), by=by
    ).run()
    values = results.scores("nDCG@10").values
    assert values[:, 1] == pytest.approx(values[:, 2], abs=1e-12)


def _longest(train, test, candidates):
    del train
    texts = dict(test.collection.documents.pairs())
    longest = {
        query: sorted(((float(len(texts[one])), one) for one in ranked), reverse=True)
        for query, ranked in candidates.to_dict().items()
    }
    return {query: {one: score for score, one in pairs[:5]} for query, pairs in longest.items()}


def test_a_transformer_that_cannot_start_java_is_said_on_one_line():
    from heldout.errors import cause_of

    def start():
        exec("raise OSError('no network')", {"__name__": "pyterrier.java._core"})  # noqa: S102

    with pytest.raises(OSError, match="no network") as caught:
        start()
    words = cause_of(caught.value)
    assert words.startswith("it needs Java and the files of Terrier")
    assert words.endswith("(OSError: no network)")
