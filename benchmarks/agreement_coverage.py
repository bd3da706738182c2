"""Measure whether intervals of agreement include the truth: orders of systems, and judges.

Orders: the topics of a TREC matrix are the population, a random subset of its runs are the systems,
and topics are drawn with replacement. The truth is the correlation of the orders by two measures
over the population. The percentile interval is measured beside that of `order_agreement`.

Judges: the queries that a human and a machine judged are the population.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from error_rates import load
from harness import show
from heldout import Scores, agree, read_qrels
from heldout.infer.order_agreement import order_agreement
from heldout.measure.rank_correlation import batch_correlations

if TYPE_CHECKING:
    from collections.abc import Iterator

Matrix = np.ndarray
Row = list[object]
REPLICATES = 1000
NAMES = ("kendall", "tau_ap", "rbo", "spearman", "pearson")


def scores(values: Matrix) -> Scores:
    """Return scores with numbers for names."""
    units, systems = (tuple(map(str, range(count))) for count in values.shape)
    return Scores("score", systems, units, values)


def percentile(x: Matrix, y: Matrix, seed: int) -> dict[str, tuple[float, float]]:
    """Return percentile intervals of all correlations."""
    chances = np.full(len(x), 1 / len(x))
    weights = np.random.default_rng(seed).multinomial(len(x), chances, REPLICATES)
    drawn = batch_correlations(weights @ x / len(x), weights @ y / len(x))
    return {
        name: tuple(np.nanquantile(values, [0.025, 0.975]).tolist())
        for name, values in drawn.items()
    }


def orders(folder: Path, draws: int, seed: int) -> Iterator[Row]:
    """Yield the coverage of intervals of correlations, for tracks, numbers of runs and topics."""
    tables = load(folder)
    sizes = ((5, 50), (10, 25), (10, 50), (30, 50))
    for track, (systems, queries) in product(("adhoc5", "adhoc6"), sizes):
        first, second = (tables[f"{track}_{name}"] for name in ("ap", "rr"))
        source = np.random.default_rng([seed, systems, queries])
        hits = np.zeros((2, len(NAMES)))
        for draw in range(draws):
            runs = source.choice(first.shape[1], systems, replace=False)
            topics = source.integers(0, len(first), queries)
            whole = first[:, runs].mean(0)[None], second[:, runs].mean(0)[None]
            truth = batch_correlations(*whole)
            x, y = first[np.ix_(topics, runs)], second[np.ix_(topics, runs)]
            found = order_agreement(scores(x), scores(y), replicates=REPLICATES, seed=draw)
            plain = percentile(x, y, draw)
            for at, name in enumerate(NAMES):
                ours = getattr(found, name)
                for way, (low, high) in enumerate(((ours.low, ours.high), plain[name])):
                    hits[way, at] += low - 1e-9 <= float(truth[name][0]) <= high + 1e-9
        for how, covered in zip(("union", "percentile"), hits / draws, strict=True):
            yield [track, systems, queries, how, *(f"{one:.1%}" for one in covered)]


def judges(folder: Path, draws: int, seed: int) -> Iterator[Row]:
    """Yield the coverage of intervals of agreement with a human, for each machine and size."""
    human = read_qrels(folder / "human.qrels").to_dict()
    for path in sorted((folder / "machine").glob("*.qrels")):
        machine = read_qrels(path).to_dict()
        truth = agree(human, {"m": machine}, rel=2).judges[0].statistics
        names = list(human)
        for queries in (10, 25, 50):
            source = np.random.default_rng([seed, queries])
            hits = dict.fromkeys(truth._fields, 0)
            for _ in range(draws):
                drawn = [names[at] for at in source.integers(0, len(names), queries)]
                people, guesses = (
                    {str(number): one[query] for number, query in enumerate(drawn)}
                    for one in (human, machine)
                )
                found = agree(people, {"m": guesses}, rel=2).judges[0].statistics
                for name in hits:
                    interval = getattr(found, name)
                    hits[name] += interval.low <= getattr(truth, name).estimate <= interval.high
            for name, count in hits.items():
                yield [path.stem, queries, name, f"{count / draws:.1%}"]


def main() -> None:
    """Measure what the options name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=Path, help="folder with adhoc5_ap.csv, adhoc5_rr.csv, …")
    parser.add_argument("--judgements", type=Path, help="folder with human.qrels, machine/*.qrels")
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    if options.matrices:
        rows = orders(options.matrices, options.draws, options.seed)
        show("Orders of systems", ["track", "systems", "queries", "interval", *NAMES], rows)
    if options.judgements:
        rows = judges(options.judgements, options.draws, options.seed)
        show("Judges", ["machine", "queries", "statistic", "covered"], rows)


if __name__ == "__main__":
    main()
