"""How often intervals of systems tuned in query folds include the truth (docs/methods.md).

The judged queries of a collection are the population; samples are drawn from it with replacement
and the systems are tuned and evaluated in ten folds of each. The truth is the mean over the
population of the parameters selected on the whole sample, for which the held-out score is reported.
Draws with replacement are independent samples of a known population, so the truth has no error.
The systems:

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
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness import show
from heldout.data.collection_files import read_collection
from heldout.data.scores import Scores
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.studies.bias import coverage_error, standard_error
from heldout.experiment.systems.base import System
from heldout.infer.intervals import mean_interval, t_interval
from heldout.infer.scoring import Means
from heldout.measure.names import parse_measure
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model
from heldout.retrieve.sides import whole_side
from heldout.tune.choice_variance import (
    REPLICATES,
    Sides,
    TunedPoints,
    choice_spreads,
    draw_counts,
    rechoose,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.data.words import Floats, Ints
    from heldout.infer.results import Interval
    from heldout.measure.base import Measure

LARGEST = 300
LEVEL = 0.95
ROUNDING = 1e-12
"""A truth this close to a bound is inside: equal systems have intervals of width 0."""


class Drawn(NamedTuple):
    """An interval, and the value it should include."""

    interval: Interval
    truth: float


Key = tuple[str, str, str]
"""A system, the one that is subtracted (or nothing), and the kind of interval."""


def query_scores(candidates: Candidates, measure: Measure) -> Floats:
    """Points × judged queries: the score of every query under every parameter setting."""
    side = whole_side(candidates.index, candidates.vocabulary)
    values = candidates.evaluate(side, [measure])[0]
    found: Floats = values[:, np.isfinite(values).all(axis=0)]
    return found


def folds_of(size: int, folds: int, generator: np.random.Generator) -> Sides:
    """Random folds, and at the end a split that trains on all data."""
    own = generator.permutation(size) % folds
    parts = [np.flatnonzero(own == fold) for fold in range(folds)]
    nothing = np.zeros(0, np.int64)
    train = [*((part, np.full(len(part), -1)) for part in parts), (nothing, nothing)]
    test = [*((part, np.ones(len(part), np.int64)) for part in parts), (nothing, nothing)]
    return Sides(tuple(train), tuple(test), size, shared=True)


def intervals_of(
    systems: Mapping[str, Floats], size: int, folds: int, seed: int, draw: int
) -> dict[Key, Drawn]:
    """All intervals of one sample of queries."""
    generator = np.random.default_rng([seed, draw])
    population = next(iter(systems.values())).shape[1]
    queries = generator.integers(population, size=size)
    sides = folds_of(size, folds, generator)
    counts = draw_counts(size, REPLICATES, int(generator.integers(2**31)))
    own, truths, points = {}, {}, {}
    for name, values in systems.items():
        sample, tuned = values[:, queries], len(values) > 1
        chosen = rechoose(sample, sides, np.ones((1, size), np.int64))[0]
        again = rechoose(sample, sides, counts) if tuned else None
        own[name], points[name] = held_out(sample, sides, chosen), TunedPoints(sample, again)
        truths[name] = float(values[chosen[-1]].mean())
    spreads = choice_spreads(points, sides)
    found = {}
    for name, values in own.items():
        interval = mean_interval(values, LEVEL)
        if interval is not None:
            # The method depends on the values drawn: "t", or "Hall" if they are skewed.
            found[name, "", ""] = Drawn(interval, truths[name])
    for first, second in combinations(systems, 2):
        gaps, truth = own[second] - own[first], truths[second] - truths[first]
        spread = spreads.get((second, first))
        if spread is not None:
            values = np.column_stack([own[second], own[first]])
            units, names = tuple(map(str, range(len(gaps)))), (second, first)
            scores = Scores("tuned", names, units, values, choices={names: spread})
            interval = Means(scores).difference((0, 1), LEVEL)
            found[second, first, interval.method] = Drawn(interval, truth)
        found[second, first, "t"] = Drawn(t_interval(gaps, LEVEL), truth)
    return found


def held_out(sample: Floats, sides: Sides, chosen: Ints) -> Floats:
    held_out = np.empty(sample.shape[1])
    for number, (places, _) in zip(chosen.tolist(), sides.test, strict=True):
        held_out[places] = sample[number, places]
    return held_out


def row(key: Key, drawn: list[Drawn]) -> list[str]:
    """Coverage and width; of differences also the share of claims, and of those of a wrong sign."""
    system, minus, kind = key
    methods = " or ".join(sorted({one.interval.method for one in drawn}, reverse=True))
    numbers = np.array([(*one.interval[:3], one.truth) for one in drawn])
    estimate, low, high, truth = numbers.T
    covers = (low - ROUNDING <= truth) & (truth <= high + ROUNDING)
    alone = np.arange(len(drawn))  # all draws are independent
    error = estimate - truth
    claimed = np.where(low > ROUNDING, 1, np.where(high < -ROUNDING, -1, 0))
    wrong = (claimed != 0) & (claimed * truth <= ROUNDING)
    cells = [f"{system} − {minus}" if minus else system, kind or methods, f"{truth.mean():+.4f}"]
    cells.append(f"{error.mean():+.4f} ± {standard_error(error, alone):.4f}")
    se = coverage_error(covers.tolist(), alone, LEVEL)
    cells += [f"{covers.mean():.1%} ± {se:.1%}", f"{(high - low).mean():.4f}"]
    return [*cells, *(f"{np.mean(one):.1%}" if minus else "" for one in (claimed != 0, wrong))]


def models(text: str) -> tuple[Model, ...]:
    """A model at every point of its grid."""
    system: Any = System.of(text)  # a ModelSystem
    return tuple(system.models(system.search.points))


SYSTEMS = {
    "untuned .9/.4": (Model.make("bm25", k1=0.9, b=0.4),),
    "untuned 1.2/.75": (Model.make("bm25", k1=1.2, b=0.75),),
    "tuned BM25": models("bm25(k1=0.2:5:10:log, b=0:1:11)"),
    "tuned QL": models("ql-dirichlet(mu=10:10000:13:log)"),
}


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
            size = options.queries or min(judged, LARGEST)
            drawn: dict[Key, list[Drawn]] = {}
            for draw in range(options.draws):
                found = intervals_of(scores, size, options.folds, options.seed, draw)
                for key, one in found.items():
                    drawn.setdefault(key, []).append(one)
            title = f"{collection.name}, {name}: {judged:,} queries, samples of {size}"
            heads = ["", "interval", "truth", "bias", "covers", "width", "claims", "wrong"]
            show(title, heads, (row(key, found) for key, found in drawn.items()))


if __name__ == "__main__":
    main()
