"""Estimators against loops that index every train side anew."""

import statistics

import numpy as np
import pytest
from document_data import indexed, topical_collection

import heldout
from heldout.errors import InputError
from heldout.experiment.documents.alignment import align_scores
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.methods import METHODS, check_method, fold_values, per_fold
from heldout.experiment.documents.pooling import pool
from heldout.experiment.studies.bias import unseen_values
from heldout.measure.names import parse_measure
from heldout.retrieve.models import grid
from heldout.retrieve.search import search

MODELS = grid("bm25", k1=[0.3, 4.0], b=[0.1, 0.9])
NAMES = ("nDCG@10", "P@5", "AP")
MEASURES = [parse_measure(name) for name in NAMES]
FOLDS = 4


@pytest.fixture(scope="module")
def collection():
    return topical_collection(70)


@pytest.fixture(scope="module")
def index(collection):
    return indexed(collection)


@pytest.fixture(scope="module")
def folds(collection):
    """Unequal folds, and some documents that are not in the sample."""
    random = np.random.default_rng(4)
    return random.choice([-1, 0, 0, 1, 2, 3], len(collection.documents)).astype(np.int32)


@pytest.fixture(scope="module")
def held_out(collection, folds):
    """Per fold and model {query: {document: score}}: every document in an index of its own."""
    texts = dict(collection.documents.pairs())
    names = list(texts)
    found = {(fold, model): {} for fold in range(FOLDS) for model in MODELS}
    for number, fold in enumerate(folds.tolist()):
        if fold < 0:
            continue
        train = [at for at, its in enumerate(folds.tolist()) if its not in (fold, -1)]
        own = heldout.Index.build({names[at]: texts[names[at]] for at in [*train, number]})
        for model in MODELS:
            run = search(own, collection.queries, model, k=100).to_dict()
            for query, scores in run.items():
                if names[number] in scores:
                    rows = found[fold, model].setdefault(query, {})
                    rows[names[number]] = scores[names[number]]
    return found


def ranked(scores):
    """Documents by score (equal but for rounding: by the greater id)."""
    return sorted(scores, key=lambda doc: (round(scores[doc], 9), doc), reverse=True)


def lists_of(index, pooled, query):
    return [index.document_ids[at] for at in pooled.documents[query].tolist() if at >= 0]


def check_ranks(candidates, index, pooled, wanted, folds, query):
    for row in np.flatnonzero(candidates.table.queries == query).tolist():
        document = int(candidates.table.documents[row])
        name = index.document_ids[document]
        place = wanted.index(name) + 1 if folds[document] >= 0 and name in wanted else 0
        assert pooled.ranks[row] == place


def test_pooled_is_one_ranking_of_what_each_fold_held_out(collection, index, folds, held_out):
    candidates = Candidates.make(index, collection, MODELS)
    for value, model in enumerate(MODELS):
        pooled = pool(candidates, folds, [value] * FOLDS, value, 100)
        for place, query in enumerate(collection.queries.ids):
            scores = {}
            for fold in range(FOLDS):
                scores |= held_out[fold, model].get(query, {})
            wanted = ranked(scores)
            assert lists_of(index, pooled, place) == wanted
            assert pooled.retrieved[place] == len(wanted)
            check_ranks(candidates, index, pooled, wanted, folds, place)


@pytest.mark.parametrize("chosen", [(0, 3, 3, 1), (2, 2, 0, 2)])
def test_folds_with_different_values_are_merged_on_one_scale(
    collection, index, folds, held_out, chosen
):
    candidates = Candidates.make(index, collection, MODELS)
    pooled = pool(candidates, folds, chosen, 2, 100)
    texts = dict(collection.documents.pairs())
    sample = heldout.Index.build(
        {name: texts[name] for at, name in enumerate(texts) if folds[at] >= 0}
    )
    scale = [search(sample, collection.queries, model, k=100).to_dict() for model in MODELS]
    moved = 0
    for place, query in enumerate(collection.queries.ids):
        scores, plain = {}, {}
        for fold, value in enumerate(chosen):
            rows = held_out[fold, MODELS[value]].get(query, {})
            own, reference = (
                -np.sort(-np.array(list(scale[one][query].values()))) for one in (value, 2)
            )
            mapped = align_scores(np.array(list(rows.values())), own, reference)
            scores |= dict(zip(rows, mapped.tolist(), strict=True))
            plain |= rows
        wanted = ranked(scores)
        assert lists_of(index, pooled, place) == wanted
        check_ranks(candidates, index, pooled, wanted, folds, place)
        moved += ranked(plain) != wanted
    assert moved > 10  # without the common scale the rankings are others


