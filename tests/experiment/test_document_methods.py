"""Rankings of document folds and their estimators, against indexes of every training side."""

import statistics

import numpy as np
import pytest
from document_data import indexed, topical_collection
from experiment_data import small_collection, table_bytes

import heldout
from heldout.experiment import rankings
from heldout.experiment.documents import replicates
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.estimates import FoldValues, fold_values, per_fold
from heldout.experiment.documents.pooling import align_scores, pool, pooled_ranks
from heldout.experiment.studies.bias import unseen_values
from heldout.measure.names import parse_measure
from heldout.retrieve.models import MODELS as BY_NAME
from heldout.retrieve.models import grid
from heldout.retrieve.search import search
from heldout.retrieve.sides import whole_side

MODELS = grid("bm25", k1=[0.3, 4.0], b=[0.1, 0.9])
NAMES = ("nDCG@10", "P@5", "AP")
MEASURES = [parse_measure(name) for name in NAMES]
FOLDS = 4
COLLECTION = topical_collection(70)
TEXTS = dict(COLLECTION.documents.pairs())
INDEX = indexed(COLLECTION)
CANDIDATES = Candidates.make(INDEX, COLLECTION, MODELS)
# Unequal folds, and some documents that are not in the sample.
FOLD_OF = np.random.default_rng(4).choice([-1, 0, 0, 1, 2, 3], 70).astype(np.int32)


# ---- one ranking of all folds -------------------------------------------------------------------


def test_a_linear_change_of_scale_is_undone_exactly():
    random = np.random.default_rng(0)
    reference = -np.sort(-random.gamma(2, 3, 50))
    held_out = random.gamma(2, 4, 200) - 1  # some beyond both ends
    assert held_out.max() > reference[0]
    assert held_out.min() < reference[-1]
    own = np.append(3 * reference + 5, -9.0)  # the end of a longer list is not used
    assert np.allclose(align_scores(3 * held_out + 5, own, reference), held_out)
    # Scores that differ by rounding do not make a map steep.
    own, reference = np.array([5.0 + 1e-15, 5.0]), np.array([9.0, 1.0])
    assert abs(align_scores(np.array([5.5]), own, reference)[0]) < 20


@pytest.fixture(scope="module")
def held_out():
    """Per fold and model {query: {document: score}}: every document in an index of its own."""
    scored = {(fold, model): {} for fold in range(FOLDS) for model in MODELS}
    for name, fold in zip(TEXTS, FOLD_OF.tolist(), strict=True):
        if fold < 0:
            continue
        train = [other for other, its in zip(TEXTS, FOLD_OF, strict=True) if its not in (fold, -1)]
        own = heldout.Index.build({other: TEXTS[other] for other in [*train, name]})
        for model in MODELS:
            run = search(own, COLLECTION.queries, model, k=100).to_dict()
            for query, scores in run.items():
                if name in scores:
                    scored[fold, model].setdefault(query, {})[name] = scores[name]
    return scored


def ranked(scores):
    """Documents by score (equal but for rounding: by the greater id)."""
    return sorted(scores, key=lambda doc: (round(scores[doc], 9), doc), reverse=True)


def check(chosen, final, wanted):
    """Compare a pooled ranking, and the ranks of judged documents, with lists by query."""
    pooled = pool(CANDIDATES, FOLD_OF, chosen, final, 100)
    shallow = pool(CANDIDATES, FOLD_OF, chosen, final, 4)
    assert shallow.documents.tolist() == pooled.documents[:, :4].tolist()
    ids, table = INDEX.document_ids, CANDIDATES.table
    for row, names in enumerate(wanted):
        listed = pooled.documents[row]
        assert [ids[number] for number in listed[listed >= 0]] == names
    ranks = pooled_ranks(CANDIDATES, FOLD_OF, chosen, pooled)
    for rank, query, document in zip(ranks, table.queries, table.documents, strict=True):
        names = wanted[query]
        there = FOLD_OF[document] >= 0 and ids[document] in names
        assert rank == (names.index(ids[document]) + 1 if there else 0)


