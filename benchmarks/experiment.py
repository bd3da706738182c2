"""Experiments through the public API on synthetic documents, against one pass of bm25s.

In one process, on one index that is built before: a bm25s (Numba) pass over the queries; 5 document
folds x a 3 x 3 grid of BM25, chosen on every train side, nDCG@10 and AP; the same with a two-way
interval from 1,000 cuts of the documents into halves; 10 query folds x 11 values of query
likelihood. The held-out values of the folds are checked against lists that are ranked one fold and
one value at a time.

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
from heldout.experiment.documents.cross_validate import cross_validate_documents
from heldout.experiment.experiment import Experiment
from heldout.measure.names import parse_measure
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model, grid
from heldout.retrieve.search import search_terms
from zipf import make_zipf

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURES = ["nDCG@10", "AP"]


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


def check(index: Index, collection: Collection, folds: np.ndarray, found: Any) -> None:
    """The held-out values must be those of lists that are ranked by one value at a time."""
    for number in {*found.chosen}:
        own = np.where(np.isin(folds, [f for f, v in enumerate(found.chosen) if v == number]), 1, 0)
        assert own.any()
    if len(set(found.chosen)) == 1:
        alone = cross_validate_documents(
            index,
            collection,
            [GRID[found.chosen[0]]],
            folds,
            tune_for=parse_measure(MEASURES[0], "ranking"),
            measures=[parse_measure(one, "ranking") for one in MEASURES],
            replicates=2,
        )
        assert np.array_equal(alone.values, found.values, equal_nan=True)


GRID = grid("bm25", k1=[1, 1.75, 2.5], b=[0, 0.25, 0.5])


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
    folds = (np.random.default_rng(0).permutation(len(texts)) % 5).astype(np.int32)
    measures = [parse_measure(one, "ranking") for one in MEASURES]

    def by_documents(replicates: int) -> Any:
        return cross_validate_documents(
            index,
            collection,
            GRID,
            folds,
            tune_for=measures[0],
            measures=measures,
            replicates=replicates,
        )

    def by_queries() -> Any:
        return Experiment(
            collection=collection,
            systems="ql-jm(lambda=0:1:11)",
            plan={"folds": 10},
            measures=MEASURES[:1],
            index=index,
        ).run()

    by_documents(2)
    by_queries()
    seconds, found = timed(lambda: by_documents(2), options.rounds)
    check(index, collection, folds, found)
    both, _ = timed(lambda: by_documents(1000), 1)
    asked, _ = timed(by_queries, options.rounds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    top, deep = bm25s_pass(texts, queries, options.rounds)
    print(f"{len(texts):,} documents, {len(queries)} queries; peak before bm25s {peak:,.0f} MB")
    print(f"bm25s-numba, one pass: top 10 {top:.3f} s, top 1000 {deep:.3f} s")
    for name, value in (
        ("5 document folds x 9 values, tuned, nDCG@10 and AP", seconds),
        ("the same with 1,000 halvings for a two-way interval", both),
        ("10 query folds x 11 values of query likelihood", asked),
    ):
        print(f"{name}: {value:.2f} s = {value / top:.1f} / {value / deep:.1f} passes")


if __name__ == "__main__":
    main()
