"""Measures from ranks alone, against evaluations of whole runs."""

import numpy as np
import pytest
from document_data import indexed, topical_collection

import heldout
from heldout.errors import MeasureError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.rank_table import check_measures
from heldout.measure.names import parse_measure
from heldout.retrieve.models import grid
from heldout.retrieve.search import run_of_lists, search
from heldout.retrieve.sides import held_out_side, whole_side

NAMES = (
    "nDCG@10", "AP", "P@10", "R@100", "RR", "Bpref", "ERR@20", "RBP(p=0.8)", "Rprec", "Judged@10",
    "P(rel=2)@5", "nDCG(judged_only=True)@10",
)  # fmt: skip
MEASURES = [parse_measure(name) for name in NAMES]
MODELS = grid("bm25", k1=[0.4, 3.0], b=[0.0, 1.0])


@pytest.fixture(scope="module")
def collection():
    return topical_collection()


@pytest.fixture(scope="module")
def index(collection):
    return indexed(collection)


def expected(qrels, run, query_ids, depth):
    """Measures × queries by `heldout.evaluate`; NaN where nothing relevant is judged."""
    scores = heldout.evaluate(qrels, run, NAMES, depth=depth)
    places = {query: place for place, query in enumerate(scores.units())}
    table = np.full((len(NAMES), len(query_ids)), np.nan)
    for column, query in enumerate(query_ids):
        grades = qrels.to_dict().get(query, {}).values()
        for row, measure in enumerate(MEASURES):
            if any(grade >= (measure.parameters.get("rel") or 1) for grade in grades):
                table[row, column] = scores.per_unit(0, row)[places[query]]
    return table


@pytest.mark.parametrize("depth", [7, 1000])
def test_whole_collection_several_values_at_once(collection, index, depth):
    candidates = Candidates.make(index, collection, MODELS, depth=depth)
    values = candidates.evaluate(whole_side(index, candidates.vocabulary), MEASURES)
    assert values.shape == (len(NAMES), len(MODELS), len(collection.queries))
    for number, model in enumerate(MODELS):
        run = search(index, collection.queries, model, k=1000)
        wanted = expected(collection.qrels, run, collection.queries.ids, depth)
        assert np.allclose(values[:, number], wanted, atol=1e-12, equal_nan=True)
    assert len({tuple(row) for row in np.nan_to_num(values[0]).tolist()}) == len(MODELS)


def test_a_fold_by_itself_with_the_judgements_of_its_documents(collection, index):
    candidates = Candidates.make(index, collection, MODELS[:1])
    folds = (np.arange(len(collection.documents)) * 5 % 3).astype(np.int32)
    side = held_out_side(index, candidates.vocabulary, folds, 3)
    ranking = candidates.rank(side)
    for fold, lists in enumerate(candidates.lists(side, [0], len(folds))):
        counted = folds[candidates.table.documents] == fold
        values = candidates.table.evaluate(
            ranking.ranks, counted, ranking.retrieved[:, fold], MEASURES, 1000
        )[:, 0]
        run = run_of_lists(index.document_ids, collection.queries.ids, *lists, "fold")
        names = {name for name, its in zip(index.document_ids, folds, strict=True) if its == fold}
        kept = {
            query: {doc: grade for doc, grade in rows.items() if doc in names}
            for query, rows in collection.qrels.to_dict().items()
        }
        qrels = heldout.Qrels.of({query: rows for query, rows in kept.items() if rows})
        wanted = expected(qrels, run, collection.queries.ids, 1000)
        assert np.allclose(values, wanted, atol=1e-12, equal_nan=True)


def test_queries_without_relevant_documents_are_undefined(collection, index):
    candidates = Candidates.make(index, collection, MODELS)
    values = candidates.evaluate(whole_side(index, candidates.vocabulary), MEASURES[:6])
    empty = [not any(rows.values()) for rows in collection.qrels.to_dict().values()]
    assert any(empty)
    assert np.array_equal(np.isnan(values[0, 0]), empty)
    nothing = candidates.table.evaluate(
        np.ones((len(candidates.table), 2), np.int32),
        np.zeros(len(candidates.table), np.bool_),
        np.ones(candidates.table.n_queries, np.int64),
        MEASURES[:6],
    )
    assert nothing.shape == (6, 2, candidates.table.n_queries)
    assert np.isnan(nothing).all()


@pytest.mark.parametrize("name", ["alpha_nDCG@10", "AP_IA"])
def test_measures_that_need_whole_lists_are_refused_by_name(name):
    with pytest.raises(MeasureError, match="needs whole ranked lists"):
        check_measures([parse_measure(name)])
