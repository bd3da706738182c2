"""Ranking by vectors: equal to a plain loop, for any size of blocks, with ties by id."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import Embeddings, rank_vectors, read_embeddings
from heldout.retrieve import dense
from refusals import refusal


def _plain(documents, queries, metric, k):
    """The definition: all pairs, one after another, in exact sums."""
    found = {}
    for query, mine in zip(queries.ids, queries.values.tolist(), strict=True):
        scored = []
        for document, its in zip(documents.ids, documents.values.tolist(), strict=True):
            score = math.fsum(a * b for a, b in zip(mine, its, strict=True))
            if metric == "cosine":
                norms = math.hypot(*mine) * math.hypot(*its)
                score = score / norms if norms else 0.0
            scored.append((score, document.encode(), document))
        found[query] = [name for _, _, name in sorted(scored, reverse=True)[:k]]
    return found


def _ranked(documents, queries, metric, k):
    run = rank_vectors(documents, queries, metric=metric, k=k)
    return {query: list(docs) for query, docs in run.to_dict().items()}


@pytest.mark.parametrize("metric", ["cosine", "ip"])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8])
def test_it_equals_a_plain_loop(metric, kind, monkeypatch):
    monkeypatch.setattr(dense, "_NUMBERS", 100)  # many blocks
    rng = np.random.default_rng(3)
    values = rng.normal(size=(83, 7)) * 20
    documents = Embeddings([f"d{n}" for n in range(83)], values.astype(kind))
    queries = Embeddings([f"q{n}" for n in range(9)], (rng.normal(size=(9, 7)) * 20).astype(kind))
    if kind is not np.int8:  # a loop in another order rounds ties of cosines otherwise
        assert _ranked(documents, queries, metric, 10) == _plain(documents, queries, metric, 10)
    elif metric == "ip":  # exact in integers, with ties
        assert _ranked(documents, queries, metric, 83) == _plain(documents, queries, metric, 83)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 30), numbers=st.sampled_from([1, 17, 1000]))
def test_ties_are_broken_by_id_whatever_the_blocks(seed, k, numbers):
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 2, size=(24, 2)).astype(np.float32)  # few values: many ties
    documents = Embeddings([f"d{n}" for n in rng.permutation(24)], values)
    queries = Embeddings(["a", "b"], rng.integers(-1, 2, size=(2, 2)).astype(np.float32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "_NUMBERS", numbers)
        for metric in ("ip", "cosine"):
            assert _ranked(documents, queries, metric, k) == _plain(documents, queries, metric, k)


def test_single_precision_alone_would_order_close_documents_wrongly():
    # Two scores that differ by less than single precision can tell.
    documents = Embeddings(["a", "b"], np.array([[1.0, 1e-9], [1.0, 0.0]]))
    run = rank_vectors(documents, Embeddings(["q"], [[1.0, 1.0]]), metric="ip", k=1)
    assert run.to_dict() == {"q": {"a": 1.0 + 1e-9}}


def test_large_products_do_not_lose_documents():
    documents = Embeddings(["a", "b", "c"], np.array([[1e30, 0], [2e30, 0], [-1e30, 1e30]]))
    run = rank_vectors(documents, Embeddings(["q"], [[1e30, 1.0]]), metric="ip", k=2)
    assert list(run.to_dict()["q"]) == ["b", "a"]


def test_some_rows_only():
    documents = Embeddings(["a", "b", "c"], [[1.0], [2.0], [3.0]])
    queries = Embeddings(["p", "q"], [[1.0], [-1.0]])
    run = rank_vectors(
        documents, queries, metric="ip", document_rows=np.array([0, 1]), query_rows=np.array([1])
    )
    assert run.to_dict() == {"q": {"a": -1.0, "b": -2.0}}


def test_files_are_mapped_and_their_ids_found(tmp_path):
    path = tmp_path / "docs.npy"
    np.save(path, np.array([[1.0, 2.0], [3.0, 4.0]]))
    (tmp_path / "docs.ids").write_text("a\nb\n")
    read = read_embeddings(path)
    assert isinstance(read.values, np.memmap)
    assert list(read.ids) == ["a", "b"]
    (tmp_path / "docs.ids").rename(tmp_path / "names")
    again = read_embeddings(path, tmp_path / "names")
    assert again.fingerprint() == read.fingerprint()
    (tmp_path / "names").write_text("a\x0cb\r\nc\u2028d\r\n")  # only line feeds end a line
    assert list(read_embeddings(path, tmp_path / "names").ids) == ["a\x0cb", "c\u2028d"]
    assert re.search(r"ids are missing: expected .*docs\.ids", refusal(read_embeddings, path))


WRONG_FILES = [
    ("a\nb\nc\n", [[1.0], [2.0]], "2 vectors, but 3 ids"),
    ("a\na\n", [[1.0], [2.0]], "'a' appears twice"),
    ("a\n\n", [[1.0], [2.0]], "document 2 has an empty id"),
    ("a\nb\n", [1.0, 2.0], "one row per vector, found an array of float64 with shape (2,)"),
    ("a\nb\n", [["x"], ["y"]], "expected a table of numbers"),
    ("a\nb\n", [[None], [{}]], "not a NumPy file of numbers"),
]


def test_wrong_vectors_are_refused(tmp_path):
    path = tmp_path / "docs.npy"
    for ids, values, message in WRONG_FILES:
        np.save(path, np.array(values))
        (tmp_path / "docs.ids").write_text(ids)
        assert message in refusal(read_embeddings, path)
    path.write_text("hello")
    assert "not a NumPy file" in refusal(read_embeddings, path)
    assert "no such file" in refusal(read_embeddings, tmp_path / "none.npy")
    good = Embeddings(["q"], [[1.0, 2.0]])
    bad = Embeddings(["a", "b"], [[1.0, 2.0], [np.nan, 0.0]])
    said = refusal(rank_vectors, bad, good)
    assert "vector of b (row 2) has a number that is NaN" in said
    large = Embeddings(["a"], [[1e300, 0]])
    assert "too large for 32 bits" in refusal(rank_vectors, large, good)
    wide = Embeddings(["a"], [[1, 0, 0]], "wide")
    assert "wide has 3 dimensions, vectors has 2" in refusal(rank_vectors, wide, good)
    assert "expected cosine or ip" in refusal(rank_vectors, good, good, metric="l2")
