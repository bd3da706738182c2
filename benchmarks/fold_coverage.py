"""How often intervals of systems tuned in query folds include the truth (docs/methods.md).

The judged queries of a collection are the population; samples are drawn from it with replacement
and the systems are tuned in ten folds (see `heldout.experiment.studies.coverage`). The systems:

- two untuned ones, BM25 with k1 = 0.9, b = 0.4 and with k1 = 1.2, b = 0.75;
- BM25 tuned over the default grid of 110 settings;
- query likelihood tuned over the default grid of 13 values of mu.

Nothing is adjusted to the collections, and the seed is fixed. A sample has as many queries as the
collection, but at most 300. Run it as

    python benchmarks/fold_coverage.py --draws 1000 cranfield-folder scifact-folder pydocs
    python benchmarks/fold_coverage.py --draws 1000 --queries 50 pydocs
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from heldout.data.collection_files import read_collection
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.studies.coverage import (
    CoverageRow,
    CoverageSettings,
    coverage_study,
    query_scores,
)
from heldout.measure.parse import parse_measure
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model
from heldout.tune.space import default_space

LARGEST = 300


def models(name: str) -> tuple[Model, ...]:
    """A model at every point of its default grid."""
    space: Any = default_space(name)
    return tuple(Model.make(name, **space.point(number)) for number in range(len(space)))


SYSTEMS = {
    "untuned .9/.4": (Model.make("bm25", k1=0.9, b=0.4),),
    "untuned 1.2/.75": (Model.make("bm25", k1=1.2, b=0.75),),
    "tuned BM25": models("bm25"),
    "tuned QL": models("ql-dirichlet"),
}


def cells(row: CoverageRow) -> list[str]:
    covers = f"{row.coverage:.1%} ± {row.coverage_se:.1%}"
    name = f"{row.system} − {row.minus}" if row.minus else row.system
    bias = f"{row.bias:+.4f} ± {row.se:.4f}"
    rates = ["" if one is None else f"{one:.1%}" for one in (row.claims, row.wrong)]
    method = f"**{row.method}**" if row.default else row.method
    return [name, method, f"{row.truth:+.4f}", bias, covers, f"{row.width:.4f}", *rates]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("collections", nargs="*", default=["pydocs"], help="names or paths")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--queries", type=int, help="of a sample (default: all, at most 300)")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("-m", "--measure", action="append")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for source in options.collections:
        collection = read_collection(source)
        index = Index.build(collection.documents, Analyzer(stop="english", stemmer="english"))
        for name in options.measure or ["nDCG@10", "AP"]:
            measure = parse_measure(name, "ranking")
            scores = {
                system: query_scores(Candidates.make(index, collection, points), measure)
                for system, points in SYSTEMS.items()
            }
            judged = next(iter(scores.values())).shape[1]
            settings = CoverageSettings(
                options.draws,
                options.queries or min(judged, LARGEST),
                options.folds,
                seed=options.seed,
            )
            begin = time.perf_counter()
            study = coverage_study(scores, name, settings)
            took = time.perf_counter() - begin
            print(f"{source}, {name}: {took:.0f} s", file=sys.stderr, flush=True)
            print(
                f"\n### {collection.name}, {name}: {study.population:,} queries, samples of "
                f"{study.sample_size}, {settings.folds} folds, {settings.draws:,} draws\n"
            )
            print("| | interval | truth | bias | covers | width | claims | wrong |")
            print("|---|---|---:|---:|---:|---:|---:|---:|")
            for row in study.rows:
                print(f"| {' | '.join(cells(row))} |", flush=True)


if __name__ == "__main__":
    main()
