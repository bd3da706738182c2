"""Experiments through the public API on synthetic documents, against one pass of bm25s.

In one process, on one index that is built before: a bm25s (Numba) pass over the queries; 5 document
folds x a 3 x 3 grid of BM25, chosen on every training side, nDCG@10 and AP, with intervals from 100
replicates; the same with 1,000 replicates; 10 query folds x 11 values of query likelihood. If all
folds choose the same parameters, the held-out values are checked against those of an experiment
with these parameters alone.

    python benchmarks/experiment.py [--documents 164000] [--queries 150]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.collection import Collection
from heldout.experiment.experiment import Experiment
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model
from heldout.retrieve.search import search_terms
from zipf import make_zipf

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.experiment.results.results import Results

MEASURES = ["nDCG@10", "AP"]
TUNED = "bm25(k1=1,1.75,2.5, b=0,0.25,0.5)"


def timed(task: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter()
        result = task()
        best = min(best, time.perf_counter() - start)
    return best, result


def judged(index: Index, queries: list[str]) -> dict[str, dict[str, int]]:
    """Twenty of the two hundred best documents of each query, drawn at random."""
    rng = np.random.default_rng(3)
    found, _ = search_terms(index, index.encode(queries), Model.make("bm25"), 200)
    return {
        f"q{q}": {str(d): int(rng.integers(1, 4)) for d in rng.permutation(row[row >= 0])[:20]}
        for q, row in enumerate(found)
    }


def bm25s_pass(texts: list[str], queries: list[str], rounds: int) -> tuple[float, float]:
    bm25s: Any = import_module("bm25s")
    tokens = [text.split() for text in texts]
    engine = bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend="numba")
    engine.index(tokens, show_progress=False)
    asked = [query.split() for query in queries]

    def search(k: int) -> Any:
        return engine.retrieve(asked, k=k, show_progress=False, n_threads=1)

    search(10)
    return timed(lambda: search(10), rounds)[0], timed(lambda: search(1000), rounds)[0]


def by_documents(index: Index, collection: Collection, system: str, replicates: int) -> Results:
    """Five document folds; every replicate of the interval leaves out a part of the documents."""
    return Experiment(
        collection=collection,
        systems=system,
        by="document",
        measures=MEASURES,
        replicates=replicates,
        index=index,
    ).run()


def by_queries(index: Index, collection: Collection) -> Results:
    return Experiment(
        collection=collection,
        systems="ql-jm(lambda=0:1:11)",
        measures=MEASURES[:1],
        index=index,
    ).run()


def check(index: Index, collection: Collection, tuned: Results) -> None:
    """The held-out values must be those of the chosen parameters alone, if all folds agree."""
    chosen = tuned.chosen("bm25")
    if all(point == chosen[0] for point in chosen):
        values = ", ".join(f"{name}={value}" for name, value in chosen[0].items())
        alone = by_documents(index, collection, f"bm25({values})", 100)
        assert alone.values["value"].equals(tuned.values["value"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=164_000)
    parser.add_argument("--queries", type=int, default=150, choices=(150, 1000))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = make_zipf(Path(place) / "zipf", options.documents)
        texts = (folder / "docs.dat").read_text().splitlines()
        queries = (folder / f"queries-{options.queries}.txt").read_text().splitlines()
    index = Index.build(texts)
    collection = Collection(
        texts, {f"q{q}": text for q, text in enumerate(queries)}, judged(index, queries)
    )
    by_documents(index, collection, TUNED, 100)
    by_queries(index, collection)
    seconds, tuned = timed(lambda: by_documents(index, collection, TUNED, 100), options.rounds)
    check(index, collection, tuned)
    more, _ = timed(lambda: by_documents(index, collection, TUNED, 1000), 1)
    asked, _ = timed(lambda: by_queries(index, collection), options.rounds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    top, deep = bm25s_pass(texts, queries, options.rounds)
    print(f"{len(texts):,} documents, {len(queries)} queries; peak before bm25s {peak:,.0f} MB")
    print(f"bm25s-numba, one pass: top 10 {top:.3f} s, top 1000 {deep:.3f} s")
    for name, value in (
        ("5 document folds x 9 values, tuned, nDCG@10 and AP, 100 replicates", seconds),
        ("the same with 1,000 replicates for the interval", more),
        ("10 query folds x 11 values of query likelihood", asked),
    ):
        print(f"{name}: {value:.2f} s = {value / top:.1f} / {value / deep:.1f} passes")


if __name__ == "__main__":
    main()
