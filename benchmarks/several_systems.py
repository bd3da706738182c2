"""Measure false claims and power with several systems: Romano-Wolf, Tukey, Holm and MaxT.

A cell is a null hypothesis, a measure, a number of topics and a number of systems; its draws come
half from TREC ad hoc 5 and half from ad hoc 6. All pairs are compared; Romano-Wolf also with the
first system as the baseline, two-sided and one-sided. In all cells the systems have equal expected
scores, so that any pair that is called different (at .05) is a false claim:

centred
    Real systems, shifted to a common mean; topics are drawn with replacement. The joint
    distribution is that of real systems.
mixture
    Every system but the first is a mixture of a worse and a better real system with the mean of
    the first, tied by a Gaussian copula (as in ``error_rates.py``).
permutation
    The scores of real systems are permuted within each topic: exchangeable.
split
    Every system is the same real system on topics of its own: exchangeable and independent.
copy
    As centred, but the last system is a copy of the first with another score on six topics of the
    fifty, by amounts that are very unequal and sum to 0.

For power (``--gain 0.05``), half of the centred systems are better by that, and the share of the
true differences that are found is counted.

With ``--order`` two and three equally good systems are compared by heldout's own default in
measures of order: by median absolute error where all systems have errors of the same distribution
(exchangeable), or of different ones with the same median (unequal), and by Spearman's correlation
and average precision. It needs no matrices.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from error_rates import is_smooth, load, mean_of
from harness import show
from heldout import compare
from heldout.infer.blocks import anova, critical_range
from heldout.infer.corrections import adjust
from heldout.infer.results import mean_estimate
from heldout.infer.romano_wolf import romano_wolf

Array = np.ndarray

ALPHA = 0.05
BATCH = 40
MEASURES = ("ap", "p10", "rr")
NULLS = ("centred", "mixture", "permutation", "split", "copy")
CHANGED = 6


class Source(NamedTuple):
    """A topic x system matrix, and what draws need of it."""

    scores: Array
    ordered: Array
    means: Array
    ranks: Array
    correlations: Array
    smooth: bool

    @classmethod
    def of(cls, scores: Array) -> Source:
        """Of a matrix of topics x systems."""
        smooth = is_smooth(scores)
        means = np.array([mean_of(column, smooth=smooth) for column in scores.T])
        with np.errstate(invalid="ignore", divide="ignore"):
            correlations = np.nan_to_num(np.corrcoef(scores.T))
        ranks = np.argsort(means, kind="stable")
        return cls(scores, np.sort(scores, 0), means, ranks, correlations, smooth)


class Cell(NamedTuple):
    """What a row of the table is about."""

    null: str
    measure: str
    units: int
    systems: int


# Draws: systems with equal expected scores, draws x units x systems


def draw(source: Source, cell: Cell, draws: int, generator: np.random.Generator) -> Array:
    if cell.null == "mixture":
        return _draw_mixtures(source, cell, draws, generator)
    topics, systems = source.scores.shape
    chosen = np.argsort(generator.random((draws, systems)), 1)[:, : cell.systems]
    if cell.null == "split":
        rows = generator.integers(0, topics, (draws, cell.units, cell.systems))
        return source.scores[rows, chosen[:, :1, None]]
    rows = generator.integers(0, topics, (draws, cell.units))
    found = source.scores[rows[:, :, None], chosen[:, None, :]]
    if cell.null == "permutation":
        return generator.permuted(found, axis=2)
    found = np.asarray(found - source.scores.mean(0)[chosen][:, None, :])
    if cell.null == "copy":
        changes = np.stack([_changes(topics, generator) for _ in range(draws)])
        found[:, :, -1] = found[:, :, 0] + np.take_along_axis(changes, rows, 1)
    return found


def _changes(topics: int, generator: np.random.Generator) -> Array:
    """Changes of the scores of a copy: of a few topics, very unequal, with sum 0."""
    found = np.zeros(topics)
    changed = generator.choice(topics, CHANGED, replace=False)
    found[changed] = generator.choice([-1, 1], CHANGED) * generator.lognormal(-6, 2, CHANGED)
    found[changed[-1]] -= found.sum()
    return found


def _draw_mixtures(source: Source, cell: Cell, draws: int, generator: np.random.Generator) -> Array:
    systems = len(source.ranks)
    ordered_means = source.means[source.ranks]
    place = generator.integers(1, systems - 1, draws)
    target = ordered_means[place]
    partner = (generator.random(draws) * place).astype(int)
    rho = np.maximum(0, source.correlations[source.ranks[place], source.ranks[partner]])
    shape = (draws, cell.units, cell.systems)
    common = generator.standard_normal((draws, cell.units, 1))
    own = generator.standard_normal(shape)
    rho = rho[:, None, None]
    at = ndtr(np.sqrt(rho) * common + np.sqrt(1 - rho) * own)
    upper = np.searchsorted(ordered_means, target, "right")[:, None]
    lower = np.searchsorted(ordered_means, target, "left")[:, None]
    size = (draws, cell.systems)
    low = source.ranks[(generator.random(size) * upper).astype(int)]
    high = source.ranks[lower + (generator.random(size) * (systems - lower)).astype(int)]
    top, bottom = source.means[high], source.means[low]
    apart = top > bottom
    weight = np.where(apart, (top - target[:, None]) / np.where(apart, top - bottom, 1), 0.5)
    column = np.where(generator.random(shape) < weight[:, None], low[:, None], high[:, None])
    column[:, :, 0] = source.ranks[place][:, None]
    return _quantiles(source, at, column)


def _quantiles(source: Source, at: Array, column: Array) -> Array:
    topics = len(source.ordered)
    if not source.smooth:
        nearest = np.minimum((at * topics).astype(int), topics - 1)
        return np.asarray(source.ordered[nearest, column])
    place = np.clip(at * topics - 0.5, 0, topics - 1)
    below = np.minimum(place.astype(int), topics - 2)
    rest = place - below
    low, high = source.ordered[below, column], source.ordered[below + 1, column]
    return np.asarray(low * (1 - rest) + high * rest)


# Claims


def p_values(scores: Array, replicates: int, seed: int) -> dict[str, Array]:
    """Adjusted p-values of each procedure: of all pairs, or of those with the first system."""
    second, first = np.triu_indices(scores.shape[1], 1)
    resampled = partial(romano_wolf, scores, replicates=replicates, seed=seed)
    gaps = scores[:, second] - scores[:, first]
    return {
        "Romano-Wolf": resampled().p[second, first],
        "baseline": resampled(0).p[0, 1:],
        "baseline, one-sided": resampled(0, alternative="greater").p[0, 1:],
        "Tukey": tukey(scores, gaps),
        "Holm": adjust(mean_estimate(gaps).p(), "holm"),
        "MaxT": max_t(gaps, replicates, seed),
    }


def tukey(scores: Array, gaps: Array) -> Array:
    """0 where Tukey's HSD is significant, else 1: the critical value is computed once."""
    units, systems = scores.shape
    error = max(anova(scores).residual.mean_square, 1e-300)
    ratios = np.abs(gaps.mean(0)) / np.sqrt(error / units)
    return np.where(ratios >= _critical(systems, (units - 1) * (systems - 1)), 0.0, 1.0)


