"""How near the truth estimators come: the tables of docs/estimates.md.

In every draw a share of the documents is seen; the score on the others is the truth (see
`heldout.experiment.studies.bias`). Three systems:

- fixed: BM25 with k1 = 1 and b = 0.5, the unseen side as large as the seen one, or 2 or 5 times;
- tuned: BM25 over a grid of 20 values of k1 (geometric, 0.2 to 5) by 20 of b (0 to 1), chosen on
  each train side;
- over-fitted on purpose: the best of 200 priors of documents that are nothing but noise (normal,
  standard deviation 2), chosen on each train side. The noise is drawn again every ten draws.

Nothing is tuned to the collections, and the seed is fixed. Run it as

    python benchmarks/bias_study.py --draws 200 PATH_OF_CRANFIELD PATH_OF_SCIFACT
    python benchmarks/bias_study.py --draws 200 --queries 400 pydocs
    python benchmarks/bias_study.py --draws 400 --case fixed --groups none COLLECTION -m AP RR

Documents with the same text are one unit of the draws, the folds and the half-samples, unless
``--groups none``.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness import show
from heldout.data.collection import Collection
from heldout.data.collection_files import read_collection
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.studies.bias import (
    StudySettings,
    bias_study,
    coverage_error,
    standard_error,
)
from heldout.measure.names import parse_measure
from heldout.resample.plans import KFold
from heldout.retrieve.index import Index
from heldout.retrieve.models import grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.experiment.studies.bias import BiasStudy, Tuning
    from heldout.retrieve.models import Model

    Noise = NDArray[np.float64] | None

FIXED = grid("bm25", k1=[1.0], b=[0.5])
GRID = grid("bm25", k1=np.geomspace(0.2, 5, 20).tolist(), b=np.linspace(0, 1, 20).tolist())
PRIORS, SPREAD = 200, 2.0
BLOCK = 10
"""Draws that share their noise."""


class Case(NamedTuple):
    """A system, and the share of the documents that is seen."""

    name: str
    words: str
    fraction: float
    tuning: Tuning


CASES = (
    Case("fixed", "fixed BM25, truth as large as the sample", 0.5, "fixed"),
    Case("fixed-2x", "fixed BM25, truth twice the sample", 0.3333, "fixed"),
    Case("fixed-5x", "fixed BM25, truth 5 times the sample", 0.1667, "fixed"),
    Case("tuned", "BM25 tuned over 20 × 20 values, truth as large", 0.5, "nested"),
    Case("overfit", "best of 200 random priors, truth as large", 0.5, "nested"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collections", nargs="*", default=["pydocs"], help="names or paths")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--queries", type=int, help="how many, drawn at random (default: all)")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--replicates", type=int, default=200, help="for each interval")
    parser.add_argument("-m", "--measure", nargs="+", default=["nDCG@10"])
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--groups",
        choices=("duplicates", "none"),
        default="duplicates",
        help="what is one unit: documents with the same text, or each document",
    )
    options = parser.parse_args()
    for name in options.collections:
        collection = some_queries(read_collection(name), options.queries)
        index = Index.build(collection.documents)
        sizes = f"{index.n_documents:,} documents, {len(collection.queries):,} queries"
        heads = ["system", "measure", "estimator", "estimate", "truth", "bias ± se", "RMSE"]
        cases = [case for case in CASES if not options.case or case.name in options.case]
        rows = (
            [case.words, measure, *row]
            for case in cases
            for measure in options.measure
            for row in summary(studies(index, collection, case, measure, options))
        )
        show(f"{collection.name}: {sizes}", [*heads, "interval covers"], rows)


def some_queries(collection: Collection, number: int | None) -> Collection:
    """A random sample of the queries, always the same one."""
    total = len(collection.queries)
    if number is None or number >= total:
        return collection
    kept = np.sort(np.random.default_rng(0).choice(total, number, replace=False))
    name = f"{collection.name} with {number} of its {total:,} queries"
    queries = collection.queries.take(kept.tolist())
    known = set(queries.ids)
    qrels = {
        query: grades for query, grades in collection.qrels.to_dict().items() if query in known
    }
    return Collection(collection.documents, queries, qrels, name=name)


def groups_of(collection: Collection, kind: str) -> NDArray[np.int64] | None:
    """The group of each document, by its text."""
    if kind == "none":
        return None
    return KFold(2, groups="duplicates").splits(collection, "document").groups


def studies(
    index: Index, collection: Collection, case: Case, name: str, options: argparse.Namespace
) -> list[BiasStudy]:
    """One study; of random priors one for every ten draws, each with noise of its own."""
    measure, draws = parse_measure(name, "ranking"), options.draws
    groups = groups_of(collection, options.groups)

    def study(models: tuple[Model, ...], number: int, seed: int, noise: Noise) -> BiasStudy:
        settings = StudySettings(
            measure, case.fraction, number, folds=options.folds, tuning=case.tuning,
            replicates=options.replicates, seed=seed,
        )  # fmt: skip
        candidates = Candidates.make(index, collection, models, priors=noise)
        return bias_study(candidates, settings, groups=groups)

    if case.name != "overfit":
        return [study(GRID if case.name == "tuned" else FIXED, draws, options.seed, None)]
    blocks = []
    for first in range(0, draws, BLOCK):
        seed = options.seed + 1000 * (1 + first // BLOCK)
        generator = np.random.default_rng(seed)
        noise = generator.normal(0, SPREAD, (index.n_documents, PRIORS))
        # A study of a single draw would have no standard error: the last block may be longer.
        left = draws - first
        number = left if left < BLOCK + 2 else BLOCK
        blocks.append(study(FIXED * PRIORS, number, seed, noise))
        if number == left:
            break
    return blocks


def summary(found: list[BiasStudy]) -> list[list[str]]:
    """Each estimator over the draws of all studies."""
    rows = []
    for row in found[0].rows:
        values, truths, together = [], [], []
        for number, study in enumerate(found):
            mine = [one for one in study.means if one[2] == row.estimator]
            values += [one[3] for one in mine]
            truths += [one[4] for one in mine]
            # Draws that share their noise hang together, else those that share an order.
            turns = study.settings.turns
            together += [number if len(found) > 1 else one[0] // turns for one in mine]
        error, shuffles = np.subtract(values, truths), np.array(together)
        cells = [row.estimator, f"{np.mean(values):.4f}", f"{np.mean(truths):.4f}"]
        cells.append(f"{error.mean():+.4f} ± {standard_error(error, shuffles):.4f}")
        cells.append(f"{np.sqrt((error**2).mean()):.4f}")
        covers = [hit for study in found if row.default for hit in study.covered]
        if covers:
            se = coverage_error(covers, shuffles, found[0].settings.level)
            cells.append(f"{np.mean(covers):.1%} ± {se:.1%}")
        rows.append(cells if covers else [*cells, ""])
    return rows


if __name__ == "__main__":
    main()