@pytest.fixture(scope="module")
def slow_folds(collection, folds, held_out):
    """{(fold, query, measure): value} of one value, by `heldout.evaluate`; and Pro10."""
    qrels, names = collection.qrels.to_dict(), list(dict(collection.documents.pairs()))
    chosen, target = (1, 1, 0, 2), 150
    values, pro = {}, {}
    for fold in range(FOLDS):
        here = {names[at] for at in np.flatnonzero(folds == fold).tolist()}
        size = len(here)
        scaled = [
            f"nDCG@{max(1, round(10 * size / target))}",
            f"P@{max(1, round(5 * size / target))}",
            "AP",
        ]
        for query in collection.queries.ids:
            own = {doc: grade for doc, grade in qrels.get(query, {}).items() if doc in here}
            relevant = sum(grade > 0 for grade in own.values())
            pro[fold, query] = min(10, relevant) / 10
            if not relevant:
                continue
            rows = held_out[fold, MODELS[chosen[fold]]].get(query) or {"none": 0.0}
            found = heldout.evaluate({query: own}, {query: rows}, sorted({*NAMES, *scaled}))
            for name, other in zip(NAMES, scaled, strict=True):
                values[fold, query, name] = (
                    found.per_unit(0, name)[0],
                    found.per_unit(0, other)[0],
                )
    return chosen, target, values, pro


@pytest.mark.parametrize("method", METHODS[1:5])
def test_per_fold_estimators_against_slow_loops(collection, index, folds, slow_folds, method):
    chosen, target, values, pro = slow_folds
    candidates = Candidates.make(index, collection, MODELS)
    found = per_fold(fold_values(candidates, folds, chosen, MEASURES, target), method)
    dynamic = int(method == "dynamic-cutoff")
    for row, name in enumerate(NAMES):
        for place, query in enumerate(collection.queries.ids):
            there = [fold for fold in range(FOLDS) if (fold, query, name) in values]
            own = [values[fold, query, name][dynamic] for fold in there]
            if method == "per-fold-zero":
                wanted = sum(own) / FOLDS
            elif not own:
                wanted = np.nan
            elif method == "pro-weighted":
                wanted = statistics.fmean(own, [pro[fold, query] for fold in there])
            else:
                wanted = statistics.fmean(own)
            assert found[row, place] == pytest.approx(wanted, nan_ok=True), (name, query)
    assert np.isnan(found).any() != (method == "per-fold-zero")


def test_a_fold_has_few_relevant_documents_and_pro10_says_so(collection, index, folds):
    candidates = Candidates.make(index, collection, MODELS[:1])
    found = fold_values(candidates, folds, [0] * FOLDS, MEASURES, 100)
    assert np.array_equal(np.isfinite(found.values[0]), found.relevant > 0)
    zero = np.nanmean(per_fold(found, "per-fold-zero")[0])
    assert zero < 0.5 * np.nanmean(per_fold(found, "per-fold")[0])


@pytest.mark.parametrize("name", ["bm25", "ql-jm", "ql-dirichlet", "ql-absolute"])
def test_pooled_per_fold_and_unseen_documents_are_ranked_by_one_and_the_same_system(
    collection, index, name
):
    """Also where a word of the query is in no train document: it speaks for those that have it."""
    folds = (np.arange(len(collection.documents)) % 2).astype(np.int32)
    candidates = Candidates.make(index, collection, [heldout.Model.make(name)])
    pooled = pool(candidates, folds, [0, 0], 0, 100)
    precision = parse_measure("AP")
    alone = fold_values(candidates, folds, [0, 0], [precision], 100).values[0]
    for fold in (0, 1):
        unseen = unseen_values(candidates, folds != fold, folds == fold, 0, precision)
        assert np.array_equal(alone[fold], unseen, equal_nan=True)
        for place, query in enumerate(collection.queries.ids):
            if np.isnan(unseen[place]):
                continue
            its = [at for at in pooled.documents[place].tolist() if at >= 0 and folds[at] == fold]
            names = [index.document_ids[at] for at in its]
            run = {query: {doc: -float(at) for at, doc in enumerate(names)} or {"none": 0.0}}
            rows = {
                doc: grade
                for doc, grade in collection.qrels.to_dict()[query].items()
                if folds[int(doc[1:])] == fold
            }
            assert heldout.evaluate({query: rows}, run, ["AP"]).value(0, 0) == pytest.approx(
                unseen[place]
            )


def test_an_unknown_estimator_is_refused_by_name():
    with pytest.raises(
        InputError, match="unknown method 'bootstrap': expected one of pooled, per-fold"
    ):
        check_method("bootstrap")