_critical = cache(partial(critical_range, ALPHA))


def max_t(gaps: Array, replicates: int, seed: int) -> Array:
    """Westfall and Young's step-down with random signs of the differences: not in heldout."""
    norm = np.sqrt((gaps**2).sum(0))
    norm[norm == 0] = np.inf
    signs = 2 * np.random.default_rng(seed).integers(0, 2, (replicates, len(gaps))) - 1.0
    drawn, observed = np.abs(signs @ (gaps / norm)), np.abs(gaps.sum(0)) / norm
    order = np.argsort(observed, kind="stable")
    maxima = np.maximum.accumulate(drawn[:, order], axis=1)
    p = ((maxima >= observed[order] - 1e-9).sum(0) + 1) / (replicates + 1)
    found = np.empty(len(order))
    found[order] = np.maximum.accumulate(p[::-1])[::-1]
    return found


def measure(
    options: argparse.Namespace, matrices: dict[str, Source], cell: Cell
) -> dict[str, float]:
    """The share of draws with any false claim; with a gain, of true differences that are found."""
    sources = [one for name, one in matrices.items() if name.endswith(cell.measure)]
    better = cell.systems // 2 if options.gain else cell.systems
    second, first = np.triu_indices(cell.systems, 1)
    true = (first >= better) & (second < better)
    place = (NULLS.index(cell.null), MEASURES.index(cell.measure), cell.units, cell.systems)
    found: dict[str, list[float]] = {}
    for number, source in enumerate(sources):
        generator = np.random.default_rng([options.seed, *place, number])
        for start in range(0, options.draws // len(sources), BATCH):
            size = min(BATCH, options.draws // len(sources) - start)
            for at, scores in enumerate(draw(source, cell, size, generator)):
                scores[:, better:] += options.gain
                right = scores[:, first].mean(0) > scores[:, second].mean(0)
                for name, p in p_values(scores, options.replicates, start + at).items():
                    claims = p <= ALPHA
                    if options.gain and len(p) != len(true):
                        continue  # of the baseline there is no table of power
                    rate = (claims & right)[true].mean() if options.gain else claims.any()
                    found.setdefault(name, []).append(float(rate))
    return {name: float(np.mean(rates)) for name, rates in found.items()}


# Measures of order


def draw_order(null: str, units: int, generator: np.random.Generator) -> tuple[Any, list[Array]]:
    """The truth, and the predictions of three systems that are equally good."""
    truth = generator.normal(size=units)
    if null == "unequal":  # normal, exponential and uniform errors with a median of 1
        errors = (
            generator.normal(size=units) / 0.6744897501960817,
            generator.exponential(size=units) / np.log(2),
            generator.uniform(0, 2, units),
        )
        return truth, [truth + generator.choice([-1, 1], units) * error for error in errors]
    if null == "classes":
        positive = generator.random(units) < 0.3
        return positive.astype(str), [positive + generator.normal(size=units) for _ in range(3)]
    return truth, [truth + generator.normal(size=units) for _ in range(3)]


def measure_order(options: argparse.Namespace) -> None:
    """The share of draws in which heldout makes any false claim by a measure of order."""
    kinds = [("median-AE", "exchangeable"), ("median-AE", "unequal")]
    kinds += [("Spearman", "exchangeable"), ("average-precision", "classes")]
    for (name, null), systems, units in product(kinds, (2, 3), (50, 200)):
        claims = 0
        for number in range(options.order):
            generator = np.random.default_rng([options.seed, units, systems, number])
            truth, drawn = draw_order(null, units, generator)
            found = compare(
                truth.tolist(),
                {f"s{at}": guess.tolist() for at, guess in enumerate(drawn[:systems])},
                name,
                replicates=options.replicates,
                seed=number,
                positive="True" if null == "classes" else None,
            )
            claims += any(claim.adjusted <= ALPHA for claim in found.claims)
        rate = claims / options.order
        error = np.sqrt(rate * (1 - rate) / options.order)
        print(f"{name} {null} n={units} k={systems}: {rate:.4f} ± {error:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=Path, help="folder with adhoc5_ap.csv, adhoc6_ap.csv, …")
    parser.add_argument("--draws", type=int, default=20_000, help="per cell")
    parser.add_argument("--replicates", type=int, default=999)
    parser.add_argument("--gain", type=float, default=0.0, help="measure power for this difference")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--nulls", nargs="+", default=list(NULLS), choices=NULLS)
    parser.add_argument("--measures", nargs="+", default=list(MEASURES), choices=MEASURES)
    parser.add_argument("--units", type=int, nargs="+", default=[25, 50, 100])
    parser.add_argument("--systems", type=int, nargs="+", default=[4, 10])
    parser.add_argument("--order", type=int, metavar="DRAWS", help="draws, measures of order")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if options.order:
        measure_order(options)
        return
    if options.matrices is None:
        parser.error("--matrices is needed: topic x system scores of TREC ad hoc 5 and 6")
    matrices = {name: Source.of(scores) for name, scores in load(options.matrices).items()}
    nulls = ["centred"] if options.gain else options.nulls
    ways = product(options.systems, options.units, options.measures, nulls)
    cells = [Cell(null, name, units, systems) for systems, units, name, null in ways]
    with ProcessPoolExecutor(options.workers) as pool:
        rates = list(pool.map(partial(measure, options, matrices), cells))
    what = "true differences that are found" if options.gain else "draws with a false claim"
    rows = [
        [*cell, *(f"{rate:.4f}" for rate in own.values())]
        for cell, own in zip(cells, rates, strict=True)
    ]
    show(f"Share of {what}, {options.draws:,} draws per cell", [*Cell._fields, *rates[0]], rows)
    for name in rates[0]:
        own = [one[name] for one in rates]
        print(f"{name}: mean {np.mean(own):.4f}, largest {max(own):.4f}")


if __name__ == "__main__":
    main()
