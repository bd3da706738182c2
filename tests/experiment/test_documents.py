"""Tuning inside document folds, and what is said of unseen documents."""

import json
from typing import get_args

import numpy as np
import pytest
from document_data import indexed, topical_collection

import heldout
from heldout.errors import HeldoutError
from heldout.experiment.documents.candidates import Candidates, choose_in_folds
from heldout.experiment.documents.lists import measure_lists
from heldout.experiment.documents.pooling import pool
from heldout.experiment.fields import Method
from heldout.measure.names import parse_measure
from heldout.retrieve.models import grid
from heldout.retrieve.search import search

NDCG, PRECISION = parse_measure("nDCG@10"), parse_measure("P@5")
MODELS = grid("bm25", k1=[0.3, 4.0], b=[0.0, 0.5, 1.0])
FOLDS = 4


@pytest.fixture(scope="module")
def collection():
    return topical_collection(160)


@pytest.fixture(scope="module")
def index(collection):
    return indexed(collection)


@pytest.fixture(scope="module")
def folds(collection):
    random = np.random.default_rng(2)
    return random.choice([-1, 0, 1, 2, 3], len(collection.documents)).astype(np.int32)


@pytest.fixture(scope="module")
def results(collection, index, folds):
    """Return the results of an experiment with these folds."""

    def run(**fields):
        ids = collection.documents.ids
        given = {name: fold for name, fold in zip(ids, folds.tolist(), strict=True) if fold >= 0}
        own = {
            "collection": collection,
            "index": index,
            "systems": "bm25(k1=0.3,4, b=0,0.5,1)",
            "by": "document",
            "plan": heldout.GivenFolds(given, strict=False),
            "measures": ["nDCG@10", "P@5"],
            "replicates": 100,
        }
        return heldout.Experiment(**own | fields).run()

    return run


def means_on(collection, kept):
    """Mean nDCG@10 of every value when only some documents exist."""
    texts = [pair for pair, keep in zip(collection.documents.pairs(), kept, strict=True) if keep]
    own, names = heldout.Index.build(dict(texts)), {name for name, _ in texts}
    qrels = {
        query: {doc: grade for doc, grade in rows.items() if doc in names}
        for query, rows in collection.qrels.to_dict().items()
    }
    qrels = {query: rows for query, rows in qrels.items() if any(rows.values())}
    runs = [search(own, collection.queries, model, name=str(model)) for model in MODELS]
    scores = heldout.evaluate(qrels, runs, ["nDCG@10"])
    return [scores.value(number, 0) for number in range(len(MODELS))]


def test_values_are_chosen_on_train_sides_as_by_new_indexes(collection, index, folds):
    candidates = Candidates.make(index, collection, MODELS)
    each, final = choose_in_folds(candidates, folds, FOLDS, NDCG)
    seen = [(folds >= 0) & (folds != fold) for fold in range(FOLDS)]
    for choice, kept in zip([*each, final], [*seen, folds >= 0], strict=True):
        means = means_on(collection, kept)
        assert choice.means == pytest.approx(means)
        assert choice.number == int(np.argmax(means))


def test_what_is_held_out_has_no_say_in_the_choice(collection, index, folds):
    """Priors, judgements and texts of the held-out documents are replaced by tempting ones."""
    random = np.random.default_rng(1)
    models, priors = [MODELS[1]] * 12, random.normal(0, 2, (len(folds), 12))

    def chosen(index, collection, priors):
        candidates = Candidates.make(index, collection, models, priors=priors)
        return choose_in_folds(candidates, folds, FOLDS, NDCG)[0]

    clean = chosen(index, collection, priors)
    assert len({choice.number for choice in clean}) > 1
    moved = 0
    for fold in range(FOLDS):
        held, tempting = folds == fold, priors.copy()
        tempting[held, int(np.argmin(clean[fold].means))] = 1e6
        relevant = {f"d{number:03}": 2 for number in np.flatnonzero(held).tolist()}
        qrels = {
            query: {doc: grade for doc, grade in rows.items() if not held[int(doc[1:])]} | relevant
            for query, rows in collection.qrels.to_dict().items()
        }
        texts = {
            name: "t1 t2 t3 " * 50 if poisoned else text
            for poisoned, (name, text) in zip(held, collection.documents.pairs(), strict=True)
        }
        poisoned = heldout.Collection(texts, collection.queries, qrels)
        again = chosen(indexed(poisoned), poisoned, tempting)
        assert again[fold].number == clean[fold].number
        assert np.array_equal(again[fold].means, clean[fold].means)
        moved += sum(a.number != b.number for a, b in zip(again, clean, strict=True))
    assert moved  # the poison does work where it is seen


