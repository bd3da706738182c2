"""Latent semantic analysis, the dense ranker of the documentation, as a system."""

import sys
from pathlib import Path

import numpy as np
import pytest

import heldout
from heldout import Experiment, KFold, System, View

pytest.importorskip("sklearn")
EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
from lsa import lsa  # noqa: E402 - from the folder of examples

sys.path.remove(str(EXAMPLES))


@pytest.fixture(scope="module")
def sample():
    """A part of the embedded collection: 60 queries, their relevant documents, and others."""
    whole = heldout.read_collection("pydocs")
    judged = whole.qrels.to_dict()
    queries = whole.queries.to_dict()
    chosen = [query for query in queries if query in judged][:60]
    wanted = {doc for query in chosen for doc in judged[query]}
    texts = {doc: text for number, (doc, text) in enumerate(whole.documents.pairs())
             if doc in wanted or number % 40 == 0}  # fmt: skip
    qrels = {query: judged[query] for query in chosen}
    return heldout.Collection(texts, {query: queries[query] for query in chosen}, qrels)


def test_it_is_an_exact_search_in_the_space_of_the_training_documents(sample):
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    run = lsa(View(sample), View(sample), dims=20)
    ids, texts = zip(*sample.documents.pairs(), strict=True)
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    rows = TruncatedSVD(20, random_state=0).fit(words.fit_transform(texts))
    queries = rows.transform(words.transform(sample.queries.texts))
    similar = cosine_similarity(queries, rows.transform(words.transform(texts)))
    for row, query in zip(similar, sample.queries.ids, strict=True):
        best = dict(list(run.to_dict()[query].items())[:10])
        assert list(best.values()) == pytest.approx(np.sort(row)[::-1][:10], abs=1e-9)
        assert [row[ids.index(doc)] for doc in best] == pytest.approx([*best.values()], abs=1e-9)


def test_a_function_that_does_not_learn_gets_no_judgements_and_is_called_once(sample):
    calls = []

    def first(train, test):
        calls.append((len(train.qrels), len(test.qrels)))
        return {query: {sample.documents.ids[0]: 1.0} for query in test.queries.ids}

    Experiment(collection=sample, systems=[System.of(first, learns=False)], plan=KFold(3)).run()
    assert calls == [(0, 0)]
    with pytest.raises(heldout.InputError, match="learns would have no effect"):
        System.of(type("Ranker", (), {"fit": print, "predict": print}), learns=False)
