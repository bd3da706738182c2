"""Intervals for new documents at equal size: how often they cover, and how wide they are.

BM25 with fixed parameters (k1 = 1, b = 0.5), 5 folds. The documents are shuffled and cut into two
halves; each is the sample once, and the score on the other is the truth. Standard errors are
clustered by shuffle. With ``--tuned`` BM25 is tuned over 20 × 20 values in each fold (nDCG@10),
and a line says how much worse the choices of the folds are on the unseen documents than the choice
from the whole sample.

    python benchmarks/equal_size.py CRANFIELD SCIFACT MED CACM pydocs
    python benchmarks/equal_size.py --tuned --shuffles 100 --seed 7 [--folds 10] CACM

Of pydocs 200 random queries are used. Documents with the same text are not grouped.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from bias_study import FIXED, GRID, some_queries
from heldout.data.collection_files import read_collection
from heldout.experiment.documents.candidates import Candidates, choose_in_folds
from heldout.experiment.documents.lists import measure_lists
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.uncertainty import document_spread, interval
from heldout.experiment.studies.bias import standard_error
from heldout.measure.names import parse_measure
from heldout.retrieve.index import Index
from heldout.retrieve.sides import Side
from heldout.retrieve.statistics import cell_statistics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MEASURES = [parse_measure(name, "ranking") for name in ("nDCG@10", "AP", "P@10", "RR")]
REPLICATES = 100


def one_sample(
    candidates: Candidates, options: argparse.Namespace, draw: int
) -> tuple[list[list[float]], float]:
    """Rows of error, variance and whether the interval covers, by measure; the cost of choices."""
    measures = MEASURES[:1] if options.tuned else MEASURES
    index, table, depth = candidates.index, candidates.table, candidates.depth
    n = index.n_documents
    shuffle, part = divmod(draw, 2)
    order = np.random.default_rng([options.seed, shuffle]).permutation(n)
    order = np.roll(order, -part * (n // 2))
    folds = np.full(n, -1, np.int32)
    folds[order[: n // 2]] = np.arange(n // 2) % options.folds
    sample = folds >= 0
    each, final = choose_in_folds(candidates, folds, options.folds, MEASURES[0])
    chosen = [choice.number for choice in each]
    pooled = pool(candidates, folds, chosen, final.number, depth)
    counted = sample[table.documents]
    values = measure_lists(table, pooled, counted, measures, depth)
    known = cell_statistics(index, candidates.vocabulary, np.where(sample, 0, -1).astype("i4"), 1)
    ranked = np.where(sample, -1, 0).astype(np.int32)
    side = Side(ranked, np.zeros_like(ranked), 1, known, added=True, relative=True)
    asked = [final.number, *chosen]
    truth = np.nanmean(candidates.evaluate(side, measures, asked), axis=2)  # measures × choices
    spreads = document_spread(
        table, pooled.documents, np.flatnonzero(sample).astype(np.int32), measures, values,
        depth=depth, replicates=REPLICATES, seed=draw,
    )  # fmt: skip
    rows = []
    for measure, value, spread, right in zip(
        measures, np.nanmean(values, axis=1), spreads, truth[:, 0], strict=True
    ):
        low, high = interval(float(value), spread, "documents", bounds=measure.range)
        rows.append([value - right, spread.variance("documents"), float(low <= right <= high)])
    return rows, float((truth[0, 1:] - truth[0, 0]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collections", nargs="+", help="names or paths")
    parser.add_argument("--shuffles", type=int, default=200)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tuned", action="store_true")
    options = parser.parse_args()
    shuffles = np.repeat(np.arange(options.shuffles), 2)

    def shown(values: Floats) -> str:
        return f"{values.mean():+.4f} ± {standard_error(values, shuffles):.4f}"

    print("| collection | measure | samples | bias ± se | RMSE | V / actual | covers ± se |")
    print("|---|---|---|---|---|---|---|")
    for source in options.collections:
        collection = some_queries(read_collection(source), 200 if source == "pydocs" else None)
        index = Index.build(collection.documents)
        candidates = Candidates.make(index, collection, GRID if options.tuned else FIXED)
        found = [one_sample(candidates, options, draw) for draw in range(len(shuffles))]
        for row in range(len(found[0][0])):
            measure = MEASURES[row]
            error, variance, covers = np.array([one[row] for one, _ in found]).T
            print(
                f"| {collection.name} | {measure} | {len(error)} | {shown(error)} "
                f"| {np.sqrt((error**2).mean()):.4f} | {variance.mean() / error.var():.2f} "
                f"| {covers.mean():.1%} ± {standard_error(covers, shuffles):.1%} |",
                flush=True,
            )
        if options.tuned:
            print(f"\nchoices of the folds: {shown(np.array([cost for _, cost in found]))}\n")


if __name__ == "__main__":
    main()