@pytest.mark.parametrize("chosen", [(2, 2, 2, 2), (0, 3, 3, 1)])
def test_folds_with_different_settings_are_merged_on_one_scale(held_out, chosen):
    pairs = zip(TEXTS.items(), FOLD_OF, strict=True)
    sample = heldout.Index.build(dict(pair for pair, fold in pairs if fold >= 0))
    scale = [search(sample, COLLECTION.queries, model, k=100).to_dict() for model in MODELS]
    wanted, moved = [], 0
    for query in COLLECTION.queries.ids:
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
    # Without the common scale the rankings of different settings are others.
    assert moved > 10 or len(set(chosen)) == 1
    check(chosen, 2, wanted)


@pytest.mark.parametrize("name", ["bm25", "ql-jm", "ql-dirichlet", "ql-absolute"])
def test_pooled_per_fold_and_unseen_documents_are_ranked_by_one_and_the_same_system(name):
    """Also where a word of the query is in no train document: it speaks for those that have it."""
    folds = (np.arange(70) % 2).astype(np.int32)
    candidates = Candidates.make(INDEX, COLLECTION, [heldout.Model.make(name)])
    pooled, precision = pool(candidates, folds, [0, 0], 0, 100), parse_measure("AP")
    alone = fold_values(candidates, folds, [0, 0], [precision], 100).values[0]
    for fold in (0, 1):
        unseen = unseen_values(candidates, folds != fold, folds == fold, 0, precision)
        assert np.array_equal(alone[fold], unseen, equal_nan=True)
        qrels, run = {}, {}
        for place, query in enumerate(COLLECTION.queries.ids):
            if np.isnan(unseen[place]):
                continue
            listed = [doc for doc in pooled.documents[place].tolist() if doc >= 0]
            names = [INDEX.document_ids[doc] for doc in listed if folds[doc] == fold]
            run[query] = {doc: -float(rank) for rank, doc in enumerate(names)} or {"none": 0.0}
            judged = COLLECTION.qrels.to_dict()[query].items()
            qrels[query] = {doc: grade for doc, grade in judged if folds[int(doc[1:])] == fold}
        found = heldout.evaluate(qrels, run, ["AP"])
        expected = [unseen[COLLECTION.queries.ids.index(query)] for query in found.units()]
        assert found.per_unit(0, 0) == pytest.approx(expected)


# ---- estimators fold by fold --------------------------------------------------------------------


@pytest.fixture(scope="module")
def slow_folds(held_out):
    """{(fold, query, measure): value} of one setting, by `heldout.evaluate`; and Pro10."""
    qrels, names = COLLECTION.qrels.to_dict(), list(TEXTS)
    chosen, target = (1, 1, 0, 2), 45
    values, pro = {}, {}
    for fold in range(FOLDS):
        here = {names[number] for number in np.flatnonzero(fold == FOLD_OF).tolist()}
        scaled = [f"{name}@{max(1, round(int(at) * len(here) / target))}"
                  for name, at in (("nDCG", "10"), ("P", "5"))]  # fmt: skip
        own, rows = {}, {}
        for query in COLLECTION.queries.ids:
            judged = {doc: grade for doc, grade in qrels.get(query, {}).items() if doc in here}
            relevant = sum(grade > 0 for grade in judged.values())
            pro[fold, query] = min(10, relevant) / 10
            if relevant:
                own[query] = judged
                rows[query] = held_out[fold, MODELS[chosen[fold]]].get(query) or {"none": 0.0}
        scores = heldout.evaluate(own, rows, sorted({*NAMES, *scaled}))
        for at, query in enumerate(scores.units()):
            for pair in zip(NAMES, [*scaled, "AP"], strict=True):
                values[fold, query, pair[0]] = [scores.per_unit(0, name)[at] for name in pair]
    return chosen, target, values, pro


def test_per_fold_estimators_against_slow_loops(slow_folds):
    chosen, target, values, pro = slow_folds
    every = fold_values(CANDIDATES, FOLD_OF, chosen, MEASURES, target)
    assert np.array_equal(np.isfinite(every.values[0]), every.relevant > 0)
    for method in ("per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff"):
        found, dynamic = per_fold(every, method), int(method == "dynamic-cutoff")
        for row, name in enumerate(NAMES):
            for place, query in enumerate(COLLECTION.queries.ids):
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
                case = (method, name, query)
                assert found[row, place] == pytest.approx(wanted, nan_ok=True), case
        assert np.isnan(found).any() != (method == "per-fold-zero")
    # A fold has few relevant documents, so that zeros are far too low.
    zero = np.nanmean(per_fold(every, "per-fold-zero")[0])
    assert zero < 0.6 * np.nanmean(per_fold(every, "per-fold")[0])
    # Ten relevant documents in a fold count fully, and more do not count more.
    folds = FoldValues(np.array([[[0.2], [0.8]]]), np.zeros((1, 2, 1)), np.array([[5], [20]]))
    assert per_fold(folds, "pro-weighted")[0, 0] == pytest.approx((0.5 * 0.2 + 0.8) / 1.5)


