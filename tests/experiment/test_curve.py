"""Learning curves against slow loops."""

import numpy as np
import pytest
from document_data import indexed, topical_collection

import heldout
from heldout.errors import HeldoutError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.studies.curve import learning_curve
from heldout.measure.names import parse_measure
from heldout.retrieve.models import grid
from heldout.retrieve.search import search

NDCG = parse_measure("nDCG@10")
MODELS = grid("bm25", k1=[0.2, 4.0], b=[0.0, 1.0])


@pytest.fixture(scope="module")
def collection():
    return topical_collection(80)


@pytest.fixture(scope="module")
def candidates(collection):
    return Candidates.make(indexed(collection), collection, MODELS)


def judged(collection, names):
    rows = {
        query: {doc: grade for doc, grade in own.items() if doc in names}
        for query, own in collection.qrels.to_dict().items()
    }
    return {query: own for query, own in rows.items() if any(own.values())}


def slow_point(collection, seen, held):
    """Tuned on an index of the seen documents; every held-out one in an index of its own."""
    texts = list(collection.documents.pairs())
    known = dict(texts[at] for at in seen)
    index = heldout.Index.build(known)
    qrels = judged(collection, known)
    means = [
        heldout.evaluate(qrels, search(index, collection.queries, model), ["nDCG@10"]).value(0, 0)
        for model in MODELS
    ]
    best, run = int(np.argmax(means)), {}
    for at in held:
        own = heldout.Index.build({**known, texts[at][0]: texts[at][1]})
        for query, scores in search(own, collection.queries, MODELS[best]).to_dict().items():
            if texts[at][0] in scores:
                run.setdefault(query, {})[texts[at][0]] = round(scores[texts[at][0]], 9)
    qrels = judged(collection, {texts[at][0] for at in held})
    return means[best], heldout.evaluate(qrels, run, ["nDCG@10"]).value(0, 0)


def test_documents(candidates, collection):
    shares, draws = (0.3, 1.0), 3
    points = learning_curve(candidates, NDCG, shares, draws=draws, test=0.25, seed=2)
    assert [(point.share, point.size) for point in points] == [(0.3, 18), (1.0, 60)]
    for point in points:
        slow = []
        for draw in range(draws):
            order = np.random.default_rng([2, draw]).permutation(80)
            held, rest = order[:20].tolist(), order[20:].tolist()
            slow.append(slow_point(collection, rest[: point.size], held))
        train, held_out = np.array(slow).T
        assert point.train == pytest.approx(train.mean())
        assert point.held_out == pytest.approx(held_out.mean())
        assert point.se == pytest.approx(held_out.std(ddof=1) / np.sqrt(draws))


def test_queries(candidates, collection):
    runs = [
        search(candidates.index, collection.queries, model, name=str(model)) for model in MODELS
    ]
    kept = judged(collection, {name for name, _ in collection.documents.pairs()})
    found = heldout.evaluate(kept, runs, ["nDCG@10"])
    order_of = [query for query in collection.queries.ids if query in kept]
    places = [found.units().index(query) for query in order_of]
    values = np.array([found.per_unit(number, 0)[places] for number in range(len(MODELS))])
    points = learning_curve(candidates, NDCG, (0.2, 1.0), by="query", draws=4, seed=1)
    count = values.shape[1]
    held_number = round(count * 0.2)
    for point in points:
        slow = []
        for draw in range(4):
            order = np.random.default_rng([1, draw]).permutation(count)
            held, seen = order[:held_number], order[held_number:][: point.size]
            best = int(np.argmax(values[:, seen].mean(axis=1).round(12)))
            slow.append((values[best, seen].mean(), values[best, held].mean()))
        train, held_out = np.array(slow).T
        assert point.train == pytest.approx(train.mean())
        assert point.held_out == pytest.approx(held_out.mean())


def test_the_last_share_sees_everything_that_is_not_held_out(candidates):
    one, other = (
        learning_curve(candidates, NDCG, shares, draws=2, seed=3) for shares in ((1.0,), (0.5, 1.0))
    )
    assert one[0] == other[1]  # the same division, whatever else is asked


@pytest.mark.parametrize(
    ("shares", "settings", "message"),
    [
        ((), {}, "expected shares above 0"),
        ((0.0, 1.0), {}, "expected shares above 0"),
        ((1.5,), {}, "expected shares above 0"),
        ((float("nan"),), {}, "expected shares above 0"),
        ((1.0,), {"test": 0.0}, "held-out share 0"),
        ((1.0,), {"test": 1.0}, "held-out share 1"),
        ((1.0,), {"draws": 1}, "1 draw: at least 2"),
        ((1.0,), {"seed": -3}, "seed=-3"),
        ((1.0,), {"measure": parse_measure("AP_IA")}, "whole ranked lists"),
    ],
)
def test_refusals(candidates, shares, settings, message):
    measure = settings.pop("measure", NDCG)
    with pytest.raises(HeldoutError, match=message):
        learning_curve(candidates, measure, shares, **{"draws": 2, **settings})


def test_too_little_to_divide_is_named():
    texts = {f"d{at:02}": f"word{at} common" for at in range(10)}
    small = heldout.Collection(texts, {"q": "common"}, {"q": {"d03": 1}})
    candidates = Candidates.make(indexed(small), small, MODELS[:1])
    with pytest.raises(HeldoutError, match="1 query with a relevant document"):
        learning_curve(candidates, NDCG, (1.0,), by="query", draws=2)
    with pytest.raises(HeldoutError, match="8 documents: fewer than 2 of 3 draws"):
        learning_curve(candidates, NDCG, (1.0,), draws=3)
