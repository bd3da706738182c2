"""Measure whether the standard error over folds falls with the square root of the rows.

Plans for rows under folds rest on it (`heldout.infer.power`). Measured is the corrected resampled
standard error of the difference in accuracy between nearest centroids in five dimensions and in
two, ten folds of n rows, times the root of n, relative to the largest n: 1 means that the error
falls with the square root.

    python benchmarks/power_designs.py [--draws 1000] [--seed 18]
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heldout.data.words import Flags, Floats


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    generator = np.random.default_rng(options.seed)
    sizes = (100, 200, 400, 800)
    variance = {
        n: np.array([fold_error(n, generator) for _ in range(options.draws)]) for n in sizes
    }
    largest = np.sqrt(sizes[-1] * variance[sizes[-1]].mean())
    print("| rows | standard error × √rows, relative | spread over draws |")
    print("|---:|---:|---:|")
    for n in sizes:
        ratio = np.sqrt(n * variance[n].mean()) / largest
        spread = np.sqrt(n * variance[n]).std() / largest
        print(f"| {n} | {ratio:.3f} | {spread:.3f} |")


if __name__ == "__main__":
    main()