# ---- measures of ranks alone --------------------------------------------------------------------


OF_RANKS = (
    "nDCG@10", "AP", "P@10", "R@100", "RR", "Bpref", "ERR@20", "RBP(p=0.8)", "Rprec", "Judged@10",
    "P(rel=2)@5", "nDCG(judged_only=True)@10",
)  # fmt: skip
PARSED = [parse_measure(name) for name in OF_RANKS]


@pytest.mark.parametrize("depth", [7, 1000])
def test_ranks_of_several_settings_at_once_have_the_values_of_whole_runs(depth):
    candidates = Candidates.make(INDEX, COLLECTION, MODELS, depth=depth)
    values = candidates.evaluate(whole_side(INDEX, candidates.vocabulary), PARSED)
    judged = COLLECTION.qrels.to_dict()
    for number, model in enumerate(MODELS):
        run = search(INDEX, COLLECTION.queries, model, k=1000)
        scores = heldout.evaluate(COLLECTION.qrels, run, OF_RANKS, depth=depth)
        for row, measure in enumerate(PARSED):
            wanted = dict(zip(scores.units(), scores.per_unit(0, row), strict=True))
            for query, value in zip(COLLECTION.queries.ids, values[row, number], strict=True):
                level = measure.parameters.get("rel") or 1
                if any(grade >= level for grade in judged.get(query, {}).values()):
                    assert value == pytest.approx(wanted[query], abs=1e-12)
                else:
                    assert np.isnan(value)
    assert len({tuple(row) for row in np.nan_to_num(values[0]).tolist()}) == len(MODELS)


# ---- many splits at once ------------------------------------------------------------------------


SMALL = small_collection(80, 20)
BOOTSTRAP = {"kind": "bootstrap", "replicates": 5}
AT_ONCE = [
    *({"systems": name} for name in BY_NAME if not name.startswith("ql")),
    {"systems": "bm25(k1=0.5:3:4, b=0.2,0.8)"},
    {"systems": "bm25(k1=0.5:3:4)", "tune_for": "RR@5", "rule": "one-se"},
    {"plan": {"kind": "bootstrap", "replicates": 4, "side": "test"}},
    {"plan": {"kind": "holdout", "test": 0.1, "repeats": 3}, "systems": "bm25(k1=1:3:3)"},
    {"depth": 5},
]


def replicated(**fields):
    given = {"collection": SMALL, "systems": "bm25", "by": "document", "plan": BOOTSTRAP}
    return heldout.Experiment(**given | {"measures": ["nDCG@10", "P@3"]} | fields)


def test_many_splits_at_once_give_the_values_of_one_after_another(monkeypatch, tmp_path):
    """Every model, plan and choice, to the last bit."""
    places = [tmp_path / str(number) for number in range(len(AT_ONCE))]
    for place, fields in zip(places, AT_ONCE, strict=True):
        replicated(**fields).run(place / "at once")
    for module in (rankings, replicates):
        monkeypatch.setattr(module, "splits_at_once", lambda *_: 1)
    for place, fields in zip(places, AT_ONCE, strict=True):
        replicated(**fields).run(place / "plain")
        assert table_bytes(place / "at once") == table_bytes(place / "plain"), fields


def test_ranked_lists_are_kept_of_the_first_splits(monkeypatch):
    def notes(results):
        return [note.text for note in results.notes if note.code == "lists-kept"]

    whole = replicated(systems="bm25(k1=1:3:3)").run()
    monkeypatch.setattr(rankings, "LISTED", 3)
    few = replicated(systems="bm25(k1=1:3:3)").run()
    assert few.held_out.equals(whole.held_out.filter(whole.held_out["repeat"] < 3))
    assert few.values.equals(whole.values)
    assert few.summary == whole.summary
    assert notes(few) == ["ranked lists are kept for the first 3 of 5 splits"]
    assert not notes(whole)
    assert not notes(replicated(plan={"folds": 5}).run())
