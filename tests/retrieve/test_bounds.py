"""Search by bounds gives what scoring every document gives, to the last bit, ties included."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.retrieve import bounds, top
from heldout.retrieve.index import Index
from heldout.retrieve.kernels import search as kernel
from heldout.retrieve.kernels.types import FRACTION, LIKELIHOOD
from heldout.retrieve.models import MODELS, Model, grid
from heldout.retrieve.rank import JudgedDocuments, rank
from heldout.retrieve.search import search_terms
from heldout.retrieve.sides import held_out_side, seen_side, whole_side

BOUNDED = [name for name, form in MODELS.items() if form.kind != LIKELIHOOD]
FRACTIONS = [name for name, form in MODELS.items() if form.kind == FRACTION]


@pytest.fixture(autouse=True)
def small_windows(monkeypatch):
    """Sixteen documents a window, and bounds wherever they are allowed."""
    monkeypatch.setattr(bounds, "window_bits", lambda _: 4)
    monkeypatch.setattr(top, "pays", lambda *_: True)


def corpus(seed, documents, words, longest):
    """Documents over few words: many are equal, so that scores tie."""
    rng = np.random.default_rng(seed)
    names, chance = [f"w{word}" for word in range(words)], 1 / np.arange(1, words + 1)
    sizes = rng.integers(0, longest, documents)
    return [" ".join(rng.choice(names, size, p=chance / chance.sum())) for size in sizes]


def queries(seed, number, words):
    rng = np.random.default_rng([seed, 1])
    sizes = rng.integers(1, 7, number)
    return [" ".join(f"w{word}" for word in rng.integers(words + 1, size=one)) for one in sizes]


def same(found, wanted):
    assert np.array_equal(found.documents, wanted.documents)
    assert np.array_equal(found.scores, wanted.scores)


@given(
    seed=st.integers(0, 2**16),
    documents=st.integers(1, 700),
    words=st.integers(1, 40),
    longest=st.integers(1, 25),
    k=st.integers(1, 40),
    model=st.builds(
        lambda name, k1, b: Model.make(name, k1=k1, b=b),
        st.sampled_from(FRACTIONS),
        st.sampled_from([0.0, 0.4, 1.2, 9.0]),
        st.sampled_from([0.0, 0.75, 1.0]),
    ),
    width=st.sampled_from([16, 64, 8192]),
)
@settings(max_examples=3 * settings.default.max_examples)
def test_search_is_that_of_all_documents(seed, documents, words, longest, *, k, model, width):
    index = Index.build(corpus(seed, documents, words, longest + 1))
    texts = queries(seed, 8, words)
    vocabulary = index.encode(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "WIDTH", width)
        found = search_terms(index, index.encode(texts), model, k)
    if not len(vocabulary):
        assert (found[0] == -1).all()
        return
    wanted = rank(index, vocabulary, [[model]], whole_side(index, vocabulary), k=found[0].shape[1])
    assert np.array_equal(found[0], wanted.documents[:, 0, 0])
    assert np.array_equal(found[1], wanted.scores[:, 0, 0])


def test_search_when_all_documents_tie():
    index = Index.build(["the same word"] * 3000)
    vocabulary = index.encode(["same word", "the"])
    for k in (1, 7, 2999):
        documents, _ = search_terms(index, vocabulary, Model.make("bm25"), k)
        wanted = np.argsort(-index.id_order.astype(np.int64))[:k]
        assert np.array_equal(documents, [wanted, wanted])


def test_lengths_that_need_more_than_16_bits():
    # Not counts: for them all loops would be compiled once more.
    long = ["a " * 60_000 + "b " * 50_000, "a b " * 33_000 + "b c", "a b", "b", "c"] * 5
    index = Index.build(long)
    vocabulary = index.encode(["a", "a b", "c a"])
    side = whole_side(index, vocabulary)
    for name in BOUNDED:
        models = [[Model.make(name)]]
        wanted = rank(index, vocabulary, models, side, k=3)
        scores = search_terms(index, vocabulary, models[0][0], 3)[1]
        assert np.array_equal(scores, wanted.scores[:, 0, 0])
        same(rank(index, vocabulary, models, side, k=3, depth=3), wanted)


def sides(index, vocabulary, folds):
    seen = seen_side(index, vocabulary, folds != 1)
    unseen = np.where(folds == 1, 0, -1).astype(np.int32)
    return [
        whole_side(index, vocabulary),
        seen,
        replace(seen, statistics=unseen, lists=np.zeros_like(folds), added=True),
        held_out_side(index, vocabulary, folds, 3),
        held_out_side(index, vocabulary, folds, 3, pooled=True),
    ]


SETTINGS = {
    "bm25-plus": {"k1": [0.0, 1.2], "b": [0.0, 0.7], "delta": [0.5]},
    "bm25-l": {"k1": [0.3, 2.0], "b": [0.2, 1.0]},
    "tf-idf": {"s": [0.0, 0.4, 1.0]},
    "pivoted": {"s": [0.0, 0.2]},
}


@given(
    seed=st.integers(0, 2**16),
    documents=st.integers(5, 500),
    words=st.integers(1, 40),
    k=st.integers(1, 30),
    name=st.sampled_from(BOUNDED),
    which=st.integers(0, 4),
)
@settings(max_examples=3 * settings.default.max_examples)
def test_the_top_is_that_of_all_documents(seed, documents, words, k, name, which):
    index = Index.build(corpus(seed, documents, words, 20))
    vocabulary = index.encode(queries(seed, 6, words))
    if not len(vocabulary):
        return
    rng = np.random.default_rng([seed, 2])
    side = sides(index, vocabulary, (rng.integers(4, size=documents) - 1).astype(np.int32))[which]
    models = [grid(name, **SETTINGS.get(name, {"k1": [0.2, 1.5, 3.0], "b": [0.0, 0.9]}))]
    judged = JudgedDocuments(
        np.arange(7, dtype=np.int64) * 4, rng.integers(documents, size=24).astype(np.int32)
    )
    wanted = rank(index, vocabulary, models, side, k=k, judged=judged)
    found = rank(index, vocabulary, models, side, k=k, judged=judged, depth=k)
    same(found, wanted)
    assert np.array_equal(found.ranks, np.where(wanted.ranks <= k, wanted.ranks, 0))
    assert np.array_equal(found.retrieved, np.minimum(wanted.retrieved, k))


def test_folds_with_values_of_their_own_and_many_settings():
    index = Index.build(corpus(3, 900, 50, 30))
    vocabulary = index.encode(queries(3, 12, 50))
    side = held_out_side(index, vocabulary, (np.arange(900) % 3).astype(np.int32), 3, pooled=True)
    chosen = [[model] for model in grid("bm25", k1=[0.3, 1.2, 4.0], b=[0.5])]
    many = [grid("bm25", k1=np.linspace(0, 3, 10).tolist(), b=[0.0, 0.3, 0.6, 1.0])]
    for models in (chosen, many):
        wanted = rank(index, vocabulary, models, side, k=5)
        same(rank(index, vocabulary, models, side, k=5, depth=5), wanted)
