"""Estimators against loops that build an index of every training side."""

import statistics

import numpy as np
import pytest
from document_data import indexed, topical_collection

import heldout
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.estimates import fold_values, per_fold
from heldout.experiment.documents.pooling import align_scores, pool, pooled_ranks
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
    scored = {(fold, model): {} for fold in range(FOLDS) for model in MODELS}
    for name, fold in zip(texts, folds.tolist(), strict=True):
        if fold < 0:
            continue
        train = [other for other, its in zip(texts, folds, strict=True) if its not in (fold, -1)]
        own = heldout.Index.build({other: texts[other] for other in [*train, name]})
        for model in MODELS:
            run = search(own, collection.queries, model, k=100).to_dict()
            for query, scores in run.items():
                if name in scores:
                    scored[fold, model].setdefault(query, {})[name] = scores[name]
    return scored


def ranked(scores):
    """Documents by score (equal but for rounding: by the greater id)."""
    return sorted(scores, key=lambda doc: (round(scores[doc], 9), doc), reverse=True)


def check(candidates, folds, chosen, pooled, wanted):
    """Compare a pooled ranking, and the ranks of judged documents, with lists by query."""
    ids, table = candidates.index.document_ids, candidates.table
    for row, names in enumerate(wanted):
        listed = pooled.documents[row]
        assert [ids[number] for number in listed[listed >= 0]] == names
    for rank, query, document in zip(
        pooled_ranks(candidates, folds, chosen, pooled), table.queries, table.documents, strict=True
    ):
        names = wanted[query]
        there = folds[document] >= 0 and ids[document] in names
        assert rank == (names.index(ids[document]) + 1 if there else 0)


@pytest.mark.parametrize("value", range(len(MODELS)))
def test_pooled_is_one_ranking_of_what_each_fold_held_out(
    collection, index, folds, held_out, value
):
    candidates, chosen, wanted = Candidates.make(index, collection, MODELS), [value] * FOLDS, []
    for query in collection.queries.ids:
        scores = {}
        for fold in range(FOLDS):
            scores |= held_out[fold, MODELS[value]].get(query, {})
        wanted.append(ranked(scores))
    check(candidates, folds, chosen, pool(candidates, folds, chosen, value, 100), wanted)


@pytest.mark.parametrize("chosen", [(0, 3, 3, 1), (2, 2, 0, 2)])
def test_folds_with_different_values_are_merged_on_one_scale(
    collection, index, folds, held_out, chosen
):
    pairs = zip(collection.documents.pairs(), folds, strict=True)
    sample = heldout.Index.build(dict(pair for pair, fold in pairs if fold >= 0))
    scale = [search(sample, collection.queries, model, k=100).to_dict() for model in MODELS]
    wanted, moved = [], 0
    for query in collection.queries.ids:
        scores, plain = {}, {}
        for fold, value in enumerate(chosen):
            rows = held_out[fold, MODELS[value]].get(query, {})
            own, reference = (
                -np.sort(-np.array(list(scale[number][query].values()))) for number in (value, 2)
            )
            mapped = align_scores(np.array(list(rows.values())), own, reference)
            scores |= dict(zip(rows, mapped.tolist(), strict=True))
            plain |= rows
        wanted.append(ranked(scores))
        moved += ranked(plain) != wanted[-1]
    assert moved > 10  # without the common scale the rankings are others
    candidates = Candidates.make(index, collection, MODELS)
    check(candidates, folds, chosen, pool(candidates, folds, chosen, 2, 100), wanted)


@pytest.fixture(scope="module")
def slow_folds(collection, folds, held_out):
    """{(fold, query, measure): value} of one value, by `heldout.evaluate`; and Pro10."""
    qrels, names = collection.qrels.to_dict(), list(dict(collection.documents.pairs()))
    chosen, target = (1, 1, 0, 2), 150
    values, pro = {}, {}
    for fold in range(FOLDS):
        here = {names[number] for number in np.flatnonzero(folds == fold).tolist()}
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
            scores = heldout.evaluate({query: own}, {query: rows}, sorted({*NAMES, *scaled}))
            for pair in zip(NAMES, scaled, strict=True):
                values[fold, query, pair[0]] = [scores.per_unit(0, name)[0] for name in pair]
    return chosen, target, values, pro


@pytest.mark.parametrize("method", ["per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff"])
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
            listed = [doc for doc in pooled.documents[place].tolist() if doc >= 0]
            names = [index.document_ids[doc] for doc in listed if folds[doc] == fold]
            run = {query: {doc: -float(rank) for rank, doc in enumerate(names)} or {"none": 0.0}}
            rows = {
                doc: grade
                for doc, grade in collection.qrels.to_dict()[query].items()
                if folds[int(doc[1:])] == fold
            }
            assert heldout.evaluate({query: rows}, run, ["AP"]).value(0, 0) == pytest.approx(
                unseen[place]
            )
