"""Which share of the documents a jackknife should leave out.

One ranking of all documents (BM25, k1 = 1, b = 0.5) is divided at random into two halves, often.
The squared difference between their scores is twice the variance that an interval needs. From each
first half that variance is estimated without some of its documents, and its mean is shown in shares
of the actual one; "halves" leaves out a half and counts every document of the other half twice.

    python benchmarks/left_out.py CRANFIELD SCIFACT MED CACM pydocs [--divisions 1500]

Of pydocs 200 random queries are used. The seed is 1. The standard error of the actual variance is
1 / sqrt(divisions / 2), 3.7 % for 1,500.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from bias_study import FIXED, some_queries
from heldout.data.collection_files import read_collection
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.uncertainty import _Reader
from heldout.measure.names import parse_measure
from heldout.retrieve.index import Index
from heldout.retrieve.sides import seen_side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Weights = NDArray[np.uint8]

NAMES = ("nDCG@10", "AP", "P@10", "RR", "R@100", "Success@5", "ERR@10", "P@1", "nDCG", "RBP(p=0.8)")
MEASURES = [parse_measure(name, "ranking") for name in NAMES]
SHARES = (0.01, 0.1, 0.2, 0.25, 1 / 3, 0.5)
PLACES, STEP = 300, 100


def means(reader: _Reader, weights: Weights) -> Floats:
    """Measures × divisions: the mean over queries, each document counted by its weight."""
    parts = [
        np.nanmean(reader.read(weights[:, begin : begin + STEP], MEASURES, 1000), axis=2)
        for begin in range(0, weights.shape[1], STEP)
    ]
    return np.concatenate(parts, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collections", nargs="+", help="names or paths")
    parser.add_argument("--divisions", type=int, default=1500)
    options = parser.parse_args()
    for source in options.collections:
        collection = some_queries(read_collection(source), 200 if source == "pydocs" else None)
        index = Index.build(collection.documents)
        candidates = Candidates.make(index, collection, FIXED)
        n, number = index.n_documents, options.divisions
        everything = seen_side(index, candidates.vocabulary, np.ones(n, np.bool_))
        (lists,) = candidates.lists(everything, [0], PLACES)
        reader = _Reader.make(candidates.table, lists.documents, np.arange(n, dtype=np.int32))
        generator = np.random.default_rng(1)
        half = generator.integers(0, 2, (n, number), dtype=np.uint8)
        actual = ((means(reader, half) - means(reader, 1 - half)) ** 2).mean(axis=1) / 2
        print(f"\n{collection.name}: {' '.join(f'{name:>10}' for name in NAMES)}", flush=True)
        coin = generator.integers(0, 2, (n, number), dtype=np.uint8)
        gap = means(reader, 2 * half * coin) - means(reader, 2 * half * (1 - coin))
        show("halves", (gap**2).mean(axis=1) / 4 / actual)
        for share in SHARES:
            lot = generator.random((n, number), dtype=np.float32)
            gap = means(reader, half * (lot > share)) - means(reader, half * (lot < 1 - share))
            found = (gap**2).mean(axis=1) * (1 - share) ** 2 / (2 * share)
            show(f"{share:.2f}", found / actual)


def show(name: str, shares: Floats) -> None:
    print(f"{name:>8}: {' '.join(f'{one:10.3f}' for one in shares)}", flush=True)


if __name__ == "__main__":
    main()
