"""Measure whether 95 % intervals of more than 100,000 units include the truth, which is known.

Numbers: the truth is normal, the prediction adds normal noise. Classes: the score of the true class
is normal around 1, those of the others around 0, and the highest is predicted.

    python benchmarks/many_units_coverage.py [--units 200000] [--draws 100]
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from scipy import integrate, stats

from harness import show
from heldout import ClassPredictions, NumberPredictions
from heldout.infer.scored_inputs import system_interval
from heldout.measure.prediction.evaluate import evaluate_predictions

NOISE = 0.6
SHARES = np.array([0.6, 0.3, 0.1])
NORMAL = stats.norm


def numbers_truth() -> dict[str, float]:
    """Return the measures of the population of numbers."""
    correlation = 1 / math.sqrt(1 + NOISE**2)
    return {
        "RMSE": NOISE,
        "R2": 1 - NOISE**2,
        "median-AE": NOISE * NORMAL.ppf(0.75),
        "Pearson": correlation,
        "Spearman": 6 / math.pi * math.asin(correlation / 2),
        "Kendall": 2 / math.pi * math.asin(correlation),
    }


def classes_truth() -> dict[str, float]:
    """Return the measures of the population of classes."""
    right = integrate.quad(lambda x: NORMAL.pdf(x - 1) * NORMAL.cdf(x) ** 2, -10, 12)[0]
    guessed = SHARES * right + (1 - SHARES) * (1 - right) / 2
    chance = float(SHARES @ guessed)
    spread = (1 - float(SHARES @ SHARES)) * (1 - float(guessed @ guessed))

    def precision(score: float) -> float:
        hits, alarms = SHARES[2] * NORMAL.sf(score - 1), (1 - SHARES[2]) * NORMAL.sf(score)
        return hits / (hits + alarms) if hits else 1.0

    return {
        "F1(macro)": float(np.mean(2 * SHARES * right / (SHARES + guessed))),
        "kappa": (right - chance) / (1 - chance),
        "MCC": (right - chance) / math.sqrt(spread),
        "AUC": NORMAL.cdf(1 / math.sqrt(2)),
        "average-precision(class=rare)": integrate.quad(
            lambda x: precision(x) * NORMAL.pdf(x - 1), -10, 12
        )[0],
    }


def covered(units: int, seed: int, draw: int) -> list[str]:
    """Return the measures whose interval includes the truth in one data set."""
    source = np.random.default_rng([seed, units, draw])
    names = tuple(map(str, range(units)))
    truth = source.normal(size=units)
    numbers = NumberPredictions("A", names, truth, truth + NOISE * source.normal(size=units))
    true = source.choice(3, units, p=SHARES)
    scores = source.normal(size=(units, 3)) + np.eye(3)[true]
    classes = ("frequent", "middle", "rare")
    classed = ClassPredictions("B", names, classes, true, scores.argmax(axis=1), scores)
    included = []
    known_of: dict[Any, dict[str, float]] = {numbers: numbers_truth(), classed: classes_truth()}
    for given, known in known_of.items():
        for name, value in known.items():
            found = evaluate_predictions([given], [name])
            interval = system_interval(found, given.name, found.measures[0], seed=draw)
            assert interval is not None
            included += [name] if interval.low <= value <= interval.high else []
    return included


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--units", type=int, default=200_000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    one = partial(covered, options.units, options.seed)
    with ProcessPoolExecutor(options.processes) as pool:
        hits = Counter(name for names in pool.map(one, range(options.draws)) for name in names)
    error = math.sqrt(0.95 * 0.05 / options.draws)
    rows = ([name, f"{count / options.draws:.1%} ± {error:.1%}"] for name, count in hits.items())
    show(f"{options.units:,} units, {options.draws} draws", ["measure", "covered"], rows)


if __name__ == "__main__":
    main()
