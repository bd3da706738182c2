"""Tuning inside document folds, and what is said of unseen documents."""

import numpy as np
import pytest
from document_data import indexed, topical_collection

import heldout
from heldout.errors import InputError, MeasureError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.choose_in_document_folds import choose_values
from heldout.experiment.documents.cross_validate import cross_validate_documents
from heldout.experiment.documents.methods import METHODS
from heldout.experiment.documents.pooling import pool
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


def estimate(index, collection, folds, **settings):
    own = {"tune_for": NDCG, "measures": [NDCG, PRECISION], "replicates": 40, **settings}
    return cross_validate_documents(index, collection, own.pop("models", MODELS), folds, **own)


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
    found = heldout.evaluate(qrels, runs, ["nDCG@10"])
    return [found.value(number, 0) for number in range(len(MODELS))]


def test_values_are_chosen_on_train_sides_as_by_new_indexes(collection, index, folds):
    candidates = Candidates.make(index, collection, MODELS)
    choices = choose_values(candidates, folds, FOLDS, NDCG)
    for fold in range(FOLDS):
        means = means_on(collection, (folds >= 0) & (folds != fold))
        assert choices.surface[fold] == pytest.approx(means)
        assert choices.chosen[fold] == int(np.argmax(means))
    means = means_on(collection, folds >= 0)
    assert choices.final_surface == pytest.approx(means)
    assert choices.final == int(np.argmax(means))


def test_what_is_held_out_has_no_say_in_the_choice(collection, index, folds):
    """Priors, judgements and texts of the held-out documents are replaced by tempting ones."""
    random = np.random.default_rng(1)
    models, priors = [MODELS[1]] * 12, random.normal(0, 2, (len(folds), 12))
    clean = choose_values(
        Candidates.make(index, collection, models, priors=priors), folds, FOLDS, NDCG
    )
    assert len(set(clean.chosen)) > 1
    moved = 0
    for fold in range(FOLDS):
        held = folds == fold
        tempting = priors.copy()
        worst = int(np.argmin(clean.surface[fold]))
        tempting[held, worst] = 1e6
        relevant = {f"d{at:03}": 2 for at in np.flatnonzero(held).tolist()}
        qrels = {
            query: {doc: grade for doc, grade in rows.items() if not held[int(doc[1:])]} | relevant
            for query, rows in collection.qrels.to_dict().items()
        }
        texts = {
            name: text if not held[at] else "t1 t2 t3 " * 50
            for at, (name, text) in enumerate(collection.documents.pairs())
        }
        poisoned = heldout.Collection(texts, collection.queries, qrels)
        candidates = Candidates.make(indexed(poisoned), poisoned, models, priors=tempting)
        again = choose_values(candidates, folds, FOLDS, NDCG)
        assert again.chosen[fold] == clean.chosen[fold]
        assert np.array_equal(again.surface[fold], clean.surface[fold])
        moved += sum(a != b for a, b in zip(again.chosen, clean.chosen, strict=True))
    assert moved  # the poison does work where it is seen


def test_documents_outside_the_sample_have_no_say_either(collection, index, folds):
    random = np.random.default_rng(1)
    models, priors = [MODELS[1]] * 12, random.normal(0, 2, (len(folds), 12))
    tempting = np.where((folds < 0)[:, None], 1e6 * np.arange(12), priors)
    one, other = (
        choose_values(Candidates.make(index, collection, models, priors=own), folds, FOLDS, NDCG)
        for own in (priors, tempting)
    )
    assert (one.chosen, one.final) == (other.chosen, other.final)


def test_the_estimate_is_the_pooled_ranking_of_the_chosen_values(collection, index, folds):
    found = estimate(index, collection, folds)
    candidates = Candidates.make(index, collection, MODELS)
    pooled = pool(candidates, folds, found.chosen, found.final, 1000)
    counted = (folds >= 0)[candidates.table.documents]
    values = candidates.table.evaluate(
        pooled.ranks[:, None], counted, pooled.retrieved, [NDCG, PRECISION], 1000
    )[:, 0]
    assert np.array_equal(found.values, values, equal_nan=True)
    for place, one in enumerate(found.estimates):
        assert one.value == pytest.approx(np.nanmean(values[place]))
        assert one.low < one.value < one.high
        assert (one.method, one.estimand) == ("pooled", "these queries on new documents")
        assert one.n_queries + one.left_out == len(collection.queries)
        assert one.n_queries == np.isfinite(values[place]).sum()
        assert one.target_size == (folds >= 0).sum()
        assert one.optimism == pytest.approx(np.nanmean(found.train_values[place]) - one.value)
    assert [one.measure for one in found.estimates] == ["nDCG@10", "P@5"]
    assert found.documents.shape == (len(collection.queries), 10)
    assert len(found.fold_scores) == FOLDS


@pytest.mark.parametrize("method", METHODS)
def test_every_estimator_by_name(collection, index, folds, method):
    found = estimate(index, collection, folds, method=method)
    assert {one.method for one in found.estimates} == {method}
    (value, _), left_out = (one.value for one in found.estimates), found.estimates[0].left_out
    assert 0 < value < 1
    assert (left_out == 0) == (method == "per-fold-zero")


def test_a_larger_target_is_harder_to_rank_and_is_named(collection, index, folds):
    size = int((folds >= 0).sum())
    plain = estimate(index, collection, folds).estimates
    same = estimate(index, collection, folds, target_size=size).estimates
    larger = estimate(index, collection, folds, target_size=5 * size).estimates
    assert plain == same
    assert {one.target_size for one in larger} == {5 * size}
    assert larger[1].value > plain[1].value + 0.02  # P@5: more relevant documents to find
    assert larger[0].value != plain[0].value
    assert larger[0].optimism == plain[0].optimism


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"method": "magic"}, InputError, "unknown method 'magic'"),
        ({"target_size": 0}, InputError, "target_size=0"),
        ({"measures": [parse_measure("Bpref")], "target_size": 999}, MeasureError, "Bpref cannot"),
        ({"measures": [parse_measure("AP_IA")]}, MeasureError, "whole ranked lists"),
    ],
)
def test_refusals(collection, index, folds, settings, error, message):
    with pytest.raises(error, match=message):
        estimate(index, collection, folds, **settings)


def test_a_single_fold_is_refused(collection, index, folds):
    with pytest.raises(InputError, match="1 document fold: at least 2"):
        estimate(index, collection, np.minimum(folds, 0))


def test_a_train_side_without_relevant_documents_is_refused():
    texts = {f"d{at}": f"word{at} common" for at in range(12)}
    small = heldout.Collection(texts, {"q": "common"}, {"q": {"d3": 1}})
    with pytest.raises(InputError, match="no query has a relevant document on a training side"):
        estimate(indexed(small), small, (np.arange(12) % 3).astype(np.int32))
