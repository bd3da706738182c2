"""Measure what the tests and intervals promise: false alarms under the null, coverage.

The null is not true by construction of any test. Units are drawn from a smooth model of a topic x
system matrix (the real matrices of TREC ad hoc 5 and 6 when their folder is given, else a
documented simulation): one system keeps its distribution of scores, the other is a mixture of a
worse and a better system with exactly the same mean, and the two are tied by a Gaussian copula with
the correlation of the systems. The means are equal, the distributions are not, so that only a test
of means may keep its level. The sign-flip null (scores of one system against a noisy copy of
itself, exchangeable) is measured beside it.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.special import ndtr

from harness import show
from heldout.infer.bootstrap import bootstrap_interval, shift_test
from heldout.infer.intervals import t_interval
from heldout.infer.randomization import randomization_test, sign_test, wilcoxon_test
from heldout.infer.results import mean_estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.infer.results import Outcome

Matrix = np.ndarray
ALPHA = 0.05
REPLICATES = 2_000
NULLS = ("equal means", "sign flip")
BOOTSTRAPS: Final = ("percentile", "bca")


class Task(NamedTuple):
    """One cell of the table: a matrix, a null, a number of units, a share of the draws."""

    name: str
    matrix: Matrix
    means: Matrix
    null: str
    units: int
    draws: int
    seed: int


def simulated_matrix(kind: str, seed: int = 5) -> Matrix:
    """A matrix of 50 topics and 30 systems: difficulty, quality and noise on a logit scale."""
    generator = np.random.default_rng(seed)
    logit = (
        generator.normal(-1.0, 0.9, (50, 1))
        + generator.normal(0.0, 0.5, (1, 30))
        + generator.normal(0.0, 0.7, (50, 30))
    )
    share = 1 / (1 + np.exp(-logit))
    if kind == "p10":
        return generator.binomial(10, share) / 10
    return share


def load(folder: Path | None) -> dict[str, Matrix]:
    """The real matrices, or simulated ones."""
    if folder is None:
        return {"simulated ap": simulated_matrix("ap"), "simulated p10": simulated_matrix("p10")}
    paths = sorted(folder.glob("*.csv"))
    return {path.stem: np.genfromtxt(path, delimiter=",", skip_header=1) for path in paths}


def quantiles(scores: Matrix, at: Matrix, *, smooth: bool) -> Matrix:
    """Draw from a system's distribution: linear between its scores, or its very scores."""
    ordered = np.sort(scores)
    if smooth:
        return np.asarray(np.interp(at, (np.arange(len(ordered)) + 0.5) / len(ordered), ordered))
    return np.asarray(ordered[np.minimum((at * len(ordered)).astype(int), len(ordered) - 1)])


def mean_of(scores: Matrix, *, smooth: bool) -> float:
    """The mean of what `quantiles` draws, by a fine grid."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    return float(quantiles(scores, grid, smooth=smooth).mean())


def is_smooth(matrix: Matrix) -> bool:
    """Whether scores are continuous, as AP is and P@10 is not."""
    return len(np.unique(matrix)) > 50


def draw_pair(task: Task, generator: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Scores of two systems with the same expected score."""
    matrix, units, smooth = task.matrix, task.units, is_smooth(task.matrix)
    one, low, high = _systems(task.means, generator)
    with np.errstate(invalid="ignore"):
        rho = np.nan_to_num(np.corrcoef(matrix[:, one], matrix[:, low])[0, 1])
    first = generator.standard_normal(units)
    second = rho * first + np.sqrt(1 - rho**2) * generator.standard_normal(units)
    u, v = ndtr(first), ndtr(second)
    x = quantiles(matrix[:, one], u, smooth=smooth)
    if task.null == "sign flip":
        return x, quantiles(matrix[:, one], v, smooth=smooth)
    target, bottom, top = task.means[[one, low, high]]
    weight = (top - target) / (top - bottom) if top > bottom else 0.5
    worse = quantiles(matrix[:, low], v, smooth=smooth)
    better = quantiles(matrix[:, high], v, smooth=smooth)
    return x, np.where(generator.random(units) < weight, worse, better)


def _systems(means: Matrix, generator: np.random.Generator) -> tuple[int, int, int]:
    """A system, one that is no better, and one that is no worse."""
    order = np.argsort(means)
    place = int(generator.integers(1, len(order) - 1))
    low = int(generator.integers(0, place))
    high = int(generator.integers(place + 1, len(order)))
    return int(order[place]), int(order[low]), int(order[high])


def tests_of(seed: int) -> dict[str, Callable[[Matrix], Outcome]]:
    return {
        "t": lambda d: mean_estimate(d).outcomes("t", "two-sided", len(d))[0],
        "randomization": lambda d: randomization_test(d, replicates=REPLICATES, seed=seed),
        "bootstrap-shift": lambda d: shift_test(d, replicates=REPLICATES, seed=seed),
        "wilcoxon": wilcoxon_test,
        "sign": sign_test,
    }


def work(task: Task) -> tuple[Task, dict[str, list[bool]]]:
    """False alarms of every test, and whether intervals cover 0, in one cell."""
    generator = np.random.default_rng(np.random.SeedSequence([2019, task.seed]))
    found: dict[str, list[bool]] = {}
    for draw in range(task.draws):
        x, y = draw_pair(task, generator)
        gaps = x - y
        for name, test in tests_of(draw).items():
            found.setdefault(name, []).append(test(gaps).p <= ALPHA)
        intervals = {"t": t_interval(gaps)}
        for kind in BOOTSTRAPS if draw % 5 == 0 else ():  # slow
            intervals[kind] = bootstrap_interval(gaps, kind=kind, replicates=REPLICATES, seed=draw)
        for name, interval in intervals.items():
            covered = interval.low <= 0 <= interval.high
            found.setdefault(f"{name} covers", []).append(covered)
    return task, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=Path, help="folder of topic x system CSV files")
    parser.add_argument("--draws", type=int, default=20_000, help="null draws for each row")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--units", type=int, nargs="+", default=[25, 50, 100])
    options = parser.parse_args()
    matrices = load(options.matrices)
    means = {
        name: np.array([mean_of(column, smooth=is_smooth(matrix)) for column in matrix.T])
        for name, matrix in matrices.items()
    }
    share = -(-options.draws // (4 * len(matrices)))
    ways = product(options.units, NULLS, matrices, range(4))
    tasks = [
        Task(name, matrices[name], means[name], null, units, share, number)
        for number, (units, null, name, _) in enumerate(ways)
    ]
    rows: dict[tuple[str, int, str], dict[str, list[bool]]] = {}
    with ProcessPoolExecutor(options.workers) as pool:
        for task, found in pool.map(work, tasks):
            kind = task.name.split("_")[-1].split()[-1]
            for label in (kind, "all"):
                row = rows.setdefault((task.null, task.units, label), {})
                for name, hits in found.items():
                    row.setdefault(name, []).extend(hits)
    table = [
        [*key, len(row["t"]), *(f"{np.mean(hits):.4f}" for hits in row.values())]
        for key, row in sorted(rows.items())
    ]
    heads = ["null", "units", "scores", "draws", *next(iter(rows.values()))]
    show("Share of draws with p at most .05, and with 0 in the interval", heads, table)


if __name__ == "__main__":
    main()
