"""Hybrid search (BM25 and latent semantic analysis): what tuning on the test data claims.

Choose normalisation and weight on a few queries, and report the gain over BM25 on the same queries
(claimed), in five folds of them (held out), and on all other queries (real). The vectors are fitted
on all documents, without queries and judgements.

    python benchmarks/hybrid.py pydocs
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from sklearn.decomposition import TruncatedSVD  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

import heldout
from harness import show
from heldout.data.collection_files import read_collection
from heldout.resample.plans import KFold
from heldout.tune.choice import choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.collection import Collection

    Floats = NDArray[np.float64]

NORMS = ("minmax", "max", "sum", "zscore", "rank")
WEIGHTS = [round(at / 20, 2) for at in range(21)]
SAMPLES = (25, 50, 100, 300)


def vectors(collection: Collection, dims: int) -> tuple[heldout.Embeddings, heldout.Embeddings]:
    """Vectors of documents and queries by latent semantic analysis."""
    ids, texts = zip(*collection.documents.pairs(), strict=True)
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    svd = TruncatedSVD(dims, random_state=0)
    documents = svd.fit_transform(words.fit_transform(texts))
    queries = collection.queries
    asked = svd.transform(words.transform(queries.texts))
    return heldout.Embeddings(ids, documents), heldout.Embeddings(queries.ids, asked)


def claims(collection: Collection, options: argparse.Namespace) -> None:
    """Print a table of claimed, held-out and real gains."""
    index = heldout.Index.build(collection.documents)
    lexical = heldout.search(index, collection.queries, "bm25", k=100)
    dense = heldout.rank_vectors(*vectors(collection, options.dims), k=100)
    points = list(product(NORMS, WEIGHTS))
    fused = [
        heldout.fuse([lexical, dense], "wsum", norm=norm, weights=[w, 1 - w]) for norm, w in points
    ]
    table = np.stack([_per_query(collection, run) for run in fused])
    bm25 = _per_query(collection, lexical)
    rows = (_mean_claim(table, bm25, size, options.draws) for size in SAMPLES if size < len(bm25))
    heads = ["queries", "claimed", "held-out", "real", "losses"]
    show(f"{collection.name}: {table.shape[1]} queries, {len(points)} settings", heads, rows)


def _mean_claim(table: Floats, bm25: Floats, size: int, draws: int) -> list[str]:
    rows = np.array([_one_claim(table, bm25, size, draw) for draw in range(draws)])
    losses = f"{(rows[:, 2] < 0).mean():.1%}"
    return [str(size), *(f"{gain:+.4f}" for gain in rows.mean(axis=0)), losses]


def _per_query(collection: Collection, run: heldout.Run) -> Floats:
    return np.asarray(heldout.evaluate(collection.qrels, run, ["nDCG@10"]).per_unit())


def _one_claim(table: Floats, bm25: Floats, size: int, draw: int) -> tuple[float, float, float]:
    """Gains over BM25: on the tuning queries, held out in folds of them, on other queries."""
    order = np.random.default_rng([size, draw]).permutation(table.shape[1])
    mine, others = order[:size], order[size:]
    best = int(table[:, mine].mean(axis=1).argmax())
    splits = KFold(5, seed=draw).splits([str(at) for at in range(size)])
    chosen = [choose(table[:, mine], split.train) for split in splits]
    sums = [
        table[one.number, mine[split.test > 0]].sum()
        for one, split in zip(chosen, splits, strict=True)
    ]
    held_out = sum(sums) / size
    return (
        float((table[best, mine] - bm25[mine]).mean()),
        float(held_out - bm25[mine].mean()),
        float((table[best, others] - bm25[others]).mean()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="+", help="names or paths")
    parser.add_argument("--draws", type=int, default=2000, help="samples of queries")
    parser.add_argument("--dims", type=int, default=300)
    options = parser.parse_args()
    for source in options.collections:
        claims(read_collection(source), options)


if __name__ == "__main__":
    main()
