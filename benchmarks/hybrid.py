"""Hybrid search (BM25 and latent semantic analysis): what tuning on the test data claims.

``queries``: choose normalisation and weight on a few queries, and report the gain over BM25 on the
same queries (claimed), in five folds of them (held out), and on all other queries (real).

``documents``: the documents are shuffled and cut into two halves; each is the sample once. Fusions
are tuned in five document folds of the sample; the truth is the score of the selected parameters on
the other half. Standard errors are clustered by shuffle. The vectors are those of a fixed model:
they are fitted on all documents, without queries and judgements.

    python benchmarks/hybrid.py queries pydocs
    python benchmarks/hybrid.py documents --shuffles 100 CRANFIELD
    python benchmarks/hybrid.py documents --shuffles 25 --queries 300 SCIFACT pydocs
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.decomposition import TruncatedSVD  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]

import heldout
from bias_study import some_queries
from harness import show
from heldout.data.collection import Collection
from heldout.data.collection_files import read_collection
from heldout.experiment.studies.bias import standard_error
from heldout.resample.plans import KFold
from heldout.tune.choice import choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NORMS = ("minmax", "max", "sum", "zscore", "rank")
WEIGHTS = [round(at / 20, 2) for at in range(21)]
SAMPLES = (25, 50, 100, 300)
SYSTEMS = (
    "minmax=wsum(bm25, lsa, norm=minmax, w=0:1:11)",
    "zscore=wsum(bm25, lsa, norm=zscore, w=0:1:11)",
    "rank=wsum(bm25, lsa, norm=rank, w=0:1:11)",
    "rrf=rrf(bm25, lsa, k=1,10,60)",
)


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


def part_of(collection: Collection, rows: NDArray[np.int64]) -> Collection:
    """A collection of some of the documents, with their judgements."""
    pairs = list(collection.documents.pairs())
    ids, texts = zip(*(pairs[at] for at in rows.tolist()), strict=True)
    known = set(ids)
    judged = {
        query: {one: grade for one, grade in grades.items() if one in known}
        for query, grades in collection.qrels.to_dict().items()
    }
    qrels = heldout.Qrels.of({query: one for query, one in judged.items() if one})
    documents = dict(zip(ids, texts, strict=True))
    return Collection(documents, collection.queries, qrels, name=collection.name)


def one_sample(
    sample: Collection, others: Collection, dense: tuple[heldout.Embeddings, heldout.Embeddings]
) -> Floats:
    """Systems × (held-out estimate, training score) − score on the other documents."""
    lsa = heldout.System.of("vectors", "lsa", parts=dense)
    results = heldout.Experiment(
        collection=sample,
        systems=["bm25(k1=0.5:2:4)", lsa, *SYSTEMS],
        by="document",
        plan=KFold(5),
        measures=["nDCG@10"],
        replicates=100,
    ).run()
    shipped = {one["name"]: one["ship"] or {} for one in results.summary}
    index = heldout.Index.build(others.documents)
    model = f"bm25(k1={shipped['bm25']['k1']:g})"
    documents = dense[0].rows(others.documents.ids, "documents")
    parts = [
        heldout.search(index, others.queries, model),
        heldout.rank_vectors(*dense, document_rows=documents),
    ]
    rows = []
    for name in results.systems:
        run = dict(zip(("bm25", "lsa"), parts, strict=True)).get(name)
        if run is None:
            run = _fused(parts, name, shipped[name])
        truth = float(heldout.evaluate(others.qrels, run, ["nDCG@10"]).value())  # type: ignore[arg-type]
        estimate = results.estimate(name, "nDCG@10")
        scores = (estimate["value"], estimate["train"])
        rows.append([np.nan if one is None else float(one) - truth for one in scores])
    return np.array(rows)


def _fused(parts: list[heldout.Run], name: str, given: dict[str, Any]) -> heldout.Run:
    if "w" in given:
        weights = [given["w"], 1 - given["w"]]
        return heldout.fuse(parts, "wsum", norm=name, weights=weights, depth=1000)
    return heldout.fuse(parts, name, k=given.get("k"), depth=1000)


def new_documents(collection: Collection, options: argparse.Namespace) -> None:
    """Print the bias of each system at equal size."""
    dense, size = vectors(collection, options.dims), len(collection.documents)
    found = []
    for shuffle in range(options.shuffles):
        order = np.random.default_rng([options.seed, shuffle]).permutation(size)
        halves = [part_of(collection, order[: size // 2]), part_of(collection, order[size // 2 :])]
        found += [one_sample(one, other, dense) for one, other in (halves, halves[::-1])]
    table, shuffles = np.stack(found), np.repeat(np.arange(options.shuffles), 2)
    names = ["bm25", "lsa", *(text.partition("=")[0] for text in SYSTEMS)]
    rows = [
        [
            name,
            *(f"{one.mean():+.4f} ± {standard_error(one, shuffles):.4f}" for one in table[:, at].T),
        ]
        for at, name in enumerate(names)
    ]
    title = f"{collection.name}: {len(table)} samples"
    show(title, ["system", "held-out − truth", "training − truth"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("what", choices=["queries", "documents"])
    parser.add_argument("collections", nargs="+", help="names or paths")
    parser.add_argument("--draws", type=int, default=2000, help="samples of queries")
    parser.add_argument("--shuffles", type=int, default=25)
    parser.add_argument("--queries", type=int, help="random queries to use (default: all)")
    parser.add_argument("--dims", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for source in options.collections:
        collection = some_queries(read_collection(source), options.queries)
        (claims if options.what == "queries" else new_documents)(collection, options)


if __name__ == "__main__":
    main()