def test_documents_outside_the_sample_have_no_say_either(collection, index, folds):
    random = np.random.default_rng(1)
    models, priors = [MODELS[1]] * 12, random.normal(0, 2, (len(folds), 12))
    tempting = np.where((folds < 0)[:, None], 1e6 * np.arange(12), priors)
    numbers = []
    for own in (priors, tempting):
        candidates = Candidates.make(index, collection, models, priors=own)
        each, final = choose_in_folds(candidates, folds, FOLDS, NDCG)
        numbers.append([choice.number for choice in (*each, final)])
    assert numbers[0] == numbers[1]


def test_the_estimate_is_the_pooled_ranking_of_the_chosen_values(collection, index, folds, results):
    found, points = results(), [dict(model.parameters) for model in MODELS]
    chosen = [points.index(json.loads(text)) for text in found.folds["parameters"]]
    final = found.summary[0]["ship_number"]
    candidates = Candidates.make(index, collection, MODELS)
    pooled, table = pool(candidates, folds, chosen, final, 1000), candidates.table
    counted = (folds >= 0)[table.documents]
    values = measure_lists(table, pooled, counted, [NDCG, PRECISION], 1000)
    defined = np.isfinite(values)
    assert found.values["value"].to_list() == values[defined].tolist()
    for row, measure in enumerate(["nDCG@10", "P@5"]):
        estimate = found.estimate("bm25", measure)
        assert estimate["value"] == pytest.approx(np.nanmean(values[row]))
        assert estimate["low"] < estimate["value"] < estimate["high"]
        assert estimate["estimator"] == "pooled"
        assert estimate["estimand"] == "these queries on new documents"
        assert estimate["n_queries"] == defined[row].sum()
        assert estimate["left_out"] == (~defined[row]).sum()
        assert estimate["target_size"] == (folds >= 0).sum()
        assert estimate["optimism"] == pytest.approx(estimate["train"] - estimate["value"])


@pytest.mark.parametrize("method", get_args(Method))
def test_every_estimator_by_name(results, method):
    estimate = results(method=method).estimate("bm25", "nDCG@10")
    assert estimate["estimator"] == method
    assert 0 < estimate["value"] < 1
    assert (estimate["left_out"] == 0) == (method == "per-fold-zero")


def test_a_larger_target_is_harder_to_rank_and_is_named(folds, results):
    size = int((folds >= 0).sum())
    plain, same, larger = (
        results(**fields).summary[0]["estimates"]
        for fields in ({}, {"target_size": size}, {"target_size": 5 * size})
    )
    assert plain == same
    assert {row["target_size"] for row in larger} == {5 * size}
    assert larger[1]["value"] > plain[1]["value"] + 0.02  # P@5: more relevant documents to find
    assert larger[0]["value"] != plain[0]["value"]
    assert larger[0]["optimism"] == plain[0]["optimism"]


def test_documents_outside_the_sample_do_not_change_an_extrapolated_estimate():
    known = topical_collection(120)
    ids = known.documents.ids
    plan = heldout.GivenFolds({ids[n]: str(n % 3) for n in range(120)}, strict=False)
    texts = {ids[n]: known.documents.text(n) for n in range(120)}
    more = {f"x{n}": f"z{n} z{n + 1}" for n in range(2000)}  # they match no query
    queries = dict(zip(known.queries.ids, known.queries.texts, strict=True))
    estimates = [
        heldout.Experiment(
            collection=heldout.Collection(texts | others, queries, known.qrels),
            systems="bm25",
            by="document",
            plan=plan,
            measures=["AP", "R@1000"],
            target_size=10_000,
        )
        .run()
        .summary[0]["estimates"]
        for others in ({}, more)
    ]
    values = [[row["value"] for row in rows] for rows in estimates]
    assert values[0] == values[1]
    assert values[0][1] > 0.7  # there are far more than 120 ranks


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"method": "magic"}, "method: should be 'pooled', .* not 'magic'"),
        ({"target_size": 0}, "target_size: should be greater than or equal to 1, not 0"),
        ({"target_size": 10**7}, "target_size: 10,000,000: the sample has 134 documents"),
        ({"measures": ["Bpref"], "target_size": 999}, "Bpref cannot"),
        ({"measures": ["AP_IA"]}, "whole ranked lists"),
        ({"plan": {"folds": 1}}, "at least 2"),
    ],
)
def test_refusals(results, fields, message):
    with pytest.raises(HeldoutError, match=message):
        results(**fields)


def test_a_train_side_without_relevant_documents_is_refused(results):
    texts = {f"d{number}": f"word{number} common" for number in range(12)}
    small = heldout.Collection(texts, {"q": "common"}, {"q": {"d3": 1}})
    with pytest.raises(HeldoutError, match="no query on the training side has a relevant document"):
        results(collection=small, index=indexed(small), plan={"folds": 3})
