"""How often 95 % intervals of pooled estimates hold a truth that is drawn for their estimand.

In every draw half of the documents and half of the queries are the sample. The truth is

- documents: the same queries on the other documents;
- queries: the other queries on the same documents;
- both: the other queries on the other documents;
- difference: the same queries on the other documents, BM25 minus query likelihood (Dirichlet).

The other queries are as few as the sample's, so the variance of their own mean is added to that of
the interval, which is for the expected score of all queries.

    python benchmarks/interval_coverage.py pydocs cranfield-folder scifact-folder [--draws 200]
"""

from __future__ import annotations

import argparse

import numpy as np

from heldout.data.collection_files import read_collection
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.lists import measure_lists
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.uncertainty import document_spread
from heldout.experiment.studies.bias import coverage_error, unseen_values
from heldout.measure.names import parse_measure
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model

MEASURE = parse_measure("nDCG@10", "ranking")
FOLDS, DEPTH, Z = 5, 1000, 1.959964


def noise(values: np.ndarray) -> float:
    return float(values.var(ddof=1) / len(values))


def difference(candidates: Candidates, other: Candidates, draw: int) -> tuple[float, float]:
    """Of two systems on all queries: difference from the truth, and its expected variance."""
    n = candidates.index.n_documents
    order = np.random.default_rng([5, draw]).permutation(n)
    folds = np.full(n, -1, np.int32)
    folds[order[: n // 2]] = np.arange(n // 2) % FOLDS
    seen = folds >= 0
    error, scaled = [], []
    for one in (candidates, other):
        pooled = pool(one, folds, (0,) * FOLDS, 0, 100)
        counted = seen[one.table.documents]
        values = measure_lists(one.table, pooled, counted, [MEASURE], DEPTH)
        spread = document_spread(
            one.table,
            pooled.documents,
            np.flatnonzero(seen).astype(np.int32),
            [MEASURE],
            values,
            depth=DEPTH,
            replicates=60,
            seed=draw,
        )[0]
        unseen = unseen_values(one, seen, ~seen, 0, MEASURE)
        error.append(float(np.nanmean(values) - np.nanmean(unseen)))
        scaled.append(np.array(spread.halves))
    return error[0] - error[1], 2 * float(((scaled[0] - scaled[1]) ** 2).mean())


def one_draw(candidates: Candidates, draw: int) -> dict[str, tuple[float, float]]:
    """Difference from the truth, and the variance that is expected of it."""
    table, n = candidates.table, candidates.index.n_documents
    generator = np.random.default_rng([5, draw])
    order = generator.permutation(n)
    folds = np.full(n, -1, np.int32)
    folds[order[: n // 2]] = np.arange(n // 2) % FOLDS
    seen = folds >= 0
    asked = np.zeros(table.n_queries, np.bool_)
    asked[generator.permutation(table.n_queries)[: table.n_queries // 2]] = True
    pooled = pool(candidates, folds, (0,) * FOLDS, 0, 100)
    counted = seen[table.documents]
    merged = measure_lists(table, pooled, counted, [MEASURE], DEPTH)[0]
    unseen = unseen_values(candidates, seen, ~seen, 0, MEASURE)
    kept = asked[table.queries]
    own = RankTable(table.queries[kept], table.documents[kept], table.grades[kept], table.n_queries)
    values = np.where(asked, merged, np.nan)
    spread = document_spread(
        own,
        pooled.documents,
        np.flatnonzero(seen).astype(np.int32),
        [MEASURE],
        values[None],
        depth=DEPTH,
        replicates=60,
        seed=draw,
    )[0]
    estimate = np.nanmean(values)
    same, others = unseen[asked], unseen[~asked]
    new = merged[~asked]
    same, others, new = (one[np.isfinite(one)] for one in (same, others, new))
    return {
        "documents": (estimate - same.mean(), spread.variance("documents")),
        "queries": (estimate - new.mean(), spread.variance("queries") + noise(new)),
        "both": (estimate - others.mean(), spread.variance("both") + noise(others)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="*", default=["pydocs"])
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    print("| collection | estimand | spread of the error | expected | covered |")
    print("|---|---|---:|---:|---:|")
    for source in options.collections:
        collection = read_collection(source)
        index = Index.build(collection, Analyzer(stop="english", stemmer="english"))
        model = Model.make("bm25", k1=1, b=0.5)
        candidates = Candidates.make(index, collection, [model], depth=DEPTH)
        found = []
        likelihood = Model.make("ql-dirichlet", mu=1000)
        other = Candidates.make(index, collection, [likelihood], depth=DEPTH)
        for draw in range(options.draws):
            gap = difference(candidates, other, draw)
            found.append(one_draw(candidates, draw) | {"difference": gap})
        for estimand in found[0]:
            error, variance = np.array([one[estimand] for one in found]).T
            covers = np.abs(error) <= Z * np.sqrt(variance)
            # Every draw divides documents and queries by a seed of its own: no two are paired.
            se = coverage_error(covers.tolist(), np.arange(len(covers)), 0.95)
            print(
                f"| {collection.name} | {estimand} | {error.std():.4f} "
                f"| {np.sqrt(variance.mean()):.4f} | {covers.mean():.1%} ± {se:.1%} |"
            )


if __name__ == "__main__":
    main()
