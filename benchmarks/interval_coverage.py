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

from harness import show
from heldout.data.collection_files import read_collection
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.lists import measure_lists
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.rank_table import RankTable
from heldout.experiment.documents.uncertainty import Spread, document_spread
from heldout.experiment.studies.bias import coverage_error, unseen_values
from heldout.measure.names import parse_measure
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model

MEASURE = parse_measure("nDCG@10", "ranking")
FOLDS, DEPTH, Z = 5, 1000, 1.959964
MODELS = Model.make("bm25", k1=1, b=0.5), Model.make("ql-dirichlet", mu=1000)


def noise(values: np.ndarray) -> float:
    return float(values.var(ddof=1) / len(values))


def divide(candidates: Candidates, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """The folds of half of the documents (-1: not in the sample), and half of the queries."""
    n, queries = candidates.index.n_documents, candidates.table.n_queries
    generator = np.random.default_rng([5, draw])
    folds = np.full(n, -1, np.int32)
    folds[generator.permutation(n)[: n // 2]] = np.arange(n // 2) % FOLDS
    asked = np.zeros(queries, np.bool_)
    asked[generator.permutation(queries)[: queries // 2]] = True
    return folds, asked


def sampled(
    candidates: Candidates, folds: np.ndarray, asked: np.ndarray, draw: int
) -> tuple[np.ndarray, np.ndarray, Spread]:
    """Pooled values of all queries, unseen values, and the spread of the asked ones."""
    table, seen = candidates.table, folds >= 0
    pooled = pool(candidates, folds, (0,) * FOLDS, 0, 100)
    merged = measure_lists(table, pooled, seen[table.documents], [MEASURE], DEPTH)[0]
    kept = asked[table.queries]
    own = RankTable(table.queries[kept], table.documents[kept], table.grades[kept], table.n_queries)
    values = np.where(asked, merged, np.nan)[None]
    sample = np.flatnonzero(seen).astype(np.int32)
    (spread,) = document_spread(
        own, pooled.documents, sample, [MEASURE], values, depth=DEPTH, replicates=60, seed=draw
    )
    return merged, unseen_values(candidates, seen, ~seen, 0, MEASURE), spread


def one_draw(
    candidates: Candidates, other: Candidates, draw: int
) -> dict[str, tuple[float, float]]:
    """Difference from the truth, and the variance that is expected of it."""
    folds, asked = divide(candidates, draw)
    merged, unseen, spread = sampled(candidates, folds, asked, draw)
    estimate = np.nanmean(merged[asked])
    same, others, new = (
        one[np.isfinite(one)] for one in (unseen[asked], unseen[~asked], merged[~asked])
    )
    errors, halves = [], []
    for one in (candidates, other):
        values, truths, both = sampled(one, folds, np.ones_like(asked), draw)
        errors.append(np.nanmean(values) - np.nanmean(truths))
        halves.append(np.array(both.halves))
    return {
        "documents": (estimate - same.mean(), spread.variance("documents")),
        "queries": (estimate - new.mean(), spread.variance("queries") + noise(new)),
        "both": (estimate - others.mean(), spread.variance("both") + noise(others)),
        "difference": (errors[0] - errors[1], 2 * float(((halves[0] - halves[1]) ** 2).mean())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="*", default=["pydocs"])
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    for source in options.collections:
        collection = read_collection(source)
        index = Index.build(collection, Analyzer(stop="english", stemmer="english"))
        candidates, other = (
            Candidates.make(index, collection, [model], depth=DEPTH) for model in MODELS
        )
        found = [one_draw(candidates, other, draw) for draw in range(options.draws)]
        rows = []
        for estimand in found[0]:
            error, variance = np.array([one[estimand] for one in found]).T
            covers = np.abs(error) <= Z * np.sqrt(variance)
            # Every draw divides documents and queries by a seed of its own: no two are paired.
            se = coverage_error(covers.tolist(), np.arange(len(covers)), 0.95)
            spreads = (f"{error.std():.4f}", f"{np.sqrt(variance.mean()):.4f}")
            rows.append([estimand, *spreads, f"{covers.mean():.1%} ± {se:.1%}"])
        show(collection.name, ["estimand", "spread of the error", "expected", "covered"], rows)


if __name__ == "__main__":
    main()
