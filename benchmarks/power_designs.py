"""Measure with which power of the amount of data the standard error of a difference falls.

Plans for documents and for rows under folds rest on it (`heldout.infer.power`). Measured:

- documents: the half-sample standard error of the difference between two models in pooled
  estimates on random quarters, halves and the whole of a collection, times the root of the size;
- folds: the corrected resampled standard error of the difference in accuracy between nearest
  centroids in five dimensions and in two, ten folds of n rows, times the root of n.

All numbers are relative to the largest amount: 1 means that the error falls with the square root.
The rate is the power with which it falls from this amount to the largest.

    python benchmarks/power_designs.py pydocs [collection ...] [--draws 20] [--measure AP]
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.collection_files import read_collection
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.uncertainty import document_spread
from heldout.measure.names import parse_measure
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model

if TYPE_CHECKING:
    from heldout.data.words import Flags, Floats
    from heldout.measure.base import Measure

FOLDS, DEPTH = 5, 1000


def document_error(
    candidates: Candidates, measure: Measure, share: float, seed: list[int]
) -> float:
    """Jackknife standard error of the difference between both models on a part of documents."""
    table, n = candidates.table, candidates.index.n_documents
    order = np.random.default_rng(seed).permutation(n)
    folds = np.full(n, -1, np.int32)
    size = int(n * share)
    folds[order[:size]] = np.arange(size) % FOLDS
    seen = folds >= 0
    counted = seen[table.documents]
    halves = []
    for model in (0, 1):
        pooled = pool(candidates, folds, (model,) * FOLDS, model, 100)
        merged = table.evaluate(pooled.ranks[:, None], counted, pooled.retrieved, [measure], DEPTH)
        spread = document_spread(
            table,
            pooled.documents,
            np.flatnonzero(seen).astype(np.int32),
            [measure],
            merged[0],
            depth=DEPTH,
            replicates=200,
            seed=seed[-1],
        )[0]
        halves.append(np.asarray(spread.halves))
    return float(np.sqrt(((halves[0] - halves[1]) ** 2).mean()))


def fold_error(n: int, generator: np.random.Generator) -> float:
    """Variance of the difference over ten folds, corrected."""
    label: Floats = np.where(np.arange(n) % 2, 1.0, -1.0)
    centre = np.array([0.6, 0.3, 0.3, 0.3, 0.3])
    points = generator.standard_normal((n, 5)) + label[:, None] * centre
    fold = generator.permutation(n) % 10
    gaps = []
    for at in range(10):
        train, test = fold != at, fold == at
        scores = [_accuracy(points[:, :d], label, train, test) for d in (5, 2)]
        gaps.append(scores[0] - scores[1])
    return float(np.var(gaps, ddof=1)) * (1 / 10 + 1 / 9)


def _accuracy(points: Floats, label: Floats, train: Flags, test: Flags) -> float:
    means = [points[train & (label == side)].mean(axis=0) for side in (-1, 1)]
    normal, middle = means[1] - means[0], (means[0] + means[1]) / 2
    return float(((points[test] - middle) @ normal * label[test] > 0).mean())


def rate(ratio: float, share: float) -> str:
    """The power with which the error fell from a share of the data to all of them."""
    return "" if share == 1 else f"{0.5 + np.log(ratio) / np.log(1 / share):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="*", default=["pydocs"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--measure", default="nDCG@10")
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    measure = parse_measure(options.measure, "ranking")
    print("| data | amount | standard error × √amount, relative | spread over draws | rate |")
    print("|---|---:|---:|---:|---:|")
    for source in options.collections:
        collection = read_collection(source)
        index = Index.build(collection, Analyzer(stop="english", stemmer="english"))
        models = [Model.make("bm25", k1=1, b=0.5), Model.make("ql-jm")]
        candidates = Candidates.make(index, collection, models, depth=DEPTH)
        whole = document_error(candidates, measure, 1.0, [options.seed, 0])
        for share in (0.25, 0.5, 1.0):
            draws = options.draws if share < 1 else 1
            found = np.array(
                [
                    document_error(candidates, measure, share, [options.seed, d])
                    for d in range(draws)
                ]
            )
            ratio = found * np.sqrt(share) / whole
            print(
                f"| {collection.name} | {int(share * index.n_documents):,} documents "
                f"| {np.sqrt((ratio**2).mean()):.3f} | {ratio.std():.3f} "
                f"| {rate(float(np.sqrt((ratio**2).mean())), share)} |",
                flush=True,
            )
    generator = np.random.default_rng(options.seed)
    sizes = (100, 200, 400, 800)
    variance = {
        n: np.array([fold_error(n, generator) for _ in range(50 * options.draws)]) for n in sizes
    }
    largest = np.sqrt(sizes[-1] * variance[sizes[-1]].mean())
    for n in sizes:
        ratio = np.sqrt(n * variance[n].mean()) / largest
        spread = np.sqrt(n * variance[n]).std() / largest
        print(
            f"| nearest centroids, 10 folds | {n} rows | {ratio:.3f} | {spread:.3f} "
            f"| {rate(float(ratio), n / sizes[-1])} |"
        )


if __name__ == "__main__":
    main()
