"""Measure whether intervals of agreement include the truth: orders of systems, and judges.

Orders: the topics of a TREC matrix are the population, a random subset of its runs are the systems,
and topics are drawn with replacement. The truth is the correlation of the orders by two measures
over the population. The percentile interval is measured beside that of `order_agreement`.

Judges: the queries that a human and a machine judged are the population.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from error_rates import load
from harness import save
from heldout import Scores, agree, read_qrels
from heldout.infer.order_agreement import order_agreement
from heldout.measure.rank_correlation import batch_correlations

if TYPE_CHECKING:
    from collections.abc import Iterator

Matrix = np.ndarray
Row = dict[str, object]
NAMES = ("kendall", "tau_ap", "rbo", "spearman", "pearson")


def scores(values: Matrix) -> Scores:
    """Return scores with numbers for names."""
    units, systems = (tuple(map(str, range(count))) for count in values.shape)
    return Scores("score", systems, units, values)


def percentile(x: Matrix, y: Matrix, seed: int, replicates: int) -> dict[str, tuple[float, float]]:
    """Return percentile intervals of all correlations."""
    weights = np.random.default_rng(seed).multinomial(
        len(x), np.full(len(x), 1 / len(x)), replicates
    )
    drawn = batch_correlations(weights @ x / len(x), weights @ y / len(x))
    return {
        name: tuple(np.nanquantile(values, [0.025, 0.975]).tolist())
        for name, values in drawn.items()
    }


def orders(folder: Path, draws: int, seed: int) -> Iterator[Row]:
    """Yield the coverage of intervals of correlations, for pairs of measures and sizes."""
    tables = load(folder)
    for track in ("adhoc5", "adhoc6"):
        first, second = (tables[f"{track}_{name}"] for name in ("ap", "rr"))
        for systems, queries in ((5, 50), (10, 25), (10, 50), (30, 50)):
            source = np.random.default_rng([seed, systems, queries])
            hits = {(name, how): 0 for name in NAMES for how in ("joined", "percentile")}
            for draw in range(draws):
                runs = source.choice(first.shape[1], systems, replace=False)
                topics = source.integers(0, len(first), queries)
                whole = first[:, runs].mean(0)[None], second[:, runs].mean(0)[None]
                truth = batch_correlations(*whole)
                x, y = first[np.ix_(topics, runs)], second[np.ix_(topics, runs)]
                found = order_agreement(scores(x), scores(y), replicates=1000, seed=draw)
                plain = percentile(x, y, draw, 1000)
                for name in NAMES:
                    true, interval = float(truth[name][0]), getattr(found, name)
                    hits[name, "joined"] += interval.low - 1e-9 <= true <= interval.high + 1e-9
                    low, high = plain[name]
                    hits[name, "percentile"] += low - 1e-9 <= true <= high + 1e-9
            for (name, how), count in hits.items():
                yield {
                    "track": track,
                    "systems": systems,
                    "queries": queries,
                    "correlation": name,
                    "interval": how,
                    "covered": count / draws,
                }


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
                pair = [
                    {str(number): one[query] for number, query in enumerate(drawn)}
                    for one in (human, machine)
                ]
                found = agree(pair[0], {"m": pair[1]}, rel=2).judges[0].statistics
                for name in hits:
                    interval = getattr(found, name)
                    hits[name] += interval.low <= getattr(truth, name).estimate <= interval.high
            for name, count in hits.items():
                yield {
                    "machine": path.stem,
                    "queries": queries,
                    "statistic": name,
                    "covered": count / draws,
                }


def main() -> None:
    """Measure what the options name, and save it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrices", type=Path, help="folder with adhoc5_ap.csv, adhoc5_rr.csv, …")
    parser.add_argument(
        "--judgements", type=Path, help="folder with human.qrels and machine/*.qrels"
    )
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    rows: list[Row] = []
    if options.matrices:
        rows += orders(options.matrices, options.draws, options.seed)
    if options.judgements:
        rows += judges(options.judgements, options.draws, options.seed)
    for row in rows:
        print(*row.values())
    save("agreement_coverage", rows)


if __name__ == "__main__":
    main()
