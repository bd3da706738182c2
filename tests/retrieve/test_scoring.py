"""Every model under every kind of train side, against slow and readable formulas."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from reference_scores import Side, score

from heldout import Collection, Index, Model, export_collection, search
from heldout.retrieve.kernels.types import LIKELIHOOD
from heldout.retrieve.models import MODELS, grid, parse_model
from heldout.retrieve.rank import JudgedDocuments, rank, rank_times
from heldout.retrieve.search import search_terms
from heldout.retrieve.sides import held_out_side, seen_side, whole_side
from heldout.retrieve.statistics import weighted_statistics
from refusals import refusal

SETTINGS = [
    *((name, {}) for name in MODELS),
    ("bm25", {"k1": 2.0, "b": 1.0, "k3": 2.0}),
    ("bm25-plus", {"k1": 0.0, "b": 0.4}),
    ("bm25-l", {"b": 0.0, "delta": 0.2}),
    ("bm25-l", {"k1": 0.0, "delta": 0.9}),
    ("tf-idf", {"s": 0.6}),
    ("ql-jm", {"lambda": 0.0}),
    ("ql-jm", {"lambda": 1.0}),
    ("ql-dirichlet", {"mu": 3.0}),
    ("ql-dirichlet", {"mu": 0.0}),
    ("ql-absolute", {"delta": 1.0}),
    ("ql-absolute", {"delta": 0.0}),
]
DEFAULTS = {
    "bm25": {"k1": 1.2, "b": 0.75},
    "bm25-plus": {"k1": 1.2, "b": 0.75, "delta": 1.0},  # Lv and Zhai 2011
    "bm25-l": {"k1": 1.2, "b": 0.75, "delta": 0.5},
    "tf-idf": {"s": 0.0},
    "pivoted": {"s": 0.2},  # Singhal et al. 1996
    "ql-jm": {"lambda": 0.3},
    "ql-dirichlet": {"mu": 2000.0},
    "ql-absolute": {"delta": 0.7},
}


def drawn_texts():
    """Sixty documents over few words, so that scores tie and terms are shared; one is empty."""
    rng = np.random.default_rng(5)
    words, chance = [f"w{number}" for number in range(25)], 1 / np.arange(1, 26)
    sizes = [rng.integers(1, 30) if number != 7 else 0 for number in range(60)]
    return [rng.choice(words, size, p=chance / chance.sum()).tolist() for size in sizes]


TEXTS = drawn_texts()
NAMED = [(f"d{number:02d}", " ".join(doc)) for number, doc in enumerate(TEXTS)]
QUERIES = [
    ["w0", "w3", "w3"],
    ["w20", "w24", "w1"],
    ["w5"],
    ["nowhere", "w2"],
    [f"w{number}" for number in range(24)] * 2,
]
ASKED = [" ".join(query) for query in QUERIES]


@pytest.fixture(scope="module")
def index():
    return Index.build(NAMED)


@pytest.fixture(scope="module")
def vocabulary(index):
    return index.encode(ASKED)


def expected(name, parameters, query, numbers, side_of):
    """Numbers and scores of `numbers` in ranked order: score, then the greater id."""
    known = dict(Model.make(name, **parameters).parameters)
    k3 = parameters.get("k3", np.inf)
    values = ((score(name, known, query, TEXTS[n], side_of(n), k3), n) for n in numbers)
    return sorted((pair for pair in values if pair[0] is not None), reverse=True)


def same_list(documents, scores, wanted):
    """Equal up to rounding: documents whose scores differ by rounding alone may change places."""
    got = [(s, d) for d, s in zip(documents.tolist(), scores.tolist(), strict=True) if d >= 0]
    wanted = wanted[: len(documents)]
    assert len(got) == len(wanted)
    assert np.allclose([s for s, _ in got], [s for s, _ in wanted], rtol=1e-9, atol=1e-9)
    for (mine, doc), (other, its) in zip(got, wanted, strict=True):
        if doc != its:
            close = [d for s, d in wanted if s == other or abs(s - mine) < 1e-9]
            assert doc in close or len(wanted) == len(documents)


@pytest.fixture(scope="module")
def sides(index, vocabulary):
    """Each side, the documents of its lists, and the statistics that a document is scored with."""
    folds = (np.arange(60) * 7 % 4).astype(np.int32)
    folds[[3, 30]] = -1  # neither seen nor ranked
    seen = np.arange(60) % 3 > 0
    whole, train = Side(TEXTS, [1] * 60), Side(TEXTS, seen.astype(int).tolist())
    known, zero = seen_side(index, vocabulary, seen), np.zeros(60, np.int32)
    others = replace(known, statistics=np.where(seen, -1, zero), lists=zero, added=True)

    def of_fold(number):
        others = (folds >= 0) & (folds != folds[number])
        return Side(TEXTS, others.astype(int).tolist(), TEXTS[number])

    def with_document(number):
        return Side(TEXTS, seen.astype(int).tolist(), TEXTS[number])

    lists = [np.flatnonzero(folds == fold).tolist() for fold in range(4)]
    return [
        (whole_side(index, vocabulary), [list(range(60))], lambda _: whole),
        (held_out_side(index, vocabulary, folds, 4), lists, of_fold),
        (known, [np.flatnonzero(seen).tolist()], lambda _: train),
        (others, [np.flatnonzero(~seen).tolist()], with_document),
    ]


@pytest.mark.parametrize(("name", "parameters"), SETTINGS)
def test_every_model_on_every_side(index, vocabulary, sides, name, parameters):
    model = Model.make(name, **parameters)
    for side, lists, side_of in sides:
        found = rank(index, vocabulary, [[model]], side, k=60)
        for q, query in enumerate(QUERIES):
            for fold, numbers in enumerate(lists):
                wanted = expected(name, parameters, query, numbers, side_of)
                same_list(found.documents[q, fold, 0], found.scores[q, fold, 0], wanted)
    whole = rank(index, vocabulary, [[model]], whole_side(index, vocabulary), k=9)
    documents, scores = search_terms(index, vocabulary, model, 9)  # the same bits
    assert np.array_equal(documents, whole.documents[:, 0, 0])
    assert np.array_equal(scores, whole.scores[:, 0, 0])


@pytest.mark.parametrize("which", ["seen", "unseen"])
def test_bootstrap_against_formulas(index, vocabulary, which):
    weights = np.random.default_rng(3).multinomial(60, [1 / 60] * 60, 3).T.astype(np.uint8)
    known = weighted_statistics(index, vocabulary, weights, occurrences=False)
    added = which == "unseen"
    ranked = (weights == 0).astype(np.uint8) if added else weights
    sides = [Side(TEXTS, weights[:, r].tolist()) for r in range(3)]
    for name, parameters in SETTINGS:
        model = Model.make(name, **parameters)
        if model.form.kind == LIKELIHOOD:
            continue  # ranked split by split
        found = rank_times(index, vocabulary, model, known, ranked, added=added, k=70)
        short = rank_times(index, vocabulary, model, known, ranked, added=added, k=4)
        for r in range(3):
            times = weights[:, r].tolist()

            def side_of(number, r=r, times=times):
                return Side(TEXTS, times, TEXTS[number]) if added else sides[r]

            for q, query in enumerate(QUERIES):
                numbers = np.flatnonzero(ranked[:, r]).tolist()
                once = expected(name, parameters, query, numbers, side_of)
                wanted = [pair for pair in once for _ in range(ranked[pair[1], r])]
                same_list(found[0][q, r], found[1][q, r], wanted)
                # Taking documents by falling bound must not change the top of the list.
                assert np.array_equal(short[0][q, r], found[0][q, r, :4])
                assert np.array_equal(short[1][q, r], found[1][q, r, :4])


def test_a_held_out_document_is_scored_as_if_it_were_indexed_with_the_train_side(index):
    """Brute force: index train ∪ {d} anew for each held-out d, and search."""
    folds = (np.arange(60) % 5).astype(np.int32)
    vocabulary = index.encode(ASKED[:3])
    side = held_out_side(index, vocabulary, folds, 5)
    for model in (Model.make("bm25"), Model.make("ql-jm", lam=0.4), Model.make("bm25-l")):
        found = rank(index, vocabulary, [[model]], side, k=60)
        for number in range(60):
            seen = [NAMED[d] for d in range(60) if folds[d] != folds[number]]
            again = Index.build([*seen, NAMED[number]])
            documents, scores = search_terms(again, again.encode(ASKED[:3]), model, 60)
            for q in range(3):
                mine = found.documents[q, folds[number], 0] == number
                anew = documents[q] == len(seen)
                # The query's other words: one that only other held-out documents have is not
                # in the new index at all, and is left out of the product there as here.
                was, now = found.scores[q, folds[number], 0][mine], scores[q][anew]
                assert len(was) == len(now)
                assert np.allclose(was, now, rtol=1e-9)


def test_values_side_by_side_do_not_touch_each_other(index, vocabulary):
    folds = (np.arange(60) % 3).astype(np.int32)
    side = held_out_side(index, vocabulary, folds, 3)
    many = grid("bm25", k1=np.linspace(0, 3, 10), b=np.linspace(0, 1, 7))
    together = rank(index, vocabulary, [many], side, k=5)
    for number in (0, 31, 32, 33, 69):
        alone = rank(index, vocabulary, [[many[number]]], side, k=5)
        assert np.array_equal(together.documents[:, :, number], alone.documents[:, :, 0])
        assert np.array_equal(together.scores[:, :, number], alone.scores[:, :, 0])
    # Every train side may have values of its own.
    chosen = [Model.make("bm25", k1=k1) for k1 in (0.5, 1.0, 2.0)]
    found = rank(index, vocabulary, [[model] for model in chosen], side, k=60)
    for fold, model in enumerate(chosen):
        alone = rank(index, vocabulary, [[model]], side, k=60)
        assert np.array_equal(found.scores[:, fold], alone.scores[:, fold])


@pytest.mark.parametrize("name", ["bm25", "ql-jm"])
def test_priors_are_added(index, vocabulary, name):
    side, model = whole_side(index, vocabulary), Model.make(name)
    priors = np.random.default_rng(2).normal(size=(60, 7))
    plain = rank(index, vocabulary, [[model]], side, k=60)
    found = rank(index, vocabulary, [[model] * 7], side, k=60, priors=priors)
    for q, lane in product(range(len(QUERIES)), range(7)):
        there = plain.documents[q, 0, 0] >= 0
        numbers = plain.documents[q, 0, 0][there]
        wanted = plain.scores[q, 0, 0][there] + priors[numbers, lane]
        order = np.argsort(-wanted)
        assert np.array_equal(found.documents[q, 0, lane][there], numbers[order])
        assert np.allclose(found.scores[q, 0, lane][there], wanted[order], rtol=1e-12)


def test_threads_change_nothing(index, vocabulary, monkeypatch):
    side = whole_side(index, vocabulary)
    weights = np.random.default_rng(1).multinomial(60, [1 / 60] * 60, 40).T.astype(np.uint8)
    known = weighted_statistics(index, vocabulary, weights, occurrences=False)
    results = []
    for number in ("1", "2", "5"):
        monkeypatch.setenv("HELDOUT_THREADS", number)
        found = rank(index, vocabulary, [grid("ql-jm", lam=[0.2, 0.9])], side, k=20)
        boot = rank_times(index, vocabulary, Model.make("bm25"), known, weights, added=False, k=10)
        results.append((found.scores.tobytes(), boot[0].tobytes()))
    assert len(set(results)) == 1


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("name", ["bm25", "ql-jm", "bm25-l"])
def test_ranks_of_judged_documents_are_places_in_the_full_lists(index, vocabulary, name, pooled):
    folds = (np.arange(60) % 4).astype(np.int32)
    side = held_out_side(index, vocabulary, folds, 4, pooled=pooled)
    models = grid(name, **{key: [value, 1.0] for key, value in MODELS[name].defaults[:1]})
    rng = np.random.default_rng(0)
    judged = [np.sort(rng.permutation(60)[:20]).astype(np.int32) for _ in QUERIES]
    offsets = np.arange(0, 20 * len(QUERIES) + 1, 20)
    asked = JudgedDocuments(offsets, np.concatenate(judged))
    found = rank(index, vocabulary, [models], side, k=60, judged=asked)
    for q, lane in product(range(len(QUERIES)), range(len(models))):
        for place, number in enumerate(judged[q].tolist()):
            full = found.documents[q, 0 if pooled else folds[number], lane].tolist()
            wanted = full.index(number) + 1 if number in full else 0
            assert found.ranks[offsets[q] + place, lane] == wanted
        lists = (found.documents[q, :, 0] >= 0).sum(axis=1)
        assert np.array_equal(lists, found.retrieved[q])


NO_MODELS = ["bm26", "bm25(k2=1)", "bm25(b=2)", "bm25(k1=-1)", "bm25(k1)", "bm25(", "bm25(k1=nan)"]


def test_names_and_values_of_models_are_checked(index, vocabulary):
    for name in MODELS:
        assert dict(Model.make(name).parameters) == DEFAULTS.get(name, DEFAULTS["bm25"]), name
    for text in NO_MODELS:
        assert refusal(parse_model, text), text
    assert "k3" in refusal(Model.make, "ql-jm", k3=1)
    for model in (Model.make("bm25", k1=0.25, k3=7), Model.make("ql-dirichlet", mu=1500)):
        assert parse_model(str(model)) == model
    two, side = [Model.make("bm25"), Model.make("ql-jm")], whole_side(index, vocabulary)
    assert "the same name" in refusal(rank, index, vocabulary, [two], side, k=3)


def test_search(index, tmp_path):
    run = search(index, {"q": "w0 w20"}, "ql-jm(lambda=1)", k=60)
    both = {name for name, text in NAMED if {"w0", "w20"} <= set(text.split())}
    assert both  # at lambda 1 a document without a query word comes last
    assert set(list(run.to_dict()["q"])[: len(both)]) == both
    assert (run.name, run.scores.min()) == ("ql-jm(lambda=1)", -1e30)
    for k in (0, 2.5):
        assert f"k={k}: expected a positive integer" in refusal(search, index, {"q": "w0"}, k=k)
    assert search(index, {"p": "nowhere", "q": "w0"}, k=1, name="mine").queries == ("q",)
    # A collection or its name is indexed first.
    texts = {"d1": "red apples", "d2": "green apples, green pears"}
    whole = Collection(texts, {"q": "green apples"}, {"q": {"d2": 1}})
    export_collection(whole, tmp_path / "data", "beir")
    Index.build(whole, path=tmp_path / "index")
    found = [
        search(given, whole.queries).to_dict()
        for given in (whole, texts, str(tmp_path / "data"), tmp_path / "index")
    ]
    assert found == [found[0]] * 4
    assert list(found[0]["q"]) == ["d2", "d1"]
