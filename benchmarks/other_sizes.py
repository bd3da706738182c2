"""Estimates for a larger target: bias, coverage, and the model's own error.

BM25 with fixed parameters (k1 = 1, b = 0.5), nDCG@10. A third or a sixth of the documents is the
sample, and the score on the others is the truth (see `heldout.experiment.studies.bias`). All parts
of a shuffle are the sample in turn, and standard errors are clustered by shuffle.

The intervals add the variance (c · ln ratio / ln 5)² for the error of the model. Coverage is shown
without it, with the c of the library, and with a c from the biases of the *other* collections alone
(root of the mean of bias² − se² at five times the size): what to expect on a collection that had no
part in choosing it.

    python benchmarks/other_sizes.py --shuffles 20 CRANFIELD SCIFACT MED CACM pydocs

Of pydocs 200 random queries are used. `--folder` keeps the replicates of each collection and size,
and reads them again.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bias_study import FIXED, some_queries
from heldout.data.collection_files import read_collection
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.estimates import resized_means
from heldout.experiment.documents.extrapolate import model_variance
from heldout.experiment.documents.lists import measure_lists
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.uncertainty import Spread, document_spread, interval
from heldout.experiment.studies.bias import standard_error, unseen_values
from heldout.measure.names import parse_measure
from heldout.retrieve.index import Index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MEASURE = parse_measure("nDCG@10", "ranking")
PARTS = {2: 3, 5: 6}
"""The ratio of target to sample, and the number of parts that a shuffle is cut into."""
FOLDS, REPLICATES, SEED = 5, 60, 0
COLUMNS = "shuffle,estimate,truth,variance,queries,ratio"


def replicates(candidates: Candidates, parts: int, shuffles: int) -> Floats:
    """One row for each sample: see COLUMNS."""
    return np.array(
        [
            one_sample(candidates, parts, shuffle, part)
            for shuffle in range(shuffles)
            for part in range(parts)
        ]
    )


def one_sample(candidates: Candidates, parts: int, shuffle: int, part: int) -> list[float]:
    table, n = candidates.table, candidates.index.n_documents
    size = n // parts
    order = np.roll(np.random.default_rng([SEED, shuffle]).permutation(n), -part * size)
    folds = np.full(n, -1, np.int32)
    folds[order[:size]] = np.arange(size) % FOLDS
    sample, seed = folds >= 0, SEED + shuffle * parts + part
    chosen, ratio = (0,) * FOLDS, (n - size) / size
    pooled = pool(candidates, folds, chosen, 0, candidates.depth)
    counted = sample[table.documents]
    values = measure_lists(table, pooled, counted, [MEASURE], candidates.depth)
    estimate = resized_means(candidates, folds, chosen, pooled, [MEASURE], ratio, seed=seed)[0]
    spread = document_spread(
        table, pooled.documents, np.flatnonzero(sample).astype(np.int32), [MEASURE], values,
        depth=candidates.depth, replicates=REPLICATES, seed=seed, ratio=ratio,
    )[0]  # fmt: skip
    truth = np.nanmean(unseen_values(candidates, sample, ~sample, 0, MEASURE))
    variance = spread._replace(model=0.0).variance("documents")
    return [shuffle, estimate, truth, variance, spread.n_queries, ratio]


def bias(rows: Floats) -> tuple[float, float]:
    """The mean error, and its standard error."""
    error = rows[:, 1] - rows[:, 2]
    return float(error.mean()), standard_error(error, rows[:, 0].astype(np.int64))


def model_error(found: Sequence[Floats]) -> float:
    """The c of some collections: how their biases spread, less what is noise."""
    squares = [mean**2 - se**2 for mean, se in map(bias, found)]
    return math.sqrt(max(float(np.mean(squares)), 0.0))


def coverage(rows: Floats, variance: float) -> tuple[float, float]:
    """Share of the intervals that hold the truth with this variance of the model, and its se."""
    covers = []
    for _, estimate, truth, own, queries, _ in rows:
        spread = Spread(own, 0.0, 0.0, 0.0, int(queries), model=variance)
        low, high = interval(estimate, spread, "documents", bounds=MEASURE.range)
        covers.append(low <= truth <= high)
    return float(np.mean(covers)), standard_error(
        np.array(covers, np.float64), rows[:, 0].astype(np.int64)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collections", nargs="+", help="names or paths")
    parser.add_argument("--shuffles", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="keeps replicates as CSV")
    options = parser.parse_args()
    found: dict[tuple[str, int], Floats] = {}
    for source in options.collections:
        found |= of_collection(source, options.shuffles, options.folder)
    names = list(dict.fromkeys(name for name, _ in found))
    print(
        "| collection | size | samples | bias ± se | RMSE | without | covers ± se | c of others |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (name, ratio), rows in found.items():
        mean, se = bias(rows)
        rmse = math.sqrt(((rows[:, 1] - rows[:, 2]) ** 2).mean())
        exact = float(rows[0, 5])
        shipped, error = coverage(rows, model_variance(exact))
        c = model_error([found[other, 5] for other in names if other != name])
        others, _ = coverage(rows, (c * math.log(exact) / math.log(5)) ** 2)
        print(
            f"| {name} | {ratio} × | {len(rows)} | {mean:+.4f} ± {se:.4f} | {rmse:.4f} | "
            f"{coverage(rows, 0.0)[0]:.1%} | {shipped:.1%} ± {error:.1%} | "
            f"{others:.1%} (c = {c:.3f}) |"
        )
    print(f"\nc of all collections: {model_error([found[name, 5] for name in names]):.4f}")


def of_collection(source: str, shuffles: int, folder: Path | None) -> dict[tuple[str, int], Floats]:
    """The replicates of one collection at both sizes, from files where there are any."""
    name, candidates = Path(source).name, None
    found = {}
    for ratio, parts in PARTS.items():
        file = folder / f"{name}-{ratio}.csv" if folder else None
        if file and file.exists():
            found[name, ratio] = np.loadtxt(file, delimiter=",", skiprows=1)
            continue
        if candidates is None:
            collection = some_queries(read_collection(source), 200 if source == "pydocs" else None)
            candidates = Candidates.make(Index.build(collection.documents), collection, FIXED)
        found[name, ratio] = replicates(candidates, parts, shuffles)
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            np.savetxt(file, found[name, ratio], delimiter=",", header=COLUMNS, comments="")
    return found


if __name__ == "__main__":
    main()
